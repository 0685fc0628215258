"""The legal actions and the transition of a hand (H2-H12, H15, I2). With `ginenv.deal` the only writer of a STATE."""

from __future__ import annotations

import numpy as np
from numba import types

from ginenv.cards import BIT, JOKER, JOKERS, NO_CARD, SPREAD, dense, total
from ginenv.deal import reshuffle
from ginenv.jit import kernel, standalone
from ginenv.lay import MELDS, is_legal_lay, put_card, put_meld, write_lays
from ginenv.ledger import enter_hand
from ginenv.melds import deadwood, knock_discards
from ginenv.rng import below
from ginenv.rules import RULES_TYPE
from ginenv.scoring import dead_hand, go_out, settle, settle_laid, settle_open
from ginenv.state import (
    ACCEPT,
    ANSWER_PHASE,
    ARRANGE_PHASE,
    BIG_GIN,
    BLUFF,
    DEFEND_PHASE,
    DISCARD,
    DISCARD_JOKER,
    DISCARD_PHASE,
    DONE,
    DRAW,
    DRAW_PHASE,
    FROM_PILE,
    KNOCK,
    KNOCK_JOKER,
    LAY_ON_SET,
    MELD,
    N_ACTIONS,
    N_ALL_ACTIONS,
    NO_SEAT,
    ORDER,
    OVER_PHASE,
    PASS,
    REFUSE,
    RING,
    STATE_TYPE,
    TAKE,
)
from ginenv.view import VIEW_TYPE
from ginenv.wild import deadwood_wild, knock_discards_wild


