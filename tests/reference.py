"""A naive oracle of Gin Rummy: slow, plain, and nothing borrowed from the engine
it is there to check.

Read it from top to bottom: cards, melds (C3-C6), layoffs (H9, H10), the settlement of one hand
(S1-S5), and for all at one table (S6, S7), what a player may discard and knock with (H4-H8), one
whole hand (H1-H11, H13, H15, V1, V3, V4), the ledger of a game (G1-G5, H14), and the games of three
and four people (V5, V6). The ids are those of the rules page. Cards are texts,
rank then suit: "AS", "2H", "TD", "KC".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

RANKS = "A23456789TJQK"
SUITS = "SHDC"

Meld = frozenset[str]
Arrangement = frozenset[Meld]
Action = tuple[str, ...]


# --- Cards ----------------------------------------------------------------------------------------


def rank(card: str) -> int:
    """Return 1 for an ace (always low, C1), 2 for a two, and so on up to 13 for a king."""
    return RANKS.index(card[0]) + 1


def suit(card: str) -> str:
    """Return the letter of the card's suit."""
    return card[1]


def value(card: str) -> int:
    """Return the points of a card as deadwood: ace 1, pips their number, T J Q K 10 (C2)."""
    return min(rank(card), 10)


def total(cards: Iterable[str]) -> int:
    """Return the points of some cards together."""
    return sum(value(card) for card in cards)


def full_deck(ranks: int = 13, suits: int = 4) -> list[str]:
    """Return every card of a deck: its first ``ranks`` ranks in its first ``suits`` suits (C1)."""
    return [r + s for s in SUITS[:suits] for r in RANKS[:ranks]]


def order(card: str) -> int:
    """Return the card's place in the full deck, so that cards can be sorted."""
    return SUITS.index(card[1]) * 13 + rank(card)


def parse(text: str) -> list[str]:
    """Return the cards of a text such as "AS 2H TD"; raise ValueError for what is no card or is
    there twice.
    """
    cards = text.split()
    for card in cards:
        if len(card) != 2 or card[0] not in RANKS or card[1] not in SUITS:
            raise ValueError(f"{card!r} is no card")
    if len(set(cards)) < len(cards):
        raise ValueError(f"a card is there twice: {text}")
    return cards


def show(cards: Iterable[str]) -> str:
    """Return some cards as text, sorted."""
    return " ".join(sorted(cards, key=order))


# --- Melds ----------------------------------------------------------------------------------------


def is_meld(cards: AbstractSet[str], longest: int = 13) -> bool:
    """Say whether the cards together are one meld: a set (C3) or a run (C4), no longer than
    ``longest`` (C6).
    """
    if not 3 <= len(cards) <= longest:
        return False
    ranks = {rank(card) for card in cards}
    suits = {suit(card) for card in cards}
    is_set = len(ranks) == 1
    is_run = len(suits) == 1 and max(ranks) - min(ranks) + 1 == len(cards)
    return is_set or is_run


def all_melds(cards: Collection[str], longest: int = 13) -> list[Meld]:
    """Return every meld that can be made of the cards, each once: sets (C3), then runs (C4),
    within ``longest`` (C6).
    """
    melds: list[Meld] = []
    for r in RANKS:
        same_rank = [card for card in sorted(cards, key=order) if card[0] == r]
        for size in (3, 4):
            if size <= longest:
                melds += [frozenset(chosen) for chosen in combinations(same_rank, size)]
    for s in SUITS:
        for first in range(len(RANKS)):
            run: list[str] = []
            for r in RANKS[first:]:
                if r + s not in cards:
                    break
                run.append(r + s)
                if 3 <= len(run) <= longest:
                    melds.append(frozenset(run))
    return melds


def arrangements(cards: Collection[str], longest: int = 13) -> list[Arrangement]:
    """Return every choice of disjoint melds of the cards (C5), each once, the empty choice
    included.
    """
    melds = all_melds(cards, longest)
    found: list[Arrangement] = []

    def choose(first: int, chosen: list[Meld]) -> None:
        found.append(frozenset(chosen))
        for i in range(first, len(melds)):
            if all(melds[i].isdisjoint(other) for other in chosen):
                choose(i + 1, [*chosen, melds[i]])

    choose(0, [])
    return found


