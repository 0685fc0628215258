"""What is true of every STATE, in whatever phase: a checker fast enough to run after each of 10^8 decisions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ginenv.cards import BIT, JOKERS, NO_CARD, count, total
from ginenv.jit import kernel
from ginenv.ledger import COLUMNS, column_home
from ginenv.melds import deadwood as natural_deadwood
from ginenv.rules import Rules
from ginenv.state import (
    ANSWER_PHASE,
    ARRANGE_PHASE,
    BIG_GIN,
    DEFEND_PHASE,
    DISCARD_PHASE,
    DRAW,
    DRAW_PHASE,
    FROM_PILE,
    NO_SEAT,
    ORDER,
    OVER_PHASE,
    PASS,
    RING,
    TAKE,
    UPCARD_PHASE,
    Kind,
)
from ginenv.wild import deadwood_wild

BROKEN = (
    "",
    "seat, dealer or phase is no such thing",
    "stock and discard pile do not fit into `order`",
    "a card is in two places",
    "a card of the deck is nowhere, or one is there that is not of the deck",
    "a hand has the wrong number of cards",
    "a known card is not in the hand",
    "the cards of the pile and the known ones are not those thrown and the upcard",
    "a refused card was never on the pile",
    "the turn is past its limit",
    "the stock is smaller than a hand in play allows",
    "passes do not fit the phase",
    "the card drawn is not in the hand, or there is one between turns",
    "a card taken from the pile is not known",
    "the legal discards are not the hand's",
    "mid_deadwood is not the deadwood of the hand",
    "a knock is legal that leaves too much deadwood, or with a card that may not be discarded",
    "draw, take, pass or big gin are not what the phase allows",
    "who acts, or what is remembered of the present turn, does not fit the turn",
    "the hand has a result before its end",
    "the result names no winner, or the wrong one",
    "a dead hand scores",
    "the knocker's melds are not disjoint cards of the hand, or its deadwood is not what they leave",
    "a knock above the limit",
    "cards laid off are not the defender's, or laid off on gin",
    "the defender's deadwood is out of bounds",
    "the points are not what the counts score",
    "scores, boxes and the number of hands do not fit",
    "the stock was made anew more often than the rules have it, or a hand ended where it should have been",
    "what may be laid down or off, or lies open, does not fit the phase",
)
"""What `broken_invariant`'s codes mean."""

_KNOCK, _GIN, _BIG_GIN, _UNDERCUT, _DEAD, _OUT = (
    int(k) for k in (Kind.KNOCK, Kind.GIN, Kind.BIG_GIN, Kind.UNDERCUT, Kind.DEAD, Kind.OUT)
)


def invariants(s: np.void, rules: Rules) -> None:
    """Raise AssertionError, with a sentence, unless STATE ``s`` is sound under two-player ``rules``."""
    code = int(broken_invariant(s, rules.record))
    if code:
        fields: dict[str, Any] = {name: s[name] for name in ("seed", "hand_number", "turn", "phase", "seat")}
        where = ", ".join(f"{name} {int(value)}" for name, value in fields.items())
        raise AssertionError(f"{BROKEN[code]} (code {code}, {where})")


@kernel
def deadwood(hand, longest):
    """Return the least deadwood, of a hand with jokers, too."""
    return deadwood_wild(hand, longest) if hand & JOKERS != 0 else natural_deadwood(hand, longest)


@kernel
def broken_invariant(s, rules):
    """Return 0 when STATE ``s`` of a two-player game is sound, else a code: what it means stands in `BROKEN`."""
    phase, seat = s["phase"], s["seat"]
    if phase > ANSWER_PHASE or (phase > OVER_PHASE and not rules["more_actions"]) or seat > 1 or s["dealer"] > 1:
        return 1
    code = _broken_cards(s, rules)
    if code != 0:
        return code
    if phase == OVER_PHASE:
        return _broken_result(s, rules)
    if phase > OVER_PHASE:
        return _broken_settlement(s, rules)
    if rules["open_table"] and phase == DISCARD_PHASE:
        return _broken_turn_open(s, rules)
    return _broken_decision(s, rules)


