"""Whole hands and games in step with the naive oracle, under every preset and odd rules; then rule by rule."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

from ginenv.cards import BIT, NO_CARD, RANKS, card
from ginenv.deal import deal, deal_deck, new_game, reset_game, shuffled_deck
from ginenv.envs.episode import cut_short
from ginenv.ledger import enter_hand, final_total, game_over, game_winner, margin
from ginenv.rules import PRESETS, Rules
from ginenv.state import (
    BIG_GIN,
    DISCARD,
    DRAW,
    DRAW_PHASE,
    KNOCK,
    N_ACTIONS,
    NO_SEAT,
    ORDER,
    OVER_PHASE,
    PASS,
    STATE,
    TAKE,
    Kind,
    new_states,
)
from ginenv.step import is_legal, step
from ginenv.table import Table
from ginenv.view import VIEW, look
from tests.common import ALL_RULES, DECK, cards, choose, legal_actions, naive_game, naive_rules, words
from tests.reference import Action, HandResult, NaiveGame, NaiveHand, NaiveHollywood

MODERN = PRESETS["modern"]


class Reference(NaiveHand):
    """The oracle's hand; asks only once at each decision what is legal."""

    asked: set[Action] | None = None

    def legal(self) -> set[Action]:
        if self.asked is None:
            self.asked = super().legal()
        return self.asked

    def play(self, action: Action, melds: Sequence[frozenset[str]] | None, stock: Sequence[str]) -> None:
        self.apply(action, melds, stock)
        self.asked = None


def compare_hand(s: np.void, naive: Reference) -> None:
    """Assert that both see the same cards everywhere."""
    for seat in (0, 1):
        assert cards(int(s["hand"][seat])) == naive.hands[seat]
    stock = [DECK[c] for c in s["order"][: s["n_stock"]][::-1]]
    pile = [DECK[c] for c in s["order"][ORDER - s["n_pile"] :][::-1]]
    assert stock == naive.stock
    assert pile == naive.pile[: len(pile)]  # the oracle puts the face-down card of a knock on the pile


def play_hand(s: np.void, rules: Rules, style: int, rng: random.Random) -> HandResult:
    """Play the hand just dealt in ``s`` in step with the oracle; return the oracle's result."""
    deck = shuffled_deck(int(s["seed"]), int(s["hand_number"]), rules.ranks, rules.suits)
    naive = Reference([DECK[c] for c in deck], naive_rules(rules), int(s["dealer"]))
    assert (s["knock_limit"], s["multiplier"]) == (naive.limit, naive.multiplier)
    while naive.result is None:
        assert s["phase"] == ("upcard", "draw", "discard").index(naive.phase)
        assert (s["seat"], s["turn"]) == (naive.seat, naive.turns)
        compare_hand(s, naive)
        legal = legal_actions(s)
        assert {words(a) for a in legal} == naive.legal()
        assert [a for a in range(-3, N_ACTIONS + 3) if is_legal(s, a)] == legal
        action = choose(s, legal, style, rng)
        step(s, rules.record, action)
        melds = [cards(int(m)) for m in s["melds"] if m] if action >= KNOCK or action == BIG_GIN else None
        naive.play(words(action), melds, [DECK[c] for c in s["order"][: s["n_stock"]][::-1]])
    compare_hand(s, naive)
    assert (s["phase"], legal_actions(s)) == (OVER_PHASE, [])
    result = naive.result
    assert Kind(int(s["kind"])).name.lower() == result.kind
    assert tuple(s["points"][:2]) == result.scores
    assert s["winner"] == (NO_SEAT if result.winner is None else result.winner)
    assert s["knocker"] == (NO_SEAT if result.knocker is None else result.knocker)
    if result.knocker is not None:
        assert s["deadwood"][result.knocker] == result.knocker_deadwood
        assert s["deadwood"][1 - result.knocker] == result.defender_deadwood
    return result


