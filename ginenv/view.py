"""VIEW: what one seat may know, and the only door out of STATE; and worlds sampled from a VIEW.

Seats in a VIEW are relative: 0 is the viewer, 1 the next in turn, up to 5 for six players. Nothing in a VIEW depends on
a card that the viewer has not seen: the property test in tests/test_view.py permutes what is hidden and compares bytes.
"""

from __future__ import annotations

import numba
import numpy as np
from numba import types

from ginenv.cards import BIT, NO_CARD, count, lowest
from ginenv.jit import kernel, standalone
from ginenv.ledger import COLUMNS
from ginenv.rng import below
from ginenv.rules import RULES_TYPE, SEATINGS
from ginenv.state import (
    DISCARD_PHASE,
    FROM_PILE,
    NO_SEAT,
    ORDER,
    OVER_PHASE,
    RING,
    SEATS,
    STATE_TYPE,
    Kind,
)

VIEW = np.dtype(
    [
        ("hand", np.int64),  # own cards
        ("known", np.int64, (SEATS,)),  # cards that a seat holds as all know: taken from the pile, or see H12
        ("thrown", np.int64, (SEATS,)),  # cards that a seat discarded this hand
        ("refused", np.int64, (SEATS,)),  # upcards that a seat passed over
        ("in_pile", np.int64),  # cards in the discard pile
        ("unseen", np.int64),  # cards in the stock or in another hand, for all the viewer knows
        ("sets", np.int64),  # melds on the table that can be laid off on, as in STATE (`ginenv.lay`)
        ("runs", np.int64),
        ("starts", np.int64),
        ("laid", np.int64),  # open table: of the cards on the table, those that the viewer laid there; else 0
        ("loose", np.int64),  # own cards that may be laid down or off; 0 off turn
        ("bluffs", np.int64),  # legal discards of a knock above the limit (I2); 0 off turn
        ("discards", np.int64),  # legal discards; 0 off turn
        ("knocks", np.int64),  # legal discards of a knock; 0 off turn
        ("pile", np.uint8, (ORDER,)),  # the discard pile from the bottom up, NO_CARD behind its top
        ("draws", np.uint8, (RING,)),  # by turn % RING: card drawn (+ FROM_PILE), NO_CARD where not seen
        ("throws", np.uint8, (RING,)),  # by turn % RING: card discarded, NO_CARD for none yet
        ("scores", np.int32, (SEATS,)),  # in Hollywood by 2 * column + relative seat, and boxes likewise
        ("boxes", np.uint16, (SEATS,)),
        ("cards", np.uint8, (SEATS,)),  # how many cards a seat holds
        ("hand_number", np.uint16),
        ("turn", np.uint16),  # turns begun in this hand
        ("reshuffled", np.uint16),  # times that the discards became a new stock in this hand (H12)
        ("own_turn", np.uint16),  # the viewer's turns begun in this hand
        ("choices", np.uint8),  # legal actions but cards, bits as in STATE; 0 off turn
        ("opened", np.uint8),  # open table: relative seats that have laid something in an earlier turn, as bits (S8)
        ("bound", np.uint8),  # most deadwood that the knocker's melds may leave, while they are laid down
        ("longest", np.uint8),  # longest meld (C6)
        ("n_stock", np.uint8),
        ("n_pile", np.uint8),
        ("top", np.uint8),  # top of the discard pile, NO_CARD when there is none
        ("phase", np.uint8),
        ("players", np.uint8),
        ("mover", np.uint8),  # relative seat to act
        ("dealer", np.uint8),  # relative
        ("first", np.uint8),  # relative seat that took turn 0
        ("passes", np.uint8),
        ("drawn", np.uint8),  # card drawn in the present turn, NO_CARD when there is none or the viewer did not see it
        ("mid_deadwood", np.uint8),  # least deadwood of one's hand with the card drawn, when a discard is due
        ("taken", np.uint8),  # 1 when the mover's card came from the discard pile
        ("upcard", np.uint8),  # the first upcard of the hand
        ("knock_limit", np.uint8),
        ("multiplier", np.uint8),
        ("kind", np.uint8),  # a Kind, once the hand is over
        ("knocker", np.uint8),  # relative, NO_SEAT when none
        ("wins", np.uint8, (2,)),  # Hollywood: hands won, counted to 3; else 0
    ],
    align=True,
)
"""One seat's knowledge of a table."""
VIEW_TYPE = numba.from_dtype(VIEW)
"""A VIEW record in the signature of a kernel."""

_DEAD = int(Kind.DEAD)
_THREE_HANDED = SEATINGS.index("three_handed")


@kernel
def relative_seat(seat, viewer, players):
    """Return ``seat`` as ``viewer`` counts: 0 is the viewer, 1 the next in turn (no division: this is a hot path)."""
    steps = np.int64(seat) - np.int64(viewer)
    return steps + players if steps < 0 else steps


