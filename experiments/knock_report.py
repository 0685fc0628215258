"""`gin knock report`: plots and tables of studies and metagames, in one file that needs no network.

Writes report.html with the plots inside, and each plot as PNG and its numbers as CSV beside it. Intervals are 95 %.
"""

from __future__ import annotations

import argparse
import base64
import csv
import html
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments.knock_analysis import (
    Cell,
    cells,
    checks,
    clustered,
    gain,
    rate_rules,
    splits,
    true_gain,
    turn_of,
)
from experiments.knock_folk import judge, sayings
from experiments.knock_metagame import (
    BONUSES,
    RESAMPLES,
    RULES_IN_GAMES,
    RULES_IN_HANDS,
    Metagame,
    by_limit,
    equilibrium,
    phase,
    read_metagame,
)
from experiments.knock_study import Study, read_study
from experiments.refusal import Refusal, refusing
from experiments.shards import read_about
from experiments.stats import Interval
from experiments.whole_file import write_whole

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#555555"
"""Told apart by the colour-blind (Okabe and Ito)."""
_STYLE = """body{font:16px/1.5 Georgia,serif;max-width:60em;margin:2em auto;padding:0 1em;color:#111}
table{border-collapse:collapse;font-size:14px;margin:1em 0}td,th{border:1px solid #bbb;padding:2px 8px;text-align:left}
img{max-width:100%}figure{margin:1.5em 0}figcaption{font-size:14px;color:#333}code{font-size:13px}"""


