"""Melds and deadwood: the engine against the naive oracle, over all longest melds (C1-C6)."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest

from ginenv import cards as engine_cards
from ginenv.cards import POINTS, RANKS, SUITS, card, count, deck_mask, lowest, total
from ginenv.melds import (
    arrange,
    deadwood,
    deadwoods_without,
    extend,
    fourth_card,
    is_set,
    knock_discards,
    least_after_discard,
    least_discards,
    loose_in_runs,
    meldable,
    set_ranks,
)
from ginenv.rules import Rules
from tests.common import BITS, DECK, cards, mask, meld_rich_pool
from tests.reference import (
    all_melds,
    best_arrangements,
    choose_knocker_arrangement,
    deadwood_of,
    extensions,
    is_meld,
    layoffable,
    least_deadwood,
    legal_knocks,
    loose_cards,
)

FULL = deck_mask()


def melds_of(hand: int, longest: int = 13, deck: int = FULL) -> tuple[int, frozenset[frozenset[str]]]:
    """Return the engine's deadwood and arrangement of a hand."""
    melds = np.zeros(3, dtype=np.int64)
    left = int(arrange(hand, deck, longest, melds))
    return left, frozenset(cards(int(m)) for m in melds if m)


def compare(hand: list[str], longest: int) -> None:
    """Assert that deadwood and arrangement of the engine are the oracle's."""
    bits = mask(hand)
    best = choose_knocker_arrangement(hand, longest=longest)
    least = deadwood_of(hand, next(iter(best)))
    where = f"{' '.join(hand)} longest={longest}"
    assert deadwood(bits, longest) == least, where
    left, melds = melds_of(bits, longest)
    assert left == least, where
    assert melds in best, where


# --- Cards ----------------------------------------------------------------------------------------


def test_C1_the_deck_is_thirteen_ranks_of_four_suits():
    assert engine_cards.RANKS == "A23456789TJQK"
    assert len(set(DECK)) == 52
    assert sum(BITS.values()) == FULL
    assert count(FULL) == 52
    for n, text in enumerate(DECK):
        assert (card(text), lowest(BITS[text])) == (n, n)
    assert cards(deck_mask(3, 2)) == {"AS", "2S", "3S", "AH", "2H", "3H"}


def test_C1_the_ace_is_low_and_runs_never_wrap():
    assert deadwood(mask("AS 2S 3S"), 13) == 0
    assert deadwood(mask("QS KS AS"), 13) == 21
    assert deadwood(mask("KS AS 2S"), 13) == 13
    # Nor does a run pass from one suit's king to the next suit's ace.
    assert deadwood(mask("QS KS AH"), 13) == 21
    assert deadwood(mask("KH AD 2D"), 13) == 13
    assert meldable(mask("QS KS AH 2H")) == 0


def test_C2_points():
    worth = {"AS": 1, "2H": 2, "5D": 5, "9C": 9, "TS": 10, "JH": 10, "QD": 10, "KC": 10}
    assert {c: int(POINTS[card(c)]) for c in worth} == worth
    assert total(FULL) == 4 * (45 + 40)
    assert total(0) == 0


# --- Melds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("longest", [3, 4, 5, 13])
def test_C3_sets_are_three_or_four_of_a_rank(longest):
    for rank in "A7K":
        for n in (2, 3, 4):
            for suits in combinations("SHDC", n):
                hand = {rank + s for s in suits}
                assert deadwood(mask(hand), longest) == least_deadwood(hand, longest)
                assert (set_ranks(mask(hand)) != 0) == (n > 2)


@pytest.mark.parametrize("longest", range(3, 14))
def test_C4_C6_every_content_of_one_suit(longest):
    """All 8,192 hands of one suit: the table of loose points, with any longest meld, against plain recursion."""
    worth = [min(r + 1, 10) for r in range(13)]
    least = [0] * (1 << 13)
    for lane in range(1, 1 << 13):
        top = lane.bit_length() - 1
        best = least[lane ^ (1 << top)] + worth[top]
        for length in range(3, longest + 1):
            run = sum(1 << r for r in range(top - length + 1, top + 1) if r >= 0)
            if length <= top + 1 and lane & run == run:
                best = min(best, least[lane ^ run])
        least[lane] = best
        assert loose_in_runs(lane << 16, longest) == best


def test_C5_a_card_is_in_one_meld_at_most():
    # 7C
    # 7S
    # 7H 8H 9H   one set (17 left) or one run (14 left), never both
    hand = mask("7C 7S 7H 8H 9H")
    assert deadwood(hand, 13) == 14
    assert melds_of(hand) == (14, {frozenset({"7H", "8H", "9H"})})


