"""Settling a knock: layoffs (H9), the best joint defence (H10) and points (S1-S5), against the naive oracle."""

from __future__ import annotations

import random

import numpy as np
import pytest

from ginenv.cards import deck_mask
from ginenv.melds import defend
from ginenv.rules import PRESETS, Rules
from ginenv.scoring import score_knock, settle_hands
from ginenv.state import Kind
from tests.common import DECK, ODD, cards, mask, meld_rich_pool, naive_rules
from tests.reference import (
    arrangements,
    best_arrangements,
    best_defence,
    check_arrangement,
    choose_knocker_arrangement,
    least_deadwood,
    parse,
    reachable_layoffs,
    settle_with,
)

MODERN = PRESETS["modern"]


def slots(*melds: str) -> np.ndarray:
    """Return melds (texts) as the engine takes them."""
    array = np.zeros(3, dtype=np.int64)
    for i, meld in enumerate(melds):
        array[i] = mask(meld)
    return array


def settled(
    knocker: str, defender: str, rules: Rules = MODERN, *melds: str
) -> tuple[str, int, int, int, frozenset[str]]:
    """Return the engine's kind, points (to the winner), both deadwoods, and the cards laid off."""
    kind, points, own, other, laid = settle_hands(
        mask(knocker), mask(defender), rules.record["deck"], rules.record, slots(*melds)
    )
    return Kind(kind).name.lower(), int(points), int(own), int(other), cards(int(laid))


def compare(knocker: list[str], defender: list[str], rules: Rules) -> None:
    """Assert that the engine settles as the oracle does on one of the knocker's best arrangements."""
    naive = naive_rules(rules)
    longest = rules.longest_meld
    melds = np.zeros(3, dtype=np.int64)
    kind, points, own, other, laid = settle_hands(
        mask(knocker), mask(defender), rules.record["deck"], rules.record, melds
    )
    chosen = frozenset(cards(int(m)) for m in melds if m)
    where = f"{' '.join(knocker)} / {' '.join(defender)} {rules.name} longest={longest}"
    assert chosen in choose_knocker_arrangement(knocker, rules.ranks, rules.suits, longest), where
    wanted = settle_with(knocker, chosen, defender, rules=naive, big_gin=len(knocker) > rules.cards_dealt)
    name = Kind(kind).name.lower()
    assert (name, points if name != "undercut" else -points, own, other) == wanted, where
    laid_cards = cards(int(laid))
    if own == 0:
        assert not laid_cards, where
    else:
        assert laid_cards in reachable_layoffs(chosen, defender, longest), where
        assert least_deadwood(set(defender) - laid_cards, longest) == other, where


# --- Worked examples of the documents ---------------------------------------------------------------


def test_S1_document_001_knocking_with_6_against_21_scores_15():
    # 5S 6S 7S  9S 9H 9D  2C 2D 2H (deuces are a set …) and 6C
    assert settled("5S 6S 7S 9S 9H 9D 2C 2D 2H 6C", "KD 7D 4H 3C 3D 3H TC JC QC AD", MODERN)[:4] == (
        "knock", 16, 6, 22,
    )  # fmt: skip
    assert settled("5S 6S 7S 9S 9H 9D 2C 2D 2H 6C", "KD 7D 4H 3C 3D 3H TC JC QC 8S", MODERN) == (
        "knock", 15, 6, 21, frozenset({"8S"}),
    )  # fmt: skip


def test_S1_S2_H9_document_000_ten_of_spades_is_laid_off():
    # Knocker: JS QS KS, 4H 4D 4C, 6H 7H 8H and 8D. Opponent: TS goes below the jack.
    knocker = "JS QS KS 4H 4D 4C 6H 7H 8H 8D"
    assert settled(knocker, "TS 2S 2H 2D KD QH TC 2C AC AD") == ("knock", 24, 8, 32, frozenset({"TS"}))
    # With 6 left instead he is undercut by 2, for 2 + 25.
    assert settled(knocker, "TS 3S 3H 3D 9C TC JC QC 5D AC") == ("undercut", 27, 8, 6, frozenset({"TS"}))


