"""Laying down melds and laying off cards as actions: which are legal, and what they change (H9).

What lies on the table and can be laid off on is kept as three masks: ``sets``, all cards in sets (one of a rank at the
most); ``runs``, all cards in runs; ``starts``, the lowest card of each run. So where a card goes is told by three kinds
of action: on the set of its rank, above the run that ends below it, below the run that begins above it.

A STATE and the mover's VIEW have the same fields, and these kernels take either.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from ginenv.cards import BIT, JOKER, LANE, N_CARDS, count, dense, total
from ginenv.jit import kernel, standalone
from ginenv.melds import MAX_MELDS, arrange, deadwood, defend, is_set, run_from, suits_of
from ginenv.scoring import score_knock
from ginenv.state import (
    ACCEPT,
    ANSWER_PHASE,
    ARRANGE_PHASE,
    BLUFF,
    DISCARD_JOKER,
    DISCARD_PHASE,
    DONE,
    KNOCK_JOKER,
    LAY_ABOVE,
    LAY_BELOW,
    LAY_ON_SET,
    MELD,
    N_ALL_ACTIONS,
    N_MELDS,
    REFUSE,
    STATE_TYPE,
    Kind,
)
from ginenv.view import VIEW_TYPE

_ONE_RANK = 0x0001000100010001


def _all_melds() -> list[int]:
    """Return every meld there is: by rank the set of four and those of three; then by suit the runs by lowest card."""
    melds = []
    for rank in range(13):
        four = [int(BIT[13 * suit + rank]) for suit in range(4)]
        melds.append(sum(four))
        melds += [sum(four) - one for one in four]
    for suit in range(4):
        for low in range(11):
            for high in range(low + 2, 13):
                melds.append(sum(int(BIT[13 * suit + rank]) for rank in range(low, high + 1)))
    return melds


MELDS = np.array(_all_melds(), dtype=np.int64)
"""The meld of each action from `MELD` on, as a mask. Shape (329,)."""
MELD_NUMBER = {int(meld): number for number, meld in enumerate(MELDS)}
"""The place of each meld in `MELDS`."""
_UNDERCUT = int(Kind.UNDERCUT)


@kernel
def layoffs(s):
    """Return ``(on_set, above, below)``: the loose cards that may be laid off now in each way, as masks."""
    sets, runs, starts, longest = s["sets"], s["runs"], s["starts"], np.int32(s["longest"])
    loose = s["loose"] if s["phase"] != ARRANGE_PHASE else 0  # the knocker never lays off
    on_set = np.int64(0)
    if longest > 3:
        ranks = (sets | (sets >> 16) | (sets >> 32) | (sets >> 48)) & LANE
        on_set = loose & (ranks * _ONE_RANK) & ~sets
    above = (runs << 1) & ~runs & loose
    below = (starts >> 1) & ~runs & loose
    todo = starts
    while todo != 0:
        first = todo & -todo
        todo &= todo - 1
        run = run_from(first, runs, starts)
        if count(run) >= longest:  # C6
            above &= ~(run << 1)
            below &= ~(first >> 1)
    if s["phase"] == DISCARD_PHASE and loose != 0:  # the open table
        last = BIT[s["drawn"]] if s["taken"] else 0
        if count(loose) == 2 and loose & last != 0 and s["discards"] & last == 0:
            # The other card goes first only where the taken one then goes on it.
            other = loose & ~last
            on_set &= last
            above &= last | (other if (other << 1) == last else 0)
            below &= last | (other if (other >> 1) == last else 0)
    return on_set, above, below


@kernel
def _owes_the_taken_card(s, left):
    """Return whether ``left`` is just the card taken from the pile, which may not be discarded (H4): at the open table
    no turn could end with it.
    """
    return s["phase"] == DISCARD_PHASE and s["taken"] != 0 and left == BIT[s["drawn"]] and s["discards"] & left == 0


@kernel
def _meld_is_legal(s, number):
    """Return whether the meld of this number may be laid down now.

    While the knocker arranges, what is still loose must leave a way to stay within the limit.
    """
    loose, meld, longest = s["loose"], MELDS[number], np.int32(s["longest"])
    if meld & ~loose != 0 or count(meld) > longest or _owes_the_taken_card(s, loose & ~meld):
        return False
    return s["phase"] != ARRANGE_PHASE or deadwood(loose & ~meld, longest) <= s["bound"]


@standalone(types.boolean(STATE_TYPE, types.int64), types.boolean(VIEW_TYPE, types.int64))
def is_legal_lay(s, action):
    """Return whether ``action``, one behind the 108 of every game, is legal for the seat to act."""
    if action >= N_ALL_ACTIONS:
        return False
    if action >= KNOCK_JOKER:
        return s["knocks"] & BIT[JOKER + action - KNOCK_JOKER] != 0
    if action >= DISCARD_JOKER:
        return s["discards"] & BIT[JOKER + action - DISCARD_JOKER] != 0
    if action >= BLUFF:
        return s["bluffs"] & BIT[action - BLUFF] != 0
    if action >= DONE:
        return (s["choices"] >> (4 + action - DONE)) & 1 == 1
    if action < LAY_ON_SET:
        return _meld_is_legal(s, action - MELD)
    on_set, above, below = layoffs(s)
    if action < LAY_ABOVE:
        return on_set & BIT[action - LAY_ON_SET] != 0
    if action < LAY_BELOW:
        return above & BIT[action - LAY_ABOVE] != 0
    return below & BIT[action - LAY_BELOW] != 0


@standalone(types.void(STATE_TYPE, types.int8[::1]), types.void(VIEW_TYPE, types.int8[::1]))
def write_lays(s, mask):
    """Write the legal actions behind the 108 of every game to ``mask``: int8, shape (`N_ALL_ACTIONS`,)."""
    for number in range(N_MELDS):
        mask[MELD + number] = _meld_is_legal(s, number)
    on_set, above, below = layoffs(s)
    on_set, above, below, bluffs = dense(on_set), dense(above), dense(below), dense(s["bluffs"])
    for card in range(N_CARDS):
        mask[LAY_ON_SET + card] = (on_set >> card) & 1
        mask[LAY_ABOVE + card] = (above >> card) & 1
        mask[LAY_BELOW + card] = (below >> card) & 1
        mask[BLUFF + card] = (bluffs >> card) & 1
    for i in range(2):
        mask[DISCARD_JOKER + i] = s["discards"] & BIT[JOKER + i] != 0
        mask[KNOCK_JOKER + i] = s["knocks"] & BIT[JOKER + i] != 0
    for i in range(3):
        mask[DONE + i] = (s["choices"] >> (4 + i)) & 1


@kernel
def put_meld(s, meld):
    """Put a meld, of loose cards, on the table of STATE ``s``."""
    if is_set(meld):
        s["sets"] |= meld
    else:
        s["runs"] |= meld
        s["starts"] |= meld & -meld
    s["loose"] &= ~meld


@kernel
def put_card(s, action):
    """Lay a loose card off where ``action`` says; return the card's mask."""
    if action < LAY_ABOVE:
        bit = BIT[action - LAY_ON_SET]
        s["sets"] |= bit
    elif action < LAY_BELOW:
        bit = BIT[action - LAY_ABOVE]
        s["runs"] |= bit
    else:
        bit = BIT[action - LAY_BELOW]
        s["runs"] |= bit
        s["starts"] = (s["starts"] & ~(bit << 1)) | bit
    s["loose"] &= ~bit
    return bit


