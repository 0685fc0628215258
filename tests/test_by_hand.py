"""Melds, layoffs and answers as actions: settlement by hand (H9, H10) and knocks above the limit (I2)."""

from __future__ import annotations

import random

import numpy as np
import pytest

import ginenv
from experiments.match import play_pairs
from ginenv import IllegalAction, Table, action_number, action_text, gin_rummy_v0, replay
from ginenv.actions import why_illegal
from ginenv.cards import count
from ginenv.envs.single import GinRummyEnv
from ginenv.invariants import invariants
from ginenv.lay import MELD_NUMBER, MELDS, automatic_action
from ginenv.melds import deadwood
from ginenv.rules import PRESETS, Rules, rules
from ginenv.scoring import settle_hands
from ginenv.state import (
    ARRANGE_PHASE,
    DEFEND_PHASE,
    DONE,
    KNOCK,
    LAY_ON_SET,
    MELD,
    N_ACTIONS,
    N_ALL_ACTIONS,
    N_MELDS,
    Kind,
    n_actions,
    new_states,
)
from ginenv.step import is_legal, step
from ginenv.view import VIEW, look
from tests.common import MORE_RULES, cards, legal_actions, positions
from tests.reference import all_melds, full_deck

BY_HAND = Rules(settle_by_hand=True)
BLUFFS = Rules(illegal_knocks=True)


def deck(first: str, second: str, then: str) -> list[str]:
    """Return a deck that deals ``first`` to the non-dealer, ``second`` to the dealer; upcard and stock follow."""
    front = [c for pair in zip(first.split(), second.split(), strict=True) for c in pair] + then.split()
    return front + [c for c in full_deck() if c not in front]


def play(table: Table, *actions: str) -> Table:
    for action in actions:
        table.step(action)
    return table


def texts(table: Table, words: str = "") -> list[str]:
    return [action_text(a) for a in table.legal_actions() if action_text(a).startswith(words)]


def seen(s: np.void, r: Rules) -> np.void:
    v = np.zeros(1, dtype=VIEW)[0]
    look(s, r.record, int(s["seat"]), v)
    return v


# --- The actions -----------------------------------------------------------------------------------


def test_the_melds_are_all_there_are_each_once():
    assert len(MELDS) == len(MELD_NUMBER) == N_MELDS == LAY_ON_SET - MELD
    assert {cards(int(m)) for m in MELDS} == set(all_melds(full_deck()))


@pytest.mark.parametrize("action", range(N_ALL_ACTIONS))
def test_every_action_has_a_text_that_is_read_again(action):
    assert action_number(action_text(action)) == action


def test_rules_of_the_108_actions_have_no_more():
    assert {n_actions(r) for r in PRESETS.values() if not r.more_actions} == {N_ACTIONS} == {108}
    for s in positions(PRESETS["modern"], 3, 2):
        assert not any(is_legal(s, a) for a in range(N_ACTIONS, N_ALL_ACTIONS + 3))
    env = gin_rummy_v0.env()
    assert env.action_space("player_0").n == 108


@pytest.mark.parametrize("name", MORE_RULES)
def test_H9_H10_I2_masks_reasons_and_invariants_in_random_play(name):
    r = MORE_RULES[name]
    kinds, phases = set(), set()
    for i, s in enumerate(positions(r, 21, 60)):
        invariants(s, r)
        kinds.add(Kind(int(s["kind"])))
        phases.add(int(s["phase"]))
        if i % 16 == 0:
            legal = set(legal_actions(s, n_actions(r)))
            for a in range(-2, N_ALL_ACTIONS + 2):
                why = why_illegal(s, r, a)
                assert (why is None) == (a in legal)
                assert why is None or 15 < len(why) < 130
    assert Kind.KNOCK in kinds and {ARRANGE_PHASE, DEFEND_PHASE} <= phases | ({4, 5} if not r.settle_by_hand else set())


# --- Settlement by hand (H9, H10) -----------------------------------------------------------------

KNOCKER = "JS QS KS 4H 4D 4C 6H 7H 8H 9C"
DEFENDER = "TS 9S 2H 2D 2C QH 4S AC 9H 5H"


def knocked(*more: str) -> Table:
    t = Table(BY_HAND, deck=deck(KNOCKER, DEFENDER, "7C 8D"), dealer=0)
    return play(t, "pass", "pass", "draw", "knock 9C", *more)


