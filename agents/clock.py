"""The time of day for kernels: a search with a time budget must look at a clock, and Numba has none."""

from __future__ import annotations

import time

import numpy as np
from numba import types
from numba.core import config

from ginenv.jit import kernel

_MONOTONIC = time.CLOCK_MONOTONIC
_clock_gettime = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.voidptr))


@kernel
def nanoseconds():
    """Return a time that only grows, in nanoseconds: int64, from the same clock as `time.monotonic_ns`."""
    spec = np.empty(2, np.int64)  # POSIX's timespec, on systems of 64 bits
    _clock_gettime(_MONOTONIC, spec.ctypes)
    return spec[0] * 1_000_000_000 + spec[1]


if config.DISABLE_JIT:
    nanoseconds = time.monotonic_ns  # the C function can be called from compiled code only
