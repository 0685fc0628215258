"""`greedy`: an opponent for every game of two there is, jokers and the open table included; no more than that.

It takes the upcard when that is melded in its hand or goes on a meld on the table, lays melds down and cards
off as soon as it can, throws the card that leaves the least deadwood, the dearest of several, and knocks at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents.protocol import Kind, NativeAgent, policy
from ginenv.cards import BIT, JOKER, JOKERS, POINTS, count, lowest
from ginenv.jit import kernel
from ginenv.lay import MELDS, automatic_action
from ginenv.state import (
    BIG_GIN,
    DISCARD,
    DISCARD_JOKER,
    DISCARD_PHASE,
    DONE,
    DRAW,
    KNOCK,
    KNOCK_JOKER,
    LAY_ON_SET,
    MELD,
    OVER_PHASE,
    PASS,
    TAKE,
)
from ginenv.step import is_legal
from ginenv.wild import deadwood_wild


@kernel
def best_discard(hand, allowed, longest):
    """Return ``(card, left)``: of the ``allowed`` cards the one that leaves ``hand`` the least deadwood, and that.

    Of several the dearest, of equal ones the first; there must be one.
    """
    card, left = -1, np.int64(1 << 30)
    todo = allowed
    while todo != 0:
        bit = todo & -todo
        todo &= todo - 1
        c = lowest(bit)
        then = deadwood_wild(hand & ~bit, longest)
        if then < left or (then == left and POINTS[c] > POINTS[card]):
            card, left = c, then
    return card, left


@kernel
def _goes_on_the_table(view, bit):
    """Return whether a card, as a mask, goes on a meld on the table."""
    sets, runs, starts = view["sets"], view["runs"], view["starts"]
    ranks = sets | (sets >> 16) | (sets >> 32) | (sets >> 48)
    on_set = (((bit | (bit >> 16) | (bit >> 32) | (bit >> 48)) & ranks) & 0x1FFF) != 0
    return on_set or ((runs << 1) | (starts >> 1)) & bit != 0


@kernel
def _lay(view, now, longest):
    """Return a meld or a layoff that brings the hand down: the longest meld of a best arrangement, else a layoff of a
    card that is in none; -1 for none.
    """
    hand = view["hand"]
    best, most = -1, 0
    for number in range(MELDS.shape[0]):
        meld = MELDS[number]
        if meld & ~hand != 0 or count(meld) <= most or not is_legal(view, MELD + number):
            continue
        if deadwood_wild(hand & ~meld, longest) == now:  # of a best arrangement
            best, most = MELD + number, count(meld)
    if best >= 0:
        return best
    for action in range(LAY_ON_SET, DONE):
        bit = BIT[(action - LAY_ON_SET) % 52]
        if bit & hand != 0 and deadwood_wild(hand & ~bit, longest) < now and is_legal(view, action):
            return action
    return -1


@policy
def choose(view, rules, params, key):
    """Choose as the module says; ``key`` is not used."""
    hand, longest, choices = view["hand"], rules["longest_meld"], view["choices"]
    if view["phase"] > OVER_PHASE:
        return automatic_action(view, rules)
    if view["phase"] != DISCARD_PHASE:
        if (choices >> TAKE) & 1 == 1:
            bit = BIT[view["top"]]
            table = rules["open_table"] and _goes_on_the_table(view, bit)
            if table or bit & JOKERS != 0 or deadwood_wild(hand | bit, longest) <= deadwood_wild(hand, longest):
                return TAKE
        return DRAW if (choices >> DRAW) & 1 == 1 else PASS
    if (choices >> BIG_GIN) & 1 == 1:
        return BIG_GIN
    if rules["open_table"]:
        action = _lay(view, np.int64(view["mid_deadwood"]), longest)
        if action >= 0:
            return action
    if view["discards"] == 0:  # the card just taken is all that is left: it goes on the table
        for action in range(LAY_ON_SET, DONE):
            if is_legal(view, action):
                return action
    if view["knocks"] != 0:
        card, _ = best_discard(hand, view["knocks"], longest)
        return KNOCK + card if card < JOKER else KNOCK_JOKER + card - JOKER
    card, _ = best_discard(hand, view["discards"], longest)
    return DISCARD + card if card < JOKER else DISCARD_JOKER + card - JOKER


def _make(spec: str, options: Mapping[str, Any]) -> NativeAgent:
    return NativeAgent(spec, choose, np.zeros(0), plays_all=True)


AGENT = Kind("lays down, lays off and knocks at once; jokers and the open table, too", _make, {})
