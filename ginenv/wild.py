"""Jokers (C8): least deadwood, arrangements and layoffs where up to two jokers stand for any card in a meld.

A meld with jokers is one of cards that they could stand for: a set of one rank in four suits at the most, or a run. A
joker may stand for a card that is held elsewhere, and a meld has at least one natural card. Without jokers in a hand
everything is as in `ginenv.melds`, whose kernels know nothing of them: here the jokers are taken out first, and
every way to put them into melds is tried.

Melds are masks of the cards that lie there, jokers included. Where a run's jokers stand is told beside it by its
*span*: all places from its lowest to its highest card; a set's span is 0.
"""

from __future__ import annotations

import numpy as np
from numba import types

from ginenv.cards import JOKER_POINTS, JOKERS, LANE, count
from ginenv.jit import kernel, standalone
from ginenv.melds import MAX_MELDS, arrange, deadwood, is_set, suits_of

_ONE_RANK = 0x0001000100010001
_MOST_PARTS = 2048


@kernel
def joker_parts(natural, jokers, longest, parts):
    """Write each meld that some cards of ``natural`` make with just so many jokers.

    Args:
        natural: Mask of at most 11 cards, no joker among them.
        jokers: 1 or 2.
        longest: Longest meld allowed (C6).
        parts: Receives ``(natural cards, span)``: int64, shape (2048, 2). A run that could have a joker at either end
            is there in each way.

    Returns:
        How many there are.
    """
    n = 0
    for rank in range(13):
        suits = suits_of(natural, rank)
        for chosen in range(1, 16):
            size = count(chosen) + jokers
            if chosen & ~suits == 0 and 3 <= size <= min(4, longest):
                cards = np.int64(0)
                for suit in range(4):
                    cards |= ((chosen >> suit) & 1) << (16 * suit + rank)
                parts[n, 0] = cards
                parts[n, 1] = 0
                n += 1
    for suit in range(4):
        lane = (natural >> (16 * suit)) & LANE
        if lane == 0:
            continue
        for low in range(13):
            for length in range(3, min(longest, 13 - low) + 1):
                span = ((1 << length) - 1) << low
                # The places of the jokers: all that are missing, or more.
                for one in range(low, low + length):
                    if jokers == 1:
                        held = span & ~(1 << one)
                        if held & ~lane == 0:
                            parts[n, 0] = held << (16 * suit)
                            parts[n, 1] = span << (16 * suit)
                            n += 1
                        continue
                    for two in range(one + 1, low + length):
                        held = span & ~(1 << one) & ~(1 << two)
                        if held & ~lane == 0:
                            parts[n, 0] = held << (16 * suit)
                            parts[n, 1] = span << (16 * suit)
                            n += 1
    return n


@kernel
def _best_parts(hand, longest, chosen):
    """Find the melds with jokers of a best arrangement; write ``(natural cards, span, jokers)`` of up to two.

    Args:
        hand: Mask of at most 11 cards.
        longest: Longest meld allowed (C6).
        chosen: int64, shape (2, 3), written; no jokers where there is no such meld.

    Returns:
        The least deadwood.
    """
    jokers = count(hand & JOKERS)
    natural = hand & ~JOKERS
    for i in range(2):
        for k in range(3):
            chosen[i, k] = 0
    best = JOKER_POINTS * jokers + deadwood(natural, longest)
    if jokers == 0:
        return best
    ones = np.empty((_MOST_PARTS, 2), np.int64)
    n = joker_parts(natural, 1, longest, ones)
    for i in range(n):
        left = JOKER_POINTS * (jokers - 1) + deadwood(natural & ~ones[i, 0], longest)
        if left < best:
            best = left
            chosen[0, 0], chosen[0, 1], chosen[0, 2] = ones[i, 0], ones[i, 1], 1
    if jokers == 1:
        return best
    for i in range(n):
        for j in range(i):
            if ones[i, 0] & ones[j, 0] != 0:
                continue
            left = deadwood(natural & ~(ones[i, 0] | ones[j, 0]), longest)
            if left < best:
                best = left
                chosen[0, 0], chosen[0, 1], chosen[0, 2] = ones[i, 0], ones[i, 1], 1
                chosen[1, 0], chosen[1, 1], chosen[1, 2] = ones[j, 0], ones[j, 1], 1
    n = joker_parts(natural, 2, longest, ones)
    for i in range(n):
        left = deadwood(natural & ~ones[i, 0], longest)
        if left < best:
            best = left
            chosen[0, 0], chosen[0, 1], chosen[0, 2] = ones[i, 0], ones[i, 1], 2
            chosen[1, 0], chosen[1, 1], chosen[1, 2] = 0, 0, 0
    return best