@kernel
def _broken_cards(s, rules):
    """Check that each card is in one place, and that hands and public knowledge fit."""
    phase, seat = s["phase"], s["seat"]
    n_stock, n_pile = np.int64(s["n_stock"]), np.int64(s["n_pile"])
    if n_stock + n_pile > ORDER:
        return 2
    pile = 0
    for i in range(ORDER - n_pile, ORDER):
        pile |= BIT[s["order"][i]]
    stock = 0
    for i in range(n_stock):
        stock |= BIT[s["order"][i]]
    mine, yours = s["hand"][0], s["hand"][1]
    table = s["sets"] | s["runs"] if rules["open_table"] else 0
    everywhere = pile | stock | mine | yours | table
    # Once a knock's discard lies face down, one card is nowhere.
    big = s["kind"] == _BIG_GIN
    if phase in (ARRANGE_PHASE, DEFEND_PHASE):
        big = s["knocker"] <= 1 and count(s["hand"][s["knocker"]]) > rules["cards_dealt"]
    knocked = phase >= OVER_PHASE and s["kind"] != _DEAD and not big
    n = n_stock + n_pile + count(mine) + count(yours) + count(table)
    if rules["open_table"] and s["kind"] == _OUT:  # by a discard face down, or without one
        knocked = n != count(rules["deck"])
    if count(everywhere) != n:
        return 3
    if everywhere & ~rules["deck"] != 0 or n != count(rules["deck"]) - (1 if knocked else 0):
        return 4
    eleven = seat if phase == DISCARD_PHASE else s["knocker"] if big else NO_SEAT
    for k in range(2):
        if rules["open_table"] and count(s["hand"][k]) <= rules["cards_dealt"] + (1 if k == eleven else 0):
            continue
        if count(s["hand"][k]) != rules["cards_dealt"] + (1 if k == eleven else 0):
            return 5
    known0, known1 = s["known"][0], s["known"][1]
    if known0 & ~mine != 0 or known1 & ~yours != 0:
        return 6
    public = s["thrown"][0] | s["thrown"][1] | BIT[s["upcard"]]
    if s["reshuffled"] > 0 or rules["more_actions"]:  # hands were told by what was missing (H12), or lay open
        public |= known0 | known1 | table
    if s["reshuffled"] > 0 and count(pile) == 0 and phase in (UPCARD_PHASE, DRAW_PHASE):
        return 7
    gone = public & ~(pile | known0 | known1 | table)
    if (pile | known0 | known1) & ~public != 0 or (s["reshuffled"] == 0 and count(gone) > (1 if knocked else 0)):
        return 7
    if (s["refused"][0] | s["refused"][1]) & ~public != 0:
        return 8
    if s["reshuffled"] > rules["reshuffles"]:
        return 28
    if s["turn"] > rules["turn_limit"]:
        return 9
    if phase <= DISCARD_PHASE:
        bluffs = s["discards"] & ~s["knocks"] if rules["illegal_knocks"] else 0
        loose = s["hand"][seat] if rules["open_table"] and phase == DISCARD_PHASE else 0
        if s["loose"] != loose or s["bluffs"] != bluffs or s["down"] != NO_CARD:
            return 29
    to_draw = phase in (DRAW_PHASE, UPCARD_PHASE)
    if n_stock < rules["dead_stock"] + (1 if to_draw else 0):
        return 10
    if s["passes"] > 2 or (s["passes"] < 2 and phase == DRAW_PHASE and s["turn"] == 0):
        return 11
    return 0


@kernel
def _broken_decision(s, rules):
    """Check what is legal in a hand in play."""
    phase, seat, turn = s["phase"], s["seat"], np.int64(s["turn"])
    hand, drawn, discards, knocks = s["hand"][seat], s["drawn"], s["discards"], s["knocks"]
    laid = s["laid"] != 0 and not rules["open_table"]
    if s["kind"] != 0 or s["winner"] != NO_SEAT or s["knocker"] != NO_SEAT or laid or s["melds"][0] != 0:
        return 19
    if s["points"][0] != 0 or s["points"][1] != 0:
        return 19
    if (phase == UPCARD_PHASE) != (turn == 0 and s["passes"] < 2 and phase != DISCARD_PHASE):
        return 11
    if turn > 0:
        last = (turn - 1) % RING
        if (s["throws"][last] == NO_CARD) != (phase == DISCARD_PHASE):
            return 18
        if phase == DISCARD_PHASE and s["draws"][last] != drawn + (FROM_PILE if s["taken"] else 0):
            return 18
        first = np.int64(s["first"])
        if first > 1 or seat != (first + turn - (1 if phase == DISCARD_PHASE else 0)) % 2:
            return 18
    elif seat != (s["dealer"] + 1 + s["passes"]) % 2:
        return 18
    if phase != DISCARD_PHASE:
        if drawn != NO_CARD or s["taken"] != 0:
            return 12
        if discards != 0 or knocks != 0 or s["mid_deadwood"] != 0:
            return 14
        if phase == UPCARD_PHASE:
            choices = (1 << TAKE) | (1 << PASS)
        else:
            choices = (1 << DRAW) | ((1 << TAKE) if turn > 0 else 0)
        return 0 if s["choices"] == choices else 17
    if drawn >= NO_CARD or BIT[drawn] & hand == 0:
        return 12
    if s["taken"] > 1 or (s["taken"] == 1 and s["known"][seat] & BIT[drawn] == 0):
        return 13
    wanted = hand
    if s["taken"] and not rules["discard_taken"]:
        wanted &= ~BIT[drawn]
    if discards != wanted or discards == 0:
        return 14
    now = deadwood(hand, rules["longest_meld"])
    if s["mid_deadwood"] != now:
        return 15
    if knocks & ~discards != 0:
        return 16
    todo = knocks
    while todo != 0:
        if deadwood(hand & ~(todo & -todo), rules["longest_meld"]) > s["knock_limit"]:
            return 16
        todo &= todo - 1
    big = rules["big_gin"] != 0 and now == 0
    return 0 if s["choices"] == ((1 << BIG_GIN) if big else 0) else 17


