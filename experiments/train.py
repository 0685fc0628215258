"""`gin train`: what the user types, and what every learner needs before and after it learns."""

from __future__ import annotations

import argparse
import math
import os
import shlex
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
import torch.distributed as dist

from agents.game_value import game_table
from experiments import provenance, train_dmc, train_ppo
from experiments.refusal import refusing
from experiments.training import keep_memory, memory
from ginenv.rng import checked_seed
from ginenv.rules import parse_rules, refuse_more_actions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `gin train`."""
    default = train_ppo.Settings()
    parser.add_argument("learner", choices=("ppo", "dmc"),
                        help="ppo: policy gradients; dmc: values of actions, by their results")  # fmt: skip
    parser.add_argument("--out", required=True, metavar="DIR", help="where to write, and to go on from")
    parser.add_argument("--decisions", type=int, default=default.decisions,
                        help=f"decisions to learn from, of both seats (default {default.decisions})")  # fmt: skip
    parser.add_argument("--minutes", type=float, help="stop after these minutes; the same command goes on later")
    parser.add_argument("--seed", type=int, default=default.seed, help="seed (default 1)")
    parser.add_argument("--tables", type=int, default=default.tables, help=f"(default {default.tables})")
    parser.add_argument("--rules", default=default.rules, help="a preset, or preset,key=value,… (default eaai)")
    parser.add_argument("--reward", choices=("points", "game"), default=default.reward,
                        help="ppo: of a hand: its points, or the change of the chance to win the game")  # fmt: skip
    parser.add_argument("--pool", type=float, default=default.pool,
                        help=f"share of tables with a past self (default {default.pool})")  # fmt: skip
    parser.add_argument("--start", metavar="FILE",
                        help="ppo: begin with the networks of another run's checkpoint.safetensors, and learn on "
                        "against scripted bots at small rates")  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Train, and say where the result is."""
    with refusing():
        rules = parse_rules(args.rules)
        if rules.players != 2:
            raise ValueError(f"self-play is for two: the rules want {rules.players} players")
        refuse_more_actions(rules, "the learner")
        for name in ("decisions", "tables"):
            if getattr(args, name) < 1:
                raise ValueError(f"--{name} {getattr(args, name)}: give 1 or more")
        needed, there = memory(train_ppo.Settings(tables=args.tables)), provenance.memory()
        if needed > there:
            raise ValueError(f"--tables {args.tables}: their positions take {needed / 1e9:,.0f} GB of memory, and this "
                             f"machine has {there / 1e9:,.0f}")  # fmt: skip
        if not 0 <= args.pool <= 1:
            raise ValueError(f"--pool {args.pool}: a share from 0 to 1 is possible")
        if args.learner == "dmc" and (args.pool, args.reward) != (train_ppo.Settings.pool, "points"):
            raise ValueError("--pool and --reward are options of ppo: dmc plays itself, for points")
        if args.learner == "dmc" and args.start is not None:
            raise ValueError("--start is an option of ppo")
        if args.reward == "game":
            game_table(rules)  # it says what is wrong with rules that have none
        out = checked_folder(args.out, args.minutes)
        shared = {"decisions": args.decisions, "seed": checked_seed(args.seed, "--seed"), "tables": args.tables,
                  "rules": args.rules}  # fmt: skip
        ppo = train_ppo.first_or_second_phase(args.start, out, **shared, reward=args.reward, pool=args.pool)
    make_folder(out)
    torch.set_num_threads(max(1, provenance.cores() // int(os.environ.get("LOCAL_WORLD_SIZE", "1"))))
    keep_memory()
    if "WORLD_SIZE" in os.environ:
        dist.init_process_group("gloo")  # networks are small
    try:
        command = shlex.join(["gin", *args.argv])
        with stopping(args.minutes) as stop:
            if args.learner == "ppo":
                done = train_ppo.train(ppo, out, stop, command)
            else:
                done = train_dmc.train(train_dmc.Settings(**shared), out, stop, command)
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()
    if int(os.environ.get("RANK", "0")) > 0:
        return 0
    if done > args.decisions and not (out / "last.safetensors").exists():
        print(f"{args.out} has learned from {done:,} decisions already, and has not ended: give more than these")
    elif done >= args.decisions:
        print(f"done: play it with ppo:path={args.out}/last.safetensors")
    else:
        print(f"stopped after {done:,} decisions of {args.decisions:,}; the same command goes on")
    return 0


def checked_folder(out: str, minutes: float | None) -> Path:
    """Return the folder ``--out``. Raises ValueError when none is named, or ``--minutes`` is not above 0."""
    if minutes is not None and not minutes > 0:
        raise ValueError(f"--minutes {minutes}: give more than 0")
    if not out.strip():
        raise ValueError("--out is empty: give a folder to write to")
    return Path(out)


def make_folder(out: Path) -> None:
    """Make a run's folders. Raises Refusal when that cannot be done."""
    with refusing(OSError, "--out"):
        (out / "tensorboard").mkdir(parents=True, exist_ok=True)


@contextmanager
def stopping(minutes: float | None) -> Iterator[Callable[[], bool]]:
    """Give what tells a learner to stop, with all that it knows written: after ``minutes``, or at Ctrl-C."""
    deadline = math.inf if minutes is None else time.monotonic() + 60 * minutes
    interrupted: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: interrupted.append(number))
    try:
        yield lambda: bool(interrupted) or time.monotonic() >= deadline
    finally:
        signal.signal(signal.SIGINT, before)
