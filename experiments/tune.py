"""`gin tune`: search an agent's options by CMA-ES, on mirrored deals against a panel.

Each generation tries a dozen settings on decks of its own, the same for all of them, and scores each by the mean of the
games won against the panel. Every generation is written down, and the same command again goes on from there: the search
is a function of its seed and the scores, so it is fed the old scores and stands where it stood. The result is the
centre of the search, not its best try, which was lucky: measure it on fresh decks with `gin tournament`.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agents.registry import kind, make, split
from experiments.match import play_pairs
from experiments.refusal import Refusal, refusing
from experiments.standings import scores
from experiments.whole_file import write_whole
from ginenv.envs.opponent import AgentError
from ginenv.rng import mix
from ginenv.rules import Rules, refuse_more_actions, rules_for_two

TRIES = 12
"""Settings of a generation."""
_LOG = "generations.jsonl"


@dataclass(frozen=True)
class Range:
    """Where an option is searched."""

    name: str
    low: float
    high: float
    whole: bool

    def at(self, place: float) -> float | int:
        """Return the value at ``place`` in 0 … 1 (places outside are brought to the nearer end)."""
        value = self.low + min(max(place, 0.0), 1.0) * (self.high - self.low)
        return round(value) if self.whole else float(f"{value:.4g}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `gin tune`."""
    parser.add_argument("agent", metavar="AGENT", help="what to tune; options that it names stay as they are")
    parser.add_argument("panel", metavar="OPPONENT", nargs="+", help="the panel; name one twice and it counts twice")
    parser.add_argument(
        "--vary", nargs="+", required=True, metavar="OPTION=LOW:HIGH", help="what to search, and in which range"
    )
    parser.add_argument("--generations", type=int, default=40, help=f"of {TRIES} settings each (default 40)")
    parser.add_argument("--pairs", type=int, default=500, help="pairs a setting and opponent (default 500)")
    parser.add_argument("--rules", default="eaai", help="a preset, or preset,key=value,… (default eaai)")
    parser.add_argument("--seed", type=int, default=1, help="seed (default 1)")
    parser.add_argument("--out", type=Path, required=True, help="folder of the run; the same again resumes")
    parser.add_argument("--threads", type=int, default=2, help="processes that play (default 2)")


def run(args: argparse.Namespace) -> int:
    """Search, and print the centre's spec on stdout."""
    for name in ("generations", "pairs", "threads"):
        if getattr(args, name) < 1:
            raise Refusal(f"--{name} {getattr(args, name)}: at least 1 is due")
    if not 0 <= args.seed < 1 << 32:
        raise Refusal(f"--seed {args.seed}: a seed from 0 to {(1 << 32) - 1} is due")
    with refusing():
        rules, agent = rules_for_two(args.rules), make(args.agent)
        refuse_more_actions(rules, "a match of agents")
        panel = [make(spec).spec for spec in args.panel]
    ranges = parse_ranges(args.agent, args.vary)
    head = {
        "agent": agent.spec, "panel": panel, "vary": args.vary, "pairs": args.pairs,
        "rules": rules.as_dict(), "seed": args.seed,
    }  # fmt: skip
    with refusing(OSError, str(args.out)):
        args.out.mkdir(parents=True, exist_ok=True)
        old = read_log(args.out / _LOG, head)
    search = Search(ranges, args.seed)
    with ProcessPoolExecutor(args.threads) as workers:
        for generation in range(args.generations):
            tries = search.ask()
            if generation < len(old):
                won = old[generation]
            else:
                deck_seed = mix(args.seed, generation)
                jobs = [
                    workers.submit(score, spec_at(args.agent, ranges, x), panel, rules, deck_seed, args.pairs)
                    for x in tries
                ]
                with refusing(AgentError):
                    won = [job.result() for job in jobs]
                old.append(won)
                with refusing(OSError, str(args.out)):
                    write_log(args.out / _LOG, head, old)
            search.tell(tries, won)
            print(
                f"generation {generation + 1}/{args.generations}: won {100 * np.mean(won):.1f} % on average, "
                f"{100 * max(won):.1f} % at best; spread {np.std(tries, axis=0).mean():.3f}",
                file=sys.stderr,
            )
    print(spec_at(args.agent, ranges, search.centre))
    return 0