def test_C6_longest_meld():
    # AS 2S 3S 4S 5S 6S: one meld, or two of three
    assert [deadwood(mask("AS 2S 3S 4S 5S 6S"), n) for n in (3, 4, 5, 6)] == [0, 0, 0, 0]
    # AS 2S 3S 4S 5S 6S 7S: two of three leave the ace; 3 + 4 is whole from longest 4 on
    assert [deadwood(mask("AS 2S 3S 4S 5S 6S 7S"), n) for n in (3, 4, 5)] == [1, 0, 0]
    # five in a row fall apart below 5; four of a rank lose one below 4
    assert [deadwood(mask("AS 2S 3S 4S 5S"), n) for n in (3, 4, 5)] == [3, 1, 0]
    assert [deadwood(mask("7S 7H 7D 7C"), n) for n in (3, 4)] == [7, 0]
    for longest in range(3, 14):
        _, melds = melds_of(mask("AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS"), longest)
        assert all(is_meld(m, longest) for m in melds)


# --- Inputs where peers go wrong ------------------------------------------------------------------


def best_after_discard(text: str) -> int:
    """Return the least deadwood over all discards of an eleven-card hand."""
    hand = mask(text)
    return min(deadwood(hand & ~BITS[c], 13) for c in text.split())


def knocks_of(text: str, limit: int) -> frozenset[str]:
    """Return the discards with which an eleven-card hand may knock."""
    hand = mask(text)
    return cards(int(knock_discards(hand, deadwood(hand, 13), hand, limit, 13)))


def test_peer_C5_least_deadwood_after_the_best_discard_is_10():
    # A  .  .  .  5  6  7   C      5 5 5, A A, 3: OpenSpiel finds 11 and refuses the knock
    # A  .  3  .  5  6  7   H
    #             5     7   S      discard 7S: AC AH 3H 5S loose, 5C 6C 7C and 5H 6H 7H melded
    text = "5S 7S AC 5C 6C 7C AH 3H 5H 6H 7H"
    assert best_after_discard(text) == 10
    assert "7S" in knocks_of(text, 10)


def test_peer_H7_discarding_5H_is_gin():
    # .  2  3  4  5   C
    # .  2  3  4  .   D
    # .  .  3  4  5   S    and 5H
    text = "3S 4S 5S 2C 3C 4C 5C 2D 3D 4D 5H"
    assert best_after_discard(text) == 0
    assert knocks_of(text, 0) == {"5H"}


@pytest.mark.parametrize("text", ["6H QH QC 5H KD KH 7H KC 4H QD", "TC 2H 3H 2S TD 5H 3S 4H 4S TS"])
def test_peer_H7_gin_hands_once_missed_elsewhere(text):
    assert deadwood(mask(text), 13) == 0


# --- The oracle against the engine ----------------------------------------------------------------


def longest_of(n: int) -> int:
    """Return the longest meld of the n-th hand: no limit for every second, else 3 to 12 in turn."""
    return 13 if n % 2 else 3 + n // 2 % 10


def check_random(seed: int, n: int) -> None:
    rng = random.Random(f"random {seed}")
    for i in range(n):
        compare(rng.sample(DECK, rng.choice((10, 11))), longest_of(i))


def check_rich(seed: int, n: int) -> None:
    rng = random.Random(f"rich {seed}")
    for i in range(n):
        compare(rng.sample(meld_rich_pool(rng), rng.choice((10, 11))), longest_of(i))


def test_C5_C6_random_hands():
    check_random(0, 6_000)


def test_C5_C6_meld_rich_hands():
    check_rich(0, 4_000)


@pytest.mark.fuzz
@pytest.mark.parametrize("shard", range(1, 26))
def test_C5_C6_million_random_hands(shard):
    check_random(shard, 40_000)


@pytest.mark.fuzz
@pytest.mark.parametrize("shard", range(1, 41))
def test_C5_C6_million_meld_rich_hands(shard):
    check_rich(shard, 25_000)


@pytest.mark.parametrize(("ranks", "suits"), [(10, 4), (7, 4), (4, 4), (13, 2), (5, 3)])
def test_C1_C5_small_decks(ranks, suits):
    """In a small deck fewer cards could be laid off, which decides between equal arrangements."""
    deck = deck_mask(ranks, suits)
    rng = random.Random(ranks)
    for n in range(300):
        hand = rng.sample(sorted(cards(deck)), min(10, ranks * suits - 4))
        longest = longest_of(n)
        left, melds = melds_of(mask(hand), longest, deck)
        assert left == least_deadwood(hand, longest)
        assert melds in choose_knocker_arrangement(hand, ranks, suits, longest)


def test_C5_hands_of_any_size():
    rng = random.Random(9)
    for n in range(3000):
        hand = rng.sample(meld_rich_pool(rng), n % 12)
        assert deadwood(mask(hand), 13) == least_deadwood(hand)


