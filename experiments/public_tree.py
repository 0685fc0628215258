"""One hand of a small deck as a tree of what both players see, with a vector over hands for each of them.

All is public in gin but the cards dealt and those drawn from the stock. So the tree branches on passes, draws from
stock or pile, and discards; and at each node each player has a *reach* for each hand: the chance that its own choices
(and draws) lead there with it (Johanson et al., "Accelerating best response calculation", IJCAI 2011). Both times
"the hands share no card" are the joint chance, up to a constant: the next card of the stock is any of those that are
in no hand and not in the pile, each with chance 1 / (cards in the stock), whatever is held. Pairs of hands that could
never come about share a card, or hold one that lies in the pile, and count for nothing. In what order a player drew its
cards tells nothing of the other, so hands are sets.

Hands are numbered as `Deck` lists them; "mid-hands" have the card just drawn, too. Values are points of a hand, from
the engine's own settlement (`ginenv.scoring`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from math import comb

import numpy as np

from ginenv.cards import BIT, card_list
from ginenv.deal import deal_deck
from ginenv.melds import deadwood
from ginenv.rules import Rules
from ginenv.scoring import settle_hands
from ginenv.state import Kind, new_states

LARGEST = 10_000_000
"""Choices of one first upcard's tree, hand by hand, above which it would not fit in memory."""
Choose = Callable[["Part", np.ndarray], np.ndarray]
"""What makes values of a decision out of those of its actions: (part, shape (n, hands, actions)) to (n, hands)."""


class Deck:
    """A small deck's hands, and the tables that lead from one to another.

    Attributes:
        cards: The card numbers, lowest first; below a card is its place in here.
        hands, mids: Masks of all hands of ``cards_dealt`` cards and of one more: int64, shape (n_hands,), (n_mids,).
        members: int64, shape (n_mids, k + 1): the cards of each mid-hand.
        less: int64, shape (n_mids, k + 1): the hand without each of these.
        plus: int64, shape (n_hands, n_cards): the mid-hand with one card more; ``n_mids`` where the hand holds it.
        place: int64, shape (n_hands, n_cards): which member of that mid-hand the card is.
        bits: int64, shape (n_cards,): each card's mask.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        record = rules.record
        self.cards = card_list(int(record["deck"]))
        self.bits = BIT[self.cards]
        n, k = len(self.cards), rules.cards_dealt
        chosen = list(combinations(range(n), k))
        self.members = np.array(list(combinations(range(n), k + 1)), dtype=np.int64)
        number = {hand: i for i, hand in enumerate(chosen)}
        self.hands = self.bits[np.array(chosen, dtype=np.int64)].sum(1)
        self.mids = self.bits[self.members].sum(1)
        self.less = np.array(
            [[number[(*mid[:s], *mid[s + 1 :])] for s in range(k + 1)] for mid in map(tuple, self.members.tolist())]
        )
        self.plus = np.full((len(chosen), n), len(self.mids), dtype=np.int64)
        self.place = np.zeros((len(chosen), n), dtype=np.int64)
        for s in range(k + 1):
            self.plus[self.less[:, s], self.members[:, s]] = np.arange(len(self.mids))
            self.place[self.less[:, s], self.members[:, s]] = s

    def number(self, mask: int) -> int:
        """Return the number of a hand or mid-hand."""
        return int(np.flatnonzero((self.hands if mask in self.hands else self.mids) == mask)[0])


class Knocks:
    """All ways to end a hand under one first upcard, and what they are worth.

    Attributes:
        mid, action: int64, shape (n,): the mid-hand and the action (its number at a `Part`: see `Deck.members`).
        points: float64, shape (n, n_hands): to the knocker against each hand; 0 where the two share a card.
        card: int64, shape (n,): the discard; -1 for big gin.
    """

    def __init__(self, deck: Deck, limit: int, multiplier: int) -> None:
        rules, record = deck.rules, deck.rules.record
        k, longest = rules.cards_dealt, rules.longest_meld
        least = np.array([deadwood(int(hand), longest) for hand in deck.hands])
        mid, slot = np.nonzero(least[deck.less] <= limit)
        self.card = deck.members[mid, slot]
        mask, action = deck.hands[deck.less[mid, slot]], k + 1 + slot
        if rules.big_gin:
            big = np.flatnonzero([deadwood(int(hand), longest) == 0 for hand in deck.mids])
            mid, action = np.append(mid, big), np.append(action, np.full(len(big), 2 * k + 2))
            mask, self.card = np.append(mask, deck.mids[big]), np.append(self.card, np.full(len(big), -1))
        self.mid, self.action = mid, action
        worth: dict[int, np.ndarray] = {}  # a hand may be knocked with after several discards
        self.points = np.zeros((len(mid), len(deck.hands)))
        for i, hand in enumerate(mask.tolist()):
            if hand not in worth:
                worth[hand] = np.array([
                    0 if hand & other else _points(hand, other, record) * multiplier for other in deck.hands.tolist()
                ])  # fmt: skip
            self.points[i] = np.where(deck.hands & deck.mids[mid[i]], 0, worth[hand])


def _points(knocker: int, defender: int, record: np.void) -> int:
    """Return what the knocker scores, less what the defender does (S1-S4)."""
    kind, points, *_ = settle_hands(knocker, defender, record["deck"], record, np.zeros(3, dtype=np.int64))
    return -int(points) if kind == int(Kind.UNDERCUT) else int(points)


@dataclass(eq=False)
class Part:
    """Decisions of one seat that look alike, at several nodes: whether to draw, or what to discard or knock with.

    Those of the last turn of a hand are apart: all that does not end it with a knock is the same there.
    """

    seat: int
    shape: tuple[int, int, int]
    """Nodes, hands, actions."""
    legal: np.ndarray
    """bool, broadcasting to ``shape``."""


@dataclass(eq=False)
class Turn:
    """The nodes of one turn number that follow from one way to begin: whoever moves draws, then discards or knocks.

    Mid-turn nodes are the nodes again, first after a draw from the stock (where that is possible), then after taking.
    """

    seat: int
    pile: np.ndarray
    """Cards in the pile, masks: int64, shape (n,)."""
    top: np.ndarray
    """The top of the pile, by its place in the deck: int64, shape (n,)."""
    stock: np.ndarray
    """Cards in the stock: int64, shape (n,)."""
    before: np.ndarray
    """For each node the mid-turn node of the turn before that leads to it: int64, shape (n,)."""
    draw: bool
    take: bool
    choice: Part | None = None
    """Draw or take; None where just one is possible."""
    mid_pile: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    taken: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Of each mid-turn node the card taken, -1 for a draw from the stock."""
    on: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Mid-turn nodes after which play may go on."""
    last: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Mid-turn nodes after whose discard the hand is dead."""
    discard: Part | None = None
    """At the nodes `on`: an action for each member of the mid-hand, to discard it; then for each, to knock with it."""
    end: Part | None = None
    """At the nodes `last`: for each mid-hand of `Tree.enders`, to go on and, after that, to knock with each member."""
    next: Turn | None = None

    @property
    def parts(self) -> list[Part]:
        """The decisions, in the order of play."""
        return [part for part in (self.choice, self.discard, self.end) if part is not None]


