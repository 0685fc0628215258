"""Games: the running score, who deals next, and the bonuses at the end (H14, G1-G5, G8, V2).

In Hollywood a game is three columns. Column c has the places 2c and 2c+1 of a STATE's ``scores`` and ``boxes``, so the
first column stands where the score of any other game does. The columns close in their order, since each takes all that
the next one takes: the game ends with the third, and who was home first was so in the first.

Games from a list of results, without a STATE, are kept by `ginenv.games`.
"""

from __future__ import annotations

import numpy as np

from ginenv.jit import kernel
from ginenv.rules import DEALERS, SHUTOUTS
from ginenv.state import NO_SEAT

LONGEST_GAME = 1000
"""Hands after which a game ends by its totals even if nobody has reached the target: bad players under straight gin
might never."""

COLUMNS = 3
"""Columns of a Hollywood game."""

_LOSER, _WINNER, _ALTERNATE = (DEALERS.index(d) for d in ("loser", "winner", "alternate"))
_DOUBLE, _ADD = (SHUTOUTS.index(s) for s in ("double", "add"))


@kernel
def enter_hand(s, rules):
    """Add the finished hand in STATE ``s`` to scores and boxes, and name the next dealer."""
    s["hand_number"] += 1
    winner = s["winner"]
    if winner == NO_SEAT:  # a dead hand: no score, no box, the same dealer deals again (H11, S5)
        return
    players = rules["players"]
    if rules["hollywood"]:
        _enter_columns(s, rules, winner)
    else:
        s["boxes"][winner] += 1
        for seat in range(players):
            s["scores"][seat] += s["points"][seat]
    if s["first_home"] == NO_SEAT and rules["target"] > 0 and s["scores"][winner] >= rules["target"]:
        s["first_home"] = winner
    if rules["next_dealer"] == _WINNER:
        s["dealer"] = winner
    elif rules["next_dealer"] == _LOSER:
        s["dealer"] = 1 - winner
    elif rules["next_dealer"] == _ALTERNATE:
        s["dealer"] = (s["dealer"] + 1) % players


@kernel
def _enter_columns(s, rules, winner):
    """Enter a win in as many columns as ``winner`` has won hands, three at the most; closed ones take nothing (V2)."""
    s["wins"][winner] = min(s["wins"][winner] + 1, COLUMNS)
    for column in range(s["wins"][winner]):
        if column_home(s, rules, column) == NO_SEAT:
            s["scores"][2 * column + winner] += s["points"][winner]
            s["boxes"][2 * column + winner] += 1


@kernel
def column_home(s, rules, column):
    """Return the seat that has reached the target in a column of a Hollywood game and so closed it, or NO_SEAT."""
    for seat in range(2):
        if s["scores"][2 * column + seat] >= rules["target"]:
            return seat
    return NO_SEAT


@kernel
def game_over(s, rules):
    """Return whether the game in ``s`` has ended, by its target (G1) or its number of hands (G8)."""
    if rules["target"] > 0:
        last = column_home(s, rules, COLUMNS - 1) if rules["hollywood"] else s["first_home"]
        return last != NO_SEAT or s["hand_number"] >= LONGEST_GAME
    return s["hand_number"] >= rules["hands"]


@kernel
def final_total(s, rules, seat):
    """Return the total of ``seat`` with boxes and bonuses (G2-G4), as if the game in ``s`` ended now; in Hollywood the
    sum over the columns.
    """
    if not rules["hollywood"]:
        return _column_total(s, rules, seat, 0, s["first_home"])
    total = np.int64(0)
    for column in range(COLUMNS):
        total += _column_total(s, rules, seat, 2 * column, column_home(s, rules, column))
    return total


@kernel
def _column_total(s, rules, seat, at, home):
    """Return the total of ``seat`` in the column whose scores and boxes begin at place ``at``; ``home`` has reached the
    target there.
    """
    total, boxes = np.int64(s["scores"][at + seat]), np.int64(s["boxes"][at + seat])
    if home == seat:
        total += rules["game_bonus"]
        if s["boxes"][at + 1 - seat] == 0:
            if rules["shutout"] == _ADD:
                total += rules["shutout_bonus"]
            elif rules["shutout"] == _DOUBLE:
                # "doubles their entire total, game bonus included": the boxes are part of the total (G4)
                return 2 * (total + boxes * rules["box_bonus"])
    return total + boxes * rules["box_bonus"]


@kernel
def score_lead(s, rules):
    """Return by how many points seat 0 leads seat 1 without boxes and bonuses, in Hollywood over all columns."""
    lead = np.int64(s["scores"][0]) - np.int64(s["scores"][1])
    if rules["hollywood"]:
        for column in range(1, COLUMNS):
            lead += np.int64(s["scores"][2 * column]) - np.int64(s["scores"][2 * column + 1])
    return lead


@kernel
def margin(s, rules, seat):
    """Return by how many points ``seat`` wins the game in ``s`` (negative: loses), for two players (G5)."""
    return final_total(s, rules, seat) - final_total(s, rules, 1 - seat)


@kernel
def game_winner(s, rules):
    """Return the seat that wins the game in ``s``: the higher total, else who was home first; NO_SEAT when level
    (G5).
    """
    lead = margin(s, rules, 0)
    if lead > 0:
        return 0
    if lead < 0:
        return 1
    return np.int64(s["first_home"])