def test_C5_document_003_four_twos_and_the_run_from_the_two_use_it_twice():
    with pytest.raises(ValueError, match="two melds"):
        check_arrangement(parse("2H 3H 4H 5H 6H 7H 8H 2S 2D 2C"), [frozenset(parse("2H 3H 4H 5H 6H 7H 8H")),
                          frozenset(parse("2H 2S 2D 2C"))])  # fmt: skip


def test_H9_document_003_nine_and_ten_go_on_the_run_from_3H_to_8H():
    kind, _, own, other, laid = settled("3H 4H 5H 6H 7H 8H 2S 2D 2C AC", "9H TH KD KS QC 5C 6D 7S 9D 3S")
    assert (kind, own, laid) == ("knock", 1, frozenset({"9H", "TH"}))
    assert other == 10 + 10 + 10 + 5 + 6 + 7 + 9 + 3


def test_S2_document_004_a_tie_is_an_undercut_and_a_difference_of_4_scores_14():
    palace = PRESETS["palace"]
    assert score_knock(9, 5, palace.record) == (Kind.UNDERCUT, 14)
    assert score_knock(9, 9, palace.record) == (Kind.UNDERCUT, 10)
    assert score_knock(9, 9, MODERN.record) == (Kind.UNDERCUT, 25)
    assert score_knock(9, 9, PRESETS["denexa"].record) == (Kind.KNOCK, 0)
    assert score_knock(9, 8, PRESETS["denexa"].record) == (Kind.UNDERCUT, 26)


def test_peer_S2_a_knock_with_10_against_0_costs_the_knocker():
    # 5S 6S 7S  9S 9H 9D  KC KD KH + TC     against three melds and nothing loose
    assert settled("5S 6S 7S 9S 9H 9D KC KD KH TC", "AS 2S 3S AD 2D 3D 4C 5C 6C 7C")[:4] == ("undercut", 35, 10, 0)


def test_S3_gin_scores_25_and_the_opponents_whole_deadwood():
    # 8S could go on 5S 6S 7S, but never on gin (H9). The opponent's own melds still count:
    # OpenSpiel's bot lays none and is charged for all.
    gin = "5S 6S 7S 9S 9H 9D KC KD KH KS"
    assert settled(gin, "8S AS AH AD 2C 3C 4C 5C 6C QD") == ("gin", 25 + 18, 0, 18, frozenset())
    assert settled(gin, "8S AS AH AD 2C 3C 4C 5C 6C QD", PRESETS["historic"])[:2] == ("gin", 38)


@pytest.mark.parametrize(("preset", "bonus"), [("big_gin", 31), ("palace", 50)])
def test_S4_V4_big_gin(preset, bonus):
    eleven = "5S 6S 7S 8S 9S 9H 9D KC KD KH KS"
    assert settled(eleven, "TS AS AH AD 2C 3C 4C 5C 6C QD", PRESETS[preset])[:4] == ("big_gin", bonus + 20, 0, 20)


def test_H9_chains_run_on_card_by_card_at_both_ends():
    # knocker  5S 6S 7S: 8S 9S TS JS go above, 4S 3S below; 2S is missing, so AS stays
    knocker, melds = "5S 6S 7S 9H 9D 9C KC KD KH AC", ("5S 6S 7S", "9H 9D 9C", "KC KD KH")
    _, _, _, other, laid = settled(knocker, "8S TS JS 4S 3S AS QD QC 2D 4H", MODERN, *melds)
    assert laid == {"8S", "4S", "3S"}
    _, _, _, other, laid = settled(knocker, "8S 9S TS JS 4S 3S AS QD QC 2D", MODERN, *melds)
    assert laid == {"8S", "9S", "TS", "JS", "4S", "3S"}
    assert other == 1 + 10 + 10 + 2


def test_peer_H9_6_7_and_8_all_go_on_a_run_3_4_5():
    _, _, _, other, laid = settled("3S 4S 5S 9H 9D 9C KC KD KH AC", "6S 7S 8S QH QD 2D 4H 6C 8D JC")
    assert other == 10 + 10 + 2 + 4 + 6 + 8 + 10
    assert laid == {"6S", "7S", "8S"} or not laid  # they are a run of their own as well


