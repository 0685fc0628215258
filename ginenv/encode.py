"""VIEW to arrays for learners, by versioned name. A published name never changes its meaning.

`ENCODINGS` holds them all; `encode` is the one kernel that writes any of them. An encoding is a flat
int8 vector; a value times its ``scale`` is about in [-1, 1]. It begins with four *suit blocks* of equal
length and like build (spades, hearts, diamonds, clubs), so that a permutation of the suits is a
permutation of these blocks; what follows does not depend on suits. Only a VIEW goes in, on turn or off,
so nothing hidden can come out. They are for two players, but for table-v1, which is for two to six.

``python -m ginenv.encode`` prints docs/encodings.md, which a test compares with this registry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np
from numba import types

from ginenv.cards import BIT, LANE, NO_CARD, POINTS, count, lowest
from ginenv.jit import kernel, standalone
from ginenv.lookahead import MOST_POINTS, danger, savings
from ginenv.melds import completed, deadwood, deadwoods_without, least_after_discard
from ginenv.rules import RULES_TYPE, SCORINGS
from ginenv.state import (
    BIG_GIN,
    DISCARD_PHASE,
    DRAW_PHASE,
    FROM_PILE,
    OVER_PHASE,
    RING,
    SEATS,
    UPCARD_PHASE,
    Phase,
)
from ginenv.view import VIEW_TYPE

# --- What is in them: names, scales and meanings, in the order of the kernels below -------------------

_RANKS = 13
_SUITS = 4
_FRESH = 16
"""What the newest discard counts in the discards' planes; each turn of age takes off one, down to 1."""
_TURNS = 32
"""Turns that history-v1 shows."""

Part = tuple[str, float, str]
"""Name, scale and meaning of a plane or a scalar."""

_PLANES: tuple[Part, ...] = (
    ("hand", 1, "own hand"),
    ("top", 1, "top of the discard pile"),
    ("buried", 1, "the rest of the discard pile"),
    ("unseen", 1, "in the stock or the opponent's hand, for all the viewer knows"),
    ("known_opponent", 1, "known to be in the opponent's hand (all of it once a knock has ended the hand)"),
    ("known_own", 1, "in own hand, and the opponent knows it"),
    ("refused_opponent", 1, "upcards that the opponent passed over"),
    ("refused_own", 1, "upcards that the viewer passed over"),
    ("drawn", 1, "card drawn or taken in the present turn, where the viewer saw it"),
    ("knocks", 1, "discards that a knock may be made with; own turn only"),
    (
        "thrown_own",
        1 / 16,
        "own discards of this hand by age: 16 for one of the newest turn (the turn in progress, "
        "else the last), one less a turn back, 1 from fifteen turns back on; 0 never. A card "
        "that was taken up again stays",
    ),
    ("thrown_opponent", 1 / 16, "the opponent's discards, in the same way"),
)

_CARD_FEATURES: tuple[Part, ...] = (
    (
        "deadwood_without",
        1 / 80,
        "for each card held: least deadwood (points) of the hand without it, that is after "
        "discarding it where eleven are held; 0 for other cards",
    ),
    ("melded", 1, "own cards that some least-deadwood arrangement of the hand melds"),
    (
        "ways",
        1 / 6,
        "melds of three, 0 to 6, that this card makes with two others held or unseen; for every card of the deck",
    ),
    ("ways_opponent", 1 / 6, "the same with two others unseen or known in the opponent's hand"),
)

_DRAWS = 5
"""How many of the best next draws the planes and scalars about the next draw add up."""
_OUTLOOK: tuple[Part, ...] = (
    (
        "saves_without",
        1 / 100,
        "for each card that may be discarded now: deadwood (points) that the five best next draws would save after it, "
        "together, at most 127",
    ),
    ("melding_without", 1 / 20, "for the same cards: unseen cards that would then save deadwood by a meld"),
    ("gins_without", 1 / 8, "for the same cards: unseen cards that would then bring gin"),
    ("outs", 1 / 8, "for each card held: unseen cards that meld with two held because of this one only"),
    (
        "danger",
        1 / 100,
        "for each card that may be discarded now: per cent that the opponent melds it, by what lies open "
        "(`ginenv.lookahead.danger`)",
    ),
    (
        "saves",
        1 / 40,
        "between turns, for each unseen card and the top of the pile: deadwood (points) that it would save of the hand",
    ),
    (
        "melds_held",
        1 / 6,
        "melds of three, 0 to 6, that this card makes with two others held; for every card of the deck",
    ),
    ("melds_opponent", 1 / 6, "the same with two others known in the opponent's hand"),
)

