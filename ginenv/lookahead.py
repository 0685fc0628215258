"""What the cards still unseen may do: what the next draw would save, and what the opponent may want of a discard.

Only what a seat may know goes in: masks of a VIEW.
"""

from __future__ import annotations

import numpy as np

from ginenv.cards import BIT, LANE, count
from ginenv.jit import kernel
from ginenv.melds import completed, deadwood, least_after_discard, worth

MOST_POINTS = 128
"""More than any eleven cards have."""


@kernel
def savings(hand, now, unseen, draws, tally, longest):
    """Return what the next draw, followed by its best discard, may save of a hand's deadwood.

    Args:
        hand: Mask of the cards between turns.
        now: Their least deadwood.
        unseen: Mask of the cards that may come.
        draws: How many draws count, at least 1.
        tally: int64, shape (`MOST_POINTS`,), all 0 before and after: scratch.
        longest: Longest meld allowed (C6).

    Returns:
        ``(saved, melding, gins)``: the deadwood (points) that the ``draws`` best of all next draws save together, where
        draws that save nothing count if there are not enough others; how many of the cards that may come save
        something by a meld; and how many of these bring gin.
    """
    most, n_melding, gins = 0, 0, 0
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
            n_melding += 1
            gins += saved == now
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
    return sum_, n_melding, gins


@kernel
def write_savings(saving, out, at):
    """Write what `savings` returned as three int8 from ``out[at]`` on, the points at most 127."""
    saved, melding, gins = saving
    out[at], out[at + 1], out[at + 2] = min(saved, 127), melding, gins


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
