"""STATE: everything about a table in one structured record, and the numbers that name phases, actions and results.

Only `ginenv.deal` and `ginenv.step` write a STATE; agents never see one (`ginenv.view`). It has room for six seats;
two-player rules use the first two; where hands of two are played by three or four people (V5, V6) the seats from 2 up
sit out. All cards that nobody holds lie in ``order``: the stock at its low end (top at ``n_stock - 1``), the discard
pile at its high end (top at ``ORDER - n_pile``: it grows downwards). The two never meet, since they hold 54 cards at
the most.
"""

from __future__ import annotations

from enum import IntEnum

import numba
import numpy as np

from ginenv.rules import Rules

SEATS = 6
RING = 64
"""Turns of the present hand that STATE remembers, the last ones of a longer hand."""
ORDER = 54
"""Room for all cards that nobody holds, two jokers among them."""

STATE = np.dtype(
    [
        ("seed", np.int64),  # of the game: every deck of it follows from the seed
        ("hand", np.int64, (SEATS,)),  # cards held, masks
        ("known", np.int64, (SEATS,)),  # of those, the ones that all know: taken from the discard pile, or told by a
        # reshuffle (H12)
        ("thrown", np.int64, (SEATS,)),  # cards discarded this hand
        ("refused", np.int64, (SEATS,)),  # upcards passed over for the stock or by a pass
        ("melds", np.int64, (3,)),  # the knocker's, once laid down
        ("laid", np.int64),  # cards laid off on them
        # Where melds and layoffs are actions (`ginenv.lay`): what lies on the table to be laid off on.
        ("sets", np.int64),
        ("runs", np.int64),
        ("starts", np.int64),
        ("laid_first", np.int64),  # open table: of the cards on the table, those that seat 0 laid there
        ("loose", np.int64),  # cards that the seat to act may lay down or off, 0 where it may not
        ("bluffs", np.int64),  # legal discards of a knock above the limit (I2)
        ("discards", np.int64),  # legal discards of the seat to act, mask
        ("knocks", np.int64),  # legal discards of a knock
        ("order", np.uint8, (ORDER,)),  # stock and discard pile
        ("draws", np.uint8, (RING,)),  # by turn: the card drawn, + FROM_PILE when taken from the pile
        ("throws", np.uint8, (RING,)),  # by turn: the card discarded
        # Of the game so far, without boxes and bonuses, by seat; in Hollywood by 2 * column + seat, and boxes likewise.
        ("scores", np.int32, (SEATS,)),
        ("points", np.int16, (SEATS,)),  # scored in this hand, penalties negative: 2 * (1000 + 200) at the most
        ("deadwood", np.uint8, (SEATS,)),  # at settlement, after layoffs
        ("boxes", np.uint16, (SEATS,)),  # hands won
        ("hand_number", np.uint16),  # hands dealt before this one
        ("turn", np.uint16),  # turns (draws) begun in this hand
        ("reshuffled", np.uint16),  # times that the discards became a new stock in this hand (H12)
        ("choices", np.uint8),  # legal actions but cards: bit a for action a < 4, 4 DONE, 5 ACCEPT, 6 REFUSE
        ("bound", np.uint8),  # most deadwood that the knocker's melds may leave, while they are laid down
        ("longest", np.uint8),  # longest meld (C6)
        ("opened", np.uint8),  # open table: seats that have laid something in an earlier turn, as bits (S8)
        ("down", np.uint8),  # a knock's discard that the opponent has not answered yet (I2), NO_CARD for none
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
        ("cut", np.uint8),  # V6: 1 where the limit on turns ended the first hand of this round (H15)
        ("wins", np.uint8, (2,)),  # Hollywood: hands won, counted to 3; so many columns take a seat's last win
    ],
    align=True,
)
"""One table: 576 bytes."""

STATE_TYPE = numba.from_dtype(STATE)
"""A STATE record in the signature of a kernel."""

NO_SEAT = 255
FROM_PILE = 64
"""Added to a card in ``draws`` that was taken from the discard pile."""


class Phase(IntEnum):
    """What the seat to act decides."""

    UPCARD = 0  # take or pass the first upcard (H2)
    DRAW = 1
    DISCARD = 2  # or knock
    OVER = 3  # the hand has ended
    # Only where melds, layoffs or answers are actions (`ginenv.rules.Rules.more_actions`):
    ARRANGE = 4  # the knocker lays down melds
    DEFEND = 5  # the defender melds and lays off (H9, H10)
    ANSWER = 6  # accept or refuse a knock above the limit (I2)


class Kind(IntEnum):
    """How a hand ended."""

    NONE = 0
    KNOCK = 1
    GIN = 2
    BIG_GIN = 3
    UNDERCUT = 4
    DEAD = 5
    OUT = 6  # at the open table: all cards laid or discarded (V8)


# Action ids, the same under all rules; what later rules add comes behind.
DRAW = 0  # the top of the stock
TAKE = 1  # the top of the discard pile
PASS = 2  # refuse the first upcard
BIG_GIN = 3  # declare eleven melded cards
DISCARD = 4  # + card: discard it face up
KNOCK = 56  # + card: discard it face down and knock, with gin where no deadwood is left
N_ACTIONS = 108
"""Actions of a game without more options: the size of its action space and masks."""

N_MELDS = 329
MELD = 108  # + number of a meld (`ginenv.lay.MELDS`): lay it down
LAY_ON_SET = 437  # + card: lay it off on the set of its rank
LAY_ABOVE = 489  # + card: on the run that ends just below it
LAY_BELOW = 541  # + card: on the run that begins just above it
DONE = 593  # nothing more to lay down or off
ACCEPT = 594  # a knock above the limit is to count (I2)
REFUSE = 595  # it is not: the offender plays on
BLUFF = 596  # + card: discard it face down and knock although too much deadwood is left (I2)
DISCARD_JOKER = 648  # + 0 or 1: discard that joker (C8)
KNOCK_JOKER = 650  # + 0 or 1: discard it face down and knock
N_ALL_ACTIONS = 652
"""Size of the action space and the masks where rules have more actions (`n_actions`)."""

# For kernels, which want plain numbers.
UPCARD_PHASE, DRAW_PHASE, DISCARD_PHASE, OVER_PHASE, ARRANGE_PHASE, DEFEND_PHASE, ANSWER_PHASE = (int(p) for p in Phase)


def n_actions(rules: Rules) -> int:
    """Return how many actions a game by these rules has: 108, or all there are."""
    return N_ALL_ACTIONS if rules.more_actions else N_ACTIONS


def new_states(n: int) -> np.ndarray:
    """Return ``n`` empty tables: STATE, shape (n,). `ginenv.step.new_game` starts one."""
    return np.zeros(n, dtype=STATE)
