"""The time of day for kernels, and how much of it a decision may take: Numba has no clock of its own."""

from __future__ import annotations

import time

import numpy as np
from numba import types
from numba.core import config

from ginenv.jit import kernel
from ginenv.state import DISCARD_PHASE, UPCARD_PHASE

_MONOTONIC = time.CLOCK_MONOTONIC
_clock_gettime = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.voidptr))


@kernel
def nanoseconds():
    """Return a time that only grows, in nanoseconds: int64, from the same clock as `time.monotonic_ns`."""
    spec = np.empty(2, np.int64)  # POSIX's timespec, on systems of 64 bits
    _clock_gettime(_MONOTONIC, spec.ctypes)
    return spec[0] * 1_000_000_000 + spec[1]


@kernel
def deadline(view, ms, bank):
    """Return when a decision must be made, in `nanoseconds`; 0 for no time limit.

    An agent has no memory, so a game's bank is shared out beforehand: a tenth of what earlier hands left goes to each
    hand, and a fourteenth of what earlier decisions left to each decision of it. Early ones, of which there are always
    some, get the most, and however long the game is, no more is spent than there is.

    Args:
        view: A VIEW record of the seat to act.
        ms: Milliseconds for each decision; 0: none.
        bank: Seconds for each game; 0: none. Where both are given, the shorter time holds.
    """
    left = np.inf
    if ms > 0:
        left = ms * 1e6
    if bank > 0:
        place = np.float64(0)  # of the decision among one's own in this hand: upcard, draw, discard, draw, …
        if view["phase"] != UPCARD_PHASE:
            place = 2.0 * np.float64(view["own_turn"]) + (0 if view["phase"] == DISCARD_PHASE else 1)
        left = min(left, bank * 1e9 * 0.1 * 0.9 ** np.float64(view["hand_number"]) / 14 * (13 / 14) ** place)
    return nanoseconds() + np.int64(left) if left < np.inf else np.int64(0)


if config.DISABLE_JIT:
    nanoseconds = time.monotonic_ns  # the C function can be called from compiled code only
