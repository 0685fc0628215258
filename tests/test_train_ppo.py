"""`gin train ppo`: the networks agree with the kernel, a stopped run ends with the same weights, and it learns."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from agents import ppo
from agents.registry import make
from experiments.match import play_pairs
from experiments.refusal import Refusal
from ginenv.cards import card as number
from ginenv.rules import PRESETS, rules
from ginenv.state import DISCARD_PHASE, STATE, new_states
from tests.common import cards
from tests.common import positions as states_of
from tests.reference import least_deadwood

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")
pytest.importorskip("tensorboard")
pytestmark = pytest.mark.train

from agents.network import Critic, Policy  # noqa: E402
from experiments import hidden, train_ppo, training  # noqa: E402
from experiments.train_ppo import Settings, train  # noqa: E402
from ginenv.envs.vector import Tables, random_actions  # noqa: E402

TINY = Settings(decisions=3072, tables=16, steps=8, batch=64, width=8, mixing=1, critic_width=8, pool=0.5,
                past_selves=2, eval_pairs=1, eval_every=512)  # fmt: skip


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def laid_out(tables: Tables) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the tables' positions as the networks want them, hidden part included."""
    unseen = np.zeros((tables.n, hidden.SIZE), dtype=np.int8)
    suits = np.zeros((tables.n, 4, ppo.SUIT_SIZE + hidden.SUIT_SIZE), dtype=np.float32)
    shared = np.zeros((tables.n, ppo.SHARED_SIZE + hidden.SUIT_SIZE + len(hidden.COMMON)), dtype=np.float32)
    hidden.write_hidden(tables.states, tables.rules.record, unseen)
    training.lay_out_all(tables.observations, unseen, suits, shared, np.zeros(tables.n, dtype=np.float32))
    return torch.from_numpy(suits), torch.from_numpy(shared)


def mid_hand(n: int) -> Tables:
    tables = Tables(n, "eaai", 3, "hand", "features-v2")
    actions = np.zeros(n, dtype=np.int64)
    for move in range(11):
        random_actions(tables.views, move, actions)
        tables.step(actions)
    return tables


@pytest.mark.parametrize(("width", "mixing"), [(96, 2), (128, 3), (7, 0)])
def test_torch_and_the_kernel_agree(width, mixing):
    torch.manual_seed(1)
    policy, tables = Policy(width, mixing), mid_hand(200)
    with torch.no_grad():
        for parameter in policy.parameters():  # logits as spread as a trained network's
            parameter.add_(0.05 * torch.randn_like(parameter))
        wanted = policy(*laid_out(tables)).numpy()
    params = ppo.pack(training.as_numpy(policy))
    out = np.zeros(108, dtype=np.float32)
    for raw, row in zip(tables.observations, wanted, strict=True):
        ppo.logits(raw, params, out)
        assert np.abs(out - row).max() < 1e-5


def test_a_policy_has_the_tensors_that_the_agent_reads():
    tensors = training.as_numpy(Policy(12, 3))
    assert {name: tensor.shape for name, tensor in tensors.items()} == ppo.shapes(12, 3)


def test_the_critic_sees_the_hidden_cards_and_the_policy_does_not():
    torch.manual_seed(1)
    policy, critic = Policy(8, 1), Critic(hidden.SUIT_SIZE, len(hidden.COMMON), 8, 1)
    suits, shared = laid_out(mid_hand(20))
    other_suits, other_shared = suits.clone(), shared.clone()
    other_suits[:, :, ppo.SUIT_SIZE :] += 1
    other_shared[:, ppo.SHARED_SIZE :] += 1
    assert torch.equal(policy(suits, shared), policy(other_suits, other_shared))
    assert not torch.allclose(critic(suits, shared), critic(other_suits, other_shared), atol=1e-7)


