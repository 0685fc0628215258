"""`gin replay FILE`: a hand history step by step; what is wrong in it is named by its line."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments.refusal import Refusal, refusing
from ginenv.actions import action_text
from ginenv.cards import NO_CARD, card_text
from ginenv.record import Play
from ginenv.state import DRAW
from ginenv.table import Table, replay


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `gin replay`."""
    parser.add_argument("file", metavar="FILE", help="a record (format: ginenv.record), or - for stdin")


def run(args: argparse.Namespace) -> int:
    """Check the record, then show it."""
    name = "stdin" if args.file == "-" else args.file
    try:
        text = sys.stdin.read() if args.file == "-" else Path(args.file).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Refusal(f"{name} is no record: it is not text") from error
    except OSError as error:
        raise Refusal(f"{name} cannot be read: {error.strerror or error}") from error
    with refusing(about=name):
        played = replay(text + "\n")  # with a line end it is never taken for a path
    print(steps(played))
    return 0


def steps(played: Table) -> str:
    """Return all hands of a table step by step, as text with both hands open."""
    out = []
    history = played.history
    table = Table(played.rules, played.seed, deck=history[0].deck, dealer=history[0].dealer)
    for number, hand in enumerate(history, start=1):
        if number > 1:
            table.deal(hand.deck)
        out.append(f"=== hand {number}: seat {hand.dealer} deals ===\n{table}\n")
        for play in hand.plays:
            table.step(play.action)
            out.append(f"--- seat {play.seat}: {_played(play)} ---\n{table}\n")
    if table.game_over:
        ending = "level" if table.winner is None else f"seat {table.winner} wins"
        out.append(f"The game is over: {ending}, {table.totals[0]} to {table.totals[1]} with all bonuses.")
    elif table.done:
        scores = ", ".join(f"{column[0]} to {column[1]}" for column in table.columns)
        out.append(f"The record ends here: {scores}.")
    else:
        out.append("The record ends here, in the middle of the hand.")
    return "\n".join(out)


def _played(play: Play) -> str:
    drawn = f" {card_text(play.drawn)}" if play.drawn != NO_CARD else ""
    source = " from the stock" if play.action == DRAW else ""
    return f"{action_text(play.action)}{drawn}{source}"
