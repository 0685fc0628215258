"""`Tables`: thousands of tables stepped by one kernel call, for self-play (all seats are yours).

>>> tables = Tables(1024, "modern", seed=7, encoding="features-v1")
>>> while learning:
...     actions = choose(tables.observations, tables.action_masks)  # for tables.seats
...     tables.step(actions)
...     learn(tables.rewards, tables.dones, tables.returns)
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from ginenv.actions import IllegalAction, checked_actions, why_illegal
from ginenv.cards import count, lowest
from ginenv.deal import cut_short, deal, new_game
from ginenv.encode import encode, encoding_for
from ginenv.envs.episode import (
    EPISODES,
    NEXT_HAND,
    REWARDS,
    RUNNING,
    advance,
    checked_count,
    choice,
)
from ginenv.jit import kernel
from ginenv.ledger import standing
from ginenv.rng import below, checked_seed, mix
from ginenv.rules import Rules
from ginenv.rules import rules as rules_of
from ginenv.state import DISCARD, KNOCK, n_actions, new_states
from ginenv.step import any_legal, has_more, is_legal, write_mask
from ginenv.view import VIEW, look

_GAME = EPISODES.index("game")
_POINTS = REWARDS.index("points")


@kernel
def episode_seed(seed, table, episode):
    """Return the game's seed (`ginenv.deal.new_game`) of a table's ``episode``-th episode, both from 0."""
    return mix(mix(seed, table), episode)


@kernel
def _show(s, rules, code, view, observation, mask):
    """Write VIEW, encoding and legal actions of the seat to act."""
    look(s, rules, s["seat"], view)
    encode(view, rules, code, observation)
    write_mask(view, mask)


@kernel
def _begin(states, rules, seed, episodes, code, views, observations, masks, seats):
    """Deal at every table the episode whose number stands in ``episodes``."""
    for i in range(states.shape[0]):
        s = states[i]
        new_game(s, rules, episode_seed(seed, i, episodes[i]))
        _show(s, rules, code, views[i], observations[i], masks[i])
        seats[i] = s["player"][s["seat"]]


@kernel
def _show_all(states, rules, code, views, observations, masks, seats):
    """Write what `_show` writes, and the seat to act, at every table."""
    for i in range(states.shape[0]):
        _show(states[i], rules, code, views[i], observations[i], masks[i])
        seats[i] = states[i]["player"][states[i]["seat"]]


@kernel
def _first_illegal(states, actions):
    """Return the first table whose action is illegal; -1 when there is none."""
    for i in range(states.shape[0]):
        if not is_legal(states[i], actions[i]):
            return i
    return -1


@kernel
def _step_all(
    states, rules, seed, episodes, options, actions, views, observations, masks, seats, rewards, returns,
    dones, truncated, kinds,
):  # fmt: skip
    """Step every table, or none when an action is illegal; returns as `_first_illegal`."""
    bad = _first_illegal(states, actions)
    if bad >= 0:
        return bad
    code, episode, reward = options
    for i in range(states.shape[0]):
        s = states[i]
        outcome = advance(s, rules, episode, reward, actions[i], rewards[i])
        dones[i], truncated[i], kinds[i] = False, False, 0
        if outcome != RUNNING:
            kinds[i] = s["kind"]
            truncated[i] = cut_short(s, rules)
            if outcome == NEXT_HAND:
                deal(s, rules)
            else:
                dones[i] = True
                for seat in range(rewards.shape[1]):
                    player = s["player"][seat]
                    returns[i, player] = rewards[i, player]
                    if episode == _GAME and reward == _POINTS:
                        returns[i, player] = standing(s, rules, seat)
                episodes[i] += 1
                new_game(s, rules, episode_seed(seed, i, episodes[i]))
        _show(s, rules, code, views[i], observations[i], masks[i])
        seats[i] = s["player"][s["seat"]]
    return -1


@kernel
def _nth(mask, n):
    """Return ``mask`` less its ``n`` lowest bits."""
    for _ in range(n):
        mask &= mask - 1
    return mask


@kernel
def random_actions(views, key, out):
    """Choose for each VIEW of a seat to act any of its legal actions, with equal chance.

    Args:
        views: VIEW, shape (n,).
        key: Names the choice (int64, `ginenv.rng`): give each step another.
        out: int64, shape (n,), written.
    """
    for i in range(views.shape[0]):
        v = views[i]
        if has_more(v):
            out[i] = any_legal(v, key, i)
            continue
        choices, discards, knocks = np.int64(v["choices"]), v["discards"], v["knocks"]
        n_choices, n_discards = count(choices), count(discards)
        pick = below(key, i, n_choices + n_discards + count(knocks))
        if pick < n_choices:
            rest = _nth(choices, pick)
            out[i] = count((rest & -rest) - 1)
        elif pick < n_choices + n_discards:
            out[i] = DISCARD + lowest(_nth(discards, pick - n_choices))
        else:
            out[i] = KNOCK + lowest(_nth(knocks, pick - n_choices - n_discards))


class Tables:
    """A batch of tables at which all seats are yours; finished episodes restart in place in the same step.

    Args:
        n: Number of tables.
        rules: A preset's name or `Rules`.
        seed: Names the whole run, 0 to 2**63 - 1. Table i's k-th episode is a game with the seed
            ``episode_seed(seed, i, k)`` (`ginenv.deal.new_game`): the same whatever ``n`` is.
        episode: ``"hand"``, one hand from a score of 0, or ``"game"``, hands up to the target or number.
        encoding: A name of `ginenv.encode.ENCODINGS`; the default is by the rules (`ginenv.encode.encoding_for`).
        reward: ``"points"``: the hand's points for its winner and as many less for the loser, at each hand's end;
            at a game's end also what boxes and bonuses add, so that the sum is the game's margin. ``"win"``:
            1, -1, or 0 for nobody's, at the episode's end. For more than two see `ginenv.envs.episode.advance`.

    The arrays below are the tables' own, overwritten in place by `step` and `reset`: copy what you keep, and do not
    write to them. After a step they tell of the decision due (``observations``, ``action_masks``, ``views``,
    ``seats``) and of what the step did (``rewards``, ``dones``, ``truncated``, ``kinds``, ``returns``).

    Attributes:
        observations: int8, shape (n, size): the encoded view of the seat to act.
        action_masks: int8, shape (n, 108), or more where the rules have more actions (`ginenv.state.n_actions`): 1 for
            its legal actions.
        views: VIEW, shape (n,): its view, for agents that want it (`random_actions`, native policies).
        seats: int8, shape (n,): the player whose decision it is; that is the seat, but for V5 and V6.
        rewards: float32, shape (n, players): of all players for this step. They sum to zero.
        dones: bool, shape (n,): the episode ended; the table shows the next one already.
        truncated: bool, shape (n,): the hand ended by the turn limit (H15). The rules call that a dead hand
            worth nothing, so with ``episode="hand"`` the episode is done as well, and in a game the next is dealt.
        kinds: uint8, shape (n,): the `ginenv.state.Kind` of the hand that this step ended, 0 for none.
        returns: float32, shape (n, players): of the episode that ended, for all players; valid where ``dones``.
        episodes: int64, shape (n,): number of the episode that the table is in, from 0.

    Raises:
        ValueError: for an impossible option; the sentence names it.
    """

    _fresh = False
    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(
        self,
        n: int,
        rules: str | Rules = "modern",
        seed: int = 0,
        episode: str = "hand",
        encoding: str | None = None,
        reward: str = "points",
    ) -> None:
        self.n = checked_count("n", n)
        self.seed = checked_seed(seed)
        self.rules = rules_of(rules)
        self.episode = episode
        self.reward = reward
        self.encoding = encoding_for(self.rules, encoding)
        code = self.encoding.code
        self._options = (code, choice("episode", episode, EPISODES), choice("reward", reward, REWARDS))
        self._states = new_states(self.n)
        self._actions = np.zeros(self.n, dtype=np.int64)
        self.views = np.zeros(self.n, dtype=VIEW)
        self.observations = np.zeros((self.n, self.encoding.size), dtype=np.int8)
        self.action_masks = np.zeros((self.n, n_actions(self.rules)), dtype=np.int8)
        self.seats = np.zeros(self.n, dtype=np.int8)
        self.rewards = np.zeros((self.n, self.rules.players), dtype=np.float32)
        self.returns = np.zeros_like(self.rewards)
        self.dones = np.zeros(self.n, dtype=np.bool_)
        self.truncated = np.zeros(self.n, dtype=np.bool_)
        self.kinds = np.zeros(self.n, dtype=np.uint8)
        self.episodes = np.zeros(self.n, dtype=np.int64)
        self.reset(seed)

    def reset(self, seed: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Begin an episode at every table; rules and all other options stay.

        Args:
            seed: Begins the run with this seed at the episodes 0. None goes on to each table's next episode (tables
                that were not stepped since they were dealt stay as they are).

        Returns:
            ``(observations, action_masks)``.

        Raises:
            ValueError: when the seed is out of range.
        """
        if seed is not None:
            self.seed = checked_seed(seed)
            self.episodes[:] = 0
        elif self._fresh:
            return self.observations, self.action_masks
        else:
            self.episodes += 1
        for array in (self.rewards, self.returns, self.dones, self.truncated, self.kinds):
            array[:] = 0
        _begin(
            self._states, self.rules.record, self.seed, self.episodes, self.encoding.code, self.views,
            self.observations, self.action_masks, self.seats,
        )  # fmt: skip
        self._fresh = True
        return self.observations, self.action_masks

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Play one action at every table, and deal anew where that ended an episode.

        Args:
            actions: Whole numbers, shape (n,): for each table an action of the seat to act.

        Returns:
            ``(observations, rewards, dones, truncated)``: the tables' own arrays.

        Raises:
            IllegalAction: when an action is illegal; it names the first such table. No table is changed.
            ValueError: when the actions have another shape.
            TypeError: when they are not whole numbers.
        """
        self._actions[:] = checked_actions(actions, self.n)
        bad = _step_all(
            self._states, self.rules.record, self.seed, self.episodes, self._options, self._actions, self.views,
            self.observations, self.action_masks, self.seats, self.rewards, self.returns, self.dones,
            self.truncated, self.kinds,
        )  # fmt: skip
        if bad >= 0:
            why = why_illegal(self._states[bad], self.rules, int(self._actions[bad]))
            raise IllegalAction(f"table {bad}, seat {self.seats[bad]}: {why}; no table was changed")
        self._fresh = False
        return self.observations, self.rewards, self.dones, self.truncated

    @property
    def states(self) -> np.ndarray:
        """What lies on the tables, hidden cards included: STATE, shape (n,), not to be written to.

        For a critic in training, and for tests; whatever plays is given `observations` or `views`.
        """
        return self._states

    def snapshot(self) -> dict[str, np.ndarray]:
        """Return copies of what `restore` needs to go on from here: ``states``, STATE, and ``episodes``, shape (n,)."""
        # As bytes: a copy of records may leave out their padding, and equal runs are to be equal to the byte.
        states = self._states.view(np.uint8).copy().view(self._states.dtype)
        return {"states": states, "episodes": self.episodes.copy()}

    def restore(self, snapshot: dict[str, np.ndarray]) -> None:
        """Go back to a `snapshot` of tables with the same options; what the last step did is forgotten.

        Raises:
            ValueError: when it is of another number of tables.
        """
        for name, mine in (("states", self._states), ("episodes", self.episodes)):
            if snapshot[name].shape != mine.shape:
                raise ValueError(f"a snapshot of {snapshot[name].shape[0]} tables: these are {self.n}")
            mine.view(np.uint8)[:] = snapshot[name].view(np.uint8)  # padding, too
        for array in (self.rewards, self.returns, self.dones, self.truncated, self.kinds):
            array[:] = 0
        _show_all(
            self._states, self.rules.record, self.encoding.code, self.views, self.observations, self.action_masks,
            self.seats,
        )  # fmt: skip
        self._fresh = False

    def __copy__(self) -> Tables:
        """Return an independent copy: the arrays are overwritten in place, so they cannot be shared."""
        return copy.deepcopy(self)

    def __repr__(self) -> str:
        return (
            f"Tables({self.n}, rules={self.rules.name!r}, seed={self.seed}, episode={self.episode!r}, "
            f"encoding={self.encoding.name!r}, reward={self.reward!r})"
        )
