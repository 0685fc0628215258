"""Random numbers as a pure function of a key: repeatable across tables, threads and processes.

There is no generator object to carry along: a *key* (int64) names a stream, and the i-th number of a stream is a
hash of key and i (SplitMix64: Steele, Lea & Flood, OOPSLA 2014). A table's deck is a function of the
game's seed and the number of the hand, whatever else runs beside it.
"""

from __future__ import annotations

import hashlib

import numpy as np

from ginenv.jit import kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S32, _S1 = (np.uint64(n) for n in (30, 27, 31, 32, 1))


def apart(seed: int) -> int:
    """Return a key (int64, not negative) from which nobody can work out ``seed``: for the randomness of agents.

    `mix` can be undone, so an agent whose keys were mixed from the seed of its deck could find the cards in them. This
    is BLAKE2b. A seed that is guessed is a deck that is known all the same: who must not know it gets a seed at random.
    """
    digest = hashlib.blake2b(int(seed).to_bytes(8, "little"), digest_size=8, person=b"ginenv agents").digest()
    return int.from_bytes(digest, "little") >> 1


@kernel
def _hash(key, index):
    # By way of int64: without Numba a plain negative number is no uint64.
    x = np.uint64(np.int64(key)) + (np.uint64(np.int64(index)) + _S1) * _GOLDEN
    x = (x ^ (x >> _S30)) * _M1
    x = (x ^ (x >> _S27)) * _M2
    return x ^ (x >> _S31)


@kernel
def mix(key, index):
    """Return a new key (int64, never negative) made of ``key`` and ``index``."""
    return np.int64(_hash(key, index) >> _S1)


@kernel
def below(key, index, n):
    """Return the ``index``-th number of stream ``key``, uniform in 0 … n-1 (int64); n at most 2**32.

    The bias of the multiply-and-shift method is below n / 2**32, which no experiment here can see.
    """
    return np.int64(((_hash(key, index) >> _S32) * np.uint64(n)) >> _S32)


@kernel
def uniform(key, index):
    """Return the ``index``-th number of stream ``key``, uniform in [0, 1) (float64)."""
    return np.float64(_hash(key, index) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


def checked_seed(seed: object, name: str = "seed") -> int:
    """Return a seed that a person gave, as an int.

    Raises:
        ValueError: when it is no whole number from 0 to 2**63 - 1, in one sentence that begins with ``name``.
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise ValueError(f"{name} {seed!r} should be a whole number from 0 to 2**63 - 1")
    if not 0 <= int(seed) < 1 << 63:
        raise ValueError(f"{name} {seed} is out of range: 0 to 2**63 - 1 is possible")
    return int(seed)
