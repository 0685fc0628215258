"""`ginenv.Table`: play, rule by rule; illegal actions change nothing (I1); copies, pickles, games."""

import copy
import importlib
import pickle
import random

import numpy as np
import pytest

import ginenv
from ginenv import IllegalAction, Kind, Phase, Table
from ginenv.state import BIG_GIN, DISCARD, KNOCK, N_ACTIONS, PASS, TAKE
from tests.common import AGENTS_PLAY

DECK = ginenv.cards_text(list(range(52))).split()


def deck(first: str, second: str, then: str = "") -> list[str]:
    """Return a deck that deals ``first`` to the non-dealer and ``second`` to the dealer, then upcard and stock."""
    dealt = [c for pair in zip(first.split(), second.split(), strict=True) for c in pair]
    front = dealt + then.split()
    return front + [c for c in DECK if c not in front]


def table(first: str, second: str, then: str = "", rules: str | ginenv.Rules = "modern") -> Table:
    """Return a table where seat 1 begins, holding ``first``; seat 0 deals and holds ``second``."""
    return Table(rules, dealer=0, deck=deck(first, second, then))


def play(t: Table, *actions: str | int) -> Table:
    for action in actions:
        t.step(action)
    return t


def random_play(t: Table, rng: random.Random, steps: int = 10_000) -> Table:
    while steps and not t.done:
        t.step(rng.choice(t.legal_actions()))
        steps -= 1
    return t


FIRST = "JS QS 4H 4D 4C 6H 7H 8H 8D 9C"
SECOND = "TS 2S 2H 2D KD QH 5C 3D AC 3H"


# --- The package ----------------------------------------------------------------------------------


def test_rules_is_the_function_although_a_module_has_the_name():
    import ginenv.rules

    assert ginenv.rules("oklahoma", gin_bonus=20).gin_bonus == 20
    module = importlib.import_module("ginenv.rules")
    assert module.rules is ginenv.rules
    from ginenv.rules import Rules

    assert Rules is ginenv.Rules


def test_every_public_name_is_there():
    assert all(hasattr(ginenv, name) for name in ginenv.__all__)


@pytest.mark.parametrize("action", range(N_ACTIONS))
def test_action_text_and_number_are_inverse(action):
    assert ginenv.action_number(ginenv.action_text(action)) == action


# --- Dealing --------------------------------------------------------------------------------------


