"""Hand histories as text that a person can read and write: `parse` and `write`; `ginenv.table.replay` plays them.

A record looks like this; ``#`` begins a comment, blank lines do not matter::

    gin rummy record 1                    the format and its version, always the first line
    rules: modern knock_limit=9           a preset, then the fields that differ from it
    seed: 17                              optional: of the game, for hands whose cards are not listed

    hand 1
    dealer: 0
    cards 0: AS 2S 3S …                   as dealt; or deck: with all cards, the first is dealt first
    cards 1: 4C 4D 4H …
    upcard: 7H
    stock: KD 9C …                        from the top; "..." at its end: the rest in any fixed order
    1: pass                               the seat, and what it does in its turn
    0: take 7H, discard QD                the card drawn may be left out: draw, take
    new stock: 8D 2C …                    where the discards were shuffled (H12); left out, the seed says which
    1: draw KD, knock 9S
    result: knock, 1 scores 15, 6 against 21         scored for all (S6, S7): knock, 1 wins, deadwood 21 6 30
    melds 1: 4C 4D 4H, 7S 8S 9S           what lies on the table after a knock
    melds 0: AS 2S 3S
    layoffs 0: TS on 7S 8S 9S
    points: -15 10 -24                    by seat, where all are scored (S6, S7)
    score: 0 15                           of the game, by seat (Hollywood: of column 1, 2 and 3)
    game: 0 wins, 273 to 25               when the game is over, with all bonuses

Where two of three or four play a hand (V5, V6), the numbers are the players'; only the two have cards. Partners' hands
of a round stand one after the other, and the score changes after the second.

Everything from ``result`` down may be left out; what is there is checked. A hand may stop anywhere.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ginenv.actions import action_number, action_text
from ginenv.cards import BIT, NO_CARD, card, card_list, card_text, cards_text
from ginenv.hands import HandResult, TableResult
from ginenv.rng import checked_seed
from ginenv.rules import PRESETS, Rules
from ginenv.rules import rules as rules_of
from ginenv.state import DRAW, PASS, TAKE

HEADER = "gin rummy record"
VERSION = 1
BYTE_ORDER_MARK = "\ufeff"
"""Stands before the text in files of some editors; it means nothing."""


class RecordError(ValueError):
    """A record that cannot be: the message begins with the number of the line."""

    def __init__(self, line: int, reason: object) -> None:
        super().__init__(line, str(reason))
        self.line = line

    def __str__(self) -> str:
        return f"line {self.args[0]}: {self.args[1]}"


class Play(NamedTuple):
    """One action of a seat, and the card that it drew (`NO_CARD` for none, or where a record is silent)."""

    seat: int
    action: int
    drawn: int = NO_CARD


class NewStock(NamedTuple):
    """The discards shuffled into a new stock (H12) after so many plays: its cards from the top."""

    plays: int
    cards: tuple[int, ...]


@dataclass(frozen=True)
class Hand:
    """The history of one hand at a table, as `write` wants it."""

    dealer: int
    deck: tuple[int, ...]
    """All cards as they were dealt, the non-dealer's first one first."""
    plays: tuple[Play, ...] = ()
    result: HandResult | TableResult | None = None
    """None while the hand is being played."""
    scores: tuple[int, ...] = ()
    """Scores of the game after this hand, by seat; in Hollywood column after column."""
    seats: tuple[int, ...] = (0, 1)
    """Who plays the hand, in turn: the players' numbers, those of the seats but for V5 and V6."""
    stocks: tuple[NewStock, ...] = ()
    """The stocks made of discards (H12)."""


@dataclass
class ParsedHand:
    """One hand as a record tells it; ``plays`` and ``claims`` carry their line numbers."""

    line: int
    dealer: int | None = None
    deck: list[int] | None = None
    plays: list[tuple[int, Play]] = field(default_factory=list)
    stocks: dict[int, tuple[int, list[int]]] = field(default_factory=dict)
    """Line and cards of each new stock (H12), by how many plays came before it."""
    claims: list[tuple[int, str, str]] = field(default_factory=list)
    """Line, key and text of each statement about the outcome."""
    seats: tuple[int, ...] = ()
    """Whose cards are listed."""


@dataclass
class Record:
    """A parsed record: sound by itself, not yet played."""

    rules: Rules
    seed: int | None
    hands: list[ParsedHand]


# --- Writing --------------------------------------------------------------------------------------


