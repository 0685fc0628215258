"""`gin calibration`: honest figures of the estimates of the opponent's hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

from experiments.calibration import classes, loss
from experiments.cli import main


def test_estimates_beat_uniform_ones_and_come_true_about_as_often_as_they_say(capsys):
    assert main(["calibration", "lean", "lean", "--hands", "60", "--worlds", "200", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["loss"] < found["loss_uniform"] - 0.02
    assert found["cards"] == sum(row["cards"] for row in found["classes"])
    for row in found["classes"]:
        if row["cards"] > 1000:
            assert abs(row["estimate"] - row["true"]) < 0.12
    # The same again is the same.
    main(["calibration", "lean", "lean", "--hands", "60", "--worlds", "200", "--json"])
    assert json.loads(capsys.readouterr().out) == found


def test_classes_and_loss_of_known_estimates():
    estimates, truth = np.array([0.05, 0.05, 0.55, 1.0]), np.array([0.0, 1.0, 1.0, 1.0])
    rows = classes(estimates, truth)
    assert [(row["from"], row["cards"], row["true"]) for row in rows] == [(0.0, 2, 0.5), (0.5, 1, 1.0), (0.8, 1, 1.0)]
    assert loss(np.array([0.5, 0.5]), np.array([0.0, 1.0])) == pytest.approx(np.log(2))


@pytest.mark.parametrize("more", [["--hands", "0"], ["--worlds", "-1"], ["--seed", "-1"], ["--gone", "-1"]])
def test_odd_numbers_are_refused(capsys, more):
    assert main(["calibration", "lean", "simple", *more]) == 2
    assert more[0] in capsys.readouterr().err


@pytest.mark.parametrize("rules", ["open_table", "modern,jokers=true", "modern,settle_by_hand=true"])
def test_rules_with_more_actions_are_refused_in_one_sentence(capsys, rules):
    assert main(["calibration", "greedy", "random", "--rules", rules]) == 2
    assert "a match of agents cannot play" in capsys.readouterr().err


def test_a_plot_is_a_file_or_one_clear_sentence(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    few = ["calibration", "lean", "simple", "--hands", "5", "--worlds", "50"]
    assert main([*few, "--plot", str(tmp_path / "plot.png")]) == 0
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == ["plot.png"]
    assert main([*few, "--plot", str(tmp_path / "plot.doc")]) == 2
    assert "ends in .png or .svg" in capsys.readouterr().err
    assert main([*few, "--plot", str(tmp_path / "nowhere" / "plot.svg")]) == 2
    assert "cannot be written" in capsys.readouterr().err
