"""Worlds: the hidden cards of a two-player hand sampled from a VIEW, at random or by how the opponent plays.

An opponent improves with every turn, so hands with much deadwood grow unlikely; one who let a card go, refused or
thrown, hardly holds two cards that it would have melded with; and whoever knocks as soon as they may holds no hand that
they would have knocked with. A *model* weighs hands by that: float64, shape (3,), ``(deadwood, gone, above)``. A hand's
weight is the exponential of minus

    deadwood * (the opponent's turns so far) * its deadwood + gone * (cards let go that it could meld)

and next to nothing where its deadwood is not above ``above``; (0, 0, -1) is uniform. Worlds come from a Metropolis
chain that swaps a card of the hand with one of the stock.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ginenv.cards import BIT, N_CARDS, NO_CARD, count, lowest
from ginenv.deal import clear_hand, reset_game
from ginenv.jit import kernel
from ginenv.melds import completed, deadwood, knock_discards
from ginenv.rng import below, mix, uniform
from ginenv.rules import Rules
from ginenv.state import (
    BIG_GIN,
    DISCARD_PHASE,
    DRAW,
    ORDER,
    PASS,
    RING,
    SEATS,
    TAKE,
    UPCARD_PHASE,
)

DEADWOOD, GONE = 0.03, 1.0
"""The model's defaults, by the log loss of `opponent_hand` over hands of `simple`, patient and not, and `heuristic`."""

_UNLIKELY = 50.0
"""What the logarithm of a weight loses by a hand that would have been knocked with."""
_WARM_UP = 60
"""Swaps before a chain's first world: it starts from a uniform one."""
_BETWEEN = 12
"""Swaps between two worlds of a chain: more than a hand has cards."""


@kernel
def _log_weight(hand, gone, per_point, per_gone, above, longest):
    """Return the logarithm of the weight of an opponent's hand (see the module)."""
    loose = deadwood(hand, longest)
    weight = -per_point * loose - per_gone * count(completed(hand) & gone)
    return weight - _UNLIKELY if loose <= above else weight


@kernel
def sample_worlds(v, rules, model, key, hands, stocks):
    """Sample hidden cards that fit VIEW ``v``.

    Args:
        v: A VIEW record of a hand in play.
        rules: A RULES record.
        model: float64, shape (3,): see the module.
        key: Names the sample (`ginenv.rng`).
        hands: int64, shape (n,), written: the opponent's cards in each world, known ones included.
        stocks: uint8, shape (n, 54), written: the stocks, their tops at ``n_stock - 1``.
    """
    known, n_stock, longest = v["known"][1], np.int64(v["n_stock"]), rules["longest_meld"]
    cards = np.empty(ORDER, np.uint8)  # the opponent's hidden cards at the front, the stock behind them
    n = 0
    rest = v["unseen"]
    while rest != 0:
        cards[n] = lowest(rest)
        rest &= rest - 1
        n += 1
    n_held = n - n_stock
    per_point = model[0] * (np.float64(v["turn"]) - np.float64(v["own_turn"]))
    gone = (v["thrown"][1] | v["refused"][1]) & ~known
    chained = n_held > 0 and n_stock > 0 and (per_point != 0.0 or model[1] != 0.0 or model[2] >= 0.0)
    shuffle, swap = mix(key, 0), mix(key, 1)
    drawn = 0  # numbers used up of either stream
    swapped = 0
    hand, weight = np.int64(0), 0.0
    for w in range(hands.shape[0]):
        last = n_held if chained and w > 0 else 0  # later worlds of a chain shuffle the stock alone
        for i in range(n - 1, last, -1):
            j = last + below(shuffle, drawn, i + 1 - last)
            drawn += 1
            cards[i], cards[j] = cards[j], cards[i]
        if not chained or w == 0:
            hand = known
            for i in range(n_held):
                hand |= BIT[cards[i]]
        if chained:
            if w == 0:
                weight = _log_weight(hand, gone, per_point, model[1], model[2], longest)
            for _ in range(_BETWEEN if w > 0 else _WARM_UP):
                i = below(swap, swapped, n_held)
                j = n_held + below(swap, swapped + 1, n_stock)
                other = (hand & ~BIT[cards[i]]) | BIT[cards[j]]
                new = _log_weight(other, gone, per_point, model[1], model[2], longest)
                if new >= weight or uniform(swap, swapped + 2) < np.exp(new - weight):
                    cards[i], cards[j] = cards[j], cards[i]
                    hand, weight = other, new
                swapped += 3
        hands[w] = hand
        for i in range(n_stock):
            stocks[w, i] = cards[n_held + i]


