"""`gin knock`: when to knock. Studies of it, and what to do with a hand; gin knock COMMAND --help tells more."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence
from typing import Any

PARTS = {
    "position": ("experiments.knock_position", "knock now or play on, by how much, how sure, and why"),
    "study": ("experiments.knock_study", "each decision in play between agents, with what either choice is worth"),
    "metagame": ("experiments.knock_metagame", "knock rules against each other: which mixture of them nobody beats"),
    "folk": ("experiments.knock_folk", "what people say about when to knock, put to the test in a study"),
    "figures": ("experiments.knock_figures", "what was stated about the knock rules of `simple`, measured again"),
    "change": ("experiments.knock_change", "what another knock rule brings an agent, in games won against a panel"),
    "report": ("experiments.knock_report", "plots and tables of studies and metagames, in one file"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the subcommands of `gin knock`; a subcommand's own options are described when it is given."""
    base = type(parser)

    class Part(base):  # type: ignore[misc, valid-type]  # the class is the one the caller parses with
        """The parser of a subcommand: its module is imported once there is something to parse."""

        def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:
            module = importlib.import_module(PARTS[self.prog.split()[-1]][0])
            self.description = module.__doc__
            module.add_arguments(self)
            self.set_defaults(run_part=module.run)
            return super().parse_known_args(args, namespace)

    parts = parser.add_subparsers(dest="part", required=True, metavar="COMMAND", parser_class=Part)
    for name, (_, what) in PARTS.items():
        parts.add_parser(name, help=what, formatter_class=argparse.RawDescriptionHelpFormatter)


def run(args: argparse.Namespace) -> int:
    """Run the subcommand."""
    code: int = args.run_part(args)
    return code
