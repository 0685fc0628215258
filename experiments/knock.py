"""`gin knock`: when to knock. Studies of it, and what to do with a hand.

    gin knock position "HAND" …       knock now or play on: by how much, how sure, and why
    gin knock study --out DIR …       every decision in play between agents, with what either choice is worth
    gin knock metagame --out DIR …    knock rules against each other: which mixture nobody beats
    gin knock folk DIR                what people say about it, put to the test in a study
    gin knock figures …               the figures of docs/knock-timing.md for the knock rules of `simple`
    gin knock report DIR …            plots and tables of studies and metagames, in one file

gin knock COMMAND --help tells more.
"""

from __future__ import annotations

import argparse
import importlib

PARTS = {
    "position": "experiments.knock_position",
    "study": "experiments.knock_study",
    "metagame": "experiments.knock_metagame",
    "folk": "experiments.knock_folk",
    "figures": "experiments.knock_figures",
    "report": "experiments.knock_report",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the subcommands of `gin knock`."""
    parts = parser.add_subparsers(dest="part", required=True, metavar="COMMAND")
    for name, where in PARTS.items():
        module = importlib.import_module(where)
        doc = module.__doc__ or ""
        part = parts.add_parser(
            name, description=doc, help=doc.partition(": ")[2].partition("\n")[0],
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
        module.add_arguments(part)
        part.set_defaults(run_part=module.run)


def run(args: argparse.Namespace) -> int:
    """Run the subcommand."""
    code: int = args.run_part(args)
    return code