def loose_cards(cards: Collection[str], arrangement: Arrangement) -> frozenset[str]:
    """Return the cards that are in none of the melds."""
    return frozenset(cards).difference(*arrangement)


def deadwood_of(cards: Collection[str], arrangement: Arrangement) -> int:
    """Return the deadwood of a hand with its melds laid out in this way (C5)."""
    return total(loose_cards(cards, arrangement))


def least_deadwood(cards: Collection[str], longest: int = 13) -> int:
    """Return the least deadwood over all choices of disjoint melds (C5)."""
    return min(deadwood_of(cards, arrangement) for arrangement in arrangements(cards, longest))


def best_arrangements(cards: Collection[str], longest: int = 13) -> list[Arrangement]:
    """Return all choices of disjoint melds that leave the least deadwood (C5)."""
    every = arrangements(cards, longest)
    least = min(deadwood_of(cards, arrangement) for arrangement in every)
    return [arrangement for arrangement in every if deadwood_of(cards, arrangement) == least]


# --- Layoffs and the knocker's choice -------------------------------------------------------------


def extensions(meld: Meld, ranks: int = 13, suits: int = 4, longest: int = 13) -> set[str]:
    """Return the cards of the deck that could be laid on a meld directly (H9): the meld stays one,
    within C6.
    """
    if len(meld) >= longest:
        return set()
    held = sorted(meld, key=order)
    if held[0][0] == held[1][0]:  # a set: the cards of this rank that are missing
        return {held[0][0] + s for s in SUITS[:suits]} - meld
    # a run: the card below and the card above, never round the corner
    lower, higher = rank(held[0]) - 1, rank(held[-1]) + 1
    return {RANKS[r - 1] + suit(held[0]) for r in (lower, higher) if 1 <= r <= ranks}


def layoffable(
    knocker_melds: Collection[Meld],
    knocker_hand: Collection[str],
    ranks: int = 13,
    suits: int = 4,
    longest: int = 13,
) -> set[str]:
    """Return the cards of the whole deck, less the knocker's hand, that could be laid off on the
    knocker's melds (H9).

    Chains count as far as no card of theirs is in the knocker's own hand. Where C6 stops a meld
    from growing both ways, a card counts that can be laid in one way or another.
    """
    found: set[str] = set()
    for meld in knocker_melds:
        seen: set[Meld] = {meld}
        grown: list[Meld] = [meld]
        while grown:
            now = grown.pop()
            for card in extensions(now, ranks, suits, longest):
                if card not in knocker_hand:
                    found.add(card)
                    if now | {card} not in seen:
                        seen.add(now | {card})
                        grown.append(now | {card})
    return found


def choose_knocker_arrangement(
    hand: Collection[str], ranks: int = 13, suits: int = 4, longest: int = 13
) -> set[Arrangement]:
    """Return the knocker's best arrangements: least deadwood, and of these the ones with the
    fewest `layoffable` cards.

    Several can be equally good; a settlement may stand on any of them.
    """
    best = best_arrangements(hand, longest)
    exposed = {melds: len(layoffable(melds, hand, ranks, suits, longest)) for melds in best}
    fewest = min(exposed.values())
    return {melds for melds in best if exposed[melds] == fewest}


def reachable_layoffs(
    knocker_melds: Collection[Meld], loose: Collection[str], longest: int = 13
) -> set[frozenset[str]]:
    """Return every set of loose cards that can be laid off on the melds one by one, each leaving a
    meld (H9, C6).

    All orders and all places are tried. Laying nothing off is one of them.
    """
    start = (tuple(knocker_melds), frozenset[str]())
    seen = {start}
    waiting = [start]
    while waiting:
        melds, laid = waiting.pop()
        for card in loose:
            if card in laid:
                continue
            for i in range(len(melds)):
                longer = melds[i] | {card}
                if card not in melds[i] and is_meld(longer, longest):
                    then = ((*melds[:i], longer, *melds[i + 1 :]), laid | {card})
                    if then not in seen:
                        seen.add(then)
                        waiting.append(then)
    return {laid for _, laid in seen}


