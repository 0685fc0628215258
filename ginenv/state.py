"""STATE: everything about a table in one structured record, and the numbers that name phases, actions and results.

Only `ginenv.deal` and `ginenv.step` write a STATE; agents never see one (`ginenv.view`). It has room for six seats;
two-player rules use the first two; where hands of two are played by three or four people (V5, V6) the seats from 2 up
sit out. All cards that nobody holds lie in ``order``: the stock at its low end (top at ``n_stock - 1``), the discard
pile at its high end (top at ``52 - n_pile``, so the pile grows downwards). The two never meet, since they hold 52 cards
at the most.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

SEATS = 6
RING = 64
"""Turns of the present hand that STATE remembers, the last ones of a longer hand."""
ORDER = 52

STATE = np.dtype(
    [
        ("seed", np.int64),  # of the game: every deck of it follows from the seed
        ("hand", np.int64, (SEATS,)),  # cards held, masks
        ("known", np.int64, (SEATS,)),  # of those, the ones taken from the discard pile: all know them
        ("thrown", np.int64, (SEATS,)),  # cards discarded this hand
        ("refused", np.int64, (SEATS,)),  # upcards passed over for the stock or by a pass
        ("melds", np.int64, (3,)),  # the knocker's, once laid down
        ("laid", np.int64),  # cards laid off on them
        ("discards", np.int64),  # legal discards of the seat to act, mask
        ("knocks", np.int64),  # legal discards of a knock
        ("order", np.uint8, (ORDER,)),  # stock and discard pile
        ("draws", np.uint8, (RING,)),  # by turn: the card drawn, + FROM_PILE when taken from the pile
        ("throws", np.uint8, (RING,)),  # by turn: the card discarded
        ("scores", np.int32, (SEATS,)),  # of the game so far, without boxes and bonuses
        ("points", np.int16, (SEATS,)),  # scored in this hand, penalties negative: 2 * (1000 + 200) at the most
        ("deadwood", np.uint8, (SEATS,)),  # at settlement, after layoffs
        ("boxes", np.uint16, (SEATS,)),  # hands won
        ("hand_number", np.uint16),  # hands dealt before this one
        ("turn", np.uint16),  # turns (draws) begun in this hand
        ("choices", np.uint8),  # legal actions but discards and knocks: bit a for action a < 4
        ("n_stock", np.uint8),
        ("n_pile", np.uint8),
        ("phase", np.uint8),  # a Phase
        ("seat", np.uint8),  # whose decision it is
        ("dealer", np.uint8),
        ("first", np.uint8),  # seat that took turn 0
        ("passes", np.uint8),  # refusals of the first upcard
        ("drawn", np.uint8),  # card drawn in the present turn, NO_CARD between turns
        ("mid_deadwood", np.uint8),  # least deadwood of the mover's hand with the card drawn
        ("taken", np.uint8),  # 1 when it came from the discard pile
        ("upcard", np.uint8),  # the first upcard of the hand
        ("knock_limit", np.uint8),  # of this hand
        ("multiplier", np.uint8),  # of this hand's points
        ("kind", np.uint8),  # a Kind, once the hand is over
        ("knocker", np.uint8),
        ("winner", np.uint8),  # of the hand; NO_SEAT when nobody
        ("first_home", np.uint8),  # seat that reached the target first; NO_SEAT before
        ("player", np.uint8, (SEATS,)),  # who sits at a seat; under V5 and V6 the seats from 2 up sit out
        ("other_dealer", np.uint8),  # V6: seat that deals at the partners' other table
    ],
    align=True,
)
"""One table: 512 bytes."""

NO_SEAT = 255
FROM_PILE = 64
"""Added to a card in ``draws`` that was taken from the discard pile."""


class Phase(IntEnum):
    """What the seat to act decides."""

    UPCARD = 0  # take or pass the first upcard (H2)
    DRAW = 1
    DISCARD = 2  # or knock
    OVER = 3  # the hand has ended


class Kind(IntEnum):
    """How a hand ended."""

    NONE = 0
    KNOCK = 1
    GIN = 2
    BIG_GIN = 3
    UNDERCUT = 4
    DEAD = 5


# Action ids, the same under all rules; what later rules add comes behind.
DRAW = 0  # the top of the stock
TAKE = 1  # the top of the discard pile
PASS = 2  # refuse the first upcard
BIG_GIN = 3  # declare eleven melded cards
DISCARD = 4  # + card: discard it face up
KNOCK = 56  # + card: discard it face down and knock, with gin where no deadwood is left
N_ACTIONS = 108

# For kernels, which want plain numbers.
UPCARD_PHASE, DRAW_PHASE, DISCARD_PHASE, OVER_PHASE = (int(p) for p in Phase)


def new_states(n: int) -> np.ndarray:
    """Return ``n`` empty tables: STATE, shape (n,). `ginenv.step.new_game` starts one."""
    return np.zeros(n, dtype=STATE)
