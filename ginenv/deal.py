"""Shuffle and deal: begins a game or a hand in a STATE. With `ginenv.step` the only writer of one."""

from __future__ import annotations

import numpy as np
from numba import types

from ginenv.cards import BIT, JOKER, NO_CARD, POINTS
from ginenv.jit import kernel, standalone
from ginenv.rng import below, mix
from ginenv.rules import FIRST_DEALERS, RULES_TYPE, SEATINGS
from ginenv.state import NO_SEAT, ORDER, PASS, RING, SEATS, STATE_TYPE, TAKE, UPCARD_PHASE, Kind

_DEALER_STREAM = 1 << 40
"""Index of the stream that draws the first dealer; hands use the indices from 0 up."""
_TABLE, _THREE_HANDED, _PARTNERS = (SEATINGS.index(s) for s in ("table", "three_handed", "partners"))
_RANDOM, _HIGH = FIRST_DEALERS.index("random"), FIRST_DEALERS.index("high")
_DEAD = int(Kind.DEAD)
_STOCK_STREAM = 64
"""Streams of a hand's key from here on shuffle its new stocks; the deck uses the numbers below."""


@standalone(types.void(STATE_TYPE, RULES_TYPE, types.int64))
def new_game(s, rules, seed):
    """Begin a game in STATE ``s``: scores at zero, a first dealer by chance or cut (H14), and its first hand dealt.

    Args:
        s: A STATE record, overwritten.
        rules: A RULES record.
        seed: Names the game (int64, not negative): all its decks follow from it.
    """
    reset_game(s, seed)
    people = rules["people"] if rules["seating"] == _THREE_HANDED else rules["players"]
    if rules["first_dealer"] == _RANDOM:
        dealer = below(mix(seed, np.int64(_DEALER_STREAM)), np.int64(0), people)
    else:
        dealer = cut(rules, seed, np.empty(SEATS, np.int64))
    seat_players(s, rules, dealer)
    deal(s, rules)


@standalone(types.int64(RULES_TYPE, types.int64, types.int64[::1]))
def cut(rules, seed, cards):
    """Have each seat draw a card from the shuffled deck, and return the one whose card makes it the dealer (C7, H14).

    The ace is low, and of equal ranks spades are the highest, then hearts, diamonds and clubs.

    Args:
        rules: A RULES record, by which the low or the high card deals.
        seed: Names the game.
        cards: int64, shape (6,), written: the card of each seat; of partners (V6) the first two cut.
    """
    key = mix(seed, np.int64(_DEALER_STREAM))
    n = rules["ranks"] * rules["suits"]
    drawn = np.int64(0)
    dealer, best = np.int64(0), np.int64(0)
    for seat in range(rules["people"] if rules["seating"] == _THREE_HANDED else rules["players"]):
        left = below(key, np.int64(seat) + 1, n - seat)  # among those not drawn yet
        place = np.int64(0)
        while left > 0 or (drawn >> place) & 1 == 1:
            left -= 1 - ((drawn >> place) & 1)
            place += 1
        drawn |= np.int64(1) << place
        suit, rank = place // rules["ranks"], place % rules["ranks"]
        cards[seat] = 13 * suit + rank
        height = 4 * rank + 3 - suit
        if rules["first_dealer"] != _HIGH:
            height = -height
        if seat == 0 or height > best:
            dealer, best = np.int64(seat), height
    return dealer


@kernel
def reset_game(s, seed):
    """Put scores, boxes and the count of hands of ``s`` back to the start of a game."""
    s["seed"] = seed
    s["hand_number"] = 0
    s["first_home"] = NO_SEAT
    s["other_dealer"] = 0
    s["cut"] = 0
    for seat in range(SEATS):
        s["scores"][seat] = 0
        s["boxes"][seat] = 0
        s["points"][seat] = 0
        s["player"][seat] = seat
    s["wins"][0] = 0
    s["wins"][1] = 0


