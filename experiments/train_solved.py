"""`python -m experiments.train_solved --out DIR`: does self-play find the solution of a game that is solved?

The loops of `gin train ppo` and `gin train dmc` learn the small deck of `gin solve`; at each checkpoint the
exploitability is computed exactly: of the likeliest or best action, and of the policy's own chances, where it has some.
DIR gets a folder for each run, `exploitability.json` and, where matplotlib is installed, `exploitability.svg`, with the
curve of CFR+ beside them. The same command goes on where it stopped.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents import ppo
from experiments import train_dmc, train_ppo
from experiments.exact_reach import any_legal, chances_of
from experiments.solve import MINI, Game, exploitability, solve
from experiments.training import Settings, keep_memory, read
from experiments.whole_file import write_whole
from ginenv.rules import parse_rules

_SMALL: dict[str, Any] = {"decisions": 1_000_000, "rules": MINI, "width": 32, "mixing": 1, "steps": 16, "unit": 10.0,
                          "batch": 256, "eval_pairs": 10, "eval_every": 100_000}  # fmt: skip
SETTINGS = {"ppo": train_ppo.Settings(**_SMALL, critic_width=32), "dmc": train_dmc.Settings(**_SMALL)}
"""By learner: those of `gin train` but for the size of network and batches, the unit of points, and measuring more
often."""
LABELS = {"ppo": "self-play PPO", "dmc": "deep Monte Carlo", "cfr+": "CFR+"}


def main(argv: Sequence[str] | None = None) -> int:
    """Train, measure and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, metavar="DIR", help="where to write, and to go on from")
    parser.add_argument("--decisions", type=int, default=1_000_000, help="for each to learn from (default 1,000,000)")
    parser.add_argument("--seed", type=int, default=1, help="seed (default 1)")
    parser.add_argument("--iterations", type=int, default=128, help="of CFR+, for the plot (default 128; 0: none)")
    args = parser.parse_args(argv)
    torch.set_num_threads(1)
    keep_memory()
    out = Path(args.out)
    game = Game(parse_rules(SETTINGS["ppo"].rules))
    found: dict[str, Any] = {"random": exploitability(game, any_legal, True), "settings": {}}
    for learner, common in SETTINGS.items():
        settings = dataclasses.replace(common, decisions=args.decisions, seed=args.seed)
        found["settings"][learner] = dataclasses.asdict(settings)
        found[learner] = curve(learner, game, settings, out / learner)
    found["cfr+"] = []
    began = time.monotonic()
    for step in solve(game, args.iterations):
        found["cfr+"].append({"iteration": step.iteration, "seconds": round(time.monotonic() - began, 1),
                              "exploitability": step.exploitability})  # fmt: skip
    write_whole(out / "exploitability.json", json.dumps(found, indent=1) + "\n")
    try:
        draw(found, out / "exploitability.svg")
    except ModuleNotFoundError:
        print("no plot: pip install 'ginenv[report]'", file=sys.stderr)
    return 0


def curve(learner: str, game: Game, settings: Settings, out: Path) -> list[dict[str, float]]:
    """Train, and return the policy's exploitability at each checkpoint (kept in ``out`` for the next time)."""
    kept, checkpoint = out / "curve.jsonl", out / "checkpoint.safetensors"
    rows = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    seen = rows[-1]["decisions"] if rows else 0

    def measure() -> bool:
        """Measure a new checkpoint; in the place of the question whether to stop."""
        nonlocal seen
        if not checkpoint.exists():
            return False
        found, metadata = read(checkpoint)
        progress = json.loads(metadata["progress"])
        if progress["decisions"] <= seen:
            return False
        seen = progress["decisions"]
        whose = {"ppo": "policy.", "dmc": "network."}[learner]
        tensors = {name.removeprefix(whose): t.numpy() for name, t in found.items() if name.startswith(whose)}
        row = {"decisions": seen, "seconds": progress["seconds"]}
        # What dmc's network tells are values of actions, and no chances to take them.
        for name, temperature in {"ppo": {"chances": 1.0, "greedy": 0.0}, "dmc": {"greedy": 0.0}}[learner].items():
            agent = ppo.native("ppo", tensors, temperature)
            row[name] = exploitability(game, chances_of(agent, game.deck.rules), True)
        rows.append(row)
        with kept.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(row) + "\n")
        told = ", ".join(f"{name} {row[name]:.4f}" for name in ("chances", "greedy") if name in row)
        print(f"{learner} {seen:>10,} decisions  exploitability, points a hand: {told}", flush=True)
        return False

    trains: dict[str, Callable[..., int]] = {"ppo": train_ppo.train, "dmc": train_dmc.train}
    trains[learner](settings, out, measure)
    measure()
    return rows


def draw(found: dict[str, Any], path: Path) -> None:
    """Draw all curves over the time that each took."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4))
    for name, label in LABELS.items():
        if found[name]:
            which = next(key for key in ("exploitability", "chances", "greedy") if key in found[name][0])
            points = np.array([(row["seconds"], row[which]) for row in found[name]])
            axes.plot(points[:, 0], points[:, 1], marker="o", markersize=3, label=label)
    axes.axhline(found["random"], color="grey", linestyle=":", label="uniform")
    axes.axhline(0.05 * found["random"], color="grey", linestyle="--", label="5 % of uniform")
    axes.set_yscale("log")
    axes.set_xlabel("seconds")
    axes.set_ylabel("exploitability, points a hand")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)


if __name__ == "__main__":
    sys.exit(main())
