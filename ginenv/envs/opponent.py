"""The other seat of the one-learner environments: any object with the agents' batch protocol, or a spec string."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Protocol, runtime_checkable

import numpy as np

from ginenv.rules import Rules


@runtime_checkable
class Opponent(Protocol):
    """What plays the other seat; every agent of `agents` does."""

    def act(self, views: np.ndarray, rules: Rules, keys: np.ndarray) -> np.ndarray:
        """Choose actions (ints, shape (n,)) for VIEWs (shape (n,)), with keys (int64, (n,)) for all randomness."""
        ...


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