@kernel
def seat_players(s, rules, dealer):
    """Let player ``dealer`` deal the first hand of the game in ``s``: who sits where follows.

    A player's number is the seat's, but for three-handed play (V5): the dealer and the next in turn begin, the third
    sits out. Partners (V6) are the players 0 and 2 against 1 and 3; 0 plays against 1 and 2 against 3, and the first
    dealer at the second table is of the other side.
    """
    s["dealer"] = dealer
    if rules["seating"] == _THREE_HANDED:
        for seat in range(3):
            s["player"][seat] = (dealer + seat) % 3
        s["dealer"] = 0
    elif rules["seating"] == _PARTNERS:
        s["other_dealer"] = 1 - dealer


@kernel
def cut_short(s, rules):
    """Return whether the limit on turns ended the finished hand in STATE ``s`` (H15), not the stock."""
    left = s["n_stock"] > rules["dead_stock"] or s["reshuffled"] < rules["reshuffles"]
    return s["kind"] == _DEAD and left


@standalone(types.void(STATE_TYPE, RULES_TYPE))
def _change_places(s, rules):
    """Let those play the next hand whose turn it is: under V5 the loser changes places with the third, under V6 the
    partners' other table plays, whose hand of this round is then complete.
    """
    if s["hand_number"] == 0:
        return
    if rules["seating"] == _THREE_HANDED:
        if s["winner"] != NO_SEAT:
            loser = 1 - s["winner"]
            s["player"][loser], s["player"][2] = s["player"][2], s["player"][loser]
            s["scores"][loser], s["scores"][2] = s["scores"][2], s["scores"][loser]
            s["boxes"][loser], s["boxes"][2] = s["boxes"][2], s["boxes"][loser]
        return
    s["cut"] = s["hand_number"] % 2 == 1 and cut_short(s, rules)
    for seat in range(2):
        other = seat + 2
        s["player"][seat], s["player"][other] = s["player"][other], s["player"][seat]
        # What the first hand of a round scored is kept at the seats that sit out, until the second is played.
        s["points"][other] = s["points"][seat] if s["hand_number"] % 2 == 1 else 0
    s["dealer"], s["other_dealer"] = s["other_dealer"], s["dealer"]


@standalone(types.void(STATE_TYPE, RULES_TYPE))
def deal(s, rules):
    """Shuffle and deal the hand ``hand_number`` of the game in ``s``; its dealer is already set."""
    if rules["seating"] != _TABLE:
        _change_places(s, rules)
    key = mix(s["seed"], np.int64(s["hand_number"]))
    order = s["order"]
    n = np.int64(0)
    for suit in range(rules["suits"]):
        for rank in range(rules["ranks"]):
            j = below(key, n, n + 1)  # Fisher-Yates, inside out
            order[n] = order[j]
            order[j] = suit * 13 + rank
            n += 1
    for joker in range(2 if rules["jokers"] else 0):
        j = below(key, n, n + 1)
        order[n] = order[j]
        order[j] = JOKER + joker
        n += 1
    _deal_out(s, rules, n)


@standalone(types.void(STATE_TYPE, RULES_TYPE, types.uint8[::1]))
def deal_deck(s, rules, deck):
    """Deal from a given deck: uint8, all cards of the rules, the first card is dealt first."""
    if rules["seating"] != _TABLE:
        _change_places(s, rules)
    n = deck.shape[0]
    for i in range(n):
        s["order"][n - 1 - i] = deck[i]
    _deal_out(s, rules, n)


