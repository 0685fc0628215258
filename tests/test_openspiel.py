"""Our engine and OpenSpiel's gin_rummy, hand by hand in step under the preset `openspiel`.

OpenSpiel's deck is forced through its chance actions to be ours; its player 0 always moves first, so seat 1 deals. At
each decision the cards, the stock, the knock limit and the legal draws, discards and knocks are compared; after a
knock, the deadwood of both and the returns. Where the two differ for a reason, the reason stands in `DIFFERENCES`, is
counted by its name, and has the smallest hand that shows it as a test of its own. Any other difference fails, with the
deck and the actions that lead to it (`Both.play_all` plays them again).

OpenSpiel knocks in steps (the word, the discard, each meld, a pass), then the defender lays off, passes, melds and
passes. We knock in one action and settle by the best arrangement and the best defence, so the driver lays
our knocker's melds and our defender's layoffs in OpenSpiel's steps, and searches its own best defence beside it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
import pytest

from agents.registry import make
from agents.simple import choose as simple
from ginenv import arrange, deadwood, settle
from ginenv.actions import action_number, action_text
from ginenv.cards import BIT, card, card_text
from ginenv.deal import deal_deck, reset_game
from ginenv.rules import PRESETS, Rules
from ginenv.state import (
    DISCARD,
    DISCARD_PHASE,
    DRAW,
    KNOCK,
    ORDER,
    OVER_PHASE,
    PASS,
    TAKE,
    UPCARD_PHASE,
    Kind,
    new_states,
)
from ginenv.step import step
from ginenv.view import VIEW, look
from tests.common import DECK, legal_actions

pyspiel = pytest.importorskip("pyspiel")
pytestmark = pytest.mark.peers

DIFFERENCES = {
    "refused knock": (
        "To see whether a knock is possible OpenSpiel takes one best meld group of all eleven cards and throws its "
        "dearest loose card. Another group can leave less once the right card is thrown (a card that the group melds), "
        "so it refuses some legal knocks. It never allows a wrong one, and the discards it would allow, had the "
        "word been said, are exactly ours. H5: the deadwood after discarding counts."
    ),
    "wall": (
        "With two cards left in the stock OpenSpiel gives the next player one more decision: pass (0 points), or "
        "knock by taking the upcard. H11 ends the hand by the discard before it, and nobody scores."
    ),
    "throw-back": (
        "When both players one after the other take the same upcard and throw it back, OpenSpiel ends the hand with 0. "
        "No document knows that; we go on, to the limit of turns (H15)."
    ),
    "fifty takes": (
        "OpenSpiel ends the hand with 0 at the fiftieth take of an upcard (the first upcard's not counted) and "
        "does not carry it out. We count turns instead (H15)."
    ),
    "layoff chain": (
        "OpenSpiel fixes what may be laid on a run when the run is laid: two cards at either end. We chain on "
        "without end (H9). The points are the same, since a third card of the chain makes the three a run of the "
        "defender's own."
    ),
    "gin layoff stage": (
        "After gin OpenSpiel skips the layoffs, so the defender's first pass ends the hand; its own bot waits for the "
        "second, lays no meld and is charged its whole hand. H9, H10: the defender's best melds always count."
    ),
    "laying by hand": (
        "In OpenSpiel both players may lay fewer melds than they hold, and what is not laid counts. We settle by "
        "the best arrangement, so gin is never missed."
    ),
    "small decks": (
        "OpenSpiel numbers its melds on a deck of 52: with fewer ranks some of the laid melds stop it with "
        "an error, and hands of two cards reach a decision without a legal action. Ours play on."
    ),
}
"""All the ways in which the two may differ, each with the reason."""

# --- OpenSpiel's numbers ----------------------------------------------------------------------------

OS_SUITS = "SCDH"  # ours are S H D C
TO_OS = [OS_SUITS.index(card_text(c)[1]) * 13 + c % 13 for c in range(52)]
TO_OURS = [TO_OS.index(c) for c in range(52)]
OS_BIT = [int(BIT[c]) for c in TO_OURS]
OS_TAKE, OS_DRAW, OS_PASS, OS_KNOCK, OS_MELD = 52, 53, 54, 55, 56
OS_CHOICE = {OS_DRAW: DRAW, OS_TAKE: TAKE, OS_PASS: PASS}
TO_OS_CHOICE = {ours: theirs for theirs, ours in OS_CHOICE.items()}

PRESET = PRESETS["openspiel"]
VARIANTS: dict[str, tuple[dict[str, Any], Rules]] = {
    "default": ({}, PRESET),
    "oklahoma": ({"oklahoma": True}, PRESET.but(oklahoma=True, ace_means_gin=True)),
    "gin only": ({"knock_card": 0}, PRESET.but(knock_limit=0)),
}
"""OpenSpiel's options and our rules that play the same."""


