"""Records: written and read back, golden hands for every preset, and wrong lines named."""

import pickle
import random
from pathlib import Path

import pytest

import ginenv
from ginenv import RecordError, Table, cards_text, replay
from ginenv.state import BIG_GIN, KNOCK

GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(GOLDEN.glob("*.txt"))


def without_comments(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))


def random_game(preset: str | ginenv.Rules, seed: int, hands: int, steps: int = 10_000) -> Table:
    """Return a table after some random play that knocks when it can."""
    rng, t = random.Random(seed), Table(preset, seed=seed)
    for number in range(hands):
        while not t.done and steps:
            legal = t.legal_actions()
            t.step(rng.choice([a for a in legal if a >= KNOCK or a == BIG_GIN] or legal))
            steps -= 1
        if t.game_over or number == hands - 1 or not t.done:
            break
        t.deal()
    return t


# --- Golden records -------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ginenv.PRESETS)
def test_every_preset_has_a_golden_hand(preset):
    path = GOLDEN / f"{preset}.txt"
    assert path.is_file(), f"the preset {preset} needs a hand played by its rules: tests/golden/{preset}.txt"
    t = replay(path)
    assert t.rules == ginenv.PRESETS[preset]
    assert t.done


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_record_replays_to_itself(path):
    text = path.read_text(encoding="utf-8")
    assert replay(text).record() == without_comments(text)


def test_G1_the_golden_game_ends_with_its_totals():
    t = replay(GOLDEN / "game_modern.txt")
    assert (t.game_over, t.winner, t.scores, t.totals) == (True, 1, (9, 107), (59, 282))


def test_the_decks_of_a_seed_never_change():
    """Published results name seeds, so a change of the shuffle would be a change of results."""
    assert cards_text(Table("modern", seed=115).history[0].deck[:12]) == "7D 9D 9C TS QS JH 3H JD TD 6D 2H QD"


# --- Round trips ----------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ginenv.PRESETS)
def test_a_record_replays_to_the_same_table_and_text(preset):
    for seed in range(3):
        t = random_game(preset, seed, hands=3)
        text = t.record()
        again = replay(text)
        assert again.record() == text
        assert again == t


def test_a_record_may_stop_anywhere():
    t = random_game("modern", 1, hands=1, steps=25)
    text = t.record()
    again = replay(text)
    assert again == t
    assert not again.done
    shorter = "".join(text.splitlines(keepends=True)[:-3])
    assert len(replay(shorter).history[0].plays) < len(t.history[0].plays)


def test_small_decks_and_changed_rules_are_kept():
    rules = ginenv.rules("palace", ranks=10, suits=3, cards_dealt=7, target=None, hands=3, undercut_ties=False)
    t = random_game(rules, 1, hands=2)
    assert "rules: palace ranks=10 suits=3 cards_dealt=7 undercut_ties=False target=None hands=3" in t.record()
    assert replay(t.record()) == t
    mine = ginenv.Rules(name="mine", knock_limit=5)
    t = random_game(mine, 1, hands=1)
    assert "rules: modern name=mine knock_limit=5" in t.record()
    assert replay(t.record()).rules == mine
    with pytest.raises(ValueError, match="the name 'my own' cannot stand in a record"):
        Table(ginenv.Rules(name="my own")).record()


def test_the_seed_stands_in_a_record_when_it_was_used():
    deck = list(range(52))
    assert "seed: 8\n" in Table(seed=8).record()
    assert "seed: 8\n" in Table(seed=8, deck=deck).record()
    assert "seed" not in Table(deck=deck, dealer=0).record()
    t = Table()
    assert f"seed: {t.seed}\n" in t.record()


def test_a_path_may_be_text_too(tmp_path):
    t = random_game("modern", 2, hands=1)
    path = tmp_path / "hand.txt"
    path.write_text(t.record(), encoding="utf-8")
    assert replay(path) == replay(str(path)) == t
    with pytest.raises(FileNotFoundError):
        replay(tmp_path / "none.txt")


def discard_drawn(t: Table, turns: int) -> Table:
    """Pass the first upcard, then throw away whatever is drawn."""
    t.step("pass")
    t.step("pass")
    while t.turn < turns and not t.done:
        t.step("draw")
        t.step(f"discard {t.drawn}")
    return t