@standalone(types.void(STATE_TYPE, RULES_TYPE, types.int64, VIEW_TYPE))
def look(s, rules, seat, v):
    """Write into VIEW ``v`` what ``seat`` may know of STATE ``s``.

    When a knock has ended the hand both hands lie on the table, so ``known`` holds them whole; the knocker's last
    discard stays face down.
    """
    # A hot path: loops of fixed length and no divisions, branches only where they can be foretold.
    players = np.int64(rules["players"])
    phase = s["phase"]
    mover = relative_seat(s["seat"], seat, players)
    shown = phase == OVER_PHASE and s["kind"] != _DEAD
    own = s["hand"][seat]
    seen = own | s["sets"] | s["runs"]
    in_pile = BIT[s["upcard"]]
    other = np.int64(seat)
    for k in range(SEATS):  # all at once and then the few: short stores of fixed length are the cheapest
        v["known"][k] = 0
        v["thrown"][k] = 0
        v["refused"][k] = 0
        v["scores"][k] = 0
        v["boxes"][k] = 0
        v["cards"][k] = 0
    for k in range(players):
        known = s["hand"][other] if shown else s["known"][other]
        seen |= known
        in_pile |= s["thrown"][other]
        v["known"][k] = known
        v["thrown"][k] = s["thrown"][other]
        v["refused"][k] = s["refused"][other]
        v["scores"][k] = s["scores"][other]
        v["boxes"][k] = s["boxes"][other]
        if shown:
            v["cards"][k] = count(known)  # eleven after big gin
        elif rules["open_table"]:
            v["cards"][k] = count(s["hand"][other])  # told by what was laid down
        else:  # told by the phase, never counted from hidden cards: only the mover in mid-turn holds one more
            v["cards"][k] = rules["cards_dealt"] + (1 if k == mover and phase == DISCARD_PHASE else 0)
        other = other + 1 if other + 1 < players else 0
    if rules["seating"] == _THREE_HANDED:  # who sits out has a score, too (V5)
        v["scores"][2] = s["scores"][2]
        v["boxes"][2] = s["boxes"][2]
    v["hand"] = own
    v["wins"][0] = 0
    v["wins"][1] = 0
    if rules["hollywood"]:
        for k in range(2):
            v["wins"][k] = s["wins"][k ^ seat]
        for place in range(2, 2 * COLUMNS):  # the columns behind the first
            v["scores"][place] = s["scores"][place ^ seat]
            v["boxes"][place] = s["boxes"][place ^ seat]

    n_pile = np.int64(s["n_pile"])
    for i in range(ORDER):
        v["pile"][i] = s["order"][ORDER - 1 - i] if i < n_pile else NO_CARD
    v["top"] = s["order"][ORDER - n_pile] if n_pile > 0 else NO_CARD
    if phase >= OVER_PHASE or s["reshuffled"] > 0 or rules["open_table"]:
        in_pile = 0
        for i in range(n_pile):
            in_pile |= BIT[v["pile"][i]]
    else:  # the first upcard and all that was thrown, less what was taken up and is still held
        in_pile &= ~seen
    v["in_pile"] = in_pile
    v["unseen"] = rules["deck"] & ~(seen | in_pile)

    turn = np.int64(s["turn"])
    first = relative_seat(s["first"], seat, players) if turn > 0 else 0
    for i in range(RING):
        v["draws"][i] = s["draws"][i]
        v["throws"][i] = s["throws"][i]
    for k in range(1, players):  # what others drew from the stock is not seen
        for t in range(relative_seat(k, first, players), turn, players):
            if t < turn - RING:
                continue
            place = t & (RING - 1)
            v["draws"][place] = s["draws"][place] if s["draws"][place] >= FROM_PILE else NO_CARD
    v["turn"] = turn
    v["reshuffled"] = s["reshuffled"]
    rounds = turn + players - 1 - relative_seat(0, first, players)
    v["own_turn"] = rounds >> 1 if players == 2 else rounds // players
    v["first"] = first

    v["sets"] = s["sets"]
    v["runs"] = s["runs"]
    v["starts"] = s["starts"]
    v["laid"] = s["laid_first"]
    v["opened"] = s["opened"]
    if rules["open_table"] and seat == 1:  # relative
        v["laid"] = (s["sets"] | s["runs"]) & ~s["laid_first"]
        v["opened"] = (s["opened"] >> 1) | ((s["opened"] & 1) << 1)
    v["bound"] = s["bound"]
    v["longest"] = s["longest"]
    v["loose"] = 0
    v["bluffs"] = 0
    if mover == 0 and phase != OVER_PHASE:
        v["loose"] = s["loose"]
        v["bluffs"] = s["bluffs"]
        v["discards"] = s["discards"]
        v["knocks"] = s["knocks"]
        v["choices"] = s["choices"]
        v["drawn"] = s["drawn"]
        v["mid_deadwood"] = s["mid_deadwood"]
    else:
        v["mid_deadwood"] = 0
        v["discards"] = 0
        v["knocks"] = 0
        v["choices"] = 0
        v["drawn"] = s["drawn"] if s["taken"] else NO_CARD
    v["hand_number"] = s["hand_number"]
    v["n_stock"] = s["n_stock"]
    v["n_pile"] = n_pile
    v["phase"] = phase
    v["players"] = players
    v["mover"] = mover
    v["dealer"] = relative_seat(s["dealer"], seat, players)
    v["passes"] = s["passes"]
    v["taken"] = s["taken"]
    v["upcard"] = s["upcard"]
    v["knock_limit"] = s["knock_limit"]
    v["multiplier"] = s["multiplier"]
    v["kind"] = s["kind"]
    v["knocker"] = NO_SEAT if s["knocker"] == NO_SEAT else relative_seat(s["knocker"], seat, players)