@cache
def os_utils() -> Any:
    return pyspiel.gin_rummy.GinRummyUtils(13, 4, 10)


@cache
def os_root(variant: str) -> Any:
    """Return a state to clone: a new one costs 3 ms, a clone a hundredth of that."""
    return pyspiel.load_game("gin_rummy", VARIANTS[variant][0]).new_initial_state()


def os_mask(cards: Iterable[int]) -> int:
    """Return OpenSpiel's cards as our mask."""
    bits = 0
    for c in cards:
        bits |= OS_BIT[c]
    return bits


def os_cards(mask: int) -> list[int]:
    """Return a mask as OpenSpiel's cards."""
    return [c for c in range(52) if mask & OS_BIT[c]]


def os_text(text: str) -> list[int]:
    """Return cards written as text as OpenSpiel's."""
    return [TO_OS[card(c)] for c in text.split()]


def os_pieces(meld: int) -> list[int]:
    """Return the actions that lay a meld (a mask): runs of six and more go in pieces of three to five."""
    cards = sorted(os_cards(meld))
    actions = []
    while cards:
        rest = len(cards) - 5
        n = len(cards) if rest <= 0 else 5 if rest >= 3 else len(cards) - 3 if rest < 1 else min(5, 2 + rest)
        actions.append(OS_MELD + os_utils().meld_to_int(cards[:n]))
        cards = cards[n:]
    return actions


def os_best_defence(hand: list[int], melds: list[int]) -> tuple[int, list[int]]:
    """Return a defender's least deadwood over all that OpenSpiel lets him lay off on ``melds``, and what he lays."""
    least, best = os_utils().min_deadwood(hand), list[int]()
    seen: set[frozenset[int]] = set()
    todo = [list[int]()]
    while todo:
        laid = todo.pop()
        for c in os_utils().all_layoffs(melds, laid):
            more = [*laid, c]
            if c in hand and frozenset(more) not in seen:
                seen.add(frozenset(more))
                todo.append(more)
                left = [x for x in hand if x not in more]
                loose = os_utils().min_deadwood(left) if left else 0
                if loose < least:
                    least, best = loose, more
    return least, best


def os_chain(theirs: Any, laid: int) -> list[int] | None:
    """Return the order in which OpenSpiel lets the cards of a mask be laid off, None where it refuses one."""
    trial, todo, order = theirs.clone(), os_cards(laid), list[int]()
    while todo:
        ready = [c for c in trial.legal_actions() if c in todo]
        if not ready:
            return None
        trial.apply_action(ready[0])
        todo.remove(ready[0])
        order.append(ready[0])
    return order


# --- Both engines in step ---------------------------------------------------------------------------