def test_H9_among_equal_arrangements_the_one_that_leaves_the_fewest_layoffs():
    # 3 4 5 6 7   S     3S-7S and three sevens: 2S AS and 8S 9S … can be laid off;
    #         7   H D C   3S-6S and four sevens: only 2S AS can
    hand = ["3S", "4S", "5S", "6S", "7S", "7H", "7D", "7C", "KD", "QH"]
    left, melds = melds_of(mask(hand))
    assert (left, melds) == (20, {frozenset(["3S", "4S", "5S", "6S"]), frozenset(["7S", "7H", "7D", "7C"])})
    exposed = sorted(len(layoffable(m, hand)) for m in best_arrangements(hand))
    assert exposed == [2, 8]


# --- The small kernels around it ------------------------------------------------------------------


def test_C3_C4_is_set_fourth_card_and_extend():
    rng = random.Random(3)
    for _ in range(400):
        hand = rng.sample(meld_rich_pool(rng), 11)
        others = [c for c in DECK if c not in hand]
        for meld in all_melds(hand):
            bits = mask(meld)
            a_set = len({c[0] for c in meld}) == 1
            assert bool(is_set(bits)) == a_set
            if a_set:
                assert cards(int(fourth_card(bits, 13))) == extensions(meld)
                assert fourth_card(bits, 3) == 0
            else:
                assert cards(int(extend(bits, mask(others)))) == layoffable([meld], hand)


def test_C3_C4_meldable():
    rng = random.Random(4)
    for _ in range(2000):
        hand = rng.sample(rng.choice((DECK, meld_rich_pool(rng))), 11)
        melded = set().union(*all_melds(hand))
        assert cards(int(meldable(mask(hand)))) == melded


@pytest.mark.parametrize("longest", [3, 4, 5, 7, 13])
def test_H6_knock_discards(longest):
    rng = random.Random(longest)
    for _ in range(250):
        hand = rng.sample(meld_rich_pool(rng), 11)
        taken = rng.choice([None, *hand])
        allowed = mask(c for c in hand if c != taken)
        limit = rng.choice([0, 1, 5, 9, 10, 20, 40, 100])
        now = deadwood(mask(hand), longest)
        found = cards(int(knock_discards(mask(hand), now, allowed, limit, longest)))
        assert found == legal_knocks(hand, limit, taken, longest=longest)


@pytest.mark.parametrize("longest", [3, 5, 13])
def test_C5_least_discards(longest):
    rng = random.Random(longest)
    for n in range(300):
        hand = rng.sample(meld_rich_pool(rng) if n % 2 else DECK, 11)
        allowed = rng.sample(hand, rng.randrange(1, 12))
        left = {c: least_deadwood(set(hand) - {c}, longest) for c in allowed}
        found, least = least_discards(mask(hand), deadwood(mask(hand), longest), mask(allowed), longest)
        assert least == min(left.values())
        assert cards(int(found)) == {c for c in allowed if left[c] == least}


@pytest.mark.parametrize("longest", [3, 5, 13])
def test_C5_least_after_discard(longest):
    rng = random.Random(longest + 1)
    for n in range(300):
        hand = rng.sample(meld_rich_pool(rng) if n % 2 else DECK, rng.randrange(3, 12))
        least = min(least_deadwood(set(hand) - {c}, longest) for c in hand)
        assert least_after_discard(mask(hand), deadwood(mask(hand), longest), longest) == least


@pytest.mark.parametrize("longest", [3, 4, 5, 13])
def test_C5_deadwoods_without_each_card(longest):
    rng = random.Random(longest)
    for n in range(100):
        hand = rng.sample(meld_rich_pool(rng) if n % 2 else DECK, 10 + n % 3 // 2)
        out = np.full(70, 255, dtype=np.uint8)
        least, melded = deadwoods_without(mask(hand), longest, out, 2, 17)
        written = {2 + 17 * SUITS.index(c[1]) + RANKS.index(c[0]): c for c in hand}
        for place, number in enumerate(out.tolist()):
            wanted = least_deadwood(set(hand) - {written[place]}, longest) if place in written else 255
            assert number == wanted
        best = best_arrangements(hand, longest)
        assert least == deadwood_of(hand, best[0])
        assert cards(int(melded)) == set().union(*(meld for arrangement in best for meld in arrangement))


def test_C5_loose_cards_are_what_no_meld_holds():
    hand = ["AS", "2S", "3S", "7H", "7D", "7C", "KD", "QD", "9H", "4C"]
    left, melds = melds_of(mask(hand))
    assert loose_cards(hand, melds) == {"KD", "QD", "9H", "4C"}
    assert left == 33


def test_C6_the_range_of_the_longest_meld_is_checked():
    for longest in (2, 14):
        with pytest.raises(ValueError, match=f"longest_meld={longest}"):
            Rules(longest_meld=longest)