def write(rules: Rules, seed: int | None, hands: Sequence[Hand], game: str = "") -> str:
    """Return the record of some hands of one game, in turn.

    Args:
        rules: The rules; their name must do without spaces and ``#``.
        seed: The game's seed, or None to leave it out.
        hands: Each hand from the first one of the game on.
        game: Text of the game's result, empty while it goes on.
    """
    lines = [f"{HEADER} {VERSION}", f"rules: {rules_text(rules)}"]
    if seed is not None:
        lines.append(f"seed: {seed}")
    for number, hand in enumerate(hands, start=1):
        lines += ["", f"hand {number}", f"dealer: {hand.dealer}"]
        lines += _deal_lines(rules, hand)
        stocks = {stock.plays: stock.cards for stock in hand.stocks}
        turn: list[str] = []
        for i, play in enumerate(hand.plays):
            text = action_text(play.action)
            if play.drawn != NO_CARD:
                text += " " + card_text(play.drawn)
            turn.append(text)
            following = hand.plays[i + 1] if i + 1 < len(hand.plays) else None
            if following is None or following.action in (PASS, DRAW, TAKE) or following.seat != play.seat:
                lines.append(f"{play.seat}: {', '.join(turn)}")
                turn = []
            if i + 1 in stocks:
                lines.append(f"new stock: {cards_text(stocks[i + 1])}")
        if hand.result is not None:
            lines += [f"{key}: {text}" for key, text in outcome(hand.result, hand.scores).items()]
    if game:
        lines.append(f"game: {game}")
    return "\n".join(lines) + "\n"


def rules_text(rules: Rules) -> str:
    """Return rules as a record writes them: a preset's name, then ``field=value`` for what differs.

    Raises:
        ValueError: when the rules' own name cannot stand in a record.
    """
    if not re.fullmatch(r"[^\s#=]+", rules.name):
        raise ValueError(f"rules: the name {rules.name!r} cannot stand in a record: no spaces, # or =")
    base = PRESETS.get(rules.name, PRESETS["modern"])
    before = base.as_dict()
    changes = {k: v for k, v in rules.as_dict().items() if v != before[k]}
    if "players" in changes:  # the cards each would follow
        changes["cards_dealt"] = rules.cards_dealt
    return " ".join([base.name, *(f"{name}={value}" for name, value in changes.items())])


def outcome(result: HandResult | TableResult, scores: Sequence[int]) -> dict[str, str]:
    """Return what a record says about a hand that has ended: text by key, in order."""
    said = {"result": "dead"}
    if isinstance(result, TableResult):
        left = " ".join(str(seat.deadwood) for seat in result.seats)
        kind, knocker = result.kind.replace("_", " "), result.knocker_seat
        said["result"] = f"{kind}, {result.winner_seat} wins, deadwood {left}"
        turns = [(knocker + k) % len(result.seats) for k in range(len(result.seats))]
        for place in turns:
            said[f"melds {place}"] = ", ".join(result.seats[place].melds) or "none"
        for place in turns:
            if result.seats[place].layoffs:
                said[f"layoffs {place}"] = ", ".join(map(str, result.seats[place].layoffs))
        said["points"] = " ".join(str(seat.points) for seat in result.seats)
    elif result.kind != "dead":
        assert result.knocker_seat is not None and result.defender_seat is not None
        said["result"] = (
            f"{result.kind.replace('_', ' ')}, {result.winner_seat} scores {result.points}, "
            f"{result.knocker_deadwood} against {result.defender_deadwood}"
        )
        defender = result.defender_seat
        said[f"melds {result.knocker_seat}"] = ", ".join(result.knocker_melds) or "none"
        said[f"melds {defender}"] = ", ".join(result.defender_melds) or "none"
        if result.layoffs:
            said[f"layoffs {defender}"] = ", ".join(map(str, result.layoffs))
    said["score"] = " ".join(map(str, scores))
    return said


def _deal_lines(rules: Rules, hand: Hand) -> list[str]:
    players, dealt = len(hand.seats), len(hand.seats) * rules.cards_dealt
    lines = []
    for seat in sorted(hand.seats):
        first = (hand.seats.index(seat) - hand.seats.index(hand.dealer) - 1) % players
        lines.append(f"cards {seat}: {cards_text(hand.deck[first:dealt:players])}")
    lines.append(f"upcard: {card_text(hand.deck[dealt])}")
    lines.append(f"stock: {cards_text(hand.deck[dealt + 1 :])}")
    return lines