def best_defence(
    defender: Collection[str], knocker_melds: Collection[Meld], gin: bool = False, longest: int = 13
) -> int:
    """Return the defender's least deadwood over all own melds and layoffs together (H10); no
    layoffs on gin (H9).

    Own melds may be broken to lay off more: for each set of cards that could be laid off, the rest
    of the hand is melded as well as it can be.
    """
    if gin:
        return least_deadwood(defender, longest)
    layoffs = reachable_layoffs(knocker_melds, defender, longest)
    return min(least_deadwood(set(defender) - laid, longest) for laid in layoffs)


# --- The rules as plain numbers -------------------------------------------------------------------


@dataclass(frozen=True)
class NaiveRules:
    """The rules of one hand. The defaults are the preset ``modern``."""

    ranks: int = 13  # C1
    suits: int = 4  # C1
    cards_dealt: int = 10  # H1
    longest_meld: int = 13  # C6
    knock_limit: int = 10  # H6
    gin_bonus: int = 25  # S3
    undercut_bonus: int = 25  # S2
    undercut_ties: bool = True  # S2
    big_gin: bool = False  # H8, V4
    big_gin_bonus: int = 31  # S4
    oklahoma: bool = False  # V1
    oklahoma_ace_gin: bool = False  # V1
    oklahoma_spades_double: bool = False  # V1
    straight: bool = False  # V3
    discard_taken: bool = False  # H4: the card just taken from the pile may be discarded
    dead_stock: int = 2  # H11: cards left in the stock that end the hand
    reshuffles: int | None = 0  # H12: how often the discards become a new stock; None: without end
    turn_limit: int = 100  # H15: turns (a draw or a take each) after which the hand is dead
    players: int = 2  # H13
    scoring: str = "gin"  # "penalty": S6, "points": S7
    knock_bonus: int = 0  # S7


def limit_of(rules: NaiveRules, upcard: str) -> int:
    """Return the most deadwood to knock with: H6, the first upcard's value in Oklahoma (V1), 0 in
    straight gin (V3).
    """
    if rules.straight:
        return 0
    if not rules.oklahoma:
        return rules.knock_limit
    if rules.oklahoma_ace_gin and rank(upcard) == 1:
        return 0
    return value(upcard)


def multiplier_of(rules: NaiveRules, upcard: str) -> int:
    """Return 2 where the upcard doubles all that the hand scores (V1), else 1."""
    return 2 if rules.oklahoma and rules.oklahoma_spades_double and suit(upcard) == "S" else 1


# --- Settling one hand ----------------------------------------------------------------------------


class Settlement(NamedTuple):
    """How a hand ended: the points are the knocker's, below zero when he is undercut."""

    kind: str  # "knock", "undercut", "gin", "big_gin"
    points: int
    knocker_deadwood: int
    defender_deadwood: int


def check_arrangement(hand: Collection[str], melds: Collection[Meld], longest: int = 13) -> None:
    """Raise ValueError unless the melds are legal, disjoint, and of cards in the hand (C3-C6)."""
    left = set(hand)
    for meld in melds:
        if not is_meld(meld, longest):
            raise ValueError(f"{show(meld)} is no meld")
        if not meld <= left:
            raise ValueError(f"{show(meld - left)} is not in the hand, or in two melds")
        left -= meld


def settle_with(
    knocker: Collection[str],
    melds: Collection[Meld],
    defender: Collection[str],
    *,
    rules: NaiveRules = NaiveRules(),
    big_gin: bool = False,
    multiplier: int = 1,
) -> Settlement:
    """Settle a hand in which the knocker laid these melds down: S1 to S4, all doubled with
    ``multiplier`` 2 (V1).

    Raises:
        ValueError: when the melds are not disjoint melds of the knocker's cards, or big gin leaves
            deadwood.
    """
    check_arrangement(knocker, melds, rules.longest_meld)
    own = deadwood_of(knocker, frozenset(melds))
    if big_gin and own > 0:
        raise ValueError("big gin leaves no deadwood")
    theirs = best_defence(defender, melds, own == 0, rules.longest_meld)
    if big_gin:
        kind, points = "big_gin", rules.big_gin_bonus + theirs  # S4
    elif own == 0:
        kind, points = "gin", rules.gin_bonus + theirs  # S3
    elif theirs < own or (theirs == own and rules.undercut_ties):
        kind, points = "undercut", -(own - theirs + rules.undercut_bonus)  # S2
    else:
        kind, points = "knock", theirs - own  # S1; equal counts under S2's option: 0
    return Settlement(kind, points * multiplier, own, theirs)


