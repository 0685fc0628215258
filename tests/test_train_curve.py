"""Curves of training runs: what is read of a log, what is refused, and that a file comes out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.train_curve import main, read_run


def run_folder(path: Path, seed: int, measured: bool = True) -> Path:
    rows = [{"settings": {"seed": seed, "eval_pairs": 500, "eval_every": 1000}}, {"decisions": 500}]
    if measured:
        rows += [{"decisions": n, "wins_simple": 0.5 + n / 1e4, "wins_patient": 0.4} for n in (1000, 2000)]
    path.mkdir()
    (path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_only_measurements_are_read(tmp_path):
    settings, rows = read_run(run_folder(tmp_path / "run", 3))
    assert settings["seed"] == 3 and [row["decisions"] for row in rows] == [1000, 2000]


def test_what_is_no_run_is_refused_with_one_sentence(tmp_path):
    pytest.importorskip("matplotlib")
    early = run_folder(tmp_path / "early", 1, measured=False)
    for folder, text in ((tmp_path / "nowhere", "no log of gin train"), (early, "nothing was measured yet")):
        with pytest.raises(SystemExit, match=text):
            main([str(folder), "--out", str(tmp_path / "curve.svg")])
    good = run_folder(tmp_path / "good", 1)
    (tmp_path / "folder.svg").mkdir()
    with pytest.raises(SystemExit, match=r"folder\.svg cannot be written"):
        main([str(good), "--out", str(tmp_path / "folder.svg")])
    (tmp_path / "folder.svg").rmdir()
    with pytest.raises(SystemExit, match=r"curve\.xyz"):
        main([str(good), "--out", str(tmp_path / "curve.xyz")])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["early", "good"]


def test_the_same_runs_are_the_same_file(tmp_path):
    pytest.importorskip("matplotlib")
    runs = [str(run_folder(tmp_path / f"seed{seed}", seed)) for seed in (1, 2)]
    files = []
    for name in ("a.svg", "b.svg"):
        assert main([*runs, "--out", str(tmp_path / name)]) == 0
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1] and b"games won" in files[0]