def table_melds(s: Any) -> list[int]:
    """Return the melds on the table that can be laid off on, of a STATE or a VIEW, as masks: sets, then runs."""
    sets, starts = int(s["sets"]), int(s["starts"])
    by_rank = [sets & (_ONE_RANK << rank) for rank in range(13)]
    runs = [int(run_from(int(bit), int(s["runs"]), starts)) for bit in BIT if starts & int(bit)]
    return [meld for meld in by_rank if meld] + runs


# --- What the automatic settlement would do, as actions ------------------------------------------------


@kernel
def _table_melds(s, melds):
    """Write the melds on the table, three at the most, to ``melds``: int64, shape (3,), 0 for none."""
    n = 0
    for i in range(MAX_MELDS):
        melds[i] = 0
    sets, starts = s["sets"], s["starts"]
    while sets != 0:
        rank = count((sets & -sets) - 1) & 15
        melds[n] = sets & (_ONE_RANK << rank)
        sets &= ~melds[n]
        n += 1
    while starts != 0:
        melds[n] = run_from(starts & -starts, s["runs"], s["starts"])
        starts &= starts - 1
        n += 1


@kernel
def automatic_action(v, rules):
    """Return what the automatic settlement would do next in VIEW ``v`` of the seat to act, for who does not know these
    phases: the knocker's best arrangement, the defender's best melds and layoffs, and no bluff accepted that does not
    pay.

    Args:
        v: A VIEW record in one of the phases from ARRANGE on.
        rules: A RULES record.
    """
    longest, loose = rules["longest_meld"], v["loose"]
    melds = np.zeros(MAX_MELDS, np.int64)
    if v["phase"] == ANSWER_PHASE:
        own = arrange(v["known"][1], rules["deck"], longest, melds)
        other, _ = defend(v["hand"], melds, longest)
        return ACCEPT if score_knock(own, other, rules)[0] == _UNDERCUT else REFUSE
    if v["phase"] == ARRANGE_PHASE:
        arrange(loose, rules["deck"] & ~(v["hand"] & ~loose), longest, melds)
        for number in range(N_MELDS):
            if melds[0] == MELDS[number]:
                return MELD + number
        return DONE
    _table_melds(v, melds)
    best, _ = defend(loose, melds, longest)
    if best == total(loose):
        return DONE
    # Any first step of a best line will do: one after which the best is as good.
    for number in range(N_MELDS):
        if _meld_is_legal(v, number) and defend(loose & ~MELDS[number], melds, longest)[0] == best:
            return MELD + number
    for action in range(LAY_ON_SET, DONE):
        if not is_legal_lay(v, action):
            continue
        bit = BIT[(action - LAY_ON_SET) % N_CARDS]
        for i in range(MAX_MELDS):
            fits = (action < LAY_ABOVE) == is_set(melds[i]) and melds[i] != 0
            if action < LAY_ABOVE:
                fits = fits and suits_of(melds[i], count(bit - 1) & 15) != 0
            elif action < LAY_BELOW:
                fits = fits and (bit >> 1) & melds[i] != 0
            else:
                fits = fits and (bit << 1) & melds[i] != 0
            if fits:
                before = melds[i]
                melds[i] |= bit
                left = defend(loose & ~bit, melds, longest)[0]
                melds[i] = before
                if left == best:
                    return action
    return DONE
