"""Many tables of one learner against an opponent, as a `gymnasium.vector.VectorEnv`."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ginenv.actions import IllegalAction, checked_actions, why_illegal
from ginenv.deal import deal, new_game
from ginenv.encode import encode
from ginenv.envs.desk import Desk, Options
from ginenv.envs.episode import ENDED, NEXT_HAND, RUNNING, TRUNCATED, advance, checked_count
from ginenv.envs.opponent import AgentError, Opponent, ask, check_players, find, name_of
from ginenv.envs.single import LEARNER
from ginenv.jit import kernel
from ginenv.lay import automatic_action
from ginenv.rng import apart, checked_seed, mix
from ginenv.rules import Rules
from ginenv.state import OVER_PHASE, new_states
from ginenv.step import is_legal, write_mask
from ginenv.view import VIEW, look


class GinRummyVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """``num_envs`` tables in step; made by ``gymnasium.make_vec("ginenv/GinRummy-v0", num_envs=…)``.

    Options are those of `ginenv.envs.single.GinRummyEnv`, and table ``i`` seeded with ``s`` plays what a single
    environment seeded with ``mix(s, i)`` plays, whatever the number of tables. A finished table is dealt anew in the
    same step (AutoresetMode.SAME_STEP): its last observation is in ``info["final_obs"]``. ``info["action_mask"]`` is
    int8, (num_envs, 108), or more where the rules have more actions.

    There is no ``illegal_reward``: an illegal action of the learner raises `IllegalAction` and changes no table. When
    the opponent raises or acts illegally, `reset` and `step` raise `ginenv.envs.opponent.AgentError`, which names it;
    some tables have then moved and others not, so the next call must be `reset`.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(
        self,
        num_envs: int = 1,
        opponent: str | Opponent = "simple",
        rules: str | Rules = "modern",
        **options: Unpack[Options],
    ) -> None:
        num_envs = checked_count("num_envs", num_envs)
        if options.get("render_mode") is not None:
            raise ValueError("environment: many tables are not drawn: leave render_mode out")
        desk = Desk(rules, **options)
        self.rules, self._episode, self._reward, self.encoding = desk.rules, desk.episode, desk.reward, desk.encoding
        self._opponent = find(opponent)
        check_players(self._opponent, self.rules)
        self.num_envs = num_envs
        self.render_mode = None
        self.single_observation_space = desk.observation_space()
        self.single_action_space = spaces.Discrete(desk.n_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._states = new_states(num_envs)
        self._views = np.zeros(num_envs, dtype=VIEW)
        self._codes = np.zeros((num_envs, self.encoding.size), dtype=np.int8)
        self._masks = np.zeros((num_envs, desk.n_actions), dtype=np.int8)
        self._seeds: np.ndarray | None = None
        self._roots = np.zeros(0, dtype=np.int64)  # of the opponent's keys
        self._running = False
        self._episodes = np.zeros(num_envs, dtype=np.int64)
        self._decisions = np.zeros(num_envs, dtype=np.int64)
        self._outcomes = np.zeros(num_envs, dtype=np.int64)
        self._earned = np.zeros((num_envs, desk.rules.players), dtype=np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode at every table; ``seed`` begins a repeatable sequence of them.

        Raises:
            ValueError: when the seed is no whole number from 0 to 2**63 - 1, or options are given.
            AgentError: when the opponent fails.
        """
        if options:
            raise ValueError(f"reset: there are no options, and {', '.join(map(str, options))} was given")
        if seed is not None or self._seeds is None:
            base = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else checked_seed(seed)
            self._seeds = np.array([mix(base, i) for i in range(self.num_envs)], dtype=np.int64)
            self._roots = np.array([apart(seed) for seed in self._seeds], dtype=np.int64)
            self._episodes[:] = 0
        self._running = False
        self._begin(np.arange(self.num_envs))
        self._running = True
        return self._observe(), self._info()

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Play the learner's action at every table, then the opponent until the learner is due everywhere.

        Raises:
            IllegalAction: naming the first table with one; no table has changed.
            ValueError, TypeError: when these are not as many whole numbers; no table has changed.
            AgentError: when the opponent fails; `reset` is due.
            ResetNeeded: when `reset` is due.
        """
        if not self._running:
            raise ResetNeeded("step: no episodes are under way, call reset() first")
        actions = checked_actions(actions, self.num_envs)
        self._outcomes[:] = RUNNING
        self._earned[:] = 0
        everyone = np.arange(self.num_envs)
        bad, why = self._play(everyone, actions)
        if why is not None:
            raise IllegalAction(f"table {bad}: {why}; no table was changed")
        self._running = False  # until the opponent has played, too
        self._reply(everyone)
        rewards = self._earned[:, LEARNER].astype(np.float64)
        ended, truncated = self._outcomes == ENDED, self._outcomes == TRUNCATED
        info: dict[str, Any] = {}
        over = ended | truncated
        if over.any():
            last = self._observe()
            final = np.full(self.num_envs, None, dtype=object)
            for i in np.flatnonzero(over):
                final[i] = last[i].copy()
            info = {"final_obs": final, "_final_obs": over}
            self._begin(np.flatnonzero(over))
        self._running = True
        observations = self._observe()
        return observations, rewards, ended, truncated, info | self._info()

    def _begin(self, tables: np.ndarray) -> None:
        """Deal new episodes, again where the opponent ends a hand before the learner has acted."""
        assert self._seeds is not None
        while len(tables):
            self._outcomes[tables] = RUNNING
            _begin_all(self._states, self.rules.record, tables, self._seeds, self._episodes)
            self._episodes[tables] += 1
            self._decisions[tables] = 0
            self._reply(tables)
            tables = tables[self._outcomes[tables] != RUNNING]

    def _reply(self, tables: np.ndarray) -> None:
        """Let the opponent play at ``tables`` until it is due at none."""
        assert self._seeds is not None
        while True:
            movers = self._states["player"][tables, self._states["seat"][tables]]
            tables = tables[(self._outcomes[tables] == RUNNING) & (movers != LEARNER)]
            if not len(tables):
                return
            keys = np.zeros(len(tables), dtype=np.int64)
            _look_all(
                self._states, self.rules.record, tables, self._roots, self._episodes, self._decisions, self._views, keys
            )
            self._decisions[tables] += 1
            bad, why = self._play(tables, self._answers(self._views[: len(tables)], keys))
            if why is not None:
                raise AgentError(f"agent {name_of(self._opponent)} acted illegally at table {bad}: {why}")

    def _answers(self, views: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Return the opponent's actions; where a knock is settled by hand, those of the automatic settlement."""
        if not self.rules.more_actions:
            return ask(self._opponent, views, self.rules, keys)
        actions = np.zeros(len(views), dtype=np.int64)
        playing = views["phase"] < OVER_PHASE
        _settle_all(views, self.rules.record, playing, actions)
        if playing.any():
            actions[playing] = ask(self._opponent, views[playing], self.rules, keys[playing])
        return actions

    def _play(self, tables: np.ndarray, actions: np.ndarray) -> tuple[int, str | None]:
        """Play all actions, or none: then the first table with an illegal one is returned, and the reason."""
        bad = _play_all(
            self._states, self.rules.record, self._episode, self._reward, tables, actions, self._earned, self._outcomes
        )
        if bad < 0:
            return -1, None
        return int(tables[bad]), why_illegal(self._states[tables[bad]], self.rules, int(actions[bad]))

    def _observe(self) -> np.ndarray:
        _observe_all(self._states, self.rules.record, self.encoding.code, self._views, self._codes, self._masks)
        return self._codes * self.encoding.scale

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._masks.copy(), "_action_mask": np.ones(self.num_envs, dtype=bool)}


@kernel
def _begin_all(states, rules, tables, seeds, episodes):
    for i in tables:
        new_game(states[i], rules, mix(seeds[i], episodes[i]))


@kernel
def _look_all(states, rules, tables, roots, episodes, decisions, views, keys):
    for n in range(tables.shape[0]):
        i = tables[n]
        look(states[i], rules, states[i]["seat"], views[n])
        keys[n] = mix(mix(roots[i], episodes[i]), decisions[i])


@kernel
def _settle_all(views, rules, playing, actions):
    """Write the automatic settlement's action of each VIEW in which no hand is played any more."""
    for n in range(views.shape[0]):
        if not playing[n]:
            actions[n] = automatic_action(views[n], rules)


@kernel
def _play_all(states, rules, episode, reward, tables, actions, earned, outcomes):
    """Play all actions, or none: then the index of the first illegal one is returned, else -1."""
    for n in range(tables.shape[0]):
        if not is_legal(states[tables[n]], actions[n]):
            return n
    gained = np.zeros(earned.shape[1], np.float32)
    for n in range(tables.shape[0]):
        i = tables[n]
        outcome = advance(states[i], rules, episode, reward, actions[n], gained)
        if outcome == NEXT_HAND:
            deal(states[i], rules)
            outcome = RUNNING
        outcomes[i] = outcome
        for player in range(gained.shape[0]):
            earned[i, player] += gained[player]
    return -1


@kernel
def _observe_all(states, rules, code, views, codes, masks):
    for i in range(states.shape[0]):
        seat = 0
        while seat < rules["players"] and states[i]["player"][seat] != LEARNER:
            seat += 1
        if seat == rules["players"]:  # the learner sits out, and sees nothing
            codes[i] = 0
            masks[i] = 0
            continue
        look(states[i], rules, seat, views[i])
        encode(views[i], rules, code, codes[i])
        write_mask(views[i], masks[i])
