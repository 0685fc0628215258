"""`random`: uniform over the legal actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents.protocol import Kind, NativeAgent, policy
from ginenv.cards import count, lowest
from ginenv.jit import kernel
from ginenv.rng import below
from ginenv.state import DISCARD, KNOCK, SEATS
from ginenv.step import any_legal, has_more


@kernel
def nth_card(mask, n):
    """Return the ``n``-th lowest card of ``mask``, from 0."""
    for _ in range(n):
        mask &= mask - 1
    return lowest(mask)


@policy
def choose(view, rules, params, key):
    """Choose any legal action with equal chance."""
    if has_more(view):
        return any_legal(view, key, 0)
    choices = np.int64(view["choices"])
    n_choices, n_discards = count(choices), count(view["discards"])
    pick = below(key, 0, n_choices + n_discards + count(view["knocks"]))
    if pick < n_choices:
        return nth_card(choices, pick)  # action ids below DISCARD are the bits themselves
    if pick < n_choices + n_discards:
        return DISCARD + nth_card(view["discards"], pick - n_choices)
    return KNOCK + nth_card(view["knocks"], pick - n_choices - n_discards)


def _make(spec: str, options: Mapping[str, Any]) -> NativeAgent:
    return NativeAgent(spec, choose, np.zeros(0), most_players=SEATS, plays_all=True)


AGENT = Kind("uniform over the legal actions", _make, {})
