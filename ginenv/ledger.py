"""Games: the running score, who deals next, and the bonuses at the end (H14, G1-G5, G8, V2, V5, V6).

In Hollywood a game is three columns. Column c has the places 2c and 2c+1 of a STATE's ``scores`` and ``boxes``, so the
first column stands where the score of any other game does. The columns close in their order, since each takes all that
the next one takes: the game ends with the third, and who was home first was so in the first.

Games from a list of results, without a STATE, are kept by `ginenv.games`.
"""

from __future__ import annotations

import numpy as np
from numba import types

from ginenv.jit import kernel, standalone
from ginenv.rules import DEALERS, RULES_TYPE, SCORINGS, SEATINGS, SHUTOUTS
from ginenv.state import NO_SEAT, SEATS, STATE_TYPE

LONGEST_GAME = 1000
"""Hands after which a game ends by its totals even if nobody has reached the target: bad players under straight gin
might never."""

COLUMNS = 3
"""Columns of a Hollywood game."""

_WINNER, _ALTERNATE = DEALERS.index("winner"), DEALERS.index("alternate")
_DOUBLE, _ADD = (SHUTOUTS.index(s) for s in ("double", "add"))
_PENALTY = SCORINGS.index("penalty")
_PARTNERS = SEATINGS.index("partners")


@standalone(types.void(STATE_TYPE, RULES_TYPE))
def enter_hand(s, rules):
    """Add the finished hand in STATE ``s`` to scores and boxes, and name the next dealer."""
    s["hand_number"] += 1
    if rules["seating"] == _PARTNERS:
        _enter_partners_hand(s, rules)
        return
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
    if s["first_home"] == NO_SEAT and rules["target"] > 0:
        if rules["scoring"] == _PENALTY:  # the game ends when someone has the target in penalties
            for seat in range(players):
                if s["scores"][seat] <= -rules["target"] and s["first_home"] == NO_SEAT:
                    s["first_home"] = seat
        elif s["scores"][winner] >= rules["target"]:
            s["first_home"] = winner
    _pass_deal(s, rules, winner)


@kernel
def _pass_deal(s, rules, winner):
    """Name the next dealer after a hand that ``winner`` won (H14).

    The loser of a hand of more than two is who scored the least, among equals the next in turn after the winner.
    """
    players = np.int64(rules["players"])
    if rules["next_dealer"] == _WINNER:
        s["dealer"] = winner
    elif rules["next_dealer"] == _ALTERNATE:
        s["dealer"] = (s["dealer"] + 1) % players
    elif players == 2:
        s["dealer"] = 1 - winner
    else:
        loser = (np.int64(winner) + 1) % players
        for k in range(2, players):
            seat = (np.int64(winner) + k) % players
            if s["points"][seat] < s["points"][loser]:
                loser = seat
        s["dealer"] = loser


@standalone(types.void(STATE_TYPE, RULES_TYPE))
def _enter_partners_hand(s, rules):
    """Name the next dealer of this table, and after the second hand of a round enter the net difference (V6).

    It is entered for both partners who scored more, and so is the round's one box.
    """
    if s["winner"] != NO_SEAT:
        _pass_deal(s, rules, s["winner"])
    if s["hand_number"] % 2 == 1:
        return
    net = round_net(s)
    for seat in range(4):
        gain = net if seat % 2 == 0 else -net
        if gain > 0:
            s["scores"][seat] += gain
            s["boxes"][seat] += 1
            if s["first_home"] == NO_SEAT and rules["target"] > 0 and s["scores"][seat] >= rules["target"]:
                s["first_home"] = seat


@kernel
def round_net(s):
    """Return what the players 0 and 2 scored more than the players 1 and 3 in the two hands of a round (V6)."""
    points = s["points"]
    return np.int64(points[0]) + np.int64(points[2]) - np.int64(points[1]) - np.int64(points[3])


@standalone(types.void(STATE_TYPE, RULES_TYPE, types.int64))
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


@standalone(types.int64(STATE_TYPE, RULES_TYPE, types.int64))
def final_total(s, rules, seat):
    """Return the total of ``seat`` with boxes and bonuses (G2-G4), as if the game in ``s`` ended now; in Hollywood the
    sum over the columns.
    """
    if not rules["hollywood"]:
        home = np.int64(s["first_home"])
        if rules["seating"] == _PARTNERS and home != NO_SEAT and (home ^ np.int64(seat)) & 1 == 0:
            home = np.int64(seat)  # a side is home together
        return _column_total(s, rules, seat, 0, home)
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
        if _others_won_nothing(s, rules, seat, at):
            if rules["shutout"] == _ADD:
                total += rules["shutout_bonus"]
            elif rules["shutout"] == _DOUBLE:
                # "doubles their entire total, game bonus included": the boxes are part of the total (G4)
                return 2 * (total + boxes * rules["box_bonus"])
    return total + boxes * rules["box_bonus"]


@kernel
def _others_won_nothing(s, rules, seat, at):
    """Return whether ``seat`` (under V6: its side) has won every hand entered in the column at place ``at``."""
    if rules["people"] == 2 or rules["seating"] == _PARTNERS:
        return s["boxes"][at + (seat ^ 1)] == 0
    boxes = np.int64(0)
    for other in range(rules["people"]):
        boxes += np.int64(s["boxes"][other])
    return boxes == s["boxes"][seat]


@kernel
def above_others(values, rules, seat):
    """Return by how much ``values[seat]`` is above the mean of the others', in float64; for partners (V6) above the
    other side's. Over all seats this adds up to 0.
    """
    people = np.int64(rules["people"])
    if people == 2 or rules["seating"] == _PARTNERS:
        return np.float64(np.int64(values[seat]) - np.int64(values[seat ^ 1]))
    rest = np.int64(0)
    for other in range(people):
        rest += np.int64(values[other])
    own = np.int64(values[seat])
    return own - (rest - own) / (people - 1)


@standalone(types.float64(STATE_TYPE, RULES_TYPE, types.int64))
def standing(s, rules, seat):
    """Return by how much the final total of ``seat`` is above the others' (`above_others`); for two the `margin`."""
    if rules["people"] == 2:
        return np.float64(margin(s, rules, seat))
    totals = np.zeros(SEATS, np.int64)
    for other in range(rules["people"]):
        totals[other] = final_total(s, rules, other)
    return above_others(totals, rules, seat)


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
    """Return by how many points ``seat`` wins the game in ``s`` (negative: loses), for two players or sides (G5)."""
    return final_total(s, rules, seat) - final_total(s, rules, seat ^ 1)


@standalone(types.int64(STATE_TYPE, RULES_TYPE))
def game_winner(s, rules):
    """Return the seat that wins the game in ``s``: the highest total, else who of the level ones was home first;
    NO_SEAT when level (G5). Of partners (V6) it is seat 0 or 1, for the side.
    """
    sides = 2 if rules["seating"] == _PARTNERS else np.int64(rules["people"])
    best, level, best_total = np.int64(0), False, final_total(s, rules, 0)
    for seat in range(1, sides):
        total = final_total(s, rules, seat)
        if total > best_total:
            best, level, best_total = np.int64(seat), False, total
        elif total == best_total:
            level = True
    if not level:
        return best
    home = np.int64(s["first_home"])
    if home == NO_SEAT or rules["scoring"] == _PENALTY or final_total(s, rules, home) != best_total:
        return np.int64(NO_SEAT)
    return home % 2 if rules["seating"] == _PARTNERS else home
