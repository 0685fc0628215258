"""Environments: PettingZoo AEC, Gymnasium with one learner, and the native batch of tables."""

from __future__ import annotations

import gymnasium
import pettingzoo

GYMNASIUM_ID = "ginenv/GinRummy-v0"
PETTINGZOO_ID = "ginenv/gin_rummy_v0"


def register_environments() -> None:
    """Make the environments known by name to Gymnasium and PettingZoo; ``import ginenv`` does it."""
    if GYMNASIUM_ID not in gymnasium.registry:
        gymnasium.register(
            GYMNASIUM_ID,
            entry_point="ginenv.envs.single:GinRummyEnv",
            vector_entry_point="ginenv.envs.single_vector:GinRummyVectorEnv",
        )
    if PETTINGZOO_ID not in pettingzoo.aec_registry:
        pettingzoo.register("aec", PETTINGZOO_ID, entry_point="ginenv.envs.aec:env")
