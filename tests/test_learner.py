"""MaskablePPO trains on the Gymnasium environment as it is; `make test-train` runs this."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import ginenv

OPTIONS: dict[str, Any] = {
    "opponent": "random",
    "rules": ginenv.rules("eaai", knock_limit=20),  # of random hands at 10 or less nine in ten are dead
    "encoding": "features-v1",
    "episode": "hand",
}


@pytest.mark.train
def test_maskable_ppo_learns_to_beat_random():
    """A minute of training: 81,920 decisions. It then wins about nine hands of ten."""
    sb3 = pytest.importorskip("sb3_contrib")
    vec = pytest.importorskip("stable_baselines3.common.vec_env")
    envs = vec.DummyVecEnv([lambda: gymnasium.make("ginenv/GinRummy-v0", **OPTIONS) for _ in range(32)])
    envs.seed(1)
    model = sb3.MaskablePPO(
        "MlpPolicy", envs, n_steps=64, batch_size=512, n_epochs=4, gamma=1.0, learning_rate=1e-3, ent_coef=0.01,
        policy_kwargs={"net_arch": [128, 128]}, seed=1, device="cpu",
    )  # fmt: skip
    model.learn(81_920)
    env = gymnasium.make("ginenv/GinRummy-v0", **OPTIONS)
    returns = []
    for hand in range(400):
        seen, info = env.reset(seed=1000 + hand)
        total, done = 0.0, False
        while not done:
            action, _ = model.predict(seen, action_masks=info["action_mask"].astype(bool), deterministic=True)
            seen, reward, terminated, truncated, info = env.step(int(action))
            total += float(reward)
            done = terminated or truncated
        returns.append(total)
    assert np.mean(np.array(returns) > 0) > 0.75
    assert np.mean(returns) > 15
