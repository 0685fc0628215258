"""`gin knock figures`: what was stated about the knock rules of `simple`, measured again.

Games on mirrored deals between knock rules of `simple`, and how knocks of `simple` against itself end by turn and by
deadwood. A statement is reproduced when the two 95 % intervals meet (with a point for the stated one where none was
given).
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agents.registry import native
from experiments import knock_runs
from experiments.knock_metagame import KnockRule
from experiments.match import HAND, NOBODY, A, play_pairs
from experiments.shards import INTERRUPTED, Shard, read_shard
from experiments.stats import Interval, mean, share
from ginenv.rules import Rules
from ginenv.state import Kind

PLAIN = KnockRule("simple", 1, 10, 10)


def _rule(text: str) -> KnockRule:
    """Return the rule n:e:l, or one threshold, on `simple`."""
    parts = [int(part) for part in text.split(":")]
    return KnockRule("simple", *parts) if len(parts) == 3 else KnockRule("simple", 1, parts[0], parts[0])


AGAINST_PLAIN = {
    "10": 48.9, "7": 50.6, "5": 54.1, "4": 56.7, "3": 57.9, "2": 60.1, "1": 64.4, "0": 66.8,
    "3:10:0": 68.7, "4:10:0": 68.6, "5:10:0": 68.1, "6:10:0": 66.4, "7:10:0": 63.0, "8:10:0": 61.7, "10:10:0": 55.5,
    "6:10:2": 62.9, "6:10:4": 58.5, "6:10:6": 55.8,
}  # fmt: skip
"""Games won against plain `simple`, %, as stated in the trials that this repeats."""
BY_6_10_0 = {"10": 64.3, "5": 69.9, "2": 64.1, "0": 56.7, "4:10:0": 53.8, "8:10:0": 48.4, "6:10:5": 62.8}
"""Games won by 6:10:0 against these, %."""
BY_TURN = {
    1: (0.2, 40.1), 3: (1.2, 24.3), 5: (3.1, 15.2), 6: (4.3, 12.1), 8: (6.1, 8.3), 10: (7.8, 6.1), 13: (11.2, 2.7),
}  # fmt: skip
"""By the knocker's own turn (13: and later), gin apart: knocks undercut, %, and net points to the knocker."""
BY_DEADWOOD = {1: (0.3, 18.1), 5: (1.5, 15.4), 7: (3.6, 13.7), 9: (6.5, 11.4), 10: (8.0, 10.8)}
STATED_HALF = 1.2
"""The stated shares of games are ± 0.8 to 1.5 points."""


@dataclass(frozen=True)
class Figure:
    """A figure, measured and stated."""

    what: str
    measured: Interval
    stated: float
    stated_half: float

    @property
    def verdict(self) -> str:
        """Whether the two agree."""
        meets = self.measured.low - self.stated_half <= self.stated <= self.measured.high + self.stated_half
        return "reproduced" if meets else "not reproduced"


def play(row: str, column: str, rules: Rules, seed: int, pairs: int) -> np.ndarray:
    """Return the games of a pairing won by ``row``, by pair: float32, shape (pairs,)."""
    games, _ = play_pairs(native(row), native(column), rules, seed, 0, pairs)
    return np.asarray(((games["winner"] == A) + 0.5 * (games["winner"] == NOBODY)).mean(axis=1), dtype=np.float32)


def play_hands(rules: Rules, seed: int, pairs: int) -> np.ndarray:
    """Return the hands of plain `simple` against itself: HAND, shape (n,)."""
    return play_pairs(native(PLAIN.spec), native(PLAIN.spec), rules, seed, 0, pairs, keep_hands=True)[1]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `gin knock figures`."""
    parser.add_argument("--games", type=int, default=9000, metavar="N", help="games a pairing, even (default 9000)")
    knock_runs.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def run(args: argparse.Namespace) -> int:
    """Play what is missing, and print the table."""
    knock_runs.check_even(args, "games")
    seed, rules = knock_runs.seed_and_rules(args)
    about = {
        "kind": "figures", "rules": rules.as_dict(), "seed": seed, "games": args.games,
        "code": knock_runs.code(["simple"]),
    }  # fmt: skip
    pairs = args.games // 2
    shards = [
        Shard(name, play, (row, column, rules, seed, pairs), args.games)
        for name, row, column in _pairings()
    ]  # fmt: skip
    shards.append(Shard("hands", play_hands, (rules, seed, pairs), args.games))
    if not knock_runs.play(args, about, shards):
        return INTERRUPTED
    found = figures(args.out)
    if args.json:
        print(json.dumps([{"what": f.what, "measured": f.measured, "stated": f.stated, "verdict": f.verdict}
                          for f in found]))  # fmt: skip
        return 0
    for f in found:
        print(f"{f.what:<52}{f.measured.value:>8.1f} ± {f.measured.half:<5.1f}{f.stated:>8.1f}  {f.verdict}")
    return 0


def _pairings() -> list[tuple[str, str, str]]:
    found = [(f"plain-{k.replace(':', '-')}", _rule(k).spec, PLAIN.spec) for k in AGAINST_PLAIN]
    return found + [(f"six-{k.replace(':', '-')}", _rule("6:10:0").spec, _rule(k).spec) for k in BY_6_10_0]


def figures(folder: Path) -> list[Figure]:
    """Return the figures of a finished run."""

    def percent(name: str) -> Interval:
        return Interval(*(100 * x for x in share(read_shard(folder, name).astype(np.float64))))

    found: list[Figure] = []
    for k, stated in AGAINST_PLAIN.items():
        found.append(
            Figure(f"{k} against simple, % of games", percent(f"plain-{k.replace(':', '-')}"), stated, STATED_HALF)
        )
    for k, stated in BY_6_10_0.items():
        found.append(
            Figure(f"6:10:0 against {k}, % of games", percent(f"six-{k.replace(':', '-')}"), stated, STATED_HALF)
        )
    hands = read_shard(folder, "hands")
    assert hands.dtype == HAND
    hands = hands[np.isin(hands["kind"], (Kind.KNOCK, Kind.UNDERCUT))]
    for turn, stated_of in BY_TURN.items():
        chosen = hands[(hands["knock_turn"] >= turn) & ((hands["knock_turn"] == turn) | (turn == 13))]
        found += _knocks(f"knocks on own turn {turn}{'+' if turn == 13 else ''}", chosen, stated_of)
    for loose, stated_of in BY_DEADWOOD.items():
        chosen = hands[(hands["knocker_deadwood"] == loose) & (hands["knock_turn"] > 0)]
        found += _knocks(f"knocks with {loose}", chosen, stated_of)
    return found


def _knocks(what: str, hands: np.ndarray, stated: tuple[float, float]) -> list[Figure]:
    """Return how often these hands, which somebody ended, were undercut, and the knocker's net points."""
    won = hands["winner"] == hands["knocker"]
    net = np.where(won, 1, -1) * hands["points"].astype(np.float64)
    undercut = share((hands["kind"] == Kind.UNDERCUT).astype(np.float64))
    # The stated ones had no interval: half a unit of their last digit, and as wide as ours.
    in_percent = Interval(*(100 * x for x in undercut))
    points: Any = mean(net)
    return [
        Figure(f"{what}: undercut, %", in_percent, stated[0], 0.05 + in_percent.half),
        Figure(f"{what}: net points", points, stated[1], 0.05 + points.half),
    ]
