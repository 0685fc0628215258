"""VIEW to arrays for learners, by versioned name. A published name never changes its meaning.

`ENCODINGS` holds them all; `encode` is the one kernel that writes any of them. An encoding is a flat
int8 vector; a value times its ``scale`` is about in [-1, 1]. It begins with four *suit blocks* of equal
length and like build (spades, hearts, diamonds, clubs), so that a permutation of the suits is a
permutation of these blocks; what follows does not depend on suits. Only a VIEW goes in, on turn or off,
so nothing hidden can come out. They are for two players, but for table-v1, which is for two to six. Jokers and melds on
the table (C8, H9, V8) stand in planes-v2.

``python -m ginenv.encode`` prints docs/encodings.md, which a test compares with this registry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np

from ginenv.encode_kernels import encode
from ginenv.encode_parts import (
    CARD_FEATURES,
    HAND_FEATURES,
    HISTORY_SUIT,
    JOKER_PARTS,
    MELD_PLANES,
    MELD_SCALARS,
    N_PLANES,
    N_TABLE_PLANES,
    OUTLOOK,
    OUTLOOK_SCALARS,
    PLANES,
    RANKS,
    SCALARS,
    SUITS,
    TABLE_PLANES,
    TABLE_SCALARS,
    TURNS,
    WITH_JOKERS,
    Part,
)
from ginenv.rules import Rules
from ginenv.state import SEATS

__all__ = ["ENCODINGS", "Block", "Encoding", "encode", "encoding", "encoding_for", "page"]


@dataclass(frozen=True)
class Block:
    """A named part of an encoding."""

    name: str
    start: int
    """Index of its first value in the flat vector."""
    shape: tuple[int, ...]
    """(4, 13) for a plane (suit, rank); (4, 32) by suit and turn; (32,) by turn; (2,) by joker; () for a scalar."""
    stride: int
    """Values from one suit to the next, where the first axis is the suit."""
    scale: float
    meaning: str

    def of(self, vector: np.ndarray) -> np.ndarray:
        """Return this part of encoded vectors, shape (…, size), as an array of shape (…, *shape)."""
        return vector[..., self.index]

    @property
    def index(self) -> np.ndarray:
        """Where in the flat vector the values are: int64, of this block's shape."""
        if len(self.shape) < 2:
            return self.start + np.arange(int(np.prod(self.shape))).reshape(self.shape)
        suits, length = self.shape
        return self.start + self.stride * np.arange(suits)[:, None] + np.arange(length)


@dataclass(frozen=True, eq=False)
class Encoding:
    """What one named encoding holds, and where."""

    name: str
    code: int
    """What the kernel `encode` calls it."""
    summary: str
    suit_size: int
    """Length of each of the four suit blocks that the vector begins with."""
    layout: tuple[Block, ...]
    """Every value of the vector belongs to just one block."""
    most_players: int = 2
    """How many players of a hand it has room for."""
    shows_all: bool = False
    """Whether jokers and melds on the table are in it (C8, V8)."""

    @cached_property
    def size(self) -> int:
        """Length of the flat vector."""
        return sum(block.index.size for block in self.layout)

    @cached_property
    def scale(self) -> np.ndarray:
        """What to multiply with to get values about in [-1, 1]: float32, shape (size,), read-only."""
        scale = np.zeros(self.size, dtype=np.float32)
        for block in self.layout:
            scale[block.index] = block.scale
        scale.flags.writeable = False
        return scale

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        """Copies and pickles name the registry's entry."""
        return encoding, (self.name,)

    def __getitem__(self, name: str) -> Block:
        """Return the block called ``name``. Raises KeyError when there is none."""
        for block in self.layout:
            if block.name == name:
                return block
        raise KeyError(f"{self.name} has no block {name!r}: it has {[b.name for b in self.layout]}")


def _plane_blocks(parts: Sequence[Part]) -> list[Block]:
    stride = len(parts) * RANKS
    return [
        Block(name, plane * RANKS, (SUITS, RANKS), stride, scale, meaning)
        for plane, (name, scale, meaning) in enumerate(parts)
    ]


