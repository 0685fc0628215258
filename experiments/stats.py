"""Estimates with 95 % intervals, clustered by pair.

The two games of a mirrored pair share their decks, so they are no two independent trials: the pair is. Every interval
here is computed from one number a pair.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

Z = 1.959963984540054
"""97.5 % quantile of the normal distribution."""

_T = (12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.30600, 2.26216)
"""97.5 % quantiles of Student's t with 1 to 9 degrees of freedom, where the expansion below is too coarse."""


class Interval(NamedTuple):
    """An estimate and its 95 % interval; the bounds are NaN where the data cannot tell."""

    value: float
    low: float
    high: float

    @property
    def half(self) -> float:
        """Half the width: the "±"."""
        return (self.high - self.low) / 2


def t_quantile(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t (to four digits)."""
    if freedom <= len(_T):
        return _T[freedom - 1]
    # Cornish-Fisher (Abramowitz and Stegun 26.7.5).
    z, v = Z, freedom
    return (
        z
        + (z**3 + z) / (4 * v)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
    )


def share(pairs: np.ndarray) -> Interval:
    """Return the mean of a share (games won, say) and its interval.

    Wilson's interval with the number of independent trials that the spread of the pairs tells: as many as would give
    their mean the same variance. With many pairs that is the normal interval of the pair means; with few, or near 0
    and 1, it stays inside [0, 1] and keeps its coverage. One pair, or pairs that are all alike, tell no spread: then
    each pair counts as one trial, which never gives an interval without width.

    Args:
        pairs: The share in each pair, 0 to 1, shape (n,).
    """
    n = len(pairs)
    if n == 0:
        return Interval(math.nan, math.nan, math.nan)
    p = float(np.mean(pairs))
    variance = float(np.var(pairs, ddof=1)) / n if n > 1 else 0.0
    # The mean is computed in floating point, so equal pairs are told by their values.
    if n == 1 or bool(np.all(pairs == pairs[0])):
        trials, q = float(n), Z
    else:
        trials, q = p * (1 - p) / variance, t_quantile(n - 1)
    return _wilson(p, trials, q)


def _wilson(p: float, trials: float, q: float) -> Interval:
    shrink = 1 + q * q / trials
    centre = (p + q * q / (2 * trials)) / shrink
    half = q * math.sqrt(p * (1 - p) / trials + (q / (2 * trials)) ** 2) / shrink
    # Rounding must not leave 0 or 1 outside of their own interval.
    return Interval(p, max(0.0, min(p, centre - half)), min(1.0, max(p, centre + half)))


def mean(pairs: np.ndarray) -> Interval:
    """Return the mean of an unbounded quantity (points won by, say) and its t interval.

    Args:
        pairs: One number a pair, shape (n,). One pair, or pairs that are all alike, leave the bounds NaN.
    """
    return ratio(pairs, np.ones(len(pairs)))


def ratio(totals: np.ndarray, counts: np.ndarray) -> Interval:
    """Return a ratio of sums (points to hands, say), with the t interval of its linearisation.

    Args:
        totals, counts: Of each pair, shape (n,). One pair, or no spread, leave the bounds NaN.
    """
    n, count = len(totals), float(np.sum(counts))
    if count == 0:
        return Interval(math.nan, math.nan, math.nan)
    value = float(np.sum(totals)) / count
    spread = np.asarray(totals) - value * np.asarray(counts)
    if n < 2 or float(np.max(np.abs(spread))) < 1e-9 * max(1.0, abs(value)):
        return Interval(value, math.nan, math.nan)
    half = t_quantile(n - 1) * math.sqrt(n / (n - 1) * float(np.sum(spread**2))) / count
    return Interval(value, value - half, value + half)
