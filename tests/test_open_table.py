"""The open table (V8) and going rummy (S8), in step with a naive oracle; and what the document says, case by case."""

from __future__ import annotations

import random

import pytest

from ginenv import IllegalAction, Table, action_text, replay
from ginenv.cards import card_text
from ginenv.rules import PRESETS, Rules
from tests.common import MORE_RULES, cards
from tests.reference import (
    RANKS,
    Meld,
    all_melds,
    arrangements,
    is_meld,
    least_deadwood,
    legal_discards,
    rank,
    reachable_layoffs,
    total,
)

OPEN = PRESETS["open_table"]


class NaiveTurn:
    """One turn at the open table after the draw: what may be done, from hand, melds on the table and rules."""

    def __init__(self, hand: set[str], table: list[Meld], taken: str | None, rules: Rules) -> None:
        self.hand, self.table, self.taken, self.rules = hand, table, taken, rules

    def stuck(self, left: set[str]) -> bool:
        """Say whether only the card just taken would be left, and it may not be discarded (H4)."""
        return left == {self.taken} and not self.rules.discard_taken

    def legal(self) -> set[str]:
        actions = {f"discard {c}" for c in legal_discards(self.hand, self.taken, self.rules.discard_taken)}
        if len(self.hand) > 1:
            for c in legal_discards(self.hand, self.taken, self.rules.discard_taken):
                if least_deadwood(self.hand - {c}) <= self.rules.knock_limit:
                    actions.add(f"knock {c}")
        for meld in all_melds(self.hand):
            if not self.stuck(self.hand - meld):
                actions.add(f"meld {' '.join(sorted(meld))}")
        for meld in self.table:
            for c in self.hand:
                if not is_meld(meld | {c}):
                    continue
                if self.stuck(self.hand - {c}):
                    then = is_meld(meld | {c, self.taken}) and not is_meld(meld | {self.taken})
                    if not then:
                        continue
                if len({x[0] for x in meld}) == 1:
                    actions.add(f"lay off {c} on a set")
                else:
                    actions.add(f"lay off {c} {'above' if rank(c) > max(map(rank, meld)) else 'below'} a run")
        return actions

    def lay(self, action: str) -> None:
        words = action.split()
        if words[0] == "meld":
            self.table.append(frozenset(words[1:]))
            self.hand -= set(words[1:])
            return
        c = words[2]
        place = next(
            i
            for i, meld in enumerate(self.table)
            if is_meld(meld | {c})
            and (words[-1] == "set") == (len({x[0] for x in meld}) == 1)
            and (words[-1] == "set" or (words[3] == "above") == (rank(c) > max(map(rank, meld))))
        )
        self.table[place] |= {c}
        self.hand.discard(c)


def best_defence(hand: set[str], table: list[Meld]) -> int:
    """Return the least deadwood after any layoffs on the table and the best own melds."""
    return min(least_deadwood(hand - laid) for laid in reachable_layoffs(table, hand))


def in_text(action: str) -> str:
    words = action.split()
    return "meld " + " ".join(sorted(words[1:])) if words[0] == "meld" else action


@pytest.mark.parametrize("name", ["open table", "open table, small"])
def test_V8_S8_H4_H12_in_step_with_a_naive_oracle(name):
    rules = MORE_RULES[name]
    kinds: dict[str, int] = {}
    for seed in range(25):
        rng = random.Random(f"{name} {seed}")
        t = Table(rules, seed=seed)
        table: list[Meld] = []
        opened: set[int] = set()
        turn: NaiveTurn | None = None
        laid = False
        while not t.done:
            if t.phase.name != "DISCARD":
                turn, laid = None, False
                t.step(rng.choice([a for a in t.legal_actions() if a != 2] or [2]))
                continue
            seat = t.seat
            if turn is None:
                taken = t.drawn if t._s["taken"] else None
                turn = NaiveTurn(set(t.hand(seat).split()), table, taken, rules)
            legal = {in_text(action_text(a)) for a in t.legal_actions()}
            assert legal == turn.legal()
            lays = sorted(a for a in legal if a[0] in "ml")
            outs = sorted(a for a in legal if a.startswith("knock") and rng.random() < 0.15)
            action = rng.choice((lays if rng.random() < 0.8 else []) or outs or sorted(legal))
            other = set(t.hand(1 - seat).split())
            t.step(action)
            if action[0] in "ml":
                turn.lay(action)
                laid = True
            else:
                turn.hand.discard(action.split()[-1])
            result = t.result
            if action[0] not in "ml" and not t.done and laid:
                opened.add(seat)
            if result is None:
                assert t.hand(seat).split() == sorted(turn.hand, key=lambda c: ("SHDC".index(c[1]), RANKS.index(c[0])))
                continue
            kinds[result.kind] = kinds.get(result.kind, 0) + 1
            if result.kind == "dead":
                continue
            own = least_deadwood(turn.hand)
            if own == 0:
                twice = rules.rummy_doubles and seat not in opened
                assert (result.kind, result.winner_seat) == ("out", seat)
                assert result.points == (total(other) + rules.gin_bonus) * (2 if twice else 1)
                continue
            wanted = {best_defence(other, table + list(melds)) for melds in arrangements(turn.hand)
                      if total(turn.hand.difference(*melds)) == own}  # fmt: skip
            assert result.knocker_deadwood == own and result.defender_deadwood in wanted
            left = result.defender_deadwood
            undercut = left < own or (left == own and rules.undercut_ties)
            assert result.kind == ("undercut" if undercut else "knock")
            assert result.points == abs(left - own) + (rules.undercut_bonus if undercut else 0)
        again = replay(t.record())
        assert again == t and again.record() == t.record()
        str(t)
        t.render("svg")
    assert {"out", "knock"} <= set(kinds)


