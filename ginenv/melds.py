"""Melds, deadwood, arrangements and layoffs: masks in, numbers and masks out, no game state.

How it works. Cards that no set uses can only be in runs, and runs live inside one suit: a table of 8,192
entries holds, for each content of a lane, the least points that runs leave loose. At most three ranks of
an 11-card hand can hold sets, each in at most six ways (no set, all four, four ways to leave one out),
so every choice of sets can be tried, and costs four look-ups.

With a longest meld (C6) of 3 or 4 a row of cards may not split into melds without a rest; from 5 on it always does.
So three tables cover every limit as far as deadwood goes; which melds a long row is split into matters only
for what can be laid off on them, and has a slower path of its own.
"""

from __future__ import annotations

import numpy as np
from numba import types

from ginenv.cards import LANE, count, deck_mask, total
from ginenv.jit import kernel, standalone

MAX_HAND = 11
"""The most cards a hand can have: ten and the one just drawn."""
MAX_MELDS = 3
"""The most melds that eleven cards can make."""
NO_LIMIT = 13
"""`longest` where melds may have any length."""
_ONE_RANK = 0x0001000100010001
"""All four cards of rank 0; shifted or multiplied, of any ranks."""


def _run_tables() -> tuple[np.ndarray, np.ndarray]:
    """Return what runs do for each content of a lane, for longest = 3, 4, 5 and more.

    Returns:
        ``(loose, melded)``: the least points that runs leave loose (uint8), and the cards that are in a run in
        any of the ways to leave so few (uint16, as a lane). Shape (3, 8192) each.
    """
    loose, melded = [], []
    for longest in (3, 4, 5):
        points, cards = [0], [0]
        for lane in range(1, 1 << 13):
            top = lane.bit_length() - 1
            rest = lane & ~(1 << top)  # the highest card is loose
            best, used = points[rest] + min(top + 1, 10), cards[rest]
            for length in range(3, longest + 1):  # or it ends a run
                run = ((1 << length) - 1) << (top - length + 1) if top >= length - 1 else 0
                if run == 0 or lane & run != run:
                    break
                rest = lane & ~run
                if points[rest] < best:
                    best, used = points[rest], 0
                if points[rest] == best:
                    used |= cards[rest] | run
            points.append(best)
            cards.append(used)
        loose.append(points)
        melded.append(cards)
    return np.array(loose, dtype=np.uint8), np.array(melded, dtype=np.uint16)


def _set_tables() -> tuple[np.ndarray, np.ndarray]:
    """Return the choices of a set by which suits hold the rank: masks for rank 0, and how many there are."""
    masks = np.zeros((2, 16, 6), dtype=np.int64)
    counts = np.ones((2, 16), dtype=np.int64)  # the first choice is always no set at all
    for row, longest in enumerate((3, 4)):
        for suits in range(16):
            sets = [s for s in range(1, 16) if s & ~suits == 0 and 3 <= s.bit_count() <= longest]
            for n, chosen in enumerate(sorted(sets, key=lambda s: -s.bit_count()), start=1):
                masks[row, suits, n] = sum(1 << (16 * suit) for suit in range(4) if chosen >> suit & 1)
            counts[row, suits] = 1 + len(sets)
    return masks, counts


_WORTH = np.array([deck_mask() & ~(_ONE_RANK * ((1 << max(p - 1, 0)) - 1)) for p in range(11)], dtype=np.int64)
"""All cards worth at least so many points. Shape (11,)."""
_LOOSE, _IN_RUNS = _run_tables()
_SETS, _SET_COUNT = _set_tables()


@kernel
def loose_in_runs(hand, longest):
    """Return the least points of ``hand`` that no run can hold (no sets)."""
    row = min(longest, 5) - 3
    return (
        np.int64(_LOOSE[row, hand & LANE])
        + np.int64(_LOOSE[row, (hand >> 16) & LANE])
        + np.int64(_LOOSE[row, (hand >> 32) & LANE])
        + np.int64(_LOOSE[row, hand >> 48])
    )


@kernel
def set_ranks(hand):
    """Return the ranks held three or four times, as the bits of one lane."""
    a, b, c, d = hand & LANE, (hand >> 16) & LANE, (hand >> 32) & LANE, hand >> 48
    return (a & b & (c | d)) | (c & d & (a | b))