def test_the_hidden_part_is_what_lies_hidden():
    record = PRESETS["eaai"].record
    out = np.zeros((1, hidden.SIZE), dtype=np.int8)
    seen = 0
    for s in states_of(PRESETS["eaai"], 4, 3):
        state = new_states(1)
        state[0] = s
        hidden.write_hidden(state, record, out)
        planes = out[0, : hidden.DEADWOOD].reshape(4, 3, 13)
        hand = cards(int(s["hand"][1 - s["seat"]]))
        held = {c for c in range(52) if planes[c // 13, 0, c % 13]}
        assert held == {number(c) for c in hand}
        if len(hand) == 10:
            assert out[0, hidden.DEADWOOD] == least_deadwood(frozenset(hand), 13)
        seen += s["phase"] == DISCARD_PHASE
    assert seen


def test_tables_go_on_from_a_snapshot():
    one, other = mid_hand(30), Tables(30, "eaai", 3, "hand", "features-v2")
    other.restore(one.snapshot())
    assert np.array_equal(one.observations, other.observations)
    actions = np.zeros(30, dtype=np.int64)
    for move in range(60):
        random_actions(one.views, move, actions)
        one.step(actions)
        other.step(actions)
    for name in ("observations", "action_masks", "seats", "rewards", "episodes", "states"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    with pytest.raises(ValueError, match="a snapshot of 30 tables: these are 4"):
        Tables(4, "eaai").restore(one.snapshot())


def test_unlikely_actions_are_learned_from_always_and_likely_ones_for_more():
    generator = torch.Generator().manual_seed(1)
    chances = torch.tensor([0.001, 0.5, 0.66, 0.9, 0.98, 1.0]).repeat(4000)
    drawn, weights = train_ppo.draw_decisions(chances.log(), 0.0625, generator)
    share = drawn.view(-1, 6).float().mean(0)
    assert torch.equal(share[:3], torch.ones(3))
    assert share[3:].tolist() == pytest.approx([0.3, 0.0625, 0.0625], abs=0.03)
    assert (weights[~drawn] == 0).all()
    # What is drawn stands for all: of each kind, and in the mean.
    total = weights.view(-1, 6).mean(0) / drawn.float().mean()
    assert total.tolist() == pytest.approx([1, 1, 1, 1, 1, 1], abs=0.15)
    assert weights[drawn].mean().item() == pytest.approx(1, abs=0.03)
    drawn, weights = train_ppo.draw_decisions(chances.log(), 1.0, generator)
    assert drawn.all() and (weights == 1).all()
    for _ in range(50):
        drawn, weights = train_ppo.draw_decisions(torch.zeros(4), 0.0625, generator)
        assert drawn.any()  # at a single table, too


def test_actions_are_drawn_by_their_chances():
    rng = np.random.default_rng(1)
    logits = np.tile(rng.normal(0, 2, 108).astype(np.float32), (20_000, 1))
    masks = np.tile((rng.random(108) < 0.1).astype(np.int8), (20_000, 1))
    actions, logs = np.zeros(20_000, dtype=np.int64), np.zeros(20_000, dtype=np.float32)
    train_ppo.draw(logits, masks, rng.random(20_000, dtype=np.float32), actions, logs)
    wanted = train_ppo.log_probabilities(torch.from_numpy(logits[:1]), torch.from_numpy(masks[:1]).bool())[0]
    assert np.allclose(logs, wanted.numpy()[actions], atol=1e-5)
    assert np.allclose(np.bincount(actions, minlength=108) / 20_000, wanted.exp().numpy(), atol=0.015)
    train_ppo.draw(logits[:1], masks[:1], np.array([np.nextafter(1, 0)], dtype=np.float32), actions, logs)
    assert actions[0] == np.flatnonzero(masks[0])[-1]


# --- Runs -----------------------------------------------------------------------------------------


def tensors_of(path: Path) -> dict[str, np.ndarray]:
    from safetensors.numpy import load_file

    return load_file(path)


def same(one: Path, other: Path) -> bool:
    a, b = tensors_of(one), tensors_of(other)
    return set(a) == set(b) and all(a[name].tobytes() == b[name].tobytes() for name in a)


class Killed(Exception):  # noqa: N818 - no error
    """Stands in for kill -9."""


def stops(after: int, error: type[Exception] | None = None):
    """Return a ``stop`` that says yes, or raises, when it is asked for the time after ``after``."""
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        if asked > after and error is not None:
            raise error
        return asked > after

    return stop


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    out = tmp_path_factory.mktemp("whole")
    torch.set_num_threads(1)
    assert train(TINY, out) == 3072
    return out


def test_a_run_stopped_and_killed_ends_with_the_same_weights(whole, tmp_path):
    assert train(TINY, tmp_path, stops(5)) == 5 * 128  # between two measurements
    with pytest.raises(Killed):
        train(TINY, tmp_path, stops(9, Killed))  # goes back to the last checkpoint
    assert train(TINY, tmp_path) == 3072
    assert same(whole / "checkpoint.safetensors", tmp_path / "checkpoint.safetensors")
    assert same(whole / "best.safetensors", tmp_path / "best.safetensors")
    rows = [[json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()] for out in (whole, tmp_path)]
    for lines in rows:
        assert [row["decisions"] for row in lines if "decisions" in row] == list(range(128, 3073, 128))
    assert [row["loss"] for row in rows[0][1:]] == [row["loss"] for row in rows[1][1:]]


def test_another_seed_is_another_run(whole, tmp_path):
    train(dataclasses.replace(TINY, seed=2), tmp_path)
    assert not same(whole / "best.safetensors", tmp_path / "best.safetensors")


def test_what_a_run_leaves_can_be_played(whole):
    agent = make(f"ppo:path={whole}/best.safetensors")
    games, _ = play_pairs(agent, make("simple"), PRESETS["eaai"], 1, 0, 1)
    assert (games["forfeit"] < 0).all()


def test_a_checkpoint_of_another_run_is_refused(whole, tmp_path):
    for change, sentence in (({"seed": 5}, "of a run with seed=1, not 5"), ({"rules": "modern"}, "with rules=eaai"),
                             ({"width": 16}, "with width=8, not 16")):  # fmt: skip
        with pytest.raises(Refusal, match=sentence):
            train(dataclasses.replace(TINY, **change), whole)
    (tmp_path / "checkpoint.safetensors").write_bytes((whole / "best.safetensors").read_bytes())
    with pytest.raises(Refusal, match="is no checkpoint of this learner"):
        train(TINY, tmp_path)
    (tmp_path / "checkpoint.safetensors").write_bytes(b"cos\nsystem\n(S'exit'\ntR.")
    with pytest.raises(Refusal, match="cannot be read"):
        train(TINY, tmp_path)


def test_a_second_phase_begins_with_the_networks_of_the_first_and_goes_on(whole, tmp_path):
    start = str(whole / "checkpoint.safetensors")
    still = dataclasses.replace(TINY, start=start, rate=(1e-12, 1e-12), decisions=128)
    assert train(still, tmp_path / "still") == 128
    before, after = tensors_of(whole / "last.safetensors"), tensors_of(tmp_path / "still" / "last.safetensors")
    for name in before:
        assert np.allclose(before[name], after[name], atol=1e-6)
    second = dataclasses.replace(TINY, start=start)
    train(second, tmp_path / "whole")
    assert train(second, tmp_path / "parts", stops(5)) == 5 * 128
    train(second, tmp_path / "parts")  # not from the start again
    assert same(tmp_path / "whole" / "last.safetensors", tmp_path / "parts" / "last.safetensors")


def test_a_second_phase_does_not_begin_with_what_does_not_fit(whole, tmp_path):
    start = str(whole / "checkpoint.safetensors")
    with pytest.raises(Refusal, match=r"networks of other sizes .* or to gin exploit their --width"):
        train(dataclasses.replace(TINY, start=start, width=16), tmp_path)
    with pytest.raises(Refusal, match="is no checkpoint of this learner and encoding: give another --start"):
        train(dataclasses.replace(TINY, start=str(whole / "best.safetensors")), tmp_path)
    with pytest.raises(Refusal, match="of a run with start=, not "):  # not its rate
        train(dataclasses.replace(TINY, start=start, rate=(3e-4, 1e-5)), whole)


def test_a_checkpoint_from_before_a_setting_is_gone_on_with(whole, tmp_path):
    tensors, metadata = training.read(whole / "checkpoint.safetensors")
    settings = json.loads(metadata["settings"])
    del settings["against"]
    arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
    training.write(arrays, tmp_path / "checkpoint.safetensors", metadata | {"settings": json.dumps(settings)})
    assert train(TINY, tmp_path) == 3072
    with pytest.raises(Refusal, match="of a run with against=, not simple"):
        train(dataclasses.replace(TINY, against="simple"), tmp_path)


def test_a_run_that_diverges_stops_and_keeps_the_last_good_checkpoint(tmp_path):
    assert train(TINY, tmp_path, stops(4)) == 512
    before = (tmp_path / "checkpoint.safetensors").read_bytes()
    run = tensors_of(tmp_path / "checkpoint.safetensors")
    assert run
    wild = dataclasses.replace(TINY, unit=float("nan"))
    out = tmp_path / "wild"
    with pytest.raises(Refusal, match="training diverged after 128 decisions: the last good checkpoint"):
        train(wild, out)
    assert not (out / "best.safetensors").exists()
    assert (tmp_path / "checkpoint.safetensors").read_bytes() == before


def test_it_solves_a_trivial_game_in_seconds(tmp_path):
    """With a knock limit of 30 a hand is over after a few turns, for whoever throws the right cards. Ten seconds."""
    easy = rules("eaai", knock_limit=30, target=None, hands=1)
    settings = Settings(decisions=60_000, tables=64, steps=16, batch=256, width=24, mixing=1, critic_width=16,
                        rules="eaai,knock_limit=30,target=none,hands=1", rate=(3e-3, 3e-4), entropy=(0.05, 0.005),
                        eval_pairs=1, eval_every=60_000)  # fmt: skip
    train(settings, tmp_path)
    agent = make(f"ppo:path={tmp_path}/best.safetensors")
    games, _ = play_pairs(agent, make("random"), easy, 9, 0, 300)
    assert (games["winner"] == 0).mean() > 0.8  # 0.92 at this seed


def test_two_processes_learn_together_and_go_on_with_any_number(tmp_path):
    """The issue: all processes have the same networks, the first writes, and a run goes on with one process, too."""
    (tmp_path / "run.py").write_text(TOGETHER)
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", "29631",
               str(tmp_path / "run.py"), str(tmp_path / "out")]  # fmt: skip
    for _ in range(2):  # stopped, and gone on with
        done = subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    hashes = (tmp_path / "out" / "hashes").read_text().splitlines()
    assert len(hashes) == 4 and hashes[0] == hashes[1] != hashes[2] == hashes[3]
    rows = [json.loads(line) for line in (tmp_path / "out" / "log.jsonl").read_text().splitlines()][1:]
    assert [row["decisions"] for row in rows] == list(range(256, 1537, 256))
    assert train(dataclasses.replace(TINY, decisions=1664), tmp_path / "out") == 1664


TOGETHER = """
import hashlib, os, sys
from pathlib import Path
import torch
import torch.distributed as dist
from experiments import hidden, train_ppo, training
from tests.test_train_ppo import TINY, stops
import dataclasses

torch.set_num_threads(1)
dist.init_process_group("gloo")
out = Path(sys.argv[1])
first = not (out / "checkpoint.safetensors").exists()
dist.barrier()
kept = []
init = training.Run.__init__
training.Run.__init__ = lambda self, *args: (init(self, *args), kept.append(self))[0]
# Only one of the two is asked to stop: both must.
stop = stops(3) if first and dist.get_rank() == 1 else lambda: False
train_ppo.train(dataclasses.replace(TINY, decisions=1536), out, stop)
weights = b"".join(p.detach().numpy().tobytes() for p in kept[0].networks['policy'].parameters())
with open(out / "hashes", "a") as file:
    file.write(hashlib.sha256(weights).hexdigest() + "\\n")
dist.destroy_process_group()
"""


def test_it_learns_by_games_too_and_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(train_ppo, "SOLVE_EVERY", 256)  # what was counted since is in the checkpoint, too
    by_game = dataclasses.replace(TINY, reward="game", decisions=1024)
    assert train(by_game, tmp_path / "a", stops(3)) == 384
    assert train(by_game, tmp_path / "a") == train(by_game, tmp_path / "b") == 1024
    assert same(tmp_path / "a" / "checkpoint.safetensors", tmp_path / "b" / "checkpoint.safetensors")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--rules", "open_table"], "more actions|more_actions|open_table|learner"),
        (["--out", "/dev/null"], "--out"),
        (["--out", ""], "--out is empty"),
        (["--minutes", "nan"], "give more than 0"),
        (["--start", "nowhere.safetensors"], "--start nowhere.safetensors: there is no such file"),
        (["--tables", "99999999999"], r"--tables 99999999999: .* GB of memory, and this machine has \d+"),
    ],
)
def test_what_cannot_be_trained_is_refused_with_one_sentence(tmp_path, capsys, arguments, text):
    from experiments.cli import main

    assert main(["train", "ppo", "--out", str(tmp_path / "run"), "--decisions", "100", *arguments]) == 2
    assert re.search(text, capsys.readouterr().err)
    assert not (tmp_path / "run").exists()