_SCALARS: tuple[Part, ...] = (
    *((f"phase_{phase.name.lower()}", 1, f"1 in the phase {phase.name}") for phase in list(Phase)[:4]),
    ("to_act", 1, "1 when the decision is the viewer's"),
    ("stock", 1 / 40, "cards in the stock"),
    ("draws_left", 1 / 40, "cards that can be drawn before the stock is dead (H11)"),
    ("turn", 1 / 100, "turns begun in this hand, at most 127"),
    ("own_turn", 1 / 50, "of these the viewer's, at most 63"),
    ("turns_left", 1 / 100, "turns to the turn limit (H15), at most 127"),
    ("pile", 1 / 40, "cards in the discard pile"),
    ("passes", 1 / 2, "passes of the first upcard"),
    ("taken", 1, "1 when the card of the turn in progress came from the discard pile"),
    ("deadwood", 1 / 100, "least deadwood (points) of the cards held, ten or eleven"),
    ("knock_limit", 1 / 10, "most deadwood (points) to knock with in this hand, at most 13"),
    ("can_knock", 1, "1 when the viewer may knock now"),
    ("can_big_gin", 1, "1 when the viewer may declare big gin now"),
    ("multiplier", 1 / 2, "what the hand's points are multiplied by"),
    ("score_own", 1 / 100, "own points in the game so far, without bonuses, at most 127"),
    ("score_opponent", 1 / 100, "the opponent's"),
    ("to_go_own", 1 / 100, "points to the target, 0 to 127; 0 without a target"),
    ("to_go_opponent", 1 / 100, "the opponent's"),
    ("target", 1 / 100, "the target in tens of points, at most 127; 0 for none"),
    ("hands_left", 1 / 10, "hands left in a game of so many hands, this one included, at most 13"),
    ("boxes_own", 1 / 10, "hands won by the viewer in this game, at most 13"),
    ("boxes_opponent", 1 / 10, "hands won by the opponent"),
    ("dealer", 1, "1 when the viewer is the dealer"),
    ("first", 1, "1 when the viewer had the first turn of this hand"),
    ("gin_bonus", 1 / 50, "points for gin, at most 63"),
    ("undercut_bonus", 1 / 50, "points for an undercut, at most 63"),
    ("undercut_ties", 1, "1 when equal deadwood is an undercut"),
    ("discard_taken", 1, "1 when the card just taken may be discarded again"),
)

_HAND_FEATURES: tuple[Part, ...] = (
    ("least", 1 / 80, "least deadwood (points) after the best discard; with ten cards: of the hand"),
    ("margin", 1 / 100, "knock_limit less `least`: not negative when that is low enough to knock with"),
    ("gin", 1, "1 when `least` is 0"),
    (
        "least_taking",
        1 / 80,
        "in the phases UPCARD and DRAW: least deadwood after taking the top of the pile and the best "
        "discard, or `least` where that is less; else `least`",
    ),
    (
        "top_melded",
        1,
        "in the phases UPCARD and DRAW: 1 when a best arrangement of hand and top of the pile melds the latter",
    ),
    ("melded_cards", 1 / 10, "how many cards the plane `melded` marks"),
    ("known_cards", 1 / 10, "how many cards the plane `known_opponent` marks"),
    ("opponent_turn", 1 / 50, "turns of this hand begun by the opponent, at most 63"),
)

