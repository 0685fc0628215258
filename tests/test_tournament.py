"""`gin tournament`: the same result however it is played, killed and resumed."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from experiments import provenance
from experiments.match import play_pairs
from experiments.refusal import Refusal
from experiments.standings import as_json, pairs_of, result_document
from experiments.store import DATABASE, open_store
from experiments.tournament import missing, plan, play

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}


def command(out: Path, games: int, threads: int, *more: str) -> list[str]:
    return [
        sys.executable, "-m", "experiments.cli", "tournament", "simple", "random", "simple:early=5", "--rules", "eaai",
        "--seed", "7", "--games", str(games), "--threads", str(threads), "--out", str(out), *more,
    ]  # fmt: skip


def run(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False)


def stored(out: Path) -> int:
    """Return how many games a running tournament has stored."""
    try:
        with sqlite3.connect(f"file:{out / DATABASE}?mode=ro", uri=True) as db:
            return int(db.execute("SELECT count(*) FROM games").fetchone()[0])
    except sqlite3.OperationalError:  # not there yet
        return 0


def started(argv: list[str], out: Path, more_than: int = 0) -> subprocess.Popen[str]:
    """Start a tournament, and return when it has stored games."""
    process = subprocess.Popen(
        argv, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while process.poll() is None and stored(out) <= more_than:
        time.sleep(0.01)
    return process


def result(names: list[str], folder: Path, threads: int = 1, games: int = 60) -> str:
    todo = plan(names, "eaai", 3, games, threads)
    with open_store(folder, todo.identity()) as store:
        play(store, todo, Console(quiet=True))
        return as_json(result_document(store, todo.rules, todo.seed, todo.names, todo.specs, games))


SLOW_AGENT = '''
from agents.protocol import Kind
from agents import registry

class Wrapped:
    """`simple` in a coat of Python: no native agent."""

    def __init__(self, spec):
        self.spec, self.inner = spec, registry.make("simple")

    def act(self, views, rules, keys):
        return self.inner.act(views.copy(), rules, keys)

AGENT = Kind("simple, through Python", lambda spec, options: Wrapped(spec), {})
'''


@pytest.fixture
def own_agent(tmp_path: Path) -> str:
    path = tmp_path / "wrapped.py"
    path.write_text(SLOW_AGENT)
    return str(path)


def test_the_result_does_not_depend_on_threads(tmp_path: Path):
    names = ["random", "simple", "simple:late=0,until=6"]
    assert result(names, tmp_path / "1", 1, 1000) == result(names, tmp_path / "2", 2, 1000)
    assert result(names, tmp_path / "5", 5, 1000) == result(names, tmp_path / "1", 1, 1000)


def test_own_agents_play_the_same_on_any_threads_as_native_ones(tmp_path: Path, own_agent: str):
    one = json.loads(result([own_agent, "random"], tmp_path / "1", 1, 70))
    two = json.loads(result([own_agent, "random"], tmp_path / "2", 2, 70))
    native = json.loads(result(["simple", "random"], tmp_path / "3", 2, 70))
    assert one == two
    for pairing in (one["pairings"][0], native["pairings"][0]):
        del pairing["a"], pairing["a_spec"]
    assert one["pairings"] == native["pairings"]


def test_more_games_keep_what_was_played(tmp_path: Path):
    names = ["random", "simple"]
    few = result(names, tmp_path / "run", games=500)
    more = result(names, tmp_path / "run", games=1200)
    assert more == result(names, tmp_path / "fresh", games=1200)
    assert few == result(names, tmp_path / "run", games=500)  # the first games of the longer run


def test_shards_are_what_is_missing(tmp_path: Path):
    todo = plan(["random", "simple"], "eaai", 3, 1000, 1)
    with open_store(tmp_path, todo.identity()) as store:
        a, b = todo.crews[0]
        for first in (200, 450):
            store.add([(0, play_pairs(a, b, todo.rules, 3, first, 10)[0])])
        shards = missing(store, todo)
        assert [(s.first, s.count) for s in shards] == [(0, 200), (210, 190), (400, 50), (460, 40)]


def test_an_agent_against_itself(tmp_path: Path):
    document = json.loads(result(["simple", "simple"], tmp_path, games=1000))
    assert [(p["a"], p["b"]) for p in document["pairings"]] == [("simple", "simple")]
    assert abs(document["pairings"][0]["a_win_rate"] - 0.5) < 0.06  # five standard errors


def test_an_agent_that_fails_is_named_and_the_rest_is_stored(tmp_path: Path):
    path = tmp_path / "broken.py"
    path.write_text(
        SLOW_AGENT.replace("return self.inner", "views[0]['turn'] > 20 and 1 / 0\n        return self.inner")
    )
    with pytest.raises(Refusal, match=r"agent .*broken.py failed: ZeroDivisionError: .* \(broken.py, line 1\d\)"):
        result([str(path), "simple"], tmp_path / "run")
    path.write_text("import nowhere_at_all")
    with pytest.raises(Refusal, match=r"cannot be made: ModuleNotFoundError.*\(broken.py, line 1\)"):
        result([str(path), "simple"], tmp_path / "run")


def test_illegal_actions_forfeit(tmp_path: Path):
    path = tmp_path / "cheat.py"
    path.write_text(SLOW_AGENT.replace("return self.inner.act(views.copy(), rules, keys)", "return keys * 0 + 3"))
    pairing = json.loads(result([str(path), "simple"], tmp_path / "run", games=20))["pairings"][0]
    assert pairing["forfeits"] == {"a": 20, "b": 0}
    assert pairing["a_win_rate"] == 0
    assert pairing["ci95"][1] > 0.1


def test_a_changed_agent_is_another_run(tmp_path: Path, own_agent: str):
    result([own_agent, "random"], tmp_path / "run")
    Path(own_agent).write_text(SLOW_AGENT + "# changed\n")
    with pytest.raises(Refusal, match=r"code: .*wrapped\.py was"):
        result([own_agent, "random"], tmp_path / "run")


def test_digests_cover_what_plays_and_no_more():
    files = {path.relative_to(ROOT).as_posix() for path in provenance.sources(ROOT / "experiments" / "match.py")}
    assert {"ginenv/melds.py", "ginenv/rules.py", "agents/playout.py", "ginenv/cards.py"} <= files
    assert not {"ginenv/render.py", "agents/simple.py", "experiments/cli.py"} & files
    simple = {path.name for path in provenance.sources(ROOT / "agents" / "simple.py")}
    assert {"simple.py", "random.py", "melds.py"} <= simple


def test_the_document(tmp_path: Path):
    done = run(*command(tmp_path / "run", 200, 2, "--json"))
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (tmp_path / "run" / "result.json").read_text() == done.stdout
    assert document["rules"]["name"] == "eaai"
    assert document["rules"]["next_dealer"] == "alternate"
    assert document["seed"] == 7
    assert [(p["a"], p["b"]) for p in document["pairings"]] == [
        ("simple", "random"), ("simple", "simple:early=5"), ("random", "simple:early=5"),
    ]  # fmt: skip
    for p in document["pairings"]:
        assert p["games"] == 200
        assert 0 <= p["ci95"][0] <= p["a_win_rate"] <= p["ci95"][1] <= 1
        won = p["games_won"]
        assert won["a"] + won["b"] + p["games_level"] == 200
        assert p["a_win_rate"] == pytest.approx((won["a"] + p["games_level"] / 2) / 200)
        assert sum(p["pairs"].values()) == 100
        f = p["finishes"]
        assert set(f["a"]) == {"knock", "gin", "big_gin", "undercut"}
        assert sum(f["a"].values()) + sum(f["b"].values()) + f["dead"] == p["hands"]
        assert p["a_points_per_hand"] >= 0
        assert p["b_points_per_hand"] >= 0
        assert p["forfeits"] == {"a": 0, "b": 0}
    simple = document["pairings"][0]
    assert simple["a_win_rate"] > 0.98
    assert [row["agent"] for row in document["ranking"]][-1] == "random"
    for name in ("table.txt", "README.md", DATABASE):
        assert (tmp_path / "run" / name).stat().st_size > 100
    assert "random" in (tmp_path / "run" / "table.txt").read_text()
    assert not list((tmp_path / "run").glob("*.new"))


def test_killed_at_random_moments_the_result_is_the_same_to_the_byte(tmp_path: Path):
    games = 12_000
    whole = run(*command(tmp_path / "whole", games, 2))
    assert whole.returncode == 0, whole.stderr
    seed = int.from_bytes(os.urandom(4))
    rng = random.Random(seed)
    out, killed = tmp_path / "killed", 0
    for _ in range(4):
        before = stored(out)
        process = started(command(out, games, rng.choice([1, 2])), out, before)
        time.sleep(rng.random() * 0.4)
        killed += process.poll() is None
        process.kill()
        process.communicate()
        assert stored(out) >= before
    assert killed >= 1, f"the tournament was too short to kill, seed {seed}"
    end = run(*command(out, games, 2))
    assert end.returncode == 0, f"{end.stderr}, seed {seed}"
    for name in ("result.json", "table.txt"):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), f"{name}, seed {seed}"


def test_ctrl_c_stops_cleanly_and_says_how_to_resume(tmp_path: Path):
    out = tmp_path / "run"
    process = started(command(out, 200_000, 2), out)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    again = f"simple random simple:early=5 --rules eaai --seed 7 --games 200000 --threads 2 --out {out}"
    assert f"To go on: gin tournament {again}\n" in errors
    assert "Traceback" not in errors
    kept = stored(out)
    assert kept > 0
    assert not (out / "result.json").exists()
    done = run(*command(out, kept // 8 * 2, 2))  # the folder goes on to work
    assert done.returncode == 0, done.stderr


def test_two_processes_on_one_folder(tmp_path: Path):
    out = tmp_path / "run"
    process = started(command(out, 200_000, 2), out)
    second = run(*command(out, 200_000, 2))
    process.kill()
    process.communicate()
    assert second.returncode == 2
    assert second.stderr.count("\n") == 1
    assert "in use by another process" in second.stderr


def test_clusters_across_pairings(tmp_path: Path):
    """The interval against all is that of the mean over opponents, pair number by pair number."""
    document = json.loads(result(["simple", "random", "random"], tmp_path, games=400))
    first = document["ranking"][0]
    rates = [p["a_win_rate"] for p, (a, _) in zip(document["pairings"], pairs_of(3), strict=True) if a == 0]
    assert first["agent"] == "simple"
    assert first["win_rate"] == pytest.approx(np.mean(rates), abs=1e-6)