@standalone(types.void(STATE_TYPE, RULES_TYPE, types.int64, VIEW_TYPE))
def look_again(s, rules, seat, v):
    """Bring VIEW ``v`` up to date: the same bytes as `look`, in a third of the time.

    ``seat`` must be to act in STATE ``s``, and must have been when `look` or this last wrote ``v``: at its decision
    before this one, in the same hand. What cannot have changed since then is left as it stands.
    """
    if s["reshuffled"] > 0 or rules["more_actions"]:  # the pile is not what it was and a card or so; other phases
        look(s, rules, seat, v)
        return
    players = np.int64(rules["players"])
    phase = s["phase"]
    hand = s["hand"][seat]
    seen = hand
    in_pile = BIT[s["upcard"]]
    other = np.int64(seat)
    for k in range(players):
        known, thrown = s["known"][other], s["thrown"][other]
        seen |= known
        in_pile |= thrown
        v["known"][k] = known
        v["thrown"][k] = thrown
        v["refused"][k] = s["refused"][other]
        other = other + 1 if other + 1 < players else 0
    in_pile &= ~seen
    v["hand"] = hand
    v["cards"][0] = rules["cards_dealt"] + (1 if phase == DISCARD_PHASE else 0)
    v["in_pile"] = in_pile
    v["unseen"] = rules["deck"] & ~(seen | in_pile)

    # Since the last decision at most one card was taken off the pile, and each seat threw at most one on it.
    n_pile, kept = np.int64(s["n_pile"]), max(np.int64(v["n_pile"]) - 1, 0)
    for k in range(players + 1):
        i = min(kept + k, ORDER - 1)
        v["pile"][i] = s["order"][ORDER - 1 - i] if i < n_pile else NO_CARD
    v["top"] = s["order"][ORDER - n_pile] if n_pile > 0 else NO_CARD

    # And at most one turn of each seat has begun or ended.
    turn = np.int64(s["turn"])
    own = turn - 1 if phase == DISCARD_PHASE else turn - players
    for t in range(max(turn - players, 0), turn):
        place = t & (RING - 1)
        draw = s["draws"][place]
        v["draws"][place] = draw if t == own or draw >= FROM_PILE else NO_CARD
        v["throws"][place] = s["throws"][place]
    first = relative_seat(s["first"], seat, players) if turn > 0 else 0
    v["turn"] = turn
    if phase == DISCARD_PHASE:
        v["own_turn"] += 1
    v["first"] = first

    v["discards"] = s["discards"]
    v["knocks"] = s["knocks"]
    v["choices"] = s["choices"]
    v["drawn"] = s["drawn"]
    v["mid_deadwood"] = s["mid_deadwood"]
    v["n_stock"] = s["n_stock"]
    v["n_pile"] = n_pile
    v["phase"] = phase
    v["passes"] = s["passes"]
    v["taken"] = s["taken"]


@kernel
def sample_hidden(v, key, hands, stock):
    """Deal the unseen cards of VIEW ``v`` at random: a determinization, uniform over all that ``v`` allows.

    Args:
        v: A VIEW record of a hand in play.
        key: Names the sample (`ginenv.rng`).
        hands: int64, shape (6,), written: the cards of each relative seat, own and known ones included.
        stock: uint8, shape (54,), written: the stock, its top at ``n_stock - 1``.
    """
    cards = np.empty(ORDER, np.uint8)
    n = 0
    rest = v["unseen"]
    while rest != 0:
        cards[n] = lowest(rest)
        rest &= rest - 1
        n += 1
    for i in range(n - 1, 0, -1):
        j = below(key, i, i + 1)
        card = cards[i]
        cards[i] = cards[j]
        cards[j] = card
    hands[0] = v["hand"]
    for k in range(1, SEATS):
        hands[k] = 0
    for k in range(1, v["players"]):
        hand = v["known"][k]
        for _ in range(np.int64(v["cards"][k]) - count(hand)):
            n -= 1
            hand |= BIT[cards[n]]
        hands[k] = hand
    for i in range(v["n_stock"]):
        stock[i] = cards[i]
