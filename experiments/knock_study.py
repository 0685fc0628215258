"""`gin knock study`: each decision whether to knock, in play between given agents, with what either choice is worth.

In every position where a knock is legal, knocking now is set against playing on, in the same worlds, as points and as
chance to win the game (`experiments.knock_values`). The opponent plays on as that agent does; the worlds are sampled
from the knocker's VIEW and from how much deadwood that agent has at that time in other hands. Native agents only. Each
shard follows from its number alone, so the same command goes on where it was stopped, and gives the same bytes.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np

from agents.game_value import game_table
from agents.protocol import NativeAgent
from agents.registry import native
from experiments import knock_runs
from experiments.knock_decisions import FORFEIT_A, fill_rows
from experiments.knock_values import DECISION, LAST_WEIGHT, hints_of, rival_of, ways_of
from experiments.refusal import Refusal, refusing
from experiments.shards import ABOUT, INTERRUPTED, Shard, names, read_about, read_shard
from ginenv.envs.opponent import exact_copy
from ginenv.rng import apart, mix
from ginenv.rules import Rules, rules

ROWS = 1000
"""Positions a shard."""
GAMES = 25
"""Games a shard, where games are counted."""
SPACE = 1 << 20
"""Games that are kept free for a shard of so many positions."""
_WEIGHTS = (0.02, 0.035, 0.05, 0.075)
"""Weights of an agent's deadwood that are tried (`agents.worlds`)."""
_PILOT, _PILOT_ROWS, _FEW = 1 << 45, 3000, 30
_MOST_ROWS = 400
"""More decisions than a game has."""
AGENTS = ("simple", "simple:until=6,early=10,late=0", "lean", "lean:until=1")
"""The panel: who knocks at once, who does early or not at all, and who waits for gin."""


@dataclass(frozen=True)
class Study:
    """The rows of a stored study."""

    folder: Path
    about: dict[str, Any]
    rows: np.ndarray
    """DECISION, shape (n,)."""
    pairing: np.ndarray
    """Which of the pairings each row is of: int64, shape (n,)."""
    clusters: np.ndarray
    """Number of the row's game, from 0 up: rows of one game are no independent trials. int64, shape (n,)."""

    @property
    def rules(self) -> Rules:
        """What was played."""
        return rules_of(self.about["rules"])

    @property
    def pairings(self) -> list[tuple[str, str]]:
        """The agents of each pairing."""
        return list(combinations_with_replacement(self.about["agents"], 2))

    @property
    def mover(self) -> np.ndarray:
        """Number of the agent that decides, in ``about["agents"]``: int64, shape (n,)."""
        return self._players()[np.arange(len(self.rows)), self.rows["side"]]

    @property
    def rival(self) -> np.ndarray:
        """Number of its opponent: int64, shape (n,)."""
        return self._players()[np.arange(len(self.rows)), 1 - self.rows["side"]]

    def _players(self) -> np.ndarray:
        pairs = np.array(list(combinations_with_replacement(range(len(self.about["agents"])), 2)))
        return pairs[self.pairing]


def rules_of(fields: dict[str, Any]) -> Rules:
    """Return the rules of a run folder."""
    return rules("modern", **fields)


def read_study(folder: Path) -> Study:
    """Return a stored study.

    Raises:
        Refusal: when there is none.
    """
    about = read_about(folder)
    if about.get("kind") != "study":
        raise Refusal(f"{folder} holds no study: gin knock study makes one")
    found = names(folder)
    if not found:
        raise Refusal(f"{folder} holds no positions yet")
    parts = [read_shard(folder, name) for name in found]
    pairing = np.repeat([int(name.split("-")[0]) for name in found], [len(part) for part in parts])
    rows = np.concatenate(parts)
    _, clusters = np.unique(pairing * (1 << 40) + rows["game"], return_inverse=True)
    return Study(folder, about, rows, pairing, clusters)


def fit_weights(spec: str, rules: Rules, seed: int) -> list[float]:
    """Return the weight of an agent's deadwood in the worlds of its opponents, by its turns so far.

    Worlds that give the opponent too much deadwood make every knock look good, and agents improve at different
    speeds. So the agent plays itself in other hands, with several weights for all turns; and for each number of turns
    the weight is the one with which the deadwood in the worlds is on average what it is in truth.
    """
    agent = native(spec)
    off = np.zeros((len(_WEIGHTS), LAST_WEIGHT + 1))
    for i, weight in enumerate(_WEIGHTS):
        rival = rival_of(agent, [weight] * (LAST_WEIGHT + 1))
        rows = _fill((agent, agent), (rival, rival), rules, mix(seed, _PILOT), 0, SPACE, _PILOT_ROWS, 12, (0,))
        turns = np.minimum(rows["turn"], LAST_WEIGHT)  # the opponent's are as many, or one less
        said, true = (
            np.bincount(turns, rows[name], LAST_WEIGHT + 1) for name in ("rival_deadwood", "true_rival_deadwood")
        )
        n = np.bincount(turns, minlength=LAST_WEIGHT + 1)
        # With few hands a turn's own mean is drawn to that of all.
        overall = (said.sum() - true.sum()) / max(n.sum(), 1)
        off[i] = (said - true + _FEW * overall) / (n + _FEW)
    found = []
    for column in off.T:
        falling = np.minimum.accumulate(column)[::-1]  # more weight, less deadwood
        found.append(round(float(np.interp(0.0, falling, np.array(_WEIGHTS)[::-1])), 5))
    return found


