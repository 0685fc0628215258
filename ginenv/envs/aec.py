"""The PettingZoo AEC environment, of two to six players."""

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
from ginenv.rules import rules as rules_of


class raw_env(AECEnv):  # noqa: N801 - PettingZoo's name
    """Gin rummy for PettingZoo.

    Agents are ``player_0``, ``player_1`` and so on, as many as the rules have players. Where two of three or four play
    a hand (V5, V6), the others are never selected until it is their turn to play again; their observation is 0
    everywhere, and they are given rewards as everyone is. Partners are 0 and 2 against 1 and 3; the two hands of a
    round are played one after the other, nobody being told how the first went before both are over.

    Each is given a dict: ``observation``, float32 of shape (size,), see docs/encodings.md, and ``action_mask``,
    int8 of shape (108,), all zero off turn; rules with more actions have more (`ginenv.state.n_actions`). A player sees
    the own cards and what lies open; nothing else is in either.

    Args:
        rules: A preset's name or `Rules`.
        num_players: How many play, instead of the rules' number (2 to 6, as the rules allow).
        episode: ``"hand"`` (of partners: a round) or ``"game"`` (to its end, with the ledger's boxes and bonuses; in
            Hollywood to the end of all three columns).
        reward: ``"points"`` (what a hand scores, less the mean of what the others score: for two the loser's is the
            winner's with a minus; over a game they add up to its margin) or ``"win"`` (1 and -1, with more than two
            players the -1 shared; 0 for a dead hand; at the end). Rewards always sum to 0.
        encoding: A name of `ginenv.encode.ENCODINGS`; by default planes-v1, where the rules have more actions
            planes-v2, for more than two at one table table-v1.
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
        num_players: int | None = None,
        episode: str = "hand",
        reward: str = "points",
        encoding: str | None = None,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        rules = rules_of(rules)
        if num_players is not None:
            rules = rules.but(players=num_players)
        self._desk = Desk(rules, episode, reward, encoding, render_mode)
        self.render_mode = render_mode
        self.possible_agents = [f"player_{k}" for k in range(rules.players)]
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
        self.agent_selection = self.possible_agents[self._desk.player]

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
        for player, name in enumerate(self.possible_agents):
            self.rewards[name] = float(self._desk.rewards[player])
            self.terminations[name] = outcome == ENDED
            self.truncations[name] = outcome == TRUNCATED
        self.agent_selection = self.possible_agents[self._desk.player]
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def _refuse(self, agent: str, action: int) -> None:
        """Answer an illegal action: an error here, a loss in `env`."""
        raise self._desk.illegal(action)

    def render(self) -> str | np.ndarray | None:
        """Draw the table as the player to act sees it, in the ``render_mode``."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() needs a render_mode: make the environment with one")
            return None
        return self._desk.render(self._desk.player, tuple(self.possible_agents))

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
