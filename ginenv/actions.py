"""Actions as text, both ways, as numbers checked, and the reason why one is illegal (I1)."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ginenv.cards import BIT, card, card_text, count
from ginenv.melds import deadwood
from ginenv.rules import Rules
from ginenv.state import (
    BIG_GIN,
    DISCARD,
    DRAW,
    KNOCK,
    N_ACTIONS,
    PASS,
    TAKE,
    Phase,
)
from ginenv.step import is_legal

_WORDS = {DRAW: "draw", TAKE: "take", PASS: "pass", BIG_GIN: "big gin"}


class IllegalAction(ValueError):  # noqa: N818 - reads as what it is, like python-chess's IllegalMoveError
    """An action that the seat to act may not play; the message names it and the reason. Nothing changed."""


def action_text(action: int) -> str:
    """Return an action (0-107) as text: ``draw``, ``take``, ``pass``, ``big gin``, ``discard 7H``, ``knock 7H``.

    Raises:
        ValueError: when there is no such action.
    """
    if not 0 <= action < N_ACTIONS:
        raise ValueError(f"action {action}: there is none, they run from 0 to {N_ACTIONS - 1}")
    if action < DISCARD:
        return _WORDS[action]
    if action < KNOCK:
        return f"discard {card_text(action - DISCARD)}"
    return f"knock {card_text(action - KNOCK)}"


def action_number(action: int | str | np.integer[Any]) -> int:
    """Return the number of an action given as text (see `action_text`) or as its number.

    Raises:
        ValueError: when there is no such action.
        TypeError: when it is neither text nor a number.
    """
    if isinstance(action, (int, np.integer)) and not isinstance(action, bool):
        action_text(int(action))
        return int(action)
    if not isinstance(action, str):
        raise TypeError(f"an action is text or a number, not {type(action).__name__}")
    words = action.replace("_", " ").split()
    for number, text in _WORDS.items():
        if [word.lower() for word in words] == text.split():
            return number
    if len(words) == 2 and words[0].lower() in ("discard", "knock"):
        try:
            return (DISCARD if words[0].lower() == "discard" else KNOCK) + card(words[1])
        except ValueError as error:
            raise ValueError(f"{action.strip()}: {error}") from None
    raise ValueError(f"{action.strip()!r} is not an action: write draw, take, pass, discard 7H, knock 7H or big gin")


def _whole(value: Any) -> int:
    """Return a whole number, NumPy's and torch's included, as an int. Raises TypeError for all else."""
    if isinstance(value, bool):
        raise TypeError
    return operator.index(value)


def checked_action(action: object) -> int:
    """Return an action given to an environment as an int from 0 to 107.

    Raises:
        IllegalAction: when there is no such action.
        TypeError: when it is no whole number.
    """
    try:
        number = _whole(action)
    except TypeError:
        raise TypeError(f"an action is a whole number, not {type(action).__name__}") from None
    try:
        action_text(number)
    except ValueError as error:
        raise IllegalAction(str(error)) from None
    return number


def checked_actions(actions: object, n: int, what: str = "actions") -> np.ndarray:
    """Return ``n`` actions, given as an array or any sequence, as a fresh array: int64, shape (n,).

    Kernels index by it without a look at its bounds, so what learners and agents hand over passes here first. A number
    that int64 cannot hold becomes the nearest that it can, which is no action either.

    Args:
        actions: What was given.
        n: How many are due.
        what: Begins the sentence of an error.

    Raises:
        ValueError: when its shape is not (n,).
        TypeError: when it holds anything but whole numbers, truth values for one.
    """
    try:
        given = np.asarray(actions)
    except Exception:  # lists of several lengths, or whatever a stranger's object does
        given = np.asarray(None)
    due = f"{what}: whole numbers of shape ({n},) are due"
    if given.ndim == 0:
        raise ValueError(f"{due}, not {type(actions).__name__}")
    if given.shape != (n,):
        raise ValueError(f"{due}, not {given.dtype} of shape {given.shape}")
    if isinstance(actions, np.ndarray) and given.dtype.kind in "iu" and np.can_cast(given.dtype, np.int64):
        return np.array(given, dtype=np.int64)
    numbers, ends = np.zeros(n, dtype=np.int64), np.iinfo(np.int64)
    # One by one: in a list NumPy would take True for 1, and make objects or floats of large numbers.
    for i, action in enumerate(given if isinstance(actions, np.ndarray) else list(actions)):  # type: ignore[call-overload]
        try:
            numbers[i] = min(max(_whole(action), ends.min), ends.max)
        except TypeError:
            raise TypeError(f"{due}, not {type(action).__name__}") from None
    return numbers


def why_illegal(s: Any, rules: Rules, action: int) -> str | None:
    """Return why ``action`` is illegal in STATE ``s``, as one sentence that names it; None when it is legal."""
    if is_legal(s, action):
        return None
    try:
        return f"{action_text(action)}: {_reason(s, rules, action)}"
    except ValueError as error:
        return str(error)


def _reason(s: Any, rules: Rules, action: int) -> str:
    phase = Phase(int(s["phase"]))
    if phase == Phase.OVER:
        return "the hand is over"
    if phase == Phase.UPCARD:
        return "take or pass the first upcard (H2)"
    if phase == Phase.DRAW:
        if action == PASS:
            return "only the first upcard can be passed (H2)"
        if action == TAKE:
            return "the upcard was refused by all, so draw from the stock (H2)"
        return "draw or take a card first (H3)"
    # Phase.DISCARD
    if action < BIG_GIN:
        return "a card was drawn already: discard or knock (H3)"
    hand = int(s["hand"][s["seat"]])
    if action == BIG_GIN:
        if not rules.big_gin:
            return "these rules have no big gin (H8)"
        left = deadwood(hand, rules.longest_meld)
        return f"leaves {left} deadwood, and all {count(hand)} cards must be melded (H8)"
    number = action - (KNOCK if action >= KNOCK else DISCARD)
    bit = int(BIT[number])
    if not hand & bit:
        return f"seat {int(s['seat'])} does not hold {card_text(number)}"
    if not int(s["discards"]) & bit:
        return "it was just taken from the discard pile (H4)"
    left = deadwood(hand & ~bit, rules.longest_meld)
    return f"leaves {left} deadwood, the limit is {int(s['knock_limit'])} (H6)"
