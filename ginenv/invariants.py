"""What is true of every STATE, in whatever phase: a checker fast enough to run after each of 10^8 decisions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ginenv.cards import BIT, JOKERS, NO_CARD, count, total
from ginenv.jit import kernel
from ginenv.ledger import COLUMNS, column_home
from ginenv.melds import deadwood as natural_deadwood
from ginenv.rules import SCORINGS, SEATINGS, Rules
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
    SEATS,
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
    "cards laid off are not the defenders', or laid off on gin",
    "a defender's deadwood is out of bounds",
    "the points are not what the counts score",
    "scores, boxes and the number of hands do not fit",
    "the stock was made anew more often than the rules have it, or a hand ended where it should have been",
    "what may be laid down or off, or lies open, does not fit the phase",
    "a player has no seat or two, or who sits out holds cards",
)
"""What `broken_invariant`'s codes mean."""

_GIN_SCORING, _PENALTY = (SCORINGS.index(s) for s in ("gin", "penalty"))
_TABLE, _PARTNERS = (SEATINGS.index(s) for s in ("table", "partners"))
_KNOCK, _GIN, _BIG_GIN, _UNDERCUT, _DEAD, _OUT = (
    int(k) for k in (Kind.KNOCK, Kind.GIN, Kind.BIG_GIN, Kind.UNDERCUT, Kind.DEAD, Kind.OUT)
)


def invariants(s: np.void, rules: Rules) -> None:
    """Raise AssertionError, with a sentence, unless STATE ``s`` is sound under ``rules``."""
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
    """Return 0 when STATE ``s`` is sound, else a code: what it means stands in `BROKEN`."""
    phase, players = s["phase"], rules["players"]
    if phase > ANSWER_PHASE or (phase > OVER_PHASE and not rules["more_actions"]):
        return 1
    if s["seat"] >= players or s["dealer"] >= players or s["other_dealer"] >= players:
        return 1
    seated = 0
    for seat in range(SEATS):
        player = np.int64(s["player"][seat])
        if player >= SEATS or (rules["seating"] == _TABLE and player != seat):
            return 30
        seated |= 1 << player
        if seat >= players and (s["hand"][seat] != 0 or s["known"][seat] != 0 or s["thrown"][seat] != 0):
            return 30
    if seated != (1 << SEATS) - 1:
        return 30
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
    phase, seat, players = s["phase"], s["seat"], np.int64(rules["players"])
    n_stock, n_pile = np.int64(s["n_stock"]), np.int64(s["n_pile"])
    if n_stock + n_pile > ORDER:
        return 2
    pile = 0
    for i in range(ORDER - n_pile, ORDER):
        pile |= BIT[s["order"][i]]
    stock = 0
    for i in range(n_stock):
        stock |= BIT[s["order"][i]]
    hands, known, public, refused = 0, 0, BIT[s["upcard"]], 0
    table = s["sets"] | s["runs"] if rules["open_table"] else 0
    n = n_stock + n_pile + count(table)
    for k in range(players):
        hands |= s["hand"][k]
        known |= s["known"][k]
        public |= s["thrown"][k]
        refused |= s["refused"][k]
        n += count(s["hand"][k])
    if s["laid_first"] & ~table != 0:
        return 29
    everywhere = pile | stock | hands | table
    # Once a knock's discard lies face down, one card is nowhere.
    big = s["kind"] == _BIG_GIN
    if phase in (ARRANGE_PHASE, DEFEND_PHASE):
        big = s["knocker"] <= 1 and count(s["hand"][s["knocker"]]) > rules["cards_dealt"]
    knocked = phase >= OVER_PHASE and s["kind"] != _DEAD and not big
    if rules["open_table"] and s["kind"] == _OUT:  # by a discard face down, or without one
        knocked = n != count(rules["deck"])
    if count(everywhere) != n:
        return 3
    if everywhere & ~rules["deck"] != 0 or n != count(rules["deck"]) - (1 if knocked else 0):
        return 4
    eleven = seat if phase == DISCARD_PHASE else s["knocker"] if big else NO_SEAT
    for k in range(players):
        if s["known"][k] & ~s["hand"][k] != 0:
            return 6
        if rules["open_table"] and count(s["hand"][k]) <= rules["cards_dealt"] + (1 if k == eleven else 0):
            continue
        if count(s["hand"][k]) != rules["cards_dealt"] + (1 if k == eleven else 0):
            return 5
    if s["reshuffled"] > 0 or rules["more_actions"]:  # hands were told by what was missing (H12), or lay open
        public |= known | table
    if s["reshuffled"] > 0 and count(pile) == 0 and phase in (UPCARD_PHASE, DRAW_PHASE):
        return 7
    gone = public & ~(pile | known | table)
    if (pile | known) & ~public != 0 or (s["reshuffled"] == 0 and count(gone) > (1 if knocked else 0)):
        return 7
    if refused & ~public != 0:
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
    if s["passes"] > players or (s["passes"] < players and phase == DRAW_PHASE and s["turn"] == 0):
        return 11
    return 0


