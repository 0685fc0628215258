"""The oracle itself, on the worked examples of the documents (RULES.md section 8) and the hands
where peers go wrong.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from itertools import combinations

import pytest

from tests.reference import (
    DEAD,
    Action,
    HandResult,
    NaiveGame,
    NaiveGameRules,
    NaiveHand,
    NaiveRules,
    Settlement,
    all_melds,
    arrangements,
    best_arrangements,
    best_defence,
    can_big_gin,
    choose_knocker_arrangement,
    deadwood_of,
    extensions,
    full_deck,
    is_meld,
    layoffable,
    least_deadwood,
    legal_knocks,
    limit_of,
    loose_cards,
    multiplier_of,
    parse,
    reachable_layoffs,
    settle,
    settle_with,
    settlements,
    show,
    value,
)


def meld(text: str) -> frozenset[str]:
    """Return the cards of a text as one meld."""
    return frozenset(parse(text))


# --- Cards and melds ------------------------------------------------------------------------------


def test_cards() -> None:
    """C1, C2: the deck, text both ways, values."""
    assert len(set(full_deck())) == 52
    assert full_deck(3, 2) == ["AS", "2S", "3S", "AH", "2H", "3H"]
    assert show(parse("KC AS 2H TD")) == "AS 2H TD KC"
    assert [value(card) for card in parse("AS 2S 9S TS JS QS KS")] == [1, 2, 9, 10, 10, 10, 10]
    for wrong in ("1S", "AX", "10S", "AS AS", "as"):
        with pytest.raises(ValueError):
            parse(wrong)


def test_melds() -> None:
    """C1, C3, C4, C6: what is a meld and what is not."""
    for good in ("AS 2S 3S", "JH QH KH", "7S 7H 7C", "7S 7H 7D 7C", "AS 2S 3S 4S 5S 6S"):
        assert is_meld(meld(good))
    for bad in (
        "QS KS AS",
        "AS 2S",
        "KS AS 2S",
        "7S 7H",
        "7S 8H 9S",
        "7S 8S TS",
        "7S 7H 8S",
        "7S 7H 7C 8S",
    ):
        assert not is_meld(meld(bad))
    assert not is_meld(meld("AS 2S 3S 4S 5S 6S"), longest=5)
    assert not is_meld(meld("7S 7H 7D 7C"), longest=3)


@pytest.mark.parametrize("longest", [3, 4, 5, 13])
def test_all_melds_are_the_subsets_that_are_melds(longest: int) -> None:
    """C3-C6: the melds found are just those among all subsets."""
    rng = random.Random(longest)
    for _ in range(20):
        cards = rng.sample(rng.choice([full_deck(), full_deck(8, 2), full_deck(4, 4)]), 10)
        subsets = [frozenset(chosen) for size in range(11) for chosen in combinations(cards, size)]
        melds = all_melds(cards, longest)
        assert Counter(melds) == Counter(subset for subset in subsets if is_meld(subset, longest))


def test_one_meld_at_most() -> None:
    """C5: `7C 7S 7H 8H 9H` is one set or one run, not both."""
    cards = parse("7C 7S 7H 8H 9H")
    assert set(arrangements(cards)) == {
        frozenset(),
        frozenset({meld("7C 7S 7H")}),
        frozenset({meld("7H 8H 9H")}),
    }
    assert least_deadwood(cards) == 14
    assert best_arrangements(cards) == [frozenset({meld("7H 8H 9H")})]


def test_arrangements_are_all_disjoint_choices() -> None:
    """C5: the arrangements are just those among all choices of melds, each once."""
    rng = random.Random(5)
    for _ in range(20):
        cards = rng.sample(full_deck(7, 4), 9)
        melds = all_melds(cards)
        wanted = [
            frozenset(chosen)
            for size in range(4)
            for chosen in combinations(melds, size)
            if sum(map(len, chosen)) == len(frozenset().union(*chosen))
        ]
        assert Counter(arrangements(cards)) == Counter(wanted)


def test_longest_meld_changes_deadwood() -> None:
    """C6: with melds of at most 5, a run of 7 leaves a card over; 6 are two runs of 3."""
    assert least_deadwood(parse("AS 2S 3S 4S 5S 6S 7S"), 5) == 0
    assert least_deadwood(parse("AS 2S 3S 4S 5S 6S"), 5) == 0
    assert least_deadwood(parse("AS 2S 3S 4S 5S 6S 7S"), 3) == 1
    assert least_deadwood(parse("AS AH AD AC"), 3) == 1


@pytest.mark.parametrize(
    ("text", "deadwood"),
    [
        ("6H QH QC 5H KD KH 7H KC 4H QD", 0),
        ("TC 2H 3H 2S TD 5H 3S 4H 4S TS", 0),
        ("AS 3S 5S 7S 9S JS KS 2H 4H 6H", 57),
        ("", 0),
    ],
)
def test_least_deadwood(text: str, deadwood: int) -> None:
    """C5: gin hands once missed elsewhere (PEERS.md), and plain ones."""
    assert least_deadwood(parse(text)) == deadwood


def test_knocks_refused_elsewhere() -> None:
    """H5: PEERS.md's hand with 10 after discarding 7S, where OpenSpiel says 11."""
    cards = parse("5S 7S AC 5C 6C 7C AH 3H 5H 6H 7H")
    left = {card: least_deadwood(set(cards) - {card}) for card in cards}
    assert left["7S"] == 10
    assert min(left.values()) == 10
    assert "7S" in legal_knocks(cards, 10)
    assert legal_knocks(cards, 9) == set()