class Both:
    """One hand on both engines."""

    def __init__(self, variant: str, deck: list[str]) -> None:
        self.variant, self.deck = variant, deck
        self.rules = VARIANTS[variant][1]
        self.s = new_states(1)[0]
        reset_game(self.s, 0)
        self.s["dealer"] = 1
        deal_deck(self.s, self.rules.record, np.array([card(c) for c in deck], dtype=np.uint8))
        self.theirs = os_root(variant).clone()
        dealt = [TO_OS[card(c)] for c in deck]
        for c in [*dealt[0:20:2], *dealt[1:20:2], dealt[20]]:
            self.theirs.apply_action(c)
        self.stock = iter(dealt[21:])
        self.actions: list[str] = []
        self.differences: Counter[str] = Counter()
        self.takes = 0
        self.thrown_back = [False, False]
        self.over = False

    def same(self, what: str, ours: Any, theirs: Any) -> None:
        """Fail unless both say the same, with all that is needed to play the hand again."""
        if ours != theirs:
            pytest.fail(
                f"unnamed difference in {what}: ours {ours}, OpenSpiel's {theirs}\n"
                f"Both({self.variant!r}, {' '.join(self.deck)!r}.split()).play_all({self.actions})\n{self.theirs}"
            )

    def differs(self, name: str) -> None:
        """Count a named difference."""
        assert name in DIFFERENCES
        self.differences[name] += 1

    def compare(self) -> None:
        """Compare the decision that is due."""
        s, theirs = self.s, self.theirs
        seat = theirs.current_player()
        hands = theirs.hands()
        legal = theirs.legal_actions()
        self.same("the end", s["phase"] == OVER_PHASE, False)
        self.same("the seat to act", int(s["seat"]), seat)
        self.same("the hands", [int(h) for h in s["hand"][:2]], [os_mask(h) for h in hands])
        self.same("the stock", int(s["n_stock"]), theirs.stock_size())
        self.same("the limit", int(s["knock_limit"]), theirs.knock_card())
        if s["phase"] != DISCARD_PHASE:
            self.same("the draws", int(s["choices"]), sum(1 << OS_CHOICE[a] for a in legal))
            if theirs.upcard() is not None:  # it lies under the first discard when both passed
                self.same("the upcard", int(s["order"][ORDER - s["n_pile"]]), TO_OURS[theirs.upcard()])
            return
        self.same("the discards", int(s["discards"]), os_mask(a for a in legal if a < 52))
        self.same("the knocks", int(s["knocks"]), os_mask(os_utils().legal_discards(hands[seat], theirs.knock_card())))
        if s["knocks"] and OS_KNOCK not in legal:
            self.differs("refused knock")
        elif not s["knocks"]:
            self.same("a knock", False, OS_KNOCK in legal)

    def can_play(self, action: int) -> bool:
        """Return whether OpenSpiel, too, lets the seat to act play a legal action of ours."""
        return action < KNOCK or OS_KNOCK in self.theirs.legal_actions()

    def play(self, action: int) -> None:
        """Play an action of ours on both engines, and compare what follows."""
        self.actions.append(action_text(action))
        if action >= KNOCK:
            self._knock(action)
        elif action >= DISCARD:
            self._discard(action)
        else:
            self._draw(action)
        if not self.over:
            self.compare()

    def play_all(self, actions: Iterable[str]) -> None:
        """Play actions written as text."""
        self.compare()
        for action in actions:
            self.play(action_number(action))

    def _draw(self, action: int) -> None:
        self.takes += action == TAKE and self.s["phase"] != UPCARD_PHASE
        self.theirs.apply_action(TO_OS_CHOICE[action])
        step(self.s, self.rules.record, action)
        if self.theirs.is_chance_node():
            self.theirs.apply_action(next(self.stock))
        if self.theirs.is_terminal():
            self.same("takes of an upcard in a hand that OpenSpiel ends", self.takes, 50)
            self._ended_level("fifty takes")

    def _discard(self, action: int) -> None:
        s = self.s
        thrown_back = bool(s["taken"] and s["drawn"] == action - DISCARD)
        self.thrown_back = [self.thrown_back[1], thrown_back]
        self.theirs.apply_action(TO_OS[action - DISCARD])
        step(s, self.rules.record, action)
        if self.theirs.is_terminal():
            self.same("two cards thrown back", self.thrown_back, [True, True])
            self.same("our hand goes on", s["phase"] != OVER_PHASE, True)
            self._ended_level("throw-back")
        elif self.theirs.current_phase() == pyspiel.gin_rummy.Phase.WALL:
            self.same("a dead hand", (int(s["phase"]), int(s["kind"])), (OVER_PHASE, int(Kind.DEAD)))
            self.theirs.apply_action(OS_PASS)
            self._ended_level("wall")

    def _ended_level(self, name: str) -> None:
        self.same("the returns", self.theirs.returns(), [0.0, 0.0])
        self.differs(name)
        self.over = True

    def _knock(self, action: int) -> None:
        """Knock, lay down and defend as our settlement has it; compare deadwood and returns."""
        s, theirs = self.s, self.theirs
        seat = int(s["seat"])
        theirs.apply_action(OS_KNOCK)
        self.same("the discards of a knock", int(s["knocks"]), os_mask(theirs.legal_actions()))
        theirs.apply_action(TO_OS[action - KNOCK])
        step(s, self.rules.record, action)
        for meld in s["melds"]:
            for piece in os_pieces(int(meld)):
                self._lay(piece, "the knocker's melds")
        self._lay(OS_PASS, "the knocker's melds")
        gin = bool(theirs.finished_layoffs())
        self.same("gin", s["kind"] == Kind.GIN, gin)
        hand = theirs.hands()[1 - seat]
        if gin:
            least = os_utils().min_deadwood(hand)
        else:
            least, best = os_best_defence(hand, theirs.layed_melds()[seat])
            laid = os_chain(theirs, int(s["laid"]))
            if laid is None:  # then lay what it would, and meld the rest of the chain
                self.differs("layoff chain")
                laid = best
            for c in laid:
                self._lay(c, "the layoffs")
            theirs.apply_action(OS_PASS)
        self.same("the best defence", int(s["deadwood"][1 - seat]), least)
        rest = theirs.hands()[1 - seat]
        for meld in os_utils().best_meld_group(rest) if rest else []:
            theirs.apply_action(OS_MELD + os_utils().meld_to_int(meld))
        theirs.apply_action(OS_PASS)
        self.same("the deadwood", [int(d) for d in s["deadwood"][:2]], list(theirs.deadwood()))
        points = float(s["points"][0]) - float(s["points"][1])
        self.same("the returns", [points, -points], theirs.returns())
        self.over = True

    def _lay(self, action: int, what: str) -> None:
        self.same(what, action in self.theirs.legal_actions(), True)
        self.theirs.apply_action(action)


