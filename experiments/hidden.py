"""What a critic may see in training and no player ever does: the opponent's hand, and which cards the stock still has.

The order of the stock is left out on purpose: a critic that knows the next cards judges a discard by these, and the
policy, which does not, would have to average over them; so the critic does.
"""

from __future__ import annotations

import numpy as np

from ginenv.cards import BIT, count
from ginenv.encode_parts import DRAWS
from ginenv.jit import kernel
from ginenv.lookahead import MOST_POINTS, savings, write_savings
from ginenv.melds import deadwood, deadwoods_without, least_discards
from ginenv.state import DISCARD_PHASE

PLANES = ("opponent's hand", "melded in it", "its least deadwood without the card")
SUIT_SIZE = 13 * len(PLANES)
"""Values in each of four suit blocks, laid out as an encoding's."""
COMMON = (
    "the opponent's least deadwood",
    *(
        f"{whose} hand: {what}"
        for whose in ("the opponent's", "the mover's")
        for what in (
            "what the five best cards of the stock would save",
            "cards there that meld",
            "cards that bring gin",
        )
    ),
)
"""The mover's hand is without its best discard, where one is due."""
SIZE = 4 * SUIT_SIZE + len(COMMON)
DEADWOOD = 4 * SUIT_SIZE
"""Place of the opponent's least deadwood, in points."""
_SCALE = np.array([1 / 20, 1 / 60, 1 / 10, 1 / 4, 1 / 60, 1 / 10, 1 / 4], dtype=np.float32)


@kernel
def write_hidden(states, rules, out):
    """Write what is hidden from the seats to act.

    Args:
        states: STATE of two players, shape (n,).
        rules: A RULES record.
        out: int8, shape (n, SIZE), written in full.
    """
    tally = np.zeros(MOST_POINTS, np.int64)
    longest = rules["longest_meld"]
    for i in range(states.shape[0]):
        s, row = states[i], out[i]
        for j in range(SIZE):
            row[j] = 0
        hand = s["hand"][1 - s["seat"]]
        now, melded = deadwoods_without(hand, longest, row, 26, SUIT_SIZE)
        todo = hand
        while todo != 0:
            bit = todo & -todo
            todo &= todo - 1
            lane = count(bit - 1)
            place = (lane >> 4) * SUIT_SIZE + (lane & 15)
            row[place] = 1
            row[place + 13] = melded & bit != 0
        row[DEADWOOD] = now
        stock = 0
        for place in range(s["n_stock"]):
            stock |= BIT[s["order"][place]]
        write_savings(savings(hand, now, stock, DRAWS, tally, longest), row, DEADWOOD + 1)
        own = s["hand"][s["seat"]]
        now = deadwood(own, longest)
        if s["phase"] == DISCARD_PHASE:
            cards, now = least_discards(own, now, own, longest)
            own &= ~(cards & -cards)
        write_savings(savings(own, now, stock, DRAWS, tally, longest), row, DEADWOOD + 4)


@kernel
def lay_out(raw, suits, shared, at):
    """Write a row of `write_hidden` as the networks want it, as `agents.ppo.lay_out` does what is seen.

    Args:
        raw: int8, shape (SIZE,).
        suits: Written: float32, shape (4, SUIT_SIZE).
        shared: Written from ``at`` on: float32, `SUIT_SIZE` values, the mean of the suits, and those of
            `COMMON`.
        at: Where to begin in ``shared``.
    """
    least = np.int64(raw[DEADWOOD])
    for suit in range(4):
        block = raw[suit * SUIT_SIZE : (suit + 1) * SUIT_SIZE]
        for i in range(26):
            suits[suit, i] = block[i]
        for i in range(13):
            suits[suit, 26 + i] = block[i] * (np.int64(block[26 + i]) - least) * np.float32(0.1)
    for i in range(SUIT_SIZE):
        shared[at + i] = (suits[0, i] + suits[1, i] + suits[2, i] + suits[3, i]) * np.float32(0.25)
    for i in range(len(COMMON)):
        shared[at + SUIT_SIZE + i] = raw[DEADWOOD + i] * _SCALE[i]
