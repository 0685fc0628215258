"""What an agent is: a batch of VIEWs in, a batch of actions out; and native agents, whose policy is a kernel.

Agents are given VIEWs and never a STATE, with one random key a decision: the choice is a function of VIEW, rules and
key alone, so a match comes out the same however its tables are batched or spread over threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numba import types

from ginenv.envs.opponent import check_players
from ginenv.jit import kernel
from ginenv.rules import RULES_TYPE, Rules
from ginenv.view import VIEW_TYPE

PARAMS = types.float64[::1]
POLICY = types.int64(VIEW_TYPE, RULES_TYPE, PARAMS, types.int64)
"""Signature of a native policy: ``policy(view, rules, params, key) -> action``."""
POLICY_POINTER = types.FunctionType(POLICY)


def policy(function: Callable[..., int]) -> Callable[..., int]:
    """Compile ``function(view, rules, params, key) -> action`` as a native policy.

    ``view`` is a VIEW record of the seat to act, ``rules`` a RULES record, ``params`` the agent's float64 options
    and ``key`` an int64 for `ginenv.rng`. Kernels take policies as typed pointers, so a new policy costs its own
    compilation only and runs in matches and rollouts at full speed.
    """
    return kernel(function, signature=POLICY)


@runtime_checkable
class Agent(Protocol):
    """Something that can play many tables at once.

    Matches give each game of a mirrored pair to a copy of its own (`experiments.match.play_pairs`), so that no agent
    remembers the other hand of the same deal.
    """

    @property
    def spec(self) -> str:
        """The spec string that makes this agent again, options in full."""
        ...

    def act(self, views: np.ndarray, rules: Rules, keys: np.ndarray) -> np.ndarray:
        """Choose for each table.

        Args:
            views: VIEW, shape (n,), each of the seat to act at its table; the agent's own to keep.
            rules: The rules all tables play.
            keys: int64, shape (n,): the randomness for each decision.

        Returns:
            Action ids: int64, shape (n,). An illegal one forfeits the game.
        """
        ...


@kernel(signature=types.void(POLICY_POINTER, VIEW_TYPE[::1], RULES_TYPE, PARAMS, types.int64[::1], types.int64[::1]))
def _act_all(policy, views, rules, params, keys, actions):
    for i in range(views.shape[0]):
        actions[i] = policy(views[i], rules, params, keys[i])


@dataclass(frozen=True)
class NativeAgent:
    """An agent whose policy is a kernel (`policy`); matches between two of these run without touching Python."""

    spec: str
    policy: Callable[..., int]
    params: np.ndarray
    """The policy's options: float64, contiguous."""
    most_players: int = 2
    """Of a hand that it can play (`ginenv.envs.opponent.check_players`)."""
    plays_all: bool = False
    """Whether it plays with jokers and at the open table, too."""

    def act(self, views: np.ndarray, rules: Rules, keys: np.ndarray) -> np.ndarray:
        """Choose for each table (see `Agent.act`). Raises ValueError when there are too many players for it."""
        check_players(self, rules)
        actions = np.empty(len(views), dtype=np.int64)
        _act_all(self.policy, views, rules.record, self.params, keys, actions)
        return actions

    def __reduce__(self) -> tuple[Callable[[str], Agent], tuple[str]]:
        """Pickle as the spec: compiled code does not travel."""
        from agents.registry import make  # it imports this module

        return make, (self.spec,)


@dataclass(frozen=True)
class Option:
    """An option of an agent: its default, and what values are possible."""

    default: int | float | str
    what: str
    low: float = float("-inf")
    high: float = float("inf")


@dataclass(frozen=True)
class Kind:
    """A kind of agent: what a spec string names. An agent's file calls its one ``AGENT``."""

    summary: str
    make: Callable[[str, Mapping[str, Any]], Agent]
    """Makes the agent from its full spec and its options."""
    options: Mapping[str, Option]
