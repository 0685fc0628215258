"""`experiments.store`: whole shards, one run a folder, one process a folder, and a sentence for all else."""

import shutil
import sqlite3
import threading
from pathlib import Path

import numpy as np
import pytest

from agents.registry import make
from experiments.match import GAME, play_pairs
from experiments.refusal import Refusal
from experiments.store import DATABASE, open_store
from ginenv.rules import rules

IDENTITY = {"seed": 1, "agents": ["random", "simple"], "rules": {"name": "eaai", "gin_bonus": 25}, "code": {"x": "1"}}


def games(first: int = 0, n: int = 5) -> np.ndarray:
    return play_pairs(make("random"), make("simple"), rules("eaai"), 1, first, n)[0]


def test_games_come_back_as_they_were(tmp_path: Path):
    played = games()
    with open_store(tmp_path / "run", IDENTITY) as store:
        store.add([(0, played[3:]), (1, played)])
        store.add([(0, played[:3])])
    with open_store(tmp_path / "run", IDENTITY) as store:
        back = store.games(0, 5)
        assert back.dtype == GAME
        assert np.array_equal(back, played)
        assert np.array_equal(store.games(1, 2), played[:2])
        assert store.pairs(0).tolist() == [0, 1, 2, 3, 4]
        assert store.pairs(2).tolist() == []


def test_missing_games_are_not_passed_over(tmp_path: Path):
    with open_store(tmp_path, IDENTITY) as store:
        store.add([(0, games())])
        with pytest.raises(Refusal, match="2 games of pairing 0 are missing"):
            store.games(0, 6)


def test_a_shard_is_stored_whole_or_not_at_all(tmp_path: Path):
    with open_store(tmp_path, IDENTITY) as store:
        store.add([(0, games(3, 1))])
        with pytest.raises(Refusal):  # pair 3 is there already
            store.add([(0, games(0, 5))])
        assert store.pairs(0).tolist() == [3]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"seed": 2}, "seed was 1, not 2"),
        ({"agents": ["random", "random"]}, "agents was random, simple, not random, random"),
        ({"rules": {"name": "eaai", "gin_bonus": 20}}, "rules: gin_bonus was 25, not 20"),
        ({"code": {"x": "2"}}, "code: x was 1, not 2"),
    ],
)
def test_another_run_is_refused(tmp_path: Path, change: dict[str, object], sentence: str):
    with open_store(tmp_path, IDENTITY):
        pass
    with pytest.raises(Refusal) as refusal, open_store(tmp_path, IDENTITY | change):
        pass
    assert sentence in str(refusal.value)
    assert "--out" in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_folder_with_other_files_is_refused(tmp_path: Path):
    (tmp_path / "README.md").write_text("mine")
    with pytest.raises(Refusal, match="holds other files"), open_store(tmp_path, IDENTITY):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]


def test_what_cannot_be_a_folder_is_refused(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(Refusal, match="cannot be used"), open_store(tmp_path / "file", IDENTITY):
        pass


def test_foreign_and_damaged_files_are_refused(tmp_path: Path):
    path = tmp_path / DATABASE
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(Refusal, match="damaged or no SQLite file"), open_store(tmp_path, IDENTITY):
        pass
    path.unlink()
    with sqlite3.connect(path) as foreign:
        foreign.execute("CREATE TABLE t (x)")
    foreign.close()
    with pytest.raises(Refusal, match="no file of this program"), open_store(tmp_path, IDENTITY):
        pass


def test_damage_anywhere_is_a_sentence(tmp_path: Path):
    """Overwrites one page after the other: the store must refuse, or give back just the games that were stored."""
    played = games(0, 200)
    with open_store(tmp_path / "run", IDENTITY) as store:
        store.add([(0, played)])
    whole = (tmp_path / "run" / DATABASE).read_bytes()
    refused = 0
    for page in range(len(whole) // 4096):
        other = tmp_path / "damaged"
        shutil.rmtree(other, ignore_errors=True)
        other.mkdir()
        (other / DATABASE).write_bytes(whole[: page * 4096] + b"\x5a" * 4096 + whole[(page + 1) * 4096 :])
        try:
            with open_store(other, IDENTITY) as store:
                assert np.array_equal(store.games(0, 200), played)
        except Refusal as refusal:
            refused += 1
            assert "\n" not in str(refusal)
    assert refused > len(whole) // 4096 - 3


def test_an_empty_file_is_a_new_run(tmp_path: Path):
    """Killed between making the file and its tables."""
    (tmp_path / DATABASE).touch()
    with open_store(tmp_path, IDENTITY) as store:
        assert store.pairs(0).tolist() == []


def test_a_folder_in_use_is_refused(tmp_path: Path):
    refusals = []

    def second() -> None:
        try:
            with open_store(tmp_path, IDENTITY):
                pass
        except Refusal as refusal:
            refusals.append(str(refusal))

    with open_store(tmp_path, IDENTITY):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
    assert len(refusals) == 1
    assert "in use by another process" in refusals[0]
    second()
    assert len(refusals) == 1  # free again


def test_sessions_are_kept(tmp_path: Path):
    with open_store(tmp_path, IDENTITY) as store:
        store.begin_session({"started": "then"})
    with open_store(tmp_path, IDENTITY) as store:
        store.begin_session({"started": "now"})
        assert [session["started"] for session in store.sessions()] == ["then", "now"]
