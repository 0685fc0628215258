"""Spec strings to agents: ``name`` or ``name:key=value,key=value``.

A name is a file of this folder (``simple`` is agents/simple.py) or the path of a user's own file
(``./mybot.py:depth=2``); either has a `Kind` called ``AGENT``.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import agents
from agents.protocol import Agent, Kind, NativeAgent, Option
from ginenv.envs.opponent import failure

_NOT_AGENTS = {"clock", "game_value", "network", "playout", "protocol", "registry", "worlds"}


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
    """Import a user's own file. Raises ValueError when there is none, or when it fails in whatever way."""
    if not path.is_file():
        raise ValueError(f"agent: there is no file {str(path)!r}")
    module_name = f"ginenv_user_{path.stem}"
    spec = importlib.util.spec_from_file_location(module_name, path.resolve())
    assert spec is not None and spec.loader is not None  # it is a .py file
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[module_name]
        raise ValueError(f"agent: {path} cannot be made: {failure(error)}") from error
    return module


def _kind_of(module: Any, name: str) -> Kind:
    found = getattr(module, "AGENT", None)
    if not isinstance(found, Kind):
        raise ValueError(f"agent: {name} defines no AGENT, an agents.protocol.Kind")
    return found


def split(spec: str) -> tuple[str, str]:
    """Return an agent's name or file, and the text of its options."""
    name, _, listed = spec.partition(":")
    if name.strip() not in names():
        # A path may have a colon of its own, so a file's name goes on to ".py" before a colon or the end.
        match = re.match(r"(.*?\.py)\s*(?::|$)", spec, re.DOTALL)
        if match is not None:
            name, listed = match[1], spec[match.end() :]
    return name.strip(), listed


def make(spec: str) -> Agent:
    """Return the agent that ``spec`` names.

    Raises:
        ValueError: for an unknown agent or option, a value that is out of range, or an agent whose own code fails; the
            sentence says which.
    """
    name, listed = split(spec)
    try:
        found = kind(name)
    except ImportError as error:  # the networks need torch, for one
        raise ValueError(f"agent: {name} cannot be made: {failure(error)}") from error
    values: dict[str, Any] = {key: option.default for key, option in found.options.items()}
    given: set[str] = set()
    for item in filter(None, (part.strip() for part in listed.split(","))):
        key, equals, text = (part.strip() for part in item.partition("="))
        if not equals:
            raise ValueError(f"agent: {item!r} in {spec!r} is no option: write key=value")
        if key not in found.options:
            close = get_close_matches(key, found.options, n=1)
            there = ", ".join(found.options) or "none"
            hint = f"did you mean {close[0]}?" if close else f"its options are {there}"
            raise ValueError(f"agent: {name} has no option {key!r}: {hint}")
        if key in given:
            raise ValueError(f"agent: {key} is set twice in {spec!r}")
        given.add(key)
        values[key] = _value(name, key, text, found.options[key])
    full = ",".join(f"{key}={value}" for key, value in values.items())
    try:
        return found.make(f"{name}:{full}" if full else name, values)
    except ValueError:
        raise
    except (Exception, SystemExit) as error:
        raise ValueError(f"agent: {name} cannot be made: {failure(error)}") from error


def native(spec: str) -> NativeAgent:
    """Return the native agent ``spec``.

    Raises:
        ValueError: when it is none.
    """
    agent = make(spec)
    if not isinstance(agent, NativeAgent):
        raise ValueError(f"{spec} is no native agent: its policy must be a kernel")
    return agent


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
