"""`gin knock position`: knock now or play on, by how much, how sure, and why.

The hand has eleven cards, the last of them just drawn; say what you know of the opponent. Both choices are played out
in the same worlds, sampled from what you know: against an opponent who waits for gin in half of them and who knocks at
once in the others, or against the agents of --opponent. How you play on is the better of two ways: waiting for gin, or
knocking on the next turn at whatever is legal.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from agents.game_value import game_table
from agents.protocol import NativeAgent
from agents.registry import native, split
from agents.worlds import sample_worlds
from experiments import asked_position
from experiments.knock_values import (
    DECISION,
    LAST_WEIGHT,
    best_knock,
    best_throw,
    hints_of,
    rate_knock,
    rival_of,
    set_model,
    sum_up,
    ways_of,
)
from experiments.refusal import refusing
from experiments.stats import Z
from ginenv.actions import action_text
from ginenv.cards import card_text
from ginenv.melds import deadwood
from ginenv.rng import mix
from ginenv.rules import Rules
from ginenv.state import BIG_GIN, DISCARD_PHASE, ORDER, Kind

WAYS = (0, 10)
"""Ways to play on (see `experiments.knock_values`)."""
RIVALS = ("simple", "lean")
"""Who the opponent may be: one who knocks at once, one who waits for gin after the first turns."""
WEIGHTS = {"simple": 0.036, "lean": 0.047}
"""Weight of the opponent's deadwood in the worlds: the mean over turns of `experiments.knock_study.fit_weights`."""
_OTHERS = 0.042
TURNS = 3
"""Turns ahead that are told of."""


@dataclass(frozen=True)
class Advice:
    """What to do with a hand, and why. Points are one's own less the opponent's; shares are of 1."""

    best: str
    knock: str
    """The knock in question."""
    deadwood: int
    throw: str
    """What is thrown when playing on."""
    gain_points: float
    """Knocking now less playing on."""
    gain_points_ci95: tuple[float, float]
    gain_win: float | None
    """The same as a chance to win the game; None where no target decides it."""
    gain_win_ci95: tuple[float, float] | None
    sure: float
    """How sure the sign of the gain is, by its standard error: 0.5 for not at all, 1 for quite."""
    knock_points: float
    on_points: float
    knock_win: float | None
    on_win: float | None
    undercut: float
    """Knocking now: the chance of an undercut."""
    gin: tuple[float, ...]
    """Playing on for gin: the chance of it by the next own turn, the second and the third, and in all."""
    lost: float
    """Playing on for gin: the chance that the opponent wins the hand."""
    rival_deadwood: float
    """The opponent's, expected now."""
    rival_deadwood_later: float
    """And in three turns of theirs, or at the end of the hand where that comes first."""
    worlds: int