def parse_ranges(agent: str, vary: Sequence[str]) -> list[Range]:
    """Return the ranges that ``OPTION=LOW:HIGH`` texts name.

    Raises:
        Refusal: for an option that ``agent`` does not have, or a range that is none.
    """
    name, given = split(agent)
    with refusing():
        options = kind(name).options
    named = {text.partition("=")[0].strip() for text in given.split(",")}
    ranges: list[Range] = []
    for text in vary:
        name, _, ends = text.partition("=")
        if name not in options:
            raise Refusal(f"--vary {text}: {agent} has no option {name!r}: there are {', '.join(options)}")
        if name in named or name in [r.name for r in ranges]:
            raise Refusal(f"--vary {text}: {name} is given already")
        option = options[name]
        try:
            low, high = (float(end) for end in ends.split(":"))
        except ValueError:
            raise Refusal(f"--vary {text}: a range is due, such as {name}=0:1") from None
        if not option.low <= low < high <= option.high:
            raise Refusal(f"--vary {text}: ends in order and within {option.low:g} to {option.high:g} are due")
        ranges.append(Range(name, low, high, isinstance(option.default, int)))
    if len(ranges) < 2:
        raise Refusal("--vary: CMA-ES wants at least two options; try the values of one by `gin tournament`")
    return ranges


def score(spec: str, panel: Sequence[str], rules: Rules, seed: int, pairs: int) -> float:
    """Return the share of games won by ``spec`` against the panel, the mean over its members."""
    agent, won = make(spec), 0.0
    for opponent in panel:
        games, _ = play_pairs(agent, make(opponent), rules, seed, 0, pairs)
        won += float(scores(games).mean())
    return won / len(panel)


def spec_at(agent: str, ranges: Sequence[Range], place: np.ndarray) -> str:
    """Return the spec of ``agent`` with the options at ``place``."""
    options = ",".join(f"{r.name}={r.at(x)}" for r, x in zip(ranges, place, strict=True))
    name, given = split(agent)
    return f"{name}:{','.join(filter(None, (given, options)))}"


class Search:
    """CMA-ES over the unit cube (the library's), in whose terms less is better."""

    def __init__(self, ranges: Sequence[Range], seed: int) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about packages for its plots
                from cmaes import CMA
        except ImportError:
            raise Refusal("gin tune needs the package cmaes: pip install 'ginenv[tune]'") from None
        n = len(ranges)
        self._cma = CMA(
            mean=np.full(n, 0.5), sigma=0.2, bounds=np.array([[0.0, 1.0]] * n), population_size=TRIES, seed=seed
        )

    def ask(self) -> list[np.ndarray]:
        """Return the places of the next generation."""
        return [self._cma.ask() for _ in range(TRIES)]

    def tell(self, tries: Sequence[np.ndarray], shares: Sequence[float]) -> None:
        """Learn how they did."""
        self._cma.tell([(place, -won) for place, won in zip(tries, shares, strict=True)])

    @property
    def centre(self) -> np.ndarray:
        """The place around which it searches."""
        return np.asarray(self._cma.mean)


def read_log(path: Path, head: Mapping[str, Any]) -> list[list[float]]:
    """Return the scores of the generations in a run's log; none when there is no log.

    Raises:
        Refusal: when the log is of another run, or broken.
    """
    if not path.exists():
        return []
    try:
        first, *rest = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        found = [[float(x) for x in row] for row in rest]
    except (ValueError, TypeError):
        raise Refusal(f"{path} is not a log of gin tune: give another --out") from None
    if first != json.loads(json.dumps(head)):
        raise Refusal(f"{path} is of a run with other arguments: give them again, or another --out")
    if any(len(row) != TRIES for row in found):
        raise Refusal(f"{path} has a generation without {TRIES} scores: give another --out")
    return found


def write_log(path: Path, head: Mapping[str, Any], generations: Sequence[Sequence[float]]) -> None:
    """Write a run's log beside its place, and move it there."""
    write_whole(path, "".join(json.dumps(row) + "\n" for row in (head, *generations)))