def test_gin_refused_elsewhere() -> None:
    """H7: PEERS.md's hand in which 5H leaves gin, where OpenSpiel says 2."""
    cards = parse("3S 4S 5S 2C 3C 4C 5C 2D 3D 4D 5H")
    assert "5H" in legal_knocks(cards, 0)
    assert least_deadwood(set(cards) - {"5H"}) == 0


# --- Layoffs --------------------------------------------------------------------------------------


def test_chains() -> None:
    """H9: on 3-4-5 of spades, 6, 7 and 8 all go; at the low end 2 and A; never round the corner."""
    run = [meld("3S 4S 5S")]
    assert max(reachable_layoffs(run, parse("6S 7S 8S KH")), key=len) == meld("6S 7S 8S")
    assert max(reachable_layoffs(run, parse("AS 2S KS")), key=len) == meld("AS 2S")
    assert reachable_layoffs(run, parse("7S 8S")) == {frozenset()}
    assert best_defence(parse("6S 7S 8S KH"), run) == 10
    assert reachable_layoffs([meld("JS QS KS")], parse("AS 2S")) == {frozenset()}


def test_longest_meld_stops_layoffs() -> None:
    """C6, H9: a meld may not grow past the limit; which of the cards are laid is the defender's
    choice.
    """
    run = [meld("3S 4S 5S")]
    laid = reachable_layoffs(run, parse("AS 2S 6S 7S"), 5)
    assert laid == {meld(text) for text in ("", "2S", "6S", "AS 2S", "2S 6S", "6S 7S")}
    assert best_defence(parse("AS 2S 6S 7S"), run, longest=5) == 3
    assert reachable_layoffs([meld("7S 7H 7D")], ["7C"], 3) == {frozenset()}
    assert layoffable(run, parse("3S 4S 5S"), longest=5) == meld("AS 2S 6S 7S")
    assert layoffable([meld("3S 4S 5S 6S 7S")], parse("3S 4S 5S 6S 7S"), longest=5) == set()


def test_layoffable() -> None:
    """H9: the cards of the whole deck that fit, chains as far as the knocker holds none of them."""
    assert layoffable([meld("JS QS KS")], parse("JS QS KS")) == set(parse("AS 2S 3S 4S 5S 6S 7S 8S 9S TS"))
    assert layoffable([meld("JS QS KS")], parse("JS QS KS 8S")) == set(parse("9S TS"))
    assert layoffable([meld("7S 7H 7D")], parse("7S 7H 7D")) == {"7C"}
    assert layoffable([meld("7S 7H 7D")], parse("7S 7H 7D 7C")) == set()
    assert layoffable([meld("7S 7H 7D 7C")], parse("7S 7H 7D 7C")) == set()
    assert layoffable([meld("AS AH AD")], parse("AS AH AD"), ranks=5, suits=3) == set()
    assert layoffable([meld("AS 2S 3S")], parse("AS 2S 3S"), ranks=5, suits=3) == {"4S", "5S"}