@kernel
def _broken_turn_open(s, rules):
    """Check what is legal in mid-turn at the open table (V8)."""
    hand, discards, knocks = s["hand"][s["seat"]], s["discards"], s["knocks"]
    if s["kind"] != 0 or s["winner"] != NO_SEAT or s["knocker"] != NO_SEAT:
        return 19
    wanted = hand
    if s["taken"] and not rules["discard_taken"]:
        wanted &= ~BIT[s["drawn"]]
    if discards != wanted or discards == 0:
        return 14
    if s["mid_deadwood"] != deadwood(hand, rules["longest_meld"]):
        return 15
    if knocks & ~discards != 0 or (knocks != 0 and count(hand) < 2):
        return 16
    todo = discards
    while todo != 0 and count(hand) > 1:
        bit = todo & -todo
        todo &= todo - 1
        low = deadwood(hand & ~bit, rules["longest_meld"]) <= s["knock_limit"]
        if low != (knocks & bit != 0):
            return 16
    return 0 if s["choices"] == 0 else 17


@kernel
def _broken_settlement(s, rules):
    """Check a knock that is being settled by hand, or waits for its answer."""
    phase, seat, knocker, loose = s["phase"], s["seat"], s["knocker"], s["loose"]
    if s["kind"] != 0 or s["winner"] != NO_SEAT or s["points"][0] != 0 or s["points"][1] != 0:
        return 19
    if s["drawn"] != NO_CARD or s["taken"] != 0 or s["mid_deadwood"] != 0:
        return 12
    if s["discards"] != 0 or s["knocks"] != 0 or s["bluffs"] != 0:
        return 14
    if knocker > 1 or seat != (knocker if phase == ARRANGE_PHASE else 1 - knocker):
        return 18
    if (s["down"] != NO_CARD) != (phase == ANSWER_PHASE) or loose & ~s["hand"][seat] != 0:
        return 29
    melded = 0
    for i in range(3):
        if melded & s["melds"][i] != 0:
            return 22
        melded |= s["melds"][i]
    if melded & ~s["hand"][knocker] != 0:
        return 22
    table = s["sets"] | s["runs"]
    if phase == ANSWER_PHASE:
        if melded != 0 or loose != 0 or s["known"][knocker] != s["hand"][knocker]:
            return 29
        return 0 if s["choices"] == (1 << 5) | (1 << 6) else 17
    if phase == ARRANGE_PHASE:
        if table != melded or loose != s["hand"][knocker] & ~melded or s["known"][knocker] & melded != melded:
            return 29
        if deadwood(loose, rules["longest_meld"]) > s["bound"]:
            return 23
        return 0 if s["choices"] == ((1 << 4) if total(loose) <= s["bound"] else 0) else 17
    own = s["deadwood"][knocker]
    if own != total(s["hand"][knocker] & ~melded) or own > s["bound"]:
        return 22
    if s["laid"] & (loose | ~s["hand"][seat]) != 0 or table != (melded | s["laid"] if own > 0 else 0):
        return 24
    if s["known"][knocker] != s["hand"][knocker] or s["hand"][seat] & ~(loose | s["known"][seat]) != 0:
        return 29
    return 0 if s["choices"] == 1 << 4 else 17


