"""`python -m experiments.train_curve RUN … --out FILE.svg`: draw how strong policies became as they learned.

A RUN is a folder of `gin train`. Each gives a line for each of its panel: the share of games won in the measurements
of its log, with a band of 95 %. Runs of equal settings but for the seed are drawn in one colour.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.refusal import Refusal
from experiments.stats import share


def read_run(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the settings of a run, and the rows of its log that have a measurement.

    Raises:
        Refusal: when the folder is none of `gin train`, or nothing has been measured yet.
    """
    path = folder / "log.jsonl"
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        settings: dict[str, Any] = rows[0]["settings"]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise Refusal(f"{path} is no log of gin train: give the folder that its --out named") from error
    try:
        settings["eval_pairs"] + settings["eval_every"]
        measured = [
            row for row in rows if row.get("decisions", 0) >= 0 and any(name.startswith("wins_") for name in row)
        ]
    except (LookupError, TypeError, AttributeError) as error:
        raise Refusal(f"{path} is no whole log of gin train: {error}") from error
    if not measured:
        raise Refusal(f"{folder}: nothing was measured yet, the first time is after {settings['eval_every']} decisions")
    return settings, measured


def draw(runs: Sequence[Path], path: Path) -> None:
    """Draw the runs' curves into ``path``: SVG, PDF or PNG, by its ending."""
    if path.suffix not in (".svg", ".pdf", ".png"):
        raise Refusal(f"--out {path}: give a file that ends in .svg, .pdf or .png")
    try:
        from matplotlib import rcParams
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise Refusal("the plot needs matplotlib: pip install 'ginenv[report]'") from error
    rcParams["svg.hashsalt"] = "ginenv"  # the same file for the same runs
    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    styles = {"simple": "-", "patient": "--"}
    colours: dict[str, str] = {}
    for folder in runs:
        settings, rows = read_run(folder)
        kind = json.dumps({name: value for name, value in settings.items() if name != "seed"})
        colour = colours.setdefault(kind, f"C{len(colours)}")
        decisions = np.array([row["decisions"] for row in rows]) / 1e6
        half = share(np.repeat([0.0, 1.0], settings["eval_pairs"])).high - 0.5
        for name in sorted({key for row in rows for key in row if key.startswith("wins_")}):
            won = np.array([row.get(name, np.nan) for row in rows])
            label = f"{folder.name}: {name.removeprefix('wins_')}"
            axes.plot(decisions, 100 * won, styles.get(name[5:], ":"), color=colour, label=label, marker=".")
            axes.fill_between(decisions, 100 * (won - half), 100 * (won + half), color=colour, alpha=0.1, linewidth=0)
    axes.set_xlabel("decisions learned from, millions")
    axes.set_ylabel("games won, % (band: 95 %)")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    beside = path.with_name(f"{path.name}.new")
    try:
        figure.savefig(beside, format=path.suffix[1:], metadata={"Date": None} if path.suffix == ".svg" else None)
        beside.replace(path)
    except OSError as error:
        raise Refusal(f"{path} cannot be written: {error.strerror}") from error
    finally:
        beside.unlink(missing_ok=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Draw, and say where."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", metavar="RUN", type=Path, help="folder of a run")
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="svg, pdf or png")
    args = parser.parse_args(argv)
    try:
        draw(args.runs, args.out)
    except Refusal as refusal:
        sys.exit(f"gin: {refusal}")
    print(args.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
