"""The learner on games whose solution is known exactly (`gin solve`); and learning to beat an agent."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
from pathlib import Path

import pytest

from agents.registry import make
from experiments.cli import main
from experiments.exact_reach import any_legal, chances_of
from experiments.solve import Game, exploitability
from ginenv.rules import parse_rules

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")
pytest.importorskip("tensorboard")
pytestmark = pytest.mark.train

from experiments import train_solved, training  # noqa: E402
from experiments.train_ppo import Settings, train  # noqa: E402

TRIVIAL = "eaai,ranks=5,suits=1,cards_dealt=1,turn_limit=3,dead_stock=0,knock_limit=2"
"""One card each of five: whoever holds an ace or a two may knock. Its best play is known to the last digit."""
QUICK = Settings(decisions=60_000, tables=64, steps=16, batch=64, epochs=2, width=16, mixing=1, critic_width=16,
                 rules=TRIVIAL, rate=(3e-3, 3e-4), unit=10.0, pool=0.0, scripted=0.0, eval_pairs=1,
                 eval_every=20_000)  # fmt: skip


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_self_play_nearly_solves_a_trivial_game_in_seconds(tmp_path: Path):
    """Self-play comes within a tenth of what uniform play loses to its worst enemy; both are computed exactly."""
    train(QUICK, tmp_path)
    game = Game(parse_rules(TRIVIAL))
    network = chances_of(make(f"ppo:path={tmp_path}/last.safetensors,temperature=1"), game.deck.rules)
    assert exploitability(game, network) < 0.1 * exploitability(game, any_legal)


def test_the_curve_of_a_run_is_measured_at_each_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    small = {"tables": 64, "steps": 16, "width": 16, "rules": TRIVIAL, "eval_pairs": 1, "eval_every": 2048}
    quick = {name: dataclasses.replace(common, **small) for name, common in train_solved.SETTINGS.items()}
    monkeypatch.setattr(train_solved, "SETTINGS", quick)
    argv = ["--out", str(tmp_path), "--decisions", "6144", "--iterations", "2"]
    assert train_solved.main(argv) == 0
    found = json.loads((tmp_path / "exploitability.json").read_text())
    for learner, told in (("ppo", {"chances", "greedy"}), ("dmc", {"greedy"})):
        assert [row["decisions"] for row in found[learner]] == [2048, 4096, 6144]
        assert all(set(row) == {"decisions", "seconds"} | told for row in found[learner])
    assert len(found["cfr+"]) == 2
    assert train_solved.main(argv) == 0  # nothing is learned or measured again
    again = json.loads((tmp_path / "exploitability.json").read_text())
    assert again["ppo"] == found["ppo"] and again["dmc"] == found["dmc"]


def test_a_learner_beats_who_stays_as_he_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """It wins from `random` what it can, and never more than a best response does."""
    argv = ["exploit", "random", "--rules", TRIVIAL, "--decisions", "40000", "--width", "16", "--pairs", "400",
            "--out", str(tmp_path), "--json"]  # fmt: skip
    assert main(argv) == 0
    found = json.loads(capsys.readouterr().out)
    game = Game(parse_rules(TRIVIAL))
    most = exploitability(game, any_legal)
    points = found["points"]
    assert 0 < points["low"] < most  # the points are measured by play, so only their interval is held against it
    assert found["decisions"] >= 40000 and found["agent"] == "random"
    rows = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert "wins_opponent" in rows[-1] and "wins_simple" not in rows[-1]
    argv[argv.index("40000")] = "41000"  # a finished run goes on with more
    assert main(argv) == 0
    assert json.loads(capsys.readouterr().out)["decisions"] >= 41000
    # And what it has learned is where another may begin.
    argv[argv.index("41000")] = "1024"
    argv[argv.index("--out") + 1 : argv.index("--json")] = [
        str(tmp_path / "on"),
        "--start",
        f"{tmp_path}/checkpoint.safetensors",
    ]
    assert main(argv) == 0
    assert 0 < json.loads(capsys.readouterr().out)["points"]["low"] < most


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("exploit nobody --out OUT", "there is no agent 'nobody'"),
        ("exploit simple --out OUT --pairs 1", "--pairs 1"),
        ("exploit simple --out OUT --width 0", "--width 0"),
        ("exploit simple --out OUT --decisions 0", "--decisions 0"),
        ("exploit simple --out OUT --start nothing", "--start nothing: there is no such file"),
        ("exploit simple --out OUT --reward game --rules hollywood", "three columns"),
        ("exploit simple --out OUT --reward game --rules eaai,target=none,hands=5", "no target decides it"),
        ("exploit simple --out OUT --minutes nan", "--minutes nan: give more than 0"),
        ("exploit simple --out=", "--out is empty"),
        ("exploit simple --out /dev/null", "--out"),
        ("exploit simple --out OUT --rules eaia", "did you mean eaai?"),
    ],
)
def test_wrong_input_is_one_sentence(line: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(line.replace("OUT", str(tmp_path / "run")).split()) == 2
    out, errors = capsys.readouterr()
    assert out == "" and words in errors and errors.count("gin: ") == 1
    assert not (tmp_path / "run").exists()


def test_ctrl_c_loses_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """Stopped by the signal before the first measurement, the same command goes on from there."""
    argv = ["exploit", "random", "--rules", TRIVIAL, "--decisions", "131072", "--width", "8", "--pairs", "2",
            "--out", str(tmp_path)]  # fmt: skip
    write, rows = training.Log.write, []

    def signalled(log: training.Log, row: dict[str, object]) -> None:
        write(log, row)
        rows.append(row.get("decisions"))
        if len(rows) == 2:  # the first tells the settings
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(training.Log, "write", signalled)
    assert main(argv) == 2
    assert "stopped after 8,192 decisions" in capsys.readouterr().err
    assert main(argv) == 0
    assert rows[1:4] == [8192, 16384, 24576]
