"""`ismcts`: a tree whose counts add up, over what the searcher sees; and time budgets that cannot be overdrawn."""

from __future__ import annotations

import numpy as np
import pytest

from agents import ismcts
from agents.clock import deadline, nanoseconds
from agents.registry import make
from ginenv.cards import BIT
from ginenv.melds import deadwood
from ginenv.rules import PRESETS
from ginenv.state import BIG_GIN, DISCARD_PHASE, DRAW_PHASE, KNOCK, N_ACTIONS, OVER_PHASE, UPCARD_PHASE
from ginenv.step import is_legal
from ginenv.view import VIEW, look
from tests.common import ALL_RULES, legal_actions, positions
from tests.test_view import shuffled

EAAI = PRESETS["eaai"]
AGENT = make("ismcts:worlds=150")


def grown(view: np.ndarray, key: int = 3) -> tuple[np.ndarray, int]:
    nodes = np.zeros(301, dtype=ismcts.NODE)
    return nodes, int(ismcts.grow(view, EAAI.record, AGENT.params, key, nodes))


def children(nodes: np.ndarray, parent: int) -> list[int]:
    found, child = [], int(nodes[parent]["child"])
    while child >= 0:
        found.append(child)
        child = int(nodes[child]["sibling"])
    return found


def views(seed: int, hands: int, every: int) -> list[tuple[np.ndarray, np.ndarray]]:
    found = []
    for n, s in enumerate(positions(EAAI, seed, hands)):
        if s["phase"] != OVER_PHASE and n % every == 0:
            v = np.zeros(1, dtype=VIEW)
            look(s, EAAI.record, int(s["seat"]), v[0])
            found.append((s.copy(), v))
    return found


def test_the_counts_of_the_tree_add_up():
    for s, v in views(71, 4, 5):
        nodes, iterations = grown(v[0])
        if iterations == 0:  # one choice only
            assert len(children(nodes, 0)) == 1
            continue
        assert iterations == 150
        top = children(nodes, 0)
        assert sum(int(nodes[c]["visits"]) for c in top) == 150  # each iteration chose one of them
        assert all(is_legal(s, int(nodes[c]["action"])) for c in top)
        assert len({int(nodes[c]["action"]) for c in top}) == len(top)
        todo = list(top)
        while todo:
            node = todo.pop()
            below = children(nodes, node)
            todo += below
            if nodes[node]["action"] >= N_ACTIONS:  # a card drawn: no choice, so not counted
                assert nodes[node]["visits"] == 0
                continue
            assert 1 <= nodes[node]["visits"] <= nodes[node]["offered"]
            choices = sum(int(nodes[c]["visits"]) for c in below)
            drawn = [c for c in below if nodes[c]["action"] >= N_ACTIONS]
            if drawn:
                assert nodes[node]["mine"] == 1 and len(drawn) == len(below)
                choices = sum(int(nodes[c]["visits"]) for d in drawn for c in children(nodes, d))
            assert choices <= nodes[node]["visits"]


def test_a_choice_is_a_function_of_what_is_seen_and_the_key():
    rng = np.random.default_rng(6)
    varied = 0
    for n, (s, v) in enumerate(views(72, 4, 6)):
        other = np.zeros(1, dtype=VIEW)
        look(shuffled(s, EAAI, int(s["seat"]), rng), EAAI.record, int(s["seat"]), other[0])
        first, _ = grown(v[0], n)
        again, _ = grown(other[0], n)
        assert first.tobytes() == again.tobytes()
        varied += first.tobytes() != grown(v[0], n + 1)[0].tobytes()
    assert varied > 5


def test_gin_is_declared_at_once():
    found = 0
    for name in ("4 ranks, 3 cards", "big_gin"):
        rules = ALL_RULES[name]
        for s in positions(rules, 73, 40):
            if s["phase"] != DISCARD_PHASE:
                continue
            hand = int(s["hand"][s["seat"]])
            gins = [a for a in legal_actions(s) if a >= KNOCK and deadwood(hand & ~int(BIT[a - KNOCK]), 13) == 0]
            big = (int(s["choices"]) >> BIG_GIN) & 1
            if gins or big:
                v = np.zeros(1, dtype=VIEW)
                look(s, rules.record, int(s["seat"]), v[0])
                assert int(AGENT.act(v, rules, np.array([1]))[0]) in ([BIG_GIN] if big else gins)
                found += 1
    assert found > 5


@pytest.mark.parametrize("spec", ["ismcts:ms=2", "ismcts:bank=0.5", "mc:ms=2", "mc:bank=0.5", "mc:ms=2,bank=0.5"])
def test_time_budgets_give_legal_play(spec):
    agent = make(spec)
    for s, v in views(74, 2, 9):
        assert is_legal(s, int(agent.act(v, EAAI, np.array([4]))[0]))


def test_a_bank_cannot_be_overdrawn_however_long_the_game():
    v = np.zeros(1, dtype=VIEW)[0]
    spent, most = 0, 0
    for hand in range(60):
        decisions = [(0, UPCARD_PHASE)]
        decisions += [(turn + (phase == DISCARD_PHASE), phase) for turn in range(40)
                      for phase in (DRAW_PHASE, DISCARD_PHASE)]  # fmt: skip
        for turn, phase in decisions:
            v["hand_number"], v["own_turn"], v["phase"] = hand, turn, phase
            given = int(deadline(v, 0.0, 10.0)) - int(nanoseconds())
            spent += given
            most = max(most, given)
    assert 0.9e10 < spent <= 1e10
    assert 0.06e9 < most < 0.0715e9  # the first decision: a fourteenth of a tenth of ten seconds


def test_of_two_budgets_the_shorter_holds():
    v = np.zeros(1, dtype=VIEW)[0]
    v["phase"] = UPCARD_PHASE
    assert int(deadline(v, 0.0, 0.0)) == 0
    for ms, bank, given in ((5.0, 10.0, 5e6), (500.0, 10.0, 71.5e6), (5.0, 0.0, 5e6)):
        assert 0.5 * given < int(deadline(v, ms, bank)) - int(nanoseconds()) <= given