# --- Each difference by its smallest hand -----------------------------------------------------------


def deck_of(first: str, upcard: str, second: str = "") -> list[str]:
    """Return a deck that deals these cards to the mover, the upcard and the other seat; the rest in order."""
    hands = [first.split(), second.split()]
    rest = [c for c in DECK if c not in (*hands[0], *hands[1], upcard)]
    while len(hands[1]) < 10:
        hands[1].append(rest.pop(0))
    return [c for pair in zip(*hands, strict=True) for c in pair] + [upcard, *rest]


def played(first: str, upcard: str, second: str = "", actions: str = "take", variant: str = "default") -> Both:
    """Return both engines after comma-separated actions."""
    both = Both(variant, deck_of(first, upcard, second))
    both.play_all(actions.split(", "))
    return both


def test_every_difference_has_its_test() -> None:
    for name in DIFFERENCES:
        assert f"test_difference_{name.replace(' ', '_').replace('-', '_')}" in globals()


@pytest.mark.parametrize(
    ("hand", "variant", "theirs", "ours"),
    [
        ("5S 7S AC 5C 6C 7C AH 3H 5H 6H 7H", "default", 11, 10),  # throw 7S; theirs keeps 5C 6C 7C and 5H 6H 7H
        ("3S 4S 5S 2C 3C 4C 5C 2D 3D 4D 5H", "gin only", 2, 0),  # throw 5H, which theirs melds in a set
        ("5H 4C 4H 6S 6H 5D 3S AH 4D 6D 2S", "default", 11, 10),
        ("6S 2S 4C 3C 5C 4D 6D 6C 5S 3S 5D", "default", 12, 10),
        ("6D AC 3S 5D 6H 5H 6C 3H 4C 4H 5C", "default", 11, 9),
    ],
)
def test_difference_refused_knock(hand: str, variant: str, theirs: int, ours: int) -> None:
    cards = hand.split()
    assert os_utils().min_deadwood(os_text(hand)) == theirs
    assert min(deadwood([c for c in cards if c != thrown]) for thrown in cards) == ours
    both = played(" ".join(cards[1:]), cards[0], variant=variant)
    assert both.differences == {"refused knock": 1}
    assert both.s["knocks"] != 0
    assert OS_KNOCK not in both.theirs.legal_actions()
    with pytest.raises(pyspiel.SpielError):
        both.theirs.apply_action(OS_KNOCK)