def check_games(rules: Rules, seed: int, hands: int) -> None:
    """Play games in step with the oracle until ``hands`` hands are played."""
    rng = random.Random(seed)
    s = new_states(1)[0]
    while hands > 0:
        new_game(s, rules.record, rng.randrange(1 << 62))
        game = naive_game(rules, int(s["dealer"]))
        while hands > 0:
            result = play_hand(s, rules, hands % 3, rng)
            hands -= 1
            game.record(result)
            assert s["scores"][: len(game.scores)].tolist() == game.scores
            assert s["boxes"][: len(game.boxes)].tolist() == game.boxes
            assert (s["dealer"], s["hand_number"]) == (game.dealer, game.hands_played)
            over = game.over if rules.hands is None else game.hands_played == rules.hands
            assert bool(game_over(s, rules.record)) == over
            if over:
                check_end(s, rules, game)
                break
            deal(s, rules.record)


def check_end(s: np.void, rules: Rules, game: NaiveGame | NaiveHollywood) -> None:
    """Assert that totals, margin and winner of the finished game are the oracle's."""
    totals = [int(final_total(s, rules.record, seat)) for seat in (0, 1)]
    if rules.hands is not None:  # G8: the oracle has no such games; nobody reached a target, so there is no bonus
        assert totals == [game.scores[seat] + game.boxes[seat] * rules.box_bonus for seat in (0, 1)]
        winner = NO_SEAT if totals[0] == totals[1] else totals.index(max(totals))
    else:
        assert tuple(totals) == game.totals()
        winner = game.winner()
        assert abs(margin(s, rules.record, 0)) == game.margin()
    assert game_winner(s, rules.record) == winner
    assert margin(s, rules.record, 0) == totals[0] - totals[1] == -margin(s, rules.record, 1)


@pytest.mark.parametrize("name", ALL_RULES)
def test_H1_to_H8_H11_H14_H15_S1_to_S5_G1_to_G5_in_step_with_the_oracle(name):
    check_games(ALL_RULES[name], 1, 24 if ALL_RULES[name].cards_dealt < 8 else 8)


@pytest.mark.fuzz
@pytest.mark.parametrize("name", ALL_RULES)
def test_H1_to_G8_many_hands_in_step_with_the_oracle(name):
    check_games(ALL_RULES[name], 2, 120)


# --- Rule by rule, with decks that say what comes ---------------------------------------------------

FIRST = "JS QS 4H 4D 4C 6H 7H 8H 8D 9C"
SECOND = "TS 2S 2H 2D KD QH 5C 3D AC 3H"
MELDED = "4H 5H 6H 7H 8H 9C TC JC QC KC"  # ten melded cards
POOR = "AS 3S 5S 7S 9S JS AD 3D 5D 7D"  # and ten that never meet


def dealt(first: str, second: str, then: str, rules: Rules = MODERN) -> np.void:
    """Return a STATE where seat 1 begins with ``first``, seat 0 deals and holds ``second``; upcard and stock follow."""
    front = [c for pair in zip(first.split(), second.split(), strict=True) for c in pair] + then.split()
    deck = front + [c for c in DECK if c not in front]
    s = new_states(1)[0]
    reset_game(s, 1)
    s["dealer"] = 0
    deal_deck(s, rules.record, np.array([card(c) for c in deck], dtype=np.uint8))
    return s


def act(text: str) -> int:
    """Return the action id of a text."""
    name, _, which = text.partition(" ")
    if name in ("discard", "knock"):
        return (DISCARD if name == "discard" else KNOCK) + card(which)
    return {"draw": DRAW, "take": TAKE, "pass": PASS, "big_gin": BIG_GIN}[name]


def play(s: np.void, *actions: str, rules: Rules = MODERN) -> np.void:
    """Play actions, each of which must be legal."""
    for text in actions:
        assert is_legal(s, act(text)), text
        step(s, rules.record, act(text))
    return s


def legal_words(s: np.void) -> set[str]:
    return {" ".join(words(a)) for a in legal_actions(s)}


def result(s: np.void) -> tuple[str, int, int]:
    """Return kind, winner and points."""
    assert s["phase"] == OVER_PHASE
    return Kind(int(s["kind"])).name.lower(), int(s["winner"]), int(s["points"].max())


def test_H1_ten_cards_each_one_at_a_time_non_dealer_first():
    s = dealt(FIRST, SECOND, "7C TD")
    assert (cards(int(s["hand"][1])), cards(int(s["hand"][0]))) == (set(FIRST.split()), set(SECOND.split()))
    assert (s["seat"], s["n_stock"], s["n_pile"], DECK[s["upcard"]]) == (1, 31, 1, "7C")
    assert DECK[s["order"][s["n_stock"] - 1]] == "TD"