@kernel
def _broken_decision(s, rules):
    """Check what is legal in a hand in play."""
    phase, seat, turn, players = s["phase"], s["seat"], np.int64(s["turn"]), np.int64(rules["players"])
    hand, drawn, discards, knocks = s["hand"][seat], s["drawn"], s["discards"], s["knocks"]
    laid = s["laid"] != 0 and not rules["open_table"]
    if s["kind"] != 0 or s["winner"] != NO_SEAT or s["knocker"] != NO_SEAT or laid or s["melds"][0] != 0:
        return 19
    for k in range(players):
        if s["points"][k] != 0 or s["deadwood"][k] != 0:
            return 19
    if (phase == UPCARD_PHASE) != (turn == 0 and s["passes"] < players and phase != DISCARD_PHASE):
        return 11
    if turn > 0:
        last = (turn - 1) % RING
        if (s["throws"][last] == NO_CARD) != (phase == DISCARD_PHASE):
            return 18
        if phase == DISCARD_PHASE and s["draws"][last] != drawn + (FROM_PILE if s["taken"] else 0):
            return 18
        first = np.int64(s["first"])
        if first >= players or seat != (first + turn - (1 if phase == DISCARD_PHASE else 0)) % players:
            return 18
    elif seat != (s["dealer"] + 1 + s["passes"]) % players:
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
    if discards != wanted or (discards == 0 and s["loose"] == 0):  # a card that was taken may be left, to be laid off
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
    code = _broken_scores(s, rules)
    if code != 0:
        return code
    players = np.int64(rules["players"])
    if kind == _DEAD:
        if winner != NO_SEAT or knocker != NO_SEAT:
            return 20
        for k in range(players):
            if s["points"][k] != 0 or s["deadwood"][k] != 0:
                return 21
        if (s["laid"] != 0 and not rules["open_table"]) or s["melds"][0] != 0:
            return 21
        if s["turn"] >= rules["turn_limit"]:
            return 0
        if s["n_stock"] > rules["dead_stock"]:
            return 21
        return 0 if s["reshuffled"] >= rules["reshuffles"] or s["n_pile"] < 2 else 28
    if knocker >= players or knocker != s["seat"] or winner >= players or (winner != knocker) != (kind == _UNDERCUT):
        return 20
    if (s["wins"][winner] if rules["hollywood"] else s["boxes"][winner]) == 0 and rules["seating"] != _PARTNERS:
        return 20
    longest = rules["longest_meld"]
    own = np.int64(s["deadwood"][knocker])
    if kind == _OUT:
        left = np.int64(s["deadwood"][1 - knocker])
        if s["hand"][knocker] != 0 or own != 0 or left != total(s["hand"][1 - knocker]):
            return 25
        doubled = rules["rummy_doubles"] and (s["opened"] >> knocker) & 1 == 0
        points = (left + rules["gin_bonus"]) * (2 if doubled else 1)
        return 0 if s["points"][knocker] == points and s["points"][1 - knocker] == 0 else 26
    melded = 0
    for i in range(3):
        if melded & s["melds"][i] != 0:
            return 22
        melded |= s["melds"][i]
    if melded & ~s["hand"][knocker] != 0 or own != total(s["hand"][knocker] & ~melded):
        return 22
    if own > s["knock_limit"] and not rules["illegal_knocks"]:
        return 23
    if (own == 0) != (kind == _GIN or kind == _BIG_GIN):  # noqa: SIM109 - cheaper than a tuple in a kernel
        return 26
    laid, theirs, least = s["laid"], 0, own
    for k in range(players):
        if k == knocker:
            continue
        hand = s["hand"][k]
        theirs |= hand
        left, best = np.int64(s["deadwood"][k]), deadwood(hand & ~laid, longest)
        if rules["settle_by_hand"]:  # worse than the best is legal, too
            if left < best or left > total(hand & ~laid):
                return 25
        elif left != best or left > deadwood(hand, longest):
            return 25
        least = min(least, left)
    if laid & ~theirs != 0 or (own == 0 and laid != 0):
        return 24
    # Whoever wins has the least, but for a gin and, without ties, an equal count.
    if np.int64(s["deadwood"][winner]) != least or (kind == _KNOCK and least != own):
        return 20
    if rules["scoring"] == _GIN_SCORING:
        other = np.int64(s["deadwood"][1 - knocker])
        if s["points"][1 - winner] != 0:
            return 20
        if kind == _KNOCK:
            points = other - own
        elif kind == _UNDERCUT:
            points = own - other + rules["undercut_bonus"]
        else:
            points = other + (rules["gin_bonus"] if kind == _GIN else rules["big_gin_bonus"])
        return 0 if points >= 0 and s["points"][winner] == points * s["multiplier"] else 26
    for k in range(players):  # S6 and S7 have naive twins in tests/reference.py; here the signs
        if s["points"][k] % s["multiplier"] != 0:
            return 26
        if k != winner and s["points"][k] > 0:
            return 26
        if k == winner and (s["points"][k] < 0 or (rules["scoring"] == _PENALTY and s["points"][k] != 0)):
            return 26
    return 0