@kernel
def suits_of(hand, rank):
    """Return the suits in which ``hand`` holds ``rank``, as four bits."""
    x = hand >> rank
    return (x & 1) | ((x >> 15) & 2) | ((x >> 30) & 4) | ((x >> 45) & 8)


@kernel
def set_choices(hand, longest):
    """Return all ways to choose sets from ``hand`` (11 cards at most), to be numbered by `chosen_sets`.

    Returns:
        ``(n, n1, n2, k1, k2, k3)``: the number of ways, of those for the first and the second rank, and a key
        for each of up to three ranks. Way 0 has no sets.
    """
    ranks = set_ranks(hand)
    if ranks == 0:
        return 1, 1, 1, 0, 0, 0
    row = min(longest, 4) - 3
    n1, n2, n3 = 1, 1, 1
    k1, k2, k3 = 0, 0, 0
    rank = count((ranks & -ranks) - 1)
    suits = suits_of(hand, rank)
    n1, k1 = _SET_COUNT[row, suits], rank * 32 + row * 16 + suits
    ranks &= ranks - 1
    if ranks != 0:
        rank = count((ranks & -ranks) - 1)
        suits = suits_of(hand, rank)
        n2, k2 = _SET_COUNT[row, suits], rank * 32 + row * 16 + suits
        ranks &= ranks - 1
        if ranks != 0:
            rank = count((ranks & -ranks) - 1)
            suits = suits_of(hand, rank)
            n3, k3 = _SET_COUNT[row, suits], rank * 32 + row * 16 + suits
    return n1 * n2 * n3, n1, n2, k1, k2, k3


@kernel
def one_set(key, way):
    """Return the mask of the set that ``way`` chooses for one rank's key of `set_choices`; 0 for none."""
    return _SETS[(key >> 4) & 1, key & 15, way] << (key >> 5)


