"""`experiments.stats`: intervals clustered by pair."""

import math

import numpy as np
import pytest

from experiments.stats import Interval, mean, ratio, share, t_quantile


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [(1, 12.7062), (5, 2.57058), (10, 2.22814), (30, 2.04227), (100, 1.98397), (10**6, 1.95997)],
)
def test_t_quantile(freedom: int, expected: float):
    assert t_quantile(freedom) == pytest.approx(expected, abs=2e-4)


def test_share_of_many_pairs_is_the_normal_interval_of_pair_means():
    pairs = np.random.default_rng(1).choice([0, 0.5, 1], size=20_000, p=[0.2, 0.5, 0.3])
    value, low, high = share(pairs)
    half = 1.96 * pairs.std(ddof=1) / math.sqrt(len(pairs))
    assert value == pytest.approx(pairs.mean())
    assert (high - low) / 2 == pytest.approx(half, rel=1e-3)
    # Half the pairs are shared, so the interval must be narrower than that of 40,000 independent games.
    assert half < 1.96 * math.sqrt(value * (1 - value) / 40_000)


@pytest.mark.parametrize("value", [0.0, 0.25, 0.5, 0.75, 1.0])
@pytest.mark.parametrize("n", [1, 2, 1000])
def test_alike_pairs_never_give_an_interval_without_width(value: float, n: int):
    estimate, low, high = share(np.full(n, value))
    assert estimate == value
    assert 0 <= low <= value <= high <= 1
    # Wilson: about q² / n at the ends of the scale, 2 q / √n / 2 in the middle.
    assert high - low > 3 / (n + 4)


def test_share_of_no_pairs_is_unknown():
    assert all(math.isnan(x) for x in share(np.zeros(0)))


@pytest.mark.parametrize("n", [5, 20, 100, 1000])
@pytest.mark.parametrize("chances", [(0.25, 0.5, 0.25), (0.05, 0.4, 0.55), (0.01, 0.09, 0.9), (0.4, 0.2, 0.4)])
def test_coverage_of_share(n: int, chances: tuple[float, ...]):
    """Chances of 0, 1 and 2 games won of a pair: the interval must hold the truth in 95 % of the experiments."""
    rng = np.random.default_rng(n)
    truth = 0.5 * chances[1] + chances[2]
    intervals = [share(rng.choice([0, 0.5, 1], size=n, p=chances)) for _ in range(2000)]
    covered = np.mean([i.low <= truth <= i.high for i in intervals])
    # The distribution is discrete, so few pairs may be covered more often than asked for.
    assert covered > 0.93
    if n >= 100 and chances[0] > 0.01:
        assert covered < 0.97


def test_coverage_of_ratio():
    """Points to hands, where a pair with more hands has more points of both: its hands are no independent trials."""
    rng = np.random.default_rng(3)
    covered = []
    for _ in range(2000):
        hands = rng.integers(10, 40, size=100)
        points = hands * (8 + rng.normal(0, 1, size=100)) + rng.normal(0, 10, size=100)
        estimate = ratio(points, hands)
        covered.append(estimate.low <= 8 <= estimate.high)
    assert 0.93 < np.mean(covered) < 0.97


def test_mean_is_the_t_interval():
    value, low, high = mean(np.array([1.0, 2.0, 3.0, 4.0]))
    half = 3.18245 * math.sqrt(5 / 3 / 4)
    assert (value, low, high) == pytest.approx((2.5, 2.5 - half, 2.5 + half))


def test_without_spread_the_bounds_are_unknown():
    for estimate in (mean(np.array([3.0])), mean(np.full(10, 0.1)), ratio(np.zeros(10), np.arange(1, 11))):
        assert math.isnan(estimate.low)
        assert math.isnan(estimate.high)
        assert not math.isnan(estimate.value)
    assert math.isnan(ratio(np.zeros(3), np.zeros(3)).value)  # no hands at all


def test_half():
    assert Interval(0.5, 0.4, 0.7).half == pytest.approx(0.15)
