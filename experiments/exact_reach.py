"""How an agent's hands come to each place of a `experiments.public_tree`, asked decision by decision.

An agent may remember what it drew and when, so here each order of its own draws is a path of its own; the paths that
end in the same hand are added up, as the order tells nothing of the opponent. The agent is asked by the VIEWs that it
would get at a table.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from agents import ppo
from agents.protocol import Agent, NativeAgent
from experiments.public_tree import Reach, Tree, Turn
from ginenv.cards import BIT, NO_CARD
from ginenv.deal import deal_deck
from ginenv.encode import encode
from ginenv.envs.opponent import ask
from ginenv.jit import kernel
from ginenv.rng import uniform
from ginenv.rules import Rules
from ginenv.state import BIG_GIN, DISCARD, DRAW, KNOCK, N_ACTIONS, NO_SEAT, PASS, TAKE, new_states
from ginenv.step import step, write_mask
from ginenv.view import VIEW, look

Chances = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""A policy: (VIEW, shape (n,); int8 legal actions, shape (n, 108)) to the chance of each: float64, shape (n, 108)."""

PATHS = 20_000
"""Paths carried on at a time: 504 bytes each, and as much for each of its continuations."""
_CODE, _SIZE = ppo.ENCODING.code, ppo.ENCODING.size
DRAWS = 12
"""Keys by which an agent that draws lots is asked: chances that are multiples of a twelfth come out exactly."""


# --- Policies --------------------------------------------------------------------------------------


