"""The PettingZoo AEC environment of two seats."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils.env_logger import EnvLogger

from ginenv.envs.desk import ILLEGAL, RENDER_MODES, Desk
from ginenv.envs.episode import ENDED, TRUNCATED, checked_reward
from ginenv.rules import Rules


class raw_env(AECEnv):  # noqa: N801 - PettingZoo's name
    """Gin rummy for PettingZoo.

    Each seat is given a dict: ``observation``, float32 of shape (size,), see docs/encodings.md, and ``action_mask``,
    int8 of shape (108,), all zero off turn; rules with more actions have more (`ginenv.state.n_actions`). A seat sees
    its own cards and what lies open; nothing else is in either.

    Args:
        rules: A preset's name or `Rules`.
        episode: ``"hand"`` or ``"game"`` (to the target, with the ledger's boxes and bonuses; in Hollywood to the end
            of all three columns).
        reward: ``"points"`` (zero-sum: what a hand scores; over a game they add up to its margin) or ``"win"`` (1,
            -1, and 0 for a dead hand, at the end).
        encoding: A name of `ginenv.encode.ENCODINGS`.
        render_mode: ``"ansi"``, ``"rgb_array"``, ``"human"`` (prints), or None. Drawings show what the seat to act
            sees.

    Options but the rules are given by name.

    Raises:
        ValueError: for an unknown option value, in one sentence.
    """

    metadata = {
        "render_modes": list(RENDER_MODES),
        "name": "gin_rummy_v0",
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        rules: str | Rules = "modern",
        *,
        episode: str = "hand",
        reward: str = "points",
        encoding: str = "planes-v1",
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self._desk = Desk(rules, episode, reward, encoding, render_mode)
        self.render_mode = render_mode
        self.possible_agents = ["player_0", "player_1"]
        self.agents: list[str] = []
        # PettingZoo wants the same space object at each call.
        self.observation_spaces = {
            name: spaces.Dict(
                {
                    "observation": self._desk.observation_space(),
                    "action_mask": spaces.Box(0, 1, shape=(self._desk.n_actions,), dtype=np.int8),
                }
            )
            for name in self.possible_agents
        }
        self.action_spaces = {name: spaces.Discrete(self._desk.n_actions) for name in self.possible_agents}

    @property
    def rules(self) -> Rules:
        """The rules played."""
        return self._desk.rules

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the observation space of ``agent``."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the action space of ``agent``: Discrete(108), or more where the rules have more actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode; ``seed`` begins a repeatable sequence of episodes. ``options`` has none and is ignored."""
        self._desk.begin(seed)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {name: {} for name in self.agents}
        self.agent_selection = self.possible_agents[self._desk.seat]

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """Return what ``agent`` sees now, on turn or off."""
        observation, mask = self._desk.observe(self.possible_agents.index(agent))
        if self.terminations.get(agent, True) or self.truncations.get(agent, True) or agent != self.agent_selection:
            mask[:] = 0
        return {"observation": observation, "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Play ``action`` for ``agent_selection``.

        Raises:
            IllegalAction: naming the action and the reason; nothing has changed (I1).
            TypeError: when the action is no whole number.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise ValueError(f"{agent} is due to act, and None is no action: see its action_mask")
        outcome = self._desk.play(action)
        if outcome == ILLEGAL:
            self._refuse(agent, action)
            return
        self._cumulative_rewards[agent] = 0.0
        for seat, name in enumerate(self.possible_agents):
            self.rewards[name] = float(self._desk.rewards[seat])
            self.terminations[name] = outcome == ENDED
            self.truncations[name] = outcome == TRUNCATED
        self.agent_selection = self.possible_agents[self._desk.seat]
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def _refuse(self, agent: str, action: int) -> None:
        """Answer an illegal action: an error here, a loss in `env`."""
        raise self._desk.illegal(action)

    def render(self) -> str | np.ndarray | None:
        """Draw the table as the seat to act sees it, in the ``render_mode``."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() needs a render_mode: make the environment with one")
            return None
        seat = self._desk.seat
        names = (self.possible_agents[seat], self.possible_agents[1 - seat])
        return self._desk.render(seat, names)

    def close(self) -> None:
        """Nothing is held open."""

    def __getattr__(self, name: str) -> Any:
        """Say what is missing when an attribute of a running episode is asked for too early."""
        if name in ("agent_selection", "rewards", "terminations", "truncations", "infos", "_cumulative_rewards"):
            raise AttributeError(f"{name}: there is none before the first reset()")
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")


class env(raw_env):  # noqa: N801 - PettingZoo's name
    """`raw_env` made safe for training loops: an illegal action ends the episode instead of raising (I1).

    It does what PettingZoo's chain of wrappers (illegal moves, bounds, order) does, in one class: passing each
    attribute through three wrappers took four times as long as the game.

    Args:
        rules: As for `raw_env`.
        illegal_reward: What the seat that acts illegally is given; the other gets nothing. A number that is no action
            of the game is an error in any case.
        options: The other ones of `raw_env`.
    """

    def __init__(self, rules: str | Rules = "modern", *, illegal_reward: float = -1.0, **options: Any) -> None:
        super().__init__(rules, **options)
        self._illegal_reward = checked_reward("illegal_reward", illegal_reward)

    def _refuse(self, agent: str, action: int) -> None:
        EnvLogger.warn_on_illegal_move()
        self._cumulative_rewards[agent] = 0.0
        self.rewards = {name: self._illegal_reward if name == agent else 0.0 for name in self.agents}
        self.terminations = dict.fromkeys(self.agents, True)
        self._accumulate_rewards()
