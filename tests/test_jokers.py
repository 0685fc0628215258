"""Jokers (C8): the engine against an oracle that tries everything, longest melds and layoffs included."""

from __future__ import annotations

import random

import numpy as np
import pytest

import ginenv
import ginenv.gin_rummy_v0
from ginenv import Table, action_text, replay
from ginenv.cards import card_mask, cards_text, deck_mask
from ginenv.rules import Rules
from ginenv.wild import arrange_wild, deadwood_wild, defend_wild, knock_discards_wild
from tests.common import DECK, MORE_RULES, meld_rich_pool
from tests.naive_jokers import JOKERS, best_defence, is_meld, least_deadwood, value

FULL = deck_mask() | card_mask("*1 *2")


def hand_of(rng: random.Random, n: int, pool: list[str] | None = None) -> list[str]:
    """Return ``n`` cards with one or two jokers, the others near each other."""
    jokers = list(JOKERS[: rng.choice((1, 2, 2))])
    return jokers + rng.sample(pool or meld_rich_pool(rng), n - len(jokers))


def arranged(hand: list[str], longest: int) -> tuple[int, list[list[str]], list[list[str]]]:
    melds, spans = np.full(3, -7, np.int64), np.full(3, -7, np.int64)
    left = arrange_wild(card_mask(hand), FULL, longest, melds, spans)
    texts = [(cards_text(int(m)).split(), cards_text(int(s)).split()) for m, s in zip(melds, spans, strict=True) if m]
    return int(left), [m for m, _ in texts], [s for _, s in texts]


@pytest.mark.parametrize(
    ("hand", "least"),
    [
        ("*1 *2 7H KD", 7),  # two jokers and one card are a meld
        ("*1 *2 KD QC", 10),
        ("*1 AS KS QD", 41),  # never round the corner: of KS QD AS no two go with a joker
        ("*1 QS KS AD", 1),
        ("*1 7S 7H 7D 7C", 7),  # a set has four cards at most …
        ("*1 7S 7H 7D 7C 8C", 0),  # … but 7C 8C and the joker are a run
        ("7H *1 9H TH *2 QH", 0),
        ("*1", 20),
        ("*1 *2", 40),
    ],
)
def test_C8_jokers_are_wild_in_melds_and_20_points_as_deadwood(hand, least):
    assert deadwood_wild(card_mask(hand), 13) == least == least_deadwood(hand.split())


@pytest.mark.parametrize("longest", range(3, 14))
def test_C8_C5_C6_least_deadwood_and_arrangements_against_the_oracle(longest):
    rng = random.Random(longest)
    for _ in range(25):
        hand = hand_of(rng, rng.choice((6, 8, 9)))
        least = least_deadwood(hand, longest)
        assert deadwood_wild(card_mask(hand), longest) == least, hand
        left, melds, spans = arranged(hand, longest)
        loose = set(hand).difference(*melds)
        assert left == least == sum(map(value, loose))
        assert sum(map(len, melds)) + len(loose) == len(hand)  # no card twice
        for meld, span in zip(melds, spans, strict=True):
            assert is_meld(meld, longest)
            assert not span or (len(span) == len(meld) and {c for c in meld if c not in JOKERS} <= set(span))


def test_C8_C5_hands_of_eleven_cards():
    rng = random.Random(11)
    for _ in range(25):
        hand = hand_of(rng, 11, None if rng.random() < 0.7 else DECK)
        assert deadwood_wild(card_mask(hand), 13) == least_deadwood(hand)


def test_C8_H6_discards_of_a_knock():
    rng = random.Random(6)
    for _ in range(25):
        hand = hand_of(rng, 8)
        limit = rng.choice((0, 5, 10, 30))
        found = cards_text(int(knock_discards_wild(card_mask(hand), card_mask(hand), limit, 13))).split()
        assert set(found) == {c for c in hand if least_deadwood(set(hand) - {c}) <= limit}