def settlements(
    knocker: Collection[str],
    defender: Collection[str],
    *,
    rules: NaiveRules = NaiveRules(),
    big_gin: bool = False,
    multiplier: int = 1,
) -> set[Settlement]:
    """Return every settlement that the knocker's equally good arrangements allow; nearly always it
    is one.
    """
    choices = choose_knocker_arrangement(knocker, rules.ranks, rules.suits, rules.longest_meld)
    return {
        settle_with(knocker, melds, defender, rules=rules, big_gin=big_gin, multiplier=multiplier) for melds in choices
    }


def settle(
    knocker: Collection[str],
    defender: Collection[str],
    *,
    rules: NaiveRules = NaiveRules(),
    big_gin: bool = False,
    multiplier: int = 1,
) -> Settlement:
    """Settle a hand with the knocker's best arrangement; among several `settlements` the one least
    good for him.
    """
    possible = settlements(knocker, defender, rules=rules, big_gin=big_gin, multiplier=multiplier)
    return min(possible, key=lambda settlement: settlement.points)


class TableSettlement(NamedTuple):
    """How a hand of all at one table ended: counts and points by seat, penalties below zero."""

    kind: str
    knocker: int
    winner: int
    deadwoods: tuple[int, ...]
    points: tuple[int, ...]


def settle_table(
    hands: Sequence[Collection[str]],
    knocker: int,
    melds: Collection[Meld],
    *,
    rules: NaiveRules,
    big_gin: bool = False,
    multiplier: int = 1,
) -> TableSettlement:
    """Settle a hand at one table, where the knocker laid these melds down (H13, S6, S7)."""
    check_arrangement(hands[knocker], melds, rules.longest_meld)
    own = deadwood_of(hands[knocker], frozenset(melds))
    counts = {
        seat: own if seat == knocker else best_defence(hand, melds, own == 0, rules.longest_meld)
        for seat, hand in enumerate(hands)
    }
    in_turn = [(knocker + k) % len(hands) for k in range(1, len(hands))]
    undercutters = [
        seat for seat in in_turn if own > 0 and (counts[seat] < own or (rules.undercut_ties and counts[seat] == own))
    ]
    # min returns the first of several: the next in turn after the knocker
    winner = min(undercutters, key=lambda seat: counts[seat]) if undercutters else knocker
    points: dict[int, int] = {}
    gin_bonus = rules.big_gin_bonus if big_gin else rules.gin_bonus
    for seat in [*in_turn, knocker]:
        if rules.scoring == "penalty":  # S6: points go against the losers
            if undercutters:
                if seat == knocker:
                    points[seat] = -(own + rules.undercut_bonus)
                else:
                    points[seat] = 0 if seat in undercutters else -counts[seat]
            elif seat == knocker:
                points[seat] = 0
            elif own == 0:
                points[seat] = -(counts[seat] + gin_bonus)
            else:
                points[seat] = -(counts[seat] - own)
        elif seat == winner:  # S7
            points[seat] = rules.undercut_bonus if undercutters else gin_bonus if own == 0 else rules.knock_bonus
        elif own == 0:
            points[seat] = -2 * counts[seat]
        else:
            points[seat] = -(counts[seat] - counts[winner])
    kind = "undercut" if undercutters else "knock" if own else "big_gin" if big_gin else "gin"
    seats = range(len(hands))
    return TableSettlement(
        kind, knocker, winner, tuple(counts[s] for s in seats), tuple(points[s] * multiplier for s in seats)
    )


# --- What may be discarded and knocked with -------------------------------------------------------