def test_H9_the_knocker_chooses_the_melds_and_must_stay_within_the_limit():
    t = knocked()
    # 8D stays loose. Without any of the three melds more than 10 would be left, so each is due.
    assert (t.phase.name, t.seat) == ("ARRANGE", 1)
    assert texts(t) == ["meld 4H 4D 4C", "meld JS QS KS", "meld 6H 7H 8H"]
    with pytest.raises(IllegalAction, match="leaves more than 10 deadwood: lay down another meld"):
        t.step("done")
    with pytest.raises(IllegalAction, match="the knocker never lays off"):
        t.step("lay off 8D above a run")
    play(t, "meld JS QS KS", "meld 6H 7H 8H")
    # What is laid down is seen, and no more.
    assert cards(int(t.view(0)["known"][1])) == {"JS", "QS", "KS", "6H", "7H", "8H"}
    play(t, "meld 4H 4D 4C")
    assert texts(t) == ["done"]


def test_H9_no_meld_after_which_the_hand_cannot_come_within_the_limit():
    t = Table(BY_HAND, deck=deck("TS JS QS QH QD QC 4H 4D 4C AS", DEFENDER.replace("TS", "3S").replace("QH", "KH")
                                 .replace("4S", "5S"), "7C KD"), dealer=0)  # fmt: skip
    play(t, "pass", "pass", "draw", "knock KD")
    assert texts(t) == ["meld 4H 4D 4C", "meld QH QD QC", "meld TS JS QS"]
    with pytest.raises(IllegalAction, match="with that meld what is left cannot come down to 10 deadwood"):
        t.step("meld QS QH QD QC")  # TS JS would stay
    play(t, "meld QH QD QC", "meld 4H 4D 4C", "meld TS JS QS", "done")
    assert t._s["deadwood"][1] == 1


def test_H9_H10_layoffs_are_on_the_table_only_and_chain():
    t = knocked("meld JS QS KS", "meld 6H 7H 8H", "meld 4H 4D 4C", "done")
    assert (t.phase.name, t.seat) == ("DEFEND", 0)
    assert texts(t) == [
        "meld 2H 2D 2C", "lay off 4S on a set", "lay off 9H above a run", "lay off TS below a run",
        "lay off 5H below a run", "done",
    ]  # fmt: skip
    with pytest.raises(IllegalAction, match="lay off 9S below a run: no meld on the table takes it there"):
        t.step("lay off 9S below a run")
    play(t, "lay off TS below a run")
    assert "lay off 9S below a run" in texts(t)  # the chain goes on
    play(t, "lay off 9S below a run", "lay off 4S on a set", "meld 2H 2D 2C", "done")
    # QH, AC, 9H and 5H stay: 25 against 8.
    result = t.result
    assert (result.kind, result.points, result.knocker_deadwood, result.defender_deadwood) == ("knock", 17, 8, 25)
    assert [str(x) for x in result.layoffs] == ["9S TS on JS QS KS", "4S on 4H 4D 4C"]
    assert result.defender_melds == ("2H 2D 2C",)
    assert replay(t.record()) == t and replay(t.record()).record() == t.record()
    assert "0: lay off TS below a run, lay off 9S below a run, lay off 4S on a set, meld 2H 2D 2C, done" in t.record()


def test_H9_nothing_is_laid_off_on_gin():
    t = Table(BY_HAND, deck=deck("JS QS KS 4H 4D 4C 6H 7H 8H 9C", DEFENDER.replace("9H", "3D"), "7C 9H"), dealer=0)
    play(t, "pass", "pass", "draw", "knock 9C", "meld JS QS KS", "meld 4H 4D 4C", "meld 6H 7H 8H 9H", "done")
    assert texts(t) == ["meld 2H 2D 2C", "done"]
    with pytest.raises(IllegalAction, match=r"nothing is laid off on gin \(H9\)"):
        t.step("lay off TS below a run")
    play(t, "done")
    assert t.result.kind == "gin" and t.result.points == 25 + 10 + 9 + 6 + 10 + 4 + 1 + 3 + 5


