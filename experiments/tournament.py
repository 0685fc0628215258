"""`gin tournament`: a round robin on mirrored deals, stored pair by pair; the same command again goes on.

Pairs are played in shards, several at a time: kernels release the GIL, so native agents use all cores. Each pair's
games follow from its number alone, and shards have fixed borders, so the result does not depend on the number of
threads, on the order of shards or on how often the run was stopped.
"""

from __future__ import annotations

import argparse
import contextvars
import hashlib
import json
import os
import queue
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from agents.protocol import Agent, NativeAgent
from agents.registry import make
from experiments import provenance
from experiments.match import play_pairs
from experiments.refusal import Refusal, refusing
from experiments.standings import as_json, describe, pairs_of, result_document, tables, write_results
from experiments.store import Store, open_store
from ginenv.envs.opponent import AgentError
from ginenv.rng import checked_seed
from ginenv.rules import Rules, refuse_more_actions, rules_for_two

NATIVE_SHARD = 200
"""Pairs a shard between native agents: some 30 ms."""
SHARD = 16
"""Pairs a shard otherwise: 16 tables are played side by side, and then once more with the seats swapped."""
INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""
COMMIT_EVERY = 0.2
"""Seconds between two commits while shards come in fast: each one waits for the disk."""


@dataclass(frozen=True)
class Plan:
    """What is to be played."""

    names: tuple[str, ...]
    """The agents as they were given."""
    crews: tuple[tuple[Agent, ...], ...]
    """The agents once for each thread, so that no agent need be safe for threads. Native ones are shared."""
    rules: Rules
    seed: int
    games: int
    """A pairing; even."""

    @property
    def specs(self) -> tuple[str, ...]:
        """The agents with options in full."""
        return tuple(agent.spec for agent in self.crews[0])

    def identity(self) -> dict[str, Any]:
        """Return what makes this run this run and no other; the number of games may grow."""
        code = {"engine": provenance.engine_digest()}
        code |= {spec: provenance.agent_digest(spec) for spec in dict.fromkeys(self.specs)}
        return {"seed": self.seed, "agents": list(self.specs), "rules": self.rules.as_dict(), "code": code}


@dataclass(frozen=True)
class Shard:
    """Pairs ``first`` … first+count-1 of a pairing."""

    pairing: int
    first: int
    count: int


def plan(names: Sequence[str], rules: str, seed: int, games: int, threads: int) -> Plan:
    """Return the plan for a tournament.

    Raises:
        Refusal: for what cannot be played.
    """
    if len(names) < 2:
        raise Refusal("a tournament needs two agents or more: name one twice to play it against itself")
    if games < 2 or games % 2:
        raise Refusal(f"--games {games}: games are played in mirrored pairs, so give an even number from 2 up")
    if threads < 1:
        raise Refusal(f"--threads {threads}: give 1 or more")
    with refusing():
        seed, parsed = checked_seed(seed, "--seed"), rules_for_two(rules)
        refuse_more_actions(parsed, "a match of agents")
        crew = tuple(make(name) for name in names)
        others = [tuple(a if isinstance(a, NativeAgent) else make(n) for n, a in zip(names, crew, strict=True))
                  for _ in range(threads - 1)]  # fmt: skip
    return Plan(tuple(names), (crew, *others), parsed, seed, games)