_OUTLOOK_SCALARS: tuple[Part, ...] = (
    *(
        (f"{name}{when}", scale, f"{what} {then}")
        for when, then in (
            ("_next", "after the best discard of the planes above (by deadwood left, less 15 % of `saves_without`); "
             "with ten cards: of the hand"),
            ("_taking", "in the phases UPCARD and DRAW: the same after taking the top of the pile; else as without it"),
        )
        for name, scale, what in (
            ("left", 1 / 100, "deadwood (points)"),
            ("saves", 1 / 100, "what the five best next draws save together, at most 127"),
            ("melding", 1 / 20, "unseen cards that save deadwood by a meld"),
            ("gins", 1 / 8, "unseen cards that bring gin"),
        )
    ),
)  # fmt: skip

_TABLE_PLANES: tuple[Part, ...] = (
    ("hand", 1, "own hand"),
    ("top", 1, "top of the discard pile"),
    ("buried", 1, "the rest of the discard pile"),
    ("unseen", 1, "in the stock or another hand, for all the viewer knows"),
    ("drawn", 1, "card drawn or taken in the present turn, where the viewer saw it"),
    ("knocks", 1, "discards that a knock may be made with; own turn only"),
    *(
        (f"{name}_{k}", 1, f"{what} seat {k}; 0 where nobody sits there")
        for k in range(SEATS)
        for name, what in (
            ("known", "known to all to be in the hand of"),
            ("thrown", "discarded in this hand by"),
            ("refused", "upcards passed over by"),
        )
    ),
)

_TABLE_SCALARS: tuple[Part, ...] = (
    *((name.replace("_opponent", "_next"), scale, what.replace("the opponent", "the next in turn"))
      for name, scale, what in _SCALARS),
    ("players", 1 / 6, "players of the hand"),
    ("penalty", 1, "1 under penalty scoring (S6)"),
    ("points", 1, "1 under the point rules (S7)"),
    ("knock_bonus", 1 / 50, "points for a knock, at most 63"),
    *(
        (f"{name}_{k}", scale, what.format(k))
        for k in range(SEATS)
        for name, scale, what in (
            ("present", 1, "1 when seat {} plays the hand"),
            ("mover", 1, "1 when the decision is that of seat {}"),
            ("dealer", 1, "1 when seat {} is the dealer"),
            ("first", 1, "1 when seat {} had the first turn of this hand"),
            ("cards", 1 / 10, "cards that seat {} holds"),
            ("score", 1 / 100, "points of seat {} in the game so far, -127 to 127"),
        )
    ),
)  # fmt: skip

_N_PLANES = len(_PLANES)
_N_TABLE_PLANES = len(_TABLE_PLANES)
_N_FEATURES = len(_CARD_FEATURES)
_N_OUTLOOK = len(_OUTLOOK)
_N_SCALARS = len(_SCALARS)
_N_HAND_FEATURES = len(_HAND_FEATURES)
_DOUBT = 0.05
"""What a pair counts whose other completion the opponent let go, in `danger`: as `heuristic` has it."""
_THROWN_PLANE = 10
"""Number of the plane `thrown_own`; the opponent's is the next."""
_HISTORY_SUIT = 2 * _RANKS + 2 * _TURNS
"""Length of a suit block of history-v1."""


# --- Kernels -----------------------------------------------------------------------------------------

_EIGHTS = np.array([[n >> i & 1 for i in range(8)] for n in range(256)], dtype=np.int8)
_SPREAD8 = _EIGHTS.view(np.int64)[:, 0].copy()
"""Eight bits as eight int8 of 0 or 1, to be stored at once. Shape (256,)."""
_PENALTY, _POINTS = (SCORINGS.index(s) for s in ("penalty", "points"))
_SUIT = np.arange(64, dtype=np.int64) // _RANKS
"""Suit of each card. Shape (64,)."""
_BLOCK = _SUIT * _RANKS
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
    # branches: the ring holds NO_CARD where no turn was, and that is written to the first scalar, which comes later.
    spill = _SUITS * n_planes * 13
    start = np.int64(v["turn"]) - _FRESH + 1
    plane = 13 * (_THROWN_PLANE + ((np.int64(v["first"]) + start) & 1))
    flip = 13 * (2 * _THROWN_PLANE + 1)
    for i in range(_FRESH - 1):
        card = np.int64(v["throws"][(start + i) & (RING - 1)])
        place = card + _BLOCK[card] * (n_planes - 1) + plane
        out[place if card != NO_CARD else spill] = 2 + i
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
    _ages(v, _N_PLANES, out)
    _scalars(v, rules, _deadwood(v, rules), out, _SUITS * _N_PLANES * _RANKS)


