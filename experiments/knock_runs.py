"""What the long runs of `gin knock` share: their options, and playing what is missing of a run folder."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from experiments import provenance
from experiments.refusal import Refusal, refusing
from experiments.shards import Shard, Stopped, run_shards
from ginenv.rng import checked_seed
from ginenv.rules import Rules, refuse_more_actions, rules_for_two


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options that all of them have."""
    parser.add_argument("--rules", default="eaai", metavar="R", help="a preset, or preset,key=value,… (default eaai)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="seed (default 1)")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="run folder; the same again goes on")
    parser.add_argument("--workers", type=int, default=provenance.cores(), metavar="N", help="default: all cores")
    parser.add_argument("--ray", action="store_true", help="play on a Ray cluster (RAY_ADDRESS), or a local one")


def check_even(args: argparse.Namespace, name: str) -> None:
    """Refuse a number of games or hands that makes no pairs."""
    n = getattr(args, name)
    if n < 4 or n % 2:
        raise Refusal(f"--{name} {n}: an even number from 4 up is due")


def seed_and_rules(args: argparse.Namespace) -> tuple[int, Rules]:
    """Return the seed and the rules of a run.

    Raises:
        Refusal: when one of the options that all have cannot be.
    """
    if args.workers < 1:
        raise Refusal(f"--workers {args.workers}: give 1 or more")
    with refusing():
        seed, rules = checked_seed(args.seed, "--seed"), rules_for_two(args.rules)
        refuse_more_actions(rules, f"gin knock {args.part}")
    return seed, rules


def code(specs: Sequence[str]) -> dict[str, str]:
    """Return digests of the code that plays: of agents, and of the kernels of the studies."""
    kernels = [Path(__file__).with_name(f"{name}.py") for name in ("knock_decisions", "knock_duel")]
    return {spec: provenance.agent_digest(spec) for spec in specs} | {
        "study": provenance.digest(provenance.sources(*kernels))
    }


def play(args: argparse.Namespace, about: Mapping[str, Any], shards: Sequence[Shard]) -> bool:
    """Play the shards that are missing in ``args.out``; returns False after Ctrl-C (`experiments.shards`)."""
    console = Console(stderr=True, highlight=False)
    try:
        run_shards(args.out, about, shards, workers=args.workers, ray=args.ray, console=console)
    except Stopped:
        console.print(f"Stopped; what was finished is in {args.out}, and the same command goes on from there.")
        return False
    return True