def test_H9_never_round_the_corner_and_never_on_deadwood():
    # AS is no neighbour of QS KS; 2C is no neighbour of anything melded, 5C only of the loose 4C.
    _, _, _, other, laid = settled("JS QS KS 9H 9D 9C 7C 7D 7H 4C", "AS 5C 3C 2H 2D 8C KD QH 6S TH")
    assert laid == frozenset()
    assert other == 1 + 5 + 3 + 2 + 2 + 8 + 10 + 10 + 6 + 10


def test_H9_on_the_melds_as_the_knocker_laid_them_down():
    # The knocker's four sevens, or 5S 6S 7S and three sevens: what can be laid off differs.
    knocker, defender = "5S 6S 7S 7H 7D 7C KC KD KH AC", "8S 9S QS QH 2D 4H 6C 8D JC TD"
    as_set = settled(knocker, defender, MODERN, "7S 7H 7D 7C", "KC KD KH")
    as_run = settled(knocker, defender, MODERN, "5S 6S 7S", "7H 7D 7C", "KC KD KH")
    assert as_set[2:] == (12, 77, frozenset())
    assert as_run[2:] == (1, 77 - 17, frozenset({"8S", "9S"}))


def test_H10_own_melds_are_broken_where_that_leaves_less():
    #  knocker  5H 6H 7H, 9S 9D 9C …
    #  defender 8H 8D 8C (a set: 0), 9H TH: breaking the set costs 16 but 8H 9H TH go: 19
    melds = ("5H 6H 7H", "QS QD QC", "AS AD AC")
    knocker, defender = "5H 6H 7H QS QD QC AS AD AC 2S", "8H 8D 8C 9H TH 3S 3D 3C 4C KS"
    _, _, own, other, laid = settled(knocker, defender, MODERN, *melds)
    assert (own, laid) == (2, {"8H", "9H", "TH"})
    assert other == 16 + 10 + 4
    assert other == best_defence(parse(defender), [frozenset(parse(m)) for m in melds]) < 19 + 14


def test_H10_a_fourth_card_may_stay_in_an_own_run():
    # 9H is the fourth nine, but holds 7H 8H 9H together.
    melds = ("9S 9D 9C", "QS QD QC", "2S 2D 2C")
    knocker, defender = "9S 9D 9C QS QD QC 2S 2D 2C AS", "7H 8H 9H 3S 4D 5C 6S KD KS JC"
    assert settled(knocker, defender, MODERN, *melds)[3:] == (48, frozenset())


def test_C6_H9_the_longest_meld_holds_for_layoffs_too():
    rules = PRESETS["palace"]  # melds of 3 to 5 cards
    knocker, melds = "5S 6S 7S 9H 9D 9C KC KD KH AC", ("5S 6S 7S", "9H 9D 9C", "KC KD KH")
    # Two more at most: 8S 9S TS are a run of the defender's own, so it is best to lay 4S 3S below.
    assert settled(knocker, "8S 9S TS 4S 3S QD 2D 4H JD 6C", rules, *melds)[3:] == (32, {"4S", "3S"})
    # Of 8S 9S and 4S only two can be laid; under a limit of 4 one.
    knocker, melds = "5S 6S 7S QH QD QC KC KD KH AC", ("5S 6S 7S", "QH QD QC", "KC KD KH")
    loose = "8S 9S JS 4S 2H 2D 4H JD 6C 9C"
    assert settled(knocker, loose, rules, *melds)[4] == {"8S", "9S"}
    assert settled(knocker, loose, Rules(longest_meld=4), *melds)[4] == {"8S"}
    assert settled(knocker, loose, Rules(longest_meld=3), *melds)[4] == frozenset()


# --- The oracle against the engine ------------------------------------------------------------------


def deal_two(rng: random.Random, rich: bool, n: int = 10) -> tuple[list[str], list[str]]:
    """Return two hands; rich in melds, and near each other so that much can be laid off."""
    if not rich:
        dealt = rng.sample(DECK, n + 10)
        return dealt[:n], dealt[n:]
    pool = meld_rich_pool(rng)
    knocker = rng.sample(pool, n)
    near = [c for c in pool if c not in knocker]
    defender = rng.sample(near, min(len(near), rng.choice((4, 6, 8, 10))))
    others = [c for c in DECK if c not in knocker and c not in defender]
    return knocker, defender + rng.sample(others, 10 - len(defender))


