"""`ginenv.arrange`, `deadwood` and `settle`: the worked examples of RULES.md section 8, peers' slips, checks."""

import itertools
import random

import pytest

import ginenv
from ginenv.cards import card_mask
from ginenv.hands import Layoff, _limit
from tests import reference

# The knocker of document 000's example: JS QS KS, two more melds, and 8D alone.
KNOCKER = "JS QS KS 4H 4D 4C 6H 7H 8H 8D"


# --- Cards in, answers out ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cards",
    ["AS 2S 3S KD", "as, 2s, 3s, kd", ["AS", "2S", 2, "KD"], [0, 1, 2, 38], card_mask("AS 2S 3S KD")],
)
def test_cards_are_text_numbers_or_a_mask(cards):
    found = ginenv.arrange(cards)
    assert (found.melds, found.loose, found.deadwood) == (("AS 2S 3S",), "KD", 10)
    assert ginenv.deadwood(cards) == 10
    assert str(found) == "AS 2S 3S | KD loose (10)"


@pytest.mark.parametrize(
    ("cards", "sentence"),
    [
        ("AS 1S", "'1S' is not a card"),
        ("AS AS", "AS comes twice"),
        ("AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS", "a hand has 11 cards at most, not 12"),
        ([54], "54 is not a card number"),
        (1 << 63, "is not a mask of cards"),
    ],
)
def test_wrong_cards_are_told(cards, sentence):
    for ask in (ginenv.arrange, ginenv.deadwood):
        with pytest.raises(ValueError, match=sentence):
            ask(cards)


def test_cards_outside_a_small_deck_are_told():
    small = ginenv.rules(ranks=10, cards_dealt=7)
    assert ginenv.deadwood("AS 2S 3S TD", rules=small) == 10
    with pytest.raises(ValueError, match="KD is not in this deck of 10 ranks and 4 suits"):
        ginenv.deadwood("AS 2S 3S KD", rules=small)


def test_an_unknown_preset_is_told():
    with pytest.raises(ValueError, match="no preset 'modem': did you mean modern"):
        ginenv.deadwood("AS", rules="modem")


def test_C1_the_ace_is_low_and_runs_never_wrap():
    assert ginenv.deadwood("AS 2S 3S") == 0
    assert ginenv.deadwood("QS KS AS") == 21
    assert ginenv.deadwood("KS AS 2S") == 13


def test_C5_a_card_is_in_one_meld_at_most():
    assert ginenv.deadwood("7C 7S 7H 8H 9H") == 14  # the run; the set would leave 17
    assert ginenv.arrange("7C 7S 7H 8H 9H").melds == ("7H 8H 9H",)


def test_C6_the_longest_meld():
    six = "4H 5H 6H 7H 8H 9H"
    assert ginenv.arrange(six).melds == (six,)
    assert ginenv.arrange(six, rules="palace").melds == ("4H 5H 6H", "7H 8H 9H")
    assert ginenv.deadwood("4H 5H 6H 7H", rules=ginenv.rules(longest_meld=3)) == 4


# --- Peers' slips (PEERS.md) ----------------------------------------------------------------------


def test_peer_least_deadwood_after_the_best_discard_is_10():
    hand = ["5S", "7S", "AC", "5C", "6C", "7C", "AH", "3H", "5H", "6H", "7H"]
    left = {c: ginenv.deadwood([x for x in hand if x != c]) for c in hand}
    assert min(left.values()) == left["7S"] == 10


def test_peer_discarding_5H_is_gin():
    assert ginenv.deadwood("3S 4S 5S 2C 3C 4C 5C 2D 3D 4D") == 0


@pytest.mark.parametrize("hand", ["6H QH QC 5H KD KH 7H KC 4H QD", "TC 2H 3H 2S TD 5H 3S 4H 4S TS"])
def test_peer_gin_hands_once_missed(hand):
    assert ginenv.deadwood(hand) == 0