@pytest.mark.parametrize("longest", [3, 4, 5, 7, 13])
def test_C8_H9_H10_layoffs_against_the_oracle(longest):
    rng = random.Random(100 + longest)
    laid_any = 0
    for n in range(30):
        pool = meld_rich_pool(rng)
        jokers = list(JOKERS)
        rng.shuffle(jokers)
        mine = jokers[: n % 3]
        knocker = mine + rng.sample(pool, 9 - len(mine))
        theirs = [j for j in JOKERS if j not in mine][: rng.randrange(3)]
        near = [c for c in pool if c not in knocker]
        defender = theirs + rng.sample(near, min(len(near), 7 - len(theirs)))
        melds, spans, laid = (np.zeros(3, np.int64) for _ in range(3))
        arrange_wild(card_mask(knocker), FULL, longest, melds, spans)
        left = defend_wild(card_mask(defender), melds, spans, longest, laid)
        _, on_table, their_spans = arranged(knocker, longest)
        want = best_defence(defender, on_table, their_spans, longest)
        assert left == want, (knocker, defender, on_table)
        gone = cards_text(int(laid[0] | laid[1] | laid[2])).split()
        assert least_deadwood(set(defender) - set(gone), longest) == left
        laid_any += bool(gone)
    assert longest == 3 or laid_any > 5


# --- At the table ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["jokers", "jokers, melds to 4"])
def test_C8_hands_with_jokers_play_settle_and_replay(name):
    rules = MORE_RULES[name]
    kinds, laid = set(), 0
    for seed in range(12):
        rng, t = random.Random(seed), Table(rules, seed=seed)
        while not t.done:
            legal = t.legal_actions()
            hand = t.hand(t.seat).split()
            if t.phase.name == "DISCARD" and len(hand) < 9:
                legal_texts = {action_text(a) for a in legal}
                for c in hand:
                    low = least_deadwood(set(hand) - {c}, rules.longest_meld) <= rules.knock_limit
                    assert (f"knock {c}" in legal_texts) == (low and f"discard {c}" in legal_texts)
            knocks = [a for a in legal if action_text(a)[0] in "kb"]
            keep = [a for a in legal if not action_text(a).startswith("discard *")]
            t.step(rng.choice(knocks or keep or legal))
        str(t)
        t.render("svg")
        again = replay(t.record())
        assert again == t and again.record() == t.record()
        kinds.add(t.result.kind)
        laid += bool(t.result.layoffs)
        if t.result.kind in ("knock", "undercut"):
            gone = {c for layoff in t.result.layoffs for c in layoff.cards.split()}
            other = set(t.hand(1 - t.result.knocker_seat).split())
            assert least_deadwood(other - gone, rules.longest_meld) == t.result.defender_deadwood
    assert "knock" in kinds or "undercut" in kinds


def test_C8_a_joker_is_discarded_and_read_by_name():
    front = "*1 AS 2S 3S 5S 7S 9S JS AD 3D 5D 4H 5H 7H 8H 9H *2 9C TC QC"
    deck = front.split()
    deck += [c for c in (*DECK, *JOKERS) if c not in deck]
    t = Table(Rules(jokers=True), deck=deck, dealer=0)
    assert len(deck) == 54 and t.stock_size == 33
    t.step("take")
    t.step("discard *1" if "*1" in t.hand(1).split() else "discard *2")
    assert t.pile[0] in JOKERS and t.view(0)["top"] in (52, 53)
    assert ginenv.deadwood("*1 7H 7D KD", Rules(jokers=True)) == 10
    assert ginenv.arrange("*1 7H 7D KD", Rules(jokers=True)).melds == ("7H 7D *1",)
    with pytest.raises(ValueError, match="is not in this deck"):
        ginenv.deadwood("*1 7H 7D KD")
    with pytest.raises(ValueError, match="encoding planes-v1 shows no jokers: use planes-v2"):
        ginenv.gin_rummy_v0.env(Rules(jokers=True), encoding="planes-v1")