def test_H1_every_deck_of_a_game_follows_from_its_seed_and_each_card_is_anywhere():
    s, record = new_states(1)[0], MODERN.record
    where = np.zeros((52, 52))
    for seed in range(4000):
        new_game(s, record, seed)
        deck = shuffled_deck(seed, 0)
        assert sorted(deck) == list(range(52))
        where[np.arange(52), deck] += 1
    chi = ((where - 4000 / 52) ** 2 / (4000 / 52)).sum() * 51 / 52
    assert abs(chi - 51 * 51) < 5 * (2 * 51 * 51) ** 0.5
    assert shuffled_deck(1, 0) != shuffled_deck(1, 1) != shuffled_deck(2, 1)


def test_H2_the_upcard_goes_round_and_then_the_non_dealer_must_draw():
    s = dealt(FIRST, SECOND, "7C TD")
    assert legal_words(s) == {"take", "pass"}
    play(s, "pass")
    assert (s["seat"], legal_words(s)) == (0, {"take", "pass"})
    play(s, "pass")
    assert (s["seat"], legal_words(s)) == (1, {"draw"})
    play(s, "draw", "discard TD")
    assert (s["seat"], legal_words(s)) == (0, {"draw", "take"})


def test_H2_who_takes_the_upcard_discards_and_play_alternates():
    s = play(dealt(FIRST, SECOND, "7C TD"), "take", "discard JS")
    assert (s["seat"], legal_words(s)) == (0, {"draw", "take"})
    s = play(dealt(FIRST, SECOND, "7C TD"), "pass", "take", "discard KD")
    assert (s["seat"], legal_words(s)) == (1, {"draw", "take"})


def test_H3_draw_one_and_discard_one():
    s = play(dealt(FIRST, SECOND, "7C TD"), "pass", "pass", "draw")
    assert legal_words(s) == {f"discard {c}" for c in [*FIRST.split(), "TD"]}
    play(s, "discard QS")
    assert len(cards(int(s["hand"][1]))) == 10
    assert DECK[s["order"][ORDER - s["n_pile"]]] == "QS"


def test_H4_the_card_just_taken_may_not_be_discarded():
    s = play(dealt(FIRST, SECOND, "KS"), "take")
    assert not {"discard KS", "knock KS"} & legal_words(s)
    option = Rules(discard_taken=True)
    play(s := dealt(FIRST, SECOND, "KS", option), "take", rules=option)
    assert "discard KS" in legal_words(s)
    # JS QS KS, three fours, 6H 7H 8H: what is left, 8D and 9C, can be thrown to knock; the king cannot
    assert {w for w in legal_words(s) if w.startswith("knock")} == {"knock 8D", "knock 9C"}


def test_H4_not_even_to_knock_with_what_was_held_before():
    gin_but_one = "4H 5H 6H 7H 8H 9C TC JC QC 2S"  # 2 left: knocks with any card that fits nowhere
    s = play(dealt(gin_but_one, POOR, "KD"), "take")
    assert "knock KD" not in legal_words(s)
    option = Rules(discard_taken=True)
    s = play(dealt(gin_but_one, POOR, "KD", option), "take", rules=option)
    assert "knock KD" in legal_words(s)
    # From the stock it may go.
    s = play(dealt(gin_but_one, POOR, "8S KD"), "pass", "pass", "draw")
    assert {"knock KD", "discard KD"} <= legal_words(s)


def test_H5_on_the_first_turn_face_down_and_never_compulsory():
    s = play(dealt(FIRST, SECOND, "KS"), "take")
    assert {"knock 9C", "discard 9C"} <= legal_words(s)
    play(s, "knock 9C")
    assert s["n_pile"] == 0  # nobody sees the card
    assert card("9C") not in s["throws"]
    assert card("9C") not in s["order"][: s["n_stock"]]
    assert result(s)[0] == "knock"


