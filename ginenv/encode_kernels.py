"""The kernels that write encodings: `encode` writes any, by its code.

Parts are told by their place: `ginenv.encode_parts` has their names and meanings in the same order, and
`ginenv.encode` what is made of them.
"""

from __future__ import annotations

import numpy as np
from numba import types

from ginenv.cards import BIT, JOKER, LANE, N_CARDS, NO_CARD, POINTS, count, lowest, total
from ginenv.encode_parts import (
    DRAWS,
    HISTORY_SUIT,
    N_FEATURES,
    N_HAND_FEATURES,
    N_MELD_PLANES,
    N_MELD_SCALARS,
    N_OUTLOOK,
    N_PLANES,
    N_SCALARS,
    N_TABLE_PLANES,
    RANKS,
    SUITS,
    TURNS,
    WITH_JOKERS,
)
from ginenv.jit import kernel, standalone
from ginenv.lay import layoffs
from ginenv.lookahead import MOST_POINTS, danger, savings, write_savings
from ginenv.melds import completed, deadwood, deadwoods_without, least_after_discard
from ginenv.rules import RULES_TYPE, SCORINGS
from ginenv.state import (
    ARRANGE_PHASE,
    BIG_GIN,
    DISCARD_PHASE,
    DRAW_PHASE,
    FROM_PILE,
    OVER_PHASE,
    RING,
    SEATS,
    UPCARD_PHASE,
)
from ginenv.view import VIEW_TYPE
from ginenv.wild import deadwood_wild

_FRESH = 16
"""What the newest discard counts in the discards' planes; each turn of age takes off one, down to 1."""
_THROWN_PLANE = 10
"""Number of the plane `thrown_own`; the opponent's is the next."""
_DOUBT = 0.05
"""What a pair counts whose other completion the opponent let go, in `danger`: as `heuristic` has it."""
_EIGHTS = np.array([[n >> i & 1 for i in range(8)] for n in range(256)], dtype=np.int8)
_SPREAD8 = _EIGHTS.view(np.int64)[:, 0].copy()
"""Eight bits as eight int8 of 0 or 1, to be stored at once. Shape (256,)."""
_PENALTY, _POINTS = (SCORINGS.index(s) for s in ("penalty", "points"))
_SUIT = np.arange(64, dtype=np.int64) // RANKS
"""Suit of each card. Shape (64,)."""
_BLOCK = _SUIT * RANKS
"""What a plane more in the suit blocks adds to each card's place. Shape (64,)."""


@kernel
def _row(a, b, c, d, suit):
    """Return one suit's lanes of four masks behind each other: 4 × 13 bits."""
    shift = 16 * suit
    return (
        ((a >> shift) & LANE)
        | (((b >> shift) & LANE) << 13)
        | (((c >> shift) & LANE) << 26)
        | (((d >> shift) & LANE) << 39)
    )


@kernel
def _lay(words, at, a, b):
    """Write two rows of 52 bits as int8 of 0 or 1 into int64 ``words`` from index ``at`` on (13 words)."""
    for i in range(6):
        words[at + i] = _SPREAD8[(a >> (8 * i)) & 255]
    words[at + 6] = _SPREAD8[(a >> 48) | ((b & 15) << 4)]
    for i in range(6):
        words[at + 7 + i] = _SPREAD8[(b >> (8 * i + 4)) & 255]


@kernel
def _fourth_row(words, at, a, b1, b2, b4):
    """Do as `_lay`, with numbers b1 + 2·b2 + 4·b4 in place of the second row's bits."""
    for i in range(6):
        words[at + i] = _SPREAD8[(a >> (8 * i)) & 255]
    words[at + 6] = _SPREAD8[(a >> 48) | ((b1 & 15) << 4)] + 2 * _SPREAD8[(b2 & 15) << 4] + 4 * _SPREAD8[(b4 & 15) << 4]
    for i in range(6):
        shift = 8 * i + 4
        words[at + 7 + i] = (
            _SPREAD8[(b1 >> shift) & 255] + 2 * _SPREAD8[(b2 >> shift) & 255] + 4 * _SPREAD8[(b4 >> shift) & 255]
        )


@kernel
def _first_row(v, suit):
    top = BIT[v["top"]] if v["n_pile"] > 0 else 0
    return _row(v["hand"], top, v["in_pile"] & ~top, v["unseen"], suit)


