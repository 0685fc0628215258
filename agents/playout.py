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
def see(s, rules, views, met):
    """Bring the mover's VIEW up to date, and return ``met`` with the mover in it.

    Args:
        s: A STATE record of a hand in play.
        rules: A RULES record.
        views: VIEW, shape (2,): what each seat saw when it was last to act; the mover's is written.
        met: Seats that have been to act in this hand, as bits; what the views of others hold does not matter.
    """
    seat = np.int64(s["seat"])
    if (met >> seat) & 1 == 1:
        look_again(s, rules, seat, views[seat])
    else:
        look(s, rules, seat, views[seat])
    return met | (1 << seat)


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
    met = 0
    while s["phase"] != OVER_PHASE:
        seat = s["seat"]
        met = see(s, rules, views, met)
        v = views[seat]
        if seat == 0:
            action = policy0(v, rules, params0, decision_key(s, key0))
        else:
            action = policy1(v, rules, params1, decision_key(s, key1))
        if not is_legal(s, action):
            return seat
        step(s, rules, action)
    return NO_FORFEIT