@kernel
def _broken_result(s, rules):
    """Check a finished hand and the game's score."""
    kind, winner, knocker = s["kind"], np.int64(s["winner"]), np.int64(s["knocker"])
    if s["choices"] != 0 or s["discards"] != 0 or s["knocks"] != 0:
        return 17
    if s["drawn"] != NO_CARD or s["taken"] != 0 or s["mid_deadwood"] != 0:
        return 12
    if kind < _KNOCK or kind > _OUT or (kind > _DEAD and not rules["open_table"]):
        return 20
    columns = COLUMNS if rules["hollywood"] else 1
    for place in range(2 * columns):
        if s["boxes"][place] == 0 and s["scores"][place] != 0:
            return 27
        if place > 1 and (s["scores"][place] > s["scores"][place - 2] or s["boxes"][place] > s["boxes"][place - 2]):
            closed = (
                column_home(s, rules, place // 2 - 1) != NO_SEAT
            )  # V2: a closed column takes no more, the next does
            if not closed:
                return 27
    for k in range(2):
        if columns == 1 and s["scores"][k] < s["points"][k]:
            return 27
        if s["wins"][k] > (COLUMNS if columns > 1 else 0) or (
            s["first_home"] == NO_SEAT and s["boxes"][k] < s["wins"][k]
        ):
            return 27
    if np.int64(s["boxes"][0]) + np.int64(s["boxes"][1]) > s["hand_number"] or s["hand_number"] == 0:
        return 27
    target = rules["target"]
    home = np.int64(s["first_home"])
    if target > 0 and (home != NO_SEAT) != (s["scores"][0] >= target or s["scores"][1] >= target):
        return 27
    if home != NO_SEAT and (target == 0 or home > 1 or s["scores"][home] < target):
        return 27
    if kind == _DEAD:
        if winner != NO_SEAT or knocker != NO_SEAT:
            return 20
        if s["points"][0] != 0 or s["points"][1] != 0 or s["deadwood"][0] != 0 or s["deadwood"][1] != 0:
            return 21
        if (s["laid"] != 0 and not rules["open_table"]) or s["melds"][0] != 0:
            return 21
        if s["turn"] >= rules["turn_limit"]:
            return 0
        if s["n_stock"] > rules["dead_stock"]:
            return 21
        return 0 if s["reshuffled"] >= rules["reshuffles"] or s["n_pile"] < 2 else 28
    if knocker > 1 or knocker != s["seat"] or winner != (1 - knocker if kind == _UNDERCUT else knocker):
        return 20
    entered = np.int64(s["wins"][winner]) if columns > 1 else np.int64(s["boxes"][winner])
    if entered == 0 or s["points"][1 - winner] != 0:
        return 20
    defender = 1 - knocker
    own, other = np.int64(s["deadwood"][knocker]), np.int64(s["deadwood"][defender])
    if kind == _OUT:
        if s["hand"][knocker] != 0 or own != 0 or other != total(s["hand"][defender]):
            return 25
        doubled = rules["rummy_doubles"] and (s["opened"] >> knocker) & 1 == 0
        points = (other + rules["gin_bonus"]) * (2 if doubled else 1)
        return 0 if s["points"][knocker] == points else 26
    melded = 0
    for i in range(3):
        if melded & s["melds"][i] != 0:
            return 22
        melded |= s["melds"][i]
    if melded & ~s["hand"][knocker] != 0 or own != total(s["hand"][knocker] & ~melded):
        return 22
    if own > s["knock_limit"] and not rules["illegal_knocks"]:
        return 23
    laid = s["laid"]
    if laid & ~s["hand"][defender] != 0 or (own == 0 and laid != 0):
        return 24
    rest = s["hand"][defender] & ~laid
    least = deadwood(rest, rules["longest_meld"])
    if rules["settle_by_hand"]:  # worse than the best is legal, too
        if other < least or other > total(rest):
            return 25
    elif other != least or other > deadwood(s["hand"][defender], rules["longest_meld"]):
        return 25
    if kind in (_KNOCK, _UNDERCUT):
        if own == 0:
            return 26
        points = other - own if kind == _KNOCK else own - other + rules["undercut_bonus"]
    else:
        if own != 0:
            return 26
        points = other + (rules["gin_bonus"] if kind == _GIN else rules["big_gin_bonus"])
    return 0 if points >= 0 and s["points"][winner] == points * s["multiplier"] else 26