def missing(store: Store, plan: Plan) -> list[Shard]:
    """Return the shards that are still to be played, all pairings side by side."""
    shards = []
    pairs = plan.games // 2
    for number, (a, b) in enumerate(pairs_of(len(plan.names))):
        crew = plan.crews[0]
        size = NATIVE_SHARD if isinstance(crew[a], NativeAgent) and isinstance(crew[b], NativeAgent) else SHARD
        todo = np.setdiff1d(np.arange(pairs), store.pairs(number))
        # Borders do not depend on what is there already: agents see the same batches in a resumed run.
        cuts = np.flatnonzero((np.diff(todo) != 1) | (np.diff(todo // size) != 0)) + 1
        for part in np.split(todo, cuts) if len(todo) else []:
            shards.append((int(part[0]) / size, Shard(number, int(part[0]), len(part))))
    shards.sort(key=lambda item: (item[0], item[1].pairing))
    return [shard for _, shard in shards]


class Interrupted(Exception):  # noqa: N818 - not an error
    """Stopped by Ctrl-C; what was played is stored."""


@dataclass
class _Stop:
    """Ctrl-C: the first one asks to stop after the shards under way, the second one stops at once."""

    asked: bool = False
    on_first: Callable[[], None] = field(default=lambda: None)
    on_second: Callable[[], None] = field(default=lambda: None)

    def signal(self, *_: Any) -> None:
        if self.asked:
            self.on_second()
            os._exit(INTERRUPTED)  # threads in kernels cannot be stopped; the store is safe at any moment
        self.asked = True
        self.on_first()

    @contextmanager
    def listening(self) -> Iterator[None]:
        try:
            before = signal.signal(signal.SIGINT, self.signal)
        except ValueError:  # not the main thread, which alone is told of signals
            yield
            return
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


def play(store: Store, plan: Plan, console: Console, stop: _Stop | None = None) -> None:
    """Play what is missing.

    Raises:
        Interrupted: after Ctrl-C.
        Refusal: when an agent fails; what was played before is stored.
    """
    shards = missing(store, plan)
    if not shards:
        return
    stop = stop or _Stop()
    n_pairings = len(pairs_of(len(plan.names)))
    total = n_pairings * plan.games
    done = total - 2 * sum(shard.count for shard in shards)
    with _progress(console) as progress, stop.listening():
        bar = progress.add_task("games", total=total, completed=done)
        stop.on_first = lambda: progress.update(bar, description="stopping (Ctrl-C again: at once)")

        def at_once() -> None:
            progress.stop()
            console.print("Stopped at once; the same command goes on from what is stored.")

        stop.on_second = at_once
        for finished in _finished(shards, plan, stop):
            store.add(finished)
            progress.advance(bar, sum(games.size for _, games in finished))
    if stop.asked:
        raise Interrupted


def _finished(shards: list[Shard], plan: Plan, stop: _Stop) -> Iterator[list[tuple[int, np.ndarray]]]:
    """Play shards on all threads, and yield (pairing, games) of those that are ready, some at a time."""
    crews: queue.SimpleQueue[tuple[Agent, ...]] = queue.SimpleQueue()
    for crew in plan.crews:
        crews.put(crew)
    opponents = pairs_of(len(plan.names))

    def play_shard(shard: Shard) -> tuple[int, np.ndarray]:
        crew = crews.get()
        try:
            a, b = (crew[i] for i in opponents[shard.pairing])
            return shard.pairing, play_pairs(a, b, plan.rules, plan.seed, shard.first, shard.count)[0]
        finally:
            crews.put(crew)

    threads = len(plan.crews)
    todo = iter(shards)
    running: set[Future[tuple[int, np.ndarray]]] = set()
    ready: list[tuple[int, np.ndarray]] = []
    failure: BaseException | None = None
    committed = time.monotonic()
    with ThreadPoolExecutor(threads) as pool:
        while True:
            # One shard more than threads, so that none waits for this one.
            while len(running) <= threads and not stop.asked and failure is None:
                shard = next(todo, None)
                if shard is None:
                    break
                # NumPy keeps its error settings in the context, and a new thread starts with an empty one.
                running.add(pool.submit(contextvars.copy_context().run, play_shard, shard))
            if not running:
                break
            finished, running = wait(running, timeout=COMMIT_EVERY, return_when=FIRST_COMPLETED)
            if stop.asked or failure is not None:
                running -= {future for future in running if future.cancel()}
            for future in finished:
                if error := future.exception():
                    failure = failure or error
                else:
                    ready.append(future.result())
            if ready and time.monotonic() - committed >= COMMIT_EVERY:
                yield ready
                ready, committed = [], time.monotonic()
    if ready:
        yield ready
    if isinstance(failure, AgentError):
        raise Refusal(f"{failure}; what was played before is stored") from failure
    if failure is not None:
        raise failure


class _Speed(ProgressColumn):
    """Games a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f} games/s" if speed else "– games/s", style="progress.data.speed")


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Speed(), TimeRemainingColumn(),
        console=console,
    )  # fmt: skip


def default_folder(identity: dict[str, Any]) -> Path:
    """Return the run folder of a run that names none: its own, so that the same command resumes."""
    key = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:8]
    return Path("runs") / f"tournament-{identity['rules']['name']}-{key}"


# --- The command ----------------------------------------------------------------------------------


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `gin tournament`."""
    parser.add_argument("agents", nargs="+", metavar="AGENT", help="name, or name:key=value,key=value (see gin agents)")
    parser.add_argument("--games", type=int, default=2000, metavar="N", help="games a pairing, even (default 2000)")
    parser.add_argument(
        "--rules", default="modern", metavar="P", help="a preset, or preset,field=value,… (see gin rules)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of all decks and choices (default 0)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="run folder (default: one of its own under runs/)")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON document on stdout")
    parser.add_argument("--threads", type=int, default=provenance.cores(), metavar="N", help="default: all cores")


def run(args: argparse.Namespace) -> int:
    """Play the tournament, or what is missing of it, and report."""
    errors = Console(stderr=True, highlight=False)
    todo = plan(args.agents, args.rules, args.seed, args.games, args.threads)
    identity = todo.identity()
    folder = args.out or default_folder(identity)
    session = {
        "started": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "command": shlex.join(["gin", *args.argv]),
        "threads": args.threads,
        "versions": provenance.versions(),
        "machine": provenance.machine(),
    }
    with open_store(folder, identity) as store:
        store.begin_session(session)
        try:
            play(store, todo, errors)
        except Interrupted:
            errors.print(
                f"Stopped; all finished games are in {folder}. To go on: {session['command']}",
                markup=False, soft_wrap=True,
            )  # fmt: skip
            return INTERRUPTED
        document = result_document(store, todo.rules, todo.seed, todo.names, todo.specs, todo.games)
        with refusing(OSError, about=f"{folder} cannot be written"):
            write_results(folder, document, describe(identity, store.sessions(), todo.games))
    shown = errors if args.json else Console(highlight=False)
    if not shown.is_terminal:
        shown.width = max(shown.width, 160)  # into a file or a pipe nothing need be folded
    shown.print(tables(document))
    errors.print(f"Games and results are in {folder}.", markup=False, soft_wrap=True)
    if args.json:
        sys.stdout.write(as_json(document))
    return 0
