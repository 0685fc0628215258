"""The networks that learners train (torch): the same weights for each suit, and what all suits share.

A hand means the same with its suits renamed, so a network need not learn each meld four times. Each suit block of the
encoding goes through the same weights; what a suit must know of the others reaches it as their mean (the sum over the
set, as in Deep Sets: Zaheer et al., arXiv 1703.06114). So permuting the suits of a table permutes the logits of its
cards and leaves all others as they are. `agents.ppo` computes the policy without torch.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, relu

from ginenv.encode import Encoding
from ginenv.state import DISCARD, KNOCK

RANKS, SUITS = 13, 4


class Trunk(nn.Module):
    """Encoded positions to one vector a suit.

    Args:
        suit_size: Values in a suit block.
        common_size: Values behind the suit blocks.
        scale: What to multiply raw values with: float32, shape (4 * suit_size + common_size,).
        width: Values in each suit's vector.
        mixing: Layers after the first; each adds to a suit's vector what it makes of this and of the mean of all four.
    """

    scale: Tensor

    def __init__(self, suit_size: int, common_size: int, scale: Tensor, width: int, mixing: int) -> None:
        super().__init__()
        self.suit_size = suit_size
        suits = scale[: SUITS * suit_size].reshape(SUITS, suit_size)
        if not torch.equal(suits, suits[:1].expand_as(suits)):
            raise ValueError("the suit blocks of an encoding have the same scales")
        # Scales go into the weights, which are few, and not into the data. The mean over suits is a scale, too.
        self.register_buffer("own_scale", suits[0].clone(), persistent=False)
        shared_scale = torch.cat([suits[0] / SUITS, scale[SUITS * suit_size :]])
        self.register_buffer("shared_scale", shared_scale, persistent=False)
        self.own = nn.Linear(suit_size, width)
        self.shared = nn.Linear(suit_size + common_size, width, bias=False)
        self.mix_own = nn.ModuleList(nn.Linear(width, width) for _ in range(mixing))
        self.mix_shared = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(mixing))

    def forward(self, raw: Tensor) -> Tensor:
        """Return float32, shape (n, 4, width), for encoded positions ``raw``: any dtype, shape (n, size)."""
        x = raw.float()
        suits = x[:, : SUITS * self.suit_size].reshape(-1, SUITS, self.suit_size)
        shared = torch.cat([suits.sum(1), x[:, SUITS * self.suit_size :]], 1)
        from_all = linear(shared, self.shared.weight * self.shared_scale)
        h = relu(linear(suits, self.own.weight * self.own_scale, self.own.bias) + from_all[:, None])
        for own, all_suits in zip(self.mix_own, self.mix_shared, strict=True):
            h = h + relu(own(h) + all_suits(h.mean(1))[:, None])
        return h


class Policy(nn.Module):
    """Encoded positions to 108 action logits.

    Args:
        encoding: Of the positions.
        width, mixing: See `Trunk`.
    """

    def __init__(self, encoding: Encoding, width: int = 128, mixing: int = 2) -> None:
        super().__init__()
        self.width, self.mixing = width, mixing
        common = encoding.size - SUITS * encoding.suit_size
        self.trunk = Trunk(encoding.suit_size, common, torch.tensor(encoding.scale), width, mixing)
        self.cards = nn.Linear(width, 2 * RANKS)  # each suit's discards, then its knocks
        self.hidden = nn.Linear(width, width)
        self.others = nn.Linear(width, DISCARD)  # draw, take, pass, big gin
        small_outputs(self.cards, self.others)

    def forward(self, raw: Tensor) -> Tensor:
        """Return logits, float32, shape (n, 108), illegal actions included, for int8 positions, shape (n, size)."""
        h = self.trunk(raw)
        cards = self.cards(h).reshape(-1, SUITS, 2, RANKS).transpose(1, 2).reshape(-1, 2 * SUITS * RANKS)
        others = self.others(relu(self.hidden(h.mean(1))))
        assert KNOCK == DISCARD + SUITS * RANKS  # the order that the next line relies on
        return torch.cat([others, cards], 1)


class Critic(nn.Module):
    """What the seat to act sees, and hidden cards beside it, to one value; for training only.

    Args:
        encoding: Of the positions.
        hidden_suit, hidden_common: Values of the hidden part in each of its four suit blocks, and behind them.
        hidden_scale: Their scales: float32, shape (4 * hidden_suit + hidden_common,).
        width, mixing: See `Trunk`.
    """

    def __init__(
        self, encoding: Encoding, hidden_suit: int, hidden_common: int, hidden_scale: Tensor, width: int = 64,
        mixing: int = 2,
    ) -> None:  # fmt: skip
        super().__init__()
        self.seen_suits, self.hidden_suits = SUITS * encoding.suit_size, SUITS * hidden_suit
        scale = self._joined(torch.tensor(encoding.scale)[None], hidden_scale[None])[0]
        common = encoding.size - self.seen_suits + hidden_common
        self.trunk = Trunk(encoding.suit_size + hidden_suit, common, scale, width, mixing)
        self.hidden = nn.Linear(width, width)
        self.value = nn.Linear(width, 1)
        small_outputs(self.value)

    def _joined(self, seen: Tensor, hidden: Tensor) -> Tensor:
        """Return both parts as one encoding, suit block by suit block."""
        n = len(seen)
        blocks = [
            seen[:, : self.seen_suits].reshape(n, SUITS, -1),
            hidden[:, : self.hidden_suits].reshape(n, SUITS, -1),
        ]
        suits = torch.cat(blocks, 2).reshape(n, -1)
        return torch.cat([suits, seen[:, self.seen_suits :], hidden[:, self.hidden_suits :]], 1)

    def forward(self, seen: Tensor, hidden: Tensor) -> Tensor:
        """Return values, float32, shape (n,), for int8 ``seen``, shape (n, size), and ``hidden``."""
        h = self.trunk(self._joined(seen, hidden))
        return self.value(relu(self.hidden(h.mean(1))))[:, 0]


def small_outputs(*layers: nn.Linear) -> None:
    """Shrink the weights of output layers, so that a new policy is nearly uniform and a new critic near 0."""
    for layer in layers:
        nn.init.orthogonal_(layer.weight, 0.01)
        nn.init.zeros_(layer.bias)
