"""`gin calibration`: how well the estimates of the opponent's hand hold in play between two agents.

At each discard of A, the chance that B holds each unseen card is estimated (`agents.worlds.opponent_hand`) and set
against the truth. Calibrated estimates come true as often as they say; the loss is in nats a card, less is better,
beside that of uniform worlds.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from agents.playout import decision_key
from agents.registry import make
from agents.worlds import DEADWOOD, GONE, opponent_hand
from experiments.match import side_key
from experiments.refusal import Refusal, refusing
from ginenv.cards import BIT, N_CARDS
from ginenv.deal import new_game
from ginenv.rng import apart
from ginenv.rules import Rules, refuse_more_actions, rules_for_two
from ginenv.state import DISCARD_PHASE, OVER_PHASE, new_states
from ginenv.step import step
from ginenv.view import VIEW, look

EDGES = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0])
"""Of the classes of estimates."""
_LEAST = 0.005
"""Estimates are kept this far from 0 and 1: so few worlds cannot tell more."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `gin calibration`."""
    parser.add_argument("a", metavar="A", help="the agent that looks")
    parser.add_argument("b", metavar="B", help="its opponent, whose hand is estimated")
    parser.add_argument("--hands", type=int, default=400, help="hands to play (default 400)")
    parser.add_argument("--worlds", type=int, default=400, help="worlds an estimate (default 400)")
    parser.add_argument("--deadwood", type=float, default=DEADWOOD, help=f"of the model (default {DEADWOOD})")
    parser.add_argument("--gone", type=float, default=GONE, help=f"of the model (default {GONE})")
    parser.add_argument("--rules", default="eaai", help="a preset, or preset,key=value,… (default eaai)")
    parser.add_argument("--seed", type=int, default=1, help="seed (default 1)")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    parser.add_argument("--plot", metavar="FILE", help="also draw it: a PNG or SVG file")


def run(args: argparse.Namespace) -> int:
    """Play, estimate and print."""
    for name in ("hands", "worlds"):
        if not 1 <= getattr(args, name) <= 1_000_000:
            raise Refusal(f"--{name} {getattr(args, name)}: a number from 1 to 1,000,000 is due")
    if not 0 <= args.seed < 1 << 62:
        raise Refusal(f"--seed {args.seed}: a seed from 0 to 2**62 - 1 is due")
    for name in ("deadwood", "gone"):
        if not 0 <= getattr(args, name) <= 100:
            raise Refusal(f"--{name} {getattr(args, name)}: a weight from 0 to 100 is due")
    with refusing():
        rules = rules_for_two(args.rules)
        refuse_more_actions(rules, "a match of agents")
        agents = [make(args.a), make(args.b)]
    model = {"deadwood": args.deadwood, "gone": args.gone}
    estimates, chances, truth = observe(agents, rules, args.hands, args.worlds, args.seed, model)
    if not len(truth):
        raise Refusal("no discard was due in so few hands: play more")
    found = {
        "a": agents[0].spec, "b": agents[1].spec, "rules": rules.as_dict(), "seed": args.seed, "hands": args.hands,
        "worlds": args.worlds, **model, "cards": len(truth), "loss": loss(estimates, truth),
        "loss_uniform": loss(chances, truth), "classes": classes(estimates, truth),
    }  # fmt: skip
    if args.plot:
        draw(found, Path(args.plot))
    if args.json:
        print(json.dumps(found))
        return 0
    print(f"{agents[0].spec} looking at {agents[1].spec}, rules {rules.name}, seed {args.seed}, {len(truth):,} cards")
    print(f"loss {found['loss']:.4f} nats a card, uniform {found['loss_uniform']:.4f}")
    print(f"{'estimate':>14}{'mean':>8}{'came true':>11}{'cards':>10}")
    for row in found["classes"]:
        print(
            f"{100 * row['from']:>6.0f} – {100 * row['to']:>3.0f} %{100 * row['estimate']:>6.1f} %"
            f"{100 * row['true']:>9.1f} %{row['cards']:>10,}"
        )
    return 0


