"""`gin rules [NAME]`: the presets, or each field of some rules."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from experiments.refusal import refusing
from ginenv.rules import PRESETS, Rules, parse_rules


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `gin rules`."""
    parser.add_argument("rules", nargs="?", metavar="NAME", help="a preset, or preset,field=value,…")


def run(args: argparse.Namespace) -> int:
    """Show the presets, or some rules field by field."""
    if args.rules is None:
        for name, preset in PRESETS.items():
            print(f"{name}: {', '.join(differences(preset)) or 'the defaults'}")
        print("\ngin rules NAME shows every field. Change some with NAME,field=value,…")
        return 0
    with refusing():
        rules = parse_rules(args.rules)
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, 120)
    console.print(_table(rules))
    return 0


def differences(rules: Rules) -> list[str]:
    """Return ``field=value`` for each field that differs from modern."""
    modern = PRESETS["modern"].as_dict()
    return [f"{key}={_text(value)}" for key, value in rules.as_dict().items() if key != "name" and value != modern[key]]


def _table(rules: Rules) -> Table:
    table = Table(title=f"{rules.name} (* differs from modern)", box=box.SIMPLE_HEAD, title_justify="left")
    for heading in ("", "field", "value", "rule"):
        table.add_column(heading, no_wrap=True)
    table.add_column("meaning", overflow="fold")
    modern = PRESETS["modern"]
    for spec in dataclasses.fields(Rules):
        value = getattr(rules, spec.name)
        differs = spec.name != "name" and value != getattr(modern, spec.name)
        what = spec.metadata["what"] + (f" (modern: {_text(getattr(modern, spec.name))})" if differs else "")
        row = ("*" if differs else "", spec.name, _text(value), spec.metadata["ids"], what)
        table.add_row(*row, style="bold" if differs else None)
    return table


def _text(value: Any) -> str:
    """Return a value as `parse_rules` reads it."""
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)