def test_extensions_are_the_cards_that_keep_a_meld() -> None:
    """H9: the neighbours of each meld are just the cards that leave a meld when added."""
    for longest in (4, 5, 13):
        for ranks, suits in ((13, 4), (7, 4), (5, 3)):
            deck = full_deck(ranks, suits)
            for some in all_melds(deck, longest):
                fitting = {card for card in deck if card not in some and is_meld(some | {card}, longest)}
                assert extensions(some, ranks, suits, longest) == fitting


def test_knocker_hides_what_could_be_laid_off() -> None:
    """Issue 2: among equal deadwoods the one with the fewest cards that could be laid off."""
    # the least deadwood comes first: all four fours in the set would leave 5C 6C
    cards = parse("4S 4H 4D 4C 5C 6C")
    assert choose_knocker_arrangement(cards) == {frozenset({meld("4S 4H 4D"), meld("4C 5C 6C")})}
    # equal deadwood: three runs, or three sets, which show three cards and not many
    cards = parse("4S 5S 6S 4H 5H 6H 4D 5D 6D")
    assert len(best_arrangements(cards)) > 1
    assert choose_knocker_arrangement(cards) == {frozenset({meld("4S 4H 4D"), meld("5S 5H 5D"), meld("6S 6H 6D")})}


def literal_defence(defender: list[str], knocker_melds: list[frozenset[str]], longest: int) -> int:
    """H10 word for word: own melds first, then layoffs of what is loose, everything tried."""
    return min(
        deadwood_of(set(defender) - laid, own)
        for own in arrangements(defender, longest)
        for laid in reachable_layoffs(knocker_melds, loose_cards(defender, own), longest)
    )


@pytest.mark.parametrize("longest", [4, 5, 13])
def test_best_defence_is_the_joint_one(longest: int) -> None:
    """H10: laying off first and melding the rest comes to the same as melding first and laying off
    what is loose.
    """
    rng = random.Random(longest)
    for _ in range(60):
        cards = rng.sample(full_deck(rng.randint(6, 9), 4), 20)
        melds = list(next(iter(choose_knocker_arrangement(cards[:10], longest=longest))))
        assert best_defence(cards[10:], melds, longest=longest) == literal_defence(cards[10:], melds, longest)


def test_melds_broken_to_lay_off_more() -> None:
    """H10: a set is broken where its card opens a chain; not where the longest meld stops the
    chain.
    """
    run = [meld("3S 4S 5S")]
    defender = parse("6S 6H 6D 6C 7S")
    assert best_defence(defender, run) == 0
    assert best_defence(defender, run, longest=4) == 7
    assert best_defence(defender, run, gin=True) == 7
    # the set of nines and the layoffs 7H 8H, in place of the run 7H 8H 9H and 9S 9D loose
    assert best_defence(parse("7H 8H 9H 9S 9D"), [meld("4H 5H 6H")]) == 0


# --- Settlement: the documents' examples ----------------------------------------------------------


def test_document_001() -> None:
    """S1: knock with 6 against 21 after layoffs scores 15."""
    knocker, defender = (
        parse("7S 7H 7D JS QS KS 8C 9C TC 6D"),
        parse("TS 7C AH AD AC KH 2D 4D 5C QC"),
    )
    assert settle(knocker, defender) == Settlement("knock", 31 - 6, 6, 31)
    defender = parse("TS 7C AH AD AC KH 2D 4D 5C 2H")
    assert best_defence(defender, [meld("7S 7H 7D"), meld("JS QS KS"), meld("8C 9C TC")]) == 10 + 2 + 4 + 5 + 2
    defender = parse("TS JC AH AD AC KH 2D 4D 5C 9S")
    assert settle(knocker, defender) == Settlement("knock", 15, 6, 21)


def test_document_000() -> None:
    """S1, S2, H9: knocker 8 and opponent 32 after TS goes on JS QS KS: 24; with 6 left instead 2 +
    25.
    """
    knocker = parse("7S 7H 7C JS QS KS AH AD 2C 4H")
    assert settle(knocker, parse("KH KD KC TS TH 8D 6C 5D 2S AC")) == Settlement("knock", 24, 8, 32)
    assert settle(knocker, parse("KH KD KC TS 9S 8S 3D 3S 2H 2D")) == Settlement("knock", 2, 8, 10)
    assert settle(knocker, parse("KH KD KC TS 9S 8S 7D 3D 2H AC")) == Settlement("undercut", -27, 8, 6)