def _scalar_blocks(start: int, parts: Sequence[Part]) -> list[Block]:
    return [Block(name, start + i, (), 0, scale, meaning) for i, (name, scale, meaning) in enumerate(parts)]


def _history_blocks() -> list[Block]:
    common = SUITS * HISTORY_SUIT
    by_suit, by_turn = (SUITS, TURNS), (TURNS,)
    plane = (SUITS, RANKS)
    newest = f"of the last {TURNS} turns, the newest (perhaps in progress) first"
    return [
        Block("hand", 0, plane, HISTORY_SUIT, 1, "own hand"),
        Block("top", RANKS, plane, HISTORY_SUIT, 1, "top of the discard pile"),
        Block(
            "drawn_rank", 2 * RANKS, by_suit, HISTORY_SUIT, 1 / 13,
            f"{newest}: rank (ace 1, king 13) of the card drawn, in its suit's block; 0 in the "
            "others, and in all where the viewer did not see the card",
        ),
        Block(
            "thrown_rank", 2 * RANKS + TURNS, by_suit, HISTORY_SUIT, 1 / 13,
            f"{newest}: rank of the card discarded, in its suit's block; 0 in the others, and in "
            "all while there is none",
        ),
        Block("seat", common, by_turn, 0, 1, f"{newest}: 1 the viewer, -1 the opponent, 0 no such turn"),
        Block("source", common + TURNS, by_turn, 0, 1 / 2, f"{newest}: 1 the stock, 2 the discard pile"),
        *_scalar_blocks(common + 2 * TURNS, SCALARS),
    ]  # fmt: skip


def _encodings() -> dict[str, Encoding]:
    planes = _plane_blocks(PLANES) + _scalar_blocks(SUITS * N_PLANES * RANKS, SCALARS)
    parts = PLANES + CARD_FEATURES
    start = SUITS * len(parts) * RANKS
    features = _plane_blocks(parts) + _scalar_blocks(start, SCALARS + HAND_FEATURES)
    ahead = (*parts, *OUTLOOK)
    scalars = SCALARS + HAND_FEATURES + OUTLOOK_SCALARS
    laid = PLANES + MELD_PLANES
    start = SUITS * len(laid) * RANKS
    melds = _plane_blocks(laid) + _scalar_blocks(start, SCALARS + MELD_SCALARS)
    start += len(SCALARS + MELD_SCALARS)
    melds += [Block(name, start + 2 * i, (2,), 0, scale, what) for i, (name, scale, what) in enumerate(JOKER_PARTS)]
    outlook = _plane_blocks(ahead) + _scalar_blocks(SUITS * len(ahead) * RANKS, scalars)
    made = (
        ("planes-v1", "What the viewer sees, card by card.", N_PLANES * RANKS, planes),
        (
            "features-v1",
            "planes-v1 with per-card features that learners were seen to need.",
            len(parts) * RANKS,
            features,
        ),
        (
            "history-v1",
            "The hand and the public events of the last turns, for sequence models.",
            HISTORY_SUIT,
            _history_blocks(),
        ),
        (
            "table-v1",
            "What the viewer sees at a table of two to six. Seats are relative: 0 the viewer, 1 the next in turn.",
            N_TABLE_PLANES * RANKS,
            _plane_blocks(TABLE_PLANES) + _scalar_blocks(SUITS * N_TABLE_PLANES * RANKS, TABLE_SCALARS),
        ),
        (
            "features-v2",
            "features-v1 with what the next draw may bring, and what the opponent may want. Costs some microseconds.",
            len(ahead) * RANKS,
            outlook,
        ),
        (
            "planes-v2",
            "planes-v1 with melds on the table, the phases in which they are laid, jokers, and Hollywood's columns.",
            len(laid) * RANKS,
            melds,
        ),
    )
    return {
        name: Encoding(
            name, code, summary, suit_size, tuple(layout), SEATS if name == "table-v1" else 2, code == WITH_JOKERS
        )
        for code, (name, summary, suit_size, layout) in enumerate(made)
    }


