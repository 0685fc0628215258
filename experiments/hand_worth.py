"""What a hand is worth in games: by how much it changes the chance to win, against each opponent as it is met.

Points mislead: against `simple` a learner that counts them comes to win a point a hand more, and no more games
(docs/training.md). And among equals a lead is worth as much as a deficit costs, but who wins four games of five has
more to lose by a hand than to win. So the chances (`agents.game_value`) are solved for each opponent, from how hands at
the learner's own tables have ended lately.
"""

from __future__ import annotations

import numpy as np

from agents.game_value import among_equals, hand_points, solve
from ginenv.envs.vector import Tables
from ginenv.rules import Rules

ITSELF = -1
"""Stands for an opponent as strong as the learner: itself, or a past self."""
_BEGINNING = 1000
"""Hands that what is known at the beginning counts as: how hands among equals end."""


class HandWorth:
    """The chances to win the game at the learner's tables.

    Args:
        rules: What is played; games by target (`agents.game_value.game_table` refuses others).
        opponents: int64, shape (n,): who plays the learner at each table, numbers from 0; `ITSELF`.
        seats: int64, shape (n,): the learner's seat there; either where it plays itself.

    Attributes:
        lately: float64, shape (opponents + 1, 2, 2, target + 1): how hands ended, as `agents.game_value.solve` counts
            them with the learner as side A; the last against itself. Older hands count for less.
        solved: The same as it was when the chances were solved. Both are what a checkpoint must hold.
    """

    def __init__(self, rules: Rules, opponents: np.ndarray, seats: np.ndarray) -> None:
        assert rules.target is not None
        self._rules, self._target = rules, rules.target
        self._tables = np.arange(len(opponents))
        self._opponents, self._seats = opponents, seats
        known = hand_points(rules)
        among = np.zeros((2, 2, self._target + 1))
        for points in range(known.shape[2]):
            among[:, :, min(points, self._target)] += known[:, :, points] * (_BEGINNING / known.sum())
        self.lately = np.stack([among] * (int(opponents.max()) + 2))
        self.solved = self.lately.copy()
        self.use()
        self._dealers = np.zeros(len(opponents), dtype=np.int64)
        self._before = np.zeros((len(opponents), 2))
        self._scores = self._boxes = np.zeros((len(opponents), 2), dtype=np.int64)

    def use(self) -> None:
        """Solve the chances from `solved`. Raises ValueError when there a dealer has no hands."""
        most = max(np.flatnonzero(self.solved.any(axis=(0, 1, 2))), default=0)  # the time it takes grows with it
        counts = [*self.solved[:-1, :, :, : most + 1], among_equals(self.solved[-1, :, :, : most + 1])]
        self._chances = np.stack([solve(c, self._target, self._rules.next_dealer) for c in counts])

    def renew(self) -> None:
        """Solve the chances from how hands have ended lately; from then on these count for half."""
        self.solved[:] = self.lately
        self.lately /= 2
        self.use()

    def look(self, tables: Tables) -> None:
        """See how things stand before a step."""
        self._dealers = tables.states["dealer"].astype(np.int64)
        self._before = self.chances(tables)
        self._scores = tables.states["scores"].astype(np.int64)
        self._boxes = tables.states["boxes"].astype(np.int64)

    def change(self, tables: Tables) -> np.ndarray:
        """Return by how much the step since `look` changed both seats' chances to win the game, and count hands.

        Returns:
            float64, shape (n, 2): 0 where no hand ended.
        """
        over = 0.5 + 0.5 * np.sign(tables.returns)
        after = np.where(tables.dones[:, None], over, self.chances(tables))
        points = tables.rewards[self._tables, self._seats].astype(np.int64)
        if tables.dones.any():
            points = np.where(tables.dones, self._last_points(points), points)
        counted = np.flatnonzero(points)
        dealt = (self._dealers != self._seats).astype(np.int64)[counted]
        lost = (points[counted] < 0).astype(np.int64)
        many = np.minimum(np.abs(points[counted]), self._target)
        np.add.at(self.lately, (self._opponents[counted], dealt, lost, many), 1)
        return np.where((tables.kinds != 0)[:, None], after - self._before, 0)

    def _last_points(self, rewards: np.ndarray) -> np.ndarray:
        """Return what the learner won by a game's last hand: the reward less what boxes and bonuses add (G2-G4).

        Args:
            rewards: int64, shape (n,): the learner's for that hand.

        Returns:
            int64, shape (n,): negative where it lost; 0 where nobody came home.
        """
        rules, own, other = self._rules, self._seats, 1 - self._seats
        points = np.zeros_like(rewards)
        # Who won the hand came home, with the total that the margin tells. That fits one of the two only.
        for sign, winner, loser in ((1, own, other), (-1, other, own)):
            score, boxes = self._scores[self._tables, winner], self._boxes[self._tables, winner]
            won = self._boxes[self._tables, loser]
            # The reward is the margin less the lead before, and the loser's score is in both.
            total = sign * rewards + score + won * rules.box_bonus
            if rules.shutout == "double":
                total = np.where(won == 0, total // 2, total)
            elif rules.shutout == "add":
                total = total - np.where(won == 0, rules.shutout_bonus, 0)
            gain = total - score - (boxes + 1) * rules.box_bonus - rules.game_bonus
            points += np.where((gain > 0) & (score + gain >= self._target), sign * gain, 0)
        return points

    def chances(self, tables: Tables) -> np.ndarray:
        """Return both seats' chances to win the game as the present hands began: float64, shape (n, 2)."""
        dealt = (tables.states["dealer"] != self._seats).astype(np.int64)
        scores = tables.states["scores"].astype(np.int64)
        own, other = scores[self._tables, self._seats], scores[self._tables, 1 - self._seats]
        first = self._chances[self._opponents, dealt, own, other]
        first = np.where(self._seats == 0, first, 1 - first)
        return np.stack([first, 1 - first], axis=1)