@pytest.mark.parametrize(("limit", "knocks"), [(10, True), (9, True), (8, True), (7, False), (0, False)])
def test_H6_the_limit(limit, knocks):
    rules = Rules(knock_limit=limit)
    s = play(dealt(FIRST, SECOND, "KS", rules), "take", rules=rules)
    assert ("knock 9C" in legal_words(s)) == knocks  # leaves 8D
    assert ("knock 8D" in legal_words(s)) == (limit >= 9)  # leaves 9C
    assert s["knock_limit"] == limit


def test_H7_gin():
    s = play(dealt(MELDED, POOR, "2D"), "take")
    assert not any(w.startswith("knock 2D") for w in legal_words(s))
    s = play(dealt(MELDED, POOR, "2D TD"), "pass", "pass", "draw", "knock TD")
    assert result(s) == ("gin", 1, 25 + sum((1, 3, 5, 7, 9, 10, 1, 3, 5, 7)))
    assert s["deadwood"][1] == 0


def test_H8_V4_big_gin_without_a_discard():
    rules = PRESETS["big_gin"]
    s = play(dealt(MELDED, POOR, "9H", rules), "take", rules=rules)
    assert "big_gin" in {w.replace(" ", "_") for w in legal_words(s)}
    play(s, "big_gin", rules=rules)
    assert result(s) == ("big_gin", 1, 31 + 51)
    assert len(cards(int(s["hand"][1]))) == 11
    assert "big gin" not in legal_words(play(dealt(MELDED, POOR, "9H"), "take"))


def test_H9_H10_melds_and_layoffs_lie_on_the_table():
    s = play(dealt(FIRST, SECOND, "KS"), "take", "knock 9C")
    assert {cards(int(m)) for m in s["melds"]} == {
        frozenset(["JS", "QS", "KS"]), frozenset(["4H", "4D", "4C"]), frozenset(["6H", "7H", "8H"]),
    }  # fmt: skip
    assert cards(int(s["laid"])) == {"TS"}
    assert (s["deadwood"][1], s["deadwood"][0]) == (8, 32)


def test_H11_two_cards_left_in_the_stock_end_the_hand():
    s = play(dealt(FIRST, SECOND, "7C"), "pass", "pass")
    while s["phase"] != OVER_PHASE:
        assert s["n_stock"] > 2
        step(s, MODERN.record, DRAW)
        step(s, MODERN.record, DISCARD + int(s["drawn"]))
    assert (s["n_stock"], s["turn"]) == (2, 29)  # 50 cards were dealt or drawn
    assert (Kind(int(s["kind"])), s["winner"], s["dealer"]) == (Kind.DEAD, NO_SEAT, 0)


def test_H11_S5_who_draws_the_last_card_may_knock_with_it():
    rules = Rules(dead_stock=30)
    s = play(dealt(MELDED, POOR, "7C TD", rules), "pass", "pass", "draw", "knock TD", rules=rules)
    assert result(s)[0] == "gin"
    s = play(dealt(MELDED, POOR, "7C TD", rules), "pass", "pass", "draw", "discard TD", rules=rules)
    assert (result(s), tuple(s["scores"][:2]), tuple(s["boxes"][:2])) == (("dead", NO_SEAT, 0), (0, 0), (0, 0))


def discard_drawn(rules: Rules, s: np.void, turns: int = 1 << 30) -> np.void:
    """Draw from the stock and throw the card away, turn after turn."""
    while s["phase"] != OVER_PHASE and s["turn"] < turns:
        step(s, rules.record, DRAW)
        step(s, rules.record, DISCARD + int(s["drawn"]))
    return s


def test_H12_document_004_the_stock_is_made_anew_once_and_then_it_is_a_stalemate():
    rules = Rules(reshuffles=1, dead_stock=0)
    s = discard_drawn(rules, play(dealt(FIRST, SECOND, "7C", rules), "pass", "pass", rules=rules), 30)
    pile = [int(c) for c in s["order"][ORDER - s["n_pile"] :]]
    assert (s["n_stock"], s["reshuffled"]) == (1, 0)
    discard_drawn(rules, s, 31)
    # 31 cards were drawn: all discards but the last one are the new stock, in another order.
    stock = s["order"][: s["n_stock"]].tolist()
    assert (s["n_stock"], s["n_pile"], s["reshuffled"], s["phase"]) == (31, 1, 1, DRAW_PHASE)
    assert sorted(stock) == sorted(pile) and stock[::-1] != pile
    # What is in no pile and not in the own hand is in the other one, so both hands are known.
    assert tuple(s["known"][:2]) == tuple(s["hand"][:2])
    for seat in (0, 1):
        v = Table(rules, seed=1).view(0)
        look(s, rules.record, seat, v)
        assert v["unseen"] == sum(int(BIT[c]) for c in stock) and v["in_pile"] == BIT[s["order"][ORDER - 1]]
    discard_drawn(rules, s)
    assert (s["turn"], s["n_stock"], Kind(int(s["kind"])), s["dealer"]) == (62, 0, Kind.DEAD, 0)