def draw(found: dict[str, Any], path: Path) -> None:
    """Draw how often estimates came true against what they said; the nearer to the diagonal, the better.

    Raises:
        Refusal: when the file cannot be written, or matplotlib is not there.
    """
    if path.suffix.lower() not in (".png", ".svg"):
        raise Refusal(f"--plot {path}: give a file that ends in .png or .svg")
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise Refusal("--plot needs matplotlib: pip install 'ginenv[report]'") from error
    figure = Figure(figsize=(5, 5), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 100], [0, 100], color="0.6", linewidth=1, label="as often as they say")
    said = [100 * row["estimate"] for row in found["classes"]]
    true = [100 * row["true"] for row in found["classes"]]
    axes.plot(said, true, "o-", color="#0072b2", label="estimates, by class")
    for x, y, row in zip(said, true, found["classes"], strict=True):
        axes.annotate(f"{row['cards']:,}", (x, y), textcoords="offset points", xytext=(6, -10), fontsize=7)
    axes.set(xlim=(0, 100), ylim=(0, 100), xlabel="estimated chance that the opponent holds a card, %",
             ylabel="came true, %", aspect="equal")  # fmt: skip
    axes.set_title(
        f"{found['a'].partition(':')[0]} looking at {found['b'].partition(':')[0]}: {found['cards']:,} cards",
        fontsize=9,
    )
    axes.legend(loc="upper left", fontsize=8)
    beside = path.with_name(f"{path.name}.new{path.suffix}")
    try:
        figure.savefig(beside, dpi=150)
        beside.replace(path)
    except OSError as error:
        raise Refusal(f"--plot {path} cannot be written: {error.strerror}") from error


def observe(
    agents: list[Any], rules: Rules, hands: int, worlds: int, seed: int, model: dict[str, float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return an estimate, the chance in uniform worlds and the truth (0 or 1) for each card at each discard of A."""
    s, v = new_states(1)[0], np.zeros(1, dtype=VIEW)
    root = apart(seed)
    rows: list[np.ndarray] = []
    for hand in range(hands):
        new_game(s, rules.record, seed * 1_000_003 + hand)
        keys = [side_key(root, hand, side) for side in (0, 1)]
        while s["phase"] != OVER_PHASE:
            seat = int(s["seat"])
            look(s, rules.record, seat, v[0])
            key = decision_key(s, keys[seat])
            if seat == 0 and s["phase"] == DISCARD_PHASE and v[0]["unseen"]:
                limit = int(v[0]["knock_limit"]) if v[0]["turn"] < 8 else 0
                above = limit if v[0]["turn"] > v[0]["own_turn"] else -1
                held = opponent_hand(v[0], rules, worlds=worlds, key=int(key), above=above, **model)
                unseen = [c for c in range(N_CARDS) if int(v[0]["unseen"]) & int(BIT[c])]
                hidden = int(s["hand"][1]) & ~int(s["known"][1])
                true = np.array([bool(hidden & int(BIT[c])) for c in unseen], dtype=np.float64)
                rows.append(np.stack([held[unseen], np.full(len(unseen), true.mean()), true]))
            step(s, rules.record, int(agents[seat].act(v, rules, np.array([key]))[0]))
    if not rows:
        return np.zeros(0), np.zeros(0), np.zeros(0)
    estimates, chances, truth = np.concatenate(rows, axis=1)
    return estimates, chances, truth


def loss(estimates: np.ndarray, truth: np.ndarray) -> float:
    """Return the log loss of ``estimates``, in nats a card."""
    p = estimates.clip(_LEAST, 1 - _LEAST)
    return float(-(truth * np.log(p) + (1 - truth) * np.log(1 - p)).mean())


def classes(estimates: np.ndarray, truth: np.ndarray) -> list[dict[str, float]]:
    """Return, for each class of estimates that occurs, their mean and how often they came true."""
    place = np.minimum(np.searchsorted(EDGES, estimates, side="right") - 1, len(EDGES) - 2)
    return [
        {
            "from": float(EDGES[i]), "to": float(EDGES[i + 1]), "estimate": float(estimates[place == i].mean()),
            "true": float(truth[place == i].mean()), "cards": int((place == i).sum()),
        }
        for i in range(len(EDGES) - 1)
        if (place == i).any()
    ]  # fmt: skip