def legal_discards(cards: Collection[str], taken: str | None = None, discard_taken: bool = False) -> set[str]:
    """Return what may be discarded: all but the card just taken from the pile, and that too under
    H4's option.
    """
    return {card for card in cards if discard_taken or card != taken}


def legal_knocks(
    cards: Collection[str],
    limit: int = 10,
    taken: str | None = None,
    discard_taken: bool = False,
    longest: int = 13,
) -> set[str]:
    """Return the discards with which one may knock: what they leave is within the limit (H5-H7),
    and H4 is kept.
    """
    return {
        card
        for card in legal_discards(cards, taken, discard_taken)
        if least_deadwood(set(cards) - {card}, longest) <= limit
    }


def can_big_gin(cards: Collection[str], longest: int = 13) -> bool:
    """Say whether all cards of the hand, the drawn one among them, are melded (H8)."""
    return least_deadwood(cards, longest) == 0


# --- One whole hand -------------------------------------------------------------------------------


class HandResult(NamedTuple):
    """The result of a hand. A dead hand has no knocker, no winner and no deadwoods, and scores 0
    (S5).
    """

    kind: str  # "knock", "undercut", "gin", "big_gin", "dead"
    knocker: int | None
    winner: int | None
    points: int  # the winner's, never below zero
    knocker_deadwood: int | None
    defender_deadwood: int | None

    @property
    def scores(self) -> tuple[int, int]:
        """The points of seat 0 and of seat 1."""
        return (self.points if self.winner == 0 else 0, self.points if self.winner == 1 else 0)


DEAD = HandResult("dead", None, None, 0, None, None)


