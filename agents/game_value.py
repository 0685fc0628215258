"""The chance to win the game from each pair of scores: what a hand's points are worth in games.

A game is a race to the target (G1), one hand after the other, so the chance to win it follows by dynamic programming
from how often a hand brings whom how many points. That is measured: the packed counts are of `heuristic` against
itself, by preset (`python -m experiments.game_value --write` makes them again); other rules are measured when first
asked for. Whoever reaches the target first has won here: boxes and bonuses, which hardly ever make a loser of whoever
is home first, are left out (G2-G5).

    table = game_table(rules)  # float64, shape (2, target, target)
    win_chance(table[next_dealer], own_score, other_score)  # 0 where one deals oneself, 1 where the opponent does
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numba
import numpy as np
from numba import types

from agents.playout import play_hand
from agents.protocol import PARAMS, POLICY_POINTER, NativeAgent
from ginenv.deal import new_game
from ginenv.jit import kernel
from ginenv.rng import mix
from ginenv.rules import PRESETS, RULES, Rules
from ginenv.state import NO_SEAT, STATE, new_states
from ginenv.view import VIEW

PACKED = Path(__file__).parent / "weights" / "hand_points.json"
"""Counts by preset, from `heuristic` against itself."""
MOST_TARGET = 1000
"""Highest target a table is made for."""
MOST_POINTS = 2300
"""More points than a hand can bring: twice a bonus of 1,000 and 110 for cards."""
HANDS = 50_000
"""Hands that are played for rules whose counts are not packed: about two seconds."""


@kernel
def win_chance(table, own_score, other_score):
    """Return the chance to win the game with these scores, between hands.

    Args:
        table: float64, shape (target, target): one plane of `game_table`, ``[0]`` when one deals the next hand oneself,
            ``[1]`` when the opponent does; or their mean, where that is not known.
        own_score, other_score: Points so far; one at the target or above has won.
    """
    target = table.shape[0]
    if own_score >= target:
        return 1.0
    if other_score >= target:
        return 0.0
    return table[own_score, other_score]


def solve(counts: np.ndarray, target: int, next_dealer: str) -> np.ndarray:
    """Return the chance of side A to win a game from each pair of scores.

    Dead hands change nothing: the same dealer deals again (H11).

    Args:
        counts: How often a hand that is not dead brought how many points: shape (2, 2, points), by who dealt (A 0,
            B 1), who won and the points. Any multiple will do.
        target: Points that end the game.
        next_dealer: Who deals next: one of `ginenv.rules.DEALERS` (H14).

    Returns:
        float64, shape (2, target, target): by who deals (A 0, B 1), A's score and B's.

    Raises:
        ValueError: when a dealer has no hands, or the target is out of range.
    """
    if not 1 <= target <= MOST_TARGET:
        raise ValueError(f"game table: a target of {target} is out of range: 1 to {MOST_TARGET} is possible")
    share = np.array(counts, dtype=np.float64)
    hands = share.sum(axis=(1, 2))
    if (hands <= 0).any():
        raise ValueError("game table: no hand with a winner was counted for one of the dealers")
    share /= hands[:, None, None]
    # What is more than enough to end the game counts as just enough.
    if share.shape[2] > target:
        share[:, :, target] += share[:, :, target + 1 :].sum(axis=2)
        share = share[:, :, : target + 1]
    reach = share.shape[2]
    after = [[{"loser": 1 - won, "winner": won, "alternate": 1 - dealt}[next_dealer] for won in (0, 1)]
             for dealt in (0, 1)]  # fmt: skip
    chance = np.zeros((2, target + reach, target + reach))
    chance[:, target:, :] = 1.0
    gains = share[:, :, 1:]
    for low in range(2 * target - 2, -1, -1):  # by the sum of the scores: a hand with points leads to a higher one
        a = np.arange(max(0, low - target + 1), min(target, low + 1))
        b = low - a
        further = np.arange(1, reach)[:, None]
        known, still = np.zeros((2, len(a))), np.eye(2)
        for dealt in (0, 1):
            to_a, to_b = after[dealt]
            known[dealt] = (
                gains[dealt, 0] @ chance[to_a, a + further, b] + gains[dealt, 1] @ chance[to_b, a, b + further]
            )
            still[dealt, to_a] -= share[dealt, 0, 0]  # a hand worth nothing (S2) leaves the scores as they are
            still[dealt, to_b] -= share[dealt, 1, 0]
        chance[:, a, b] = np.linalg.solve(still, known)
    return chance[:, :target, :target].copy()


@kernel(
    signature=types.void(
        POLICY_POINTER, PARAMS, POLICY_POINTER, PARAMS, numba.from_dtype(RULES), types.int64, types.int64,
        numba.from_dtype(STATE)[::1], numba.from_dtype(VIEW)[::1], types.int64[:, :, ::1],
    )
)  # fmt: skip
def _count_hands(policy_a, params_a, policy_b, params_b, rules, seed, hands, states, views, counts):
    s = states[0]
    for hand in range(hands):
        key = mix(seed, hand)
        new_game(s, rules, key)
        dealer = s["dealer"]
        play_hand(
            s, rules, views, policy_a, params_a, mix(key, np.int64(-1)), policy_b, params_b, mix(key, np.int64(-2))
        )
        winner = s["winner"]
        if winner != NO_SEAT:
            counts[dealer, winner, s["points"][winner]] += 1


def count_hands(a: NativeAgent, b: NativeAgent, rules: Rules, seed: int, hands: int) -> np.ndarray:
    """Return how often hands between ``a`` and ``b``, each the first of a game, bring whom how many points.

    Returns:
        int64, shape (2, 2, points): by who dealt (A 0, B 1), who won and the points; dead hands are not in it.
    """
    counts = np.zeros((2, 2, MOST_POINTS), dtype=np.int64)
    _count_hands(
        a.policy,
        a.params,
        b.policy,
        b.params,
        rules.record,
        seed,
        hands,
        new_states(1),
        np.zeros(2, dtype=VIEW),
        counts,
    )
    most = int(np.flatnonzero(counts.sum(axis=(0, 1)))[-1]) if counts.any() else 0
    return counts[:, :, : most + 1].copy()


def among_equals(counts: np.ndarray) -> np.ndarray:
    """Return counts of an agent against itself with its two sides made alike."""
    return counts + counts[::-1, ::-1]


def hand_rules(rules: Rules) -> Rules:
    """Return ``rules`` with all that bears on games alone set to one value: the same points a hand, the same record."""
    return rules.but(
        name="hand", target=100, hands=None, box_bonus=0, game_bonus=0, shutout="none", shutout_bonus=0,
        next_dealer="loser", hollywood=False, match=None,
    )  # fmt: skip


@cache
def _packed() -> dict[Rules, np.ndarray]:
    found = json.loads(PACKED.read_text(encoding="utf-8")) if PACKED.exists() else {}
    return {hand_rules(PRESETS[name]): np.array(rows["counts"]) for name, rows in found.items() if name in PRESETS}


@cache
def hand_points(rules: Rules) -> np.ndarray:
    """Return how hands of `heuristic` against itself end: as `count_hands`, both sides alike. Do not write to it."""
    found = _packed().get(hand_rules(rules))
    if found is None:
        from agents.registry import make  # it imports all agents, and one of them this module

        player = make("heuristic")
        assert isinstance(player, NativeAgent)
        found = among_equals(count_hands(player, player, rules, 1, HANDS))
    return found


@cache
def game_table(rules: Rules) -> np.ndarray:
    """Return the chance to win the game by who deals next and both scores, among equals. Do not write to it.

    Args:
        rules: What is played.

    Returns:
        float64, shape (2, target, target): ``[0]`` when one deals the next hand oneself, ``[1]`` when the opponent
        does.

    Raises:
        ValueError: for rules without a target (G8), with one above 1,000, with three columns (V2), or not for two.
    """
    if not rules.for_two:
        raise ValueError(f"game table: {rules.name} is not for two players and scoring=gin")
    if rules.target is None:
        raise ValueError(f"game table: under {rules.name} a game ends by its number of hands, so no target decides it")
    if rules.hollywood:
        raise ValueError(f"game table: under {rules.name} a game is three columns, and the table knows one race only")
    return solve(hand_points(rules), rules.target, rules.next_dealer)