@kernel
def _features(v, rules, n_planes, out):
    """Write features-v1, with suit blocks of ``n_planes`` planes: those behind its own are left as they are."""
    stride, first = 13 * n_planes, 13 * _N_PLANES
    hand, longest, known = v["hand"], rules["longest_meld"], v["known"][1]
    own1, own2, own4 = _ways(hand | v["unseen"], rules["deck"])
    their1, their2, their4 = _ways(known | v["unseen"], rules["deck"])
    words = out.view(np.int64)
    for suit in range(_SUITS):
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
    at = _SUITS * stride
    _scalars(v, rules, now, out, at)
    at += _N_SCALARS
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
    _features(v, rules, _N_PLANES + _N_FEATURES, out)


@kernel
def _write_outlook(left, saved, melding, gins, out, at):
    """Write four scalars of what a hand may become."""
    out[at], out[at + 1], out[at + 2], out[at + 3] = left, min(saved, 127), melding, gins


@standalone(types.void(VIEW_TYPE, RULES_TYPE, types.int8[::1]))
def _look_ahead(v, rules, out):
    """Write features-v2."""
    n_planes = _N_PLANES + _N_FEATURES + _N_OUTLOOK
    stride, first, at = 13 * n_planes, 13 * (_N_PLANES + _N_FEATURES), 13 * _SUITS * n_planes
    _features(v, rules, n_planes, out)
    hand, unseen, longest = v["hand"], v["unseen"], rules["longest_meld"]
    words = out.view(np.int64)
    own1, own2, own4 = _ways(hand, rules["deck"])
    their1, their2, their4 = _ways(v["known"][1], rules["deck"])
    for suit in range(_SUITS):
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
    at += _N_SCALARS + _N_HAND_FEATURES
    if v["phase"] == DISCARD_PHASE and v["mover"] == 0:
        best, left, saved, melding, gins = 1 << 30, 0, 0, 0, 0
        todo = v["discards"]
        while todo != 0:
            bit = todo & -todo
            todo &= todo - 1
            card = lowest(bit)
            place = first + card + _BLOCK[card] * (n_planes - 1)
            loose = np.int64(out[place - 52])
            s, m, g = savings(hand & ~bit, loose, unseen, _DRAWS, tally, longest)
            out[place], out[place + 13], out[place + 26] = min(s, 127), m, g
            out[place + 52] = np.int64(100 * danger(v, card, _DOUBT) + 0.5)
            rank = _rank(loose, s, m, g)
            if rank < best:
                best, left, saved, melding, gins = rank, loose, s, m, g
        _write_outlook(left, saved, melding, gins, out, at)
        _write_outlook(left, saved, melding, gins, out, at + 4)
        return
    now = np.int64(deadwood(hand, longest))
    saved, melding, gins = savings(hand, now, unseen, _DRAWS, tally, longest)
    _write_outlook(now, saved, melding, gins, out, at)
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
            s, m, g = savings(rest, loose, unseen, _DRAWS, tally, longest)
            rank = _rank(loose, s, m, g)
            if rank < best:
                best, now, saved, melding, gins = rank, loose, s, m, g
    _write_outlook(now, saved, melding, gins, out, at + 4)


@kernel
def _rank(left, saved, melding, gins):
    """Return a number by which hands are compared, less being better: the same for hands that differ in suits only."""
    return (((20 * left - 3 * saved) * 64 - melding) * 64 - gins) * 128 + left