@kernel
def _second_row(v, suit):
    return _row(v["known"][1], v["known"][0], v["refused"][1], v["refused"][0], suit)


@kernel
def _third_row(v, suit):
    drawn = BIT[v["drawn"]] if v["drawn"] != NO_CARD else 0
    return _row(drawn, v["knocks"], v["thrown"][0], v["thrown"][1], suit)


@kernel
def _ages(v, n_planes, out):
    """Write the ages of the last discards into suit blocks of ``n_planes`` planes."""
    # All discards stand there with 1; the last ones get their age, oldest first: a card may come twice. No
    # branches: the ring holds NO_CARD where no turn was, and that is written to the first scalar, which comes later. So
    # are jokers, which have no place in the suits.
    spill = SUITS * n_planes * 13
    start = np.int64(v["turn"]) - _FRESH + 1
    plane = 13 * (_THROWN_PLANE + ((np.int64(v["first"]) + start) & 1))
    flip = 13 * (2 * _THROWN_PLANE + 1)
    for i in range(_FRESH - 1):
        card = np.int64(v["throws"][(start + i) & (RING - 1)])
        place = card + _BLOCK[card] * (n_planes - 1) + plane
        out[place if card < N_CARDS else spill] = 2 + i
        plane = flip - plane


@kernel
def _scalars(v, rules, own_deadwood, out, at):
    """Write the 32 scalars from ``out[at]`` on."""
    phase = v["phase"]
    for p in range(4):
        out[at + p] = phase == p
    stock, turn = np.int64(v["n_stock"]), np.int64(v["turn"])
    out[at + 4] = v["mover"] == 0 and phase != OVER_PHASE
    out[at + 5] = stock
    out[at + 6] = max(stock - rules["dead_stock"], 0)
    out[at + 7] = min(turn, 127)
    out[at + 8] = min(np.int64(v["own_turn"]), 63)
    out[at + 9] = min(max(rules["turn_limit"] - turn, 0), 127)
    out[at + 10] = v["n_pile"]
    out[at + 11] = v["passes"]
    out[at + 12] = v["taken"]
    out[at + 13] = own_deadwood
    out[at + 14] = min(np.int64(v["knock_limit"]), 13)
    out[at + 15] = v["knocks"] != 0
    out[at + 16] = (v["choices"] >> BIG_GIN) & 1
    out[at + 17] = v["multiplier"]
    target = np.int64(rules["target"])
    for k in range(2):
        score = np.int64(v["scores"][k])
        out[at + 18 + k] = min(max(score, -127), 127)
        out[at + 20 + k] = min(max(target - score, 0), 127)
        out[at + 24 + k] = min(np.int64(v["boxes"][k]), 13)
    out[at + 22] = min(target // 10, 127)
    out[at + 23] = min(max(rules["hands"] - np.int64(v["hand_number"]), 0), 13)
    out[at + 26] = v["dealer"] == 0
    out[at + 27] = turn > 0 and v["first"] == 0
    out[at + 28] = min(rules["gin_bonus"], 63)
    out[at + 29] = min(rules["undercut_bonus"], 63)
    out[at + 30] = rules["undercut_ties"]
    out[at + 31] = rules["discard_taken"]


@kernel
def _deadwood(v, rules):
    """Return the least deadwood of the viewer's cards, which the VIEW tells in mid-turn."""
    if v["phase"] == DISCARD_PHASE and v["mover"] == 0:
        return np.int64(v["mid_deadwood"])
    return np.int64(deadwood(v["hand"], rules["longest_meld"]))


@kernel
def _sum3(a, b, c):
    """Return ``(low, high)``: for each bit, how many of three masks have it, as a number of two bits."""
    return a ^ b ^ c, (a & b) | (c & (a ^ b))


@kernel
def _ways(cards, deck):
    """Return for each card of ``deck`` how many melds of three it makes with two of ``cards``.

    All cards at once, a bit each: ``(b0, b1, b2)`` are masks, and the number (0 to 6) is b0 + 2·b1 + 4·b2.
    """
    # Runs in which the card is the highest, the middle and the lowest. Lanes have three unused bits.
    below, above = cards << 1, cards >> 1
    r0, r1 = _sum3(below & (cards << 2), below & above, above & (cards >> 2))
    # Sets with each two of the three other suits.
    one = ((cards & 0x0000FFFFFFFFFFFF) << 16) | (cards >> 48)
    two = ((cards & 0x00000000FFFFFFFF) << 32) | (cards >> 32)
    three = ((cards & 0x000000000000FFFF) << 48) | (cards >> 16)
    s0, s1 = _sum3(one & two, one & three, two & three)
    carry = r0 & s0
    b1, b2 = _sum3(r1, s1, carry)
    return (r0 ^ s0) & deck, b1 & deck, b2 & deck


@standalone(types.void(VIEW_TYPE, RULES_TYPE, types.int8[::1]))
def _planes(v, rules, out):
    """Write planes-v1."""
    words = out.view(np.int64)
    for half in range(2):  # two suits of three rows are three pairs of rows
        at, suit = 39 * half, 2 * half
        _lay(words, at, _first_row(v, suit), _second_row(v, suit))
        _lay(words, at + 13, _third_row(v, suit), _first_row(v, suit + 1))
        _lay(words, at + 26, _second_row(v, suit + 1), _third_row(v, suit + 1))
    _ages(v, N_PLANES, out)
    _scalars(v, rules, _deadwood(v, rules), out, SUITS * N_PLANES * RANKS)


@kernel
def _features(v, rules, n_planes, out):
    """Write features-v1, with suit blocks of ``n_planes`` planes: those behind its own are left as they are."""
    stride, first = 13 * n_planes, 13 * N_PLANES
    hand, longest, known = v["hand"], rules["longest_meld"], v["known"][1]
    own1, own2, own4 = _ways(hand | v["unseen"], rules["deck"])
    their1, their2, their4 = _ways(known | v["unseen"], rules["deck"])
    words = out.view(np.int64)
    for suit in range(SUITS):
        at = (stride >> 3) * suit
        _lay(words, at, _first_row(v, suit), _second_row(v, suit))
        ones = _row(0, 0, own1, their1, suit)
        twos = _row(0, 0, own2, their2, suit)
        fours = _row(0, 0, own4, their4, suit)
        _fourth_row(words, at + 13, _third_row(v, suit), ones, twos, fours)
    _ages(v, n_planes, out)

    mid_turn = v["phase"] == DISCARD_PHASE and v["mover"] == 0
    drawing = v["phase"] == UPCARD_PHASE or v["phase"] == DRAW_PHASE
    top = BIT[v["top"]] if v["n_pile"] > 0 and drawing else 0
    least_taking, top_melded = 127, 0
    if top != 0:  # the hand with the card that can be taken, in the place of the hand's own numbers
        _, melded = deadwoods_without(hand | top, longest, out, first, stride)
        top_melded = melded & top != 0
        rest = hand
        while rest != 0:
            card = lowest(rest)
            rest &= rest - 1
            least_taking = min(least_taking, out[first + card + _BLOCK[card] * (n_planes - 1)])
        card = lowest(top)
        out[first + card + _BLOCK[card] * (n_planes - 1)] = 0
    now, melded = deadwoods_without(hand, longest, out, first, stride)
    least = 127
    rest = hand
    while rest != 0:
        card = lowest(rest)
        rest &= rest - 1
        place = first + card + _BLOCK[card] * (n_planes - 1)
        least = min(least, out[place])
        out[place + 13] = melded & BIT[card] != 0
    if not mid_turn:
        least = now
    at = SUITS * stride
    _scalars(v, rules, now, out, at)
    at += N_SCALARS
    out[at] = least
    limit = np.int64(v["knock_limit"])
    out[at + 1] = min(limit - least, 13 - least)
    out[at + 2] = least == 0
    out[at + 3] = min(least, least_taking)
    out[at + 4] = top_melded
    out[at + 5] = count(melded)
    out[at + 6] = count(known)
    out[at + 7] = min(np.int64(v["turn"]) - np.int64(v["own_turn"]), 63)


@standalone(types.void(VIEW_TYPE, RULES_TYPE, types.int8[::1]))
def _only_features(v, rules, out):
    """Write features-v1 alone."""
    _features(v, rules, N_PLANES + N_FEATURES, out)


@standalone(types.void(VIEW_TYPE, RULES_TYPE, types.int8[::1]))
def _look_ahead(v, rules, out):
    """Write features-v2."""
    n_planes = N_PLANES + N_FEATURES + N_OUTLOOK
    stride, first, at = 13 * n_planes, 13 * (N_PLANES + N_FEATURES), 13 * SUITS * n_planes
    _features(v, rules, n_planes, out)
    hand, unseen, longest = v["hand"], v["unseen"], rules["longest_meld"]
    words = out.view(np.int64)
    own1, own2, own4 = _ways(hand, rules["deck"])
    their1, their2, their4 = _ways(v["known"][1], rules["deck"])
    for suit in range(SUITS):
        place = ((stride * suit) + first) >> 3
        for i in range(6):
            words[place + i] = 0
        ones, twos, fours = (
            _row(0, 0, own1, their1, suit),
            _row(0, 0, own2, their2, suit),
            _row(0, 0, own4, their4, suit),
        )
        _fourth_row(words, place, 0, ones, twos, fours)
    pairs = completed(hand) & unseen
    todo = hand
    while todo != 0:
        bit = todo & -todo
        todo &= todo - 1
        card = lowest(bit)
        out[first + card + _BLOCK[card] * (n_planes - 1) + 39] = count(pairs & ~completed(hand & ~bit))

    tally = np.zeros(MOST_POINTS, np.int64)
    at += N_SCALARS + N_HAND_FEATURES
    if v["phase"] == DISCARD_PHASE and v["mover"] == 0:
        best, left, saved, melding, gins = 1 << 30, 0, 0, 0, 0
        todo = v["discards"]
        while todo != 0:
            bit = todo & -todo
            todo &= todo - 1
            card = lowest(bit)
            place = first + card + _BLOCK[card] * (n_planes - 1)
            loose = np.int64(out[place - 52])
            s, m, g = savings(hand & ~bit, loose, unseen, DRAWS, tally, longest)
            out[place], out[place + 13], out[place + 26] = min(s, 127), m, g
            out[place + 52] = np.int64(100 * danger(v, card, _DOUBT) + 0.5)
            rank = _rank(loose, s, m, g)
            if rank < best:
                best, left, saved, melding, gins = rank, loose, s, m, g
        for place in (at, at + 4):
            out[place] = left
            write_savings((saved, melding, gins), out, place + 1)
        return
    now = np.int64(deadwood(hand, longest))
    saved, melding, gins = savings(hand, now, unseen, DRAWS, tally, longest)
    out[at] = now
    write_savings((saved, melding, gins), out, at + 1)
    top = BIT[v["top"]] if v["n_pile"] > 0 else 0
    pairs = completed(hand)
    dear = now - least_after_discard(hand, now, longest)
    todo = (unseen | top) & ~hand
    while todo != 0:
        bit = todo & -todo
        todo &= todo - 1
        card = lowest(bit)
        saves = dear - POINTS[card]  # by taking a dearer card's place
        if bit & pairs != 0:
            drawn = hand | bit
            saves = now - least_after_discard(drawn, deadwood(drawn, longest), longest)
        out[first + card + _BLOCK[card] * (n_planes - 1) + 65] = max(saves, 0)
    if top != 0 and (v["phase"] == UPCARD_PHASE or v["phase"] == DRAW_PHASE):
        best, taken = 1 << 30, hand | top
        todo = hand
        while todo != 0:
            bit = todo & -todo
            todo &= todo - 1
            rest = taken & ~bit
            loose = np.int64(deadwood(rest, longest))
            s, m, g = savings(rest, loose, unseen, DRAWS, tally, longest)
            rank = _rank(loose, s, m, g)
            if rank < best:
                best, now, saved, melding, gins = rank, loose, s, m, g
    out[at + 4] = now
    write_savings((saved, melding, gins), out, at + 5)


@kernel
def _rank(left, saved, melding, gins):
    """Return a number by which hands are compared, less being better: the same for hands that differ in suits only."""
    return (((20 * left - 3 * saved) * 64 - melding) * 64 - gins) * 128 + left


@standalone(types.void(VIEW_TYPE, RULES_TYPE, types.int8[::1]))
def _history(v, rules, out):
    """Write history-v1."""
    for i in range(SUITS * HISTORY_SUIT + 2 * TURNS):
        out[i] = 0
    rest = v["hand"]
    while rest != 0:
        card = lowest(rest)
        rest &= rest - 1
        out[card + _SUIT[card] * (HISTORY_SUIT - 13)] = 1
    if v["n_pile"] > 0:
        card = np.int64(v["top"])
        out[13 + card + _SUIT[card] * (HISTORY_SUIT - 13)] = 1
    turn, first = np.int64(v["turn"]), np.int64(v["first"])
    common = SUITS * HISTORY_SUIT
    for back in range(TURNS):
        if back >= turn:
            break
        place = (turn - 1 - back) & (RING - 1)
        drawn, thrown = np.int64(v["draws"][place]), np.int64(v["throws"][place])
        out[common + back] = -1 if (first + turn - 1 - back) & 1 else 1
        out[common + TURNS + back] = 1
        if drawn >= FROM_PILE:
            out[common + TURNS + back] = 2
            drawn -= FROM_PILE
        if drawn != NO_CARD:
            suit = _SUIT[drawn]
            out[suit * HISTORY_SUIT + 26 + back] = drawn - 13 * suit + 1
        if thrown != NO_CARD:
            suit = _SUIT[thrown]
            out[suit * HISTORY_SUIT + 26 + TURNS + back] = thrown - 13 * suit + 1
    _scalars(v, rules, _deadwood(v, rules), out, common + 2 * TURNS)


@kernel
def _mark(cards, plane, out):
    """Write a mask of cards to a plane of table-v1 that holds zeros."""
    rest = np.int64(cards)
    while rest != 0:
        card = lowest(rest)
        rest &= rest - 1
        out[card + _BLOCK[card] * (N_TABLE_PLANES - 1) + 13 * plane] = 1


@standalone(types.void(VIEW_TYPE, RULES_TYPE, types.int8[::1]))
def _table(v, rules, out):
    """Write table-v1."""
    at = SUITS * 13 * N_TABLE_PLANES
    for i in range(at):
        out[i] = 0
    top = BIT[v["top"]] if v["n_pile"] > 0 else 0
    _mark(v["hand"], 0, out)
    _mark(top, 1, out)
    _mark(v["in_pile"] & ~top, 2, out)
    _mark(v["unseen"], 3, out)
    _mark(BIT[v["drawn"]] if v["drawn"] != NO_CARD else 0, 4, out)
    _mark(v["knocks"], 5, out)
    for k in range(SEATS):
        _mark(v["known"][k], 6 + 3 * k, out)
        _mark(v["thrown"][k], 7 + 3 * k, out)
        _mark(v["refused"][k], 8 + 3 * k, out)
    _scalars(v, rules, _deadwood(v, rules), out, at)
    at += N_SCALARS
    out[at] = v["players"]
    out[at + 1] = rules["scoring"] == _PENALTY
    out[at + 2] = rules["scoring"] == _POINTS
    out[at + 3] = min(rules["knock_bonus"], 63)
    for k in range(SEATS):
        out[at + 4] = k < v["players"]
        out[at + 5] = v["mover"] == k and v["phase"] != OVER_PHASE
        out[at + 6] = v["dealer"] == k
        out[at + 7] = v["turn"] > 0 and v["first"] == k
        out[at + 8] = v["cards"][k]
        out[at + 9] = min(max(np.int64(v["scores"][k]), -127), 127)
        at += 6


@kernel
def _meld_row(v, own, suit):
    return _row(v["sets"], v["runs"], v["starts"], own, suit)


@kernel
def _loose_row(v, own, lays, suit):
    return _row((v["sets"] | v["runs"]) & ~own, v["loose"], lays, v["bluffs"], suit)


@standalone(types.void(VIEW_TYPE, RULES_TYPE, types.int8[::1]))
def _planes_and_melds(v, rules, out):
    """Write planes-v2."""
    on_set, above, below = layoffs(v)
    lays = on_set | above | below
    own = v["laid"] if rules["open_table"] else (v["sets"] | v["runs"]) & v["known"][0]
    words = out.view(np.int64)
    for half in range(2):  # two suits of five rows are five pairs of rows
        at, suit = 65 * half, 2 * half
        _lay(words, at, _first_row(v, suit), _second_row(v, suit))
        _lay(words, at + 13, _third_row(v, suit), _meld_row(v, own, suit))
        _lay(words, at + 26, _loose_row(v, own, lays, suit), _first_row(v, suit + 1))
        _lay(words, at + 39, _second_row(v, suit + 1), _third_row(v, suit + 1))
        _lay(words, at + 52, _meld_row(v, own, suit + 1), _loose_row(v, own, lays, suit + 1))
    _ages(v, N_PLANES + N_MELD_PLANES, out)
    now = np.int64(v["mid_deadwood"])
    if v["phase"] != DISCARD_PHASE or v["mover"] != 0:
        now = deadwood_wild(v["hand"], rules["longest_meld"])
    at = SUITS * 13 * (N_PLANES + N_MELD_PLANES)
    _scalars(v, rules, now, out, at)
    at += N_SCALARS
    for i in range(3):
        out[at + i] = v["phase"] == ARRANGE_PHASE + i
    out[at + 3] = v["knocker"] == 0
    out[at + 4] = v["knocker"] == 1
    out[at + 5] = (v["choices"] >> 4) & 1
    out[at + 6] = min(np.int64(v["bound"]), 13)
    out[at + 7] = total(v["loose"])
    for k in range(2):
        out[at + 8 + k] = v["cards"][k]
        out[at + 10 + k] = (v["opened"] >> k) & 1
    out[at + 12] = min(max(rules["reshuffles"] - np.int64(v["reshuffled"]), 0), 13)
    out[at + 13] = v["longest"]
    out[at + 14] = rules["jokers"]
    out[at + 15] = rules["open_table"]
    out[at + 16] = rules["rummy_doubles"]
    out[at + 17] = rules["settle_by_hand"]
    out[at + 18] = rules["illegal_knocks"]
    out[at + 19] = rules["big_gin"]
    out[at + 20] = min(rules["big_gin_bonus"], 63)
    out[at + 21] = rules["hollywood"]
    for i in range(4):
        column, k = 1 + (i >> 1), i & 1
        score, boxes = np.int64(v["scores"][2 * column + k]), np.int64(v["boxes"][2 * column + k])
        if not rules["hollywood"]:
            score, boxes = np.int64(0), np.int64(0)
        out[at + 18 + 4 * column + k] = min(score, 127)
        out[at + 20 + 4 * column + k] = min(boxes, 13)
    out[at + 30] = v["wins"][0]
    out[at + 31] = v["wins"][1]
    at += N_MELD_SCALARS
    top = BIT[v["top"]] if v["n_pile"] > 0 else 0
    drawn = BIT[v["drawn"]] if v["drawn"] != NO_CARD else 0
    for i in range(2):
        joker, place = BIT[JOKER + i], at + i
        out[place] = v["hand"] & joker != 0
        out[place + 2] = top & joker != 0
        out[place + 4] = v["in_pile"] & ~top & joker != 0
        out[place + 6] = v["unseen"] & joker != 0
        out[place + 8] = v["known"][1] & joker != 0
        out[place + 10] = v["known"][0] & joker != 0
        out[place + 12] = v["refused"][1] & joker != 0
        out[place + 14] = v["refused"][0] & joker != 0
        out[place + 16] = drawn & joker != 0
        out[place + 18] = v["knocks"] & joker != 0
        out[place + 20] = v["thrown"][0] & joker != 0
        out[place + 22] = v["thrown"][1] & joker != 0


@kernel
def encode(view, rules, code, out):
    """Write the encoding with this ``code`` of what one seat may know.

    Args:
        view: A VIEW record, on turn or off; of two players, but for table-v1. Where there are jokers, all but planes-v2
            write 0: they have no place for them.
        rules: A RULES record.
        code: `Encoding.code` of one of `ENCODINGS`.
        out: int8, shape (`Encoding.size`,), contiguous, written in full.
    """
    if rules["jokers"] and code != WITH_JOKERS:
        for i in range(out.shape[0]):
            out[i] = 0
    elif code == 0:
        _planes(view, rules, out)
    elif code == 1:
        _only_features(view, rules, out)
    elif code == 2:
        _history(view, rules, out)
    elif code == 3:
        _table(view, rules, out)
    elif code == WITH_JOKERS:
        _planes_and_melds(view, rules, out)
    else:
        _look_ahead(view, rules, out)
