"""`lean`: the strongest player that costs a tenth of a microsecond: for rollouts, and to train against.

It throws the loose card that is dear and that few unseen cards would help, but not one that goes with what the opponent
took up; takes the upcard for a meld in the best arrangement; and knocks at ``early`` or less before its own turn
``until``, at ``late`` or less from then on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents.protocol import Kind, NativeAgent, Option, policy
from ginenv.cards import BIT, POINTS, count, lowest
from ginenv.jit import kernel
from ginenv.melds import completed, deadwood, dearest, least_discards, meldable, worth
from ginenv.state import BIG_GIN, DISCARD, DISCARD_PHASE, DRAW, KNOCK, PASS, TAKE

EARLY, UNTIL, LATE, WAYS, FEAR, GAIN = range(6)
"""Places of the options in ``params``."""
N_PARAMS = 6

_SPREAD = 5
"""Cards that are this much cheaper than the dearest loose one are not looked at."""


@kernel
def wants_upcard(view, rules, gain):
    """Return whether to take the top of the discard pile, which must be there to take.

    Yes when it is melded in the hand's best arrangement and brings gin, or saves ``gain`` points of deadwood.
    """
    hand, longest = view["hand"], rules["longest_meld"]
    bit = BIT[view["top"]]
    if completed(hand) & bit == 0:
        return False
    now, drawn = deadwood(hand, longest), hand | bit
    mid = deadwood(drawn, longest)
    if mid > now:
        return False  # it would cost another meld
    _, left = least_discards(drawn, mid, hand, longest)
    return left == 0 or left <= now - gain


@kernel
def draw_or_take(view, rules, gain):
    """Return the action of a seat that has to draw, or may take the first upcard."""
    choices = view["choices"]
    if (choices >> TAKE) & 1 == 1 and wants_upcard(view, rules, gain):
        return TAKE
    return DRAW if (choices >> DRAW) & 1 == 1 else PASS


@policy
def choose(view, rules, params, key):
    """Choose as the module says; equal cards go by their number. ``key`` is not used."""
    if view["phase"] != DISCARD_PHASE:
        return draw_or_take(view, rules, params[GAIN])
    if (view["choices"] >> BIG_GIN) & 1 == 1:
        return BIG_GIN
    hand, allowed, unseen = view["hand"], view["discards"], view["unseen"]
    cards, left = least_discards(hand, np.int64(view["mid_deadwood"]), allowed, rules["longest_meld"])
    limit = params[EARLY] if view["own_turn"] < params[UNTIL] else params[LATE]
    if left <= limit and view["knocks"] & cards != 0:
        return KNOCK + lowest(view["knocks"] & cards)
    loose = (allowed & ~meldable(hand)) | cards
    todo = loose & worth(max(dearest(loose) - _SPREAD, 0))
    wanted = completed(view["known"][1])
    best, chosen = -1e18, np.int64(0)
    while todo != 0:
        bit = todo & -todo
        todo &= todo - 1
        card = lowest(bit)
        rest = hand & ~bit
        score = POINTS[card] + params[WAYS] * count(completed(rest) & unseen)
        if bit & wanted != 0:
            score -= params[FEAR]
        if score > best:
            best, chosen = score, card
    return DISCARD + chosen


def params_of(options: Mapping[str, Any]) -> np.ndarray:
    """Return the options as the policy wants them: float64, shape (6,)."""
    return np.array([float(options[name]) for name in OPTIONS])


def _make(spec: str, options: Mapping[str, Any]) -> NativeAgent:
    return NativeAgent(spec, choose, params_of(options))


OPTIONS = {
    "early": Option(10, "knock with at most this deadwood before own turn `until`", 0, 100),
    "until": Option(4, "own turn from which `late` holds", 0, 1000),
    "late": Option(0, "knock with at most this deadwood from then on (0: gin only)", 0, 100),
    "ways": Option(1.0, "points for each unseen card that would meld", 0, 100),
    "fear": Option(3.0, "points that a card costs which goes with what the opponent took", 0, 100),
    "gain": Option(1, "deadwood that the upcard must save at least", -100, 100),
}

AGENT = Kind("keeps what can still meld, fears what the opponent took, knocks early or not at all", _make, OPTIONS)