class NaiveHand:
    """One hand from the deal to its result, driven by actions that say what they are.

    The actions are ("take",), ("pass",), ("draw",), ("discard", card), ("knock", card) and
    ("big gin",).

    The deck's first card is dealt first, to the non-dealer, then one to the dealer, and so on;
    then comes the upcard, then the stock from its top down (H1).
    """

    def __init__(self, deck: Sequence[str], rules: NaiveRules = NaiveRules(), dealer: int = 0) -> None:
        if sorted(deck) != sorted(full_deck(rules.ranks, rules.suits)):
            raise ValueError("the deck is not all cards of these rules once each")
        self.rules = rules
        self.dealer = dealer
        self.hands: list[set[str]] = [set() for _ in range(rules.players)]
        rest = list(deck)
        for _ in range(rules.cards_dealt):
            for k in range(rules.players):
                self.hands[(dealer + 1 + k) % rules.players].add(rest.pop(0))
        self.upcard = rest.pop(0)
        self.pile = [self.upcard]  # the top is the last
        self.stock = rest  # the top is the first
        self.limit = limit_of(rules, self.upcard)
        self.multiplier = multiplier_of(rules, self.upcard)
        self.phase = "upcard"  # then "draw" and "discard" in turn, "over" at the end
        self.seat = (dealer + 1) % rules.players  # whose decision it is; at the end, who made the last one
        self.refusals = 0  # of the first upcard
        self.taken: str | None = None  # from the pile on this turn: H4
        self.turns = 0
        self.reshuffled = 0
        self.result: HandResult | TableSettlement | None = None

    def legal(self) -> set[Action]:
        """Return the actions that are legal now: none when the hand is over."""
        if self.phase == "upcard":
            return {("take",), ("pass",)}  # H2
        if self.phase == "draw":
            if self.turns == 0:
                return {("draw",)}  # H2: both have refused the upcard, so it stays where it is
            return {("draw",), ("take",)}  # H3
        if self.phase == "over":
            return set()
        hand, rules = self.hands[self.seat], self.rules
        actions: set[Action] = set()
        for card in legal_discards(hand, self.taken, rules.discard_taken):
            actions.add(("discard", card))
        for card in legal_knocks(hand, self.limit, self.taken, rules.discard_taken, rules.longest_meld):
            actions.add(("knock", card))
        if rules.big_gin and can_big_gin(hand, rules.longest_meld):
            actions.add(("big gin",))
        return actions

    def apply(
        self,
        action: Action,
        knocker_melds: Collection[Meld] | None = None,
        new_stock: Sequence[str] | None = None,
    ) -> None:
        """Make one action. An illegal one changes nothing and raises ValueError (I1).

        With ``knocker_melds`` a knock is settled on just these, which must be among the equally
        good arrangements; without, as `settle` does. A discard after which a new stock is made (H12)
        needs it: all discards but this one, in whatever order they were shuffled to.
        """
        if action not in self.legal():
            raise ValueError(f"{action} is not legal in the phase {self.phase} for seat {self.seat}")
        if action == ("pass",):
            self.refusals += 1
            self._next()
            if self.refusals == self.rules.players:
                self.phase = "draw"
        elif action == ("take",):
            self.taken = self.pile.pop()
            self._receive(self.taken)
        elif action == ("draw",):
            self._receive(self.stock.pop(0))
        elif action == ("big gin",):
            self._finish(self.hands[self.seat], knocker_melds, big_gin=True)
        elif action[0] == "knock":
            self._finish(self.hands[self.seat] - {action[1]}, knocker_melds, big_gin=False)
            self.hands[self.seat].remove(action[1])
            self.pile.append(action[1])  # face down (H5)
        else:
            self.hands[self.seat].remove(action[1])
            self.pile.append(action[1])
            self.taken = None
            if len(self.stock) <= self.rules.dead_stock or self.turns >= self.rules.turn_limit:
                often = self.rules.reshuffles
                if self.turns >= self.rules.turn_limit or (often is not None and self.reshuffled >= often):
                    self.phase, self.result = "over", DEAD  # H11, H15
                    return
                if new_stock is None or sorted(new_stock) != sorted(self.pile[:-1]):
                    raise ValueError("the new stock is not all discards but the last one")
                self.stock, self.pile = list(new_stock), self.pile[-1:]  # H12
                self.reshuffled += 1
            self.phase = "draw"
            self._next()

    def _next(self) -> None:
        """Let the next in turn act."""
        self.seat = (self.seat + 1) % self.rules.players

    def _receive(self, card: str) -> None:
        """Put a card into the mover's hand: a turn begins, and a discard is owed."""
        self.hands[self.seat].add(card)
        self.turns += 1
        self.phase = "discard"

    def _finish(self, knocker: set[str], melds: Collection[Meld] | None, *, big_gin: bool) -> None:
        """Settle the hand; the mover has knocked with these cards."""
        rules = self.rules
        if rules.scoring != "gin":
            self._finish_table(knocker, melds, big_gin=big_gin)
            return
        defender = self.hands[1 - self.seat]
        if melds is None:
            end = settle(knocker, defender, rules=rules, big_gin=big_gin, multiplier=self.multiplier)
        else:
            if frozenset(melds) not in choose_knocker_arrangement(
                knocker, rules.ranks, rules.suits, rules.longest_meld
            ):
                raise ValueError("the knocker has a better arrangement than these melds")
            end = settle_with(knocker, melds, defender, rules=rules, big_gin=big_gin, multiplier=self.multiplier)
        winner = 1 - self.seat if end.kind == "undercut" else self.seat
        self.phase = "over"
        self.result = HandResult(
            end.kind,
            self.seat,
            winner,
            abs(end.points),
            end.knocker_deadwood,
            end.defender_deadwood,
        )

    def _finish_table(self, knocker: set[str], melds: Collection[Meld] | None, *, big_gin: bool) -> None:
        """Settle the hand for all at the table."""
        rules = self.rules
        best = choose_knocker_arrangement(knocker, rules.ranks, rules.suits, rules.longest_meld)
        melds = next(iter(best)) if melds is None else melds
        if frozenset(melds) not in best:
            raise ValueError("the knocker has a better arrangement than these melds")
        hands = [knocker if seat == self.seat else hand for seat, hand in enumerate(self.hands)]
        self.phase = "over"
        self.result = settle_table(hands, self.seat, melds, rules=rules, big_gin=big_gin, multiplier=self.multiplier)


# --- The ledger of a game -------------------------------------------------------------------------