def test_difference_wall() -> None:
    """The next player could knock with 2H or the upcard itself in OpenSpiel; H11 has ended the hand."""
    both = played("3S 4S 5S 9H 9D 9C KC KD KH 2H", "8C", "6S 7S 8S 2S 2C 2D TD TC TH AH", "pass, pass")
    while both.s["n_stock"] > 2:
        both.play(DRAW)
        last, before = int(both.s["drawn"]), both.theirs.clone()
        both.play(DISCARD + last)
    assert both.differences == {"wall": 1}
    before.apply_action(TO_OS[last])
    assert before.legal_actions() == [OS_PASS, OS_KNOCK]
    before.apply_action(OS_KNOCK)
    assert TO_OS[last] in before.legal_actions()


def test_difference_throw_back() -> None:
    both = played("3S 4S 5S 9H 9D 9C KC KD 7H 8C", "2H", actions="take, discard 2H, take, discard 2H")
    assert both.differences == {"throw-back": 1}
    s, rules = both.s, both.rules
    assert s["phase"] != OVER_PHASE
    while s["phase"] != OVER_PHASE:
        step(s, rules.record, TAKE)
        step(s, rules.record, DISCARD + s["drawn"])
    assert (int(s["kind"]), int(s["turn"])) == (int(Kind.DEAD), rules.turn_limit)


def test_difference_fifty_takes() -> None:
    both = played("3S 4S 5S 9H 9D 9C KC KD 7H 8C", "2H")
    while not both.over:
        both.play(next(a for a in legal_actions(both.s) if a != DISCARD + both.s["drawn"]))
        both.play(TAKE)
    assert both.differences == {"fifty takes": 1}
    assert both.s["turn"] == 1 + 50
    assert [len(hand) for hand in both.theirs.hands()] == [10, 10]
    assert both.s["phase"] == DISCARD_PHASE


@pytest.mark.parametrize(
    ("run", "defender", "chain", "refused"),
    [
        ("3S 4S 5S", "6S 7S 8S 2D 2C 4D 6D 8D TD QH", "6S 7S 8S", "8S"),
        ("6S 7S 8S", "5S 4S 3S 2D 2C 4D 6D 8D TD QH", "5S 4S 3S", "3S"),
    ],
)
def test_difference_layoff_chain(run: str, defender: str, chain: str, refused: str) -> None:
    both = played(f"{run} 9H 9D 9C KC KD KH AS", "2H", defender, "take, knock 2H")
    assert both.differences == {"layoff chain": 1}
    assert int(both.s["laid"]) == os_mask(os_text(chain))
    meld = [os_utils().meld_to_int(os_text(run))]
    taken = os_text(chain)[:2]
    assert not set(os_utils().all_layoffs(meld, taken)) & set(os_text(refused))