@kernel
def make_state(v, rules, hand, stock, s):
    """Write into STATE ``s`` a table that VIEW ``v`` could be of: the viewer has seat 0, the opponent seat 1.

    What no VIEW tells is left out: the seed, in whose place stands one of this world's own, and what the opponent
    drew from the stock. Where they are about to discard a card from the stock, it is the lowest of their hidden cards.

    Args:
        v: A VIEW record of a hand in play.
        rules: A RULES record.
        hand: Mask of the opponent's cards, known ones included.
        stock: uint8, shape (54,): the stock, its top at ``n_stock - 1``.
        s: A STATE record, overwritten.
    """
    reset_game(s, 0)
    clear_hand(s, rules)
    for k in range(SEATS):
        s["known"][k] = v["known"][k]
        s["thrown"][k] = v["thrown"][k]
        s["refused"][k] = v["refused"][k]
        s["scores"][k] = v["scores"][k]
        s["boxes"][k] = v["boxes"][k]
    for k in range(2):
        s["wins"][k] = v["wins"][k]
    s["opened"] = v["opened"]
    for i in range(RING):
        s["draws"][i] = v["draws"][i]
        s["throws"][i] = v["throws"][i]
    n_pile = np.int64(v["n_pile"])
    for i in range(n_pile):
        s["order"][ORDER - 1 - i] = v["pile"][i]
    s["hand_number"] = v["hand_number"]
    s["turn"] = v["turn"]
    s["reshuffled"] = v["reshuffled"]
    s["n_stock"] = v["n_stock"]
    s["n_pile"] = n_pile
    s["phase"] = v["phase"]
    s["seat"] = v["mover"]
    s["dealer"] = v["dealer"]
    s["first"] = v["first"]
    s["passes"] = v["passes"]
    s["taken"] = v["taken"]
    s["upcard"] = v["upcard"]
    s["knock_limit"] = v["knock_limit"]
    s["multiplier"] = v["multiplier"]
    s["hand"][0] = v["hand"]
    s["choices"] = v["choices"]
    s["discards"] = v["discards"]
    s["knocks"] = v["knocks"]
    s["drawn"] = v["drawn"]
    s["mid_deadwood"] = v["mid_deadwood"]
    set_hidden(v, hand, stock, s)
    if v["mover"] == 1:
        _write_choices(s, rules)


@kernel
def set_hidden(v, hand, stock, s):
    """Exchange the hidden cards of a STATE made from VIEW ``v`` by `make_state`, for a viewer who is to act."""
    s["hand"][1] = hand
    s["seed"] = mix(hand, v["turn"])  # of the new stocks to come (H12): another one in each world
    for i in range(v["n_stock"]):
        s["order"][i] = stock[i]


@kernel
def _write_choices(s, rules):
    """Work out the legal actions of seat 1, which the viewer's VIEW does not tell."""
    if s["phase"] == UPCARD_PHASE:
        s["choices"] = (1 << TAKE) | (1 << PASS)
    elif s["phase"] == DISCARD_PHASE:
        hand, longest = s["hand"][1], rules["longest_meld"]
        if s["drawn"] == NO_CARD:
            s["drawn"] = lowest(hand & ~s["known"][1])
        discards = hand
        if s["taken"] and not rules["discard_taken"]:
            discards &= ~BIT[s["drawn"]]
        now = deadwood(hand, longest)
        s["discards"] = discards
        s["mid_deadwood"] = now
        s["knocks"] = knock_discards(hand, now, discards, s["knock_limit"], longest)
        s["choices"] = (1 << BIG_GIN) if rules["big_gin"] and now == 0 else 0
    elif s["turn"] == 0:
        s["choices"] = 1 << DRAW
    else:
        s["choices"] = (1 << DRAW) | (1 << TAKE)


@kernel
def _tally(v, rules, model, key, worlds, held):
    """Add to ``held``, float64 of shape (52,), in which share of sampled worlds the opponent holds each card."""
    hands, stocks = np.empty(worlds, np.int64), np.empty((worlds, ORDER), np.uint8)
    sample_worlds(v, rules, model, key, hands, stocks)
    for w in range(worlds):
        rest = hands[w]
        while rest != 0:
            held[lowest(rest)] += 1.0 / worlds
            rest &= rest - 1


def opponent_hand(
    view: Any,
    rules: Rules,
    *,
    worlds: int = 1000,
    key: int = 0,
    deadwood: float = DEADWOOD,
    gone: float = GONE,
    above: float = 0,
) -> np.ndarray:
    """Return how likely the opponent holds each card, as far as ``view`` tells: float64, shape (52,), for two players.

    Args:
        view: A VIEW record of a hand in play.
        rules: What is played.
        worlds: How many worlds to sample.
        key: Names the sample.
        deadwood, gone, above: The model of how they play (see the module); 0, 0 and -1 for none.
    """
    held = np.zeros(N_CARDS)
    _tally(view, rules.record, np.array([deadwood, gone, above], dtype=np.float64), key, worlds, held)
    return held