@kernel
def chosen_sets(choices, way):
    """Return the three sets (masks, 0 for none) of choice number ``way`` of `set_choices`."""
    _, n1, n2, k1, k2, k3 = choices
    if way < n1:  # nearly always: one rank at the most, so spare the divisions
        return one_set(k1, way), 0, 0
    rest = way // n1
    return one_set(k1, way % n1), one_set(k2, rest % n2), one_set(k3, rest // n2)


@kernel
def deadwood(hand, longest):
    """Return the least deadwood of ``hand`` over all choices of disjoint melds (C5).

    Args:
        hand: Mask of at most 11 cards.
        longest: Longest meld allowed, 3 to 13 (C6).
    """
    best = loose_in_runs(hand, longest)
    # Most hands have no rank to make a set of, or one in just three suits. Both go the same way here: whether a set is
    # there is a coin toss that no branch predictor can call, and costs more than four look-ups for nothing.
    ranks = set_ranks(hand)
    rank = count((ranks & -ranks) - 1)
    row = min(longest, 4) - 3
    suits = suits_of(hand, rank & 15)
    best = min(best, loose_in_runs(hand & ~(_SETS[row, suits, 1] << (rank & 15)), longest))
    if ranks & (ranks - 1) == 0 and _SET_COUNT[row, suits] <= 2:
        return best
    choices = set_choices(hand, longest)
    for way in range(2, choices[0]):
        s1, s2, s3 = chosen_sets(choices, way)
        best = min(best, loose_in_runs(hand & ~(s1 | s2 | s3), longest))
    return best


@kernel
def deadwoods_without(hand, longest, out, first, stride):
    """Write for each card of ``hand`` the least deadwood of the other cards, all in one pass.

    A choice of sets of the hand without a card is one of the whole hand that does not use the card; so each choice
    is looked at once, and the lane of each loose card once more without it.

    Args:
        hand: Mask of at most 11 cards.
        longest: Longest meld allowed, 3 to 13 (C6).
        out: Integers of at least 8 bits: the number for a card goes to ``first + stride * suit + rank``. Other places
            stay as they are.
        first, stride: See ``out``.

    Returns:
        ``(deadwood, melded)`` of the whole hand: its least deadwood, and the mask of the cards that some
        arrangement with so little melds.
    """
    row = min(longest, 5) - 3
    choices = set_choices(hand, longest)
    best, melded = 1 << 30, 0
    for way in range(choices[0]):
        s1, s2, s3 = chosen_sets(choices, way)
        sets = s1 | s2 | s3
        rest = hand & ~sets
        now = loose_in_runs(rest, longest)
        if now <= best:
            if now < best:
                best, melded = now, 0
            melded |= sets
            for suit in range(4):
                lane = (rest >> (16 * suit)) & LANE
                melded |= np.int64(_IN_RUNS[row, lane]) << (16 * suit)
        for suit in range(4):
            lane = (rest >> (16 * suit)) & LANE
            place = first + stride * suit
            others = now - np.int64(_LOOSE[row, lane])
            todo = lane
            while todo != 0:
                bit = todo & -todo
                todo &= todo - 1
                without = others + np.int64(_LOOSE[row, lane & ~bit])
                rank = count(bit - 1)
                # Way 0 has no sets, so it writes a first number for each card.
                if way == 0 or without < out[place + rank]:
                    out[place + rank] = without
    return best, melded


@kernel
def worth(points):
    """Return all cards worth at least ``points`` (0 to 10), as a mask."""
    return _WORTH[points]


@kernel
def meldable(hand):
    """Return the cards of ``hand`` that are in any possible meld of it, as a mask."""
    # Lanes have three unused bits on top, so a shift never runs into the next suit.
    inner = hand & (hand << 1) & (hand >> 1)
    runs = inner | (inner << 1) | (inner >> 1)
    return runs | (hand & (set_ranks(hand) * _ONE_RANK))


@kernel
def completed(hand):
    """Return the cards that two cards of ``hand`` would meld with, some of which it may hold itself, as a mask.

    Bits outside the deck may be set.
    """
    runs = ((hand << 1) & (hand << 2)) | ((hand >> 1) & (hand >> 2)) | ((hand << 1) & (hand >> 1))
    a, b, c, d = hand & LANE, (hand >> 16) & LANE, (hand >> 32) & LANE, hand >> 48
    return runs | ((((a | b) & (c | d)) | (a & b) | (c & d)) * _ONE_RANK)


@kernel
def extend(run, loose):
    """Return the cards of ``loose`` that chain onto ``run`` at either end (H9), as a mask."""
    laid = 0
    end = (run << 1) & ~run & loose
    while end != 0:
        laid |= end
        end = (end << 1) & loose
    end = (run >> 1) & ~run & loose
    while end != 0:
        laid |= end
        end = (end >> 1) & loose
    return laid


@kernel
def is_set(meld):
    """Return whether ``meld``, which is a legal meld, is a set (else it is a run)."""
    return meld & (meld - 1) & ~((meld & -meld) << 1) == meld & (meld - 1)


@kernel
def fourth_card(meld, longest):
    """Return the mask of the card that could still join the set ``meld``; 0 when there is none."""
    if longest < 4 or count(meld) != 3:
        return 0
    rank = count((meld & -meld) - 1) & 15
    return (_ONE_RANK << rank) & ~meld


@kernel
def _reach(run, loose, longest):
    """Return the cards of ``loose`` that could be laid on ``run`` in some way, within ``longest`` cards."""
    room = longest - count(run)
    laid = 0
    up = (run << 1) & ~run & loose
    down = (run >> 1) & ~run & loose
    for _ in range(room):
        laid |= up | down
        up = (up << 1) & loose
        down = (down >> 1) & loose
    return laid


@standalone(types.UniTuple(types.int64, 2)(types.int64, types.int64, types.int64, types.int64))
def _best_runs(lane, deck, kept, longest):
    """Return the split of ``lane`` (one suit's cards) into runs that leaves least, then fewest layoffs.

    Args:
        lane: Cards of one suit that no set uses, in their place in the mask.
        deck: All cards that are not in the hand: what others could lay off.
        kept: Cards that can be laid off anyway (on sets), which need not be counted again.
        longest: Longest meld allowed.

    Returns:
        ``(runs, starts)``: all cards in runs, and the lowest card of each run.
    """
    # Every way to cover the lane by runs of 3 to `longest`, depth first with an explicit stack. Fields: cards
    # still to decide, cards in runs, their starts.
    stack = np.empty((160, 3), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2] = lane, 0, 0
    depth = 1
    best_runs, best_starts, best_loose, best_layoffs = 0, 0, 1 << 30, 1 << 30
    while depth > 0:
        depth -= 1
        left, runs, starts = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        if left == 0:
            loose = total(lane & ~runs)
            if loose > best_loose:
                continue
            reach = 0
            todo = starts
            while todo != 0:
                first = todo & -todo
                todo &= todo - 1
                reach |= _reach(run_from(first, runs, starts), deck, longest)
            layoffs = count(reach & ~kept)
            if loose < best_loose or layoffs < best_layoffs:
                best_runs, best_starts, best_loose, best_layoffs = runs, starts, loose, layoffs
            continue
        first = left & -left
        stack[depth, 0], stack[depth, 1], stack[depth, 2] = left & ~first, runs, starts
        depth += 1
        run = first
        for length in range(2, longest + 1):
            run |= run << 1
            if run & ~left != 0:
                break
            if length >= 3:
                stack[depth, 0], stack[depth, 1], stack[depth, 2] = left & ~run, runs | run, starts | first
                depth += 1
    return best_runs, best_starts


@kernel
def run_from(first, runs, starts):
    """Return the run whose lowest card is ``first``, of all cards in runs and the lowest cards of each."""
    run = first
    nxt = first << 1
    while nxt & runs & ~starts != 0:
        run |= nxt
        nxt <<= 1
    return run


@standalone(types.int64(types.int64, types.int64, types.int64, types.int64[::1]))
def arrange(hand, deck, longest, melds):
    """Write the best arrangement of ``hand`` into ``melds`` and return its deadwood.

    Best is the least deadwood, and among equals the one that leaves the fewest cards of ``deck`` that could be laid off
    on it, chains counted card by card. A further tie goes to the first way found, with the larger sets.

    Args:
        hand: Mask of at most 11 cards.
        deck: Mask of the whole deck (the hand's own cards are not counted).
        longest: Longest meld allowed, 3 to 13 (C6).
        melds: Receives masks, 0 for none: int64, shape (3,).
    """
    others = deck & ~hand
    choices = set_choices(hand, longest)
    least = deadwood(hand, longest)
    best_layoffs = 1 << 30
    for way in range(choices[0]):
        s1, s2, s3 = chosen_sets(choices, way)
        rest = hand & ~(s1 | s2 | s3)
        if loose_in_runs(rest, longest) > least:
            continue
        on_sets = np.int64(0)  # a plain 0 would have Numba compile what it is passed to twice
        for one in (s1, s2, s3):
            if one != 0:
                on_sets |= fourth_card(one, longest) & others
        layoffs = on_sets
        runs, starts = np.int64(0), np.int64(0)
        if longest >= NO_LIMIT:  # each row of three or more is one run
            inner = rest & (rest << 1) & (rest >> 1)
            runs = inner | (inner << 1) | (inner >> 1)
            starts = runs & ~(runs << 1)
        else:
            for suit in range(4):
                lane = rest & (LANE << (16 * suit))
                if _LOOSE[2, lane >> (16 * suit)] == total(lane):
                    continue  # no run in this suit
                lane_runs, lane_starts = _best_runs(lane, others, on_sets, longest)
                runs |= lane_runs
                starts |= lane_starts
        todo = starts
        while todo != 0:
            first = todo & -todo
            todo &= todo - 1
            run = run_from(first, runs, starts)
            layoffs |= extend(run, others) if longest >= NO_LIMIT else _reach(run, others, longest)
        n_layoffs = count(layoffs)
        if n_layoffs < best_layoffs:
            best_layoffs = n_layoffs
            n = 0
            for one in (s1, s2, s3):
                if one != 0:
                    melds[n] = one
                    n += 1
            todo = starts
            while todo != 0:
                melds[n] = run_from(todo & -todo, runs, starts)
                todo &= todo - 1
                n += 1
            for empty in range(n, MAX_MELDS):
                melds[empty] = 0
    return least


@kernel
def _chains(hand, melds):
    """Return the cards of ``hand`` that chain onto the runs among ``melds``, with no limit on their length."""
    laid = 0
    for i in range(MAX_MELDS):
        if melds[i] != 0 and not is_set(melds[i]):
            laid |= extend(melds[i], hand)
    return laid


@standalone(types.int64(types.int64, types.int64[::1], types.int64))
def _limited_chains(hand, melds, longest):
    """Return the best cards of ``hand`` to lay on the runs among ``melds`` where no meld may pass ``longest``.

    Tries every length at each end of each run, as far as the hand's cards reach; the rest of the hand melds by itself
    (runs only).
    """
    best_laid, best = 0, loose_in_runs(hand, longest)
    reach = np.zeros((MAX_MELDS, 2), np.int64)  # cards that could be laid above and below each run
    n_ways = 1
    for i in range(MAX_MELDS):
        if melds[i] == 0 or is_set(melds[i]):
            continue
        room = longest - count(melds[i])
        up, down = (melds[i] << 1) & ~melds[i] & hand, (melds[i] >> 1) & ~melds[i] & hand
        while up != 0 and reach[i, 0] < room:
            reach[i, 0] += 1
            up = (up << 1) & hand
        while down != 0 and reach[i, 1] < room:
            reach[i, 1] += 1
            down = (down >> 1) & hand
        n_ways *= (reach[i, 0] + 1) * (reach[i, 1] + 1)
    for way in range(1, n_ways):
        laid = 0
        code = way
        legal = True
        for i in range(MAX_MELDS):
            run = melds[i]
            if run == 0 or is_set(run):
                continue
            high, code = code % (reach[i, 0] + 1), code // (reach[i, 0] + 1)
            low, code = code % (reach[i, 1] + 1), code // (reach[i, 1] + 1)
            if count(run) + high + low > longest:
                legal = False
                break
            up, down = (run << 1) & ~run, (run >> 1) & ~run
            for _ in range(high):
                legal = legal and up & ~laid != 0  # another run may have that card
                laid |= up
                up <<= 1
            for _ in range(low):
                legal = legal and down & ~laid != 0
                laid |= down
                down >>= 1
            if not legal:
                break
        if legal:
            loose = loose_in_runs(hand & ~laid, longest)
            if loose < best:
                best, best_laid = loose, laid
    return best_laid


@standalone(types.UniTuple(types.int64, 2)(types.int64, types.int64[::1], types.int64))
def defend(hand, melds, longest):
    """Return the defender's least deadwood over all own melds and layoffs together (H9, H10).

    Once it is settled which sets are held and which fourth cards are laid on sets, laying off whatever chains onto
    a run is never worse than melding it: both leave nothing, and a chain takes the whole row of cards it reaches. With
    a limit on melds that no longer holds, and every length is tried.

    Args:
        hand: Mask of the defender's cards, at most 10.
        melds: The knocker's melds as laid down: int64 masks, shape (3,), 0 for none.
        longest: Longest meld allowed (C6), layoffs included.

    Returns:
        ``(deadwood, laid)``: the least deadwood and the mask of the cards laid off. The defender's own melds are
        what `arrange` finds in the rest of the hand.
    """
    fourths = np.int64(0)
    for i in range(MAX_MELDS):
        if melds[i] != 0 and is_set(melds[i]):
            fourths |= fourth_card(melds[i], longest) & hand
    best, best_laid = np.int64(1 << 30), np.int64(0)
    on_sets = fourths
    while True:  # every subset of the fourth cards, all of them first
        rest = hand & ~on_sets
        choices = set_choices(rest, longest)
        for way in range(choices[0]):
            s1, s2, s3 = chosen_sets(choices, way)
            free = rest & ~(s1 | s2 | s3)
            if longest >= NO_LIMIT:
                laid = _chains(free, melds)
            else:
                laid = _limited_chains(free, melds, longest)
            loose = loose_in_runs(free & ~laid, longest)
            if loose < best:
                best, best_laid = loose, on_sets | laid
        if on_sets == 0:
            return best, best_laid
        on_sets = (on_sets - 1) & fourths


@standalone(types.UniTuple(types.int64, 2)(types.int64, types.int64, types.int64, types.int64))
def defend_table(hand, sets, runs, starts):
    """Return the least deadwood of ``hand`` over all own melds and layoffs on the melds of an open table (V8).

    As `defend` without a limit on melds, on any number of them.

    Args:
        hand: Mask of at most 10 cards.
        sets, runs, starts: What lies on the table (`ginenv.lay`).

    Returns:
        ``(deadwood, laid)``: the least deadwood and the mask of the cards laid off.
    """
    ranks = (sets | (sets >> 16) | (sets >> 32) | (sets >> 48)) & LANE
    fourths = hand & (ranks * _ONE_RANK) & ~sets
    best, best_laid = np.int64(1 << 30), np.int64(0)
    on_sets = fourths
    while True:
        rest = hand & ~on_sets
        choices = set_choices(rest, NO_LIMIT)
        for way in range(choices[0]):
            s1, s2, s3 = chosen_sets(choices, way)
            free = rest & ~(s1 | s2 | s3)
            laid = np.int64(0)
            todo = starts
            while todo != 0:
                laid |= extend(run_from(todo & -todo, runs, starts), free)
                todo &= todo - 1
            loose = loose_in_runs(free & ~laid, NO_LIMIT)
            if loose < best:
                best, best_laid = np.int64(loose), on_sets | laid
        if on_sets == 0:
            return best, best_laid
        on_sets = (on_sets - 1) & fourths


@kernel
def knock_discards(hand, now, allowed, limit, longest):
    """Return the cards of ``allowed`` whose discard leaves ``hand`` with deadwood within ``limit``, as a mask.

    A discard lowers the least deadwood by its own points at most, and by just those where it is in no possible
    meld; so most hands need no second look.

    Args:
        hand: Mask of at most 11 cards.
        now: Its least deadwood.
        allowed: Mask of the discards in question.
        limit: Most deadwood to knock with.
        longest: Longest meld allowed (C6).
    """
    need = now - limit
    if need > 10:
        return 0
    worth = allowed & _WORTH[max(need, 0)]
    melding = meldable(hand)
    knocks = worth & ~melding
    todo = worth & melding
    while todo != 0:
        bit = todo & -todo
        todo &= todo - 1
        if deadwood(hand & ~bit, longest) <= limit:
            knocks |= bit
    return knocks


@kernel
def dearest(hand):
    """Return the points of the dearest card of ``hand``, 0 when it is empty."""
    ranks = hand | (hand >> 32)
    ranks = (ranks | (ranks >> 16)) & LANE
    ranks |= ranks >> 1  # fill up below the highest rank, and count
    ranks |= ranks >> 2
    ranks |= ranks >> 4
    return min(count(ranks | (ranks >> 8)), 10)


@kernel
def least_discards(hand, now, allowed, longest):
    """Return ``(cards, left)``: the discards among ``allowed`` that leave the least deadwood, and how much they leave.

    Arguments as for `knock_discards`; ``allowed`` must not be empty.
    """
    melding = meldable(hand)
    unmelded = allowed & ~melding
    points = dearest(unmelded)
    cards = unmelded & _WORTH[points]
    best = now - points if unmelded != 0 else 1 << 30
    todo = allowed & melding & _WORTH[points]  # a cheaper card cannot leave less
    while todo != 0:
        bit = todo & -todo
        todo &= todo - 1
        left = deadwood(hand & ~bit, longest)
        if left < best:
            best, cards = left, bit
        elif left == best:
            cards |= bit
    return cards, best


@kernel
def least_after_discard(hand, now, longest):
    """Return the least deadwood that ``hand`` leaves after its best discard, whatever that is.

    Arguments as for `knock_discards`. `least_discards` gives the same number, and says with which cards.
    """
    melding = meldable(hand)
    points = dearest(hand & ~melding)
    best = now - points if points > 0 else 1 << 30
    todo = melding & _WORTH[points + 1] if points < 10 else 0  # only a dearer card can leave less
    while todo != 0:
        bit = todo & -todo
        todo &= todo - 1
        best = min(best, deadwood(hand & ~bit, longest))
    return best
