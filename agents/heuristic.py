"""`heuristic`: looks one draw ahead, minds what the opponent may want, and knocks early or not at all.

A discard is judged by three things: the deadwood it leaves; what the best of the next draws would save of it, over the
cards still unseen; and the danger that the opponent melds the card. The upcard is taken when it is melded in the best
arrangement and lowers the deadwood by enough. It knocks at once in its first turns, the fewer the more cards the
opponent took up, unless so little is left that gin is near; from then on it knocks with gin only, except when a knock
is likely to end the game.

The weights were tuned, not guessed, and the knock rule is what the knock study found: see docs/strength.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents.lean import draw_or_take
from agents.protocol import Kind, NativeAgent, Option, policy
from agents.simple import repeated_discards
from ginenv.cards import BIT, LANE, POINTS, count, lowest
from ginenv.jit import kernel
from ginenv.melds import completed, deadwood, least_after_discard, least_discards, meldable, worth
from ginenv.state import BIG_GIN, DISCARD, DISCARD_PHASE, KNOCK

EARLY, UNTIL, LATE, SIGNS, CLOSE, AHEAD, DRAWS, FADE, SPREAD, DANGER, ALARM, DOUBT, GAIN, LEAST = range(14)
"""Places of the options in ``params``."""
N_PARAMS = 14

_MOST_POINTS = 128
"""More than any eleven cards have."""


@kernel
def savings(hand, now, unseen, draws, tally, longest):
    """Return the mean deadwood that the ``draws`` best of all next draws save, each followed by its best discard.

    Draws that save nothing count where there are not enough others.

    Args:
        hand: Mask of the cards between turns.
        now: Their least deadwood.
        unseen: Mask of the cards that may come.
        draws: How many draws count, at least 1.
        tally: int64, shape (128,), all 0 before and after: scratch.
        longest: Longest meld allowed (C6).
    """
    most = 0
    melding = unseen & completed(hand)
    todo = melding
    while todo != 0:
        bit = todo & -todo
        todo &= todo - 1
        drawn = hand | bit
        saved = now - least_after_discard(drawn, deadwood(drawn, longest), longest)
        if saved > 0:
            tally[saved] += 1
            most = max(most, saved)
    # Any other card can only take the place of a dearer loose one.
    others, dear = unseen & ~melding, now - least_after_discard(hand, now, longest)
    for saved in range(1, dear):
        tally[saved] += count(others & worth(dear - saved) & ~worth(dear - saved + 1))
    sum_, left = 0, np.int64(draws)
    for saved in range(max(most, dear - 1), 0, -1):
        n = min(tally[saved], left)
        sum_ += n * saved
        left -= n
        tally[saved] = 0
    return sum_ / draws


@kernel
def _chance(card, known, unseen, hidden):
    """Return the chance that the opponent holds a card (mask; 0 for no such card), by what lies open alone."""
    if known & card != 0:
        return 1.0
    return hidden if unseen & card != 0 else 0.0


@kernel
def danger(view, card, doubt):
    """Return how likely the opponent can meld ``card``: about the number of pairs it completes that they hold.

    A pair that some other card would have completed is unlikely when they refused or threw that one: it counts times
    ``doubt``.
    """
    known, unseen = view["known"][1], view["unseen"]
    hidden = np.float64(np.int64(view["cards"][1]) - count(known)) / max(1, count(unseen))
    gone = view["refused"][1] | view["thrown"][1]
    bit = BIT[card]
    suit = card // 13
    # Sets: each pair of the other three of its rank; the third would have completed it as well.
    rest = (0x0001000100010001 << (card - 13 * suit)) & ~bit
    a = rest & -rest
    rest &= rest - 1
    b, c = rest & -rest, rest & (rest - 1)
    chance_a, chance_b = _chance(a, known, unseen, hidden), _chance(b, known, unseen, hidden)
    chance_c = _chance(c, known, unseen, hidden)
    sum_ = chance_a * chance_b * (doubt if gone & c != 0 else 1.0)
    sum_ += chance_a * chance_c * (doubt if gone & b != 0 else 1.0)
    sum_ += chance_b * chance_c * (doubt if gone & a != 0 else 1.0)
    # Runs: two below, one on each side, two above.
    lane = LANE << (16 * suit)
    below_1 = _chance((bit >> 1) & lane, known, unseen, hidden)
    below_2 = _chance((bit >> 2) & lane, known, unseen, hidden)
    above_1 = _chance((bit << 1) & lane, known, unseen, hidden)
    above_2 = _chance((bit << 2) & lane, known, unseen, hidden)
    sum_ += below_1 * below_2 * (doubt if gone & (bit >> 3) & lane != 0 else 1.0)
    sum_ += below_1 * above_1
    sum_ += above_1 * above_2 * (doubt if gone & (bit << 3) & lane != 0 else 1.0)
    return min(sum_, 1.0)


@kernel
def judge_discards(view, rules, params, allowed, left, cards, scores):
    """Judge the discards of ``allowed``: in points of deadwood, less is better; the best one first.

    Args:
        view: A VIEW record of a seat that has to discard.
        rules: A RULES record.
        params: Of `heuristic`.
        allowed: Mask of the discards in question, not empty.
        left: The least deadwood that any of them leaves.
        cards: int64, shape (52,), written.
        scores: float64, shape (52,), written.

    Returns:
        How many are written: those that leave ``SPREAD`` more than the least are not.
    """
    hand, unseen, longest = view["hand"], view["unseen"], rules["longest_meld"]
    now = np.int64(view["mid_deadwood"])
    turn = np.float64(view["own_turn"])
    ahead = params[AHEAD] * params[FADE] ** (turn - 1.0)
    alarm = params[DANGER] + params[ALARM] * turn
    tally = np.zeros(_MOST_POINTS, np.int64)
    melding = meldable(hand)
    n = 0
    todo = allowed
    while todo != 0:
        bit = todo & -todo
        todo &= todo - 1
        card = lowest(bit)
        if now - POINTS[card] > left + params[SPREAD]:  # it cannot leave less than that
            continue
        rest = hand & ~bit
        loose = deadwood(rest, longest) if bit & melding != 0 else now - POINTS[card]
        if loose > left + params[SPREAD]:
            continue
        score = loose - ahead * savings(rest, loose, unseen, params[DRAWS], tally, longest)
        score += alarm * danger(view, card, params[DOUBT])
        place = n
        while place > 0 and scores[place - 1] > score:  # insertion keeps the best in front
            cards[place], scores[place] = cards[place - 1], scores[place - 1]
            place -= 1
        cards[place], scores[place] = card, score
        n += 1
    return n


@kernel
def wants_knock(view, rules, params, left):
    """Return whether to knock with deadwood ``left``, which must be legal."""
    if left == 0:
        return True
    turn = view["own_turn"] + params[SIGNS] * count(view["known"][1])
    if turn < params[UNTIL] and left >= params[LEAST]:
        return left <= params[EARLY]
    target = np.int64(rules["target"])
    missing = target - np.int64(view["scores"][0])  # none with a first column that is closed (V2)
    if target > 0 and 0 < missing <= params[CLOSE]:
        return left <= params[EARLY]
    return left <= params[LATE]


@policy
def choose(view, rules, params, key):
    """Choose by the evaluation above; equal scores go to the first card. ``key`` is not used."""
    if view["phase"] != DISCARD_PHASE:
        return draw_or_take(view, rules, params[GAIN])
    if (view["choices"] >> BIG_GIN) & 1 == 1:
        return BIG_GIN
    allowed = view["discards"] & ~repeated_discards(view)
    if allowed == 0:
        allowed = view["discards"]
    least, left = least_discards(view["hand"], np.int64(view["mid_deadwood"]), allowed, rules["longest_meld"])
    knocks = view["knocks"] & least
    if knocks != 0 and wants_knock(view, rules, params, left):
        return KNOCK + lowest(knocks)
    cards, scores = np.empty(52, np.int64), np.empty(52, np.float64)
    judge_discards(view, rules, params, allowed, left, cards, scores)
    return DISCARD + cards[0]


def params_of(options: Mapping[str, Any]) -> np.ndarray:
    """Return the options as the policy wants them: float64, shape (14,)."""
    return np.array([float(options[name]) for name in OPTIONS])


def _make(spec: str, options: Mapping[str, Any]) -> NativeAgent:
    return NativeAgent(spec, choose, params_of(options))


OPTIONS = {
    "early": Option(10, "knock with at most this deadwood before own turn `until`", 0, 100),
    "until": Option(6, "own turn from which `late` holds", 0, 1000),
    "late": Option(0, "knock with at most this deadwood from then on (0: gin only)", 0, 100),
    "signs": Option(1.2, "turns by which each card the opponent took and holds brings `until` nearer", -100, 100),
    "close": Option(15, "points from the target at which `early` holds to the end", 0, 10_000),
    "ahead": Option(0.75, "weight of the deadwood that the next draws save, on the first turn", 0, 1000),
    "draws": Option(5, "how many of the best next draws count", 1, 52),
    "fade": Option(0.975, "factor on that weight with every own turn", 0, 10),
    "spread": Option(5, "discards that leave this much more than the least are looked at", 0, 100),
    "danger": Option(1.45, "points that a card costs which the opponent is sure to meld", 0, 1000),
    "alarm": Option(0.12, "what is added to that with every own turn", -100, 100),
    "doubt": Option(0.05, "factor on a pair whose other completion they let go", 0, 1),
    "gain": Option(2.6, "deadwood that the upcard must save at least", -100, 100),
    "least": Option(4, "before `until`, knock early with at least this: with less, gin is near", 0, 100),
}

AGENT = Kind("looks one draw ahead, fears the opponent's pairs, knocks early or not at all", _make, OPTIONS)