def test_difference_gin_layoff_stage() -> None:
    """OpenSpiel's bot, told its opponent went gin, lays no melds."""
    knocker, defender = "3S 4S 5S 9H 9D 9C KC KD KH KS", "6S 7S 8S 2S 2C 2D 4D TD TC TH"
    both = played(knocker, "2H", defender, "take, knock 2H")
    assert both.theirs.returns() == [25 + 4, -25 - 4]
    theirs = played(knocker, "2H", defender).theirs
    bots = [pyspiel.make_simple_gin_rummy_bot(theirs.get_game().get_parameters(), seat) for seat in (0, 1)]
    while not theirs.is_terminal():
        theirs.apply_action(bots[theirs.current_player()].step(theirs))
    assert theirs.returns() == [25 + 61, -25 - 61]
    settled = settle(knocker, defender, rules=PRESET)
    assert (settled.kind, settled.points, settled.defender_deadwood) == ("gin", 29, 4)


def test_difference_laying_by_hand() -> None:
    """A knocker with gin who keeps A-2-3 in his hand has knocked with 6, and may be undercut."""
    knocker, defender = "AS 2S 3S 9H 9D 9C KC KD KH KS", "6S 7S 8S 2H 2C 2D QD TD TC TH"
    theirs = played(knocker, "4H", defender).theirs
    for action in (OS_KNOCK, TO_OS[card("4H")]):
        theirs.apply_action(action)
    for meld in ("9H 9D 9C", "KC KD KH KS"):
        theirs.apply_action(OS_MELD + os_utils().meld_to_int(os_text(meld)))
    theirs.apply_action(OS_PASS)
    assert not theirs.finished_layoffs()
    theirs.apply_action(OS_PASS)  # no layoffs
    theirs.apply_action(OS_PASS)  # no melds either
    assert list(theirs.deadwood()) == [6, 67]
    assert theirs.returns() == [61, -61]
    both = played(knocker, "4H", defender, "take, knock 4H")
    assert both.theirs.returns() == [25 + 10, -25 - 10]
    assert arrange(knocker).deadwood == 0


def small_deck_state(ranks: int, cards: int, hand: str, upcard: str) -> tuple[Any, Callable[[str], int]]:
    """Return OpenSpiel's state after a deal from a small deck, and its numbers of the cards."""

    def number(text: str) -> int:
        return OS_SUITS.index(text[1]) * ranks + card(text) % 13

    theirs = pyspiel.load_game("gin_rummy", {"num_ranks": ranks, "hand_size": cards}).new_initial_state()
    first = [number(c) for c in hand.split()]
    others = [c for c in range(4 * ranks) if c not in (*first, number(upcard))]
    for c in [*first, *others[:cards], number(upcard)]:
        theirs.apply_action(c)
    return theirs, number


@pytest.mark.parametrize(("ranks", "hand", "upcard"), [(10, "2C 2D 2H 5S 6S 7S AD", "AS"), (7, "4C 4D 4H AS AC", "7S")])
def test_difference_small_decks(ranks: int, hand: str, upcard: str) -> None:
    """A set without the spade, laid down, ends OpenSpiel; nothing special happens to ours."""
    theirs, number = small_deck_state(ranks, len(hand.split()), hand, upcard)
    for action in (OS_TAKE, OS_KNOCK, number(upcard)):
        theirs.apply_action(action)
    utils = pyspiel.gin_rummy.GinRummyUtils(ranks, 4, len(hand.split()))
    lay = OS_MELD + utils.meld_to_int([number(c) for c in hand.split()[:3]])
    assert lay in theirs.legal_actions()
    with pytest.raises(pyspiel.SpielError, match=r"card.value\(\) < num_cards"):
        theirs.apply_action(lay)
    rules = PRESET.but(ranks=ranks, cards_dealt=len(hand.split()))
    assert arrange(hand, rules=rules).deadwood == deadwood(hand) == hand.count("A")


def test_difference_small_decks_of_two_cards() -> None:
    """Three melded kings allow the word; no discard leaves a hand within the limit."""
    theirs, _ = small_deck_state(13, 2, "KS KC", "KD")
    for action in (OS_TAKE, OS_KNOCK):
        theirs.apply_action(action)
    assert theirs.legal_actions() == [] and not theirs.is_terminal()
    s = new_states(1)[0]
    reset_game(s, 0)
    s["dealer"] = 1
    rest = [c for c in DECK if c not in ("KS", "KC", "KD", "AS", "2S")]
    deck = ["KS", "AS", "KC", "2S", "KD", *rest]
    rules = PRESET.but(cards_dealt=2)
    deal_deck(s, rules.record, np.array([card(c) for c in deck], dtype=np.uint8))
    step(s, rules.record, TAKE)
    assert s["knocks"] == 0 and s["discards"] != 0


