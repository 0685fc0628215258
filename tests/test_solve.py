"""Solved games: the public tree against every history of tiny decks, CFR+ against what it says of itself."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

from agents.registry import make
from experiments.cli import main
from experiments.exact_reach import DRAWS, any_legal, chances_of, reach_of
from experiments.public_tree import Strategy, Tree, best, uniform
from experiments.solve import Game, best_values, exploitability, solve
from ginenv.rules import parse_rules
from ginenv.state import N_ACTIONS
from ginenv.view import VIEW
from tests.exhaustive import Exhaustive

TINY = {
    "one card, three turns": "eaai,ranks=5,suits=1,cards_dealt=1,turn_limit=3,dead_stock=0,knock_limit=2",
    "one card, takers may throw it, Oklahoma": "eaai,ranks=3,suits=2,cards_dealt=1,turn_limit=2,dead_stock=1,"
    "oklahoma=true,spades_double=true,discard_taken=true,undercut_ties=false",
    "runs": "eaai,ranks=4,suits=2,cards_dealt=3,turn_limit=1,dead_stock=0,knock_limit=5,big_gin=true",
}
"""Decks so small that every history can be played in seconds."""
SMALL = {
    "one card, two suits": "eaai,ranks=3,suits=2,cards_dealt=1,turn_limit=3,dead_stock=1,knock_limit=2",
    "runs, two turns": "eaai,ranks=4,suits=2,cards_dealt=3,turn_limit=2,dead_stock=0,knock_limit=5",
    "one suit": "eaai,ranks=8,suits=1,cards_dealt=3,turn_limit=3,dead_stock=0,knock_limit=10",
    "layoffs": "eaai,ranks=5,suits=2,cards_dealt=4,turn_limit=1,dead_stock=0,knock_limit=6",
    "sets": "eaai,ranks=3,suits=3,cards_dealt=3,turn_limit=1,dead_stock=0,knock_limit=6,longest_meld=3",
}
"""The same in minutes: `make fuzz`."""


RUNS = "eaai,ranks=4,suits=2,cards_dealt=3,turn_limit=2,dead_stock=0,knock_limit=5"


def fair(known: bytes, actions: list[int]) -> list[float]:
    return [1 / len(actions)] * len(actions)


def by_hash(known: bytes, actions: list[int]) -> list[float]:
    """Play at random, but differently for all that can be known: own draws and their order, too."""
    numbers = [1 + int.from_bytes(hashlib.blake2b(known + bytes([a]), digest_size=1).digest(), "big") for a in actions]
    return [n / sum(numbers) for n in numbers]


def hashed(views: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Play as `by_hash`."""
    found = np.zeros(masks.shape)
    for i, (view, mask) in enumerate(zip(views, masks, strict=True)):
        actions = np.flatnonzero(mask)
        found[i, actions] = by_hash(view.tobytes(), actions.tolist())
    return found


@pytest.mark.parametrize("name", [*TINY, *(pytest.param(name, marks=pytest.mark.fuzz) for name in SMALL)])
def test_best_responses_are_those_of_every_history(name: str):
    """Uniform play, and play that depends on the order of one's own draws; both seats, to 1e-9."""
    chosen = parse_rules((TINY | SMALL)[name])
    oracle, game = Exhaustive(chosen), Game(chosen)
    for policy, chances in ((fair, any_legal), (by_hash, hashed)):
        for seat in (0, 1):
            found = [best_values(tree, [reach_of(tree, seat, chances)])[0] for tree in game.trees]
            assert np.mean(found) == pytest.approx(oracle.best_response(1 - seat, policy), abs=1e-9)


def test_the_tree_and_the_views_tell_the_same():
    game = Game(parse_rules(RUNS))
    fairly = [best_values(tree, [tree.reach(seat, uniform(tree, seat)) for seat in (0, 1)]) for tree in game.trees]
    assert np.mean(fairly) == pytest.approx(exploitability(game, any_legal), abs=1e-12)


def test_cfr_comes_near_an_equilibrium():
    """Exploitability falls to nothing, and no more can be won from the solution than its own value says."""
    game = Game(parse_rules(RUNS))
    steps = list(solve(game, 256))
    lost = [step.exploitability for step in steps]
    assert lost == sorted(lost, reverse=True) and lost[-1] < 1e-3 < 1 < lost[0]
    assert all(loss > -1e-9 for loss in lost)
    # The suits that were left out are worth the same.
    kept: dict[Tree, Strategy] = {}
    whole = Game(parse_rules(RUNS))
    whole.alike = [1] * len(whole.trees)
    end = list(solve(whole, 8, lambda tree, strategy: kept.update({tree: strategy})))[-1]
    assert end.exploitability == pytest.approx(steps[3].exploitability, abs=1e-5)  # of float32
    assert end.value == pytest.approx(steps[3].value, abs=1e-5)
    assert len(kept) == 8
    # Nobody who plays by the strategy wins more from it than its best response does.
    tree, strategy = next(iter(kept.items()))
    reach = tree.reach(1, strategy)
    most = tree.dealt @ tree.values(0, reach, best)
    assert tree.dealt @ tree.values(0, reach, lambda part, values: (strategy[part] * values).sum(2)) <= most + 1e-9


def test_agents_are_asked_for_their_chances():
    """Any multiple of a twelfth comes out exactly; a network tells its own."""
    chosen = parse_rules(RUNS)
    views, masks = np.zeros(1, dtype=VIEW), np.zeros((1, N_ACTIONS), dtype=np.int8)
    views["choices"], masks[0, [1, 2]] = 0b110, 1
    assert chances_of(make("random"), chosen)(views, masks)[0, [1, 2]] == pytest.approx([0.5, 0.5])
    shares = chances_of(make("ppo:temperature=1"), chosen)(views, masks)[0]
    assert shares.sum() == pytest.approx(1) and 0 < shares[1] < 1 and shares[0] == 0
    certain = chances_of(make("ppo"), chosen)(views, masks)[0]
    assert certain.max() == 1 and certain.argmax() == shares.argmax()
    assert DRAWS == 12


def test_solve_prints_and_writes_what_it_found(tmp_path, capsys: pytest.CaptureFixture[str]):
    out = tmp_path / "solved.json"
    argv = ["solve", "simple", "--rules", RUNS, "--iterations", "3", "--out", str(out)]
    assert main(argv) == 0
    shown = capsys.readouterr().out
    assert "CFR+      2 iterations" in shown and "100.00 %  random" in shown
    found = json.loads(out.read_text())
    assert [step["iteration"] for step in found["curve"]] == [1, 2, 3]
    assert found["exploitability"]["cfr+"] < found["exploitability"]["random"]
    assert set(found["exploitability"]) == {"random", "cfr+", "simple:early=10,until=1,late=10"}
    assert main(["solve", "--rules", RUNS, "--iterations", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["curve"][0]["iteration"] == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("solve --rules eaai", "hands of 10 from a deck of 13 × 4 cards are too many"),
        ("solve --rules eaai,ranks=5,suits=3,cards_dealt=3", "this game is too large to solve exactly"),
        ("solve --iterations -1", "--iterations -1"),
        ("solve nobody", "there is no agent 'nobody'"),
    ],
)
def test_wrong_input_is_one_sentence(line: str, words: str, capsys: pytest.CaptureFixture[str]):
    assert main(line.split()) == 2
    out, errors = capsys.readouterr()
    assert out == ""
    assert words in errors and errors.count("gin: ") == 1