@dataclass(frozen=True)
class NaiveGameRules:
    """The rules of a game of several hands. The defaults are the preset ``modern``."""

    target: int = 100  # G1
    box_bonus: int = 25  # G2
    game_bonus: int = 100  # G3
    shutout: str = "double"  # G4: "none", "double", "add"
    shutout_bonus: int = 100  # G4, where it adds
    next_dealer: str = "loser"  # H14: "loser", "winner"; "alternate": the other one, after a scored hand


class NaiveGame:
    """The ledger of one game: scores, boxes (hands won) and who deals; then the totals, the winner
    and the margin.
    """

    def __init__(self, rules: NaiveGameRules = NaiveGameRules(), first_dealer: int = 0) -> None:
        self.rules = rules
        self.dealer = first_dealer
        self.scores = [0, 0]
        self.boxes = [0, 0]
        self.hands_played = 0
        self.crossed: int | None = None  # who reached the target; the game is then over

    @property
    def over(self) -> bool:
        """Whether the game has ended (G1)."""
        return self.crossed is not None

    def record(self, result: HandResult) -> None:
        """Enter a hand: its points, its box, and who deals next. A dead hand changes nothing (S5,
        H11).
        """
        if self.over:
            raise ValueError("the game is over")
        self.hands_played += 1
        winner = result.winner
        if winner is None:
            return
        self.scores[winner] += result.points
        self.boxes[winner] += 1
        if self.scores[winner] >= self.rules.target:
            self.crossed = winner
        if self.rules.next_dealer == "winner":
            self.dealer = winner
        elif self.rules.next_dealer == "loser":
            self.dealer = 1 - winner
        else:
            self.dealer = 1 - self.dealer

    def totals(self) -> tuple[int, int]:
        """Return both totals with boxes (G2), game bonus (G3) and shutout (G4)."""
        if self.crossed is None:
            raise ValueError("the game is not over")
        sums = [self.scores[seat] + self.rules.box_bonus * self.boxes[seat] for seat in (0, 1)]
        sums[self.crossed] += self.rules.game_bonus
        if self.boxes[1 - self.crossed] == 0:
            if self.rules.shutout == "double":
                sums[self.crossed] *= 2
            elif self.rules.shutout == "add":
                sums[self.crossed] += self.rules.shutout_bonus
        return (sums[0], sums[1])

    def margin(self) -> int:
        """Return the difference of the totals (G5)."""
        first, second = self.totals()
        return abs(first - second)

    def winner(self) -> int:
        """Return who has the higher total; on level totals, who reached the target (G5)."""
        first, second = self.totals()
        if first == second:
            assert self.crossed is not None
            return self.crossed
        return 0 if first > second else 1


class NaiveHollywood:
    """A Hollywood game (V2): three games, of which a player's first win is entered in the first only, the second in
    the first two, every later one in all three. A game that is over takes nothing more.
    """

    def __init__(self, rules: NaiveGameRules = NaiveGameRules(), first_dealer: int = 0) -> None:
        self.columns = [NaiveGame(rules, first_dealer) for _ in range(3)]
        self.dealing = NaiveGame(replace(rules, target=1_000_000), first_dealer)  # sees every hand: who deals
        self.wins = [0, 0]

    @property
    def over(self) -> bool:
        """Whether all three columns have ended."""
        return all(column.over for column in self.columns)

    @property
    def dealer(self) -> int:
        """Who deals next (H14)."""
        return self.dealing.dealer

    @property
    def hands_played(self) -> int:
        """Hands of the game, dead ones and those that no column took included."""
        return self.dealing.hands_played

    @property
    def scores(self) -> list[int]:
        """Scores column after column, by seat."""
        return [score for column in self.columns for score in column.scores]

    @property
    def boxes(self) -> list[int]:
        """Boxes column after column, by seat."""
        return [box for column in self.columns for box in column.boxes]

    def record(self, result: HandResult) -> None:
        """Enter a hand where it belongs."""
        self.dealing.record(result)
        if result.winner is None:
            return
        self.wins[result.winner] += 1
        for column in self.columns[: self.wins[result.winner]]:
            if not column.over:
                column.record(result)

    def totals(self) -> tuple[int, int]:
        """Return the sums of the columns' totals."""
        first, second = zip(*(column.totals() for column in self.columns), strict=True)
        return (sum(first), sum(second))

    def margin(self) -> int:
        """Return the difference of the sums (G5)."""
        first, second = self.totals()
        return abs(first - second)

    def winner(self) -> int:
        """Return who has the higher sum; on level sums, who reached the target first, in whichever column (G5)."""
        first, second = self.totals()
        if first == second:
            crossed = self.columns[0].crossed
            assert crossed is not None
            return crossed
        return 0 if first > second else 1


