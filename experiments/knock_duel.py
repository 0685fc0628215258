"""Mirrored pairs of hands, told so that their points follow under any bonuses: the kernel of `gin knock metagame`."""

from __future__ import annotations

import numba
import numpy as np
from numba import types

from agents.playout import NO_FORFEIT, play_hand
from agents.protocol import PARAMS, POLICY_POINTER
from experiments.match import pair_seed, side_key
from ginenv.deal import new_game
from ginenv.jit import kernel
from ginenv.rules import RULES_TYPE
from ginenv.state import NO_SEAT, STATE, Kind
from ginenv.view import VIEW

_UNDERCUT, _GIN, _BIG_GIN = int(Kind.UNDERCUT), int(Kind.GIN), int(Kind.BIG_GIN)

DUEL = np.dtype(
    [
        ("limit", np.int16),  # the hand's knock limit
        ("base", np.int16),  # A's points less B's in both hands of the pair, without the bonuses below
        ("gins", np.int16),  # A's gins less B's, each times the hand's multiplier
        ("big_gins", np.int16),
        ("undercuts", np.int16),  # undercuts by A less those by B, likewise
    ]
)
"""A mirrored pair of hands between A and B: its points under any bonuses are a sum of these."""


@kernel(
    signature=types.int64(
        POLICY_POINTER, PARAMS, POLICY_POINTER, PARAMS, RULES_TYPE, types.int64, types.int64, types.int64,
        numba.from_dtype(DUEL)[::1],
    )
)  # fmt: skip
def duel(policy_a, params_a, policy_b, params_b, rules, seed, root, first, rows):
    """Play mirrored pairs of hands from number ``first`` on into ``rows``.

    Returns:
        0, or 1 or 2 when A or B acted illegally.
    """
    states, views = np.empty(1, dtype=STATE), np.empty(2, dtype=VIEW)
    for n in range(rows.shape[0]):
        s = states[0]  # in the loop: a record does not keep its array in memory
        pair = first + n
        key_a, key_b = side_key(root, pair, 0), side_key(root, pair, 1)
        row = rows[n]
        row["base"], row["gins"], row["big_gins"], row["undercuts"] = 0, 0, 0, 0
        for swap in range(2):
            new_game(s, rules, pair_seed(seed, pair))
            row["limit"] = s["knock_limit"]
            if swap == 0:
                forfeit = play_hand(s, rules, views, policy_a, params_a, key_a, policy_b, params_b, key_b)
            else:
                forfeit = play_hand(s, rules, views, policy_b, params_b, key_b, policy_a, params_a, key_a)
            if forfeit != NO_FORFEIT:
                return 1 + (forfeit ^ swap)
            winner = s["winner"]
            if winner == NO_SEAT:
                continue
            sign = np.int64(s["multiplier"]) * (1 if winner == swap else -1)
            base = np.int64(s["points"][winner]) // np.int64(s["multiplier"])
            if s["kind"] == _GIN:
                row["gins"] += sign
                base -= rules["gin_bonus"]
            elif s["kind"] == _BIG_GIN:
                row["big_gins"] += sign
                base -= rules["big_gin_bonus"]
            elif s["kind"] == _UNDERCUT:
                row["undercuts"] += sign
                base -= rules["undercut_bonus"]
            row["base"] += sign * base
    return 0
