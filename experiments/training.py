"""What all learners share: their logs, checkpoints, measurements and processes, and how positions are laid out.

`experiments.train_ppo` and `experiments.train_dmc` are what learns; each reads from top to bottom.
"""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from safetensors import safe_open
from safetensors.numpy import save_file
from torch import Tensor
from torch.utils.tensorboard import SummaryWriter

from agents import ppo
from agents.network import Policy
from agents.registry import make
from experiments import hidden, provenance
from experiments.match import play_pairs
from experiments.refusal import Refusal
from experiments.stats import share
from ginenv.envs.vector import Tables
from ginenv.jit import kernel
from ginenv.rng import mix
from ginenv.rules import parse_rules
from ginenv.state import STATE

PANEL = {"simple": "simple", "patient": "simple:early=10,until=6,late=0"}
"""Whom policies are measured against while they learn, by the names in the log."""
_LEAST = ppo.ENCODING["least"].start
_SUIT_SIZE, _SHARED_SIZE = ppo.SUIT_SIZE + hidden.SUIT_SIZE, ppo.SHARED_SIZE + hidden.SUIT_SIZE + len(hidden.COMMON)
"""Values of a position, what only a critic sees behind what all see."""


@dataclass(frozen=True)
class Settings:
    """What every run is. A run is only resumed with the same settings, but for `decisions`."""

    decisions: int = 7_000_000
    """The learner's schedules end here."""
    seed: int = 1
    tables: int = 256
    rules: str = "eaai"
    steps: int = 32
    """Decisions at each table between two updates."""
    batch: int = 1024
    """Decisions in one step of the optimiser."""
    width: int = 128
    mixing: int = 2
    rate: tuple[float, float] = (1e-3, 3e-5)
    """Adam's rate at the start and at the end; it falls geometrically."""
    trace: float = 0.8
    """Lambda of the returns."""
    unit: float = 30.0
    """Points that are a reward of 1."""
    eval_pairs: int = 500
    """Mirrored pairs against each of the panel; always the same deals, so that policies are compared in pairs."""
    eval_every: int = 4_000_000

    @property
    def panel(self) -> dict[str, str]:
        """Whom the policy is measured against, by the names in the log."""
        return PANEL


def positions(settings: Settings) -> tuple[Tensor, Tensor]:
    """Return room for the positions of a round of play, as `lay_out_all` writes them at each step and once at the end.

    Returns:
        ``(suits, shared)``: float32, shape (steps + 1, tables, 4, …) and (steps + 1, tables, …), zeros.
    """
    shape = (settings.steps + 1, settings.tables)
    return torch.zeros((*shape, 4, _SUIT_SIZE)), torch.zeros((*shape, _SHARED_SIZE))


def memory(settings: Settings) -> int:
    """Return how many bytes `positions` takes, which is the greater part of what learning takes."""
    return 4 * (settings.steps + 1) * settings.tables * (4 * _SUIT_SIZE + _SHARED_SIZE)


@kernel
def lay_out_all(observations, unseen, suits, shared, leads):
    """Write positions for the networks, and by how much the seats to act lead in deadwood.

    Args:
        observations: int8, shape (n, `ppo.ENCODING.size`).
        unseen: int8, shape (n, `hidden.SIZE`).
        suits, shared: Written: float32, shape (n, 4, …) and (n, …), the hidden part behind the seen one.
        leads: Written: float32, shape (n,): the opponent's less the mover's own least deadwood, in points.
    """
    for i in range(observations.shape[0]):
        ppo.lay_out(observations[i], suits[i], shared[i])
        hidden.lay_out(unseen[i], suits[i, :, ppo.SUIT_SIZE :], shared[i], ppo.SHARED_SIZE)
        leads[i] = np.float32(unseen[i, hidden.DEADWOOD]) - observations[i, _LEAST]


def finite(policy: Policy) -> bool:
    """Return whether all weights are finite numbers."""
    return all(bool(torch.isfinite(p).all()) for p in policy.parameters())


def as_numpy(policy: Policy) -> dict[str, np.ndarray]:
    """Return a policy's tensors as `agents.ppo` wants them."""
    return {name: tensor.detach().cpu().numpy() for name, tensor in policy.state_dict().items()}


def save_policy(policy: Policy, path: Path, settings: Settings, notes: Mapping[str, Any]) -> None:
    """Write a policy for `agents.ppo`, with what made it."""
    metadata = {"format": ppo.FORMAT, "encoding": ppo.ENCODING.name, "rules": settings.rules,
                "settings": json.dumps(dataclasses.asdict(settings)), "notes": json.dumps(notes)}  # fmt: skip
    write(as_numpy(policy), path, metadata)


