"""What the one-table environments share: a table, its episodes' seeds, observations and masks as a seat sees them."""

from __future__ import annotations

from typing import Any, TypedDict

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from ginenv import render as drawing
from ginenv.actions import IllegalAction, checked_action, why_illegal
from ginenv.cards import NO_CARD
from ginenv.deal import deal, new_game
from ginenv.encode import ENCODINGS, encode, encoding_for
from ginenv.envs.episode import EPISODES, NEXT_HAND, REWARDS, RUNNING, advance, choice
from ginenv.jit import kernel
from ginenv.rng import apart, checked_seed, mix
from ginenv.rules import Rules
from ginenv.rules import rules as rules_named
from ginenv.state import n_actions, new_states
from ginenv.step import is_legal, write_mask
from ginenv.view import VIEW, look

RENDER_MODES = ("ansi", "rgb_array", "human")
ILLEGAL = -1


@kernel
def _observe(states, rules, seat, code, views, observation, mask):
    look(states[0], rules[0], seat, views[0])
    encode(views[0], rules[0], code, observation)
    write_mask(views[0], mask)


@kernel
def _advance(states, rules, episode, reward, action, rewards):
    if not is_legal(states[0], action):
        return ILLEGAL
    outcome = advance(states[0], rules[0], episode, reward, action, rewards)
    if outcome == NEXT_HAND:
        deal(states[0], rules[0])
        return RUNNING
    return outcome


class Options(TypedDict, total=False):
    """What every environment can be told by name; `Desk` has the defaults."""

    episode: str
    """``"hand"`` or ``"game"``."""
    reward: str
    """``"points"`` or ``"win"``, as in `ginenv.envs.aec.raw_env`."""
    encoding: str | None
    """A name of `ginenv.encode.ENCODINGS`; the default is that of `ginenv.envs.aec.raw_env`."""
    render_mode: str | None
    """``"ansi"``, ``"rgb_array"``, ``"human"`` or None."""


class Desk:
    """One table with its options. An environment holds one and adds its API's ways."""

    def __init__(
        self,
        rules: str | Rules,
        episode: str = "hand",
        reward: str = "points",
        encoding: str | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.rules = rules_named(rules)
        self.episode = choice("episode", episode, EPISODES)
        self.reward = choice("reward", reward, REWARDS)
        if encoding is not None:
            choice("encoding", encoding, tuple(ENCODINGS))
        if render_mode is not None:
            choice("render_mode", render_mode, RENDER_MODES)
        self.render_mode = render_mode
        self.encoding = encoding_for(self.rules, encoding)
        self.n_actions = n_actions(self.rules)
        self.states = new_states(1)
        self.rewards = np.zeros(self.rules.players, dtype=np.float32)
        self._views = np.zeros(1, dtype=VIEW)
        self._rules = self.rules.record.reshape(1)
        self._codes = np.zeros(self.encoding.size, dtype=np.int8)
        self._seed: int | None = None
        self._episodes = 0

    @property
    def player(self) -> int:
        """The player to act: the number of the seat, but where players change places (V5, V6)."""
        return int(self.states[0]["player"][self.states[0]["seat"]])

    def seat_of(self, player: int) -> int | None:
        """Return the seat of a player; None for one who sits out this hand."""
        seats = self.states[0]["player"][: self.rules.hand_players].tolist()
        return seats.index(player) if player in seats else None

    def observation_space(self) -> spaces.Box:
        """Return the space of `observe`'s observations: float32, shape (encoding.size,)."""
        scale = self.encoding.scale
        return spaces.Box(-128 * scale, 127 * scale, dtype=np.float32)

    def begin(self, seed: int | None) -> None:
        """Start an episode. A seed starts a new sequence of episodes; without one, the next of the sequence follows.

        Raises:
            ValueError: when the seed is out of range; nothing has changed.
        """
        if seed is not None:
            self._seed, self._episodes = checked_seed(seed), 0
        elif self._seed is None:
            self._seed = int(np.random.SeedSequence().generate_state(1)[0])
        new_game(self.states[0], self._rules[0], mix(self._seed, self._episodes))
        self._episodes += 1

    def key(self) -> int:
        """Return a key for the randomness of an opponent in this episode, unrelated to the cards."""
        assert self._seed is not None
        return int(mix(apart(self._seed), self._episodes))

    def play(self, action: int | np.integer[Any]) -> int:
        """Play ``action`` for the player to act; ``rewards`` then holds what it earned, by player.

        Returns:
            RUNNING, ENDED or TRUNCATED (`ginenv.envs.episode`); ILLEGAL when nothing was played.

        Raises:
            IllegalAction: when there is no such action.
            TypeError: when it is no whole number.
        """
        number = checked_action(action, self.n_actions)
        return int(_advance(self.states, self._rules, self.episode, self.reward, number, self.rewards))

    def act(self, action: int | np.integer[Any]) -> int:
        """Do as `play`, but raise `IllegalAction` for an illegal action, naming it and the reason (I1)."""
        outcome = self.play(action)
        if outcome == ILLEGAL:
            raise self.illegal(action)
        return outcome

    def illegal(self, action: int | np.integer[Any]) -> IllegalAction:
        """Return the error that says why ``action`` is illegal now."""
        return IllegalAction(why_illegal(self.states[0], self.rules, int(action)))

    def observe(self, player: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what ``player`` sees: its observation (float32, shape (size,)) and its mask (int8, (n_actions,), 0
        off turn). Who sits out sees nothing: both are 0.
        """
        mask = np.zeros(self.n_actions, dtype=np.int8)
        seat = self.seat_of(player)
        if seat is None:
            return np.zeros(self.encoding.size, dtype=np.float32), mask
        _observe(self.states, self._rules, seat, self.encoding.code, self._views, self._codes, mask)
        return self._codes * self.encoding.scale, mask

    def view(self, player: int) -> np.ndarray:
        """Return the VIEW of a player of this hand, shape (1,), valid until the next call: an agent needs a copy
        (`ginenv.envs.opponent.ask`).
        """
        look(self.states[0], self._rules[0], self.seat_of(player), self._views[0])
        return self._views

    def render(self, player: int, names: tuple[str, ...]) -> str | np.ndarray | None:
        """Draw the table as ``player`` sees it: text, an image (uint8, shape (height, width, 3)), or printed for
        ``human``. Where that player sits out, the one to act is shown instead, all hands closed.

        Args:
            names: By player.

        Raises:
            ResetNeeded: when there is no table yet.
        """
        if self._episodes == 0:
            raise ResetNeeded("render: call reset() first")
        seats = self.states[0]["player"][: self.rules.hand_players].tolist()
        shown = player if player in seats else self.player
        place = seats.index(shown)
        names = tuple(names[p] for p in seats[place:] + seats[:place])
        view = self.view(shown)[0]
        if shown != player:  # what lies open is all that who sits out may see
            view["hand"], view["knocks"], view["choices"] = 0, 0, 0
            view["drawn"] = view["drawn"] if view["taken"] else NO_CARD
        if self.render_mode == "rgb_array":
            return drawing.rgb_array(view, self.rules, names=names)
        text = drawing.ansi(view, self.rules, names=names)
        if self.render_mode == "human":
            print(text)
            return None
        return text
