"""Long studies in shards: each an array that follows from its arguments alone, stored whole or not at all.

So the result is the same bytes whoever plays which shard and when, on one process or many, here or on a Ray cluster,
and however often the run was stopped: the same command plays what is missing.
"""

from __future__ import annotations

import io
import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from experiments.refusal import Refusal, refusing
from experiments.store import LOCK, locked
from experiments.whole_file import write_whole
from ginenv.envs.opponent import exact_copy

ABOUT, SHARDS = "about.json", "shards"
INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


@dataclass(frozen=True)
class Shard:
    """A piece of work: ``work(*args)`` returns its array; both must pickle."""

    name: str
    work: Callable[..., np.ndarray]
    args: tuple[Any, ...]
    size: int
    """How much of the progress bar it is."""


class Stopped(Exception):  # noqa: N818 - not an error
    """Ctrl-C: what was finished is stored."""


def path_of(folder: Path, name: str) -> Path:
    """Return where the shard ``name`` of a run folder is stored."""
    return folder / SHARDS / f"{name}.npy"


def check_folder(folder: Path, about: Mapping[str, Any]) -> None:
    """See that a run folder is not there yet, or empty, or holds this run; nothing is written.

    Args:
        folder: The run folder.
        about: What makes the run this run and no other: names to values that JSON can hold.

    Raises:
        Refusal: when it holds another run or other things, or cannot be read.
    """
    with refusing(OSError, about=f"{folder} cannot be used as a run folder"):
        if not (folder / ABOUT).exists():
            entries = folder.iterdir() if folder.exists() else ()
            if others := sorted(entry.name for entry in entries if entry.name not in (LOCK, SHARDS)):
                raise Refusal(f"{folder} holds other files ({', '.join(others[:3])}): choose a new folder with --out")
            return
        before = read_about(folder)
    now = json.loads(json.dumps(about))
    if different := sorted(key for key in {*before, *now} if before.get(key) != now.get(key)):
        raise Refusal(
            f"{folder} holds another run ({', '.join(different)} differ): give the run as it was, or another --out"
        )