def measure(
    policy: Policy, settings: Settings, out: Path, row: dict[str, Any], notes: Mapping[str, Any], best: float
) -> float:
    """Tell in the log's ``row`` which share of games a policy wins, always choosing its likeliest action, by opponent.

    Its file is written when it is the best so far, or the last.

    Args:
        policy, settings, out: Of the run.
        row: What the log tells of this moment; added to.
        notes: What the file tells beside it.
        best: The largest mean share of games won so far.

    Returns:
        The same with this policy.
    """
    agent, rules, shares = ppo.native("ppo", as_numpy(policy)), parse_rules(settings.rules), []
    for name, spec in settings.panel.items():
        games, _ = play_pairs(agent, make(spec), rules, 1 << 32, 0, settings.eval_pairs)
        shares.append(float((games["winner"] == 0).mean() + 0.5 * (games["winner"] < 0).mean()))
        row[f"wins_{name}"] = shares[-1]
    mean = sum(shares) / len(shares)
    for name, due in (("best", mean > best), ("last", row["decisions"] >= settings.decisions)):
        if due:
            save_policy(policy, out / f"{name}.safetensors", settings, {**row, **notes})
    return max(best, mean)


def write(tensors: Mapping[str, np.ndarray], path: Path, metadata: Mapping[str, str]) -> None:
    """Write a safetensors file beside ``path`` and rename it: whoever is killed leaves the old file whole."""
    beside = path.with_name(f"{path.name}.new")
    save_file({name: np.ascontiguousarray(array) for name, array in tensors.items()}, beside, dict(metadata))
    with open(beside, "rb") as file:
        os.fsync(file.fileno())
    os.replace(beside, path)