def test_peer_H9_layoff_chains_run_on_at_both_ends():
    low_run = "3S 4S 5S 9H 9D 9C JH QH KH AD"
    settled = ginenv.settle(low_run, "6S 7S 8S KC KD QC JC 9S 7D 4D")
    assert settled.layoffs == (Layoff("6S 7S 8S 9S", "3S 4S 5S"),)
    high_run = "TS JS QS 9H 9D 9C AH 2H 3H AD"
    settled = ginenv.settle(high_run, "9S 8S 7S KC KD QC JC 7D 4D 2C")
    assert settled.layoffs == (Layoff("7S 8S 9S", "TS JS QS"),)


def test_peer_gin_leaves_the_opponent_the_own_melds():
    gin = "AS 2S 3S 4H 4D 4C JS QS KS TS"
    settled = ginenv.settle(gin, "5H 6H 7H 8D 8C 8H 9D 9C 9H 9S")
    assert (settled.kind, settled.defender_deadwood, settled.points) == ("gin", 0, 25)
    settled = ginenv.settle(gin, "5H 6H 7H 2H 2D 2C TH TD TC 9S")
    assert (settled.kind, settled.defender_deadwood, settled.points) == ("gin", 9, 34)


def test_peer_a_knock_with_10_against_0_costs_the_knocker():
    settled = ginenv.settle("AS 2S 3S 4H 4D 4C JS QS KS TD", "5H 6H 7H 2H 2D 2C 9S 9H 9D 9C")
    assert (settled.kind, settled.winner, settled.points) == ("undercut", "defender", 35)


def test_peer_small_decks_settle():
    tiny = ginenv.rules(ranks=7, suits=4, cards_dealt=5, knock_limit=10)
    settled = ginenv.settle("AS 2S 3S 4H AD", "7S 7H 7D 4S 6C", rules=tiny)
    assert (settled.knocker_deadwood, settled.defender_deadwood) == (5, 6)
    assert settled.layoffs == (Layoff("4S", "AS 2S 3S"),)


# --- Worked examples (RULES.md section 8) ---------------------------------------------------------


def test_S1_document_001_knock_with_6_against_21_scores_15():
    settled = ginenv.settle("JS QS KS 4H 4D 4C 7H 8H 9H 6D", "2S 2H 2D TD JD QD AC 3C 7C KH")
    assert (settled.kind, settled.winner, settled.points) == ("knock", "knocker", 15)
    assert (settled.knocker_deadwood, settled.defender_deadwood) == (6, 21)


def test_S1_H9_document_000_TS_is_laid_off_and_the_knock_scores_24():
    settled = ginenv.settle(KNOCKER, "TS 2S 2H 2D KD QH 5C 3D AC 3H")
    assert settled.layoffs == (Layoff("TS", "JS QS KS"),)
    assert settled.defender_melds == ("2S 2H 2D",)
    assert (settled.kind, settled.points) == ("knock", 24)
    assert str(settled) == ("knock, 8 against 32: the knocker scores 24; laid off: TS on JS QS KS")


def test_S2_document_000_with_6_left_it_is_an_undercut_for_27():
    settled = ginenv.settle(KNOCKER, "TS 2S 2H 2D 9D TD JD QD 5C AC")
    assert (settled.kind, settled.winner, settled.points) == ("undercut", "defender", 27)


def test_C5_document_003_a_card_in_two_melds_is_refused():
    # Printed: a run 2H-8H and "a set of twos in all four suits", which uses 2H twice.
    defender = "9H TH KS KD QS JD 7C 6S 5D 4C"
    with pytest.raises(ValueError, match="2H comes twice"):
        ginenv.settle("2H 3H 4H 5H 6H 7H 8H 2S 2H 2D 2C", defender)
    with pytest.raises(ValueError, match=r"2H is in two melds: a card is in one at most \(C5\)"):
        ginenv.settle(
            "2H 3H 4H 5H 6H 7H 8H 2S 2D 2C",
            defender,
            melds=["2H 3H 4H 5H 6H 7H 8H", "2S 2H 2D 2C"],
        )


