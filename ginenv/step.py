"""The legal actions and the transition of a hand (H2-H8, H11, H12, H15). With `ginenv.deal` the only writer of a STATE."""

from __future__ import annotations

import numpy as np

from ginenv.cards import BIT, NO_CARD, SPREAD, dense
from ginenv.deal import reshuffle
from ginenv.jit import kernel
from ginenv.ledger import enter_hand
from ginenv.melds import deadwood, knock_discards
from ginenv.scoring import dead_hand, settle
from ginenv.state import (
    BIG_GIN,
    DISCARD,
    DISCARD_PHASE,
    DRAW,
    DRAW_PHASE,
    FROM_PILE,
    KNOCK,
    N_ACTIONS,
    ORDER,
    OVER_PHASE,
    PASS,
    RING,
    TAKE,
)


@kernel
def is_legal(s, action):
    """Return whether ``action`` is legal for the seat to act in ``s`` (any int is answered)."""
    if action < 0 or action >= N_ACTIONS:
        return False
    if action < DISCARD:
        return (s["choices"] >> action) & 1 == 1
    if action < KNOCK:
        return s["discards"] & BIT[action - DISCARD] != 0
    return s["knocks"] & BIT[action - KNOCK] != 0


@kernel
def write_mask(s, mask):
    """Write the legal actions of the seat to act, in a STATE or the mover's VIEW, to ``mask``.

    Args:
        s: A STATE or VIEW record.
        mask: int8, shape (108,), contiguous: 1 for legal, else 0.
    """
    # Four actions at a time: the 4 draws and the like, then 52 discards, then 52 knocks.
    words = mask.view(np.int32)
    discards, knocks = dense(s["discards"]), dense(s["knocks"])
    words[0] = SPREAD[s["choices"] & 15]
    for i in range(13):
        words[1 + i] = SPREAD[(discards >> (4 * i)) & 15]
        words[14 + i] = SPREAD[(knocks >> (4 * i)) & 15]


@kernel
def step(s, rules, action):
    """Play ``action``, which must be legal, in STATE ``s``.

    At the end of a hand the phase is OVER, the result fields are set and the game's score is entered; the next hand is
    dealt by `ginenv.deal.deal`.
    """
    if action == PASS:
        _pass_upcard(s, rules)
    elif action <= TAKE:
        _draw(s, rules, action == TAKE)
    elif action == BIG_GIN or action >= KNOCK:
        if action >= KNOCK:
            card = action - KNOCK
            s["hand"][s["seat"]] &= ~BIT[card]  # the discard of a knock goes face down: nobody sees it (H5)
            s["known"][s["seat"]] &= ~BIT[card]
        settle(s, rules, s["seat"])
        _end(s, rules)
    else:
        _discard(s, rules, action - DISCARD)


@kernel
def _pass_upcard(s, rules):
    """Refuse the first upcard; when all have, the non-dealer must draw from the stock (H2)."""
    players = rules["players"]
    s["refused"][s["seat"]] |= BIT[s["upcard"]]
    s["passes"] += 1
    s["seat"] = s["seat"] + 1 if s["seat"] + 1 < players else 0
    if s["passes"] == players:
        s["phase"] = DRAW_PHASE
        s["choices"] = 1 << DRAW


@kernel
def _draw(s, rules, take):
    """Draw from the stock or take the top discard, and work out the discards and knocks that follow."""
    seat = s["seat"]
    if take:
        card = s["order"][ORDER - s["n_pile"]]
        s["n_pile"] -= 1
        s["known"][seat] |= BIT[card]
    else:
        if s["n_pile"] > 0:
            s["refused"][seat] |= BIT[s["order"][ORDER - s["n_pile"]]]
        s["n_stock"] -= 1
        card = s["order"][s["n_stock"]]
    if s["turn"] == 0:
        s["first"] = seat
    s["draws"][s["turn"] % RING] = card + (FROM_PILE if take else 0)
    s["throws"][s["turn"] % RING] = NO_CARD
    s["turn"] += 1
    s["drawn"] = card
    s["taken"] = take
    hand = s["hand"][seat] | BIT[card]
    s["hand"][seat] = hand
    discards = hand
    if take and not rules["discard_taken"]:
        discards &= ~BIT[card]  # H4
    s["phase"] = DISCARD_PHASE
    s["discards"] = discards
    now = deadwood(hand, rules["longest_meld"])
    s["mid_deadwood"] = now
    s["knocks"] = knock_discards(hand, now, discards, s["knock_limit"], rules["longest_meld"])
    big = rules["big_gin"] and now == 0
    s["choices"] = (1 << BIG_GIN) if big else 0


@kernel
def _discard(s, rules, card):
    """Discard face up; the turn passes on, with a new stock where the old one is used up (H12), or the hand is dead."""
    seat = s["seat"]
    s["hand"][seat] &= ~BIT[card]
    s["known"][seat] &= ~BIT[card]
    s["thrown"][seat] |= BIT[card]
    s["n_pile"] += 1
    s["order"][ORDER - s["n_pile"]] = card
    s["throws"][(s["turn"] - 1) % RING] = card
    if s["n_stock"] <= rules["dead_stock"] or s["turn"] >= rules["turn_limit"]:
        if s["turn"] >= rules["turn_limit"] or s["reshuffled"] >= rules["reshuffles"]:
            dead_hand(s)
            _end(s, rules)
            return
        reshuffle(s, rules)
    s["drawn"] = NO_CARD
    s["mid_deadwood"] = 0
    s["taken"] = 0
    s["discards"] = 0
    s["knocks"] = 0
    s["seat"] = seat + 1 if seat + 1 < rules["players"] else 0
    s["phase"] = DRAW_PHASE
    s["choices"] = (1 << DRAW) | (1 << TAKE)


@kernel
def _end(s, rules):
    """Close the hand, whose result is written, and enter it in the game's score."""
    s["phase"] = OVER_PHASE
    s["choices"] = 0
    s["discards"] = 0
    s["knocks"] = 0
    s["drawn"] = NO_CARD
    s["mid_deadwood"] = 0
    s["taken"] = 0
    enter_hand(s, rules)