def test_document_003() -> None:
    """C5, H9: 2H-8H and four twos use 2H twice and are refused; on 3H-8H both 9H and TH go."""
    knocker = parse("2H 3H 4H 5H 6H 7H 8H 2S 2D 2C")
    twice = [meld("2H 3H 4H 5H 6H 7H 8H"), meld("2S 2H 2D 2C")]
    with pytest.raises(ValueError, match="2H"):
        settle_with(knocker, twice, parse("9H TH AS AD AC KS KD KC QS JS"))
    knocker = parse("3H 4H 5H 6H 7H 8H 2H 2S 2D 4C")
    once = [meld("3H 4H 5H 6H 7H 8H"), meld("2S 2H 2D")]
    defender = parse("9H TH AS AD AC KS KD KC 6S 5S")
    assert settle_with(knocker, once, defender) == Settlement("knock", 7, 4, 11)


def test_document_004() -> None:
    """S2: undercut with a difference of 4 and a bonus of 10 is 14; a tie is an undercut."""
    palace = NaiveRules(longest_meld=5, knock_limit=9, gin_bonus=30, undercut_bonus=10, big_gin_bonus=50)
    knocker = parse("8H 9H TH AS AD AC 3S 3D 3C 9D")
    defender = parse("JH 7H 4S 4D 4C KS KD KC KH 5C")
    assert settle(knocker, defender, rules=palace) == Settlement("undercut", -14, 9, 5)
    tied = parse("JH 7H 4S 4D 4C KS KD KC KH 9C")
    assert settle(knocker, tied, rules=palace) == Settlement("undercut", -10, 9, 9)


def test_ties() -> None:
    """S2: an equal count is an undercut for the flat bonus, or under the option a knock worth 0."""
    knocker, defender = (
        parse("8H 9H TH AS AD AC 3S 3D 3C 9D"),
        parse("JH 7H 4S 4D 4C KS KD KC KH 9C"),
    )
    assert settle(knocker, defender) == Settlement("undercut", -25, 9, 9)
    assert settle(knocker, defender, rules=NaiveRules(undercut_ties=False)) == Settlement("knock", 0, 9, 9)


def test_ten_against_nothing_costs_the_knocker() -> None:
    """S2: a knock with 10 against 0 (PEERS.md)."""
    knocker, defender = (
        parse("AS AH AD JS QS KS 4H 5H 6H TC"),
        parse("2S 2H 2D 7S 7H 7D 9S 9H 9D 9C"),
    )
    assert settle(knocker, defender) == Settlement("undercut", -35, 10, 0)


def test_gin() -> None:
    """S3, S4, H8, H9: no layoffs on gin and big gin; own melds count (9, not 60, of PEERS.md)."""
    gin = parse("JS QS KS 7H 7D 7C 2S 2H 2D 2C")
    defender = parse("TS 7S 9H 9D 9C 8C 5S 5H 5D 5C")
    assert settle(gin, defender) == Settlement("gin", 25 + 25, 0, 25)
    assert settle(gin, defender, multiplier=2) == Settlement("gin", 100, 0, 25)
    big = [*gin, "TS"]
    defender[0] = "KH"
    assert can_big_gin(big)
    assert settle(big, defender, big_gin=True) == Settlement("big_gin", 31 + 25, 0, 25)
    with pytest.raises(ValueError, match="big gin"):
        settle([*gin, "4H"], defender, big_gin=True)
    against_gin = parse("KH KD KC QH QD QC 4H 4D 4C 9S")
    assert settle(gin, against_gin) == Settlement("gin", 34, 0, 9)


# --- One hand -------------------------------------------------------------------------------------


def stacked(non_dealer: str, dealer: str, then: str = "") -> list[str]:
    """Return a deck that deals these hands, the cards of ``then`` next (upcard first), and the
    rest in order.
    """
    dealt = [card for pair in zip(parse(non_dealer), parse(dealer), strict=True) for card in pair]
    dealt += parse(then)
    return dealt + [card for card in full_deck() if card not in dealt]


LOW, HIGH = "7S 7H 7D JS QS KS 8C 9C TC 6D", "TS JC AH AD AC KH 2D 4D 5C 9S"