RULES = [MODERN, PRESETS["denexa"], MODERN, PRESETS["palace"]] + [Rules(longest_meld=n) for n in (3, 4, 6, 5)]


def check_pairs(seed: int, n: int, rich: bool) -> None:
    """Settle ``n`` pairs: random ones and rich ones, ten cards and now and then eleven of which all are melded."""
    rng = random.Random(f"pairs {seed} {rich}")
    for i in range(n):
        compare(*deal_two(rng, rich), RULES[i % len(RULES)])


def test_H9_H10_S1_S2_S3_random_pairs():
    check_pairs(0, 5000, rich=False)


def test_H9_H10_S1_S2_S3_meld_rich_pairs():
    check_pairs(0, 3000, rich=True)


@pytest.mark.fuzz
@pytest.mark.parametrize("shard", range(1, 11))
def test_H9_H10_S1_S2_S3_200000_random_pairs(shard):
    check_pairs(shard, 20_000, rich=False)


@pytest.mark.fuzz
@pytest.mark.parametrize("shard", range(1, 11))
def test_H9_H10_S1_S2_S3_100000_meld_rich_pairs(shard):
    check_pairs(shard, 10_000, rich=True)


@pytest.mark.parametrize("longest", range(3, 13))
def test_C6_H9_H10_every_longest_meld(longest):
    rng = random.Random(longest)
    for _ in range(80):
        compare(*deal_two(rng, True), Rules(longest_meld=longest))


@pytest.mark.parametrize("longest", range(3, 13))
def test_C6_H9_H10_long_runs_that_grow_at_both_ends(longest):
    """Few suits, and the knocker's runs as short as may be: much can be laid off, and the limit decides what."""
    rng = random.Random(100 + longest)
    for n in range(60):
        pool = [c for c in DECK if c[1] in "SH" or (n % 3 == 0 and c[0] in "678")]
        knocker = rng.sample(pool, 9)
        defender = rng.sample([c for c in pool if c not in knocker], 9)
        chosen = rng.choice(best_arrangements(knocker, min(longest, 3 + n % 4)))
        melds = np.array([mask(m) for m in chosen] + [0] * (3 - len(chosen)), dtype=np.int64)
        left, laid = defend(mask(defender), melds, longest)
        assert left == best_defence(defender, chosen, longest=longest)
        assert cards(int(laid)) in reachable_layoffs(chosen, defender, longest)


def test_H9_H10_any_arrangement_the_knocker_may_choose():
    """Also arrangements that are not the best for the knocker: the defence is the best against each."""
    rng = random.Random(5)
    for n in range(400):
        knocker, defender = deal_two(rng, True)
        longest = (13, 13, 4, 5)[n % 4]
        chosen = rng.choice([*arrangements(knocker, longest), *best_arrangements(knocker, longest)])
        melds = np.array([mask(m) for m in chosen] + [0] * (3 - len(chosen)), dtype=np.int64)
        left, laid = defend(mask(defender), melds, longest)
        assert left == best_defence(defender, chosen, longest=longest)
        assert cards(int(laid)) in reachable_layoffs(chosen, defender, longest)


@pytest.mark.parametrize("name", ODD)
def test_S1_S2_S3_S4_small_decks_and_odd_rules(name):
    rules = ODD[name]
    deck = sorted(cards(deck_mask(rules.ranks, rules.suits)))
    rng = random.Random(name)
    for n in range(150):
        size = rules.cards_dealt
        dealt = rng.sample(deck, 2 * size)
        if n % 3 == 0:  # cards of few ranks and suits together
            dealt.sort(key=lambda c: (c[n % 2], rng.random()))
        if n % 2:
            dealt.reverse()
        compare(dealt[:size], dealt[size:], rules)


def test_S4_H8_eleven_melded_cards():
    rng = random.Random(8)
    rules = PRESETS["big_gin"]
    found = 0
    while found < 25:
        knocker, defender = deal_two(rng, True, 11)
        if least_deadwood(knocker) == 0:
            compare(knocker, defender, rules)
            found += 1