def test_H12_document_003_the_stock_is_made_anew_without_end():
    rules = Rules(reshuffles=None, dead_stock=0, turn_limit=320)
    s = discard_drawn(rules, play(dealt(FIRST, SECOND, "7C", rules), "pass", "pass", rules=rules))
    assert (s["turn"], s["reshuffled"], Kind(int(s["kind"]))) == (320, 10, Kind.DEAD)
    assert cut_short(s, rules.record)  # it was the limit on turns (H15)


def test_H12_the_new_stock_follows_from_the_seed_and_the_hand():
    rules = Rules(reshuffles=None, dead_stock=0)

    def stock(seed: int, hand: int, turns: int) -> list[int]:
        s = new_states(1)[0]
        new_game(s, rules.record, 1)
        s["seed"], s["hand_number"] = seed, hand
        deal_deck(s, rules.record, np.arange(52, dtype=np.uint8))
        for _ in range(2):
            step(s, rules.record, PASS)
        return discard_drawn(rules, s, turns)["order"][:31].tolist()

    first = stock(5, 0, 31)
    assert first == stock(5, 0, 31)
    assert first != stock(6, 0, 31) and first != stock(5, 1, 31) and first != stock(5, 0, 62)


def test_peer_H11_H15_the_same_cards_for_ever():
    s = play(dealt(FIRST, SECOND, "KC"), "take", "discard 9C", "take", "discard KD")
    while s["phase"] != OVER_PHASE:
        step(s, MODERN.record, TAKE)
        held = [c for c in ("KC", "9C", "KD") if s["hand"][s["seat"]] & BIT[card(c)] and card(c) != s["drawn"]]
        step(s, MODERN.record, act(f"discard {held[0]}"))
    assert (s["turn"], Kind(int(s["kind"])), s["n_stock"]) == (100, Kind.DEAD, 31)


def test_H14_who_deals():
    knock = ("take", "knock 9C")  # seat 1 wins
    for preset, dealer in (("modern", 0), ("denexa", 1), ("eaai", 1)):
        rules = PRESETS[preset]
        assert play(dealt(FIRST, SECOND, "KS", rules), *knock, rules=rules)["dealer"] == dealer
    # eaai: the starter alternates, whoever wins
    rules = PRESETS["eaai"]
    s = play(dealt(FIRST, SECOND, "KS", rules), *knock, rules=rules)
    deal(s, rules.record)
    assert (s["dealer"], s["seat"]) == (1, 0)


@pytest.mark.parametrize(("first_dealer", "best"), [("low", min), ("high", max)])
def test_C7_H14_the_low_or_the_high_card_deals_and_suits_break_ties(first_dealer, best):
    heights = {r + s: (RANKS.index(r), -"SHDC".index(s)) for r in RANKS for s in "SHDC"}
    ties, dealers = 0, [0, 0]
    for ranks, seed in ((13, n) for n in range(400)):
        t = Table(Rules(first_dealer=first_dealer, ranks=ranks), seed=seed)
        assert t.cut is not None and t.cut[0] != t.cut[1]
        assert t.dealer == t.cut.index(best(t.cut, key=lambda c: heights[c]))
        assert t.cut == Table(Rules(first_dealer="low"), seed=seed).cut
        ties += t.cut[0][0] == t.cut[1][0]
        dealers[t.dealer] += 1
    assert ties > 5 and min(dealers) > 150
    assert Table(seed=1).cut is None and Table(Rules(first_dealer="low"), seed=1, dealer=0).cut is None
    drawn = {c for seed in range(1500) for c in Table(Rules(first_dealer="low"), seed=seed).cut or ()}
    assert len(drawn) == 52