# --- Three and four people ------------------------------------------------------------------------


class NaiveTableGame:
    """The ledger of a game of all at one table (S6, S7): no boxes, no bonuses; the highest total wins."""

    def __init__(self, players: int, scoring: str, target: int | None, next_dealer: str, first_dealer: int) -> None:
        self.scoring, self.target, self.next_dealer = scoring, target, next_dealer
        self.dealer = first_dealer
        self.scores = [0] * players

    @property
    def over(self) -> bool:
        """Whether someone has reached the target, in points or under S6 in penalties."""
        if self.target is None:
            return False
        if self.scoring == "penalty":
            return min(self.scores) <= -self.target
        return max(self.scores) >= self.target

    def record(self, result: HandResult | TableSettlement) -> None:
        """Enter a hand. A dead one changes nothing."""
        if isinstance(result, HandResult):
            assert result.kind == "dead"
            return
        players = len(self.scores)
        self.scores = [score + points for score, points in zip(self.scores, result.points, strict=True)]
        if self.next_dealer == "winner":
            self.dealer = result.winner
        elif self.next_dealer == "alternate":
            self.dealer = (self.dealer + 1) % players
        else:  # who scored the least, among equals the next in turn after the winner
            others = [(result.winner + k) % players for k in range(1, players)]
            self.dealer = min(others, key=lambda seat: result.points[seat])

    def winners(self) -> list[int]:
        """Return who has the highest total: several when level."""
        return [seat for seat, score in enumerate(self.scores) if score == max(self.scores)]


class NaiveThreeHanded:
    """V5: who plays, who deals, and what each of three has. A hand is (winner, points), None for a dead one."""

    def __init__(self, first_dealer: int, next_dealer: str = "loser") -> None:
        self.places = [first_dealer, (first_dealer + 1) % 3]  # two places at the table
        self.out = (first_dealer + 2) % 3
        self.deals = 0  # the place that deals
        self.next_dealer = next_dealer
        self.scores, self.boxes = [0, 0, 0], [0, 0, 0]

    def record(self, hand: tuple[int, int] | None) -> None:
        """Enter a hand; the loser and the third change places."""
        if hand is None:
            return
        winner, points = hand
        self.scores[winner] += points
        self.boxes[winner] += 1
        won = self.places.index(winner)
        self.deals = {"winner": won, "loser": 1 - won, "alternate": 1 - self.deals}[self.next_dealer]
        self.places[1 - won], self.out = self.out, self.places[1 - won]


class NaivePartners:
    """V6: two tables, the players 0 and 1 at one, 2 and 3 at the other; the sides are 0 and 2, 1 and 3."""

    def __init__(self, first_dealer: int, next_dealer: str = "loser") -> None:
        self.dealers = [first_dealer, 2 + (1 - first_dealer)]
        self.next_dealer = next_dealer
        self.scores, self.boxes = [0, 0], [0, 0]

    def record(self, hands: Sequence[tuple[int, int] | None]) -> None:
        """Enter the two hands of a round: only the net difference is scored."""
        sides = [0, 0]
        for table, hand in enumerate(hands):
            if hand is None:
                continue
            winner, points = hand
            assert winner // 2 == table
            sides[winner % 2] += points
            loser = winner ^ 1
            other = self.dealers[table] ^ 1
            self.dealers[table] = {"winner": winner, "loser": loser, "alternate": other}[self.next_dealer]
        net = sides[0] - sides[1]
        if net:
            self.scores[net < 0] += abs(net)
            self.boxes[net < 0] += 1