@dataclass
class Run:
    """All that a checkpoint holds. Numbers and JSON only, so loading one executes nothing.

    The first process writes `checkpoint.safetensors`, every other one its generator and tables to a file of its own.
    """

    learner: str
    settings: Settings
    networks: Mapping[str, torch.nn.Module]
    pool: list[dict[str, Tensor]]
    """Weights of past selves."""
    adam: torch.optim.Adam
    generator: torch.Generator
    tables: Tables
    rank: int
    counts: Mapping[str, np.ndarray] = field(default_factory=dict)
    """What the learner has counted at this process's tables, by name; written to when it is gone back to."""

    @property
    def _format(self) -> str:
        return f"ginenv-{self.learner}-checkpoint-2"

    def save(self, out: Path, decisions: int, seconds: float, best: float) -> None:
        """Write a checkpoint into folder ``out``."""
        tensors: dict[str, np.ndarray] = {"generator": self.generator.get_state().numpy()}
        snapshot = self.tables.snapshot()
        tensors |= {"tables.states": snapshot["states"].view(np.uint8), "tables.episodes": snapshot["episodes"]}
        tensors |= self.counts
        progress = {"decisions": decisions, "seconds": seconds, "best": best, "past_selves": len(self.pool)}
        metadata = {"format": self._format, "encoding": ppo.ENCODING.name, "progress": json.dumps(progress),
                    "settings": json.dumps(dataclasses.asdict(self.settings))}  # fmt: skip
        if self.rank == 0:
            for name, network in self.networks.items():
                tensors |= {f"{name}.{key}": tensor.cpu().numpy() for key, tensor in network.state_dict().items()}
            for number, weights in enumerate(self.pool):
                tensors |= {f"pool.{number}.{key}": tensor.cpu().numpy() for key, tensor in weights.items()}
            for number, moments in self.adam.state_dict()["state"].items():
                tensors |= {f"adam.{number}.{key}": tensor.cpu().numpy() for key, tensor in moments.items()}
        write(tensors, self.own_file(out), metadata)

    def own_file(self, out: Path) -> Path:
        """Return where this process's generator, tables and counts are kept in folder ``out``."""
        return out / (f"checkpoint-{self.rank}.safetensors" if self.rank else "checkpoint.safetensors")

    def resume(self, out: Path, command: str, start: str = "") -> tuple[int, float, float, Log | None]:
        """Go back to the checkpoint in folder ``out``, where there is one (`load`), and open the first process's log.

        Where there is none, begin with the networks of the checkpoint file ``start``, if one is named.

        Returns:
            ``(decisions, seconds, best, log)``: how far the run is, and the log, None in other processes.
        """
        out.mkdir(parents=True, exist_ok=True)
        progress: dict[str, Any] = {"decisions": 0, "seconds": 0.0, "best": -1.0}
        if (out / "checkpoint.safetensors").exists():
            progress = self.load(out)
        elif start:
            self.begin_with(Path(start))
        log = Log(out, progress["decisions"]) if self.rank == 0 else None
        if log and progress["decisions"] == 0:
            log.write({"settings": dataclasses.asdict(self.settings), "command": command, **provenance.versions(),
                       **provenance.machine()})  # fmt: skip
        return progress["decisions"], progress["seconds"], progress["best"], log

    def load(self, out: Path) -> dict[str, Any]:
        """Go back to the checkpoint in folder ``out``; returns how far it was.

        A process that has no file of this point, as there were fewer or one was killed, goes on from new deals, and so
        does one whose tables were written by a version that had other fields in a STATE.

        Raises:
            Refusal: when it is of another run, or damaged.
        """
        path = out / "checkpoint.safetensors"
        with undamaged(path):
            tensors, metadata = self._take_shared(path)
            progress: dict[str, Any] = json.loads(metadata["progress"])
        if self.rank > 0:
            path = self.own_file(out)
            tensors, metadata = read(path) if path.exists() else ({}, {})
        with undamaged(path):
            of_this_point = json.loads(metadata.get("progress", "{}")).get("decisions") == progress["decisions"]
            if not (of_this_point and self._take_tables(tensors)):
                self.tables.reset(own_seed(self.tables.seed, progress["decisions"]))
        return progress

    def begin_with(self, path: Path) -> None:
        """Take the networks of another run's checkpoint, and nothing else of it.

        Raises:
            Refusal: when it is no checkpoint of this learner, or of networks of another size.
        """
        with undamaged(path):
            tensors, _ = self._read(path, "--start")
            try:
                self._take_networks(tensors)
            except RuntimeError as error:
                raise Refusal(f"{path} holds networks of other sizes than this run's: give another --start, or to "
                              "gin exploit their --width") from error  # fmt: skip

    def _read(self, path: Path, option: str) -> tuple[dict[str, Tensor], dict[str, str]]:
        tensors, metadata = read(path)
        if metadata.get("format") != self._format or metadata.get("encoding") != ppo.ENCODING.name:
            raise Refusal(f"{path} is no checkpoint of this learner and encoding: give another {option}")
        return tensors, metadata

    def _take_networks(self, tensors: Mapping[str, Tensor]) -> None:
        for name, network in self.networks.items():
            network.load_state_dict(_part(tensors, f"{name}."))

    def _take_shared(self, path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
        """Go back to what all processes share; returns all that the file holds, as `read` does."""
        tensors, metadata = self._read(path, "--out")
        # A setting that is younger than the checkpoint had its default then.
        theirs = dataclasses.asdict(type(self.settings)()) | json.loads(metadata["settings"])
        theirs, ours = (json.loads(json.dumps(s)) for s in (theirs, dataclasses.asdict(self.settings)))
        for name in sorted(ours, key=lambda name: name != "start"):  # other settings follow from that one
            if name != "decisions" and theirs.get(name) != ours[name]:
                raise Refusal(
                    f"{path} is of a run with {name}={theirs.get(name)}, not {ours[name]}: give another --out, "
                    "or the same options"
                )
        self._take_networks(tensors)
        past_selves = json.loads(metadata["progress"])["past_selves"]
        self.pool[:] = [_part(tensors, f"pool.{number}.") for number in range(past_selves)]
        moments = {n: _part(tensors, f"adam.{n}.") for n in range(len(self.adam.param_groups[0]["params"]))}
        self.adam.load_state_dict({"state": moments, "param_groups": self.adam.state_dict()["param_groups"]})
        return tensors, metadata

    def _take_tables(self, tensors: Mapping[str, Tensor]) -> bool:
        """Go back to a process's own part; returns whether its tables are of this version."""
        self.generator.set_state(tensors["generator"])
        for name, count in self.counts.items():
            if name in tensors:  # it is younger than some checkpoints
                if tensors[name].shape != count.shape:
                    raise ValueError(f"{name} has shape {tuple(tensors[name].shape)}, not {count.shape}")
                read_back = tensors[name].numpy()
                if not (np.isfinite(read_back) & (read_back >= 0)).all():
                    raise ValueError(f"{name} has counts that are negative or not finite")
                count[:] = read_back
        states = tensors["tables.states"].numpy()
        if states.size != self.tables.n * STATE.itemsize:
            return False
        self.tables.restore({"states": states.view(STATE), "episodes": tensors["tables.episodes"].numpy()})
        return True


@contextmanager
def undamaged(path: Path) -> Iterator[None]:
    """Tell in one sentence that a checkpoint does not hold what it should."""
    try:
        yield
    except (KeyError, ValueError, TypeError, AttributeError, RuntimeError) as error:
        raise Refusal(f"{path} is damaged ({type(error).__name__}: {str(error).splitlines()[0]})") from error


def _part(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Return the tensors whose names begin so, without that, in order of their names."""
    found = {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
    return dict(sorted(found.items()))


def read(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Return the tensors and the metadata of a safetensors file. Raises Refusal when it is none."""
    try:
        with safe_open(path, "numpy") as file:
            return {key: torch.from_numpy(file.get_tensor(key)) for key in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except Exception as error:  # the package's own, of no common kind
        raise Refusal(f"{path} cannot be read: {error}") from error


class Log:
    """The run's log: lines of JSON, TensorBoard, and what the terminal shows."""

    def __init__(self, out: Path, decisions: int) -> None:
        """Open the log in ``out``, and forget what a killed run wrote after the checkpoint at ``decisions``."""
        path = out / "log.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() and decisions else []
        kept = [line for line in lines if line.endswith("}") and json.loads(line).get("decisions", 0) <= decisions]
        path.write_text("".join(line + "\n" for line in kept), encoding="utf-8")
        self._path = path
        self._board = SummaryWriter(str(out / "tensorboard"), purge_step=decisions or None)
        self._strength = ""

    def write(self, row: Mapping[str, Any]) -> None:
        """Add a row; numbers beside its ``decisions`` go to TensorBoard, too."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        if "decisions" in row:
            for name, number in row.items():
                self._board.add_scalar(name, number, row["decisions"])

    def show(self, row: Mapping[str, Any], settings: Settings) -> None:
        """Show progress: a line that is overwritten on a terminal, one for each measurement elsewhere."""
        measured = [f"{name} {100 * row[f'wins_{name}']:.1f} %" for name in settings.panel if f"wins_{name}" in row]
        if measured:
            # ± of a share of this many games, without the gain from mirrored deals.
            half = share(np.repeat([0.0, 1.0], settings.eval_pairs)).high - 0.5
            self._strength = f"wins: {', '.join(measured)} (± {100 * half:.1f})"
        text = (
            f"{row['decisions']:>13,} of {settings.decisions:,} decisions  {row['seconds'] / 60:6.1f} min  "
            f"{row['decisions_per_second']:,}/s  {self._strength}"
        )
        if sys.stderr.isatty():
            print(f"\r\x1b[K{text}", end="\n" if measured else "", file=sys.stderr, flush=True)
        elif measured:
            print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Write out and close."""
        self._board.close()


def keep_memory() -> None:
    """Ask the C library, where it is glibc, to keep freed memory: asking the system anew costs a third of the time."""
    mmap_threshold, trim_threshold, large = -3, -1, 1 << 30
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(mmap_threshold, large)
        mallopt(trim_threshold, large)


def own_seed(seed: int, part: int) -> int:
    """Return the seed of a process, or of whatever ``part`` numbers; part 0 has the run's own."""
    return seed if part == 0 else mix(seed, part) & ((1 << 62) - 1)


def average(tensors: list[Tensor]) -> None:
    """Replace each tensor by its mean over all processes, where there are several."""
    if dist.is_initialized():
        flat = torch.cat([tensor.flatten() for tensor in tensors])
        dist.all_reduce(flat)
        parts = (flat / dist.get_world_size()).split([tensor.numel() for tensor in tensors])
        for tensor, part in zip(tensors, parts, strict=True):
            tensor.copy_(part.view_as(tensor))


def agree(adam: torch.optim.Adam) -> None:
    """Give all processes the mean of their networks, and of the optimiser's moments, where there are several.

    Each has learned from its own tables since the last time (local SGD: Stich, arXiv 1805.09767). To average the
    gradients of each step instead takes a third of the time for waiting.
    """
    with torch.no_grad():
        learned = adam.param_groups[0]["params"]
        moments = [adam.state[tensor][name] for tensor in learned for name in ("exp_avg", "exp_avg_sq")]
        average([*learned, *moments])


def any_process(flag: bool) -> bool:
    """Return whether the flag is set in any process: they must stop together."""
    if dist.is_initialized():
        flags = torch.tensor([float(flag)])
        dist.all_reduce(flags)
        return bool(flags[0] > 0)
    return flag
