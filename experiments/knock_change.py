"""`gin knock change`: what another knock rule brings an agent, in games won against a panel.

The agent plays each opponent as it is and with each change of its options, always on the same mirrored decks; the
change in games won is measured pair by pair, so that the luck of the decks cancels out.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agents.registry import native
from experiments import knock_runs
from experiments.knock_figures import play as play_pairing
from experiments.refusal import Refusal, refusing
from experiments.shards import INTERRUPTED, Shard, read_shard
from experiments.stats import Interval, mean, share

PANEL = ("simple", "simple:early=10,until=6,late=0", "lean", "heuristic")


@dataclass(frozen=True)
class Change:
    """Games won by the agent as it is, and what a change of its options brings; shares are of 1."""

    options: str
    opponent: str
    """``all`` for the mean over the panel."""
    before: Interval
    change: Interval


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `gin knock change`."""
    parser.add_argument("agent", metavar="AGENT", help="a native agent with knock options, such as heuristic")
    parser.add_argument("--to", nargs="+", required=True, metavar="OPTIONS", help="changes, such as until=8,least=0")
    parser.add_argument("--against", nargs="+", default=list(PANEL), metavar="AGENT", help="the panel: native agents")
    parser.add_argument("--games", type=int, default=10_000, metavar="N", help="games a pairing, even (default 10000)")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    knock_runs.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Play what is missing, and print the table."""
    knock_runs.check_even(args, "games")
    if args.games < 8:
        raise Refusal(f"--games {args.games}: give 8 or more, or there is no interval")
    seed, rules = knock_runs.seed_and_rules(args)
    join = "," if ":" in args.agent else ":"
    with refusing():
        specs = [native(args.agent).spec, *(native(f"{args.agent}{join}{options}").spec for options in args.to)]
        panel = [native(spec).spec for spec in args.against]
    if len(set(specs)) < len(specs) or len(set(panel)) < len(panel):
        raise Refusal("--to and --against: name different ones, and changes that change something")
    about = {
        "kind": "change", "rules": rules.as_dict(), "seed": seed, "games": args.games, "agents": specs,
        "panel": panel, "code": knock_runs.code([*specs, *panel]),
    }  # fmt: skip
    shards = [
        Shard(f"{i:02d}-{k:02d}", play_pairing, (spec, opponent, rules, seed, args.games // 2), args.games)
        for i, spec in enumerate(specs)
        for k, opponent in enumerate(panel)
    ]
    if not knock_runs.play(args, about, shards):
        return INTERRUPTED
    found = changes(args.out, args.to, args.against)
    if args.json:
        rows = [{"options": c.options, "opponent": c.opponent, "before": c.before, "change": c.change} for c in found]
        print(json.dumps({"agent": specs[0], "games": args.games, "seed": seed, "changes": rows}))
        return 0
    print(f"{specs[0]}: games won, %, and what a change brings ({args.games:,} games a pairing, seed {seed})")
    for c in found:
        print(f"{c.options:<34} {c.opponent:<32}{100 * c.before.value:>6.1f} {100 * c.change.value:>+7.2f} "
              f"± {100 * c.change.half:.2f}")  # fmt: skip
    return 0


def changes(folder: Path, options: list[str], panel: list[str]) -> list[Change]:
    """Return what each change brings against each opponent of a finished run, and on the mean over them."""

    def won(i: int) -> np.ndarray:
        return np.stack([read_shard(folder, f"{i:02d}-{k:02d}").astype(np.float64) for k in range(len(panel))])

    before, found = won(0), []
    for i, text in enumerate(options, 1):
        more = won(i) - before
        for k, opponent in enumerate(panel):
            found.append(Change(text, opponent, share(before[k]), mean(more[k])))
        # All opponents meet the same decks, so their mean is one number a pair.
        found.append(Change(text, "all", share(before.mean(axis=0)), mean(more.mean(axis=0))))
    return found