# --- Reading --------------------------------------------------------------------------------------


def parse(text: str) -> Record:
    """Read a record without playing it.

    Raises:
        RecordError: for the first line that cannot be; illegal play is found by `ginenv.replay`.
    """
    lines = []
    for number, raw in enumerate(text.removeprefix(BYTE_ORDER_MARK).splitlines(), start=1):
        line = re.sub(r"(^|\s)#.*", "", raw).strip()
        if line:
            lines.append((number, line))
    first = lines[0] if lines else (1, "")
    if first[1].lower() != f"{HEADER} {VERSION}":
        raise RecordError(first[0], f"a record begins with {f'{HEADER} {VERSION}'!r}")

    record = Record(rules_of(), None, [])
    head: set[str] = set()
    deal: _Deal | None = None
    for number, line in lines[1:]:
        try:
            if match := re.fullmatch(r"hand(?:\s+(\d+))?", line, re.IGNORECASE):
                if deal is not None:
                    deal.close(record)
                record.hands.append(ParsedHand(number))
                deal = _Deal(number)
                if match[1] is not None and int(match[1]) != len(record.hands):
                    raise ValueError(f"this is hand {len(record.hands)}, not {match[1]}")
                continue
            key, colon, value = (part.strip() for part in line.partition(":"))
            key = " ".join(key.lower().split())
            if not colon:
                raise ValueError(f"{line!r} is neither 'hand' nor a key, a colon and a value")
            if deal is None:
                if key in head:
                    raise ValueError(f"{key}: given already")
                head.add(key)
                _read_head(record, key, value)
            else:
                _read_hand(record, deal, number, key, value)
        except RecordError:
            raise
        except ValueError as error:
            raise RecordError(number, error) from None
    if deal is None:
        raise RecordError(lines[-1][0], "the record has no hand: begin one with a line 'hand 1'")
    deal.close(record)
    return record


def _read_head(record: Record, key: str, value: str) -> None:
    if key == "rules":
        record.rules = _read_rules(value)
    elif key == "seed":
        record.seed = checked_seed(_whole(value, "seed"))
    else:
        raise ValueError(f"{key!r} does not belong before the first hand: rules and seed do")


def _read_hand(record: Record, deal: _Deal, line: int, key: str, value: str) -> None:
    hand = record.hands[-1]
    seats = [str(seat) for seat in range(record.rules.players)]
    word, _, seat = key.partition(" ")
    if word in ("cards", "melds", "layoffs") and seat not in seats:
        raise ValueError(f"{key!r}: say whose: the seats are {', '.join(seats)}")
    if key in seats:
        hand.plays += [(line, play) for play in _read_turn(int(key), value)]
    elif word == "cards" or key in ("dealer", "deck", "upcard", "stock"):
        if hand.plays:
            raise ValueError(f"{key} comes too late: the hand has begun")
        if key == "dealer":
            if value not in seats:
                raise ValueError(f"dealer is a seat, {' or '.join(seats)}, not {value!r}")
            if hand.dealer is not None:
                raise ValueError("dealer: given already")
            hand.dealer = int(value)
        else:
            deal.add(line, key, value, record.rules)
    elif key == "new stock":
        if len(hand.plays) in hand.stocks:
            raise ValueError("new stock: given already")
        hand.stocks[len(hand.plays)] = (line, card_list(value))
    elif word in ("melds", "layoffs") or key in ("result", "points", "score", "game"):
        hand.claims.append((line, key, value))
    else:
        raise ValueError(
            f"there is no {key!r} in a hand: there are dealer, cards, deck, upcard, stock, a seat's "
            "number, new stock, result, melds, layoffs, points, score, game"
        )


def _read_rules(text: str) -> Rules:
    preset, *changes = text.split() or ["modern"]
    kinds = {spec.name: str(spec.type) for spec in dataclasses.fields(Rules)}
    values: dict[str, Any] = {}
    for change in changes:
        name, equals, value = change.partition("=")
        if not equals:
            raise ValueError(f"rules: {change!r} should be field=value")
        if name in values:
            raise ValueError(f"rules: {name} is set twice")
        kind = kinds.get(name, "")
        if value == "None" and kind.endswith("None"):
            values[name] = None
        elif kind == "bool" and value in ("True", "False"):
            values[name] = value == "True"
        elif kind.startswith("int") and re.fullmatch(r"-?\d+", value):
            values[name] = int(value)
        else:
            values[name] = value  # a text, or what Rules refuses with a sentence
    return rules_of(preset, **values)