def test_H9_what_the_knocker_lays_down_decides_what_can_be_laid_off():
    # Three sevens and a run from 8S, or a run from 7S: 7S on the one side keeps TS off, on the other takes it.
    first = "7S 8S 9S 7H 7D 7C 4H 4D 4C AS"
    lines = {("meld 7S 7H 7D 7C", "meld 4H 4D 4C"): 18, ("meld 7S 8S 9S", "meld 7H 7D 7C", "meld 4H 4D 4C"): 1}
    for melds, own in lines.items():
        r = Rules(settle_by_hand=True, knock_limit=20)
        t = Table(r, deck=deck(first, "TS 2S 2H 2D KD QH 5C 3D AC 3H", "KH KC"), dealer=0)
        play(t, "pass", "pass", "draw", "knock KC", *melds, "done")
        assert t._s["deadwood"][1] == own
        assert ("lay off TS above a run" in texts(t)) == (own == 1)


def lines(s: np.void, r: Rules, memo: dict[tuple[int, ...], int]) -> int:
    """Try every line of the seat that settles in ``s``: return the least deadwood that it can end with."""
    key = tuple(int(s[name]) for name in ("loose", "sets", "runs", "starts"))
    if key not in memo:
        seat, best = int(s["seat"]), 1 << 30
        for action in legal_actions(s, N_ALL_ACTIONS):
            then = new_states(1)[0]
            for name in s.dtype.names:
                then[name] = s[name]
            step(then, r.record, action)
            best = min(best, int(then["deadwood"][seat]) if action == DONE else lines(then, r, memo))
        memo[key] = best
    return memo[key]


@pytest.mark.parametrize("name", ["by hand", "by hand, melds to 4, big gin", "by hand, small"])
def test_H9_H10_automatic_settlement_is_the_best_of_all_lines_by_hand(name):
    r = MORE_RULES[name]
    checked = laid = 0
    for s in positions(r, 31, 80):
        if s["phase"] == ARRANGE_PHASE and not s["sets"] | s["runs"]:
            hand = int(s["hand"][s["seat"]])
            assert lines(s, r, {}) == deadwood(hand, r.longest_meld)
        if s["phase"] != DEFEND_PHASE or s["laid"] or s["loose"] != s["hand"][s["seat"]]:
            continue
        melds = s["melds"].copy()
        if not melds[0]:
            continue
        knocker = int(s["knocker"])
        *_, other, laid_off = settle_hands(
            int(s["hand"][knocker]), int(s["hand"][1 - knocker]), r.record["deck"], r.record, melds
        )
        assert lines(s, r, {}) == other
        checked += 1
        laid += laid_off != 0
    assert checked > 15 and laid > 0


@pytest.mark.parametrize("name", ["by hand", "by hand, melds to 4, big gin", "by hand, small"])
def test_H9_H10_the_automatic_actions_settle_as_the_automatic_settlement(name):
    """The agents' settlement, played action by action, comes to what the rules without this option come to."""
    by_hand = MORE_RULES[name]
    automatic = by_hand.but(settle_by_hand=False)
    for seed in range(60):
        rng = random.Random(seed)
        one, other = Table(by_hand, seed=seed), Table(automatic, seed=seed)
        while not one.done:
            if one.phase > 3:
                one.step(int(automatic_action(one.view(one.seat), by_hand.record)))
                continue
            legal = one.legal_actions()
            action = rng.choice([a for a in legal if a >= KNOCK or a == 3] or legal)
            one.step(action)
            other.step(action)
        assert (one.result.kind, one.result.points) == (other.result.kind, other.result.points)
        assert one.result.defender_deadwood == other.result.defender_deadwood
        assert one.scores == other.scores


@pytest.mark.parametrize("name", MORE_RULES)
def test_H9_I2_records_of_more_actions_replay(name):
    for seed in range(4):
        rng, t = random.Random(seed), Table(MORE_RULES[name], seed=seed)
        while not t.done:
            legal = t.legal_actions()
            t.step(rng.choice([a for a in legal if a >= KNOCK] or legal))
            str(t)
            t.render("svg", seat=0)
        again = replay(t.record())
        assert again == t and again.record() == t.record()
        assert again.result == t.result
        assert t.result.kind == "dead" or t.result.points == max(t.scores)


# --- Knocks above the limit (I2) ------------------------------------------------------------------


def bluffed() -> Table:
    t = Table(BLUFFS, deck=deck("JS QS KS 4H 4D 4C 6H 7H KD KC", DEFENDER, "7C 8D 3C"), dealer=0)
    return play(t, "pass", "pass", "draw", "bluff KC")  # 6H 7H 8D KD: 31 points


