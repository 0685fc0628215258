"""`gin train dmc`: a stopped run ends with the same weights, what it leaves plays, and it learns a trivial game."""

from __future__ import annotations

import pytest

from agents.registry import make
from experiments.match import play_pairs
from experiments.refusal import Refusal
from ginenv.rules import rules

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")
pytest.importorskip("tensorboard")
pytestmark = pytest.mark.train

from experiments.train_dmc import Settings, train  # noqa: E402
from tests.test_train_ppo import one_thread, same, stops  # noqa: E402, F401

TINY = Settings(decisions=2048, tables=16, steps=8, batch=64, width=8, mixing=1, eval_pairs=1, eval_every=512)


def test_a_stopped_run_ends_with_the_same_weights_and_plays(tmp_path):
    assert train(TINY, tmp_path / "a", stops(5)) == 640
    assert train(TINY, tmp_path / "a") == train(TINY, tmp_path / "b") == 2048
    for name in ("checkpoint", "best", "last"):
        assert same(tmp_path / "a" / f"{name}.safetensors", tmp_path / "b" / f"{name}.safetensors")
    agent = make(f"ppo:path={tmp_path}/a/last.safetensors")
    games, _ = play_pairs(agent, make("simple"), rules("eaai"), 1, 0, 1)
    assert (games["forfeit"] < 0).all()


def test_the_other_learners_checkpoint_is_refused(tmp_path):
    from experiments import train_ppo

    train_ppo.train(train_ppo.Settings(decisions=128, tables=16, steps=8, width=8, eval_pairs=1), tmp_path)
    with pytest.raises(Refusal, match="is no checkpoint of this learner"):
        train(TINY, tmp_path)


def test_it_solves_a_trivial_game_in_seconds(tmp_path):
    """The game of the same test of ppo: with a knock limit of 30 a hand is over after a few turns."""
    easy = rules("eaai", knock_limit=30, target=None, hands=1)
    settings = Settings(decisions=60_000, tables=64, steps=16, batch=256, width=24, mixing=1, rate=(3e-3, 3e-4),
                        rules="eaai,knock_limit=30,target=none,hands=1", eval_pairs=1, eval_every=60_000)  # fmt: skip
    train(settings, tmp_path)
    agent = make(f"ppo:path={tmp_path}/last.safetensors")
    games, _ = play_pairs(agent, make("random"), easy, 9, 0, 300)
    assert (games["winner"] == 0).mean() > 0.8
