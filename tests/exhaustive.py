"""An oracle for solved games: every deal and every history of a tiny deck, played through the engine.

Slow, plain, and nothing borrowed from `experiments.public_tree`: information sets are a dictionary by all that a VIEW
tells, and a best response is found from the last ones back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import combinations, permutations

import numpy as np

from ginenv.cards import card_list
from ginenv.deal import deal_deck
from ginenv.rules import Rules
from ginenv.state import NO_SEAT, OVER_PHASE, new_states
from ginenv.step import step
from ginenv.view import VIEW, look
from tests.common import legal_actions

Policy = Callable[[bytes, list[int]], list[float]]
"""What is known, and the legal actions, to the chance of each."""


class Exhaustive:
    """Every history of a hand.

    Attributes:
        actors: Of each history the seat to act, -1 where the hand is over.
        known: What that seat knows.
        actions: Its legal actions.
        after: The history that each of these leads to.
        points: What seat 0 wins where the hand is over.
        roots: The histories at the deals, all equally likely; seat 0 is the non-dealer.
    """

    def __init__(self, rules: Rules) -> None:
        self.actors: list[int] = []
        self.known: list[bytes] = []
        self.actions: list[list[int]] = []
        self.after: list[list[int]] = []
        self.points: list[int] = []
        self.roots: list[int] = []
        self._record, self._view = rules.record, np.zeros(1, dtype=VIEW)
        deck = set(card_list(int(rules.record["deck"])))
        k = rules.cards_dealt
        for upcard in sorted(deck):
            for own in combinations(sorted(deck - {upcard}), k):
                for other in combinations(sorted(deck - {upcard, *own}), k):
                    dealt = [c for pair in zip(own, other, strict=True) for c in pair]
                    for stock in permutations(sorted(deck - {upcard, *own, *other})):
                        s = new_states(1)
                        s[0]["dealer"], s[0]["first_home"] = 1, NO_SEAT
                        deal_deck(s[0], rules.record, np.array([*dealt, upcard, *stock], dtype=np.uint8))
                        self.roots.append(self._add(s))

    def _add(self, s: np.ndarray) -> int:
        """Add the history in STATE ``s``, shape (1,), and all that follow from it; returns its number."""
        number = len(self.actors)
        over = s[0]["phase"] == OVER_PHASE
        self.actors.append(-1 if over else int(s[0]["seat"]))
        self.points.append(int(s[0]["points"][0]) - int(s[0]["points"][1]))
        self.known.append(b"")
        self.actions.append([])
        self.after.append([])
        if not over:
            look(s[0], self._record, s[0]["seat"], self._view[0])
            self.known[number] = self._view.tobytes()
            self.actions[number] = legal_actions(s[0])
            for action in self.actions[number]:
                t = s.copy()
                step(t[0], self._record, action)
                self.after[number].append(self._add(t))
        return number

    def best_response(self, seat: int, policy: Policy) -> float:
        """Return what the best response in ``seat`` to a policy wins, in points a hand."""
        weights = np.zeros(len(self.actors))  # of the histories: chance and the other's choices
        weights[self.roots] = 1 / len(self.roots)
        sets: dict[bytes, list[int]] = defaultdict(list)
        for h, actor in enumerate(self.actors):  # whoever follows from another comes after it
            if actor == seat:
                sets[self.known[h]].append(h)
                weights[self.after[h]] = weights[h]
            elif actor >= 0:
                weights[self.after[h]] = weights[h] * np.array(policy(self.known[h], self.actions[h]))
        sign, values = 1 - 2 * seat, np.zeros(len(self.actors))
        chosen: dict[bytes, int] = {}
        # By number, last first: every history of a set must be known before the set is decided, so sets go by the
        # length of their histories.
        length = np.zeros(len(self.actors), dtype=np.int64)
        for h in range(len(self.actors)):
            length[self.after[h]] = length[h] + 1
        for h in np.argsort(-length, kind="stable"):
            if self.actors[h] < 0:
                values[h] = sign * weights[h] * self.points[h]
            elif self.actors[h] != seat:
                values[h] = values[self.after[h]].sum()
            else:
                know = self.known[h]
                if know not in chosen:
                    totals = np.sum([values[self.after[i]] for i in sets[know]], axis=0)
                    chosen[know] = int(np.argmax(totals))
                values[h] = values[self.after[h][chosen[know]]]
        return float(values[self.roots].sum())