def test_H14_a_cut_changes_nothing_but_the_first_dealer():
    for seed in range(20):
        one, other = (Table(Rules(first_dealer=d), seed=seed) for d in ("random", "low"))
        assert one.history[0].deck == other.history[0].deck


def test_H14_the_first_dealer_is_at_random():
    s = new_states(1)[0]
    dealers = []
    for seed in range(4000):
        new_game(s, MODERN.record, seed)
        dealers.append(int(s["dealer"]))
    assert set(dealers) == {0, 1}
    assert abs(np.mean(dealers) - 0.5) < 5 * 0.5 / 4000**0.5


@pytest.mark.parametrize(("upcard", "limit", "multiplier"), [
    ("6H", 6, 1), ("QD", 10, 1), ("TC", 10, 1), ("AH", 0, 1), ("AS", 0, 2), ("7S", 7, 2),
])  # fmt: skip
def test_V1_oklahoma(upcard, limit, multiplier):
    rules = PRESETS["oklahoma"]
    first = "2H 3H 5H 6C 8H 9H JC JD KH QC"
    s = dealt(first, "2D 4D 5D 7D 8D 9D JH KD QH 3C", upcard, rules)
    assert (s["knock_limit"], s["multiplier"]) == (limit, multiplier)
    plain = rules.but(ace_means_gin=False, spades_double=False)
    s = dealt(first, "2D 4D 5D 7D 8D 9D JH KD QH 3C", upcard, plain)
    assert (s["knock_limit"], s["multiplier"]) == (limit or 1, 1)


def test_V1_a_spade_upcard_doubles_gin_too():
    rules = PRESETS["oklahoma"]
    s = play(dealt(MELDED, POOR, "2S TD", rules), "pass", "pass", "draw", "knock TD", rules=rules)
    assert result(s) == ("gin", 1, 2 * (25 + 51))


def test_V3_straight_gin_only_gin_ends_a_hand():
    rules = PRESETS["straight"]
    s = play(dealt(FIRST, SECOND, "KS", rules), "take", rules=rules)
    assert not any(w.startswith("knock") for w in legal_words(s))
    s = play(dealt(MELDED, POOR, "2D TD", rules), "pass", "pass", "draw", rules=rules)
    assert {w for w in legal_words(s) if w.startswith("knock")} == {"knock TD"}


# --- Games ------------------------------------------------------------------------------------------


def ledger(rules: Rules, *hands: tuple[int, int] | None, dealer: int = 0) -> np.void:
    """Return a STATE in whose ledger the hands were entered: (winner, points), or None for a dead hand."""
    s = new_states(1)[0]
    reset_game(s, 1)
    s["dealer"] = dealer
    for entry in hands:
        assert not game_over(s, rules.record)
        s["points"] = 0
        s["winner"] = NO_SEAT if entry is None else entry[0]
        if entry is not None:
            s["points"][entry[0]] = entry[1]
        enter_hand(s, rules.record)
    return s


def totals(s: np.void, rules: Rules) -> tuple[int, int]:
    return int(final_total(s, rules.record, 0)), int(final_total(s, rules.record, 1))


def test_G1_the_target_ends_the_game():
    s = ledger(MODERN, (0, 60), (1, 30), (0, 39))
    assert not game_over(s, MODERN.record)
    s = ledger(MODERN, (0, 60), (1, 30), (0, 40))
    assert game_over(s, MODERN.record)
    rules = Rules(target=250)
    assert not game_over(ledger(rules, (0, 249)), rules.record)
    assert game_over(ledger(rules, (0, 250)), rules.record)


def test_G2_G3_boxes_and_game_bonus():
    assert totals(ledger(MODERN, (0, 60), (1, 30), (0, 40)), MODERN) == (100 + 2 * 25 + 100, 30 + 25)
    historic = PRESETS["historic"]
    assert totals(ledger(historic, (0, 60), (1, 30), (0, 40)), historic) == (100 + 2 * 20 + 100, 30 + 20)


def test_S5_G2_a_dead_hand_is_no_box_and_the_dealer_stays():
    s = ledger(MODERN, None, (0, 10), None)
    assert (tuple(s["boxes"][:2]), s["dealer"], s["hand_number"]) == ((1, 0), 1, 3)