def test_I2_document_000_the_offender_plays_on_with_the_hand_exposed():
    t = bluffed()
    assert (t.phase.name, t.seat, texts(t)) == ("ANSWER", 0, ["accept", "refuse"])
    assert t.pile == ("7C",)  # the discard lies face down until the knock is refused
    exposed = int(t._s["hand"][1])
    assert t.view(0)["known"][1] == exposed and count(exposed) == 10
    t.step("refuse")
    assert (t.phase.name, t.seat, t.pile[0]) == ("DRAW", 0, "KC")
    assert t.view(0)["known"][1] == exposed  # and stays known
    play(t, "draw", "discard 3C", "take", "discard KD")
    assert cards(int(t.view(0)["known"][1])) == (cards(exposed) | {"3C"}) - {"KD"}
    assert replay(t.record()) == t


def test_I2_document_000_the_opponent_may_accept_it_and_undercut():
    t = bluffed()
    t.step("accept")
    # The defender lays off TS 9S on the spades, 4S on the fours, 2H 2D 2C are a set: QH AC 9H 5H stay, 25 against 31.
    result = t.result
    assert (result.kind, result.points, result.winner_seat) == ("undercut", 31 - 25 + 25, 0)
    assert (result.knocker_deadwood, result.defender_deadwood) == (31, 25)
    assert replay(t.record()) == t


def test_I2_a_bluff_is_a_knock_above_the_limit_and_keeps_H4():
    legal = Table(BLUFFS, deck=deck(KNOCKER, DEFENDER, "7C 8D"), dealer=0)
    play(legal, "take")
    bluffs = texts(legal, "bluff")
    assert "bluff 7C" not in bluffs and "bluff JS" in bluffs  # H4
    with pytest.raises(IllegalAction, match=r"it was just taken from the discard pile \(H4\)"):
        legal.step("bluff 7C")
    assert not set(texts(legal, "knock")) & {b.replace("bluff", "knock") for b in bluffs}
    with pytest.raises(IllegalAction, match="these rules have no knocks above the limit"):
        other = play(Table(BY_HAND, seed=1), "take")
        other.step(f"bluff {next(c for c in other.hand(other.seat).split() if c != other.drawn)}")


def test_I2_a_refused_bluff_with_the_last_card_is_a_dead_hand():
    r = Rules(illegal_knocks=True, dead_stock=30)
    t = Table(r, deck=deck("JS QS KS 4H 4D 4C 6H 7H KD KC", DEFENDER, "7C 8D 3C"), dealer=0)
    play(t, "pass", "pass", "draw", "bluff KC", "refuse")
    assert t.result.kind == "dead"


# --- Environments and agents ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["by hand, small", "bluffs by hand"])
def test_H9_I2_the_aec_environment_plays_every_phase(name):
    env = gin_rummy_v0.env(MORE_RULES[name])
    rng, phases = np.random.default_rng(4), set()
    assert env.action_space("player_0").n == N_ALL_ACTIONS
    for seed in range(12):
        env.reset(seed=seed)
        for agent in env.agent_iter():
            observation, _, ended, cut, _ = env.last()
            mask = observation["action_mask"]
            assert mask.shape == (N_ALL_ACTIONS,)
            phases.add(int(env._desk.states[0]["phase"]))
            legal = np.flatnonzero(mask)
            late = legal[legal >= KNOCK]
            env.step(None if ended or cut else rng.choice(late if len(late) else legal))
            assert not env.observe(agent)["action_mask"].any() or env.agent_selection == agent
    assert {ARRANGE_PHASE, DEFEND_PHASE} <= phases


@pytest.mark.parametrize("name", ["by hand, small", "bluffs by hand"])
def test_H9_I2_the_single_environment_settles_for_an_opponent_that_does_not_know_how(name):
    env = GinRummyEnv("simple", MORE_RULES[name])
    rng = np.random.default_rng(5)
    for seed in range(12):
        env.reset(seed=seed)
        ended = cut = False
        while not (ended or cut):
            legal = np.flatnonzero(env.action_masks())
            late = legal[legal >= KNOCK]
            _, _, ended, cut, _ = env.step(rng.choice(late if len(late) else legal))


def test_what_does_not_know_these_actions_refuses_the_rules():
    with pytest.raises(ValueError, match=r"rules: settle_by_hand has actions that .* cannot play"):
        play_pairs(None, None, BY_HAND, 1, 0, 1)
    assert rules("modern").more_actions == ""
    assert ginenv.rules("modern", settle_by_hand=True).more_actions == "settle_by_hand"