def test_H9_document_003_9H_and_TH_go_on_the_run_from_3H_to_8H():
    settled = ginenv.settle("3H 4H 5H 6H 7H 8H 2S 2D 2C AS", "9H TH KS KD QS JD 7C 6S 5D 4C")
    assert settled.layoffs == (Layoff("9H TH", "3H 4H 5H 6H 7H 8H"),)
    # With all four twos the hand is gin, and nothing is laid off.
    settled = ginenv.settle("3H 4H 5H 6H 7H 8H 2S 2H 2D 2C", "9H TH KS KD QS JD 7C 6S 5D 4C")
    assert (settled.kind, settled.layoffs) == ("gin", ())


def test_S2_document_004_a_tie_is_an_undercut_and_a_difference_of_4_scores_14():
    tie = "TS 2S 2H 2D 9D TD JD QD 5C 3C"  # 8 after the layoff
    settled = ginenv.settle(KNOCKER, tie, rules="palace")
    assert (settled.kind, settled.points) == ("undercut", 10)
    four_less = "TS 2S 2H 2D 9D TD JD QD 3C AC"
    settled = ginenv.settle(KNOCKER, four_less, rules="palace")
    assert (settled.kind, settled.points) == ("undercut", 14)
    # The option: an equal count is no undercut, and the knock is worth 0.
    settled = ginenv.settle(KNOCKER, tie, rules="denexa")
    assert (settled.kind, settled.points) == ("knock", 0)


@pytest.mark.parametrize(("upcard", "limit"), [("6H", 6), ("KD", 10), ("JC", 10), ("TD", 10), ("AH", 0)])
def test_V1_the_upcard_sets_the_limit(upcard, limit):
    # Deadwood 0 to 10, by the one loose card.
    melds, defender = "JS QS KS 4H 4D 4C 7H 8H 9H", "2S 2H 2D TD JD QD 3C 7C KH"
    for loose, points in (("AD", 1), ("6D", 6), ("7D", 7), ("KC", 10)):
        hands = (f"{melds} {loose}", f"{defender} 9C")
        if points <= limit:
            assert ginenv.settle(*hands, rules="oklahoma", upcard=upcard).kind == "knock"
        else:
            with pytest.raises(ValueError, match=f"with {points} deadwood: the limit is {limit}"):
                ginenv.settle(*hands, rules="oklahoma", upcard=upcard)


def test_V1_a_spade_upcard_doubles():
    hands = "JS QS KS 4H 4D 4C 7H 8H 9H 6D", "2S 2H 2D TD JD QD AC 3C 7C KH"
    assert ginenv.settle(*hands, rules="oklahoma", upcard="6S").points == 30
    assert ginenv.settle(*hands, rules="oklahoma", upcard=5).points == 30  # a card's number
    assert ginenv.settle(*hands, rules="oklahoma", upcard="6C").points == 15
    with pytest.raises(ValueError, match="oklahoma: the first upcard sets the knock limit"):
        ginenv.settle(*hands, rules="oklahoma")


def test_V1_settle_and_table_agree_on_every_upcard():
    for up in ginenv.cards_text(list(range(52))).split():
        rest = [c for c in ginenv.cards_text(list(range(52))).split() if c != up]
        table = ginenv.Table("oklahoma", dealer=0, deck=[*rest[:20], up, *rest[20:]])
        limit = (table.knock_limit, int(table.view(0)["multiplier"]))
        assert limit == _limit(ginenv.rules("oklahoma"), up)


# --- Settlement -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("preset", "points"), [("big_gin", 31 + 40), ("palace", 50 + 40)])
def test_H8_S4_big_gin(preset, points):
    eleven = "4H 5H 6H 7H 8H 9H 9C TC JC QC KC"
    settled = ginenv.settle(eleven, "AS 2S 3S 5S 7S 9S JS AD 3D 5D", rules=preset)
    assert (settled.kind, settled.points, settled.layoffs) == ("big_gin", points, ())