def read_about(folder: Path) -> dict[str, Any]:
    """Return what a run folder says about its run.

    Raises:
        Refusal: when there is none.
    """
    try:
        found = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Refusal(f"{folder} holds no run: it has no {ABOUT}") from None
    except (OSError, ValueError) as error:
        raise Refusal(f"{folder / ABOUT} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise Refusal(f"{folder / ABOUT} is no file of this program")
    return found


def read_shard(folder: Path, name: str) -> np.ndarray:
    """Return a stored shard.

    Raises:
        Refusal: when it is missing or damaged.
    """
    try:
        return np.asarray(np.load(path_of(folder, name), allow_pickle=False))
    except FileNotFoundError:
        raise Refusal(f"{folder}: the shard {name} is missing: the command that made the run goes on with it") from None
    except (OSError, ValueError, EOFError) as error:
        raise Refusal(f"{path_of(folder, name)} is damaged ({error}): delete it and run the same command") from error


def names(folder: Path, prefix: str = "") -> list[str]:
    """Return the names of the shards that a run folder has, in order."""
    return sorted(path.stem for path in (folder / SHARDS).glob(f"{prefix}*.npy"))


def run_shards(
    folder: Path, about: Mapping[str, Any], shards: Sequence[Shard], *, workers: int, ray: bool, console: Console
) -> None:
    """Play the shards that are missing.

    Args:
        folder: The run folder.
        about: See `check_folder`.
        shards: All shards of the run.
        workers: Processes; with one, all is played in this one.
        ray: Play on a Ray cluster: that of ``RAY_ADDRESS``, or a local one with so many workers.
        console: Where progress is shown.

    Raises:
        Stopped: after Ctrl-C; what was finished is stored.
        Refusal: when the folder holds another run or cannot be written, or a shard cannot be played.
    """
    if ray:
        try:
            import_module("ray")
        except ImportError:
            raise Refusal("--ray needs the package ray: pip install 'ginenv[ray]'") from None
    check_folder(folder, about)  # before anything is made: who is refused finds all as it was
    with refusing(OSError, about=f"{folder} cannot be used as a run folder"):
        folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        check_folder(folder, about)  # another process may have begun a run there since
        with refusing(OSError, about=f"{folder} cannot be used as a run folder"):
            (folder / SHARDS).mkdir(exist_ok=True)
            if not (folder / ABOUT).exists():
                write_whole(folder / ABOUT, json.dumps(about, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
        todo = [shard for shard in shards if not path_of(folder, shard.name).exists()]
        if not todo:
            return
        play = _by_ray if ray else _by_processes if workers > 1 else _here
        with _progress(console) as progress:
            total, left = sum(s.size for s in shards), sum(s.size for s in todo)
            bar = progress.add_task("shards", total=total, completed=total - left)
            for shard, found in play(todo, workers, lambda text: progress.update(bar, description=text)):
                content = io.BytesIO()
                np.save(content, found, allow_pickle=False)
                with refusing(OSError, about=str(folder)):
                    write_whole(path_of(folder, shard.name), content.getvalue())
                progress.advance(bar, shard.size)


Say = Callable[[str], None]

_RAY_SETTINGS = {
    "RAY_agent_register_timeout_ms": "300000", "RAY_raylet_start_wait_time_s": "300", "RAY_worker_niceness": "0"
}  # fmt: skip
"""Ray gives the parts of a local cluster 30 s to come up and then lets all else on the machine go first: on a busy one
nothing ever comes of that. A user's own values hold.
"""
_RAY_STORE = 1 << 27
"""Bytes for what is under way; a shard is a few hundred thousand."""


def _here(todo: Sequence[Shard], workers: int, say: Say) -> Iterator[tuple[Shard, np.ndarray]]:
    with _asking(say) as asked:
        for shard in todo:
            yield shard, shard.work(*shard.args)
            if asked:
                raise Stopped


def _by_processes(todo: Sequence[Shard], workers: int, say: Say) -> Iterator[tuple[Shard, np.ndarray]]:
    # A fresh process each: a fork of this one could inherit a lock that a thread of the progress bar holds.
    with ProcessPoolExecutor(workers, get_context("spawn"), _ignore_interrupts) as pool, _asking(say) as asked:
        waiting = {pool.submit(shard.work, *shard.args): shard for shard in todo}
        for future in as_completed(waiting):
            if asked:
                for other in waiting:
                    other.cancel()
            if future.cancelled():
                continue
            yield waiting[future], future.result()
        if asked:
            raise Stopped


def _by_ray(todo: Sequence[Shard], workers: int, say: Say) -> Iterator[tuple[Shard, np.ndarray]]:
    for name, value in _RAY_SETTINGS.items():
        os.environ.setdefault(name, value)
    import ray

    address = os.environ.get("RAY_ADDRESS")
    local = {"num_cpus": workers, "include_dashboard": False, "object_store_memory": _RAY_STORE}
    where: dict[str, Any] = {"address": address} if address else local
    try:
        ray.init(log_to_driver=False, **where)
    except Exception as error:  # Ray raises a bare Exception when a part of it does not come up in time
        raise Refusal(f"Ray cannot be begun ({' '.join(str(error).split())}): run without --ray") from error
    try:

        def call(work: Callable[..., np.ndarray], args: tuple[Any, ...]) -> np.ndarray:
            return work(*args)

        remote = ray.remote(call)
        with _asking(say) as asked:
            waiting = {remote.remote(shard.work, shard.args): shard for shard in todo}
            while waiting:
                ready, _ = ray.wait(list(waiting), num_returns=1, timeout=1.0)
                for reference in ready:
                    yield waiting.pop(reference), exact_copy(ray.get(reference))
                if asked:
                    for reference in waiting:
                        ray.cancel(reference)
                    raise Stopped
    finally:
        ray.shutdown()


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _asking(say: Say) -> Iterator[list[int]]:
    """Give a list that is empty until Ctrl-C: the first one asks to stop after the shards under way, the second stops
    at once.
    """
    asked: list[int] = []

    def ask(*_: Any) -> None:
        if asked:
            os._exit(INTERRUPTED)  # kernels cannot be stopped; what is stored is whole
        asked.append(1)
        say("stopping (Ctrl-C again: at once)")

    try:
        before = signal.signal(signal.SIGINT, ask)
    except ValueError:  # not the main thread, which alone is told of signals
        yield asked
        return
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
        console=console,
    )  # fmt: skip