def test_H12_a_new_stock_stands_in_the_record_and_may_be_told():
    rules = ginenv.rules("modern", reshuffles=1, dead_stock=0)
    t = discard_drawn(Table(rules, seed=3), 40)
    text = t.record()
    new = next(line for line in text.splitlines() if line.startswith("new stock: "))
    assert len(new.split()) == 2 + 31 and replay(text) == t and replay(text).record() == text
    assert replay(text.replace(f"{new}\n", "")) == t  # the seed says as much
    cards = new.split()[2:]
    told = text.replace(new, "new stock: " + " ".join([cards[1], cards[0], *cards[2:]]))
    told = told[: told.index("new stock")] + told[told.index("new stock") :].split("\n")[0] + "\n"
    other = replay(told)
    other.step("draw")
    assert other.drawn == cards[1] and replay(other.record()) == other
    assert discard_drawn(Table(rules, seed=3), 99).result.kind == "dead"


def test_H12_a_new_stock_that_cannot_be_is_told():
    t = discard_drawn(Table(ginenv.rules("modern", reshuffles=1, dead_stock=0), seed=3), 32)
    text = t.record()
    for wrong, sentence in (
        (text.replace("new stock: ", "new stock: XX "), "'XX' is not a card"),
        (text.replace("new stock: ", f"new stock: {t.pile[0]} "), "new stock: it is made of |comes twice"),
        (text.replace("1: draw", "new stock: AS\n1: draw", 1), "the old one is not used up here"),
        (text.replace("new stock: ", "new stock: 2S\nnew stock: "), "new stock: given already"),
    ):
        with pytest.raises(RecordError, match=sentence):
            replay(wrong)


# --- Written by hand ------------------------------------------------------------------------------

HAND = """\
# A hand typed by a person.
Gin Rummy Record 1
rules: modern

hand
dealer: 0
stock: KS ...        # the rest in any fixed order
cards 1: js qs 4h 4d 4c 6h 7h 8h 8d 9c
cards 0: TS 2S 2H 2D KD QH 5C 3D AC 3H
upcard: 7C
1: pass
0: pass
1: draw, knock 9c    # the card drawn may be left out
result: knock, 1 scores 24
melds 1: KS QS JS, 8H 7H 6H, 4C 4D 4H
layoffs 0: TS on JS QS KS
score: 0 24
"""


def test_a_record_written_by_hand():
    t = replay(HAND)
    assert t.result is not None
    assert (t.result.kind, t.result.points) == ("knock", 24)
    assert replay(t.record()).record() == t.record()


def test_a_byte_order_mark_is_read_over(tmp_path):
    path = tmp_path / "record.txt"
    path.write_text(HAND, encoding="utf-8-sig")
    assert replay(path).record() == replay(str(path)).record() == replay(HAND).record()
    assert replay("\ufeff" + HAND) == replay(HAND)
    with pytest.raises(RecordError, match="line 1: the record has no hand"):
        replay("\ufeffgin rummy record 1")


def test_a_deck_may_stand_for_the_hands():
    t = Table(seed=3)
    deck = ginenv.cards_text(t.history[0].deck)
    assert replay(f"gin rummy record 1\nhand\ndealer: {t.dealer}\ndeck: {deck}\n").hand(0) == t.hand(0)