def advise(view: Any, rules: Rules, *, worlds: int = 2000, key: int = 1, rivals: tuple[str, ...] = RIVALS) -> Advice:
    """Return what to do in a VIEW where a knock is legal.

    Args:
        view: A VIEW record of a seat that has to discard, two players.
        rules: What is played.
        worlds: How many worlds to sample, over all rivals.
        key: Names the sample.
        rivals: Specs of native agents the opponent may be, all as likely.

    Raises:
        ValueError: when no knock is legal, or a rival is no native agent.
    """
    if view["mover"] != 0 or view["phase"] != DISCARD_PHASE:
        raise ValueError("a knock is decided with eleven cards in hand, the last of them just drawn")
    if not view["knocks"] and not view["choices"]:
        left = min(int(deadwood(int(view["hand"]) & ~(1 << b), rules.longest_meld))
                   for b in range(64) if int(view["discards"]) >> b & 1)  # fmt: skip
        raise ValueError(f"no knock is legal: {left} is the least deadwood, and the limit is {view['knock_limit']}")
    with_target = rules.target is not None
    table = game_table(rules) if with_target else np.full((2, 1, 1), 0.5)
    parts = [_play(view, rules, table, native(spec), worlds // len(rivals), int(mix(key, i)))
             for i, spec in enumerate(rivals)]  # fmt: skip
    # Interleaved, so that both halves of the worlds have as many of each rival.
    points, wins, kinds, turns = (np.stack([p[k] for p in parts], axis=2).reshape(1 + len(WAYS), -1) for k in range(4))
    loose, later = (np.stack([p[k] for p in parts], axis=1).reshape(-1) for k in (4, 5))
    row = np.zeros(1, dtype=DECISION)
    sum_up(points, wins, kinds, row[0])
    knock, left = best_knock(view, rules.record)
    gain, gain_win = float(row["gain_points"].mean()), float(row["gain_win"].mean())
    se, se_win = float(row["se_points"][0]), float(row["se_win"][0])
    shown, error = (gain_win, se_win) if with_target else (gain, se)
    gin = np.isin(kinds[1], (int(Kind.GIN), int(Kind.BIG_GIN)))
    ahead = turns[1] - int(view["own_turn"])
    return Advice(
        best="knock" if shown > 0 else "play on",
        knock="big gin" if knock == BIG_GIN else action_text(int(knock)),
        deadwood=int(left),
        throw=card_text(int(best_throw(view, rules.record, hints_of()))),
        gain_points=gain,
        gain_points_ci95=(gain - Z * se, gain + Z * se),
        gain_win=gain_win if with_target else None,
        gain_win_ci95=(gain_win - Z * se_win, gain_win + Z * se_win) if with_target else None,
        sure=_sure(shown, error),
        knock_points=float(row["knock_points"][0]),
        on_points=float(row["on_points"][0]),
        knock_win=float(row["knock_win"][0]) if with_target else None,
        on_win=float(row["on_win"][0]) if with_target else None,
        undercut=float(row["undercut"][0]),
        gin=(*(float((gin & (ahead <= t)).mean()) for t in range(1, TURNS + 1)), float(gin.mean())),
        lost=float((kinds[1] < 0).mean()),
        rival_deadwood=float(loose.mean()),
        rival_deadwood_later=float(later.mean()),
        worlds=points.shape[1],
    )


def _sure(value: float, error: float) -> float:
    from math import erf, sqrt

    return 1.0 if error == 0 else 0.5 * (1 + erf(abs(value) / error / sqrt(2)))


def _play(
    view: Any, rules: Rules, table: np.ndarray, rival: NativeAgent, worlds: int, key: int
) -> tuple[np.ndarray, ...]:
    """Return points, wins, kinds and turns of a knock and of each way to play on, and the opponent's deadwood now and
    later, in worlds with one rival.
    """
    weight, model = WEIGHTS.get(split(rival.spec)[0], _OTHERS), np.empty(3)
    set_model(view, rival_of(rival, [weight] * (LAST_WEIGHT + 1)), model)
    hands, stocks = np.empty(worlds, np.int64), np.empty((worlds, ORDER), np.uint8)
    sample_worlds(view, rules.record, model, key, hands, stocks)
    shape = (1 + len(WAYS), worlds)
    points, wins, kinds, ends = np.empty(shape), np.empty(shape), np.empty(shape, np.int16), np.empty(shape, np.int16)
    later = np.empty(worlds, np.int16)
    bad: int = rate_knock(
        view, rules.record, table, ways_of(WAYS), rival.policy, rival.params, hints_of(), key,
        int(view["turn"]) + 2 * TURNS - 1, hands, stocks, points, wins, kinds, ends, later,
    )  # fmt: skip
    if bad:
        raise ValueError(f"{rival.spec} acted illegally")
    loose = np.array([deadwood(hand, rules.longest_meld) for hand in hands], dtype=np.float64)
    return points, wins, kinds, ends, loose, later


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `gin knock position`."""
    asked_position.add_arguments(parser, worlds=4000)
    parser.add_argument(
        "--opponent", nargs="+", default=list(RIVALS), metavar="AGENT",
        help="native agents the opponent may be (default: one who knocks at once, one who waits)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Print the advice."""
    rules, view = asked_position.asked(args, least=16 * len(args.opponent))
    with refusing():
        found = advise(view[0], rules, worlds=args.worlds, key=args.seed, rivals=tuple(args.opponent))
    if args.json:
        print(json.dumps({"rules": rules.as_dict(), "opponent": list(args.opponent)} | asdict(found)))
    else:
        print(told(found))
    return 0


def told(a: Advice) -> str:
    """Return the advice in words."""
    half = (a.gain_points_ci95[1] - a.gain_points_ci95[0]) / 2
    lines = [f"{a.best.upper()}: {100 * a.sure:.0f} % sure which is better (of {a.worlds:,} worlds)"]
    if a.gain_win is not None and a.gain_win_ci95 is not None and a.knock_win is not None and a.on_win is not None:
        half_win = (a.gain_win_ci95[1] - a.gain_win_ci95[0]) / 2
        lines.append(
            f"  chance to win the game  {100 * a.knock_win:5.1f} % by {a.knock}, {100 * a.on_win:5.1f} % by playing on "
            f"(throw {a.throw}): knocking {100 * a.gain_win:+.1f} ± {100 * half_win:.1f}"
        )
    lines += [
        f"  points in this hand     {a.knock_points:+5.1f}   by {a.knock}, {a.on_points:+5.1f}   by playing on: "
        f"knocking {a.gain_points:+.1f} ± {half:.1f}",
        f"  knocking with {a.deadwood}: undercut in {100 * a.undercut:.1f} %",
        f"  waiting for gin: {', '.join(f'{100 * p:.0f} %' for p in a.gin[:-1])} by the next turn, the second and the "
        f"third; {100 * a.gin[-1]:.0f} % in all, and the opponent wins the hand in {100 * a.lost:.0f} %",
        f"  the opponent's deadwood: {a.rival_deadwood:.1f} now, {a.rival_deadwood_later:.1f} in {TURNS} turns",
    ]
    return "\n".join(lines)