def test_all_tables_may_have_a_past_self(tmp_path):
    settings = dataclasses.replace(TINY, decisions=256, pool=1.0, eval_every=128)
    assert train(settings, tmp_path) >= 256


def test_a_checkpoint_of_tables_with_fewer_fields_goes_on_from_new_deals(tmp_path):
    train(dataclasses.replace(TINY, decisions=256), tmp_path)
    tensors, metadata = training.read(tmp_path / "checkpoint.safetensors")
    older = {name: tensor.numpy() for name, tensor in tensors.items()}
    older["tables.states"] = older["tables.states"].reshape(-1, STATE.itemsize)[:, :-8].reshape(-1).copy()
    training.write(older, tmp_path / "checkpoint.safetensors", metadata)
    assert train(dataclasses.replace(TINY, decisions=512), tmp_path) >= 512


def test_a_damaged_checkpoint_is_refused_with_one_sentence(tmp_path):
    train(dataclasses.replace(TINY, decisions=256), tmp_path)
    tensors, metadata = training.read(tmp_path / "checkpoint.safetensors")
    kept = {name: tensor.numpy() for name, tensor in tensors.items() if name != "tables.states"}
    training.write(kept, tmp_path / "checkpoint.safetensors", metadata)
    with pytest.raises(Refusal, match=r"checkpoint.safetensors is damaged"):
        train(dataclasses.replace(TINY, decisions=512), tmp_path)


