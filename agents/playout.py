"""Playing a hand to its end by native policies: the inner loop of matches and of rollouts."""

from __future__ import annotations

import numpy as np

from ginenv.jit import kernel
from ginenv.rng import mix
from ginenv.state import OVER_PHASE
from ginenv.step import is_legal, step
from ginenv.view import look, look_again

NO_FORFEIT = -1


@kernel
def decision_key(s, side_key):
    """Return the key for the decision due in STATE ``s``, of an agent's stream ``side_key``.

    It depends on the hand's number, the turn and the phase, so it is the same in whatever order tables are played.
    """
    hand, turn = np.int64(s["hand_number"]), np.int64(s["turn"])
    return mix(side_key, ((hand * 65536 + turn) * 4 + s["phase"]) * 8 + s["passes"])


@kernel
def play_hand(s, rules, views, policy0, params0, key0, policy1, params1, key1):
    """Play the hand in STATE ``s`` to its end.

    Args:
        s: A STATE record of a hand in play; changed.
        rules: A RULES record.
        views: VIEW, shape (2,), scratch: what each seat sees.
        policy0, params0, key0: Policy, its params and its stream of randomness, for seat 0.
        policy1, params1, key1: The same for seat 1.

    Returns:
        `NO_FORFEIT`, or the seat whose policy chose an illegal action (the hand is then left as it stands).
    """
    met = 0  # seats that have been to act, as bits
    while s["phase"] != OVER_PHASE:
        seat = s["seat"]
        v = views[seat]
        if (met >> seat) & 1 == 1:
            look_again(s, rules, seat, v)
        else:
            look(s, rules, seat, v)
            met |= 1 << seat
        if seat == 0:
            action = policy0(v, rules, params0, decision_key(s, key0))
        else:
            action = policy1(v, rules, params1, decision_key(s, key1))
        if not is_legal(s, action):
            return seat
        step(s, rules, action)
    return NO_FORFEIT
