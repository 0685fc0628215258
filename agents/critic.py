"""The critic that `gin train ppo` learns beside its policy, in a kernel: what a position is worth to its mover.

It sees all cards, so it is for positions that are all known: in training, and in the worlds that a search samples. It
never sees a true deal in play.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from agents import hidden, ppo
from ginenv.encode import encode
from ginenv.jit import kernel

SUIT_SIZE = ppo.SUIT_SIZE + hidden.SUIT_SIZE
SHARED_SIZE = ppo.SHARED_SIZE + hidden.SUIT_SIZE + len(hidden.COMMON)
"""Values of a position in each suit block, and those that all suits share: hidden ones stand behind those seen."""

_CODE, _SIZE, _LEAST = ppo.ENCODING.code, ppo.ENCODING.size, ppo.ENCODING["least"].start
_HEAD = 4
"""Numbers in ``params`` before the weights: width, mixing layers, points that are a value of 1, and the potential."""


@kernel
def position_value(s, rules, view, params):
    """Return what a position is worth to the seat to act: its points in this hand less the opponent's, as expected.

    Args:
        s: A STATE record of a hand that is not over.
        rules: A RULES record.
        view: The VIEW of the seat to act.
        params: As `pack` makes them.
    """
    width, mixing = np.int64(params[0]), np.int64(params[1])
    weights = params[_HEAD:].view(np.float32)
    seen, unseen = np.empty(_SIZE, np.int8), np.empty(hidden.SIZE, np.int8)
    suits, shared = np.empty((4, SUIT_SIZE), np.float32), np.empty(SHARED_SIZE, np.float32)
    encode(view, rules, _CODE, seen)
    hidden.write_one(s, rules, unseen)
    ppo.lay_out(seen, suits, shared)
    hidden.lay_out(unseen, suits[:, ppo.SUIT_SIZE :], shared, ppo.SHARED_SIZE)
    h, mean, of_all = np.empty((4, width), np.float32), np.empty(width, np.float32), np.empty(width, np.float32)
    at = ppo.trunk(weights, 0, suits, SUIT_SIZE, shared, SHARED_SIZE, mixing, h)
    ppo.suits_mean(h, mean)
    at = ppo.dense(weights, at, mean, of_all)
    ppo.rectify(of_all)
    value = np.empty(1, np.float32)
    ppo.dense(weights, at, of_all, value)
    lead = np.float64(unseen[hidden.DEADWOOD]) - np.float64(seen[_LEAST])
    return params[2] * np.float64(value[0]) + params[3] * lead


def pack(tensors: Mapping[str, np.ndarray], unit: float, potential: float) -> np.ndarray:
    """Return a critic's tensors (`agents.network.Critic`) as the ``params`` of `position_value`: float64.

    Args:
        tensors: By name.
        unit: Points that are a value of 1.
        potential: What each point of the lead in deadwood counts before the network, in points.

    Raises:
        ValueError: when a tensor is missing, has another shape or is not finite.
    """
    mixing = sum(name.startswith("trunk.mix_shared.") for name in tensors)
    width = tensors["trunk.own.bias"].size if "trunk.own.bias" in tensors else 0
    wanted = ppo.trunk_shapes(width, mixing, SUIT_SIZE, SHARED_SIZE)
    wanted |= {"hidden.weight": (width, width), "hidden.bias": (width,), "value.weight": (1, width), "value.bias": (1,)}
    ppo.check_shapes(tensors, wanted)
    flat = ppo.flatten(tensors, mixing, ("hidden", "value"))
    return np.concatenate([[width, mixing, unit, potential], flat])


def load(spec: str, path: str) -> np.ndarray:
    """Return the ``params`` of the critic in a policy's file ``path``, or in the shipped one where it is empty.

    Raises:
        ValueError: when the file is no policy, or has no critic.
    """
    file = Path(path) if path else ppo.SHIPPED
    try:
        tensors, metadata = ppo.read_file(file)
        found = {k.removeprefix(ppo.CRITIC): tensor for k, tensor in tensors.items() if k.startswith(ppo.CRITIC)}
        if not found:
            raise ValueError(f"{file} has no critic: `gin train ppo` writes one")
        settings = json.loads(metadata.get("settings", "{}"))
        return pack(found, float(settings.get("unit", 30.0)), float(settings.get("potential", 0.0)))
    except ValueError as error:
        raise ValueError(f"agent: {spec}: {error}") from None
