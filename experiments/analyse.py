"""`gin analyse`: what each legal action of a hand is worth, played out in worlds sampled from what is known.

With eleven cards a discard or a knock is due, with ten a draw. Say what lies in the discard pile and who threw it, and
what the opponent took: the worlds are sampled by that. Each action meets the same worlds, played on by the policies
that `mc` plays out with, against an opponent who waits for gin in half of them and knocks at once in the others.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from agents import mc
from agents.protocol import NativeAgent
from agents.registry import make
from experiments import asked_position
from experiments.refusal import refusing
from experiments.stats import Z
from ginenv.actions import action_text
from ginenv.cards import card_list
from ginenv.rules import Rules
from ginenv.state import DISCARD, KNOCK, Kind


@dataclass(frozen=True)
class Estimate:
    """What an action is worth, in the hand at hand; shares are of 1."""

    action: str
    points: float
    """The viewer's points less the opponent's, on average."""
    ci95: tuple[float, float]
    behind: float
    """How far behind the best action, in points, from world by world."""
    behind_ci95: tuple[float, float]
    wins: float
    gin: float
    """Won by gin or big gin."""
    undercut: float
    """Lost by an undercut."""


def analyse(view: Any, rules: Rules, *, worlds: int = 2000, key: int = 0, agent: str = "mc") -> list[Estimate]:
    """Estimate each legal action of a VIEW, best first.

    Args:
        view: A VIEW record of the seat to act, two players.
        rules: What is played.
        worlds: How many worlds to sample.
        key: Names the sample.
        agent: An `mc` spec: its options say what the opponent is like.

    Raises:
        ValueError: when the viewer is not to act, or ``agent`` is no `mc`.
    """
    player = make(agent)
    if not isinstance(player, NativeAgent) or player.policy is not mc.choose:
        raise ValueError(f"{agent} is not mc: give mc, with options if you like")
    actions = np.array(legal_actions(view), dtype=np.int64)
    if view["mover"] != 0 or not len(actions):
        raise ValueError("the viewer is not to act, so there is nothing to analyse")
    values = np.empty((len(actions), worlds))
    kinds = np.empty((len(actions), worlds), dtype=np.int8)
    mc.rate_actions(view, rules.record, player.params, key, actions, values, kinds)
    best = int(values.mean(axis=1).argmax())
    return sorted(
        (_estimate(int(a), values[i], values[best] - values[i], kinds[i]) for i, a in enumerate(actions)),
        key=lambda e: -e.points,
    )


def legal_actions(view: Any) -> list[int]:
    """Return the legal actions of a VIEW's viewer, ascending."""
    found = [a for a in range(4) if (int(view["choices"]) >> a) & 1]
    for first, cards in ((DISCARD, view["discards"]), (KNOCK, view["knocks"])):
        found += [first + c for c in card_list(int(cards))]
    return found


def _estimate(action: int, points: np.ndarray, behind: np.ndarray, kinds: np.ndarray) -> Estimate:
    def interval(x: np.ndarray) -> tuple[float, float]:
        half = Z * float(x.std()) / len(x) ** 0.5
        return float(x.mean()) - half, float(x.mean()) + half

    return Estimate(
        action=action_text(action),
        points=float(points.mean()),
        ci95=interval(points),
        behind=float(behind.mean()),
        behind_ci95=interval(behind),
        wins=float(((kinds > 0) & (kinds != Kind.DEAD)).mean()),
        gin=float(((kinds == Kind.GIN) | (kinds == Kind.BIG_GIN)).mean()),
        undercut=float((kinds == -Kind.UNDERCUT).mean()),
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `gin analyse`."""
    asked_position.add_arguments(parser, worlds=2000)
    parser.add_argument("--agent", default="mc", help="mc, with options that say what the opponent is like")


def run(args: argparse.Namespace) -> int:
    """Analyse and print."""
    rules, view = asked_position.asked(args, least=2)
    with refusing():
        found = analyse(view[0], rules, worlds=args.worlds, key=args.seed, agent=args.agent)
    if args.json:
        print(json.dumps({"rules": rules.as_dict(), "worlds": args.worlds, "actions": [asdict(e) for e in found]}))
        return 0
    print(f"{'action':<14}{'points':>16}{'behind the best':>20}{'wins':>8}{'gin':>8}{'undercut':>10}")
    for e in found:
        half, behind_half = (e.ci95[1] - e.ci95[0]) / 2, (e.behind_ci95[1] - e.behind_ci95[0]) / 2
        print(
            f"{e.action:<14}{e.points:>+8.2f} ± {half:<5.2f}{e.behind:>12.2f} ± {behind_half:<5.2f}"
            f"{100 * e.wins:>6.1f} %{100 * e.gin:>6.1f} %{100 * e.undercut:>8.1f} %"
        )
    return 0