@standalone(types.void(VIEW_TYPE, RULES_TYPE, types.int8[::1]))
def _history(v, rules, out):
    """Write history-v1."""
    for i in range(_SUITS * _HISTORY_SUIT + 2 * _TURNS):
        out[i] = 0
    rest = v["hand"]
    while rest != 0:
        card = lowest(rest)
        rest &= rest - 1
        out[card + _SUIT[card] * (_HISTORY_SUIT - 13)] = 1
    if v["n_pile"] > 0:
        card = np.int64(v["top"])
        out[13 + card + _SUIT[card] * (_HISTORY_SUIT - 13)] = 1
    turn, first = np.int64(v["turn"]), np.int64(v["first"])
    common = _SUITS * _HISTORY_SUIT
    for back in range(_TURNS):
        if back >= turn:
            break
        place = (turn - 1 - back) & (RING - 1)
        drawn, thrown = np.int64(v["draws"][place]), np.int64(v["throws"][place])
        out[common + back] = -1 if (first + turn - 1 - back) & 1 else 1
        out[common + _TURNS + back] = 1
        if drawn >= FROM_PILE:
            out[common + _TURNS + back] = 2
            drawn -= FROM_PILE
        if drawn != NO_CARD:
            suit = _SUIT[drawn]
            out[suit * _HISTORY_SUIT + 26 + back] = drawn - 13 * suit + 1
        if thrown != NO_CARD:
            suit = _SUIT[thrown]
            out[suit * _HISTORY_SUIT + 26 + _TURNS + back] = thrown - 13 * suit + 1
    _scalars(v, rules, _deadwood(v, rules), out, common + 2 * _TURNS)


@kernel
def _mark(cards, plane, out):
    """Write a mask of cards to a plane of table-v1 that holds zeros."""
    rest = np.int64(cards)
    while rest != 0:
        card = lowest(rest)
        rest &= rest - 1
        out[card + _BLOCK[card] * (_N_TABLE_PLANES - 1) + 13 * plane] = 1


@standalone(types.void(VIEW_TYPE, RULES_TYPE, types.int8[::1]))
def _table(v, rules, out):
    """Write table-v1."""
    at = _SUITS * 13 * _N_TABLE_PLANES
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
    at += _N_SCALARS
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
def encode(view, rules, code, out):
    """Write the encoding with this ``code`` of what one seat may know.

    Args:
        view: A VIEW record, on turn or off; of two players, but for table-v1.
        rules: A RULES record.
        code: `Encoding.code` of one of `ENCODINGS`.
        out: int8, shape (`Encoding.size`,), contiguous, written in full.
    """
    if code == 0:
        _planes(view, rules, out)
    elif code == 1:
        _only_features(view, rules, out)
    elif code == 2:
        _history(view, rules, out)
    elif code == 3:
        _table(view, rules, out)
    else:
        _look_ahead(view, rules, out)


# --- The registry ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """A named part of an encoding."""

    name: str
    start: int
    """Index of its first value in the flat vector."""
    shape: tuple[int, ...]
    """(4, 13) for a plane (suit, rank); (4, 32) by suit and turn; (32,) by turn; () for a scalar."""
    stride: int
    """Values from one suit to the next, where the first axis is the suit."""
    scale: float
    meaning: str

    def of(self, vector: np.ndarray) -> np.ndarray:
        """Return this part of encoded vectors, shape (…, size), as an array of shape (…, *shape)."""
        return vector[..., self.index]

    @property
    def index(self) -> np.ndarray:
        """Where in the flat vector the values are: int64, of this block's shape."""
        if len(self.shape) < 2:
            return self.start + np.arange(int(np.prod(self.shape))).reshape(self.shape)
        suits, length = self.shape
        return self.start + self.stride * np.arange(suits)[:, None] + np.arange(length)


