"""`Table`: a game of gin rummy for people, notebooks and tests, and `replay`, which plays a record.

    >>> table = Table("modern", seed=7)
    >>> table.step("pass")
    >>> print(table)

A table is slow and friendly; thousands of them at full speed are the vector environment's work.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ginenv import render
from ginenv.actions import IllegalAction, action_number, why_illegal
from ginenv.cards import NO_CARD, CardsLike, card_list, card_mask, card_text, cards_text
from ginenv.deal import cut, deal, deal_deck, new_game, reset_game, seat_players, shuffled_deck
from ginenv.hands import KINDS, HandResult, TableResult, arrange, layoffs_of, settlement, table_settlement
from ginenv.lay import MELDS, table_melds
from ginenv.ledger import COLUMNS, final_total, game_over, game_winner
from ginenv.record import (
    BYTE_ORDER_MARK,
    HEADER,
    Hand,
    NewStock,
    Play,
    RecordError,
    check_claim,
    outcome,
    parse,
    write,
)
from ginenv.rng import checked_seed, mix
from ginenv.rules import Rules
from ginenv.rules import rules as rules_of
from ginenv.state import LAY_ON_SET, MELD, NO_SEAT, ORDER, SEATS, Kind, Phase, n_actions, new_states
from ginenv.step import step, write_mask
from ginenv.view import VIEW, look


class Table:
    """A game of gin rummy, hand after hand: it knows all cards, and shows each seat its own (`view`).

    Args:
        rules: A preset's name or `Rules`.
        seed: Names the game, 0 to 2**63 - 1: its first dealer and all its decks follow from it. None
            draws one, or makes one of ``deck``.
        deck: The whole deck of the first hand instead, the card dealt first at the front (it goes to
            the non-dealer, H1): text or card numbers.
        dealer: Seat of the first dealer, instead of the seed's.

    Two tables are equal when rules, STATE and history are the same.

    Raises:
        ValueError: for impossible rules, seed, deck or dealer.
    """

    def __init__(
        self,
        rules: str | Rules = "modern",
        seed: int | None = None,
        deck: str | Iterable[int | str] | None = None,
        dealer: int | None = None,
    ) -> None:
        self._rules = rules_of(rules)
        if seed is not None:
            seed = checked_seed(seed)
        choices = 2 if self._rules.seating == "partners" else self._rules.players
        if dealer is not None and dealer not in range(choices):
            raise ValueError(f"dealer {dealer}: the seats are 0 to {choices - 1}")
        cards = None if deck is None else self._checked_deck(deck)
        # A seed that follows from the first deck need not stand in records.
        self._seed_stands = seed is not None or cards is None
        if seed is None:
            seed = secrets.randbits(32) if cards is None else _seed_of(cards)
        self._seed = seed
        self._states = new_states(1)
        new_game(self._s, self._rules.record, self._seed)
        self._cut: tuple[str, ...] | None = None
        if dealer is not None:
            reset_game(self._s, self._seed)
            seat_players(self._s, self._rules.record, dealer)
        elif self._rules.first_dealer != "random":
            drawn = np.zeros(SEATS, dtype=np.int64)
            cut(self._rules.record, self._seed, drawn)
            self._cut = tuple(card_text(int(c)) for c in drawn[:choices])
        self._history: list[Hand] = []
        self._deal(cards)

    # --- The table ---------------------------------------------------------------------------------

    @property
    def rules(self) -> Rules:
        """The rules of the game."""
        return self._rules

    @property
    def seed(self) -> int:
        """The game's seed: decks that were not given follow from it."""
        return self._seed

    @property
    def phase(self) -> Phase:
        """What the seat to act decides; ``Phase.OVER`` when the hand has ended."""
        return Phase(int(self._s["phase"]))

    @property
    def seat(self) -> int:
        """The seat to act (in a finished hand, the one that acted last).

        Here and in records a seat is a player's number, also where players change places (V5, V6).
        """
        return self._player(int(self._s["seat"]))

    @property
    def seats(self) -> tuple[int, ...]:
        """Who plays this hand, in turn; two of three or four where the rules say so (V5, V6)."""
        return tuple(self._player(place) for place in range(self._rules.hand_players))

    @property
    def dealer(self) -> int:
        """The seat that dealt this hand."""
        return self._dealer

    @property
    def cut(self) -> tuple[str, ...] | None:
        """The cards that the seats drew for the first deal (C7), as texts; None where nobody cut."""
        return self._cut

    @property
    def turn(self) -> int:
        """Turns (draws) begun in this hand, both seats together."""
        return int(self._s["turn"])

    @property
    def upcard(self) -> str:
        """The first upcard of this hand, as text; it sets the limit in Oklahoma (V1)."""
        return card_text(int(self._s["upcard"]))

    @property
    def pile(self) -> tuple[str, ...]:
        """The discard pile as texts, its top first."""
        n = int(self._s["n_pile"])
        return tuple(card_text(int(c)) for c in self._s["order"][ORDER - n :])

    @property
    def stock_size(self) -> int:
        """Cards left in the stock."""
        return int(self._s["n_stock"])

    @property
    def drawn(self) -> str | None:
        """The card that the seat to act has just drawn, as text; None between turns."""
        card = int(self._s["drawn"])
        return None if card == NO_CARD else card_text(card)

    @property
    def knock_limit(self) -> int:
        """The most deadwood to knock with in this hand (H6, V1, V3)."""
        return int(self._s["knock_limit"])

    def hand(self, seat: int) -> str:
        """Return the cards that ``seat`` holds, as text by suit."""
        return cards_text(int(self._s["hand"][self._place(seat)]))

    def view(self, seat: int) -> np.void:
        """Return a copy of what ``seat`` may know: a `ginenv.view.VIEW` record, shape ()."""
        view = np.zeros(1, dtype=VIEW)
        place = self._place(seat)
        if place >= self._rules.hand_players:
            raise ValueError(f"seat {seat} sits out this hand")
        look(self._s, self._rules.record, place, view[0])
        return view[0]

    # --- Play --------------------------------------------------------------------------------------

    def legal_actions(self) -> list[int]:
        """Return the legal actions of the seat to act, ascending; empty when the hand is over."""
        mask = np.zeros(n_actions(self._rules), dtype=np.int8)
        write_mask(self._s, mask)
        return [int(a) for a in np.flatnonzero(mask)]

    def step(self, action: int | str) -> None:
        """Play an action of the seat to act: its number, or text as in records (``"discard 7H"``).

        Raises:
            IllegalAction: when it may not be played, naming it and the reason; nothing has changed (I1).
        """
        try:
            number = action_number(action)
        except ValueError as error:
            raise IllegalAction(str(error)) from None
        reason = why_illegal(self._s, self._rules, number)
        if reason is not None:
            raise IllegalAction(reason)
        seat = self.seat
        drew = self.phase in (Phase.UPCARD, Phase.DRAW)
        before = int(self._s["reshuffled"])
        step(self._s, self._rules.record, number)
        self._plays.append(Play(seat, number, int(self._s["drawn"]) if drew else NO_CARD))
        if self._s["reshuffled"] > before:
            self._stocks.append(NewStock(len(self._plays), self._stock()))

    def deal(self, deck: str | Iterable[int | str] | None = None) -> None:
        """Deal the next hand of the game, from the seed or from a given ``deck`` (see `Table`).

        Raises:
            ValueError: when a hand is being played, the game is over, or the deck cannot be.
        """
        if not self.done:
            raise ValueError(f"hand {self.hand_number} is not finished: play it to its end first")
        if self.game_over:
            raise ValueError("the game is over: begin another Table")
        cards = None if deck is None else self._checked_deck(deck)
        self._history.append(self._present())
        self._deal(cards)

    # --- Results -----------------------------------------------------------------------------------

    @property
    def done(self) -> bool:
        """Whether the hand is over."""
        return self.phase == Phase.OVER

    @property
    def result(self) -> HandResult | TableResult | None:
        """How the finished hand ended, dead ones included; None while it is played."""
        if not self.done:
            return None
        s = self._s
        if Kind(int(s["kind"])) == Kind.DEAD:
            return HandResult("dead", 0)
        knocker, multiplier = int(s["knocker"]), int(s["multiplier"])
        if self._rules.scoring != "gin":
            hands = [int(hand) for hand in s["hand"][: self._rules.players]]
            return table_settlement(hands, knocker, self._rules, s["melds"], multiplier)
        if self._rules.settle_by_hand or self._rules.open_table:
            return self._result_laid(knocker)
        settled = settlement(
            int(s["hand"][knocker]),
            int(s["hand"][1 - knocker]),
            self._rules,
            s["melds"],
            multiplier,
        )
        return HandResult(
            **vars(settled),
            knocker_seat=self._player(knocker),
            winner_seat=self._player(int(s["winner"])),
            defender_seat=self._player(1 - knocker),
        )

    def _result_laid(self, knocker: int) -> HandResult:
        """Return the result of a hand whose seats laid down and off themselves.

        At the open table it tells of what a knock laid down and of the layoffs after it.
        """
        s = self._s
        laid = [p for p in self._plays if MELD <= p.action < LAY_ON_SET]
        melds = [[int(MELDS[p.action - MELD]) for p in laid if p.seat == seat] for seat in (knocker, 1 - knocker)]
        winner = int(s["winner"])
        table, laid_off = melds[0], int(s["laid"])
        if self._rules.open_table:
            melds = [[int(m) for m in s["melds"] if m], []]
            table = table_melds(s) + melds[0]
            if int(s["kind"]) == Kind.OUT:
                melds, laid_off = [[], []], 0
            else:
                rest = int(s["hand"][1 - knocker]) & ~laid_off
                melds[1] = [card_mask(m) for m in arrange(rest, self._rules).melds]
        return HandResult(
            kind=KINDS[Kind(int(s["kind"]))],
            points=int(s["points"][winner]),
            knocker_deadwood=int(s["deadwood"][knocker]),
            defender_deadwood=int(s["deadwood"][1 - knocker]),
            knocker_melds=tuple(cards_text(m) for m in melds[0]),
            defender_melds=tuple(cards_text(m) for m in melds[1]),
            layoffs=layoffs_of(table, laid_off, self._rules.longest_meld),
            knocker_seat=knocker,
            winner_seat=winner,
            defender_seat=1 - knocker,
        )

    @property
    def hand_number(self) -> int:
        """The number of this hand in the game, from 1."""
        return len(self._history) + 1

    @property
    def scores(self) -> tuple[int, ...]:
        """Scores of the game by seat, without boxes and bonuses; a finished hand is in. In Hollywood the first column's
        (`columns` has all).
        """
        return self.columns[0]

    @property
    def columns(self) -> tuple[tuple[int, ...], ...]:
        """Scores of each column of the game, by seat: three in Hollywood (V2), else one."""
        scores, players = self._s["scores"], self._rules.players
        if self._rules.hollywood:
            return tuple((int(scores[at]), int(scores[at + 1])) for at in range(0, 2 * COLUMNS, 2))
        return (tuple(int(scores[self._place(seat)]) for seat in range(players)),)

    @property
    def totals(self) -> tuple[int, ...]:
        """Totals by seat with boxes and bonuses (G2-G4), as if the game ended now."""
        record = self._rules.record
        return tuple(int(final_total(self._s, record, self._place(seat))) for seat in range(self._rules.players))

    @property
    def game_over(self) -> bool:
        """Whether the game has ended (G1, G8)."""
        return bool(game_over(self._s, self._rules.record))

    @property
    def winner(self) -> int | None:
        """The seat that won the game (G5); None while it goes on, or when it ended level. Of partners it is 0 or 1,
        for the side of 0 and 2 or that of 1 and 3.
        """
        if not self.game_over:
            return None
        seat = int(game_winner(self._s, self._rules.record))
        return None if seat == NO_SEAT else self._player(seat) % (2 if self._rules.seating == "partners" else SEATS)

    # --- History -----------------------------------------------------------------------------------

    @property
    def history(self) -> tuple[Hand, ...]:
        """Every hand of the game so far, the present one last (`ginenv.record.Hand`)."""
        return (*self._history, self._present())

    def record(self) -> str:
        """Return the game so far as text, for `replay` (the format: `ginenv.record`)."""
        seed = self._seed if self._seed_stands else None
        return write(self._rules, seed, self.history, self._game_text())

    def render(self, mode: str = "ansi", seat: int | None = None, reveal: bool = False) -> str | np.ndarray:
        """Draw the table as ``seat`` sees it (default: the seat to act).

        Args:
            mode: ``ansi`` (text), ``svg`` (text) or ``rgb_array`` (uint8, shape (H, W, 3)).
            seat: The viewer.
            reveal: Show the other hand too.
        """
        if mode not in render.MODES:
            raise ValueError(f"render mode {mode!r}: there are {', '.join(render.MODES)}")
        viewer = self.seat if seat is None else self._checked_seat(seat)
        if viewer not in self.seats:
            raise ValueError(f"seat {viewer} sits out this hand")
        first = self.seats.index(viewer)
        order = self.seats[first:] + self.seats[:first]
        shown = [int(self._s["hand"][self._place(s)]) if reveal else 0 for s in order]
        names = [f"seat {s}" for s in order]
        return render.MODES[mode](self.view(viewer), self._rules, shown=shown, names=names)

    def __str__(self) -> str:
        """Return the table as text, with both hands open."""
        return str(self.render(seat=min(self.seats), reveal=True))

    def _repr_svg_(self) -> str:
        """Draw the table, with both hands open, in a notebook."""
        return str(self.render("svg", seat=min(self.seats), reveal=True))

    def __repr__(self) -> str:
        what = "over" if self.done else f"seat {self.seat} to act ({self.phase.name})"
        return f"<Table {self._rules.name}, hand {self.hand_number}, {what}>"

    # --- Copies ------------------------------------------------------------------------------------

    def copy(self) -> Table:
        """Return an independent copy of the table."""
        new = object.__new__(Table)
        new.__dict__.update(self.__dict__)
        new._states = self._states.copy()
        new._history = list(self._history)
        new._plays = list(self._plays)
        new._stocks = list(self._stocks)
        return new

    def __copy__(self) -> Table:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Table:
        return self.copy()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return (
            self._rules == other._rules
            and self.history == other.history
            and all(np.array_equal(self._states[name], other._states[name]) for name in self._states.dtype.names or ())
        )

    __hash__ = None  # type: ignore[assignment]

    # --- Inside ------------------------------------------------------------------------------------

    @property
    def _s(self) -> Any:
        """The STATE record: a window on ``_states``, so that copies and pickles hold one array only."""
        return self._states[0]

    def _deal(self, deck: list[int] | None) -> None:
        """Deal a hand; the cards of ``deck``, if given, are known to be sound."""
        self._plays: list[Play] = []
        self._stocks: list[NewStock] = []
        if deck is None:
            r = self._rules
            self._deck = shuffled_deck(self._seed, int(self._s["hand_number"]), r.ranks, r.suits, r.jokers)
            deal(self._s, self._rules.record)
        else:
            self._deck = deck
            deal_deck(self._s, self._rules.record, np.array(deck, dtype=np.uint8))
        self._dealer = self._player(int(self._s["dealer"]))
        self._playing = self.seats

    def _player(self, place: int) -> int:
        """Return the number of the player at a place of STATE."""
        return int(self._s["player"][place])

    def _place(self, seat: int) -> int:
        """Return the place in STATE of a player; from ``hand_players`` up one that sits out."""
        return self._s["player"].tolist().index(self._checked_seat(seat))

    def _stock(self) -> tuple[int, ...]:
        """Return the cards of the stock, its top first."""
        return tuple(int(c) for c in self._s["order"][: self._s["n_stock"]][::-1])

    def _restack(self, cards: list[int]) -> None:
        """Put the stock just made of discards (H12) in another order, its top first.

        Raises:
            ValueError: when none was made, or of other cards.
        """
        if not self._stocks or self._stocks[-1].plays != len(self._plays):
            raise ValueError("new stock: the old one is not used up here (H12)")
        if sorted(cards) != sorted(self._stocks[-1].cards):
            raise ValueError(f"new stock: it is made of {cards_text(sorted(self._stocks[-1].cards))}")
        self._s["order"][: len(cards)] = cards[::-1]
        self._stocks[-1] = NewStock(len(self._plays), tuple(cards))

    def _present(self) -> Hand:
        result = self.result
        scores = sum(self.columns, ()) if result is not None else ()
        plays, stocks = tuple(self._plays), tuple(self._stocks)
        return Hand(self._dealer, tuple(self._deck), plays, result, scores, self._playing, stocks)

    def _game_text(self) -> str:
        if not self.game_over:
            return ""
        totals, winner = self.totals, self.winner
        if self._rules.seating == "partners":
            totals = totals[:2]
        if winner is None:
            return "level, " + " to ".join(map(str, totals))
        others = [t for seat, t in enumerate(totals) if seat != winner]
        return f"{winner} wins, {totals[winner]} to {' and '.join(map(str, others))}"

    def _said(self) -> dict[str, str]:
        """Return what a record may state at this point of the play."""
        result = self.result
        said = {} if result is None else outcome(result, sum(self.columns, ()))
        if self.game_over:
            said["game"] = self._game_text()
        return said

    def _checked_seat(self, seat: int) -> int:
        if seat not in range(self._rules.players):
            raise ValueError(f"seat {seat}: the seats are {self._seats_text()}")
        return int(seat)

    def _seats_text(self) -> str:
        return f"0 to {self._rules.players - 1}"

    def _checked_deck(self, deck: CardsLike) -> list[int]:
        if isinstance(deck, (int, np.integer)):
            raise ValueError("deck: a mask has no order: give text or card numbers")
        cards = card_list(deck)
        wanted = card_list(self._rules.deck)
        strange = [c for c in cards if c not in wanted]
        if strange:
            raise ValueError(f"deck: {cards_text(strange)} is not in the deck of these rules")
        missing = [c for c in wanted if c not in cards]
        if missing:
            raise ValueError(f"deck: {cards_text(missing)} is missing: it needs all {len(wanted)} cards")
        return cards


