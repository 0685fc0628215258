"""What the tools that are asked about a hand share: how a person tells it."""

from __future__ import annotations

import argparse

import numpy as np

from experiments.refusal import Refusal, refusing
from ginenv.position import position
from ginenv.rng import checked_seed
from ginenv.rules import Rules, rules_for_two

MOST_WORLDS = 1_000_000


def add_arguments(parser: argparse.ArgumentParser, *, worlds: int) -> None:
    """Describe the options by which a hand is told; ``worlds`` is how many worlds are sampled by default."""
    parser.add_argument(
        "hand",
        metavar="HAND",
        help='own cards, drawn last: ten before the draw, "AS 2S 3S 7H 7D 7C 4D 4C KD 2D 3H" after',
    )
    parser.add_argument("--turn", type=int, metavar="N", help="own turn, from 1 (default: as the pile tells)")
    parser.add_argument(
        "--pile", metavar="CARDS", help="the discard pile, from the bottom up (default: what the opponent threw)"
    )
    parser.add_argument(
        "--upcard", default="", metavar="CARD",
        help="the first upcard, which sets the knock limit under Oklahoma (default: the bottom of the pile)",
    )  # fmt: skip
    for did, what in (
        ("took", "what they took and still hold"),
        ("threw", "which cards of the pile they threw"),
        ("refused", "upcards that they passed over"),
    ):
        parser.add_argument(f"--opponent-{did}", f"--{did}", default="", metavar="CARDS", help=what)
    parser.add_argument("--scores", default="0,0", metavar="OWN,THEIRS", help="scores before this hand (default 0,0)")
    parser.add_argument("--rules", default="eaai", metavar="R", help="a preset, or preset,key=value,… (default eaai)")
    parser.add_argument("--worlds", type=int, default=worlds, metavar="N", help=f"worlds (default {worlds})")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="seed (default 1)")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def asked(args: argparse.Namespace, *, least: int) -> tuple[Rules, np.ndarray]:
    """Return the rules, and the VIEW that was told: VIEW, shape (1,).

    Args:
        args: The options.
        least: The fewest worlds that will do.

    Raises:
        Refusal: for what cannot be, in one sentence.
    """
    if not least <= args.worlds <= MOST_WORLDS:
        raise Refusal(f"--worlds {args.worlds}: a number from {least} to {MOST_WORLDS:,} is due")
    try:
        own, theirs = (int(text) for text in args.scores.split(","))
    except ValueError:
        raise Refusal(f"--scores {args.scores}: two whole numbers are due, such as 40,65") from None
    with refusing():
        checked_seed(args.seed, "--seed")
        rules = rules_for_two(args.rules)
        if rules.target is not None and not (0 <= own < rules.target and 0 <= theirs < rules.target):
            raise Refusal(f"--scores {args.scores}: two scores from 0 to {rules.target - 1} are due")
        pile = args.opponent_threw if args.pile is None else args.pile
        return rules, position(
            args.hand, rules, pile=pile, threw=args.opponent_threw, took=args.opponent_took,
            refused=args.opponent_refused, turn=args.turn, scores=(own, theirs), upcard=args.upcard,
        )  # fmt: skip