@kernel
def _broken_scores(s, rules):
    """Check scores, boxes and the end of the game after a hand."""
    columns = COLUMNS if rules["hollywood"] else 1
    if columns > 1:
        for place in range(2 * columns):
            if s["boxes"][place] == 0 and s["scores"][place] != 0:
                return 27
            # V2: a closed column takes no more, the next does
            more = place > 1 and s["scores"][place] > s["scores"][place - 2]
            more = more or (place > 1 and s["boxes"][place] > s["boxes"][place - 2])
            if more and column_home(s, rules, place // 2 - 1) == NO_SEAT:
                return 27
    for k in range(2):
        if s["wins"][k] > (COLUMNS if columns > 1 else 0):
            return 27
        if s["first_home"] == NO_SEAT and s["boxes"][k] < s["wins"][k]:
            return 27
    people, target = np.int64(rules["people"]), rules["target"]
    home = np.int64(s["first_home"])
    boxes, reached = 0, False
    for k in range(people):
        score = s["scores"][k]
        if rules["scoring"] == _GIN_SCORING:
            if (s["boxes"][k] == 0 and score != 0) or score < 0:
                return 27
            if rules["seating"] != _PARTNERS and columns == 1 and score < s["points"][k]:
                return 27
        elif rules["scoring"] == _PENALTY and score > s["points"][k]:
            return 27
        reached = reached or (-score if rules["scoring"] == _PENALTY else score) >= target
        boxes += np.int64(s["boxes"][k])
    if rules["seating"] == _PARTNERS and (s["scores"][0] != s["scores"][2] or s["scores"][1] != s["scores"][3]):
        return 27
    if boxes > s["hand_number"] or s["hand_number"] == 0:  # partners: two for each round of two hands
        return 27
    if target > 0 and (home != NO_SEAT) != reached:
        return 27
    if home == NO_SEAT:
        return 0
    if target == 0 or home >= people:
        return 27
    score = s["scores"][home]
    return 0 if (-score if rules["scoring"] == _PENALTY else score) >= target else 27
