"""`python -m experiments.train_solved --out DIR`: does self-play find the solution of a game that is solved?

`gin train ppo`'s own loop learns the small deck of `gin solve`; at each checkpoint the exploitability of the policy,
with its own chances, is computed exactly. DIR gets the run, `exploitability.json` and, where matplotlib is installed,
`exploitability.svg`, with the curve of CFR+ beside it. The same command goes on where it stopped.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents import ppo
from experiments.exact_reach import any_legal, chances_of
from experiments.solve import MINI, Game, exploitability, solve
from experiments.train_ppo import Settings, train
from experiments.training import keep_memory, read
from experiments.whole_file import write_whole
from ginenv.rules import parse_rules

SETTINGS = Settings(
    decisions=1_000_000, rules=MINI, width=32, mixing=1, critic_width=32, steps=16, unit=10.0, eval_pairs=10,
    eval_every=100_000,
)  # fmt: skip
"""Those of `gin train ppo` but for the size of network and batches, the unit of points, and measuring more often."""


def main(argv: Sequence[str] | None = None) -> int:
    """Train, measure and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, metavar="DIR", help="where to write, and to go on from")
    parser.add_argument("--decisions", type=int, default=SETTINGS.decisions, help="to learn from (default 1,000,000)")
    parser.add_argument("--seed", type=int, default=SETTINGS.seed, help="seed (default 1)")
    parser.add_argument("--iterations", type=int, default=128, help="of CFR+, for the plot (default 128; 0: none)")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="another value of `Settings`")
    args = parser.parse_args(argv)
    changed = {name: json.loads(text) for name, _, text in (part.partition("=") for part in args.set)}
    changed = {name: tuple(value) if isinstance(value, list) else value for name, value in changed.items()}
    settings = dataclasses.replace(SETTINGS, decisions=args.decisions, seed=args.seed, **changed)
    torch.set_num_threads(1)
    keep_memory()
    out = Path(args.out)
    game = Game(parse_rules(settings.rules))
    found: dict[str, Any] = {"settings": dataclasses.asdict(settings), "random": exploitability(game, any_legal, True)}
    found["ppo"] = curve_of_ppo(game, settings, out)
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


def curve_of_ppo(game: Game, settings: Settings, out: Path) -> list[dict[str, float]]:
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
        tensors = {name[7:]: tensor.numpy() for name, tensor in found.items() if name.startswith("policy.")}
        row = {"decisions": seen, "seconds": progress["seconds"]}
        for name, temperature in (("exploitability", 1.0), ("greedy", 0.0)):
            agent = ppo.native("ppo", tensors, temperature)
            row[name] = exploitability(game, chances_of(agent, game.deck.rules), True)
        rows.append(row)
        with kept.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(row) + "\n")
        print(
            f"{seen:>10,} decisions  {row['exploitability']:.4f} points a hand (greedy {row['greedy']:.4f})", flush=True
        )
        return False

    train(settings, out, measure)
    measure()
    return rows


def draw(found: dict[str, Any], path: Path) -> None:
    """Draw both curves over the time that each took."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4))
    for name, label in (("ppo", "self-play PPO"), ("cfr+", "CFR+")):
        if found[name]:
            points = np.array([(row["seconds"], row["exploitability"]) for row in found[name]])
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
