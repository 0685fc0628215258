"""The networks that learners train (torch): the same weights for each suit, and what all suits share.

A hand means the same with its suits renamed, so a network need not learn each meld four times. Each suit block of the
encoding goes through the same weights; what a suit must know of the others reaches it as their mean (the sum over the
set, as in Deep Sets: Zaheer et al., arXiv 1703.06114). So permuting the suits of a table permutes the logits of its
cards and leaves all others as they are. `agents.ppo` computes the policy without torch.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from agents.ppo import PLANES, SHARED_SIZE, SUIT_SIZE, lay_out
from ginenv.state import DISCARD

RANKS, SUITS = 13, 4


class Trunk(nn.Module):
    """Positions to one vector a suit.

    Args:
        suit_size, shared_size: Values of a position in each suit block, and those that all suits share.
        width: Values in each suit's vector.
        mixing: Layers after the first; each adds to a suit's vector what it makes of this and of the mean of all four.
    """

    def __init__(self, suit_size: int, shared_size: int, width: int, mixing: int) -> None:
        super().__init__()
        self.own = nn.Linear(suit_size, width)
        self.shared = nn.Linear(shared_size, width, bias=False)
        self.mix_own = nn.ModuleList(nn.Linear(width, width) for _ in range(mixing))
        self.mix_shared = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(mixing))

    def forward(self, suits: Tensor, shared: Tensor) -> Tensor:
        """Return float32, shape (n, 4, width).

        Args:
            suits: float32, shape (n, 4, suit_size or more): what follows is not looked at.
            shared: float32, shape (n, shared_size or more).
        """
        n, width = len(suits), self.own.out_features
        # Matrices of two dimensions: with three, torch copies what is not contiguous.
        rows = suits.reshape(SUITS * n, -1)[:, : self.own.in_features]
        h = self.own(rows).view(n, SUITS, width)
        h = relu(h + self.shared(shared[:, : self.shared.in_features])[:, None])
        for own, all_suits in zip(self.mix_own, self.mix_shared, strict=True):
            h = h + relu(own(h.view(SUITS * n, width)).view(n, SUITS, width) + all_suits(h.mean(1))[:, None])
        return h


class Policy(nn.Module):
    """Positions (`agents.ppo.lay_out`) to 108 action logits.

    Args:
        width, mixing: See `Trunk`.
    """

    def __init__(self, width: int = 128, mixing: int = 2) -> None:
        super().__init__()
        self.trunk = Trunk(SUIT_SIZE, SHARED_SIZE, width, mixing)
        self.cards = nn.Linear(width, 2 * RANKS)  # each suit's discards, then its knocks
        self.hidden = nn.Linear(width, width)
        self.others = nn.Linear(width, DISCARD)  # draw, take, pass, big gin
        self.planes = nn.Linear(width, 2 * PLANES)  # what each value of a card counts here, of any card alike
        small_outputs(self.cards, self.others, self.planes)

    def forward(self, suits: Tensor, shared: Tensor) -> Tensor:
        """Return logits, float32, shape (n, 108), illegal actions included; the arguments are those of `Trunk`."""
        return self.heads(self.trunk(suits, shared), suits)

    def heads(self, h: Tensor, suits: Tensor) -> Tensor:
        """Return the logits that follow from the trunk's vectors, float32, shape (n, 4, width), and the positions."""
        g = relu(self.hidden(h.mean(1)))
        # From (suit, kind, rank) to the order of the action ids: kind, suit, rank.
        cards = self.cards(h).view(-1, SUITS, 2, RANKS).transpose(1, 2).reshape(-1, 2, SUITS * RANKS)
        planes = suits[:, :, :SUIT_SIZE].unflatten(2, (PLANES, RANKS)).transpose(1, 2).flatten(2)
        cards = torch.baddbmm(cards, self.planes(g).view(-1, 2, PLANES), planes)
        return torch.cat([self.others(g), cards.flatten(1)], 1)


class Critic(nn.Module):
    """Positions, with hidden values behind the seen ones, to one value each; for training only.

    Args:
        hidden_suit, hidden_common: How many hidden values there are in each suit block, and beside the blocks.
        width, mixing: See `Trunk`.
    """

    def __init__(self, hidden_suit: int, hidden_common: int, width: int = 64, mixing: int = 2) -> None:
        super().__init__()
        self.trunk = Trunk(SUIT_SIZE + hidden_suit, SHARED_SIZE + hidden_suit + hidden_common, width, mixing)
        self.hidden = nn.Linear(width, width)
        self.value = nn.Linear(width, 1)
        small_outputs(self.value)

    def forward(self, suits: Tensor, shared: Tensor) -> Tensor:
        """Return values, float32, shape (n,); the arguments are those of `Trunk`."""
        h = self.trunk(suits, shared)
        return self.value(relu(self.hidden(h.mean(1))))[:, 0]


def small_outputs(*layers: nn.Linear) -> None:
    """Shrink the weights of output layers, so that a new policy is nearly uniform and a new critic near 0."""
    for layer in layers:
        nn.init.orthogonal_(layer.weight, 0.01)
        nn.init.zeros_(layer.bias)


def forward(tensors: Mapping[str, np.ndarray], observations: np.ndarray) -> np.ndarray:
    """Return a policy's logits for encoded positions, as torch computes them: float32, shape (n, 108).

    Args:
        tensors: As `agents.ppo.shapes` names them.
        observations: int8, shape (n, size): the encoding features-v2.
    """
    mixing = sum(name.startswith("trunk.mix_shared.") for name in tensors)
    policy = Policy(len(tensors["trunk.own.bias"]), mixing)
    policy.load_state_dict({name: torch.from_numpy(np.array(tensor)) for name, tensor in tensors.items()})
    suits = np.zeros((len(observations), SUITS, SUIT_SIZE), dtype=np.float32)
    shared = np.zeros((len(observations), SHARED_SIZE), dtype=np.float32)
    for i, raw in enumerate(observations):
        lay_out(raw, suits[i], shared[i])
    with torch.no_grad():
        logits: np.ndarray = policy(torch.from_numpy(suits), torch.from_numpy(shared)).numpy()
    return logits