def _read_turn(seat: int, text: str) -> Iterable[Play]:
    for part in text.split(","):
        words = part.split()
        if len(words) == 2 and words[0].lower() in ("draw", "take"):
            yield Play(seat, action_number(words[0]), card(words[1]))
        else:
            yield Play(seat, action_number(part))


def _whole(text: str, what: str) -> int:
    if not re.fullmatch(r"[0-9]+", text):
        raise ValueError(f"{what} is a whole number, not {text!r}")
    return int(text)


class _Deal:
    """Gathers the cards of one hand: its lines may come in any order."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.parts: dict[str, list[int]] = {}
        self.open_end = False

    def add(self, line: int, key: str, value: str, rules: Rules) -> None:
        if key in self.parts or (self.parts and "deck" in (key, *self.parts)):
            raise ValueError(f"{key}: the cards were given already")
        if value.endswith(("...", "…")) and key in ("stock", "deck"):
            self.open_end = True
            value = value.rstrip(".… ")
        cards = card_list(value)
        for c in cards:
            if not rules.deck & int(BIT[c]):
                raise ValueError(f"{card_text(c)} is not in the deck of these rules")
            for other, before in self.parts.items():
                if c in before:
                    raise ValueError(f"{card_text(c)} comes twice: in {other} and in {key}")
        wanted = {"upcard": 1}.get(key, rules.cards_dealt if key.startswith("cards") else None)
        if wanted is not None and len(cards) != wanted:
            raise ValueError(f"{key}: {len(cards)} cards, it must be {wanted}")
        self.parts[key] = cards
        self.line = line

    def close(self, record: Record) -> None:
        """Put the parts together to the hand's deck; none at all leaves it to the seed."""
        hand, rules = record.hands[-1], record.rules
        if not self.parts:
            if record.seed is None:
                raise RecordError(hand.line, "the hand has no cards, and the record has no seed")
            return
        deck_cards = card_list(rules.deck)
        deck = self.parts.get("deck")
        if deck is None:
            seats = list(range(rules.players))
            if rules.hand_players < rules.players:  # two of them play this hand
                seats = [seat for seat in seats if f"cards {seat}" in self.parts]
                if len(seats) != rules.hand_players:
                    raise RecordError(self.line, f"{len(seats)} of the players have cards: two play a hand")
            hands = [f"cards {seat}" for seat in seats]
            missing = [key for key in (*hands, "upcard", "stock") if key not in self.parts]
            if missing:
                raise RecordError(self.line, f"the hand has no {missing[0]!r} line")
            if hand.dealer is None:
                raise RecordError(self.line, "the hand has no dealer")
            if hand.dealer not in seats:
                raise RecordError(self.line, f"the dealer {hand.dealer} does not play this hand")
            # One card at a time, the seat after the dealer first (H1).
            first = seats.index(hand.dealer) + 1
            order = [self.parts[hands[(first + i) % len(hands)]] for i in range(len(hands))]
            deck = [c for round_ in zip(*order, strict=True) for c in round_]
            deck += self.parts["upcard"] + self.parts["stock"]
            hand.seats = tuple(seats)
        rest = [c for c in deck_cards if c not in deck]
        if rest and not self.open_end:
            raise RecordError(self.line, f"{cards_text(rest)} nowhere: list the whole stock, or end it with ...")
        hand.deck = deck + rest


# --- Checking -------------------------------------------------------------------------------------


def check_claim(key: str, claim: str, said: dict[str, str]) -> None:
    """Check one statement of a record about the outcome; a result may be told in part (``knock``).

    Raises:
        ValueError: when it is not what ``said`` (see `outcome`) says.
    """
    if key not in said:
        raise ValueError(f"there is no {key} at this point of the play")
    claimed, real = _statement(key, claim), _statement(key, said[key])
    if claimed != real and not (key == "result" and claimed and claimed < real):
        raise ValueError(f"the play gives {key}: {said[key]}")


def _statement(key: str, text: str) -> frozenset[tuple[str, ...]]:
    """Return a statement in a form to compare: the order of melds, and of the cards in one, is free."""
    parts = [part.split() for part in text.lower().split(",")]
    if key.startswith(("melds", "layoffs")):
        parts = [sorted(words) for words in parts]
    return frozenset(tuple(words) for words in parts if words)