ENCODINGS: dict[str, Encoding] = _encodings()
"""Every encoding by name."""


def encoding(name: str) -> Encoding:
    """Return the encoding called ``name``. Raises ValueError when there is none."""
    if not isinstance(name, str) or name not in ENCODINGS:
        close = get_close_matches(str(name), ENCODINGS, n=1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(ENCODINGS)}"
        raise ValueError(f"there is no encoding {name!r}: {hint}")
    return ENCODINGS[name]


def encoding_for(rules: Rules, name: str | None = None) -> Encoding:
    """Return the encoding called ``name`` for hands by these rules; by default planes-v1 for two players, planes-v2
    where they have more actions (`Rules.more_actions`), table-v1 for more.

    Raises:
        ValueError: when there is no such encoding, or it does not show such hands.
    """
    players = rules.hand_players
    found = encoding(name or ("table-v1" if players > 2 else "planes-v2" if rules.more_actions else "planes-v1"))
    if players > found.most_players:
        raise ValueError(f"encoding {found.name} is for two players, not {players}: use table-v1")
    if (rules.jokers or rules.open_table) and not found.shows_all:
        what = "jokers" if rules.jokers else "melds on the table (open_table)"
        raise ValueError(f"encoding {found.name} shows no {what}: use planes-v2")
    return found


# --- The page ----------------------------------------------------------------------------------------

_PAGE = """# Encodings

<!-- Written by `python -m ginenv.encode`; tests/test_encode.py compares. Do not edit by hand. -->

An encoding turns what one seat may know (a `VIEW`) into a flat `int8` vector. Names carry a version, and a
published name never changes its meaning.

```python
import numpy as np
from ginenv.encode import encode, encoding

planes = encoding("planes-v1")
out = np.zeros(planes.size, np.int8)
encode(view, rules.record, planes.code, out)  # a kernel: call it from your own kernels too
x = out * planes.scale  # float32, about in [-1, 1]
hand = planes["hand"].of(out)  # (4, 13): suit, rank
```

- The vector begins with four **suit blocks** of equal length: spades, hearts, diamonds, clubs. Permuting the
  suits of a table permutes these blocks and changes nothing else (but for the rules that favour spades), so
  a network can use the same weights for each: `x[:, :4 * e.suit_size].reshape(-1, 4, e.suit_size)`.
- In a suit block a plane is 13 values, ace to king. The tables give the **place of its first value in the
  first suit block**; the same plane of the next suit is `suit_size` further.
- "Now" means the viewer's knowledge at this moment, on turn or off; off turn `to_act`, `can_knock`,
  `can_big_gin` and `knocks` are 0.
- Seats are the viewer and the opponent, never numbers. These encodings are for hands of two players (those of
  three-handed play and of partners included); `table-v1` is for two to six at one table.
- `planes-v2` is the one for jokers and the open table, and the default where melds and layoffs are actions. In the
  phases ARRANGE, DEFEND and ANSWER (`settle_by_hand`, `illegal_knocks`) the others show no more than the hands; with
  jokers they are refused, and so they are at the open table.
- Values are whole numbers in the unit given; times the scale they lie about in [-1, 1].
- After a knock both hands lie on the table, and `known_opponent` shows the opponent's.
"""


def page() -> str:
    """Return docs/encodings.md: every encoding, plane by plane and scalar by scalar."""
    lines = [_PAGE]
    for e in ENCODINGS.values():
        lines += [f"## {e.name}\n", f"{e.summary} {e.size} values, suit blocks of {e.suit_size}.\n"]
        lines += ["| from | shape | name | scale | meaning |", "| ---: | --- | --- | ---: | --- |"]
        for b in e.layout:
            shape = " × ".join(map(str, b.shape)) or "1"
            lines.append(f"| {b.start} | {shape} | `{b.name}` | {_fraction(b.scale)} | {b.meaning} |")
        lines.append("")
    return "\n".join(lines)


def _fraction(scale: float) -> str:
    return "1" if scale == 1 else f"1/{round(1 / scale)}"


if __name__ == "__main__":
    print(page(), end="")
