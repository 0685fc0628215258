"""`heuristic`: looks one draw ahead, minds what the opponent may want, and knocks early or not at all.

A discard is judged by three things: the deadwood it leaves; the deadwood that the next draws would leave, over the
cards still unseen (the mean of the best ones, since a draw that does not help is thrown away again); and the danger
that the opponent melds the card. The upcard is taken when it is melded in the hand's best arrangement and lowers its
deadwood.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents.protocol import Kind, NativeAgent, Option, policy
from agents.simple import repeated_discards
from ginenv.cards import BIT, LANE, count, lowest
from ginenv.jit import kernel
from ginenv.melds import deadwood, least_discards, meldable
from ginenv.state import BIG_GIN, DISCARD, DISCARD_PHASE, DRAW, KNOCK, PASS, TAKE

EARLY, UNTIL, LATE, AHEAD, FADE, BEST_DRAWS, SPREAD, DANGER, DOUBT = range(9)
"""Places of the options in ``params``."""


@kernel
def best_after_draws(hand, unseen, n_best, longest):
    """Return the mean deadwood after the ``n_best`` best of all next draws, each followed by its best discard.

    Args:
        hand: Mask of the cards between turns.
        unseen: Mask of the cards that may come.
        n_best: How many draws count, at least 1.
        longest: Longest meld allowed (C6).
    """
    now = deadwood(hand, longest)
    _, less = least_discards(hand, now, hand, longest)  # what the hand leaves without its worst card
    tally = np.zeros(101, np.int64)
    todo = unseen
    while todo != 0:
        bit = todo & -todo
        todo &= todo - 1
        drawn = hand | bit
        if meldable(drawn) & bit != 0:
            _, left = least_discards(drawn, deadwood(drawn, longest), drawn, longest)
        else:  # it melds with nothing: throw it away, or keep it for a dearer card
            left = min(now, less + min((count(bit - 1) & 15) + 1, 10))
        tally[left] += 1
    wanted = min(np.int64(n_best), count(unseen))
    if wanted == 0:
        return np.float64(now)
    total, left = 0, wanted
    for points in range(101):
        n = min(tally[points], left)
        total += n * points
        left -= n
        if left == 0:
            break
    return total / wanted


@kernel
def _chance(card_bit, view, hidden):
    """Return the chance that the opponent holds a card, by what lies open alone."""
    if view["known"][1] & card_bit != 0:
        return 1.0
    return hidden if view["unseen"] & card_bit != 0 else 0.0


@kernel
def danger(view, card, doubt):
    """Return how likely the opponent can meld ``card``: about the number of pairs it completes that they hold.

    A pair that some other card would have completed is unlikely when they refused or threw that one: it counts times
    ``doubt``.
    """
    unknown = np.float64(np.int64(view["cards"][1]) - count(view["known"][1]))
    hidden = unknown / max(1, count(view["unseen"]))
    gone = view["refused"][1] | view["thrown"][1]
    suit, rank = card // 13, card % 13
    bit = BIT[card]
    sum_ = 0.0
    # Sets: each pair of the other three of its rank; the third card left would have completed it as well.
    for first in range(4):
        for second in range(first + 1, 4):
            if first == suit or second == suit:
                continue
            chance = _chance(BIT[first * 13 + rank], view, hidden) * _chance(BIT[second * 13 + rank], view, hidden)
            other = BIT[(6 - first - second - suit) * 13 + rank]
            sum_ += chance * (doubt if gone & other != 0 else 1.0)
    # Runs: two below, one on each side, two above.
    lane = LANE << (16 * suit)
    for low in range(-2, 1):
        start = rank + low
        if start < 0 or start + 2 > 12:
            continue
        run = ((7 << start) << (16 * suit)) & lane
        pair = run & ~bit
        chance = _chance(pair & -pair, view, hidden) * _chance(pair & (pair - 1), view, hidden)
        ends = 0
        if low == -2 and start > 0:
            ends = 1 << (start - 1 + 16 * suit)
        elif low == 0 and start + 3 <= 12:
            ends = 1 << (start + 3 + 16 * suit)
        sum_ += chance * (doubt if gone & ends != 0 else 1.0)
    return min(sum_, 1.0)


@kernel
def knock_limit(view, params):
    """Return the most deadwood to knock with on this turn."""
    return params[EARLY] if view["own_turn"] < params[UNTIL] else params[LATE]


@policy
def choose(view, rules, params, key):
    """Choose by the evaluation above; equal scores go to the first card. ``key`` is not used."""
    hand, longest = view["hand"], rules["longest_meld"]
    choices = view["choices"]
    if view["phase"] != DISCARD_PHASE:
        if (choices >> TAKE) & 1 == 1:
            bit = BIT[view["top"]]
            if meldable(hand | bit) & bit != 0:
                now = deadwood(hand, longest)
                # Melded in the best arrangement: without it, the eleven are worse off by more than its points.
                _, left = least_discards(hand | bit, deadwood(hand | bit, longest), hand, longest)
                if left < now and deadwood(hand | bit, longest) <= now:
                    return TAKE
        return DRAW if (choices >> DRAW) & 1 == 1 else PASS
    if (choices >> BIG_GIN) & 1 == 1:
        return BIG_GIN
    allowed = view["discards"] & ~repeated_discards(view)
    if allowed == 0:
        allowed = view["discards"]
    now = np.int64(view["mid_deadwood"])
    cards, left = least_discards(hand, now, allowed, longest)
    if left <= knock_limit(view, params) and view["knocks"] & cards != 0:
        return KNOCK + lowest(view["knocks"] & cards)
    weight = params[AHEAD] * params[FADE] ** (np.float64(view["own_turn"]) - 1.0)
    best, chosen = 1e18, np.int64(lowest(cards))
    todo = allowed
    while todo != 0:
        bit = todo & -todo
        todo &= todo - 1
        rest = hand & ~bit
        loose = deadwood(rest, longest)
        if loose > left + params[SPREAD]:
            continue
        card = lowest(bit)
        score = loose + weight * best_after_draws(rest, view["unseen"], params[BEST_DRAWS], longest)
        score += params[DANGER] * danger(view, card, params[DOUBT])
        if score < best:
            best, chosen = score, card
    return DISCARD + chosen


def _make(spec: str, options: Mapping[str, Any]) -> NativeAgent:
    return NativeAgent(spec, choose, np.array([float(options[name]) for name in OPTIONS]))


OPTIONS = {
    "early": Option(10, "knock with at most this deadwood before own turn `until`", 0, 100),
    "until": Option(4, "own turn from which `late` holds", 0, 1000),
    "late": Option(0, "knock with at most this deadwood from then on (0: gin only)", 0, 100),
    "ahead": Option(18.0, "weight of the deadwood after the next draws, on the first turn", 0, 1000),
    "fade": Option(0.9, "factor on that weight with every own turn", 0, 1),
    "draws": Option(7, "how many of the best next draws count", 1, 52),
    "spread": Option(5, "discards that leave this much more than the least are looked at", 0, 100),
    "danger": Option(10.0, "points that a card costs which the opponent is sure to meld", 0, 1000),
    "doubt": Option(0.2, "factor on a pair whose other completion they let go", 0, 1),
}

AGENT = Kind("looks one draw ahead, fears the opponent's pairs, knocks early or not at all", _make, OPTIONS)
