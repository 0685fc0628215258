"""`gin hands`: how hands go between two agents: length, endings, deadwood and points, from mirrored games.

The figures to compare with other frameworks: draws of both seats in a hand, kinds of finish, the knocker's deadwood.
"""

from __future__ import annotations

import argparse
import json

import numpy as np

from agents.registry import make
from experiments.match import play_pairs
from experiments.refusal import Refusal, refusing
from ginenv.envs.opponent import AgentError
from ginenv.rng import checked_seed
from ginenv.rules import refuse_more_actions, rules_for_two
from ginenv.state import Kind


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `gin hands`."""
    parser.add_argument("a", metavar="A", help="an agent")
    parser.add_argument("b", metavar="B", help="its opponent")
    parser.add_argument("--games", type=int, default=6000, help="games to play, even (default 6000)")
    parser.add_argument("--rules", default="eaai", help="a preset, or preset,key=value,… (default eaai)")
    parser.add_argument("--seed", type=int, default=1, help="seed (default 1)")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def run(args: argparse.Namespace) -> int:
    """Play and print."""
    if args.games < 2 or args.games % 2:
        raise Refusal(f"--games {args.games}: games come in mirrored pairs, so an even number of at least 2 is due")
    with refusing():
        seed = checked_seed(args.seed, "--seed")
        a, b, rules = make(args.a), make(args.b), rules_for_two(args.rules)
        refuse_more_actions(rules, "a match of agents")
    with refusing(AgentError):
        games, hands = play_pairs(a, b, rules, seed, 0, args.games // 2, keep_hands=True)
    if not len(hands):
        raise Refusal("no hand was finished: an agent forfeits each game by an illegal action")
    figures = summary(games, hands)
    if args.json:
        print(json.dumps({"a": a.spec, "b": b.spec, "rules": rules.as_dict(), "seed": args.seed, **figures}))
    else:
        print(f"{a.spec} against {b.spec}, rules {rules.name}, seed {args.seed}")
        for name, value in figures.items():
            print(
                f"  {name.replace('_', ' '):<36}{value:>12,.4g}"
                if isinstance(value, float)
                else f"  {name.replace('_', ' '):<36}{value:>12,}"
            )
    return 0


def summary(games: np.ndarray, hands: np.ndarray) -> dict[str, float | int]:
    """Return the figures of finished hands (HAND, shape (n,)) of ``games`` (GAME, shape (pairs, 2)) by name."""
    kinds = hands["kind"]
    knocks = (kinds == Kind.KNOCK) | (kinds == Kind.UNDERCUT)
    won = hands["winner"] >= 0

    def mean(values: np.ndarray) -> float:
        return float(values.mean()) if len(values) else 0.0

    return {
        "games": int(games.size),
        "hands": len(hands),
        "hands_a_game": len(hands) / games.size,
        "draws_a_hand": mean(hands["turns"]),
        "draws_median": float(np.median(hands["turns"])),
        "draws_5_%": float(np.percentile(hands["turns"], 5)),
        "draws_95_%": float(np.percentile(hands["turns"], 95)),
        "knock_%": 100 * mean(kinds == Kind.KNOCK),
        "undercut_%": 100 * mean(kinds == Kind.UNDERCUT),
        "gin_%": 100 * mean(kinds == Kind.GIN),
        "big_gin_%": 100 * mean(kinds == Kind.BIG_GIN),
        "dead_%": 100 * mean(kinds == Kind.DEAD),
        "knockers_deadwood": mean(hands["knocker_deadwood"][knocks].astype(float)),
        "defenders_deadwood_after_layoffs": mean(hands["defender_deadwood"][knocks].astype(float)),
        "points_a_hand_and_player": mean(hands["points"].astype(float)) / 2,
        "starter_wins_%": 100 * mean((hands["winner"] == hands["starter"])[won]),
        "a_wins_games_%": 100 * mean(games["winner"] == 0) + 50 * mean(games["winner"] < 0),
    }
