"""Every rule has a test, a line in docs/rules.md and an example there that is played here."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

import ginenv
from ginenv.games import dead, keep_game, keep_match, next_dealer, prize_shares, won
from ginenv.hands import is_meld
from ginenv.rules import PRESETS, Rules
from ginenv.table import Table, replay
from tests.common import DECK, mask

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")

_ALL = """
C1 C2 C3 C4 C5 C6 C7 C8
H1 H2 H3 H4 H5 H6 H7 H8 H9 H10 H11 H12 H13 H14 H15
S1 S2 S3 S4 S5 S6 S7 S8
G1 G2 G3 G4 G5 G6 G7 G8
V1 V2 V3 V4 V5 V6 V7 V8
I1 I2
"""
RULE_IDS = _ALL.split()
"""Every id of the list of rules that the project was asked for."""
_TO_COME = ""
NOT_YET = _TO_COME.split()
"""Rules that are still to come; an id leaves this list with its first test."""
PLAYED = [rule for rule in RULE_IDS if rule not in NOT_YET]


def rules_by_test() -> dict[str, set[str]]:
    """Return the tests of the project, and the rule ids in the name of each: test_H10_… proves H10."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / "tests").glob("test_*.py"):
        for name in re.findall(r"^ *def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            found[name] = {part for part in name.split("_") if re.fullmatch(r"[CHSGVI]\d{1,2}", part)}
    return found


TESTS = rules_by_test()
ROWS = {line.split(" ")[1]: line for line in PAGE.splitlines() if re.match(r"\| [CHSGVI]\d{1,2} \|", line)}
"""The line of each id in the tables."""


def test_every_rule_but_those_to_come_has_a_test_that_names_it():
    named = set().union(*TESTS.values())
    assert sorted(set(PLAYED) - named) == [], "no test names these rules"
    assert sorted(named - set(RULE_IDS)) == [], "there are no such rules"
    assert sorted(named & set(NOT_YET)) == [], "these have a test: take them off NOT_YET, and into the tables"


def test_every_field_of_the_rules_names_rules_that_exist():
    for field in dataclasses.fields(Rules):
        assert set(field.metadata["ids"].split()) <= set(RULE_IDS), field.name


@pytest.mark.parametrize("rule", RULE_IDS)
def test_every_rule_stands_in_a_table_of_the_page_once(rule):
    assert len(re.findall(rf"^\| {rule} \|", PAGE, re.MULTILINE)) == 1
    to_come = PAGE[PAGE.index("## To come") :]
    assert (f"| {rule} |" in to_come) == (rule in NOT_YET)


@pytest.mark.parametrize("rule", PLAYED)
def test_the_page_names_a_test_and_a_preset_for_every_rule(rule):
    proof, played = (cell.strip() for cell in ROWS[rule].split("|")[-3:-1])
    name = proof.strip("`")
    assert name in TESTS, f"{rule}: there is no test {name}"
    assert rule in TESTS[name] or any(_spans(name, rule)), f"{rule}: {name} does not name it"
    known = ("all", "any, by `gin score --pool`", "none: an option")
    assert played in known or set(re.findall(r"[a-z_]+", played)) & set(PRESETS)


def _spans(name: str, rule: str) -> list[bool]:
    """Return whether a name such as test_G1_to_G5 covers a rule between its ends."""
    ends = re.findall(r"([CHSGVI])(\d+)_to_([CHSGVI])(\d+)", name)
    return [a == b == rule[0] and int(low) <= int(rule[1:]) <= int(high) for a, low, b, high in ends]


def test_presets_in_the_page_play_the_rule_named_beside_them():
    """Where the table names a preset, some field of that rule differs from what other presets have."""
    for rule in PLAYED:
        fields = [f.name for f in dataclasses.fields(Rules) if rule in f.metadata["ids"].split()]
        for preset in set(re.findall(r"[a-z_]+", ROWS[rule].split("|")[-2])) & set(PRESETS):
            if fields and preset != "modern":
                assert any(
                    getattr(PRESETS[preset], name) != getattr(other, name)
                    for name in fields
                    for other in PRESETS.values()
                ), (rule, preset)


@pytest.mark.parametrize("rule", PLAYED)
def test_every_rule_has_an_example_in_the_page_that_is_played_below(rule):
    examples = PAGE[PAGE.index("## Examples") : PAGE.index("## Irregularities")]
    assert re.search(rf"\b{rule}(, [A-Z]\d+)*:|\b{rule}: |[ ,]{rule}:", examples), rule
    assert any(rule in ids for name, ids in TESTS.items() if name in globals()), f"{rule}: its example is not played"


# --- The examples ---------------------------------------------------------------------------------


def meld(text: str, longest: int = 13) -> bool:
    return bool(is_meld(mask(text), longest))


def test_C1_C2_C3_C4_examples():
    assert meld("AS 2S 3S") and not meld("QS KS AS")
    assert ginenv.deadwood("AS 7H TD KC") == 28
    assert meld("7S 7H 7D") and meld("7S 7H 7D 7C")
    assert meld("4H 5H 6H") and meld("4H 5H 6H 7H") and not meld("4H 5H 6D")


def test_C5_C6_examples():
    assert ginenv.deadwood("7C 7S 7H 8H 9H") == min(17, 14)
    with pytest.raises(ValueError, match="2H"):
        ginenv.settle("2H 3H 4H 5H 6H 7H 8H 2S 2H 2D 2C", "9H TH")
    assert meld("7S 8S 9S TS JS", 5) and not meld("7S 8S 9S TS JS QS", 5)
    assert PRESETS["palace"].longest_meld == 5
    assert len(ginenv.arrange("7S 8S 9S TS JS QS", "palace").melds) == 2


def dealt(first: str, second: str, then: str, rules: str | Rules = "modern") -> Table:
    """Return a table where seat 1 begins with ``first``, seat 0 deals and has ``second``; upcard and stock follow."""
    front = [c for pair in zip(first.split(), second.split(), strict=True) for c in pair] + then.split()
    return Table(rules, deck=front + [c for c in DECK if c not in front], dealer=0)


KNOCKER = "JS QS 4H 4D 4C 6H 7H 8H 8D 9C"
OTHER = "TS 2S 2H 2D KD QH 5C 3D AC 3H"


def played(table: Table, *actions: str) -> Table:
    for action in actions:
        table.step(action)
    return table


def test_H1_H2_H3_H4_examples():
    t = dealt(KNOCKER, OTHER, "7C KS")
    assert (len(t.hand(0).split()), len(t.hand(1).split()), t.stock_size, t.upcard) == (10, 10, 31, "7C")
    assert played(t, "pass", "pass").legal_actions() == [ginenv.action_number("draw")]
    assert len(played(t, "draw", "discard 9C").hand(1).split()) == 10
    t = played(dealt(KNOCKER, OTHER, "7C KS"), "take")
    with pytest.raises(ginenv.IllegalAction, match="just taken from the discard pile"):
        t.step("discard 7C")


TEN = "AS 2S 3S 7H 7D 7C JH JD JC TC"
POOR = "4S 6S 8S QS 2H 4H 8H QH 3D 5D"


def test_H5_H6_I1_examples():
    t = played(dealt(TEN, POOR, "TS KS"), "take", "knock TC")  # in the very first turn
    assert t.done and t.pile == ()
    for rules, legal in (("modern", True), ("palace", False)):
        t = played(dealt(TEN, POOR, "8C KS", rules), "pass", "pass", "draw")
        assert (ginenv.action_number("knock KS") in t.legal_actions()) == legal
    t = played(dealt(KNOCKER, OTHER, "7C KC"), "pass", "pass", "draw")
    with pytest.raises(ginenv.IllegalAction, match=r"the limit is 10 \(H6\)"):
        t.step("knock 8H")
    assert not t.done


GIN = "AS 2S 3S 7H 7D 7C 9D TD JD QD"


def test_H7_H8_V4_S3_S4_examples():
    assert ginenv.deadwood(GIN) == ginenv.deadwood(GIN + " KD") == 0
    other = "KS KH QC TC AH 2C 3D 4C 5H 6C"
    left = ginenv.deadwood(other)
    assert ginenv.settle(GIN, other).points == 25 + left
    assert ginenv.settle(GIN + " KD", other, "big_gin").points == 31 + left
    assert (25 + 31, 31 + 31) == (56, 62)
    t = played(dealt(GIN, other, "8S KD", "big_gin"), "pass", "pass", "draw", "big gin")
    assert t.result is not None and t.result.kind == "big_gin"


def test_H9_H10_examples():
    knocker = "3S 4S 5S 9H 9D 9C KH KD KC 2C"
    assert ginenv.settle(knocker, "AS 2S 6S 7S 8S QH QD TC JH 4D").defender_deadwood == 44
    result = ginenv.settle(knocker, "AS 2S 6S 7S 8H QH QD TC JH 4D")
    assert {card for off in result.layoffs for card in off.cards.split()} == {"AS", "2S", "6S", "7S"}
    result = ginenv.settle("4H 5H 6H KS KD KC JS JD JC 2C", "7H 8H 9H 9S 9D AS AD 3C 5C 6D")
    assert {card for off in result.layoffs for card in off.cards.split()} == {"7H", "8H"}
    assert (result.defender_melds, result.defender_deadwood) == (("9S 9H 9D",), 1 + 1 + 3 + 5 + 6)


def test_H11_H14_H15_examples():
    t = dealt("AS 3S 5S 7S 9S JS AD 3D 5D 7D", "2H 4H 6H 8H TH QH 2C 4C 6C 8C", "KC")
    played(t, "pass", "pass")
    drawn = 0
    while not t.done:
        t.step("draw")
        drawn += 1
        t.step([a for a in t.legal_actions() if 4 <= a < 56][-1])
    assert (drawn + 21, t.stock_size, t.result and t.result.kind) == (50, 2, "dead")
    t.deal()
    assert t.dealer == 0  # the same dealer
    assert next_dealer("modern", [won(0, 5)]) == 1
    t = played(dealt(KNOCKER, OTHER, "7C KS"), "take", "discard 9C")
    throw = {0: "QH", 1: "JS"}  # each takes the other's discard, for ever
    while not t.done:
        t.step("take")
        taken, seat = t.drawn, t.seat
        t.step(f"discard {throw[seat]}")
        throw[seat] = str(taken)
    assert (t.turn, t.result and t.result.kind) == (100, "dead")


def test_S1_S2_S5_examples():
    assert ginenv.settle("JS QS KS 4H 4D 4C 7H 8H 9H 6D", "2S 2H 2D TD JD QD AC 3C 7C KH").points == 15
    shown = ginenv.settle("4H 4D 4C JS QS KS 6H 7H 8H 8D", OTHER)
    assert shown.points == 24 and str(shown.layoffs[0]) == "TS on JS QS KS"
    undercut = ginenv.settle("4H 4D 4C JS QS KS 6H 7H 8H 8D", "TS 2S 2H 2D 5C AC 9D TD JD QD")
    assert (undercut.kind, undercut.points) == ("undercut", 27)
    assert 4 + PRESETS["palace"].undercut_bonus == 14
    seven = ("4H 4D 4C JS QS KS 6H 7H 8H 7C", "2S 2H 2D 5C AC AD 9D TD JD QD")
    assert (ginenv.settle(*seven).kind, ginenv.settle(*seven).points) == ("undercut", 25)
    assert (ginenv.settle(*seven, "denexa").kind, ginenv.settle(*seven, "denexa").points) == ("knock", 0)
    game = keep_game("modern", [dead()])
    assert (game.totals, game.columns[0].boxes) == ((0, 0), (0, 0))


def test_G1_G2_G3_G4_G5_examples():
    assert not keep_game("modern", [won(0, 99), won(1, 60)]).over
    assert keep_game("modern", [won(0, 99), won(1, 60), won(0, 1)]).over
    game = keep_game("modern", [won(0, 15), won(1, 56), won(0, 90)])
    assert (game.totals, game.margin) == ((105 + 50 + 100, 56 + 25), 174)
    hands = [won(0, 50), won(0, 50)]
    assert (keep_game("modern", hands).totals, keep_game("denexa", hands).totals) == ((500, 0), (350, 0))
    boxed = keep_game(Rules(game_bonus=0), [won(0, 24), won(0, 25), won(0, 25), won(0, 25), won(1, 100)])
    assert (boxed.totals, boxed.winner) == ((199, 125), 0)


def test_G6_G7_G8_examples():
    game, lost = [won(0, 60), won(1, 30), won(0, 45)], [won(0, 20), won(1, 101)]
    assert keep_match("denexa", [*game, *lost, *game, won(0, 100)]).totals == (725, 181)
    assert [40 * share for share in prize_shares([100, 50], [0])] == [30, 10]
    assert [40 * share for share in prize_shares([100, 49], [0])] == [30, 0]
    counted = ginenv.rules(target=None, hands=3, shutout="none")
    assert keep_game(counted, [won(0, 5), won(1, 9)]).winner is None
    assert keep_game(counted, [won(0, 5), won(1, 9), dead()]).winner == 1
    assert keep_game(counted, [won(0, 5), won(1, 5), dead()]).winner is None


def test_V1_V3_examples():
    for upcard, limit in (("6D", 6), ("KS", 10), ("AH", 0)):
        cards = [c for c in DECK if c != upcard]
        t = Table("oklahoma", deck=[*cards[:20], upcard, *cards[20:]], dealer=0)
        assert t.knock_limit == limit
    assert keep_game("oklahoma", [won(0, 2 * 15)]).columns[0].scores == (30, 0)
    one = "AS 7H 7D 7C 9D TD JD 4H 5H 6H"
    t = played(dealt(one, "2S 3S 5S 8S 8H 8D 2C 4C 6C KC", "KD QC", "straight"), "pass", "pass", "draw")
    assert not [a for a in t.legal_actions() if a >= 56]


def test_V2_examples():
    game = keep_game("hollywood", [won(0, 10), won(0, 20), won(0, 30)])
    assert [column.scores[0] for column in game.columns] == [60, 50, 30]
    t = ginenv.replay(ROOT / "tests" / "golden" / "hollywood.txt")
    assert t.totals == (362 + 326 + 622, 59 + 31 + 0)
    hands = [won(0, 11), won(1, 3), won(0, 30), won(0, 46), won(1, 6), won(0, 10), won(0, 40), won(0, 15)]
    assert [column.totals for column in keep_game("hollywood", hands).columns] == [(362, 59), (326, 31), (622, 0)]


def test_C7_C8_examples():
    order = [c for r in "A23456789TJQK" for c in (r + "C", r + "D", r + "H", r + "S")]
    for seed in range(100):
        t = Table(Rules(first_dealer="high"), seed=seed)
        assert t.cut is not None and order.index(t.cut[t.dealer]) == max(map(order.index, t.cut))
    assert order.index("7H") > order.index("7C")
    jokers = Rules(jokers=True)
    assert [ginenv.deadwood(hand, jokers) for hand in ("*1 7S 7H 7D 7C", "*1 *2 7H KD", "*1 *2")] == [7, 7, 40]


def test_H12_examples():
    t = played(Table(Rules(reshuffles=1, dead_stock=0), seed=2), "pass", "pass")
    thrown = {t.upcard}
    for _ in range(31):
        t.step("draw")
        card = str(t.drawn)
        thrown.add(card)
        t.step(f"discard {card}")
    assert (t.stock_size, t.pile) == (31, (card,))
    assert mask(thrown - {card}) == int(t.view(0)["unseen"])


def test_V8_S8_I2_examples():
    other = "KS KH 9D 8D 6C 5C 2H 3H 8H TS"
    t = played(dealt("AS 2S 3S 7H 7D 7C TC JC QC 4D", other, "9S 4S", "open_table"), "pass", "pass", "draw")
    played(t, "meld AS 2S 3S 4S", "meld 7H 7D 7C", "meld TC JC QC", "discard 4D")
    assert t.result is not None and (t.result.kind, t.result.points) == ("out", 2 * 71)
    bluffs = Rules(illegal_knocks=True)
    t = dealt("JS QS KS 4H 4D 4C 6H 7H KD KC", "TS 9S 2H 2D 2C QH 4S AC 9H 5H", "7C 8D", bluffs)
    played(t, "pass", "pass", "draw", "bluff KC", "accept")
    assert t.result is not None and (t.result.kind, t.result.points) == ("undercut", 6 + 25)


def test_H13_S6_S7_V7_examples():
    four = replay(ROOT / "tests" / "golden" / "penalty.txt")
    first, second, third = (hand.result for hand in four.history)
    assert [str(layoff) for layoff in first.seats[2].layoffs] == ["9H TH on 4H 5H 6H 7H 8H"]
    assert not first.seats[3].layoffs
    assert [s.points for s in first.seats] == [-31, 0, -24, -38]
    assert [s.points for s in second.seats] == [-41, 0, -31, 0]
    assert third.seats[0].points == -(18 + 25)
    three = replay(ROOT / "tests" / "golden" / "point_rules.txt")
    points = [[s.points for s in hand.result.seats] for hand in three.history]
    assert points == [[20, -2, -2], [-42, -34, 25], [10, -38, -34]]


def test_V5_V6_examples():
    three = replay(ROOT / "tests" / "golden" / "three_handed.txt")
    assert [hand.scores for hand in three.history] == [(0, 15, 0), (0, 15, 27), (0, 15, 79)]
    assert [(hand.dealer, sorted(hand.seats)) for hand in three.history] == [(0, [0, 1]), (2, [1, 2]), (0, [0, 2])]
    four = replay(ROOT / "tests" / "golden" / "partners.txt")
    assert [hand.scores for hand in four.history][:2] == [(0, 0, 0, 0), (9, 0, 9, 0)]
