"""`simple`: the baseline of the EAAI-21 undergraduate challenge (its SimpleGinRummyPlayer), and its knock rules.

It takes the upcard when that is in any possible meld with the hand; discards so as to leave the least deadwood, any of
several equal cards with the same chance, but never the upcard it just took and never so that an unordered pair of
drawn and discarded card comes a second time in the hand; and knocks as soon as it may. The options change only when it
knocks: at ``early`` or less on its own turns before turn ``until``, at ``late`` or less from then on (0: gin only).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents.protocol import Kind, NativeAgent, Option, policy
from agents.random import nth_card
from ginenv.cards import BIT, NO_CARD, count
from ginenv.jit import kernel
from ginenv.melds import least_discards, meldable
from ginenv.rng import below
from ginenv.state import BIG_GIN, DISCARD, DISCARD_PHASE, DRAW, FROM_PILE, KNOCK, PASS, RING, TAKE


@kernel
def repeated_discards(view):
    """Return the cards whose discard would repeat an unordered {drawn, discarded} pair of the viewer's own turns."""
    drawn = np.int64(view["drawn"])
    if view["thrown"][0] & BIT[drawn] == 0:
        return 0  # a pair can only come again with a card that one has thrown away before
    players = np.int64(view["players"])
    last = np.int64(view["turn"]) - 1  # the present turn
    cards = 0
    t = last - players
    while t >= 0 and t > last - RING:
        before = np.int64(view["draws"][t % RING]) & (FROM_PILE - 1)
        thrown = np.int64(view["throws"][t % RING])
        if before == drawn:
            cards |= BIT[thrown]
        if thrown == drawn and before != NO_CARD:
            cards |= BIT[before]
        t -= players
    return cards


@policy
def choose(view, rules, params, key):
    """Choose as the EAAI baseline does; ``params`` are early, until and late."""
    if view["phase"] != DISCARD_PHASE:
        choices = view["choices"]
        if (choices >> TAKE) & 1 == 1:
            bit = BIT[view["top"]]
            if meldable(view["hand"] | bit) & bit != 0:
                return TAKE
        return DRAW if (choices >> DRAW) & 1 == 1 else PASS
    if (view["choices"] >> BIG_GIN) & 1 == 1:
        return BIG_GIN
    discards = view["discards"]
    if view["taken"] != 0:  # under rules that allow it (H4), too
        discards &= ~BIT[view["drawn"]]
    allowed = discards & ~repeated_discards(view)
    if allowed == 0:
        allowed = discards
    hand, now = view["hand"], np.int64(view["mid_deadwood"])
    cards, left = least_discards(hand, now, allowed, rules["longest_meld"])
    n = count(cards)
    card = nth_card(cards, below(key, 0, n) if n > 1 else 0)
    limit = params[0] if view["own_turn"] < params[1] else params[2]
    if left <= limit and view["knocks"] & BIT[card] != 0:
        return KNOCK + card
    return DISCARD + card


def _make(spec: str, options: Mapping[str, Any]) -> NativeAgent:
    params = np.array([options["early"], options["until"], options["late"]], dtype=np.float64)
    return NativeAgent(spec, choose, params)


AGENT = Kind(
    "the EAAI-21 baseline: least deadwood, knocks as soon as it may",
    _make,
    {
        "early": Option(10, "knock with at most this deadwood before own turn `until`", 0, 100),
        "until": Option(1, "own turn from which `late` holds", 0, 1000),
        "late": Option(10, "knock with at most this deadwood from then on (0: gin only)", 0, 100),
    },
)