@dataclass(frozen=True, eq=False)
class Encoding:
    """What one named encoding holds, and where."""

    name: str
    code: int
    """What the kernel `encode` calls it."""
    summary: str
    suit_size: int
    """Length of each of the four suit blocks that the vector begins with."""
    layout: tuple[Block, ...]
    """Every value of the vector belongs to just one block."""
    most_players: int = 2
    """How many players of a hand it has room for."""

    @cached_property
    def size(self) -> int:
        """Length of the flat vector."""
        return sum(block.index.size for block in self.layout)

    @cached_property
    def scale(self) -> np.ndarray:
        """What to multiply with to get values about in [-1, 1]: float32, shape (size,), read-only."""
        scale = np.zeros(self.size, dtype=np.float32)
        for block in self.layout:
            scale[block.index] = block.scale
        scale.flags.writeable = False
        return scale

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        """Copies and pickles name the registry's entry."""
        return encoding, (self.name,)

    def __getitem__(self, name: str) -> Block:
        """Return the block called ``name``. Raises KeyError when there is none."""
        for block in self.layout:
            if block.name == name:
                return block
        raise KeyError(f"{self.name} has no block {name!r}: it has {[b.name for b in self.layout]}")


def _plane_blocks(parts: Sequence[Part]) -> list[Block]:
    stride = len(parts) * _RANKS
    return [
        Block(name, plane * _RANKS, (_SUITS, _RANKS), stride, scale, meaning)
        for plane, (name, scale, meaning) in enumerate(parts)
    ]


def _scalar_blocks(start: int, parts: Sequence[Part]) -> list[Block]:
    return [Block(name, start + i, (), 0, scale, meaning) for i, (name, scale, meaning) in enumerate(parts)]


def _history_blocks() -> list[Block]:
    common = _SUITS * _HISTORY_SUIT
    by_suit, by_turn = (_SUITS, _TURNS), (_TURNS,)
    plane = (_SUITS, _RANKS)
    newest = f"of the last {_TURNS} turns, the newest (perhaps in progress) first"
    return [
        Block("hand", 0, plane, _HISTORY_SUIT, 1, "own hand"),
        Block("top", _RANKS, plane, _HISTORY_SUIT, 1, "top of the discard pile"),
        Block(
            "drawn_rank", 2 * _RANKS, by_suit, _HISTORY_SUIT, 1 / 13,
            f"{newest}: rank (ace 1, king 13) of the card drawn, in its suit's block; 0 in the "
            "others, and in all where the viewer did not see the card",
        ),
        Block(
            "thrown_rank", 2 * _RANKS + _TURNS, by_suit, _HISTORY_SUIT, 1 / 13,
            f"{newest}: rank of the card discarded, in its suit's block; 0 in the others, and in "
            "all while there is none",
        ),
        Block("seat", common, by_turn, 0, 1, f"{newest}: 1 the viewer, -1 the opponent, 0 no such turn"),
        Block("source", common + _TURNS, by_turn, 0, 1 / 2, f"{newest}: 1 the stock, 2 the discard pile"),
        *_scalar_blocks(common + 2 * _TURNS, _SCALARS),
    ]  # fmt: skip


def _encodings() -> dict[str, Encoding]:
    planes = _plane_blocks(_PLANES) + _scalar_blocks(_SUITS * _N_PLANES * _RANKS, _SCALARS)
    parts = _PLANES + _CARD_FEATURES
    start = _SUITS * len(parts) * _RANKS
    features = _plane_blocks(parts) + _scalar_blocks(start, _SCALARS + _HAND_FEATURES)
    ahead = (*parts, *_OUTLOOK)
    scalars = _SCALARS + _HAND_FEATURES + _OUTLOOK_SCALARS
    outlook = _plane_blocks(ahead) + _scalar_blocks(_SUITS * len(ahead) * _RANKS, scalars)
    made = (
        ("planes-v1", "What the viewer sees, card by card.", _N_PLANES * _RANKS, planes),
        (
            "features-v1",
            "planes-v1 with per-card features that learners were seen to need.",
            len(parts) * _RANKS,
            features,
        ),
        (
            "history-v1",
            "The hand and the public events of the last turns, for sequence models.",
            _HISTORY_SUIT,
            _history_blocks(),
        ),
        (
            "table-v1",
            "What the viewer sees at a table of two to six. Seats are relative: 0 the viewer, 1 the next in turn.",
            _N_TABLE_PLANES * _RANKS,
            _plane_blocks(_TABLE_PLANES) + _scalar_blocks(_SUITS * _N_TABLE_PLANES * _RANKS, _TABLE_SCALARS),
        ),
        (
            "features-v2",
            "features-v1 with what the next draw may bring, and what the opponent may want. Costs some microseconds.",
            len(ahead) * _RANKS,
            outlook,
        ),
    )
    return {
        name: Encoding(name, code, summary, suit_size, tuple(layout), SEATS if name == "table-v1" else 2)
        for code, (name, summary, suit_size, layout) in enumerate(made)
    }


