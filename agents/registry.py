"""Spec strings to agents: ``name`` or ``name:key=value,key=value``.

A name is a file of this folder (``simple`` is agents/simple.py) or the path of a user's own file
(``./mybot.py:depth=2``); either has a `Kind` called ``AGENT``.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import agents
from agents.protocol import Agent, Kind, Option

_NOT_AGENTS = {"network", "playout", "protocol", "registry", "worlds"}


def names() -> list[str]:
    """Return the names of all agents in this folder."""
    return sorted(m.name for m in pkgutil.iter_modules(agents.__path__) if m.name not in _NOT_AGENTS)


def kind(name: str) -> Kind:
    """Return the `Kind` called ``name``.

    Raises:
        ValueError: for an unknown name, or a file without a `Kind` called AGENT.
    """
    if name.endswith(".py"):
        return _kind_of(_load(Path(name)), name)
    if name not in names():
        close = get_close_matches(name, names(), n=1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names())}"
        raise ValueError(f"agent: there is no agent {name!r}: {hint}")
    return _kind_of(importlib.import_module(f"agents.{name}"), name)


def _load(path: Path) -> Any:
    """Import a user's own file. Raises ValueError when there is none."""
    if not path.is_file():
        raise ValueError(f"agent: there is no file {str(path)!r}")
    module_name = f"ginenv_user_{path.stem}"
    spec = importlib.util.spec_from_file_location(module_name, path.resolve())
    assert spec is not None and spec.loader is not None  # it is a .py file
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    return module


def _kind_of(module: Any, name: str) -> Kind:
    found = getattr(module, "AGENT", None)
    if not isinstance(found, Kind):
        raise ValueError(f"agent: {name} defines no AGENT, an agents.protocol.Kind")
    return found


def make(spec: str) -> Agent:
    """Return the agent that ``spec`` names.

    Raises:
        ValueError: for an unknown agent or option, or a value that is out of range; the sentence says which.
    """
    # A Windows path may have a colon of its own, so split behind the file's name.
    head, dot_py, tail = spec.partition(".py")
    name, _, listed = (head + dot_py, "", tail.removeprefix(":")) if dot_py else spec.partition(":")
    name = name.strip()
    found = kind(name)
    values: dict[str, Any] = {key: option.default for key, option in found.options.items()}
    for item in filter(None, (part.strip() for part in listed.split(","))):
        key, equals, text = (part.strip() for part in item.partition("="))
        if not equals:
            raise ValueError(f"agent: {item!r} in {spec!r} is no option: write key=value")
        if key not in found.options:
            close = get_close_matches(key, found.options, n=1)
            there = ", ".join(found.options) or "none"
            hint = f"did you mean {close[0]}?" if close else f"its options are {there}"
            raise ValueError(f"agent: {name} has no option {key!r}: {hint}")
        values[key] = _value(name, key, text, found.options[key])
    full = ",".join(f"{key}={value}" for key, value in values.items())
    return found.make(f"{name}:{full}" if full else name, values)


def _value(name: str, key: str, text: str, option: Option) -> int | float | str:
    """Return ``text`` as a value of the option, of the type of its default."""
    wanted = type(option.default)
    try:
        value = wanted(text)
    except ValueError:
        what = "a whole number" if wanted is int else "a number"
        raise ValueError(f"agent: {name}: {key}={text} should be {what}") from None
    if isinstance(value, (int, float)) and not option.low <= value <= option.high:
        raise ValueError(f"agent: {name}: {key}={text} is out of range: {option.low:g} to {option.high:g} is possible")
    return value