FIRST = "AS 2S 3S 7H 7D 7C TC JC QC 4D"
SECOND = "KS KH 9D 8D 6C 5C 2H 3H 8H TS"


def dealt(then: str, first: str = FIRST, second: str = SECOND) -> Table:
    """Return an open table where seat 1 begins with ``first``; upcard and stock follow."""
    front = [c for pair in zip(first.split(), second.split(), strict=True) for c in pair] + then.split()
    return Table(OPEN, deck=front + [card_text(c) for c in range(52) if card_text(c) not in front], dealer=0)


def play(t: Table, *actions: str) -> Table:
    for action in actions:
        t.step(action)
    return t


def test_V8_S8_document_004_no_discard_is_owed_when_all_cards_are_melded():
    t = play(dealt("9S KC", "AS 2S 3S 4S 7H 7D 7C TC JC QC", SECOND.replace("TS", "AD")), "pass", "pass", "draw")
    play(t, "meld AS 2S 3S 4S", "meld 7H 7D 7C", "meld TC JC QC KC")
    # K K 9 8 6 5 2 3 8 A = 62, doubled: nothing had been laid before.
    assert (t.result.kind, t.result.points, t.result.winner_seat, t.pile) == ("out", 2 * 62, 1, ("9S",))


def test_V8_S8_going_out_scores_the_cards_left_and_twice_in_one_turn():
    t = play(dealt("9S 4S"), "pass", "pass", "draw", "meld AS 2S 3S 4S", "meld 7H 7D 7C", "meld TC JC QC", "discard 4D")
    # K K 9 8 6 5 2 3 8 10 = 71, doubled.
    assert (t.result.kind, t.result.points, t.result.winner_seat) == ("out", 2 * 71, 1)
    slow = play(dealt("9S 4S"), "pass", "pass", "draw", "meld AS 2S 3S 4S", "discard 4D", "draw", "discard 5S")
    play(slow, "take", "lay off 5S above a run", "meld 7H 7D 7C", "meld TC JC QC")
    assert (slow.result.kind, slow.result.points) == ("out", 71)  # the spades were laid in an earlier turn


def test_V8_the_last_card_may_go_out_as_a_layoff():
    t = play(
        dealt("9S 4S"), "pass", "pass", "draw", "meld 7H 7D 7C", "meld TC JC QC", "discard 4D", "draw", "discard 5S"
    )
    play(t, "take", "meld AS 2S 3S", "lay off 4S above a run", "lay off 5S above a run")
    assert (t.result.kind, t.result.points) == ("out", 71)


def test_V8_H4_a_turn_that_could_not_end_is_not_begun():
    t = play(
        dealt("9S 4S"), "pass", "pass", "draw", "meld 7H 7D 7C", "meld TC JC QC", "discard 4D", "draw", "discard KH"
    )
    play(t, "take")
    # With AS 2S 3S 4S down only KH would be left, which was just taken.
    with pytest.raises(IllegalAction, match="only the card just taken would be left, which may not be discarded"):
        t.step("meld AS 2S 3S 4S")
    with pytest.raises(IllegalAction, match="has no 7S to lay off"):
        t.step("lay off 7S on a set")


def test_V8_anyone_lays_off_on_any_meld_on_the_table():
    t = play(dealt("9S 9C"), "pass", "pass", "draw", "meld TC JC QC", "lay off 9C below a run", "discard 4D", "draw")
    assert "lay off KC above a run" not in {action_text(a) for a in t.legal_actions()}
    assert cards(int(t.view(0)["runs"])) == {"9C", "TC", "JC", "QC"}


def test_V8_a_knock_at_10_or_less_ends_it_too():
    t = play(dealt("9S KC"), "pass", "pass", "draw", "meld AS 2S 3S", "knock KC")  # 4D stays
    result = t.result
    assert (result.kind, result.knocker_deadwood) == ("knock", 4)
    assert result.knocker_melds == ("7H 7D 7C", "TC JC QC")
    assert result.points == result.defender_deadwood - 4
    assert replay(t.record()) == t


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"jokers": True}, "open_table does not go with jokers"),
        ({"settle_by_hand": True}, "open_table does not go with settle_by_hand"),
        ({"illegal_knocks": True}, "open_table does not go with illegal_knocks"),
        ({"big_gin": True}, "open_table does not go with big_gin"),
        ({"straight": True}, "open_table does not go with straight"),
        ({"oklahoma": True}, "open_table does not go with oklahoma"),
        ({"longest_meld": 5}, "at the open table melds grow as long as they can"),
    ],
)
def test_V8_combinations_that_make_no_sense(changes, sentence):
    with pytest.raises(ValueError, match=f"^rules: {sentence}"):
        OPEN.but(**changes)
    with pytest.raises(ValueError, match="rummy_doubles is an option of the open table"):
        Rules(rummy_doubles=True)
