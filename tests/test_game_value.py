"""The chance to win a game by both scores: against the plain recursion, in its symmetry, and in games played."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from agents.game_value import PACKED, among_equals, count_hands, game_table, hand_points, solve, win_chance
from agents.registry import native
from experiments import game_value
from experiments.game_value import classes, predictions
from ginenv.rules import DEALERS, PRESETS

WITH_TARGET = [
    name for name, rules in PRESETS.items() if rules.target is not None and rules.for_two and not rules.hollywood
]


def naive(counts: np.ndarray, target: int, next_dealer: str, rounds: int = 60) -> float:
    """Return A's chance at 0 to 0 when A deals, by plain recursion over what each hand may bring."""
    share = counts / counts.sum(axis=(1, 2))[:, None, None]

    @cache
    def chance(dealt: int, a: int, b: int, left: int) -> float:
        if a >= target:
            return 1.0
        if b >= target or left == 0:
            return 0.0
        sum_ = 0.0
        for won in (0, 1):
            after = {"loser": 1 - won, "winner": won, "alternate": 1 - dealt}[next_dealer]
            for points, p in enumerate(share[dealt, won]):
                if p:
                    sum_ += p * chance(after, a + points * (1 - won), b + points * won, left - 1)
        return sum_

    return chance(0, 0, 0, rounds)


@pytest.mark.parametrize("next_dealer", DEALERS)
def test_the_table_is_what_plain_recursion_says(next_dealer):
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 9, size=(2, 2, 8))
    table = solve(counts, 12, next_dealer)
    assert table[0, 0, 0] == pytest.approx(naive(counts, 12, next_dealer), abs=1e-9)


def test_a_dealer_without_hands_and_a_target_out_of_range_are_refused():
    counts = np.ones((2, 2, 5))
    counts[1] = 0
    with pytest.raises(ValueError, match="one of the dealers"):
        solve(counts, 10, "loser")
    with pytest.raises(ValueError, match="out of range"):
        solve(np.ones((2, 2, 5)), 0, "loser")
    with pytest.raises(ValueError, match="number of hands"):
        game_table(PRESETS["openspiel"])
    with pytest.raises(ValueError, match="three columns"):
        game_table(PRESETS["hollywood"])


@pytest.mark.parametrize("name", WITH_TARGET)
def test_among_equals_level_scores_are_even_and_more_points_are_better(name):
    table = game_table(PRESETS[name])
    target = PRESETS[name].target
    assert table.shape == (2, target, target)
    # Whoever deals, the two chances make one.
    assert np.allclose(table[0] + table[1].T, 1)
    assert np.allclose((table[0] + table[1]).diagonal() / 2, 0.5)
    mean = table.mean(axis=0)
    assert (np.diff(mean, axis=0) >= -1e-12).all()
    assert (np.diff(mean, axis=1) <= 1e-12).all()
    assert win_chance(table[0], target, 0) == 1
    assert win_chance(table[0], 0, target + 5) == 0
    assert win_chance(table[1], 3, 4) == table[1, 3, 4]


def test_every_preset_with_a_target_has_its_counts_packed():
    assert PACKED.exists()
    for name in WITH_TARGET:
        if not PRESETS[name].more_actions:  # agents do not play these
            assert hand_points(PRESETS[name]).sum() > 300_000
    # What bears on games alone does not matter; what bears on hands does.
    assert hand_points(PRESETS["eaai"].but(target=250)) is hand_points(PRESETS["modern"])
    assert hand_points(PRESETS["hollywood"].but(match=500)) is hand_points(PRESETS["modern"])


def test_the_table_comes_true_in_games():
    agent, rules = native("simple"), PRESETS["eaai"]
    counts = among_equals(count_hands(agent, agent, rules, 2, 20_000))
    found = classes(*predictions(agent, agent, rules, solve(counts, 100, "alternate"), 5, 600))
    assert sum(n for _, _, n in found) > 8_000
    for said, true, n in found:
        if n >= 100:
            assert abs(said - true.value) < 2 * true.half + 0.01


def test_a_stronger_side_is_given_more_from_the_start():
    patient, simple = native("simple:early=10,until=4,late=0"), native("simple")
    table = solve(count_hands(patient, simple, PRESETS["eaai"], 4, 20_000), 100, "alternate")
    assert 0.62 < table[:, 0, 0].mean() < 0.75  # 68.6 % in games (docs/results.md)


def test_the_command_prints_what_came_true(capsys):
    game_value.run(["simple", "simple", "--games", "100"])
    assert "came true" in capsys.readouterr().out