def test_deal_and_first_turn() -> None:
    """H1, H2: 31 cards in the stock; the upcard is offered twice, then the non-dealer must draw."""
    hand = NaiveHand(stacked(LOW, HIGH, "KD 3S"), dealer=1)
    assert hand.hands == [set(parse(LOW)), set(parse(HIGH))]
    assert (hand.pile, len(hand.stock), hand.seat, hand.phase) == (["KD"], 31, 0, "upcard")
    hand.apply(("pass",))
    assert (hand.seat, hand.legal()) == (1, {("take",), ("pass",)})
    hand.apply(("pass",))
    assert (hand.seat, hand.legal()) == (0, {("draw",)})
    hand.apply(("draw",))
    assert hand.hands[0] == {*parse(LOW), "3S"}
    assert ("knock", "3S") in hand.legal()
    hand.apply(("knock", "3S"))
    assert hand.result == HandResult("knock", 0, 0, 15, 6, 21)
    assert (hand.phase, hand.legal(), hand.pile) == ("over", set(), ["KD", "3S"])


def test_dealer_takes_the_upcard() -> None:
    """H2: after the dealer has taken and discarded, the non-dealer goes on and may take the
    discard (H3).
    """
    hand = NaiveHand(stacked(LOW, HIGH, "KD"), dealer=1)
    for action in (("pass",), ("take",), ("discard", "KH")):
        hand.apply(action)
    assert (hand.seat, hand.pile, hand.legal()) == (0, ["KH"], {("draw",), ("take",)})


def test_taken_card_stays() -> None:
    """H4: neither discarded nor knocked with on the same turn, except under the option; a drawn
    card may be.
    """
    hand = NaiveHand(stacked(LOW, HIGH, "KD"), dealer=1)
    hand.apply(("take",))
    assert {("discard", "KD"), ("knock", "KD")}.isdisjoint(hand.legal())
    with pytest.raises(ValueError, match="not legal"):
        hand.apply(("knock", "KD"))
    free = NaiveHand(stacked(LOW, HIGH, "KD"), NaiveRules(discard_taken=True), dealer=1)
    free.apply(("take",))
    assert {("discard", "KD"), ("knock", "KD")} <= free.legal()


def test_big_gin() -> None:
    """V4, H8, S4: eleven melded cards are declared without a discard, where the rules know it."""
    gin, other = "JS QS KS 7H 7D 7C 2S 2H 2D 2C", "KH 7S 9H 9D 9C 8C 5S 5H 5D 5C"
    hand = NaiveHand(stacked(gin, other, "TS"), NaiveRules(big_gin=True), dealer=1)
    hand.apply(("take",))
    assert ("big gin",) in hand.legal()
    hand.apply(("big gin",))
    assert hand.result == HandResult("big_gin", 0, 0, 56, 0, 25)
    plain = NaiveHand(stacked(gin, other, "TS"), dealer=1)
    plain.apply(("take",))
    assert ("big gin",) not in plain.legal()


@pytest.mark.parametrize(
    ("upcard", "limit", "multiplier"),
    [("6H", 6, 1), ("KD", 10, 1), ("TC", 10, 1), ("AH", 0, 1), ("AS", 0, 2), ("9S", 9, 2)],
)
def test_oklahoma(upcard: str, limit: int, multiplier: int) -> None:
    """V1: a 6 makes the limit 6, a face card 10, an ace gin only; a spade doubles."""
    rules = NaiveRules(oklahoma=True, oklahoma_ace_gin=True, oklahoma_spades_double=True)
    assert (limit_of(rules, upcard), multiplier_of(rules, upcard)) == (limit, multiplier)
    bare = NaiveRules(oklahoma=True)
    assert (limit_of(bare, upcard), multiplier_of(bare, upcard)) == (max(limit, 1), 1)


def test_spade_upcard_doubles_a_hand() -> None:
    """V1: all that the hand scores, here a knock's difference and an undercut's bonus, doubles."""
    rules = NaiveRules(oklahoma=True, oklahoma_spades_double=True)
    hand = NaiveHand(stacked(LOW, HIGH, "8S 3S"), rules, dealer=1)
    for action in (("pass",), ("pass",), ("draw",), ("knock", "3S")):
        hand.apply(action)
    assert hand.result == HandResult("knock", 0, 0, 30, 6, 21)
    assert hand.result.scores == (30, 0)