# --- What the two agree on --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("defender", "points"),
    [
        ("7S 7C 7D 4C 5C 6C QS QH QD AD", 0),  # a tie is no undercut here (S2)
        ("7S 7C 7D 4C 5C 6C QS QH QD 9S", -26),  # laid off on the nines: undercut by 1
        ("7S 7C 7D 4C 5C 6C QS QH QD 8D", 7),
    ],
)
def test_agreed_knocks_with_one_point(defender: str, points: int) -> None:
    both = played("3S 4S 5S 9H 9D 9C KC KD KH AS", "2H", defender, "take, knock 2H")
    assert both.theirs.returns() == [points, -points]
    assert not both.differences


def test_agreed_the_taken_card_may_go_at_once_and_eleven_melded_cards_must_throw_one() -> None:
    both = played("3S 4S 5S 9H 9D 9C KC KD KH 6S", "KS", actions="take, knock KS")
    assert both.s["kind"] == Kind.GIN


# --- Many hands -------------------------------------------------------------------------------------


def drive(variant: str, skill: float, seed: int) -> Counter[str]:
    """Play one hand in step; return its named differences, and how it ended with us (none: it goes on).

    Args:
        variant: One of `VARIANTS`.
        skill: Chance that a decision is `simple`'s; the others are random, so that odd hands come up. A
            possible knock of either is let pass by now and then.
        seed: Of the deck and the decisions.
    """
    rng = random.Random(seed)
    both = Both(variant, rng.sample(DECK, 52))
    view = np.zeros(1, dtype=VIEW)[0]
    params = make("simple").params  # type: ignore[attr-defined]
    both.compare()
    decisions = 0
    while not both.over:
        decisions += 1
        if rng.random() < skill:
            look(both.s, both.rules.record, both.s["seat"], view)
            action = simple(view, both.rules.record, params, rng.getrandbits(60))
            if action >= KNOCK and (rng.random() < 0.2 or not both.can_play(action)):
                action += DISCARD - KNOCK
        else:
            action = rng.choice([a for a in legal_actions(both.s) if both.can_play(a)])
        both.play(action)
    ended = Kind(int(both.s["kind"])).name.lower()
    return both.differences + Counter({"hands": 1, "decisions": decisions, f"ended by {ended}": 1})


SKILLS = (0.95, 0.95, 0.95, 0.8, 0.8, 0.5, 0.3, 0.0)
"""Mostly skilled, since random players knock in one hand of ten; the wall and the throw-backs come with the others."""
PLAYED = ("default",) * 6 + ("oklahoma",) * 2 + ("gin only",) * 2
SHARDS, SHARD = 100, 1000
"""The whole: 100,000 hands. The sample plays the first few of each shard."""


def play_shard(shard: int, hands: int) -> Counter[str]:
    """Play the first ``hands`` hands of a shard of every kind of hand."""
    counts: Counter[str] = Counter()
    for n in range(hands):
        counts += drive(PLAYED[n % len(PLAYED)], SKILLS[n // len(PLAYED) % len(SKILLS)], shard * SHARD + n)
    assert counts["hands"] == hands
    return counts


@pytest.mark.parametrize("shard", range(3))
def test_a_sample_of_hands_in_step(shard: int, record_property: Callable[[str, object], None]) -> None:
    for name, n in play_shard(shard, 200).items():
        record_property(name, n)


@pytest.mark.fuzz
@pytest.mark.timeout(0)
@pytest.mark.parametrize("shard", range(SHARDS))
def test_100_000_hands_in_step(shard: int, record_property: Callable[[str, object], None]) -> None:
    for name, n in play_shard(shard, SHARD).items():
        record_property(name, n)