def test_a_damaged_file_of_another_process_is_refused_by_its_name(tmp_path, monkeypatch):
    train(dataclasses.replace(TINY, decisions=256), tmp_path)
    tensors, metadata = training.read(tmp_path / "checkpoint.safetensors")
    kept = {name: tensor.numpy() for name, tensor in tensors.items() if name != "tables.states"}
    training.write(kept, tmp_path / "checkpoint-1.safetensors", metadata)
    init = training.Run.__init__
    monkeypatch.setattr(training.Run, "__init__", lambda self, *args: (init(self, *args), setattr(self, "rank", 1))[0])
    with pytest.raises(Refusal, match=r"checkpoint-1.safetensors is damaged"):
        train(dataclasses.replace(TINY, decisions=512), tmp_path)


def test_counts_that_cannot_be_are_refused_with_one_sentence(tmp_path):
    by_game = dataclasses.replace(TINY, reward="game", decisions=128)
    train(by_game, tmp_path)
    tensors, metadata = training.read(tmp_path / "checkpoint.safetensors")
    arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
    one = arrays | {"hands.lately": arrays["hands.lately"][:1]}  # it could stand for each of them
    training.write(one, tmp_path / "checkpoint.safetensors", metadata)
    with pytest.raises(Refusal, match=r"is damaged .*hands.lately has shape \(1, 2, 2, 101\), not \(5, 2, 2, 101\)"):
        train(dataclasses.replace(by_game, decisions=256), tmp_path)
    none = arrays | {"hands.solved": np.zeros_like(arrays["hands.solved"])}
    training.write(none, tmp_path / "checkpoint.safetensors", metadata)
    with pytest.raises(Refusal, match=r"is damaged .*no hand with a winner was counted for one of the dealers"):
        train(dataclasses.replace(by_game, decisions=256), tmp_path)
    for name, wrong in (("hands.lately", np.nan), ("hands.solved", -1.0)):
        odd = arrays[name].copy()
        odd[0, 0, 0, 20] = wrong
        training.write(arrays | {name: odd}, tmp_path / "checkpoint.safetensors", metadata)
        with pytest.raises(Refusal, match=f"is damaged .*{name} has counts that are negative or not finite"):
            train(dataclasses.replace(by_game, decisions=256), tmp_path)
    older = {name: array for name, array in arrays.items() if not name.startswith("hands.")}
    training.write(older, tmp_path / "checkpoint.safetensors", metadata)  # of a version that did not count
    assert train(dataclasses.replace(by_game, decisions=256), tmp_path) == 256
