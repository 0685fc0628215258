"""One hand's result: settlement of a knock and its points (S1-S7). Kernels write the result fields of a STATE."""

from __future__ import annotations

import numpy as np
from numba import types

from ginenv.cards import count, total
from ginenv.jit import kernel, standalone
from ginenv.melds import MAX_MELDS, arrange, deadwood, defend, defend_table, is_set
from ginenv.rules import RULES_TYPE, SCORINGS
from ginenv.state import NO_SEAT, STATE_TYPE, Kind
from ginenv.wild import arrange_wild, deadwood_wild, defend_wild

_KNOCK, _GIN, _BIG_GIN, _UNDERCUT, _DEAD, _OUT = (
    int(k) for k in (Kind.KNOCK, Kind.GIN, Kind.BIG_GIN, Kind.UNDERCUT, Kind.DEAD, Kind.OUT)
)

_GIN_SCORING, _PENALTY = (SCORINGS.index(s) for s in ("gin", "penalty"))


@kernel
def score_knock(knocker_deadwood, defender_deadwood, rules):
    """Return ``(kind, points)`` of a knock with these counts, the points for whoever wins it (S1, S2)."""
    undercut = defender_deadwood < knocker_deadwood or (
        defender_deadwood == knocker_deadwood and rules["undercut_ties"] != 0
    )
    if undercut:
        return _UNDERCUT, knocker_deadwood - defender_deadwood + np.int64(rules["undercut_bonus"])
    return _KNOCK, defender_deadwood - knocker_deadwood


@standalone(types.UniTuple(types.int64, 5)(types.int64, types.int64, types.int64, RULES_TYPE, types.int64[::1]))
def _settle_wild(knocker, defender, deck, rules, melds):
    """Do as `settle_hands` where there are jokers (C8); the melds are always chosen."""
    longest = rules["longest_meld"]
    spans, laid = np.zeros(MAX_MELDS, np.int64), np.zeros(MAX_MELDS, np.int64)
    own = arrange_wild(knocker, deck, longest, melds, spans)
    if own == 0:
        loose = deadwood_wild(defender, longest)
        if count(knocker) > rules["cards_dealt"]:
            return _BIG_GIN, rules["big_gin_bonus"] + loose, 0, loose, 0
        return _GIN, rules["gin_bonus"] + loose, 0, loose, 0
    loose = defend_wild(defender, melds, spans, longest, laid)
    kind, points = score_knock(own, loose, rules)
    return kind, points, own, loose, laid[0] | laid[1] | laid[2]


@kernel
def settle_hands(knocker, defender, deck, rules, melds):
    """Settle a knock by the two hands: what both lay down, and what it scores.

    Args:
        knocker: Mask of the knocker's cards after the discard; of eleven cards for big gin (H8).
        defender: Mask of the opponent's cards.
        deck: Mask of the whole deck.
        rules: A RULES record.
        melds: int64, shape (3,): the knocker's melds. Given when ``melds[0]`` is not 0, else
            chosen and written (`ginenv.melds.arrange`).

    Returns:
        ``(kind, points, knocker_deadwood, defender_deadwood, laid)``; points, without the hand's multiplier, go to the
        knocker except for an undercut; ``laid`` is the mask of the cards laid off.
    """
    longest = rules["longest_meld"]
    if rules["jokers"]:
        return _settle_wild(knocker, defender, deck, rules, melds)
    if melds[0] == 0:
        knocker_deadwood = arrange(knocker, deck, longest, melds)
    else:
        knocker_deadwood = total(knocker & ~(melds[0] | melds[1] | melds[2]))
    if knocker_deadwood == 0:  # no layoffs on gin (H9)
        loose = deadwood(defender, longest)
        if count(knocker) > rules["cards_dealt"]:
            return _BIG_GIN, rules["big_gin_bonus"] + loose, 0, loose, 0
        return _GIN, rules["gin_bonus"] + loose, 0, loose, 0
    loose, laid = defend(defender, melds, longest)
    kind, points = score_knock(knocker_deadwood, loose, rules)
    return kind, points, knocker_deadwood, loose, laid


@standalone(
    types.Tuple((types.int64, types.int64, types.int64))(
        types.int64[::1],
        types.int64,
        types.int64,
        RULES_TYPE,
        types.int64,
        types.int64[::1],
        types.uint8[::1],
        types.int16[::1],
    )
)
def settle_table(hands, knocker, deck, rules, multiplier, melds, deadwoods, points):
    """Settle a knock among all at one table (H13), under penalty scoring (S6) or the point rules (S7).

    All others lay off on the knocker's melds as he laid them down, each as if alone: a card laid off by one is no
    part of a meld for the next, while a chain of one's own is.

    Args:
        hands: int64, shape (6,), by seat; the knocker's as for `settle_hands`.
        knocker: Seat.
        deck: Mask of the whole deck.
        rules: A RULES record.
        multiplier: Of the points (V1).
        melds: int64, shape (3,): the knocker's, as for `settle_hands`.
        deadwoods: Written: uint8, shape (6,), after layoffs.
        points: Written: int16, shape (6,), by seat; penalties are negative.

    Returns:
        ``(kind, winner, laid)``. Of several undercutters the one with the lowest count wins, among equals the next in
        turn after the knocker (S7); ``laid`` is the mask of all cards laid off.
    """
    longest, players = rules["longest_meld"], np.int64(rules["players"])
    if melds[0] == 0:
        own = np.int64(arrange(hands[knocker], deck, longest, melds))
    else:
        own = np.int64(total(hands[knocker] & ~(melds[0] | melds[1] | melds[2])))
    deadwoods[knocker] = own
    all_laid = np.int64(0)
    winner, least = np.int64(knocker), own
    seat = np.int64(knocker)
    for _ in range(players - 1):
        seat = seat + 1 if seat + 1 < players else 0
        if own == 0:  # no layoffs on gin (H9)
            deadwoods[seat] = deadwood(hands[seat], longest)
            continue
        left, laid = defend(hands[seat], melds, longest)
        deadwoods[seat] = left
        all_laid |= laid
        if left < least or (left == own and winner == knocker and rules["undercut_ties"] != 0):
            winner, least = seat, np.int64(left)
    kind = _UNDERCUT if winner != knocker else _KNOCK
    bonus = np.int64(rules["undercut_bonus"] if winner != knocker else rules["knock_bonus"])
    if own == 0:
        big = count(hands[knocker]) > rules["cards_dealt"]
        kind = _BIG_GIN if big else _GIN
        bonus = np.int64(rules["big_gin_bonus"] if big else rules["gin_bonus"])
    for seat in range(players):
        points[seat] = multiplier * _table_points(rules, kind, bonus, own, least, deadwoods[seat], seat == knocker)
    if rules["scoring"] != _PENALTY:
        points[winner] = multiplier * bonus
    return kind, winner, all_laid