def any_legal(views: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Play any legal action with the same chance."""
    return masks / masks.sum(1, keepdims=True)


def chances_of(agent: Agent, rules: Rules) -> Chances:
    """Return the policy of an agent.

    Networks of the kind `ppo` tell their chances themselves. Any other agent is asked `DRAWS` times with keys whose
    first random number is spread evenly over [0, 1): exact for one that draws no lots, or once a decision among
    1, 2, 3, 4, 6 or 12 equals; else an estimate.
    """
    if isinstance(agent, NativeAgent) and agent.policy is ppo.choose:
        params = agent.params

        def of_network(views: np.ndarray, masks: np.ndarray) -> np.ndarray:
            logits = np.zeros((len(views), N_ACTIONS), dtype=np.float32)
            _logits(views, rules.record, params, logits)
            scaled = np.where(masks, logits.astype(np.float64), -np.inf)
            scaled -= scaled.max(1, keepdims=True)
            if params[2] <= 0:
                return np.eye(N_ACTIONS)[scaled.argmax(1)]
            chances = np.exp(scaled / params[2])
            return chances / chances.sum(1, keepdims=True)

        return of_network

    keys = _spread_keys()

    def of_agent(views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        found = np.zeros((len(views), N_ACTIONS))
        for key in keys:
            found[np.arange(len(views)), ask(agent, views, rules, np.full(len(views), key))] += 1 / DRAWS
        if (found[masks == 0] > 0).any():
            raise ValueError(f"{agent.spec} played an illegal action: only legal play has a value")
        return found

    return of_agent


def _spread_keys() -> list[int]:
    """Return `DRAWS` keys; the first number of the i-th one's stream lies in the i-th part of [0, 1)."""
    keys: dict[int, int] = {}
    key = 0
    while len(keys) < DRAWS:
        keys.setdefault(int(uniform(key, 0) * DRAWS), key)
        key += 1
    return [keys[i] for i in range(DRAWS)]


@kernel
def _logits(views, rules, params, out):
    """Write the logits of a policy network for each VIEW: float32, shape (n, 108)."""
    raw = np.empty(_SIZE, np.int8)
    for i in range(views.shape[0]):
        encode(views[i], rules, _CODE, raw)
        ppo.logits(raw, params, out[i])


# --- Paths -----------------------------------------------------------------------------------------


@kernel
def _bring(s, seat, card):
    """Put a card that ``seat`` does not know of on top of the stock of STATE ``s``. Returns whether that can be."""
    other, top = 1 - seat, np.int64(s["n_stock"]) - 1
    if s["known"][other] & BIT[card] != 0:
        return False
    if s["hand"][other] & BIT[card] != 0:
        s["hand"][other] ^= BIT[card] | BIT[s["order"][top]]
        s["order"][top] = card
        return True
    for i in range(top + 1):
        if s["order"][i] == card:
            s["order"][i] = s["order"][top]
            s["order"][top] = card
            return True
    return False


@kernel
def _give(s, other, card):
    """See that ``other`` holds a card, for a hidden one of its own. Returns whether that can be."""
    if s["hand"][other] & BIT[card] != 0:
        return True
    spare = s["hand"][other] & ~s["known"][other]
    if spare == 0:
        return False
    bit = spare & -spare
    for i in range(np.int64(s["n_stock"])):
        if s["order"][i] == card:
            for c in range(52):
                if BIT[c] == bit:
                    s["order"][i] = c
            s["hand"][other] ^= bit | BIT[card]
            return True
    return False


@kernel
def _play(states, rules, seat, draws, cards, throws, possible):
    """Play a turn, or a part of one, in each STATE.

    Args:
        states: STATE, shape (n,): the mover is the same in all.
        rules: A RULES record.
        seat: Whose paths these are: what the other holds and draws is hidden, and so may be chosen.
        draws: int64, shape (n,): DRAW, TAKE or -1 for a turn that has begun.
        cards: int64, shape (n,): the card that ``seat`` draws from the stock, NO_CARD for any.
        throws: int64, shape (n,): the card to discard, NO_CARD for none yet.
        possible: bool, shape (n,), written: whether there are hidden cards with which it can be.
    """
    for i in range(states.shape[0]):
        s = states[i]
        possible[i] = True
        if draws[i] >= 0:
            if cards[i] != NO_CARD:
                possible[i] = _bring(s, seat, cards[i])
            if possible[i]:
                step(s, rules, draws[i])
        if possible[i] and throws[i] != NO_CARD:
            possible[i] = _give(s, np.int64(s["seat"]), throws[i])
            if possible[i]:
                step(s, rules, DISCARD + throws[i])


@kernel
def _look_all(states, rules, seat, views, masks):
    """Write the VIEWs of ``seat``, which is to act, and its legal actions."""
    for i in range(states.shape[0]):
        look(states[i], rules, seat, views[i])
        write_mask(views[i], masks[i])


class Walk:
    """One seat's paths through a tree."""

    def __init__(self, tree: Tree, seat: int, chances: Chances) -> None:
        self.tree, self.seat, self.chances = tree, seat, chances
        self.deck, self.record = tree.deck, tree.deck.rules.record
        self.numbers = np.array(self.deck.cards)
        self.reach = Reach(seat)
        for turn in tree.turns():
            n = len(turn.mid_pile)
            if turn.seat == seat:
                self.reach.knocks[turn] = np.zeros((n, len(tree.knocks.mid)))
            else:
                self.reach.watching[turn] = np.zeros((n, len(self.deck.hands)))
        # Which knock an action is with a mid-hand; -1 for none.
        self.knock = np.full((len(self.deck.mids), N_ACTIONS), -1)
        action = np.where(tree.knocks.card < 0, BIG_GIN, KNOCK + self.numbers[tree.knocks.card])
        self.knock[tree.knocks.mid, action] = np.arange(len(action))
        self.order = np.argsort(self.deck.hands), np.argsort(self.deck.mids)

    def number(self, masks: np.ndarray, mid: bool) -> np.ndarray:
        """Return the numbers of hands or mid-hands."""
        order, known = self.order[mid], self.deck.mids if mid else self.deck.hands
        return order[np.searchsorted(known, masks, sorter=order)]

    def ask(self, states: np.ndarray) -> np.ndarray:
        """Return the policy's chances in each STATE."""
        views, masks = np.zeros(len(states), dtype=VIEW), np.zeros((len(states), N_ACTIONS), dtype=np.int8)
        _look_all(states, self.record, self.seat, views, masks)
        return self.chances(views, masks)

    def run(self) -> Reach:
        """Walk all paths from the deal on; what `Tree.reach` returns but for ``at``."""
        states = self._dealt()
        first, second, both = states, states.copy(), states.copy()
        weight = np.ones(len(states))
        weights = [weight, weight, weight]
        for s in second:
            step(s, self.record, PASS)
        if self.seat == 0:
            chances = self.ask(first)
            weights = [chances[:, TAKE], chances[:, PASS], chances[:, PASS]]
        else:
            chances = self.ask(second)
            weights = [weight, chances[:, TAKE], chances[:, PASS]]
        for s in both:
            step(s, self.record, PASS)
            step(s, self.record, PASS)
        nodes = np.zeros(len(states), dtype=np.int64)
        for start, begun, w in zip(self.tree.starts, (first, second, both), weights, strict=True):
            self._turn(start, begun, nodes, w)
        return self.reach

    def _dealt(self) -> np.ndarray:
        """Return a STATE for each hand that the seat can be dealt; what is hidden from it is anything."""
        hands = np.flatnonzero(self.tree.dealt)
        states = new_states(len(hands))
        k, upcard = self.deck.rules.cards_dealt, self.deck.cards[self.tree.upcard]
        for s, hand in zip(states, self.deck.hands[hands].tolist(), strict=True):
            own = [c for c in self.deck.cards if int(BIT[c]) & hand]
            rest = [c for c in self.deck.cards if c not in own and c != upcard]
            s["dealer"], s["first_home"] = 1, NO_SEAT
            dealt = (own, rest) if self.seat == 0 else (rest, own)
            pairs = [c for both in zip(dealt[0][:k], dealt[1][:k], strict=True) for c in both]
            deal_deck(s, self.record, np.array([*pairs, upcard, *rest[k:]], dtype=np.uint8))
        return states

    def _turn(self, turn: Turn, states: np.ndarray, nodes: np.ndarray, weights: np.ndarray) -> None:
        """Carry paths on from the nodes of a turn."""
        for at in range(0, len(states), PATHS):
            part = slice(at, at + PATHS)
            if turn.seat == self.seat:
                self._move(turn, states[part], nodes[part], weights[part])
            else:
                self._watch(turn, states[part], nodes[part], weights[part])

    def _watch(self, turn: Turn, states: np.ndarray, nodes: np.ndarray, weights: np.ndarray) -> None:
        hands = states["hand"][:, self.seat]
        n = len(turn.top)
        ways = [DRAW] * turn.draw + [TAKE] * turn.take
        for i, way in enumerate(ways):
            mid = nodes + n * i
            np.add.at(self.reach.watching[turn], (mid, self.number(hands, False)), weights)
            if turn.next is None:
                continue
            path, child = _children(turn, mid)
            card = turn.next.top[child]
            free = hands[path] & self.deck.bits[card] == 0
            path, child, card = path[free], child[free], card[free]
            after, possible = self._played(states[path], way, None, self.numbers[card])
            self._turn(turn.next, after[possible], child[possible], weights[path][possible])

    def _move(self, turn: Turn, states: np.ndarray, nodes: np.ndarray, weights: np.ndarray) -> None:
        n = len(turn.top)
        drawing = taking = weights
        if turn.choice is not None:
            chances = self.ask(states)
            drawing, taking = weights * chances[:, DRAW], weights * chances[:, TAKE]
        if turn.draw:
            seen = states["hand"][:, self.seat] | turn.pile[nodes]
            path, card = np.nonzero((seen[:, None] & self.deck.bits == 0) & (drawing[:, None] > 0))
            after, possible = self._played(states[path], DRAW, self.numbers[card], None)
            path, after = path[possible], after[possible]
            self._throw(turn, after, nodes[path], drawing[path] / turn.stock[nodes[path]])
        if turn.take:
            path = np.flatnonzero(taking > 0)
            after, _ = self._played(states[path], TAKE, None, None)
            self._throw(turn, after, nodes[path] + n * turn.draw, taking[path])

    def _throw(self, turn: Turn, states: np.ndarray, mid: np.ndarray, weights: np.ndarray) -> None:
        """Carry paths on from the nodes in mid-turn."""
        # After a last turn that cannot end with a knock nothing is worth anything.
        matters = (states["knocks"] != 0) | (states["choices"] != 0) | np.isin(mid, turn.on)
        states, mid, weights = states[matters], mid[matters], weights[matters]
        for at in range(0, len(states), PATHS):
            part = slice(at, at + PATHS)
            now, node, weight = states[part], mid[part], weights[part]
            chances = self.ask(now) * weight[:, None]
            hands = self.number(now["hand"][:, self.seat], True)
            path, action = np.nonzero((self.knock[hands] >= 0) & (chances > 0))
            knock = self.knock[hands[path], action]
            np.add.at(self.reach.knocks[turn], (node[path], knock), chances[path, action])
            if turn.next is None:
                continue
            path, child = _children(turn, node)
            card = self.numbers[turn.next.top[child]]
            thrown = chances[path, DISCARD + card]
            some = thrown > 0
            path, child, card, thrown = path[some], child[some], card[some], thrown[some]
            after, _ = self._played(now[path], -1, None, card)
            self._turn(turn.next, after, child, thrown)

    def _played(
        self, states: np.ndarray, draw: int, cards: np.ndarray | None, throws: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Play in fresh copies of STATEs; returns these and whether it was possible (see `_play`)."""
        n, possible = len(states), np.zeros(len(states), dtype=bool)
        none = np.full(n, NO_CARD)
        _play(
            states, self.record, self.seat, np.full(n, draw), none if cards is None else cards,
            none if throws is None else throws, possible,
        )  # fmt: skip
        return states, possible


def _children(turn: Turn, mid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the next turn's nodes that follow from mid-turn nodes, as pairs of a place in ``mid`` and a node."""
    assert turn.next is not None
    first = np.searchsorted(turn.next.before, mid)
    many = np.searchsorted(turn.next.before, mid, side="right") - first
    path = np.repeat(np.arange(len(mid)), many)
    return path, np.arange(len(path)) + np.repeat(first - (np.cumsum(many) - many), many)


def reach_of(tree: Tree, seat: int, chances: Chances) -> Reach:
    """Return how the hands of ``seat`` come to each place when it plays a policy."""
    return Walk(tree, seat, chances).run()
