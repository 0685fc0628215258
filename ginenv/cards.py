"""Cards: numbers, bit masks and text, each way.

A card is an int 0-51: ``suit * 13 + rank``, suits in the order S H D C (C7: spades high), rank 0 the ace.
A set of cards is a *mask*, an int64 of four 16-bit lanes, one a suit, rank 0 in the lane's lowest bit:
a run is then a row of bits and a set the same bit in several lanes. Bit 63 is never used, so masks are
never negative. As text a card is rank then suit (``AS``, ``TD``), a hand is cards separated by spaces. The two jokers,
where a game has them (C8), are the cards 52 and 53 (bits 61 and 62), written ``*1`` and ``*2``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numba import types
from numba.core import config
from numba.extending import intrinsic

from ginenv.jit import kernel

RANKS = "A23456789TJQK"
SUITS = "SHDC"
N_CARDS = 52
JOKER = 52
"""The first of two jokers (C8), cards 52 and 53, in games that have them."""
N_ALL_CARDS = 54
JOKER_POINTS = 20
JOKERS = (1 << 61) | (1 << 62)
"""Mask of both jokers. No kernel takes them for cards of a suit but those of `ginenv.wild`."""
NO_CARD = 63
"""Stands where a card could and none is: no upcard, nothing drawn, a draw one may not see."""

POINTS = np.array([min(rank + 1, 10) for _ in SUITS for rank in range(13)] + [JOKER_POINTS] * 2, dtype=np.int64)
"""Deadwood points of each card (C2, C8): ace 1, pips their number, T J Q K 10, jokers 20. Shape (54,)."""
BIT = np.array([1 << (c + 3 * (c // 13)) for c in range(N_CARDS)] + [1 << 61, 1 << 62], dtype=np.int64)
"""The mask of each single card. Shape (54,)."""
LANE = 0x1FFF
"""The thirteen used bits of a lane."""
SPREAD = np.array([[n >> i & 1 for i in range(4)] for n in range(16)], dtype=np.int8).view(np.int32)[:, 0].copy()
"""Four bits as four int8 of 0 or 1, to be stored at once: int32, shape (16,)."""

CardsLike: TypeAlias = "str | int | np.integer | Iterable[int | str]"
"""Cards as text (``"AS 2H"``), as card numbers or texts (``[0, 14]``), or as a mask (one int)."""


if config.DISABLE_JIT:

    def _bits(mask):
        return (int(mask) & 0xFFFFFFFFFFFFFFFF).bit_count()

else:

    @intrinsic
    def _bits(typing_context, mask):
        """One machine instruction, where shifts and sums would take a dozen."""

        def generate(context, builder, signature, arguments):
            return builder.ctpop(arguments[0])

        return types.int64(types.int64), generate


@kernel
def count(mask):
    """Return how many cards are in ``mask``."""
    return _bits(mask)


@kernel
def lowest(mask):
    """Return the lowest card (0-53) of ``mask``, which must not be empty."""
    bit = count((mask & -mask) - 1)
    return bit - 3 * (bit >> 4)


@kernel
def dense(mask):
    """Return ``mask`` without the unused bits of its lanes: bit c for card c, 52 bits."""
    return (mask & LANE) | ((mask & (LANE << 16)) >> 3) | ((mask & (LANE << 32)) >> 6) | ((mask & (LANE << 48)) >> 9)


@kernel
def total(mask):
    """Return the points of all cards of ``mask`` (C2)."""
    points = 0
    while mask != 0:
        points += POINTS[lowest(mask)]
        mask &= mask - 1
    return points


def deck_mask(ranks: int = 13, suits: int = 4) -> int:
    """Return the mask of a deck with the given numbers of ranks and suits."""
    return sum(((1 << ranks) - 1) << (16 * suit) for suit in range(suits))


def card(text: str) -> int:
    """Return the number of the card written as ``text`` (``"AS"`` is 0).

    Raises:
        ValueError: when the text is no card.
    """
    t = text.strip().upper()
    if t in ("*1", "*2"):
        return JOKER + int(t[1]) - 1
    if t.startswith("10"):
        t = "T" + t[2:]
    if len(t) != 2 or t[0] not in RANKS or t[1] not in SUITS:
        raise ValueError(f"{text!r} is not a card: write a rank of {RANKS} and a suit of {SUITS}, such as AS or TD")
    return SUITS.index(t[1]) * 13 + RANKS.index(t[0])


def card_text(number: int) -> str:
    """Return card ``number`` (0-53) as text; `NO_CARD` is ``--``."""
    if number == NO_CARD:
        return "--"
    if number in (JOKER, JOKER + 1):
        return f"*{number - JOKER + 1}"
    if not 0 <= number < N_CARDS:
        raise ValueError(f"{number} is not a card number: they run from 0 to {N_CARDS - 1}")
    return RANKS[number % 13] + SUITS[number // 13]


def card_list(cards: CardsLike) -> list[int]:
    """Return ``cards`` as a list of card numbers, in the order given (a mask: ascending).

    Raises:
        ValueError: when something is no card, or a card comes twice.
        TypeError: when ``cards`` is of a kind that cannot be cards.
    """
    if isinstance(cards, (int, np.integer)) and not isinstance(cards, bool):
        bits = int(cards)
        full = deck_mask() | JOKERS
        if bits < 0 or bits & ~full:
            raise ValueError(f"{bits} is not a mask of cards: it has bits outside {full:#x}")
        return [c for c in range(N_ALL_CARDS) if bits & int(BIT[c])]
    if isinstance(cards, str):
        items: Iterable[int | str] = cards.replace(",", " ").split()
    elif isinstance(cards, Iterable):
        items = cards
    else:
        raise TypeError(f"cards are text, card numbers or a mask, not {type(cards).__name__}")
    numbers: list[int] = []
    for item in items:
        if isinstance(item, str):
            number = card(item)
        elif isinstance(item, (int, np.integer)) and not isinstance(item, bool):
            number = int(item)
            card_text(number)
            if number == NO_CARD:
                raise ValueError(f"{number} is not a card number: they run from 0 to {N_CARDS - 1}")
        else:
            raise TypeError(f"a card is text or a number, not {type(item).__name__}")
        if number in numbers:
            raise ValueError(f"{card_text(number)} comes twice: each card is there once")
        numbers.append(number)
    return numbers


def card_mask(cards: CardsLike) -> int:
    """Return ``cards`` as a mask. Raises as `card_list`."""
    return sum(int(BIT[c]) for c in card_list(cards))


def cards_text(cards: CardsLike) -> str:
    """Return ``cards`` as text, in the order given (a mask: by suit, ace first)."""
    return " ".join(card_text(c) for c in card_list(cards))