@dataclass
class Page:
    """A report as it grows."""

    folder: Path
    parts: list[str] = field(default_factory=list)

    def heading(self, text: str, level: int = 2) -> None:
        """Add a heading."""
        self.parts.append(f"<h{level}>{html.escape(text)}</h{level}>")

    def text(self, text: str) -> None:
        """Add a paragraph."""
        self.parts.append(f"<p>{html.escape(text)}</p>")

    def table(self, name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Add a table, and write it as CSV."""
        listed = [list(row) for row in rows]
        self.csv(name, columns, listed)
        cells = "".join("<tr>" + "".join(f"<td>{html.escape(_shown(x))}</td>" for x in row) + "</tr>" for row in listed)
        head = "".join(f"<th>{html.escape(c)}</th>" for c in columns)
        self.parts.append(f"<table><tr>{head}</tr>{cells}</table><p><a href='{name}.csv'>{name}.csv</a></p>")

    def csv(self, name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Write numbers as CSV."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([[f"{x:.6g}" if isinstance(x, float) else x for x in row] for row in rows])
        write_whole(self.folder / f"{name}.csv", out.getvalue())

    def plot(self, name: str, caption: str, draw: Callable[[Any], None], size: tuple[float, float] = (8, 5)) -> None:
        """Draw a plot, write it as PNG and put it into the page."""
        figure = _figure(size)
        axes = figure.subplots()
        draw(axes)
        out = io.BytesIO()
        figure.savefig(out, format="png", dpi=150, bbox_inches="tight", metadata={"Software": None})
        write_whole(self.folder / f"{name}.png", out.getvalue())
        image = base64.b64encode(out.getvalue()).decode()
        self.parts.append(
            f"<figure><img alt='{html.escape(name, quote=True)}' src='data:image/png;base64,{image}'>"
            f"<figcaption>{html.escape(caption)} (<a href='{name}.png'>PNG</a>, <a href='{name}.csv'>CSV</a>)"
            "</figcaption></figure>"
        )

    def write(self, title: str) -> Path:
        """Write report.html and return where it is."""
        body = "\n".join(self.parts)
        path = self.folder / "report.html"
        write_whole(
            path,
            f"<!doctype html>\n<html lang='en'><meta charset='utf-8'><title>{html.escape(title)}</title>"
            f"<style>{_STYLE}</style>\n<h1>{html.escape(title)}</h1>\n{body}\n</html>\n",
        )
        return path


def _figure(size: tuple[float, float]) -> Any:
    from matplotlib.figure import Figure  # no pyplot: it would ask for a screen

    return Figure(figsize=size)


def _shown(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _half(interval: Interval) -> float:
    return interval.half if np.isfinite(interval.half) else 0.0


# --- Drawings -------------------------------------------------------------------------------------


def heat(axes: Any, found: Sequence[Cell], label: str, factor: float = 1.0) -> None:
    """Draw a heat map over own turn and deadwood; cells that are not decided at 95 % are crossed out."""
    most_turn, most_loose = max(c.turn for c in found), max(c.deadwood for c in found)
    grid = np.full((most_loose + 1, most_turn), np.nan)
    for c in found:
        grid[c.deadwood, c.turn - 1] = factor * c.value.value
    size = np.nanquantile(np.abs(grid), 0.95) if np.isfinite(grid).any() else 1.0
    image = axes.imshow(grid, origin="lower", cmap="PuOr", vmin=-size, vmax=size, aspect="auto")
    for c in found:
        x, y = c.turn - 1, c.deadwood
        dark = abs(grid[y, x]) > 0.65 * size
        axes.text(x, y, f"{grid[y, x]:+.1f}", ha="center", va="center", fontsize=7, color="white" if dark else "black")
        if not c.decided:
            axes.plot([x - 0.45, x + 0.45], [y - 0.45, y + 0.45], color=GREY, linewidth=0.8)
    axes.set_xticks(range(most_turn), [str(t) for t in range(1, most_turn)] + [f"{most_turn}+"])
    axes.set_yticks(range(most_loose + 1))
    axes.set_xlabel("own turn")
    axes.set_ylabel("deadwood after the knock (points)")
    axes.figure.colorbar(image, ax=axes, label=label)


def lines(
    axes: Any, series: Sequence[tuple[str, Sequence[float], Sequence[Interval]]], x: str, y: str, factor: float = 1.0
) -> None:
    """Draw lines with their intervals."""
    for (name, places, values), colour, marker in zip(series, (BLUE, ORANGE, GREEN, GREY), "os^D", strict=False):
        axes.errorbar(
            places, [factor * v.value for v in values], yerr=[factor * _half(v) for v in values],
            label=name, color=colour, marker=marker, markersize=4, capsize=3, linewidth=1.2,
        )  # fmt: skip
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)
    if len(series) > 1:
        axes.legend()


# --- Studies --------------------------------------------------------------------------------------


def add_study(page: Page, study: Study, prefix: str) -> None:
    """Add what a study says."""
    rows, about = study.rows, study.about
    page.heading(f"Study: {study.rules.name}")
    page.text(
        f"{len(rows):,} positions of {study.clusters.max() + 1:,} games between {', '.join(about['agents'])}; "
        f"{about['worlds']} worlds a position, ways to play on {about['ways']}, seed {about['seed']}."
    )
    for measure, factor, unit in (("points", 1.0, "points"), ("win", 100.0, "% of games")):
        found = cells(study, gain(rows, measure))
        name = f"{prefix}-gain-{measure}"
        page.csv(name, ("turn", "deadwood", "positions", "gain", "low", "high", "decided"),
                 [(c.turn, c.deadwood, c.n, *map(float, c.value), int(c.decided)) for c in found])  # fmt: skip
        page.plot(
            name, f"What knocking now gains over the best way to play on, in {unit}; crossed out: not decided at 95 %.",
            partial(heat, found=found, label=f"gain of knocking ({unit})", factor=factor),
            (9, 5),
        )  # fmt: skip
    _undercuts(page, study, prefix)
    _splits(page, study, prefix)
    _rules(page, study, prefix)
    page.heading("Sayings", 3)
    page.table(
        f"{prefix}-sayings",
        ("saying", "verdict", "better, % of games", "±", "better, points", "±", "cost, % of games", "positions"),
        [(v.saying.name, v.verdict, 100 * v.better.value, 100 * v.better.half, v.better_points.value,
          v.better_points.half, 100 * v.cost.value, v.n) for v in (judge(study, s) for s in sayings())],
    )  # fmt: skip
    page.heading("Check against the true hidden cards", 3)
    page.text("The worlds never use the hidden cards; here, and only here, they are set beside them.")
    page.table(
        f"{prefix}-check", ("what", "worlds", "±", "true", "±", "difference", "±"),
        [(c.what, c.said.value, c.said.half, c.true.value, c.true.half, c.difference.value, c.difference.half)
         for c in checks(study)],
    )  # fmt: skip
    found = cells(study, true_gain(rows, "points"))
    page.csv(f"{prefix}-gain-true", ("turn", "deadwood", "positions", "gain", "low", "high", "decided"),
             [(c.turn, c.deadwood, c.n, *map(float, c.value), int(c.decided)) for c in found])  # fmt: skip
    page.plot(
        f"{prefix}-gain-true", "The same gain in points, played out with the hidden cards as they lay.",
        partial(heat, found=found, label="gain of knocking (points)"), (9, 5),
    )  # fmt: skip


def _undercuts(page: Page, study: Study, prefix: str) -> None:
    """Add how often a knock is undercut and how often waiting brings gin, by turn and by deadwood."""
    rows = study.rows
    for what, places, x in (
        ("turn", turn_of(rows), "own turn (the last one: and later)"),
        ("deadwood", rows["deadwood"].astype(np.int64), "deadwood after the knock (points)"),
    ):
        inside = rows["deadwood"] > 0
        at = [int(p) for p in np.unique(places[inside])]
        series = []
        for name, values in (
            ("undercut, knocking now", rows["undercut"]), ("the same, true hidden cards", rows["true_undercut"]),
            ("own gin, playing on", rows["gin"]),
        ):  # fmt: skip
            chosen = [np.flatnonzero(inside & (places == p)) for p in at]
            series.append((name, at, [clustered(values[c].astype(np.float64), study.clusters[c]) for c in chosen]))
        name = f"{prefix}-rates-by-{what}"
        told = [(p, label, *map(float, v)) for label, _, vs in series for p, v in zip(at, vs, strict=True)]
        page.csv(name, (what, "series", "rate", "low", "high"), told)
        page.plot(
            name, f"Undercuts and gins by {what}, positions with deadwood.",
            partial(lines, series=series, x=x, y="share of positions (%)", factor=100),
        )  # fmt: skip


def _splits(page: Page, study: Study, prefix: str) -> None:
    """Add the gain by opponent, score and limit, and the best n:e:l of each."""
    page.heading("By opponent and score", 3)
    rows, found = study.rows, []
    for name, where in splits(study).items():
        chosen = np.flatnonzero(where & (rows["deadwood"] > 0))
        early = chosen[rows["turn"][chosen] <= 4]
        late = chosen[rows["turn"][chosen] >= 8]
        values = [clustered(gain(rows[c], "points"), study.clusters[c]) for c in (early, late)]
        try:
            best = next(r.rule for r in rate_rules(study, where, tree=False) if r.kind == "n:e:l")
        except Refusal:
            best = "too few"
        found.append((name, len(chosen), *(x for v in values for x in (v.value, v.half)), best))
        split_cells = cells(study, gain(rows, "points"), where)
        split = f"{prefix}-split-{len(found):02d}"
        page.csv(split, ("turn", "deadwood", "positions", "gain", "low", "high", "decided"),
                 [(c.turn, c.deadwood, c.n, *map(float, c.value), int(c.decided)) for c in split_cells])  # fmt: skip
    page.table(
        f"{prefix}-splits",
        ("positions", "n", "gain on turns 1-4, points", "±", "gain from turn 8 on, points", "±", "best n:e:l"),
        found,
    )


def _rules(page: Page, study: Study, prefix: str) -> None:
    """Add the best rule of each simplicity."""
    page.heading("The best rule of each simplicity", 3)
    try:
        rated = rate_rules(study)
    except Refusal as refusal:
        page.text(str(refusal))
        return
    name = f"{prefix}-rules"
    page.table(
        name, ("kind", "rule", "cost a decision, % of games", "±", "cost a game, %", "cost a decision, points", "±"),
        [(r.kind, r.rule, 100 * r.cost.value, 100 * _half(r.cost), 100 * r.cost_a_game, r.cost_points.value,
          _half(r.cost_points)) for r in rated],
    )  # fmt: skip

    def draw(axes: Any) -> None:
        y = np.arange(len(rated))
        axes.barh(
            y, [100 * r.cost.value for r in rated], xerr=[100 * _half(r.cost) for r in rated], color=BLUE, capsize=3
        )
        axes.set_yticks(y, [r.kind for r in rated])
        axes.set_xlabel("cost of a decision against the best known (% of games)")

    page.plot(name, "What each rule costs a decision; made on the even games, rated on the odd ones.", draw, (8, 4))


# --- Metagames ------------------------------------------------------------------------------------


def add_metagame(page: Page, metagame: Metagame, prefix: str, resamples: int) -> None:
    """Add what a metagame says."""
    about = metagame.about
    page.heading(f"Metagame: {metagame.rules.name}")
    page.text(
        f"{len(RULES_IN_GAMES)} knock rules, {about['games']:,} games a pairing; a family of {len(RULES_IN_HANDS)}, "
        f"{about['hands']:,} hands a pairing; mirrored deals, seed {about['seed']}."
    )
    found = equilibrium(metagame.games_matrix, resamples=resamples)
    order = [int(i) for i in np.argsort(-found.against)]
    page.csv(f"{prefix}-matrix", ("row", *(r.label for r in RULES_IN_GAMES)),
             [(r.label, *(100 * (m + 0.5) for m in map(float, line)))
              for r, line in zip(RULES_IN_GAMES, metagame.games_matrix(), strict=True)])  # fmt: skip
    name = f"{prefix}-equilibrium"
    page.table(
        name, ("rule", "share of the mixture, %", "from", "to", "in resamples, %", "games won against it, %"),
        [(RULES_IN_GAMES[i].label, 100 * float(found.weights[i]), 100 * float(found.low[i]), 100 * float(found.high[i]),
          100 * float(found.in_support[i]), 50 + 100 * float(found.against[i])) for i in order],
    )  # fmt: skip

    def draw(axes: Any) -> None:
        shown = [i for i in order if found.high[i] > 0.005]
        y = np.arange(len(shown))
        weights = found.weights[shown]
        bars = np.clip([weights - found.low[shown], found.high[shown] - weights], 0, None)
        axes.barh(y, 100 * weights, xerr=100 * bars, color=BLUE, capsize=3)
        axes.set_yticks(y, [RULES_IN_GAMES[i].label for i in shown])
        axes.set_xlabel("share of the mixture that no rule beats (%)")

    page.plot(name, "The equilibrium in games; bars: 95 % of resampled decks.", draw, (8, 5))
    _phase(page, metagame, prefix)
    if metagame.rules.oklahoma:
        page.heading("By knock limit", 3)
        found_by = by_limit(metagame, resamples)
        page.table(
            f"{prefix}-by-limit", ("knock limit", "rule", "share, %", "from", "to"),
            [(limit, rule.label, 100 * float(e.weights[i]), 100 * float(e.low[i]), 100 * float(e.high[i]))
             for limit, e in found_by.items() for i, rule in enumerate(RULES_IN_HANDS) if e.high[i] > 0.01],
        )  # fmt: skip


def _phase(page: Page, metagame: Metagame, prefix: str) -> None:
    """Add when patience pays, by the bonuses."""
    page.heading("When patience pays", 3)
    found = phase(metagame)
    name = f"{prefix}-phase"
    page.csv(name, tuple(found[0]), [tuple(row.values()) for row in found])
    even = [(u, metagame.break_even(u)) for u in BONUSES]

    def draw(axes: Any) -> None:
        grid = np.array([row["until"] for row in found]).reshape(len(BONUSES), len(BONUSES))
        image = axes.imshow(grid, origin="lower", cmap="cividis_r", vmin=1, vmax=20, aspect="auto",
                            extent=(-2.5, 52.5, -2.5, 52.5))  # fmt: skip
        axes.figure.colorbar(image, ax=axes, label="knock at anything before own turn (20: always)")
        places = np.array([v.value for _, v in even])
        axes.errorbar(places, [u for u, _ in even], xerr=[_half(v) for _, v in even], color=ORANGE, marker="o",
                      markersize=4, linewidth=1, label="always and gin only level")  # fmt: skip
        axes.set_xlim(-2.5, 52.5)
        axes.set_xlabel("gin bonus (points)")
        axes.set_ylabel("undercut bonus (points)")
        axes.legend()

    page.plot(
        name, "The equilibrium of the family in points a hand: the mean own turn before which it knocks at anything.",
        draw, (8, 5.5),
    )  # fmt: skip
    page.table(
        f"{prefix}-break-even",
        ("undercut bonus", "gin bonus where always and gin only are level", "from", "to"),
        [(u, *map(float, v)) for u, v in even],
    )


def report(folders: Sequence[Path], out: Path, *, resamples: int = RESAMPLES) -> Path:
    """Write a report of run folders and return where it is.

    Raises:
        Refusal: for a folder that is none, or without matplotlib.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise Refusal("the report needs the package matplotlib: pip install 'ginenv[report]'") from None
    with refusing(OSError, about=f"{out} cannot be written"):
        out.mkdir(parents=True, exist_ok=True)
    page = Page(out)
    for folder in folders:
        prefix = "".join(c if c.isalnum() or c in "-_" else "-" for c in folder.name) or "run"
        kind = read_about(folder).get("kind")
        if kind == "study":
            add_study(page, read_study(folder), prefix)
        elif kind == "metagame":
            add_metagame(page, read_metagame(folder), prefix, resamples)
        else:
            raise Refusal(f"{folder} holds neither a study nor a metagame")
    with refusing(OSError, about=f"{out} cannot be written"):
        return page.write("When to knock")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `gin knock report`."""
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR", help="run folders of study and metagame")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where to write (default: the first run folder)")


def run(args: argparse.Namespace) -> int:
    """Write the report."""
    names = [folder.resolve().name for folder in args.folders]
    if len(set(names)) < len(names):
        raise Refusal("two of the folders have the same name, and files are named after it: rename one")
    print(report([folder.resolve() for folder in args.folders], args.out or args.folders[0]))
    return 0