def play_shard(
    specs: tuple[str, str], weights: tuple[list[float], list[float]], rules: Rules, seed: int, first: int, most: int,
    n_rows: int, worlds: int, ways: tuple[int, ...],
) -> np.ndarray:  # fmt: skip
    """Return the decisions of games number ``first`` … first+most-1, the first ``n_rows`` of them: DECISION.

    Args:
        specs: A and B.
        weights: See `rival_of`, of A and of B.
        rules, seed, first, most, n_rows: What is played.
        worlds: Worlds a position.
        ways: Ways to play on: the deadwood to knock at from then on.
    """
    agents = native(specs[0]), native(specs[1])
    rivals = rival_of(agents[0], weights[0]), rival_of(agents[1], weights[1])
    return _fill(agents, rivals, rules, seed, first, most, n_rows, worlds, ways)


def _fill(
    agents: tuple[NativeAgent, NativeAgent], rivals: tuple[np.ndarray, np.ndarray], rules: Rules, seed: int, first: int,
    most: int, n_rows: int, worlds: int, ways: tuple[int, ...],
) -> np.ndarray:  # fmt: skip
    rows = np.zeros(n_rows, dtype=DECISION)
    a, b = agents
    full: int = fill_rows(
        a.policy, a.params, b.policy, b.params, np.stack(rivals), hints_of(), ways_of(ways), game_table(rules),
        rules.record, seed, apart(seed), first, most, worlds, rows,
    )  # fmt: skip
    if full < 0:
        who = a if full == FORFEIT_A else b
        raise Refusal(f"{who.spec} acted illegally, so there is nothing to study")
    return exact_copy(rows[:full])  # the bytes between the fields, too


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `gin knock study`."""
    parser.add_argument(
        "--agents", nargs="+", default=list(AGENTS), metavar="AGENT", help="native agents: all play all"
    )
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--positions", type=int, default=100_000, metavar="N", help="positions in all (default 100000)")
    size.add_argument("--games", type=int, metavar="N", help="games a pairing, in place of a number of positions")
    parser.add_argument("--worlds", type=int, default=64, metavar="N", help="worlds a position (default 64)")
    parser.add_argument(
        "--ways", default="0,10", metavar="T,T", help="ways to play on: knock at so much from then on (default 0,10)"
    )
    knock_runs.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Play what is missing of the study."""
    if not 8 <= args.worlds <= 10_000:
        raise Refusal(f"--worlds {args.worlds}: a number from 8 to 10,000 is due")
    if not 1 <= (args.positions if args.games is None else args.games) <= 1 << 40:
        raise Refusal("--positions and --games: at least 1 is due")
    seed, parsed = knock_runs.seed_and_rules(args)
    with refusing():
        specs = [native(name).spec for name in args.agents]
        game_table(parsed)
    ways = parse_ways(args.ways)
    if len(set(specs)) < len(specs):
        raise Refusal("--agents: each agent plays itself, too, so name none twice")
    about = {
        "kind": "study", "rules": parsed.as_dict(), "agents": specs, "worlds": args.worlds, "ways": list(ways),
        "seed": seed, "shards": "games" if args.games else "positions", "code": knock_runs.code(specs),
    }  # fmt: skip
    if (args.out / ABOUT).exists():  # a run goes on with what it began with
        about["weights"] = read_about(args.out).get("weights")
    else:
        print("measuring how fast the agents improve…", file=sys.stderr)
        about["weights"] = {spec: fit_weights(spec, parsed, seed) for spec in specs}
    if not knock_runs.play(args, about, plan(about, parsed, args.positions, args.games)):
        return INTERRUPTED
    study = read_study(args.out)
    print(f"{len(study.rows):,} positions of {study.clusters.max() + 1:,} games in {args.out}")
    return 0


def parse_ways(text: str) -> tuple[int, ...]:
    """Return the thresholds of ``text``, such as 0,10.

    Raises:
        Refusal: when they are none.
    """
    try:
        ways = tuple(int(part) for part in text.split(","))
    except ValueError:
        ways = ()
    if not ways or not all(0 <= way <= 100 for way in ways) or len(set(ways)) < len(ways):
        raise Refusal(f"--ways {text}: different counts of deadwood are due, such as 0,10")
    return ways


def plan(about: dict[str, Any], rules: Rules, positions: int, games: int | None) -> list[Shard]:
    """Return the shards of a study, all pairings side by side."""
    pairings = list(combinations_with_replacement(about["agents"], 2))
    size, wanted = (ROWS, -(-positions // len(pairings))) if games is None else (GAMES, games)
    shards = []
    for k in range(-(-wanted // size)):
        for number, pair in enumerate(pairings):
            if games is None:
                first, most, n_rows = k * SPACE, SPACE, ROWS
            else:
                first, most = k * GAMES, min(GAMES, games - k * GAMES)
                n_rows = most * _MOST_ROWS
            weights = about["weights"][pair[0]], about["weights"][pair[1]]
            args = (pair, weights, rules, about["seed"], first, most, n_rows, about["worlds"], tuple(about["ways"]))
            shards.append(Shard(f"{number:02d}-{k:06d}", play_shard, args, ROWS if games is None else most))
    return shards