def test_H1_the_deal():
    t = table(FIRST, SECOND, "7C TD")
    assert (t.seat, t.dealer, t.phase, t.upcard, t.pile) == (1, 0, Phase.UPCARD, "7C", ("7C",))
    assert ginenv.card_mask(t.hand(1)) == ginenv.card_mask(FIRST)
    assert ginenv.card_mask(t.hand(0)) == ginenv.card_mask(SECOND)
    assert t.stock_size == 31


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"deck": DECK[:-1]}, "deck: KC is missing: it needs all 52 cards"),
        ({"deck": [*DECK[:-1], "AS"]}, "AS comes twice"),
        ({"deck": DECK, "rules": ginenv.rules(ranks=10, cards_dealt=7)}, "deck: JS QS KS"),
        ({"deck": ginenv.card_mask(DECK)}, "a mask has no order"),
        ({"dealer": 2}, "dealer 2: the seats are 0 to 1"),
        ({"seed": -1}, "seed -1 is out of range"),
        ({"seed": 1 << 63}, "seed 9223372036854775808 is out of range"),
        ({"seed": 1.5}, "seed 1.5 should be a whole number"),
        ({"seed": True}, "seed True should be a whole number"),
        ({"seed": "7"}, "seed '7' should be a whole number"),
        ({"rules": "modem"}, "no preset 'modem'"),
    ],
)
def test_impossible_tables_are_told(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        Table(**options)


def test_a_seed_repeats_the_game_and_none_draws_one():
    a, b = Table(seed=5), Table(seed=5)
    assert a == b
    assert {Table().seed for _ in range(3)} != {Table().seed}
    again = Table(seed=Table(seed=9).seed)
    assert again == Table(seed=9)
    assert Table(seed=5) != Table(seed=6)
    assert Table(deck=DECK) == Table(deck=DECK)
    assert Table("historic", seed=5) != Table(seed=5)


# --- Play, rule by rule ---------------------------------------------------------------------------


def test_H2_the_first_upcard_goes_to_the_non_dealer_then_the_dealer():
    t = table(FIRST, SECOND, "7C TD")
    assert t.legal_actions() == [TAKE, PASS]
    play(t, "pass")
    assert (t.seat, t.legal_actions()) == (0, [TAKE, PASS])
    play(t, "pass")
    assert (t.seat, t.phase) == (1, Phase.DRAW)
    with pytest.raises(IllegalAction, match="take: the upcard was refused by all"):
        t.step("take")
    play(t, "draw")
    assert t.drawn == "TD"


def test_H2_the_dealer_may_take_what_the_non_dealer_passed():
    t = play(table(FIRST, SECOND, "7C"), "pass", "take", "discard KD")
    assert (t.seat, t.pile, "7C" in t.hand(0)) == (1, ("KD",), True)


def test_H4_the_card_just_taken_may_not_be_discarded():
    t = play(table(FIRST, SECOND, "KS"), "take")
    for text in ("discard KS", "knock KS"):
        with pytest.raises(IllegalAction) as caught:
            t.step(text)
        assert str(caught.value) == f"{text}: it was just taken from the discard pile (H4)"
    loose = table(FIRST, SECOND, "KS", rules=ginenv.rules(discard_taken=True))
    play(loose, "take", "discard KS")
    assert loose.pile == ("KS",)


def test_H4_a_card_from_the_stock_may_be_discarded():
    t = play(table(FIRST, SECOND, "7C TD"), "pass", "pass", "draw", "discard TD")
    assert t.pile == ("TD", "7C")


def test_H5_a_knock_in_the_first_turn_and_its_discard_is_face_down():
    t = play(table(FIRST, SECOND, "KS"), "take", "knock 9C")
    assert t.done
    assert t.result is not None
    assert (t.result.kind, t.result.knocker_seat, t.result.winner_seat) == ("knock", 1, 1)
    assert t.result.points == 24
    assert "9C" not in t.pile
    view = t.view(0)
    assert int(view["unseen"]) & ginenv.card_mask("9C")


def test_H5_a_knock_is_never_compulsory():
    t = play(table(FIRST, SECOND, "KS"), "take", "discard 9C")
    assert (t.done, t.seat) == (False, 0)


def test_H6_a_knock_above_the_limit_names_both_numbers():
    t = play(table(FIRST, SECOND, "KS"), "take")
    with pytest.raises(IllegalAction) as caught:
        t.step("knock 8H")  # 6H 7H fall apart
    assert str(caught.value) == "knock 8H: leaves 30 deadwood, the limit is 10 (H6)"


def test_peer_H6_the_knock_that_OpenSpiel_refuses():
    t = table("5S 7S AC 5C 6C 7C AH 3H 5H 6H", SECOND.replace("5C", "9C").replace("AC", "9D").replace("3H", "9S"), "7H")
    play(t, "take")
    assert ginenv.action_number("knock 7S") in t.legal_actions()
    play(t, "knock 7S")
    assert t.result is not None
    assert t.result.knocker_deadwood == 10


def test_peer_H7_V3_gin_by_discarding_5H():
    t = table("3S 4S 5S 2C 3C 4C 5C 2D 3D 5H", "KS KH QD QC 9S 9H 8D 8C 7S AH", "4D", rules="straight")
    play(t, "take", "knock 5H")
    assert t.result is not None
    assert t.result.kind == "gin"


def test_H8_big_gin_is_an_option_and_needs_eleven_melded_cards():
    first, second = "4H 5H 7H 8H 9H 9C TC JC QC KC", "AS 2S 3S 5S 7S 9S JS AD 3D 5D"
    t = play(table(first, second, "6H", rules="big_gin"), "take")
    assert BIG_GIN in t.legal_actions()
    play(t, "big gin")
    assert t.result is not None
    assert (t.result.kind, t.result.points) == ("big_gin", 71)
    assert list(t.view(0)["cards"][:2]) == [10, 11]
    t = play(table(first, second, "6H"), "take")
    with pytest.raises(IllegalAction, match=r"big gin: these rules have no big gin"):
        t.step("big gin")
    t = play(table(first, second, "6D", rules="big_gin"), "take")
    with pytest.raises(IllegalAction, match=r"big gin: leaves 15 deadwood, and all 11 cards"):
        t.step("big gin")


def test_H11_two_cards_left_in_the_stock_end_the_hand_and_the_dealer_deals_again():
    t = Table(seed=3)
    dealer = t.dealer
    play(t, "pass", "pass")
    while not t.done:
        t.step("draw")
        t.step(next(a for a in t.legal_actions() if DISCARD <= a < KNOCK))
    assert t.stock_size == 2
    assert t.result is not None
    assert (t.result.kind, t.result.points, t.result.winner_seat) == ("dead", 0, None)
    assert t.scores == (0, 0)
    t.deal()
    assert (t.dealer, t.hand_number) == (dealer, 2)


def test_H15_taking_the_same_cards_for_ever_ends_the_hand():
    t = table(FIRST, SECOND, "KC", rules=ginenv.rules(turn_limit=40))
    play(t, "take", "discard 9C", "take", "discard KD")
    while not t.done:  # each takes what the other threw, and throws what it took before
        before = t.pile[0]
        t.step("take")
        held = t.hand(t.seat).split()
        t.step(f"discard {next(c for c in ('KC', '9C', 'KD') if c in held and c != before)}")
    assert t.turn == 40
    assert t.result is not None
    assert t.result.kind == "dead"


def test_V1_the_upcard_is_the_limit():
    t = table(FIRST, SECOND, "6S TD KS", rules="oklahoma")
    assert (t.knock_limit, int(t.view(0)["multiplier"])) == (6, 2)
    play(t, "pass", "pass", "draw", "discard TD", "draw", "discard KD")
    assert not any(a >= KNOCK for a in play(t, "draw").legal_actions())


def test_H14_the_loser_deals():
    t = play(table(FIRST, SECOND, "KS"), "take", "knock 9C")
    t.deal()
    assert t.dealer == 0  # seat 1 won
    t = play(table(FIRST, SECOND, "KS", rules="denexa"), "take", "knock 9C")
    t.deal()
    assert t.dealer == 1


# --- I1: illegal actions --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "action", "sentence"),
    [
        ((), "draw", "draw: take or pass the first upcard (H2)"),
        ((), "knock 9C", "knock 9C: take or pass the first upcard (H2)"),
        (("pass", "pass"), "pass", "pass: only the first upcard can be passed (H2)"),
        (("pass", "pass"), "discard JS", "discard JS: draw or take a card first (H3)"),
        (("take",), "draw", "draw: a card was drawn already: discard or knock (H3)"),
        (("take",), "take", "take: a card was drawn already: discard or knock (H3)"),
        (("take",), "discard AD", "discard AD: seat 1 does not hold AD"),
        (("take",), "knock TS", "knock TS: seat 1 does not hold TS"),
        (("take", "knock 9C"), "draw", "draw: the hand is over"),
        ((), "discard 1H", "discard 1H: '1H' is not a card: write a rank"),
        ((), "fold", "'fold' is not an action: write draw, take"),
        ((), 108, "action 108: there is none, they run from 0 to 107"),
        ((), -1, "action -1: there is none"),
    ],
)
def test_I1_an_illegal_action_names_itself_and_the_reason_and_changes_nothing(before, action, sentence):
    t = play(table(FIRST, SECOND, "KS"), *before)
    kept = t.copy()
    with pytest.raises(IllegalAction) as caught:
        t.step(action)
    assert str(caught.value).startswith(sentence)
    assert t == kept


