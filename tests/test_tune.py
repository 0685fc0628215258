"""`gin tune`: a search that resumes as if never stopped, and refuses what makes no sense."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import agents
from agents.registry import make
from experiments.cli import main
from experiments.tune import TRIES, Range, Search, parse_ranges, spec_at

WEIGHTS = Path(agents.__file__).parent / "weights"
SEARCH = ["tune", "simple", "simple", "random", "--vary", "early=0:10", "until=1:9", "late=0:10", "--pairs", "3"]


def search(out: Path, generations: int, *more: str) -> int:
    return main([*SEARCH, "--generations", str(generations), "--out", str(out), "--threads", "1", *more])


def test_a_stopped_search_ends_where_one_never_stopped_does(tmp_path, capsys):
    assert search(tmp_path / "whole", 3) == 0
    whole = capsys.readouterr().out
    assert search(tmp_path / "parts", 1) == 0
    assert search(tmp_path / "parts", 3) == 0
    parts = capsys.readouterr().out.splitlines()[-1]
    assert parts == whole.strip()
    log = (tmp_path / "whole" / "generations.jsonl").read_text()
    assert log == (tmp_path / "parts" / "generations.jsonl").read_text()
    rows = [json.loads(line) for line in log.splitlines()][1:]
    assert np.shape(rows) == (3, TRIES)
    assert make(parts).spec.startswith("simple:early=")


@pytest.mark.parametrize(
    ("vary", "why"),
    [
        (["early=0:10", "quick=0:1"], "no option 'quick'"),
        (["early=0:10", "early=0:5"], "given already"),
        (["early=0:10", "until=9:1"], "in order"),
        (["early=0:10", "until=0:2000"], "within 0 to 1000"),
        (["early=0:10", "until=few"], "a range is due"),
        (["early=0:10"], "at least two"),
    ],
)
def test_ranges_that_make_no_sense_are_refused(tmp_path, capsys, vary, why):
    args = ["tune", "simple", "random", "--vary", *vary, "--out", str(tmp_path / "run")]
    assert main(args) == 2
    error = capsys.readouterr().err
    assert why in error
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("broken", ["{", '{"agent": 1}\n', None])
def test_a_log_of_another_run_is_not_touched(tmp_path, capsys, broken):
    assert search(tmp_path, 1) == 0
    log = tmp_path / "generations.jsonl"
    if broken is None:
        assert search(tmp_path, 1, "--seed", "2") == 2
    else:
        log.write_text(broken)
        assert search(tmp_path, 1) == 2
        assert log.read_text() == broken
    assert "--out" in capsys.readouterr().err


BOT = """
import numpy as np
from agents.protocol import Kind, Option

class Bot:
    def __init__(self, spec):
        self.spec = spec

    def act(self, views, rules, keys):
        raise KeyError("oh")

AGENT = Kind("fails", lambda spec, options: Bot(spec), {name: Option(1, name, 0, 9) for name in "abc"})
"""


def test_a_file_of_ones_own_is_named_when_it_fails(tmp_path, capsys):
    path = tmp_path / "my.pybots" / "bot.py"
    path.parent.mkdir()
    path.write_text(BOT)
    args = ["tune", f"{path}:a=3", "random", "--vary", "b=0:9", "c=0:9", "--pairs", "1", "--threads", "1"]
    assert main([*args, "--out", str(tmp_path / "run")]) == 2
    sentence = capsys.readouterr().err.splitlines()[-1]
    assert sentence.startswith(f"gin: agent {path}:a=3,b=")
    assert sentence.endswith("failed: KeyError: 'oh' (bot.py, line 10)")


def test_a_place_is_a_value_in_the_range():
    assert Range("a", 2, 6, whole=True).at(0.4) == 4
    assert Range("a", -1, 1, whole=False).at(0.25) == -0.5
    assert Range("a", -1, 1, whole=False).at(7) == 1


def test_the_defaults_of_heuristic_stand_at_the_centre_of_the_search_whose_log_is_kept():
    head, *generations = [json.loads(line) for line in (WEIGHTS / "heuristic.jsonl").read_text().splitlines()]
    ranges = parse_ranges("heuristic", head["vary"])
    found = Search(ranges, head["seed"])
    for won in generations:
        found.tell(found.ask(), won)
    assert make(spec_at("heuristic", ranges, found.centre)).spec == make("heuristic").spec