@standalone(types.int64(types.int64, types.int64))
def deadwood_wild(hand, longest):
    """Return the least deadwood of ``hand``, at most 11 cards with up to two jokers (C5, C8)."""
    if hand & JOKERS == 0:
        return np.int64(deadwood(hand, longest))
    return np.int64(_best_parts(hand, longest, np.empty((2, 3), np.int64)))


@standalone(types.int64(types.int64, types.int64, types.int64, types.int64))
def knock_discards_wild(hand, allowed, limit, longest):
    """Return the cards of ``allowed`` whose discard leaves ``hand`` with deadwood within ``limit``, as a mask."""
    knocks = np.int64(0)
    todo = allowed
    while todo != 0:
        bit = todo & -todo
        todo &= todo - 1
        if deadwood_wild(hand & ~bit, longest) <= limit:
            knocks |= bit
    return knocks


@standalone(types.int64(types.int64, types.int64, types.int64, types.int64[::1], types.int64[::1]))
def arrange_wild(hand, deck, longest, melds, spans):
    """Write a best arrangement of ``hand`` and return its deadwood.

    Best is the least deadwood, and of equals the first way found. The melds without jokers are those of
    `ginenv.melds.arrange`.

    Args:
        hand: Mask of at most 11 cards with up to two jokers.
        deck: Mask of the whole deck.
        longest: Longest meld allowed (C6).
        melds: Receives masks, 0 for none: int64, shape (3,).
        spans: Receives their spans: int64, shape (3,).
    """
    chosen = np.empty((2, 3), np.int64)
    left = _best_parts(hand, longest, chosen)
    jokers = hand & JOKERS
    natural = hand & ~JOKERS & ~(chosen[0, 0] | chosen[1, 0])
    arrange(natural, deck & ~JOKERS & ~hand | natural, longest, melds)
    n = 0
    while n < MAX_MELDS and melds[n] != 0:
        spans[n] = 0 if is_set(melds[n]) else melds[n]
        n += 1
    for i in range(n, MAX_MELDS):
        melds[i] = 0
        spans[i] = 0
    for i in range(2):
        if chosen[i, 2] == 0:
            continue
        melds[n] = chosen[i, 0]
        for _ in range(chosen[i, 2]):
            melds[n] |= jokers & -jokers
            jokers &= jokers - 1
        spans[n] = chosen[i, 1]
        n += 1
    return left


@standalone(types.int64(types.int64, types.int64[::1], types.int64[::1], types.int64, types.int64[::1]))
def defend_wild(hand, melds, spans, longest, laid):
    """Return the defender's least deadwood over all own melds and layoffs together (H9, H10), jokers among them.

    Every way to lay cards off is tried, card by card, a joker wherever a card could go.

    Args:
        hand: Mask of the defender's cards, at most 10.
        melds, spans: The knocker's, as `arrange_wild` writes them.
        longest: Longest meld allowed (C6), layoffs included.
        laid: Receives the cards laid off on each meld: int64, shape (3,).
    """
    stack = np.empty((256, 7), np.int64)  # where to go on, three spans (-1: a set that is full), three laid masks
    stack[0, 0] = 0
    for i in range(MAX_MELDS):
        full = melds[i] == 0 or (spans[i] == 0 and (count(melds[i]) > 3 or longest < 4))
        stack[0, 1 + i] = -1 if full else spans[i]
        stack[0, 4 + i] = 0
        laid[i] = 0
    depth = 1
    best = np.int64(1 << 30)
    entry = np.empty(7, np.int64)
    while depth > 0:
        depth -= 1
        entry[:] = stack[depth]
        rest = hand & ~(entry[4] | entry[5] | entry[6])
        left = deadwood_wild(rest, longest)
        if left < best:
            best = left
            for i in range(MAX_MELDS):
                laid[i] = entry[4 + i]
        joker = rest & JOKERS
        joker &= -joker
        # Below and above each meld in turn, never back: so each way is found once.
        for way in range(entry[0], 2 * MAX_MELDS):
            i = way >> 1
            span = entry[1 + i]
            if span == -1:
                continue
            if span == 0:
                natural = melds[i] & ~JOKERS
                fits = (_ONE_RANK << (count((natural & -natural) - 1) & 15)) & ~natural
                grown = np.int64(-1)
                if way & 1 == 1:
                    continue
            else:
                if count(span) >= longest:
                    continue
                fits = ((span >> 1) & ~span) if way & 1 == 0 else ((span << 1) & ~span)
                lane = (count((span & -span) - 1) >> 4) << 4
                fits &= LANE << lane
                if fits == 0:
                    continue
                grown = span | fits
            todo = (fits & rest) | joker
            while todo != 0:
                bit = todo & -todo
                todo &= todo - 1
                stack[depth] = entry
                stack[depth, 0] = way
                stack[depth, 1 + i] = grown
                stack[depth, 4 + i] |= bit
                depth += 1
    return best