def test_straight() -> None:
    """V3: with 6 left there is no knock in straight gin."""
    hand = NaiveHand(stacked(LOW, HIGH, "KD 3S"), NaiveRules(straight=True), dealer=1)
    for action in (("pass",), ("pass",), ("draw",)):
        hand.apply(action)
    assert all(action[0] == "discard" for action in hand.legal())


def play_on(hand: NaiveHand, choice: str) -> int:
    """Play with no knocks, a ``choice`` of "draw" or "take" each turn; return the cards drawn from
    the stock.
    """
    before = len(hand.stock)
    while hand.phase != "over":
        legal = hand.legal()
        wanted: Action = (choice,)
        if hand.phase == "upcard":
            hand.apply(("take",) if choice == "take" else ("pass",))
        elif hand.phase == "draw":
            hand.apply(wanted if wanted in legal else ("draw",))
        else:
            hand.apply(min(action for action in legal if action[0] == "discard"))
    return before - len(hand.stock)


def test_dead_hand() -> None:
    """H11, S5: the fiftieth card is the last one drawn; its drawer may still knock, else nobody
    scores.
    """
    hand = NaiveHand(stacked(LOW, HIGH), dealer=1)
    assert play_on(hand, "draw") == 29
    assert (len(hand.stock), hand.result, DEAD.scores) == (2, DEAD, (0, 0))


def test_turn_limit() -> None:
    """H15: the discard pile taken for ever ends the hand as dead at the limit."""
    hand = NaiveHand(stacked(LOW, HIGH), dealer=1)
    assert play_on(hand, "take") == 0
    assert (hand.turns, hand.result) == (100, DEAD)
    hand = NaiveHand(stacked(LOW, HIGH), NaiveRules(turn_limit=1), dealer=1)
    hand.apply(("take",))
    assert any(action[0] == "knock" for action in hand.legal())
    hand.apply(("discard", "6D"))
    assert hand.result == DEAD


def test_illegal_actions_change_nothing() -> None:
    """I1: an error, and the hand as it was."""
    hand = NaiveHand(stacked(LOW, HIGH, "KD"), dealer=1)
    wrong: list[Action] = [("draw",), ("discard", "6D"), ("knock", "6D"), ("big gin",), ("sleep",)]
    for action in wrong:
        with pytest.raises(ValueError):
            hand.apply(action)
    assert (hand.seat, hand.phase, hand.turns, len(hand.stock)) == (0, "upcard", 0, 31)
    with pytest.raises(ValueError):
        NaiveHand(["AS"] * 52)


VARIANTS = [
    NaiveRules(),
    NaiveRules(
        longest_meld=5,
        knock_limit=9,
        gin_bonus=30,
        undercut_bonus=10,
        big_gin=True,
        big_gin_bonus=50,
    ),
    NaiveRules(oklahoma=True, oklahoma_ace_gin=True, oklahoma_spades_double=True),
    NaiveRules(straight=True),
    NaiveRules(undercut_ties=False, discard_taken=True),
    NaiveRules(ranks=10, cards_dealt=7),
    NaiveRules(ranks=7, cards_dealt=5, big_gin=True),
    NaiveRules(ranks=5, suits=3, cards_dealt=4, dead_stock=0),
]


@pytest.mark.parametrize("rules", VARIANTS)
def test_random_hands(rules: NaiveRules) -> None:
    """H1-H11: random play keeps every card, keeps 10 in hand between turns, and always ends."""
    rng = random.Random(7)
    for number in range(12):
        deck = full_deck(rules.ranks, rules.suits)
        rng.shuffle(deck)
        hand = NaiveHand(deck, rules, dealer=number % 2)
        while hand.phase != "over":
            assert hand.result is None
            assert sorted([*hand.hands[0], *hand.hands[1], *hand.pile, *hand.stock]) == sorted(deck)
            owed = hand.phase == "discard"
            assert len(hand.hands[hand.seat]) == rules.cards_dealt + owed
            assert len(hand.hands[1 - hand.seat]) == rules.cards_dealt
            legal = sorted(hand.legal())
            endings = [action for action in legal if action[0] in ("knock", "big gin")]
            hand.apply(rng.choice(endings or legal))
        result = hand.result
        assert result is not None
        assert (result.winner is None) == (result.kind == "dead")
        assert result.points >= 0
        if result.knocker_deadwood is not None:
            assert result.knocker_deadwood <= hand.limit