def test_the_seed_alone_deals():
    assert replay("gin rummy record 1\nrules: historic\nseed: 3\nhand 1\n") == Table("historic", seed=3)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Record 1", "Record 2", "line 2: a record begins with 'gin rummy record 1'"),
        ("rules: modern", "rules: modem", "line 3: rules: there is no preset 'modem'"),
        ("rules: modern", "rules: modern gin=3", "line 3: rules: there is no field 'gin'"),
        ("rules: modern", "rules: modern big_gin=1", "line 3: rules: big_gin='1' should be True or False"),
        ("rules: modern", "rule: modern", "line 3: 'rule' does not belong before the first hand"),
        ("rules: modern", "seed: x", "line 3: seed is a whole number, not 'x'"),
        ("rules: modern", "seed: -1", "line 3: seed is a whole number, not '-1'"),
        ("rules: modern", f"seed: {1 << 63}", "line 3: seed 9223372036854775808 is out of range"),
        ("rules: modern", "rules: modern\nrules: eaai", "line 4: rules: given already"),
        ("rules: modern", "seed: 3\nseed: 4", "line 4: seed: given already"),
        ("rules: modern", "rules: modern gin_bonus=5 gin_bonus=6", "line 3: rules: gin_bonus is set twice"),
        ("dealer: 0\n", "dealer: 1\ndealer: 0\n", "line 7: dealer: given already"),
        ("hand\n", "hand 2\n", "line 5: this is hand 1, not 2"),
        ("hand\n", "hands\n", "line 5: 'hands' is neither 'hand' nor a key, a colon and a value"),
        ("dealer: 0", "dealer: 3", "line 6: dealer is a seat, 0 or 1, not '3'"),
        ("dealer: 0\n", "\n", "line 10: the hand has no dealer"),
        ("KS ...", "KS", "line 10: AS 3S 4S"),
        ("KS ...", "KS JS ...", "line 8: JS comes twice: in stock and in cards 1"),
        ("KS ...", "KX ...", "line 7: 'KX' is not a card"),
        ("js qs", "js", "line 8: cards 1: 9 cards, it must be 10"),
        ("upcard: 7C", "", "line 9: the hand has no 'upcard' line"),
        ("upcard: 7C", "upcard: 7C\nupcard: 7C", "line 11: upcard: the cards were given already"),
        ("cards 0", "cards 2", "line 9: 'cards 2': say whose: the seats are 0, 1"),
        ("1: pass", "0: pass", "line 11: it is the turn of seat 1, not of seat 0"),
        ("1: pass", "1: draw", "line 11: draw: take or pass the first upcard"),
        ("1: pass", "1: pas", "line 11: 'pas' is not an action"),
        ("1: pass", "2: pass", "line 11: there is no '2' in a hand"),
        ("0: pass", "0: pass\ndealer: 0", "line 13: dealer comes too late: the hand has begun"),
        ("draw,", "draw QD,", "line 13: the card is KS, not QD"),
        ("knock 9c", "knock 8h", "line 13: knock 8H: leaves 30 deadwood, the limit is 10"),
        ("24\nmelds", "23\nmelds", "line 14: the play gives result: knock, 1 scores 24, 8 against 32"),
        ("result: knock,", "result: gin,", "line 14: the play gives result: knock"),
        ("4C 4D 4H", "4C 4D 4S", "line 15: the play gives melds 1: 4H 4D 4C, JS QS KS, 6H 7H 8H"),
        ("layoffs 0", "layoffs 1", "line 16: there is no layoffs 1 at this point"),
        ("score: 0 24", "score: 24 0", "line 17: the play gives score: 0 24"),
        ("score: 0 24", "game: 1 wins", "line 17: there is no game at this point"),
        ("score: 0 24", "0: draw", "line 17: draw: the hand is over"),
        ("1: draw, knock 9c", "hand 2\nseed: 3", "line 14: there is no 'seed' in a hand"),
    ],
)  # fmt: skip
def test_a_wrong_line_is_named(old, new, message):
    assert HAND.count(old) >= 1
    with pytest.raises(RecordError) as caught:
        replay(HAND.replace(old, new, 1))
    assert str(caught.value).startswith(message)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("hand 2\n", "line 18: the hand has no cards, and the record has no seed"),
        (HAND[HAND.index("hand\n") :].replace("dealer: 0", "dealer: 1"), "line 18: seat 0 deals this hand"),
    ],
)
def test_a_wrong_second_hand_is_named(more, message):
    with pytest.raises(RecordError, match=message):
        replay(HAND + more)


def test_a_hand_must_end_before_the_next():
    started = HAND[: HAND.index("1: draw")]
    with pytest.raises(RecordError, match="line 13: hand 1 is not finished"):
        replay(started + HAND[HAND.index("hand\n") :])


@pytest.mark.parametrize("text", ["\n", "gin rummy record 1", "# nothing\n\n"])
def test_an_empty_record_is_told(text):
    with pytest.raises(RecordError, match="line 1: "):
        replay(text)


def test_any_line_lost_or_doubled_is_an_error_or_a_sound_record():
    lines = replay(GOLDEN / "game_modern.txt").record().splitlines(keepends=True)[:60]
    rng = random.Random(0)
    for i in rng.sample(range(len(lines)), 25):
        for changed in (lines[:i] + lines[i + 1 :], lines[: i + 1] + lines[i:]):
            try:
                t = replay("".join(changed))
            except RecordError as error:
                assert str(error).startswith("line ")
            else:
                assert replay(t.record()) == t
