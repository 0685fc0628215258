"""`gin agents`: the agents there are, and their options."""

from __future__ import annotations

import argparse

from agents.protocol import Kind
from agents.registry import kind, names


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `gin agents`: none."""


def run(args: argparse.Namespace) -> int:
    """List the agents."""
    for name in names():
        try:
            print(_lines(name, kind(name)))
        except ImportError as error:  # the networks need torch, for one
            print(f"{name}: not available here ({error})")
    print("\nWrite options as name:key=value,key=value. A file of your own is an agent, too: ./mybot.py:depth=2")
    return 0


def _lines(name: str, found: Kind) -> str:
    lines = [f"{name}: {found.summary}"]
    for key, option in found.options.items():
        limits = f", {option.low:g} to {option.high:g}" if option.low > float("-inf") else ""
        lines.append(f"    {key}={option.default}  {option.what}{limits}")
    return "\n".join(lines)