@kernel
def _deal_out(s, rules, n):
    """Deal hands, upcard and stock (H1) from the ``n`` cards of ``order``, the last one first."""
    players = np.int64(rules["players"])
    non_dealer = (np.int64(s["dealer"]) + 1) % players
    clear_hand(s, rules)
    top = n
    for _ in range(rules["cards_dealt"]):
        seat = non_dealer
        for _ in range(players):
            top -= 1
            s["hand"][seat] |= BIT[s["order"][top]]
            seat = seat + 1 if seat + 1 < players else 0
    top -= 1
    upcard = np.int64(s["order"][top])
    s["order"][ORDER - 1] = upcard
    s["n_pile"] = 1
    s["n_stock"] = top
    s["upcard"] = upcard

    s["knock_limit"] = rules["knock_limit"]
    s["multiplier"] = 1
    if rules["oklahoma"]:  # V1
        s["knock_limit"] = POINTS[upcard]
        if rules["ace_means_gin"] and upcard % 13 == 0:
            s["knock_limit"] = 0
        if rules["spades_double"] and upcard < 13:
            s["multiplier"] = 2

    s["seat"] = non_dealer
    s["first"] = non_dealer
    s["choices"] = (1 << TAKE) | (1 << PASS)


@kernel
def clear_hand(s, rules):
    """Put every field of a hand in STATE ``s`` to what it is before a deal, but ``order`` and what depends on it."""
    for seat in range(SEATS):
        s["hand"][seat] = 0
        s["known"][seat] = 0
        s["thrown"][seat] = 0
        s["refused"][seat] = 0
        s["deadwood"][seat] = 0
    for seat in range(rules["players"]):  # what the first hand of a round scored stays where it is kept (V6)
        s["points"][seat] = 0
    for i in range(RING):
        s["draws"][i] = NO_CARD
        s["throws"][i] = NO_CARD
    for i in range(3):
        s["melds"][i] = 0
    s["laid"] = 0
    s["sets"] = 0
    s["runs"] = 0
    s["starts"] = 0
    s["laid_first"] = 0
    s["loose"] = 0
    s["bluffs"] = 0
    s["bound"] = 0
    s["longest"] = rules["longest_meld"]
    s["down"] = NO_CARD
    s["opened"] = 0
    s["turn"] = 0
    s["reshuffled"] = 0
    s["phase"] = UPCARD_PHASE
    s["passes"] = 0
    s["drawn"] = NO_CARD
    s["mid_deadwood"] = 0
    s["taken"] = 0
    s["kind"] = 0
    s["knocker"] = NO_SEAT
    s["winner"] = NO_SEAT
    s["choices"] = 0
    s["discards"] = 0
    s["knocks"] = 0


@standalone(types.void(STATE_TYPE, RULES_TYPE))
def reshuffle(s, rules):
    """Shuffle all discards but the top one into a new stock (H12), in an order that follows from the game's seed.

    With two players this tells each what the other holds: whatever was neither in the own hand nor on the pile. So all
    of it is known from here on.
    """
    n = np.int64(s["n_pile"]) - 1
    s["reshuffled"] += 1
    key = mix(mix(s["seed"], np.int64(s["hand_number"])), _STOCK_STREAM + np.int64(s["reshuffled"]))
    order = s["order"]
    top = order[ORDER - 1 - n]
    for i in range(n):  # down to the stock's end: the two may overlap, so in this order
        order[i] = order[ORDER - n + i]
    for i in range(n - 1, 0, -1):  # Fisher-Yates
        j = below(key, np.int64(i), np.int64(i) + 1)
        card = order[i]
        order[i] = order[j]
        order[j] = card
    order[ORDER - 1] = top
    s["n_stock"] = n
    s["n_pile"] = 1
    if rules["players"] == 2:
        for seat in range(2):
            s["known"][seat] = s["hand"][seat]


def shuffled_deck(seed: int, hand_number: int, ranks: int = 13, suits: int = 4, jokers: bool = False) -> list[int]:
    """Return the deck that `deal` deals for a seed and a hand: card numbers, the first one is dealt first."""
    key = mix(seed, hand_number)
    order: list[int] = []
    cards = [suit * 13 + rank for suit in range(suits) for rank in range(ranks)]
    for card in cards + ([JOKER, JOKER + 1] if jokers else []):
        j = int(below(key, len(order), len(order) + 1))
        order.append(order[j] if j < len(order) else 0)
        order[j] = card
    return order[::-1]