def replay(source: str | Path) -> Table:
    """Play a record and return the table where it ends; everything that the record says is checked.

    Args:
        source: The text of a record (`ginenv.record`), or the path of a file with one.

    Raises:
        RecordError: naming the line that is wrong.
        OSError: when the file cannot be read.
    """
    if isinstance(source, Path) or not ("\n" in source or source.removeprefix(BYTE_ORDER_MARK).startswith(HEADER)):
        source = Path(source).read_text(encoding="utf-8")
    record = parse(source)
    table: Table | None = None
    for hand in record.hands:
        with _at_line(hand.line):
            if table is None:
                if hand.dealer is None and record.seed is None:
                    raise ValueError("the hand has no dealer, and the record has no seed")
                table = Table(record.rules, record.seed, hand.deck, hand.dealer)
            else:
                table.deal(hand.deck)
            if hand.seats and hand.seats != tuple(sorted(table.seats)):
                raise ValueError(f"the seats {_and(table.seats)} play this hand, not {_and(hand.seats)}")
            if hand.dealer is not None and hand.dealer != table.dealer:
                raise ValueError(f"seat {table.dealer} deals this hand (H14), not {hand.dealer}")
        for number, (line, play) in enumerate(hand.plays, start=1):
            with _at_line(line):
                if not table.done and play.seat != table.seat:
                    raise ValueError(f"it is the turn of seat {table.seat}, not of seat {play.seat}")
                table.step(play.action)
                if play.drawn != NO_CARD and card_text(play.drawn) != table.drawn:
                    raise ValueError(f"the card is {table.drawn}, not {card_text(play.drawn)}")
            if number in hand.stocks:
                stock_line, cards = hand.stocks[number]
                with _at_line(stock_line):
                    table._restack(cards)
        for line, key, claim in hand.claims:
            with _at_line(line):
                check_claim(key, claim, table._said())
    assert table is not None  # a record without a hand does not parse
    return table


def _and(seats: Iterable[int]) -> str:
    return " and ".join(map(str, sorted(seats)))


def _seed_of(deck: list[int]) -> int:
    """Return a seed that follows from a deck, so that a record without a seed replays to an equal table."""
    key = 0
    for card in deck:
        key = int(mix(key, card))
    return key


@contextmanager
def _at_line(line: int) -> Iterator[None]:
    """Name the line of a record in whatever is wrong inside."""
    try:
        yield
    except RecordError:
        raise
    except ValueError as error:
        raise RecordError(line, error) from None