@kernel
def is_legal(s, action):
    """Return whether ``action`` is legal for the seat to act in ``s`` (any int is answered)."""
    if action >= N_ACTIONS:
        return is_legal_lay(s, action)
    if action < 0:
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
        mask: int8, shape (108,), or longer where rules have more actions (`ginenv.state.n_actions`), contiguous: 1 for
            legal, else 0.
    """
    # Four actions at a time: the 4 draws and the like, then 52 discards, then 52 knocks.
    words = mask.view(np.int32)
    discards, knocks = dense(s["discards"]), dense(s["knocks"])
    words[0] = SPREAD[s["choices"] & 15]
    for i in range(13):
        words[1 + i] = SPREAD[(discards >> (4 * i)) & 15]
        words[14 + i] = SPREAD[(knocks >> (4 * i)) & 15]
    if mask.shape[0] > N_ACTIONS:
        write_lays(s, mask)


@kernel
def has_more(s):
    """Return whether the seat to act, in a STATE or the mover's VIEW, has or might have legal actions behind the 108 of
    every game: only rules with more actions have such decisions.
    """
    return (s["loose"] | s["bluffs"] | (s["discards"] & JOKERS)) != 0 or s["choices"] > 15


@standalone(types.int64(VIEW_TYPE, types.int64, types.int64))
def any_legal(v, key, index):
    """Return any of the legal actions of the seat to act, of all there are, with equal chance.

    Args:
        v: The mover's VIEW record.
        key: Names the choice (`ginenv.rng`), together with ``index``.
    """
    mask = np.zeros(N_ALL_ACTIONS, np.int8)
    write_mask(v, mask)
    n = np.int64(0)
    for action in range(N_ALL_ACTIONS):
        n += mask[action]
    pick = below(key, index, n)
    for action in range(N_ALL_ACTIONS):
        pick -= mask[action]
        if pick < 0:
            return action
    return -1


@standalone(types.void(STATE_TYPE, RULES_TYPE, types.int64))
def step(s, rules, action):
    """Play ``action``, which must be legal, in STATE ``s``.

    At the end of a hand the phase is OVER, the result fields are set and the game's score is entered; the next hand is
    dealt by `ginenv.deal.deal`.
    """
    if action >= N_ACTIONS:
        _step_more(s, rules, action)
    elif action == PASS:
        _pass_upcard(s, rules)
    elif action <= TAKE:
        _draw(s, rules, action == TAKE)
    elif action == BIG_GIN or action >= KNOCK:
        _knock(s, rules, action - KNOCK if action >= KNOCK else NO_CARD)
    else:
        _discard(s, rules, action - DISCARD)


@kernel
def _knock(s, rules, card):
    """Knock with a discard, or declare big gin without one (`NO_CARD`)."""
    if card != NO_CARD:
        s["hand"][s["seat"]] &= ~BIT[card]  # the discard of a knock goes face down: nobody sees it (H5)
        s["known"][s["seat"]] &= ~BIT[card]
    if rules["open_table"]:
        settle_open(s, rules, np.int64(s["seat"]))
        _end(s, rules)
        return
    if rules["settle_by_hand"]:
        _begin_arranging(s, s["knock_limit"] if card != NO_CARD else 0)
        return
    settle(s, rules, s["seat"])
    _end(s, rules)


@standalone(types.void(STATE_TYPE, RULES_TYPE, types.int64))
def _step_more(s, rules, action):
    """Play an action that only rules with more actions have."""
    seat = s["seat"]
    if action >= KNOCK_JOKER:
        _knock(s, rules, JOKER + action - KNOCK_JOKER)
    elif action >= DISCARD_JOKER:
        _discard(s, rules, JOKER + action - DISCARD_JOKER)
    elif action >= BLUFF:
        _bluff(s, rules, action - BLUFF)
    elif action in (ACCEPT, REFUSE):
        _answer(s, rules, action == ACCEPT)
    elif rules["open_table"]:
        _lay_open(s, rules, action)
    elif s["phase"] == ARRANGE_PHASE:
        if action == DONE:
            _begin_defence(s)
            return
        meld = MELDS[action - MELD]
        n = 0
        while s["melds"][n] != 0:
            n += 1
        s["melds"][n] = meld
        put_meld(s, meld)
        s["known"][seat] |= meld
        _offer_done(s)
    elif action == DONE:
        settle_laid(s, rules, s["knocker"])
        s["seat"] = s["knocker"]
        _end(s, rules)
    elif action >= LAY_ON_SET:
        bit = put_card(s, action)
        s["laid"] |= bit
        s["known"][seat] |= bit
    else:  # the defender's own meld: nobody lays off on it
        meld = MELDS[action - MELD]
        s["loose"] &= ~meld
        s["known"][seat] |= meld


@kernel
def _offer_open(s, rules):
    """Work out what the seat to act may lay down, discard and knock with at the open table (V8)."""
    hand = s["hand"][s["seat"]]
    discards = hand
    if s["taken"] and not rules["discard_taken"]:
        discards &= ~BIT[s["drawn"]]  # H4
    now = deadwood(hand, rules["longest_meld"])
    s["loose"] = hand
    s["discards"] = discards
    s["mid_deadwood"] = now
    s["knocks"] = 0
    if hand & (hand - 1) != 0:  # the last card goes out by a discard
        s["knocks"] = knock_discards(hand, now, discards, s["knock_limit"], rules["longest_meld"])


@kernel
def _lay_open(s, rules, action):
    """Lay a meld down or a card off during a turn at the open table; with the last card the hand is over (V8)."""
    seat = s["seat"]
    if action < LAY_ON_SET:
        cards = MELDS[action - MELD]
        put_meld(s, cards)
    else:
        cards = put_card(s, action)
    s["hand"][seat] &= ~cards
    s["known"][seat] &= ~cards
    s["laid"] |= cards
    if seat == 0:
        s["laid_first"] |= cards
    if s["hand"][seat] == 0:
        go_out(s, rules)
        _end(s, rules)
        return
    _offer_open(s, rules)


@kernel
def _begin_arranging(s, bound):
    """After a knock: the knocker is to lay down melds that leave ``bound`` points at the most."""
    _clear_turn(s)
    seat = s["seat"]
    s["knocker"] = seat
    s["phase"] = ARRANGE_PHASE
    s["loose"] = s["hand"][seat]
    s["bound"] = bound
    _offer_done(s)


@kernel
def _offer_done(s):
    """The knocker may stop laying down melds once what is loose is within the bound."""
    s["choices"] = (1 << 4) if total(s["loose"]) <= s["bound"] else 0


@kernel
def _begin_defence(s):
    """The knocker has laid down the whole hand: the defender melds and, but on gin, lays off (H9, H10)."""
    knocker = np.int64(s["seat"])
    s["deadwood"][knocker] = total(s["loose"])
    s["known"][knocker] = s["hand"][knocker]
    if s["deadwood"][knocker] == 0:
        s["sets"] = 0
        s["runs"] = 0
        s["starts"] = 0
    s["seat"] = 1 - knocker
    s["phase"] = DEFEND_PHASE
    s["loose"] = s["hand"][1 - knocker]
    s["choices"] = 1 << 4


@kernel
def _bluff(s, rules, card):
    """Knock with too much deadwood (I2): the hand lies open, and the opponent is to accept or refuse the knock."""
    seat = np.int64(s["seat"])
    s["hand"][seat] &= ~BIT[card]
    s["known"][seat] = s["hand"][seat]
    _clear_turn(s)
    s["down"] = card
    s["knocker"] = seat
    s["seat"] = 1 - seat
    s["phase"] = ANSWER_PHASE
    s["choices"] = (1 << 5) | (1 << 6)


@kernel
def _answer(s, rules, accept):
    """Accept a knock above the limit, and settle it as if it were legal; or refuse it, and it was a discard."""
    card = np.int64(s["down"])
    s["down"] = NO_CARD
    s["seat"] = s["knocker"]
    if not accept:
        s["knocker"] = NO_SEAT
        _discard(s, rules, card)
    elif rules["settle_by_hand"]:
        _begin_arranging(s, 255)
    else:
        settle(s, rules, s["seat"])
        _end(s, rules)


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
    if rules["jokers"]:
        now = deadwood_wild(hand, rules["longest_meld"])
        s["knocks"] = knock_discards_wild(hand, discards, s["knock_limit"], rules["longest_meld"])
    else:
        now = deadwood(hand, rules["longest_meld"])
        s["knocks"] = knock_discards(hand, now, discards, s["knock_limit"], rules["longest_meld"])
    s["mid_deadwood"] = now
    big = rules["big_gin"] and now == 0
    s["choices"] = (1 << BIG_GIN) if big else 0
    if rules["open_table"]:
        s["laid"] = 0
        _offer_open(s, rules)
    if rules["illegal_knocks"]:
        s["bluffs"] = discards & ~s["knocks"]


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
    if rules["open_table"]:
        if s["hand"][seat] == 0:
            go_out(s, rules)
            _end(s, rules)
            return
        if s["laid"] != 0:
            s["opened"] |= 1 << seat
        s["loose"] = 0
    if s["n_stock"] <= rules["dead_stock"] or s["turn"] >= rules["turn_limit"]:
        if s["turn"] >= rules["turn_limit"] or s["reshuffled"] >= rules["reshuffles"] or s["n_pile"] < 2:
            dead_hand(s)
            _end(s, rules)
            return
        reshuffle(s, rules)
    _clear_turn(s)
    s["seat"] = seat + 1 if seat + 1 < rules["players"] else 0
    s["phase"] = DRAW_PHASE
    s["choices"] = (1 << DRAW) | (1 << TAKE)


@kernel
def _clear_turn(s):
    """Forget the turn that has ended."""
    s["drawn"] = NO_CARD
    s["mid_deadwood"] = 0
    s["taken"] = 0
    s["discards"] = 0
    s["knocks"] = 0
    s["bluffs"] = 0


@kernel
def _end(s, rules):
    """Close the hand, whose result is written, and enter it in the game's score."""
    s["phase"] = OVER_PHASE
    s["choices"] = 0
    s["loose"] = 0
    _clear_turn(s)
    enter_hand(s, rules)