def test_H9_the_knocker_may_lay_down_other_melds():
    knocker = "AS AH AD 2S 3S JH QH KH 9D 9C"  # AS in the run or in the set
    wide, defender = ginenv.rules(knock_limit=30), "4S AC 2D 2C 4C 6C 6D 8S 8D KS"
    on_run = ginenv.settle(knocker, defender, rules=wide, melds=["AS 2S 3S", "JH QH KH"])
    assert (on_run.knocker_deadwood, on_run.layoffs) == (20, (Layoff("4S", "AS 2S 3S"),))
    on_set = ginenv.settle(knocker, defender, rules=wide, melds=["AS AH AD", "JH QH KH"])
    assert (on_set.knocker_deadwood, on_set.layoffs) == (23, (Layoff("AC", "AS AH AD"),))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"knocker": KNOCKER + " 8C"}, "the knocker holds 11 cards, and these rules have no big gin"),
        ({"knocker": KNOCKER[:-3]}, "the knocker holds 9 cards: it must be 10"),
        ({"defender": "TS 2S"}, "the defender holds 2 cards: it must be 10"),
        ({"defender": "JS 2S 2H 2D KD QH 5C 3D AC 3H"}, "JS cannot be in both hands"),
        ({"defender": "TS TS"}, "the defender: TS comes twice"),
        ({"knocker": KNOCKER[:-2] + "XX"}, "the knocker: 'XX' is not a card"),
        ({"rules": ginenv.rules(knock_limit=7)}, "cannot knock with 8 deadwood: the limit is 7"),
        ({"rules": "straight"}, "cannot knock with 8 deadwood: the limit is 0"),
        ({"knocker": KNOCKER + " 8C", "rules": "big_gin"}, "11 cards with 13 deadwood are no big gin"),
        ({"melds": ["JS QS KS 4H"]}, "JS QS KS 4H is not a meld"),
        ({"melds": ["TS JS QS"]}, "meld TS JS QS: the knocker does not hold TS"),
        ({"melds": ["JS QS KS"]}, "cannot knock with 41 deadwood"),
        ({"melds": "JS QS KS"}, "melds are a list with one entry a meld"),
        ({"melds": []}, "melds is empty"),
    ],
)
def test_impossible_settlements_are_told(change, sentence):
    asked = {"knocker": KNOCKER, "defender": "TS 2S 2H 2D KD QH 5C 3D AC 3H", **change}
    with pytest.raises(ValueError, match=sentence):
        ginenv.settle(**asked)


def test_C6_melds_beyond_the_longest_are_told():
    knocker = "4H 5H 6H 7H 8H 9H 2S 2D 2C AS"
    with pytest.raises(ValueError, match=r"meld 4H 5H 6H 7H 8H 9H is too long: 5 cards at most"):
        ginenv.settle(
            knocker,
            "TH KS KD QS JD 7C 6S 5D 4C 3C",
            rules="palace",
            melds=["4H 5H 6H 7H 8H 9H", "2S 2D 2C"],
        )


def meld_rich_hands(rng: random.Random) -> tuple[list[str], list[str]]:
    """Return two disjoint hands of ten, cards near each other so that melds and layoffs are many."""
    low = rng.randrange(0, 7)
    near = [c for c in reference.full_deck() if low <= reference.RANKS.index(c[0]) < low + 7]
    cards = rng.sample(near, 20)
    return cards[:10], cards[10:]


@pytest.mark.parametrize("longest", [13, 5, 3])
def test_H10_layoffs_are_consistent_whatever_is_dealt(longest):
    rng = random.Random(longest)
    rules = ginenv.rules(knock_limit=100, longest_meld=longest)
    for _ in range(150):
        own, other = meld_rich_hands(rng)
        settled = ginenv.settle(own, other, rules=rules)
        laid = [c for layoff in settled.layoffs for c in layoff.cards.split()]
        melded = [c for meld in settled.defender_melds for c in meld.split()]
        assert len(set(laid + melded)) == len(laid) + len(melded)
        assert set(laid + melded) <= set(other)
        loose = reference.total(set(other) - set(laid + melded))
        assert loose == settled.defender_deadwood
        for layoff in settled.layoffs:
            assert layoff.meld in settled.knocker_melds
            whole = frozenset(f"{layoff.cards} {layoff.meld}".split())
            assert reference.is_meld(whole, longest)
        for meld in itertools.chain(settled.knocker_melds, settled.defender_melds):
            assert reference.is_meld(frozenset(meld.split()), longest)