@kernel
def _table_points(rules, kind, bonus, own, least, left, knocked):
    """Return what a seat scores that is left with ``left``; ``own`` is the knocker's count, ``least`` the winner's."""
    left = np.int64(left)
    if rules["scoring"] == _PENALTY:
        if kind == _UNDERCUT:
            undercut = left < own or (left == own and rules["undercut_ties"] != 0)
            if knocked:
                return -left - bonus
            return np.int64(0) if undercut else -left
        if knocked:
            return np.int64(0)
        return own - left if kind == _KNOCK else -left - bonus
    if kind == _GIN or kind == _BIG_GIN:  # noqa: SIM109 - cheaper than a tuple in a kernel
        return -2 * left
    return least - left


@standalone(types.void(STATE_TYPE, RULES_TYPE, types.int64))
def settle(s, rules, knocker):
    """Settle the hand in STATE ``s`` after ``knocker`` knocked: writes melds, laid, deadwood, points, kind and
    winner.
    """
    melds = s["melds"][:]  # a field as a plain array, as signatures have it
    if rules["scoring"] != _GIN_SCORING:
        kind, winner, laid = settle_table(
            s["hand"][:], knocker, rules["deck"], rules, s["multiplier"], melds, s["deadwood"][:], s["points"][:]
        )
        s["laid"] = laid
        s["knocker"] = knocker
        s["winner"] = winner
        s["kind"] = kind
        return
    defender = 1 - knocker
    kind, points, own, other, laid = settle_hands(s["hand"][knocker], s["hand"][defender], rules["deck"], rules, melds)
    s["laid"] = laid
    write_result(s, knocker, kind, points, own, other)


@kernel
def settle_laid(s, rules, knocker):
    """Settle the hand in STATE ``s`` by what both have laid down and off themselves; the defender's loose cards are
    ``s["loose"]``.
    """
    own, other = np.int64(s["deadwood"][knocker]), total(s["loose"])
    if own == 0:
        big = count(s["hand"][knocker]) > rules["cards_dealt"]
        kind = _BIG_GIN if big else _GIN
        points = other + (rules["big_gin_bonus"] if big else rules["gin_bonus"])
    else:
        kind, points = score_knock(own, other, rules)
    write_result(s, knocker, kind, points, own, other)


@standalone(types.void(STATE_TYPE, RULES_TYPE))
def go_out(s, rules):
    """Settle the open table in STATE ``s`` where the seat to act has no card left: it scores the value of the other
    hand, twice where it had laid nothing before this turn (V8, S8).
    """
    seat = np.int64(s["seat"])
    left = total(s["hand"][1 - seat])
    rummy = rules["rummy_doubles"] and (s["opened"] >> seat) & 1 == 0
    s["multiplier"] = 2 if rummy else 1
    write_result(s, seat, _OUT, left + rules["gin_bonus"], 0, left)


@standalone(types.void(STATE_TYPE, RULES_TYPE, types.int64))
def settle_open(s, rules, knocker):
    """Settle the open table in STATE ``s`` after a knock: the knocker lays down what melds, then the opponent melds and
    lays off on all that lies there (V8, S1, S2).
    """
    melds = s["melds"][:]
    own = arrange(s["hand"][knocker], rules["deck"], rules["longest_meld"], melds)
    sets, runs, starts = s["sets"], s["runs"], s["starts"]
    for i in range(MAX_MELDS):
        if is_set(melds[i]):
            sets |= melds[i]
        else:
            runs |= melds[i]
            starts |= melds[i] & -melds[i]
    if own == 0:
        s["hand"][knocker] = 0
        s["known"][knocker] = 0
        s["sets"], s["runs"], s["starts"] = sets, runs, starts
        if knocker == 0:
            s["laid_first"] |= melds[0] | melds[1] | melds[2]
        go_out(s, rules)
        return
    other, laid = defend_table(s["hand"][1 - knocker], sets, runs, starts)
    s["laid"] = laid
    kind, points = score_knock(own, other, rules)
    write_result(s, knocker, kind, points, own, other)


@kernel
def write_result(s, knocker, kind, points, own, other):
    """Write the result fields of STATE ``s`` but the melds and what was laid off."""
    defender = 1 - knocker
    s["deadwood"][knocker] = own
    s["deadwood"][defender] = other
    winner = defender if kind == _UNDERCUT else knocker
    s["points"][winner] = points * s["multiplier"]
    s["knocker"] = knocker
    s["winner"] = winner
    s["kind"] = kind


@kernel
def dead_hand(s):
    """Write the result of a dead hand (S5): no points, no box, nobody's."""
    s["kind"] = _DEAD
    s["winner"] = NO_SEAT