ENCODINGS: dict[str, Encoding] = _encodings()
"""Every encoding by name."""


def encoding(name: str) -> Encoding:
    """Return the encoding called ``name``. Raises ValueError when there is none."""
    if not isinstance(name, str) or name not in ENCODINGS:
        close = get_close_matches(str(name), ENCODINGS, n=1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(ENCODINGS)}"
        raise ValueError(f"there is no encoding {name!r}: {hint}")
    return ENCODINGS[name]


def encoding_for(players: int, name: str | None = None) -> Encoding:
    """Return the encoding called ``name`` for hands of so many players; by default planes-v1 for two, else table-v1.

    Raises:
        ValueError: when there is no such encoding, or it has no room for them.
    """
    found = encoding(name or ("planes-v1" if players == 2 else "table-v1"))
    if players > found.most_players:
        raise ValueError(f"encoding {found.name} is for two players, not {players}: use table-v1")
    return found


# --- The page ----------------------------------------------------------------------------------------

_PAGE = """# Encodings

<!-- Written by `python -m ginenv.encode`; tests/test_encode.py compares. Do not edit by hand. -->

An encoding turns what one seat may know (a `VIEW`) into a flat `int8` vector. Names carry a version, and a
published name never changes its meaning.

```python
import numpy as np
from ginenv.encode import encode, encoding

planes = encoding("planes-v1")
out = np.zeros(planes.size, np.int8)
encode(view, rules.record, planes.code, out)  # a kernel: call it from your own kernels too
x = out * planes.scale  # float32, about in [-1, 1]
hand = planes["hand"].of(out)  # (4, 13): suit, rank
```

- The vector begins with four **suit blocks** of equal length: spades, hearts, diamonds, clubs. Permuting the
  suits of a table permutes these blocks and changes nothing else (but for the rules that favour spades), so
  a network can use the same weights for each: `x[:, :4 * e.suit_size].reshape(-1, 4, e.suit_size)`.
- In a suit block a plane is 13 values, ace to king. The tables give the **place of its first value in the
  first suit block**; the same plane of the next suit is `suit_size` further.
- "Now" means the viewer's knowledge at this moment, on turn or off; off turn `to_act`, `can_knock`,
  `can_big_gin` and `knocks` are 0.
- Seats are the viewer and the opponent, never numbers. These encodings are for hands of two players (those of
  three-handed play and of partners included); `table-v1` is for two to six at one table.
- Values are whole numbers in the unit given; times the scale they lie about in [-1, 1].
- After a knock both hands lie on the table, and `known_opponent` shows the opponent's.
"""


def page() -> str:
    """Return docs/encodings.md: every encoding, plane by plane and scalar by scalar."""
    lines = [_PAGE]
    for e in ENCODINGS.values():
        lines += [f"## {e.name}\n", f"{e.summary} {e.size} values, suit blocks of {e.suit_size}.\n"]
        lines += ["| from | shape | name | scale | meaning |", "| ---: | --- | --- | ---: | --- |"]
        for b in e.layout:
            shape = " × ".join(map(str, b.shape)) or "1"
            lines.append(f"| {b.start} | {shape} | `{b.name}` | {_fraction(b.scale)} | {b.meaning} |")
        lines.append("")
    return "\n".join(lines)


def _fraction(scale: float) -> str:
    return "1" if scale == 1 else f"1/{round(1 / scale)}"


if __name__ == "__main__":
    print(page(), end="")
