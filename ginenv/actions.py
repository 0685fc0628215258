"""Actions as text, both ways, as numbers checked, and the reason why one is illegal (I1)."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ginenv.cards import BIT, JOKER, card, card_mask, card_text, cards_text, count
from ginenv.lay import MELD_NUMBER, MELDS
from ginenv.rules import Rules
from ginenv.state import (
    ACCEPT,
    BIG_GIN,
    BLUFF,
    DISCARD,
    DISCARD_JOKER,
    DONE,
    DRAW,
    KNOCK,
    KNOCK_JOKER,
    LAY_ABOVE,
    LAY_BELOW,
    LAY_ON_SET,
    MELD,
    N_ACTIONS,
    N_ALL_ACTIONS,
    PASS,
    REFUSE,
    TAKE,
    Phase,
    n_actions,
)
from ginenv.step import is_legal
from ginenv.wild import deadwood_wild as deadwood

_WORDS = {
    DRAW: "draw",
    TAKE: "take",
    PASS: "pass",
    BIG_GIN: "big gin",
    DONE: "done",
    ACCEPT: "accept",
    REFUSE: "refuse",
}
_PLACES = {LAY_ON_SET: "on a set", LAY_ABOVE: "above a run", LAY_BELOW: "below a run"}


_WITH_CARD = {"discard": DISCARD, "knock": KNOCK, "bluff": BLUFF}


class IllegalAction(ValueError):  # noqa: N818 - reads as what it is, like python-chess's IllegalMoveError
    """An action that the seat to act may not play; the message names it and the reason. Nothing changed."""


def action_text(action: int) -> str:
    """Return an action as text: ``draw``, ``take``, ``pass``, ``big gin``, ``discard 7H``, ``knock 7H``.

    And those of rules with more actions: ``meld 7H 8H 9H``, ``lay off 7C on a set``, ``lay off TH above a run``,
    ``lay off 6H below a run``, ``done``, ``bluff 7H`` (a knock above the limit), ``accept``, ``refuse``.

    Raises:
        ValueError: when there is no such action.
    """
    if not 0 <= action < N_ALL_ACTIONS:
        raise ValueError(_no_action(action, N_ALL_ACTIONS))
    if action in _WORDS:
        return _WORDS[action]
    if action < KNOCK:
        return f"discard {card_text(action - DISCARD)}"
    if action < MELD:
        return f"knock {card_text(action - KNOCK)}"
    if action < LAY_ON_SET:
        return f"meld {cards_text(int(MELDS[action - MELD]))}"
    if action >= DISCARD_JOKER:
        word = "knock" if action >= KNOCK_JOKER else "discard"
        return f"{word} {card_text(JOKER + (action - DISCARD_JOKER) % 2)}"
    if action >= BLUFF:
        return f"bluff {card_text(action - BLUFF)}"
    first = max(place for place in _PLACES if place <= action)
    return f"lay off {card_text(action - first)} {_PLACES[first]}"


def _no_action(action: int, n: int) -> str:
    return f"action {action}: there is none, they run from 0 to {n - 1}"


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
    lower = [word.lower() for word in words]
    for number, text in _WORDS.items():
        if lower == text.split():
            return number
    try:
        if len(words) == 2 and lower[0] in _WITH_CARD:
            number = card(words[1])
            if number < JOKER:
                return _WITH_CARD[lower[0]] + number
            if lower[0] != "bluff":
                return (DISCARD_JOKER if lower[0] == "discard" else KNOCK_JOKER) + number - JOKER
            raise ValueError("jokers and bluffs do not go together (C8, I2)")
        if len(words) > 1 and lower[0] == "meld":
            meld = card_mask(" ".join(words[1:]))
            if meld not in MELD_NUMBER:
                raise ValueError("a meld is 3 or 4 cards of one rank, or 3 or more in sequence of one suit")
            return MELD + MELD_NUMBER[meld]
        for first, place in _PLACES.items():
            if len(words) == 6 and lower[:2] == ["lay", "off"] and lower[3:] == place.split():
                number = card(words[2])
                if number >= JOKER:
                    raise ValueError("a joker is laid off by the automatic settlement only (C8)")
                return first + number
    except ValueError as error:
        raise ValueError(f"{action.strip()}: {error}") from None
    raise ValueError(f"{action.strip()!r} is not an action: write draw, take, pass, discard 7H, knock 7H or big gin")


def _whole(value: Any) -> int:
    """Return a whole number, NumPy's and torch's included, as an int. Raises TypeError for all else."""
    if isinstance(value, bool):
        raise TypeError
    return operator.index(value)


def checked_action(action: object, n: int = N_ACTIONS) -> int:
    """Return an action given to an environment with ``n`` actions as an int from 0 to n - 1.

    Raises:
        IllegalAction: when there is no such action.
        TypeError: when it is no whole number.
    """
    try:
        number = _whole(action)
    except TypeError:
        raise TypeError(f"an action is a whole number, not {type(action).__name__}") from None
    if not 0 <= number < n:
        raise IllegalAction(_no_action(number, n))
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
    n = n_actions(rules)
    if not 0 <= action < n:
        return _no_action(action, n)
    return f"{action_text(action)}: {_reason(s, rules, action)}"


def _reason(s: Any, rules: Rules, action: int) -> str:
    phase = Phase(int(s["phase"]))
    if phase == Phase.OVER:
        return "the hand is over"
    if phase > Phase.OVER:
        return _reason_settling(s, rules, phase, action)
    if MELD <= action < BLUFF and rules.open_table and phase == Phase.DISCARD and action < DONE:
        return _reason_laying(s, rules, action)
    if MELD <= action < BLUFF:
        return "nothing is laid down or answered before a knock"
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
    if action >= DISCARD_JOKER:
        number = JOKER + (action - DISCARD_JOKER) % 2
    else:
        number = action - (BLUFF if action >= BLUFF else KNOCK if action >= KNOCK else DISCARD)
    bit = int(BIT[number])
    if not hand & bit:
        return f"seat {int(s['seat'])} does not hold {card_text(number)}"
    if not int(s["discards"]) & bit:
        return "it was just taken from the discard pile (H4)"
    left = deadwood(hand & ~bit, rules.longest_meld)
    if rules.open_table and hand == bit:
        return "it is the last card: discard it and go out (V8)"
    if BLUFF <= action < DISCARD_JOKER:
        if not rules.illegal_knocks:
            return "these rules have no knocks above the limit (I2)"
        return f"leaves {left} deadwood and is no bluff, the limit is {int(s['knock_limit'])}: knock instead (I2)"
    return f"leaves {left} deadwood, the limit is {int(s['knock_limit'])} (H6)"


def _reason_laying(s: Any, rules: Rules, action: int) -> str:
    loose, seat = int(s["loose"]), int(s["seat"])
    if action < LAY_ON_SET:
        meld = int(MELDS[action - MELD])
        if meld & ~loose:
            return f"seat {seat} has no {cards_text(meld & ~loose)} to lay down"
    else:
        number = (action - LAY_ON_SET) % 52
        if not loose & int(BIT[number]):
            return f"seat {seat} has no {card_text(number)} to lay off"
        sets, runs, starts = (int(s[name]) for name in ("sets", "runs", "starts"))
        bit = int(BIT[number])
        if action < LAY_ABOVE:
            fits = any(sets & int(BIT[number % 13 + 13 * suit]) for suit in range(4))
        else:
            fits = not bit & runs and bool((runs << 1 if action < LAY_BELOW else starts >> 1) & bit)
        if not fits:
            return "no meld on the table takes it there (V8)"
    return "only the card just taken would be left, which may not be discarded (H4)"


def _reason_settling(s: Any, rules: Rules, phase: Phase, action: int) -> str:
    if phase == Phase.ANSWER:
        return "accept or refuse the knock above the limit (I2)"
    what = "lay down melds" if phase == Phase.ARRANGE else "meld or lay off"
    if action < MELD or action in (ACCEPT, REFUSE) or action >= BLUFF:
        return f"the hand was knocked: {what}, then say done (H9)"
    loose, left = int(s["loose"]), int(s["bound"])
    if action == DONE:
        return f"leaves more than {left} deadwood: lay down another meld (H5)"
    if action < LAY_ON_SET:
        meld = int(MELDS[action - MELD])
        if meld & ~loose:
            return f"seat {int(s['seat'])} has no {cards_text(meld & ~loose)} to lay down"
        if count(meld) > rules.longest_meld:
            return f"it is too long: {rules.longest_meld} cards at most (C6)"
        return f"with that meld what is left cannot come down to {left} deadwood (H5)"
    if phase == Phase.ARRANGE:
        return "the knocker never lays off (H9)"
    number = (action - LAY_ON_SET) % 52
    if not loose & int(BIT[number]):
        return f"seat {int(s['seat'])} has no {card_text(number)} to lay off"
    if not int(s["sets"]) | int(s["runs"]):
        return "nothing is laid off on gin (H9)"
    return "no meld on the table takes it there (H9, C6)"