def test_I1_every_action_is_legal_or_refused_with_a_reason_at_random_moments():
    rng = random.Random(1)
    for seed in range(6):
        t = random_play(Table("big_gin", seed=seed), rng, steps=rng.randrange(60))
        legal = t.legal_actions()
        for action in range(N_ACTIONS):
            trial = t.copy()
            if action in legal:
                trial.step(action)
                assert trial != t
            else:
                with pytest.raises(IllegalAction, match=ginenv.action_text(action)):
                    trial.step(action)
                assert trial == t


def test_an_action_of_another_kind_is_a_type_error():
    for action in (None, 1.0, True):
        with pytest.raises(TypeError, match="an action is text or a number"):
            Table(seed=1).step(action)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["discard TH", "DISCARD th", " Discard  10h ", "discard_TH"])
def test_action_texts_are_read_kindly(text):
    assert ginenv.action_number(text) == ginenv.action_number("discard TH")
    assert ginenv.action_number("Big_Gin") == BIG_GIN


# --- Views ----------------------------------------------------------------------------------------


def test_a_view_is_a_copy_of_what_the_seat_may_know():
    t = table(FIRST, SECOND, "KS")
    view = t.view(0)
    assert view.shape == ()
    assert ginenv.card_mask(t.hand(0)) == int(view["hand"])
    view["hand"] = 0
    assert t.hand(0)
    # Off turn: the seat's own hand, and nothing to do.
    assert not view["choices"]
    assert t.view(1)["choices"]
    with pytest.raises(ValueError, match="seat 2: the seats are 0 to 1"):
        t.view(2)