def test_G8_the_fields_hold_the_longest_and_dearest_game():
    """Boxes had 8 bits and scores 16: a game of 1000 hands, 49 points each, came out negative."""
    dearest = Rules(
        target=None, hands=1000, gin_bonus=1000, undercut_bonus=1000, big_gin=True, big_gin_bonus=1000, box_bonus=1000,
        knock_limit=100, oklahoma=True, spades_double=True,
    )  # fmt: skip
    a_hand = 2 * (1000 + 10 * 10)  # doubled, with ten court cards in the losing hand
    assert np.iinfo(STATE["points"].base).max >= a_hand
    for limit in ("gin_bonus", "undercut_bonus", "big_gin_bonus", "box_bonus", "hands"):
        with pytest.raises(ValueError, match=r"out of range: . to 1000 is possible"):
            Rules(**{"target": None, "hands": 1000, limit: 1001})
    with pytest.raises(ValueError, match="out of range: 0 to 100 is possible"):
        Rules(knock_limit=101)
    s = ledger(dearest, *[(1, a_hand)] * 1000)
    assert tuple(s["scores"][:2]) == (0, 1000 * a_hand)
    assert tuple(s["boxes"][:2]) == (0, 1000)
    assert totals(s, dearest) == (0, 1000 * a_hand + 1000 * 1000)
    assert (margin(s, dearest.record, 0), game_winner(s, dearest.record)) == (-1000 * (a_hand + 1000), 1)
    # Rewards are float32: whole numbers to 2**24 are exact, and a shutout doubles at the most.
    assert 2 * 1000 * (a_hand + 1000) + 2 * 10_000 < 1 << 24
    v = np.zeros(1, dtype=VIEW)[0]
    look(s, dearest.record, 0, v)
    assert (tuple(v["scores"][:2]), tuple(v["boxes"][:2])) == ((0, 1000 * a_hand), (0, 1000))


def test_G4_shutout():
    for preset, wanted in (("modern", 2 * (110 + 100 + 50)), ("denexa", 110 + 100 + 50 + 100), ("eaai", 110)):
        rules = PRESETS[preset]
        assert totals(ledger(rules, (1, 60), (1, 50)), rules) == (0, wanted)
    # One hand won is enough to escape it, even one worth nothing.
    denexa = PRESETS["denexa"]
    assert totals(ledger(denexa, (1, 60), (0, 0), (1, 50)), denexa) == (25, 110 + 100 + 50)


def test_G5_the_higher_total_wins_and_on_level_totals_who_was_home_first():
    rules = Rules(game_bonus=0, shutout="none")
    # Seat 0 wins the game's last hand and the target; seat 1 has more boxes: 100 + 25 against 80 + 75
    s = ledger(rules, (1, 27), (1, 27), (1, 26), (0, 100))
    assert (totals(s, rules), margin(s, rules.record, 0), game_winner(s, rules.record)) == ((125, 155), -30, 1)
    s = ledger(rules, (1, 17), (1, 17), (1, 16), (0, 100))
    assert (totals(s, rules), game_winner(s, rules.record)) == ((125, 125), 0)


def test_G8_an_agreed_number_of_hands():
    rules = Rules(target=None, hands=3)
    s = ledger(rules, (0, 200), None)
    assert not game_over(s, rules.record)
    s = ledger(rules, (0, 200), None, (1, 30))
    assert game_over(s, rules.record)
    assert (totals(s, rules), game_winner(s, rules.record)) == ((225, 55), 0)
    s = ledger(rules, None, None, None)
    assert game_winner(s, rules.record) == NO_SEAT


# --- Illegal actions --------------------------------------------------------------------------------


def test_I1_an_illegal_action_changes_nothing_and_names_itself():
    table = Table(seed=3)
    before = table.record()
    for text in ("draw", "discard AS", "knock AS", "big gin"):
        with pytest.raises(ValueError, match=text):
            table.step(text)
        assert table.record() == before


def test_I1_any_number_is_answered():
    s = dealt(FIRST, SECOND, "KS")
    assert not any(is_legal(s, a) for a in (-1, -(1 << 40), N_ACTIONS, 1 << 40, DISCARD + NO_CARD))
