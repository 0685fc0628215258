"""The other seats of the one-learner environments: any object with the agents' batch protocol, or a spec string.

`ask` is the one place where anyone's agent is called, here and in matches: it shuts out what a stranger's code could do
wrong.
"""

from __future__ import annotations

import traceback
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from ginenv.actions import checked_actions
from ginenv.rules import Rules


@runtime_checkable
class Opponent(Protocol):
    """What plays the other seats; every agent of `agents` does."""

    def act(self, views: np.ndarray, rules: Rules, keys: np.ndarray) -> np.ndarray:
        """Choose actions (ints, shape (n,)) for VIEWs (shape (n,)), with keys (int64, (n,)) for all randomness."""
        ...


class AgentError(RuntimeError):
    """An agent that failed: it raised, or did not answer with actions that may be played. The message names it."""


def ask(agent: Opponent, views: np.ndarray, rules: Rules, keys: np.ndarray) -> np.ndarray:
    """Return what ``agent`` chooses: int64, shape (n,), any of which may still be illegal.

    The agent is given copies that are its own: it can keep them, and finds in them neither what another seat or an
    earlier call saw nor, later, what the next one sees.

    Args:
        agent: Whoever is to choose.
        views: VIEW, shape (n,).
        rules: The rules played.
        keys: int64, shape (n,).

    Raises:
        AgentError: when it raises (or calls sys.exit), or does not return n whole numbers.
    """
    try:
        actions = agent.act(exact_copy(views), rules, keys.copy())
    except (Exception, SystemExit) as error:
        raise AgentError(f"agent {name_of(agent)} failed: {failure(error)}") from error
    try:
        return checked_actions(actions, len(views), f"agent {name_of(agent)}: act() returned no actions")
    except (TypeError, ValueError) as error:
        raise AgentError(str(error)) from None


def check_players(agent: Opponent, rules: Rules) -> None:
    """Raise ValueError unless ``agent`` plays such hands: with as many players, and jokers or an open table where the
    rules have them.

    An agent says how many players in its attribute ``most_players``, and whether it plays all rules in ``plays_all``;
    without them it is taken to play hands of two without jokers and without an open table. Settlement by hand and
    bluffs need no agent that knows them: the automatic settlement stands in (`ginenv.lay.automatic_action`).
    """
    most = getattr(agent, "most_players", 2)
    if rules.hand_players > most:
        raise ValueError(
            f"agent {name_of(agent)} plays hands of {most}, and the rules want {rules.hand_players} players"
        )
    if (rules.jokers or rules.open_table) and not getattr(agent, "plays_all", False):
        what = "jokers" if rules.jokers else "the open table"
        raise ValueError(f"agent {name_of(agent)} cannot play with {what}: random and greedy can")


def exact_copy(array: np.ndarray) -> np.ndarray:
    """Return a copy of a contiguous structured array, shape (n,), the bytes between its fields included.

    NumPy's own copy leaves there whatever the memory held before, another seat's view for one.
    """
    new = np.zeros(array.shape, dtype=array.dtype)
    new.view(np.uint8)[:] = array.view(np.uint8)
    return new


def name_of(agent: Opponent) -> str:
    """Return an agent's spec; its class, for an object that has none."""
    spec = getattr(agent, "spec", None)
    return spec if isinstance(spec, str) else type(agent).__name__


def failure(error: BaseException) -> str:
    """Return what an exception says and where it rose, in one line."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, SyntaxError) or not frames:  # names its own line
        return text
    return f"{text} ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"


def find(opponent: str | Opponent) -> Opponent:
    """Return ``opponent``, made by an installed maker of agents where it is a spec such as ``"simple"``.

    Makers are entry points of the group ``ginenv.agents``, so that this package need not import any agent.

    Raises:
        ValueError: when the spec is not understood, or no maker is installed.
        TypeError: when the object has no ``act``.
    """
    if not isinstance(opponent, str):
        if not isinstance(opponent, Opponent):
            raise TypeError(
                f"opponent: {opponent!r} has no act(views, rules, keys); give an agent or a spec such as 'simple'"
            )
        return opponent
    makers = entry_points(group="ginenv.agents")
    if not makers:
        raise ValueError(
            f"opponent: no maker of agents is installed, so {opponent!r} means nothing: install this project"
        )
    error: ValueError | None = None
    for maker in makers:
        try:
            found: Opponent = maker.load()(opponent)
        except ValueError as refused:
            error = error or refused
        else:
            return found
    assert error is not None
    raise error