# --- Games ----------------------------------------------------------------------------------------


def test_G1_a_game_is_played_hand_by_hand_to_its_target():
    t, rng = Table(ginenv.rules(target=20), seed=2), random.Random(2)
    with pytest.raises(ValueError, match="hand 1 is not finished"):
        t.deal()
    while True:
        while not t.done:
            legal = t.legal_actions()
            t.step(rng.choice([a for a in legal if a >= KNOCK] or legal))
        if t.game_over:
            break
        assert t.winner is None
        t.deal()
    assert max(t.scores) >= 20
    assert t.winner == max((0, 1), key=lambda seat: t.totals[seat])
    assert len(t.history) == t.hand_number
    assert sum(h.result.points for h in t.history if h.result) == sum(t.scores)
    with pytest.raises(ValueError, match="the game is over"):
        t.deal()
    with pytest.raises(IllegalAction, match="draw: the hand is over"):
        t.step("draw")


def test_G2_G3_G4_totals_have_boxes_bonus_and_shutout():
    t = play(table(FIRST, SECOND, "KS", rules=ginenv.rules(target=24)), "take", "knock 9C")
    assert t.game_over
    assert (t.scores, t.winner) == ((0, 24), 1)
    assert t.totals == (0, 2 * (24 + 100 + 25))


def test_the_result_is_what_the_state_says():
    rng = random.Random(3)
    for preset in AGENTS_PLAY:
        for seed in range(8):
            t = Table(preset, seed=seed)
            while not t.done:
                legal = t.legal_actions()
                t.step(rng.choice([a for a in legal if a >= KNOCK or a == BIG_GIN] or legal))
            s, result = t._s, t.result
            assert result is not None
            assert result.kind == Kind(int(s["kind"])).name.lower()
            assert result.points == max(t.scores)
            if result.knocker_seat is not None:
                seats = result.knocker_seat, 1 - result.knocker_seat
                counts = result.knocker_deadwood, result.defender_deadwood
                assert counts == tuple(int(s["deadwood"][seat]) for seat in seats)


# --- Copies ---------------------------------------------------------------------------------------

COPIES = {
    "copy()": Table.copy,
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    "pickle": lambda t: pickle.loads(pickle.dumps(t)),
}


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_keeps_every_option_and_goes_its_own_way(how):
    rules = ginenv.rules("oklahoma", gin_bonus=20, target=250)
    t = random_play(Table(rules, seed=4), random.Random(4), steps=9)
    other = COPIES[how](t)
    assert other == t
    assert (other.rules, other.seed) == (rules, 4)
    assert other.record() == t.record()
    kept = t.record()
    random_play(other, random.Random(5))
    assert t.record() == kept
    assert other != t
    # The same actions lead to the same place, into the next hand too.
    random_play(t, random.Random(5))
    if not t.game_over:
        t.deal()
        other.deal()
    assert t == other
    assert np.array_equal(t.view(0), other.view(0))


def test_a_table_prints_with_both_hands():
    t = table(FIRST, SECOND, "KS")
    text = str(t)
    assert all(c in text for c in (FIRST + " " + SECOND).split())
    assert repr(t) == "<Table modern, hand 1, seat 1 to act (UPCARD)>"
