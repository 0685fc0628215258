"""What it is worth to lay down melds with layoffs in mind: `python -m experiments.arrangement`.

A knocker's cards can often be melded in several ways that leave the same deadwood, and the engine lays down the way on
which fewest cards could be laid off (`ginenv.melds.arrange`). Here each knock of played hands is settled by every such
way: what the chosen one scores is set against the mean of all ways, as if one took any, and against the worst.
"""

from __future__ import annotations

import argparse

import numba
import numpy as np
from numba import types

from agents.playout import play_hand
from agents.protocol import PARAMS, POLICY_POINTER, NativeAgent
from agents.registry import make
from experiments.stats import mean
from ginenv.deal import new_game
from ginenv.jit import kernel
from ginenv.melds import chosen_sets, deadwood, loose_in_runs, run_from, set_choices
from ginenv.rng import apart, checked_seed, mix
from ginenv.rules import RULES, parse_rules
from ginenv.scoring import settle_hands
from ginenv.state import STATE, Kind, new_states
from ginenv.view import VIEW

_KNOCK, _UNDERCUT = int(Kind.KNOCK), int(Kind.UNDERCUT)


@kernel
def every_way(hand, melds):
    """Write the melds of every choice of sets that leaves the least deadwood; each row of three or more is one run.

    Args:
        hand: Mask of ten cards or fewer, melds of any length allowed.
        melds: int64, shape (128, 3), written: masks, 0 for none.

    Returns:
        How many ways there are.
    """
    choices, least, n = set_choices(hand, 13), deadwood(hand, 13), 0
    for way in range(choices[0]):
        s1, s2, s3 = chosen_sets(choices, way)
        rest = hand & ~(s1 | s2 | s3)
        if loose_in_runs(rest, 13) > least:
            continue
        k = 0
        melds[n] = 0
        for one in (s1, s2, s3):
            if one != 0:
                melds[n, k] = one
                k += 1
        inner = rest & (rest << 1) & (rest >> 1)
        runs = inner | (inner << 1) | (inner >> 1)
        todo = runs & ~(runs << 1)
        while todo != 0:
            melds[n, k] = run_from(todo & -todo, runs, runs & ~(runs << 1))
            todo &= todo - 1
            k += 1
        n += 1
    return n


@kernel(
    signature=types.void(
        POLICY_POINTER, PARAMS, POLICY_POINTER, PARAMS, numba.from_dtype(RULES), types.int64,
        numba.from_dtype(STATE)[::1], numba.from_dtype(VIEW)[::1], types.float64[:, ::1],
    )
)  # fmt: skip
def _play(policy_a, params_a, policy_b, params_b, rules, seed, states, views, out):
    """Play a hand for each row of ``out`` and write: ways to lay down (0: no knock), points chosen, mean, worst."""
    s, melds = states[0], np.zeros((128, 3), np.int64)
    for i in range(out.shape[0]):
        key = mix(seed, i)
        new_game(s, rules, key)
        play_hand(s, rules, views, policy_a, params_a, mix(key, -1), policy_b, params_b, mix(key, -2))
        out[i] = 0
        if s["kind"] != _KNOCK and s["kind"] != _UNDERCUT:
            continue
        knocker = np.int64(s["knocker"])
        hand, other = s["hand"][knocker], s["hand"][1 - knocker]
        n = every_way(hand, melds)
        out[i, 0], out[i, 3] = n, 1e9
        for way in range(n):
            kind, points, _, _, _ = settle_hands(hand, other, rules["deck"], rules, melds[way])
            score = -points if kind == _UNDERCUT else points
            out[i, 2] += score / n
            out[i, 3] = min(out[i, 3], score)
        out[i, 1] = s["points"][knocker] - s["points"][1 - knocker]


def main() -> None:
    """Play, settle and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("a", metavar="A")
    parser.add_argument("b", metavar="B")
    parser.add_argument("--hands", type=int, default=100_000)
    parser.add_argument("--rules", default="eaai", help="without a longest meld (default eaai)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    try:
        rules = parse_rules(args.rules)
        seed = checked_seed(args.seed, "--seed")
        a, b = make(args.a), make(args.b)
    except ValueError as error:
        parser.error(str(error))
    if rules.longest_meld < 13 or rules.players != 2 or args.hands < 1:
        parser.error("give two-player rules without a longest meld, and 1 hand or more")
    if not isinstance(a, NativeAgent) or not isinstance(b, NativeAgent):
        parser.error("both agents must be native")
    out = np.zeros((args.hands, 4))
    _play(a.policy, a.params, b.policy, b.params, rules.record, apart(seed), new_states(1), np.zeros(2, VIEW), out)
    knocks = out[out[:, 0] > 0]
    several = knocks[knocks[:, 0] > 1]
    print(f"{a.spec} and {b.spec}, rules {rules.name}, seed {seed}: {len(knocks):,} knocks in {args.hands:,} hands")
    print(f"with more than one way to lay down the same deadwood: {len(several):,}")
    for name, column in (("any way", 2), ("the worst way", 3)):
        gain = mean(knocks[:, 1] - knocks[:, column])
        print(f"points a knock gained over {name}: {gain.value:.3f} ({gain.low:.3f} to {gain.high:.3f})")


if __name__ == "__main__":
    main()
