"""Your own tools on this game: MaskablePPO of sb3-contrib learns on the Gymnasium environment against `simple`.

    python -m experiments.example_maskable_ppo

Read it from top to bottom; the result stands in docs/training.md. It needs `pip install 'ginenv[sb3]'`.
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium
import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv

import ginenv  # noqa: F401 - registers the environment
from experiments.stats import mean, share

OPPONENT, RULES = "simple", "eaai"
ENVIRONMENTS, STEPS = 32, 128
"""Environments side by side, and decisions in each between two updates."""


def make_environment() -> Any:
    """Return an environment: one hand is an episode, its reward the points won (lost: negative) at its end."""
    env = gymnasium.make(
        "ginenv/GinRummy-v0", opponent=OPPONENT, rules=RULES, encoding="features-v1", episode="hand", reward="points"
    )
    return gymnasium.wrappers.TransformReward(env, lambda points: float(points) / 30)


def masks(env: Any) -> np.ndarray:
    """Return the legal actions of each environment: sb3-contrib asks an environment's `action_masks` for them."""
    return np.stack(env.env_method("action_masks"))


def main() -> None:
    """Learn, then play fresh hands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decisions", type=int, default=300_000, help="to learn from (default 300,000)")
    parser.add_argument("--hands", type=int, default=2000, help="fresh hands to measure on (default 2000)")
    parser.add_argument("--seed", type=int, default=1, help="seed (default 1)")
    args = parser.parse_args()

    envs = DummyVecEnv([make_environment] * ENVIRONMENTS)
    envs.seed(args.seed)
    model = MaskablePPO(
        "MlpPolicy", envs, n_steps=STEPS, batch_size=1024, n_epochs=2, gamma=1.0, gae_lambda=0.9, learning_rate=1e-3,
        ent_coef=0.02, policy_kwargs={"net_arch": [256, 256]}, seed=args.seed, device="cpu",
    )  # fmt: skip
    model.learn(args.decisions)

    # Fresh hands, in step: another seed, and the likeliest action each time.
    envs.seed(args.seed + 1_000_000)
    seen, points = envs.reset(), list[float]()
    while len(points) < args.hands:
        actions, _ = model.predict(seen, action_masks=masks(envs), deterministic=True)
        seen, rewards, dones, _ = envs.step(actions)
        points += [30 * float(reward) for reward, done in zip(rewards, dones, strict=True) if done]
    won = np.array(points[: args.hands])
    average, wins = mean(won), share((won > 0).astype(float))
    print(f"{args.decisions:,} decisions, then {args.hands:,} hands against {OPPONENT}, rules {RULES}:")
    print(f"points a hand {average.value:+.2f} ± {average.half:.2f}")
    print(f"hands won {100 * wins.value:.1f} ± {100 * wins.half:.1f} %, lost {100 * np.mean(won < 0):.1f} %")


if __name__ == "__main__":
    main()
