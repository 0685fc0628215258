"""`heuristic`: looks one draw ahead, minds what the opponent may want, and knocks early or not at all.

A discard is judged by three things: the deadwood it leaves; what the best of the next draws would save of it, over the
cards still unseen; and the danger that the opponent melds the card. The upcard is taken when it is melded in the best
arrangement and lowers the deadwood by enough. It knocks at once in its first turns, the fewer the more cards the
opponent took up, unless so little is left that gin is near; from then on it knocks with gin only, except when a knock
is likely to end the game.

The weights were tuned, not guessed: `weights/heuristic.jsonl` is the log of the search (`gin tune`), at whose centre
they stand. The knock rule is what the knock study found: see docs/strength.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents.lean import draw_or_take
from agents.protocol import Kind, NativeAgent, Option, policy
from agents.simple import repeated_discards
from ginenv.cards import POINTS, count, lowest
from ginenv.jit import kernel
from ginenv.lookahead import MOST_POINTS, danger, savings
from ginenv.melds import deadwood, least_discards, meldable
from ginenv.state import BIG_GIN, DISCARD, DISCARD_PHASE, KNOCK

EARLY, UNTIL, LATE, SIGNS, CLOSE, AHEAD, DRAWS, FADE, SPREAD, DANGER, ALARM, DOUBT, GAIN, LEAST = range(14)
"""Places of the options in ``params``."""
N_PARAMS = 14


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
    tally = np.zeros(MOST_POINTS, np.int64)
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
        saved, _, _ = savings(rest, loose, unseen, np.int64(params[DRAWS]), tally, longest)
        score = loose - ahead * saved / params[DRAWS]
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
    "until": Option(7, "own turn from which `late` holds", 0, 1000),
    "late": Option(0, "knock with at most this deadwood from then on (0: gin only)", 0, 100),
    "signs": Option(1.726, "turns by which each card the opponent took and holds brings `until` nearer", -100, 100),
    "close": Option(9, "points from the target at which `early` holds to the end", 0, 10_000),
    "ahead": Option(0.812, "weight of the deadwood that the next draws save, on the first turn", 0, 1000),
    "draws": Option(5, "how many of the best next draws count", 1, 52),
    "fade": Option(0.9468, "factor on that weight with every own turn", 0, 10),
    "spread": Option(5, "discards that leave this much more than the least are looked at", 0, 100),
    "danger": Option(1.968, "points that a card costs which the opponent is sure to meld", 0, 1000),
    "alarm": Option(0.2295, "what is added to that with every own turn", -100, 100),
    "doubt": Option(0.03016, "factor on a pair whose other completion they let go", 0, 1),
    "gain": Option(3.481, "deadwood that the upcard must save at least", -100, 100),
    "least": Option(4, "before `until`, knock early with at least this: with less, gin is near", 0, 100),
}

AGENT = Kind("looks one draw ahead, fears the opponent's pairs, knocks early or not at all", _make, OPTIONS)