def test_chosen_melds_must_be_best() -> None:
    """H9, issue 2: a driver may say which of the equally good arrangements was laid down, and no
    other.
    """
    hand = NaiveHand(stacked(LOW, HIGH, "KD 3S"), dealer=1)
    for action in (("pass",), ("pass",), ("draw",)):
        hand.apply(action)
    with pytest.raises(ValueError, match="better"):
        hand.apply(("knock", "3S"), [meld("7S 7H 7D")])
    assert hand.phase == "discard"
    hand.apply(("knock", "3S"), [meld("8C 9C TC"), meld("7S 7H 7D"), meld("JS QS KS")])
    assert hand.result == HandResult("knock", 0, 0, 15, 6, 21)


# --- The ledger -----------------------------------------------------------------------------------


def won(winner: int, points: int, kind: str = "knock") -> HandResult:
    """Return the result of a hand that this seat won."""
    return HandResult(kind, 1 - winner if kind == "undercut" else winner, winner, points, 0, 0)


def test_game_with_boxes() -> None:
    """G1, G2, G3, G5: boxes and the game bonus come at the end; the margin is the difference."""
    game = NaiveGame()
    for result in (won(0, 60), DEAD, won(1, 30), won(0, 39)):
        game.record(result)
        assert not game.over
    game.record(won(0, 1))
    assert game.over
    assert (game.scores, game.boxes, game.hands_played) == ([100, 30], [3, 1], 5)
    assert game.totals() == (100 + 75 + 100, 30 + 25)
    assert (game.winner(), game.margin()) == (0, 220)
    with pytest.raises(ValueError):
        game.record(won(0, 1))


@pytest.mark.parametrize(("shutout", "winner_total"), [("double", 500), ("add", 350), ("none", 250)])
def test_shutout(shutout: str, winner_total: int) -> None:
    """G4: the loser won no hand: the total doubles, or 100 is added."""
    game = NaiveGame(NaiveGameRules(shutout=shutout))
    game.record(won(1, 50))
    game.record(won(1, 50))
    assert game.totals() == (0, winner_total)


def test_higher_total_wins_and_level_totals() -> None:
    """G5: boxes can beat whoever crossed; on level totals whoever crossed wins."""
    game = NaiveGame(NaiveGameRules(game_bonus=0))
    for points in (24, 25, 25, 25):
        game.record(won(0, points))
    game.record(won(1, 100))
    assert (game.crossed, game.totals(), game.winner(), game.margin()) == (1, (199, 125), 0, 74)
    game = NaiveGame(NaiveGameRules(game_bonus=0))
    for result in (won(0, 40), won(0, 35), won(1, 100)):
        game.record(result)
    assert (game.totals(), game.winner(), game.margin()) == ((125, 125), 1, 0)


@pytest.mark.parametrize(
    ("next_dealer", "dealers"),
    [("loser", [1, 1, 0, 1]), ("winner", [0, 0, 1, 0]), ("alternate", [1, 1, 0, 1])],
)
def test_who_deals(next_dealer: str, dealers: list[int]) -> None:
    """H14, H11: after a win of seat 0, a dead hand, a win of seat 1, an undercut by seat 0."""
    game = NaiveGame(NaiveGameRules(next_dealer=next_dealer), first_dealer=0)
    seen = []
    for result in (won(0, 1), DEAD, won(1, 1), won(0, 1, "undercut")):
        game.record(result)
        seen.append(game.dealer)
    assert seen == dealers


# --- Speed ----------------------------------------------------------------------------------------


def test_fast_enough_to_be_of_use() -> None:
    """At least some 200 best arrangements of 11 cards, and 50 settlements, a second: bounds with
    room for a busy box.
    """
    rng = random.Random(1)
    start = time.process_time()
    for _ in range(100):
        best_arrangements(rng.sample(full_deck(), 11))
    assert time.process_time() - start < 2
    start = time.process_time()
    for _ in range(50):
        cards = rng.sample(full_deck(), 20)
        settlements(cards[:10], cards[10:])
    assert time.process_time() - start < 4