class Tree:
    """A hand from one first upcard on.

    Three ways to begin: the non-dealer (seat 0) takes the upcard, or passes and seat 1 takes it, or both pass and seat
    0 draws from the stock (H2). ``chance`` times the sum over both players' hands is the mean over all deals.
    """

    def __init__(self, deck: Deck, upcard: int) -> None:
        self.deck, self.upcard = deck, upcard
        rules, k, n = deck.rules, deck.rules.cards_dealt, len(deck.cards)
        state = new_states(1)
        first = [c for c in deck.cards if c != deck.cards[upcard]]
        full = [*first[: 2 * k], deck.cards[upcard], *first[2 * k :]]
        deal_deck(state[0], rules.record, np.array(full, dtype=np.uint8))
        self.knocks = Knocks(deck, int(state[0]["knock_limit"]), int(state[0]["multiplier"]))
        self.chance = 1 / (comb(n - 1, k) * comb(n - 1 - k, k))
        self.enders = np.unique(self.knocks.mid)
        self.actions = 2 * (k + 1) + rules.big_gin
        self.size = 0
        self.offers = [self._either(seat, 1) for seat in (0, 1)]
        """Each seat's choice at the first upcard: take or pass."""
        self.starts = [self._start(0, True), self._start(1, True), self._start(0, False)]
        self.dealt = (deck.hands & deck.bits[upcard] == 0).astype(np.float64)
        """The reach of each hand at the deal: float64, shape (n_hands,)."""

    def _room(self, n: int, hands: int, actions: int) -> tuple[int, int, int]:
        """Return a part's shape, or raise ValueError where it would not fit in memory."""
        self.size += n * hands * actions
        if self.size > LARGEST:
            raise ValueError(
                f"this game is too large to solve exactly (over {LARGEST:,} choices of hand and action for one first "
                "upcard): take fewer ranks, suits or cards_dealt, or a smaller turn_limit"
            )
        return n, hands, actions

    def _either(self, seat: int, n: int) -> Part:
        """Return a decision between two actions that are always legal."""
        return Part(seat, self._room(n, len(self.deck.hands), 2), np.ones((1, 1, 2), dtype=bool))

    def _start(self, seat: int, take: bool) -> Turn:
        deck, n = self.deck, np.zeros(1, dtype=np.int64)
        stock = n + len(deck.cards) - 2 * deck.rules.cards_dealt - 1
        start = turn = Turn(seat, n + deck.bits[self.upcard], n + self.upcard, stock, n, not take, take)
        number = 0
        while True:
            self._finish(turn, number)
            if not len(turn.on):
                return start
            turn.next = turn = self._after(turn)
            number += 1

    def _finish(self, turn: Turn, number: int) -> None:
        """Add the mid-turn nodes and the decisions."""
        deck, rules, n = self.deck, self.deck.rules, len(turn.top)
        both = turn.draw and turn.take
        if both:
            turn.choice = self._either(turn.seat, n)
        without = turn.pile & ~deck.bits[turn.top]
        drawn, took = n if turn.draw else 0, n if turn.take else 0
        turn.mid_pile = np.concatenate([turn.pile[:drawn], without[:took]])
        turn.taken = np.concatenate([np.full(drawn, -1), turn.top[:took]])
        left = np.concatenate([turn.stock[:drawn] - 1, turn.stock[:took]])
        over = (left <= rules.dead_stock) | (number + 1 >= rules.turn_limit)
        turn.on, turn.last = np.flatnonzero(~over), np.flatnonzero(over)
        k = rules.cards_dealt
        if len(turn.on):
            shape = self._room(len(turn.on), len(deck.mids), self.actions)
            legal = np.zeros(shape, dtype=bool)
            allowed = self.allowed(turn.taken[turn.on])
            legal[:, :, : k + 1] = allowed
            knocks = np.zeros((len(deck.mids), self.actions), dtype=bool)
            knocks[self.knocks.mid, self.knocks.action] = True
            legal |= knocks
            legal[:, :, k + 1 : 2 * k + 2] &= allowed
            turn.discard = Part(turn.seat, shape, legal)
        if len(turn.last) and len(self.enders):
            shape = self._room(len(turn.last), len(self.enders), self.actions - k)
            legal = np.zeros(shape, dtype=bool)
            legal[:, np.searchsorted(self.enders, self.knocks.mid), self.knocks.action - k] = True
            legal[:, :, 1 : k + 2] &= self.allowed(turn.taken[turn.last])[:, self.enders]
            legal[:, :, 0] = True
            turn.end = Part(turn.seat, shape, legal)

    def allowed(self, taken: np.ndarray) -> np.ndarray:
        """Return which member of each mid-hand may be discarded (H4): bool, shape (n, n_mids, k + 1)."""
        if self.deck.rules.discard_taken:
            taken = np.full_like(taken, -1)
        return self.deck.members != taken[:, None, None]

    def _after(self, turn: Turn) -> Turn:
        """Return the next turn: a node for each card that may lie on the pile."""
        deck = self.deck
        possible = turn.mid_pile[turn.on][:, None] & deck.bits == 0
        if not deck.rules.discard_taken:
            possible &= np.arange(len(deck.cards)) != turn.taken[turn.on][:, None]
        node, card = np.nonzero(possible)
        before = turn.on[node]
        pile = turn.mid_pile[before] | deck.bits[card]
        held = 2 * deck.rules.cards_dealt
        stock = len(deck.cards) - held - np.array([int(mask).bit_count() for mask in pile])
        return Turn(1 - turn.seat, pile, card, stock, before, True, True)

    def turns(self) -> Iterator[Turn]:
        """Yield every turn, those of each start in the order of play."""
        for start in self.starts:
            turn: Turn | None = start
            while turn is not None:
                yield turn
                turn = turn.next

    def parts(self, seat: int | None = None) -> Iterator[Part]:
        """Yield every part, or those of one seat."""
        yield from (part for part in self.offers if seat in (None, part.seat))
        for turn in self.turns():
            yield from (part for part in turn.parts if seat in (None, part.seat))

    # --- From the deal on: reaches ---

    def reach(self, seat: int, strategy: Strategy) -> Reach:
        """Return how the hands of ``seat`` come to each place if it plays ``strategy``."""
        reach = Reach(seat)
        take, offered = self.dealt, self.dealt
        if seat == 0:
            part = strategy[self.offers[0]][0]
            take, offered = self.dealt * part[:, 0], self.dealt * part[:, 1]
            ways = [take, offered, offered]
        else:
            part = strategy[self.offers[1]][0]
            ways = [self.dealt, self.dealt * part[:, 0], self.dealt * part[:, 1]]
        reach.at[self.offers[seat]] = self.dealt[None]
        for start, way in zip(self.starts, ways, strict=True):
            hands: np.ndarray = way[None]
            turn: Turn | None = start
            while turn is not None:
                if turn.seat == seat:
                    hands = self._move(turn, hands, strategy, reach)
                else:
                    hands = self._watch(turn, hands, reach)
                turn = turn.next
        return reach

    def _watch(self, turn: Turn, hands: np.ndarray, reach: Reach) -> np.ndarray:
        """Carry the reach of the seat that is not to move over a turn: what is discarded, it does not hold."""
        mid = np.concatenate([hands] * (turn.draw + turn.take))
        reach.watching[turn] = mid
        if turn.next is None:
            return mid[:0]
        return mid[turn.next.before] * (self.deck.hands & self.deck.bits[turn.next.top][:, None] == 0)

    def _move(self, turn: Turn, hands: np.ndarray, strategy: Strategy, reach: Reach) -> np.ndarray:
        """Carry the mover's reach over its turn."""
        drawing = taking = hands
        if turn.choice is not None:
            reach.at[turn.choice] = hands
            drawing, taking = np.moveaxis(hands[:, :, None] * strategy[turn.choice], 2, 0)
        mid = self.drawn(turn, drawing, taking)
        knocks = np.zeros((len(mid), len(self.knocks.mid)))
        after = mid[:0, : len(self.deck.hands)]
        if turn.end is not None:
            reach.at[turn.end] = mid[turn.last][:, self.enders]
            done = reach.at[turn.end][:, :, None] * strategy[turn.end]
            k = self.deck.rules.cards_dealt
            knocks[turn.last] = done[:, np.searchsorted(self.enders, self.knocks.mid), self.knocks.action - k]
        if turn.discard is not None and turn.next is not None:
            reach.at[turn.discard] = mid[turn.on]
            done = mid[turn.on][:, :, None] * strategy[turn.discard]
            knocks[turn.on] = done[:, self.knocks.mid, self.knocks.action]
            after = self.discarded(turn, done)
        reach.knocks[turn] = knocks
        return after

    def drawn(self, turn: Turn, drawing: np.ndarray, taking: np.ndarray) -> np.ndarray:
        """Return the reach of mid-hands, shape (mid-turn nodes, n_mids), of hands that draw and of those that take."""
        deck, found = self.deck, []
        if turn.draw:
            mid = sum(drawing[:, deck.less[:, s]] for s in range(deck.less.shape[1]))
            found.append(mid * (deck.mids & turn.pile[:, None] == 0) / turn.stock[:, None])
        if turn.take:
            mid = np.zeros((len(taking), len(deck.mids) + 1))
            np.put_along_axis(mid, deck.plus[:, turn.top].T, taking, 1)
            found.append(mid[:, :-1])
        return np.concatenate(found)

    def discarded(self, turn: Turn, done: np.ndarray) -> np.ndarray:
        """Return the reach of hands at the next turn's nodes of mid-hands that discard.

        Args:
            turn: The turn.
            done: float64, shape (nodes `on`, n_mids, actions): the reach of each action.
        """
        deck, after = self.deck, turn.next
        assert after is not None
        n, mids, actions = done.shape
        flat = np.append(done.reshape(n, -1), np.zeros((n, 1)), axis=1)
        place = np.minimum(deck.plus * actions + deck.place, mids * actions)  # (n_hands, n_cards)
        row = np.searchsorted(turn.on, after.before)
        return flat[row[:, None], place[:, after.top].T]

    # --- From the end back: values ---

    def values(self, seat: int, other: Reach, choose: Choose) -> np.ndarray:
        """Return what each dealt hand of ``seat`` is worth: its points times ``chance``, weighted by the other's reach.

        Args:
            seat: Whose values.
            other: The other seat's reach.
            choose: Makes a decision of ``seat``; see `best` and `experiments.solve`.

        Returns:
            float64, shape (n_hands,); times `dealt`, the sum is the mean of the points under this upcard.
        """
        found = [self._start_values(start, seat, other, choose) for start in self.starts]
        if seat == 0:
            return choose(self.offers[0], np.stack([found[0], found[1] + found[2]], 1)[None])[0]
        return found[0] + choose(self.offers[1], np.stack([found[1], found[2]], 1)[None])[0]

    def _start_values(self, start: Turn, seat: int, other: Reach, choose: Choose) -> np.ndarray:
        line = [start]
        while line[-1].next is not None:
            line.append(line[-1].next)
        later = np.zeros((0, len(self.deck.hands)))
        for turn in reversed(line):
            later = self._won(turn, later, other, choose) if turn.seat == seat else self._lost(turn, later, other)
        return later[0]

    def _lost(self, turn: Turn, later: np.ndarray, other: Reach) -> np.ndarray:
        """Return values at the nodes of a turn of the other seat."""
        deck = self.deck
        mid = -self.chance * (other.knocks[turn] @ self.knocks.points)
        if turn.next is not None:
            held = deck.hands & deck.bits[turn.next.top][:, None] == 0
            first = np.searchsorted(turn.next.before, turn.on)
            mid[turn.on] += np.add.reduceat(later * held, first)
        return mid.reshape(turn.draw + turn.take, len(turn.top), -1).sum(0)

    def _won(self, turn: Turn, later: np.ndarray, other: Reach, choose: Choose) -> np.ndarray:
        """Return values at the nodes of a turn of the seat whose values they are."""
        deck, k, n = self.deck, self.deck.rules.cards_dealt, len(turn.top)
        knocks = self.chance * (other.watching[turn] @ self.knocks.points.T)
        mid = np.zeros((len(knocks), len(deck.mids) + 1))
        if turn.end is not None:
            actions = np.zeros(turn.end.shape)
            actions[:, np.searchsorted(self.enders, self.knocks.mid), self.knocks.action - k] = knocks[turn.last]
            mid[turn.last[:, None], self.enders] = choose(turn.end, actions)
        if turn.discard is not None and turn.next is not None:
            actions = np.zeros(turn.discard.shape)
            actions[:, self.knocks.mid, self.knocks.action] = knocks[turn.on]
            # The node that each mid-turn node and card lead to; what may not be discarded leads nowhere.
            node = np.full((len(knocks), len(deck.cards)), len(later))
            node[turn.next.before, turn.next.top] = np.arange(len(later))
            padded = np.append(later, np.zeros((1, later.shape[1])), axis=0)
            actions[:, :, : k + 1] = padded[node[turn.on][:, deck.members], deck.less]
            mid[turn.on, :-1] = choose(turn.discard, actions)
        found = []
        if turn.draw:
            mid[:n, :-1] *= deck.mids & turn.pile[:, None] == 0
            found.append(mid[:n][:, deck.plus].sum(2) / turn.stock[:, None])
        if turn.take:
            found.append(np.take_along_axis(mid[-n:], deck.plus[:, turn.top].T, 1))
        return found[0] if turn.choice is None else choose(turn.choice, np.stack(found, 2))


