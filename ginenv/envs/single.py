"""The Gymnasium environment: one learner, player 0, against a given opponent, who plays for all others."""

from __future__ import annotations

from typing import Any, Unpack

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from ginenv.actions import IllegalAction, why_illegal
from ginenv.envs.desk import RENDER_MODES, Desk, Options
from ginenv.envs.episode import ENDED, RUNNING, TRUNCATED, checked_reward
from ginenv.envs.opponent import AgentError, Opponent, ask, check_players, find, name_of
from ginenv.lay import automatic_action
from ginenv.rng import checked_seed, mix
from ginenv.rules import Rules
from ginenv.state import OVER_PHASE

LEARNER = 0


class GinRummyEnv(gymnasium.Env[np.ndarray, np.int64]):
    """Gin rummy against an opponent; made by ``gymnasium.make("ginenv/GinRummy-v0", opponent="simple")``.

    Observations are float32 of shape (size,), see docs/encodings.md; ``info["action_mask"]`` and ``action_masks()``
    give the legal actions, as sb3-contrib's MaskablePPO wants them. The first dealer is drawn by chance, so seat 0
    is no advantage. A hand that ends before the learner's first decision is dealt again (rare between two; in a game
    it counts). Under rules with more players the opponent plays for all others, a partner included.

    Args:
        opponent: An agent, or its spec string.
        rules: A preset's name or `Rules`.
        illegal_reward: None: an illegal action of the learner raises `IllegalAction` and changes nothing. A number: it
            ends the episode with this reward (I1), as Gymnasium's ``check_env`` wants, which plays any action at all.
        options: ``episode``, ``reward``, ``encoding`` and ``render_mode`` (`ginenv.envs.desk.Options`). Drawings show
            what the learner sees.

    Options but the opponent and the rules are given by name. Where the rules make the settlement actions, the opponent
    settles as the automatic settlement would (`ginenv.lay.automatic_action`).

    An opponent that raises or acts illegally does not lose by it, or the learner would learn to break it: `reset` and
    `step` raise `ginenv.envs.opponent.AgentError`, which names it, and the next call must be `reset`.

    Raises:
        ValueError: for an unknown option value, in one sentence.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 2}

    def __init__(
        self,
        opponent: str | Opponent = "simple",
        rules: str | Rules = "modern",
        *,
        illegal_reward: float | None = None,
        **options: Unpack[Options],
    ) -> None:
        self._desk = Desk(rules, **options)
        self._opponent = find(opponent)
        check_players(self._opponent, self._desk.rules)
        self._illegal_reward = None if illegal_reward is None else checked_reward("illegal_reward", illegal_reward)
        self.render_mode = self._desk.render_mode
        self.observation_space = self._desk.observation_space()
        self.action_space = spaces.Discrete(self._desk.n_actions)
        self._mask = np.zeros(self._desk.n_actions, dtype=np.int8)
        self._decisions = 0
        self._running = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode; ``seed`` begins a repeatable sequence of episodes.

        Raises:
            ValueError: when the seed is no whole number from 0 to 2**63 - 1, or options are given.
            AgentError: when the opponent fails.
        """
        if options:
            raise ValueError(f"reset: there are no options, and {', '.join(map(str, options))} was given")
        seed = None if seed is None else checked_seed(seed)
        super().reset(seed=seed)
        self._running = False
        while True:
            self._desk.begin(seed)
            seed = None
            self._decisions = 0
            _, outcome = self._reply()
            if outcome == RUNNING:
                self._running = True
                return self._seen()

    def step(self, action: int | np.int64) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Play ``action``, then the opponent until the learner is due again.

        Raises:
            IllegalAction: naming the action and the reason, without an ``illegal_reward``; nothing has changed.
            TypeError: when the action is no whole number; nothing has changed.
            AgentError: when the opponent fails; `reset` is due.
            ResetNeeded: when no episode is under way.
        """
        if not self._running:
            raise ResetNeeded("step: no episode is under way, call reset() first")
        try:
            outcome = self._desk.act(action)
        except IllegalAction:
            if self._illegal_reward is None:
                raise
            self._running = False
            observation, info = self._seen()
            return observation, self._illegal_reward, True, False, info
        self._running = False  # until the opponent has played, too
        reward = float(self._desk.rewards[LEARNER])
        if outcome == RUNNING:
            gained, outcome = self._reply()
            reward += gained
        self._running = outcome == RUNNING
        observation, info = self._seen()
        if self.render_mode == "human":
            self.render()
        return observation, reward, outcome == ENDED, outcome == TRUNCATED, info

    def action_masks(self) -> np.ndarray:
        """Return the learner's legal actions: bool, shape (108,), or longer where the rules have more actions."""
        return self._mask.astype(bool)

    def render(self) -> Any:
        """Draw the table as the learner sees it, in the ``render_mode``."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() needs a render_mode: make the environment with one")
            return None
        others = self._desk.rules.players - 1
        names = ("opponent",) if others == 1 else tuple(f"opponent {k}" for k in range(1, others + 1))
        return self._desk.render(LEARNER, ("learner", *names))

    def _reply(self) -> tuple[float, int]:
        """Let the opponent play while it is due. Returns the learner's reward and the outcome."""
        reward, outcome = 0.0, RUNNING
        while outcome == RUNNING and self._desk.player != LEARNER:
            keys = np.array([mix(self._desk.key(), self._decisions)], dtype=np.int64)
            self._decisions += 1
            view = self._desk.view(self._desk.player)
            if view[0]["phase"] > OVER_PHASE:  # agents play hands: they settle as the automatic settlement would
                action = int(automatic_action(view[0], self._desk.rules.record))
            else:
                action = int(ask(self._opponent, view, self._desk.rules, keys)[0])
            why = why_illegal(self._desk.states[0], self._desk.rules, action)
            if why is not None:
                raise AgentError(f"agent {name_of(self._opponent)} acted illegally: {why}")
            outcome = self._desk.play(action)
            reward += float(self._desk.rewards[LEARNER])
        return reward, outcome

    def _seen(self) -> tuple[np.ndarray, dict[str, Any]]:
        observation, self._mask = self._desk.observe(LEARNER)
        return observation, {"action_mask": self._mask}
