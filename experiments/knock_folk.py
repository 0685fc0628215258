"""`gin knock folk`: what people say about when to knock, put to the test in a study.

Each saying is a line of experiments/folk_rules.txt: when it applies, and what to do then. It holds when doing so is
better on average, it is refuted when it is worse, both at 95 %. Its cost is what following it, whenever it applies,
loses against the better choice of each cell over turn and deadwood.
"""

from __future__ import annotations

import argparse
import ast
import json
import operator
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.knock_analysis import LEAST, clustered, gain, took, turn_of
from experiments.knock_study import Study, read_study
from experiments.refusal import Refusal, refusing
from experiments.stats import Interval

SAYINGS = Path(__file__).parent / "folk_rules.txt"
_COMPARE: dict[type[ast.cmpop], Callable[..., np.ndarray]] = {
    ast.LtE: operator.le, ast.Lt: operator.lt, ast.GtE: operator.ge, ast.Gt: operator.gt, ast.Eq: operator.eq,
}  # fmt: skip


@dataclass(frozen=True)
class Saying:
    """A folk rule."""

    name: str
    when: str
    knock: bool


@dataclass(frozen=True)
class Verdict:
    """What became of a saying."""

    saying: Saying
    n: int
    verdict: str
    better: Interval
    """By how much following it is better than the other choice: chance to win the game."""
    better_points: Interval
    cost: Interval
    """What following it loses against the better choice of each cell: chance to win, a position where it applies."""


def sayings(text: str | None = None) -> list[Saying]:
    """Return the folk rules of ``text``, by default of the file that comes along.

    Raises:
        ValueError: for a line that is none; the sentence names it.
    """
    found = []
    for line in (SAYINGS.read_text(encoding="utf-8") if text is None else text).splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split("|")]
        if len(parts) != 3 or parts[2] not in ("knock", "play on"):
            raise ValueError(f"{line!r} is no saying: write name | when | knock, or name | when | play on")
        found.append(Saying(parts[0], parts[1], parts[2] == "knock"))
    return found


def holds_in(when: str, rows: np.ndarray) -> np.ndarray:
    """Return the rows in which a condition holds: bool, shape (n,).

    Args:
        when: Comparisons of columns and numbers, joined by ``and`` and ``or``.
        rows: DECISION, shape (n,).

    Raises:
        ValueError: for anything else.
    """
    columns = {name: rows[name].astype(np.int64) for name in ("turn", "deadwood", "stock", "own_score", "other_score")}
    columns |= {"took": took(rows), "lead": columns["own_score"] - columns["other_score"]}

    def value(node: ast.AST) -> np.ndarray:
        if isinstance(node, ast.BoolOp):
            parts = np.stack([value(part) for part in node.values])
            return np.asarray(parts.all(axis=0) if isinstance(node.op, ast.And) else parts.any(axis=0))
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARE:
            return np.asarray(_COMPARE[type(node.ops[0])](value(node.left), value(node.comparators[0])))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return np.full(len(rows), node.value)
        if isinstance(node, ast.Name) and node.id in columns:
            return columns[node.id]
        raise ValueError(f"{when!r}: compare {', '.join(columns)} with numbers, joined by and, or")

    try:
        tree = ast.parse(when, mode="eval").body
    except SyntaxError:
        raise ValueError(f"{when!r} is no condition: write such as turn <= 4 and deadwood >= 6") from None
    return value(tree)


def judge(study: Study, saying: Saying, where: np.ndarray | None = None) -> Verdict:
    """Return what becomes of a saying in a study, or in the rows ``where``."""
    rows = study.rows
    applies = holds_in(saying.when, rows)
    if where is not None:
        applies &= where
    chosen = np.flatnonzero(applies)
    sign = 1.0 if saying.knock else -1.0
    win, points = gain(rows, "win"), gain(rows, "points")
    better = clustered(sign * win[chosen], study.clusters[chosen])
    # The better choice of a cell is found in the other half of the games.
    place = turn_of(rows) * 128 + rows["deadwood"]
    odd = rows["game"] % 2
    lost = np.zeros(len(rows))
    for half in (0, 1):
        total = np.bincount(place[odd != half], win[odd != half], minlength=int(place.max()) + 1)
        best = total[place] > 0
        mine = odd == half
        lost[mine] = np.where(best == saying.knock, 0.0, -sign * win)[mine]
    cost = clustered(lost[chosen], study.clusters[chosen])
    if len(chosen) < LEAST or np.isnan(better.low):
        verdict = "too few"
    else:
        verdict = "holds" if better.low > 0 else "refuted" if better.high < 0 else "undecided"
    return Verdict(saying, len(chosen), verdict, better, clustered(sign * points[chosen], study.clusters[chosen]), cost)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `gin knock folk`."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="run folder of gin knock study")
    parser.add_argument("--sayings", type=Path, metavar="FILE", help="your own, a line each (default: those that come)")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def run(args: argparse.Namespace) -> int:
    """Print the verdicts."""
    study = read_study(args.folder)
    with refusing(OSError):
        text = args.sayings.read_text(encoding="utf-8") if args.sayings else None
    with refusing():
        found = [judge(study, saying) for saying in sayings(text)]
    if not found:
        raise Refusal(f"{args.sayings} has no sayings")
    if args.json:
        print(json.dumps([
            {"saying": v.saying.name, "when": v.saying.when, "knock": v.saying.knock, "positions": v.n,
             "verdict": v.verdict, "better_win": v.better, "better_points": v.better_points, "cost_win": v.cost}
            for v in found
        ]))  # fmt: skip
        return 0
    print(
        f"{study.rules.name}, {len(study.rows):,} positions; better: following it, in chance to win the game and points"
    )
    print(f"{'saying':<58}{'verdict':<11}{'better, %':>15}{'points':>16}{'cost, %':>9}{'positions':>11}")
    for v in found:
        print(
            f"{v.saying.name:<58}{v.verdict:<11}{100 * v.better.value:>+8.2f} ± {100 * v.better.half:<5.2f}"
            f"{v.better_points.value:>+8.2f} ± {v.better_points.half:<5.2f}{100 * v.cost.value:>8.2f}{v.n:>11,}"
        )
    return 0