Strategy = dict[Part, np.ndarray]
"""The chance of each action: float64, broadcasting to a part's shape."""


@dataclass(eq=False)
class Reach:
    """How likely one seat's own choices and draws make each hand, where it matters."""

    seat: int
    at: dict[Part, np.ndarray] = field(default_factory=dict)
    """Before each own decision: float64, shape (nodes, hands)."""
    watching: dict[Turn, np.ndarray] = field(default_factory=dict)
    """At the mid-turn nodes of the other's turns: float64, shape (mid-turn nodes, n_hands)."""
    knocks: dict[Turn, np.ndarray] = field(default_factory=dict)
    """Of each knock (`Tree.knocks`) in an own turn: float64, shape (mid-turn nodes, knocks)."""


def best(part: Part, values: np.ndarray) -> np.ndarray:
    """Choose the best legal action for each hand: the values of a best response."""
    return np.where(part.legal, values, -np.inf).max(2)


def uniform(tree: Tree, seat: int) -> Strategy:
    """Return the strategy that plays any legal action with the same chance, but see `Turn.end`."""
    found: Strategy = {}
    for part in tree.parts(seat):
        found[part] = np.broadcast_to(part.legal / np.maximum(part.legal.sum(2, keepdims=True), 1), part.shape)
    for turn in tree.turns():
        if turn.seat == seat and turn.end is not None:
            # Going on is as many actions as there are discards.
            weight = turn.end.legal.astype(np.float64)
            weight[:, :, 0] = tree.allowed(turn.taken[turn.last])[:, tree.enders].sum(2)
            found[turn.end] = weight / weight.sum(2, keepdims=True)
    return found
