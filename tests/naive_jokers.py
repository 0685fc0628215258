"""A naive oracle of jokers (C8): melds, least deadwood, layoffs, all by trying everything. "*1" and "*2" are jokers."""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations

from tests import reference
from tests.reference import RANKS, full_deck, rank, suit

JOKERS = ("*1", "*2")


def value(card: str) -> int:
    """Return the points of a card as deadwood: a joker 20 (C8)."""
    return 20 if card in JOKERS else reference.value(card)


def is_meld(cards: Collection[str], longest: int = 13) -> bool:
    """Say whether the jokers among the cards could stand for others, so that all is a meld; one card is no joker."""
    natural = [c for c in cards if c not in JOKERS]
    wild = len(cards) - len(natural)
    if not natural or not 3 <= len(cards) <= longest:
        return False
    others = [c for c in full_deck() if c not in natural and (c[0] == natural[0][0] or c[1] == natural[0][1])]
    return any(reference.is_meld({*natural, *stand}, longest) for stand in combinations(others, wild))


def least_deadwood(cards: Collection[str], longest: int = 13) -> int:
    """Return the least deadwood over all choices of disjoint melds."""
    hand = sorted(cards)
    melds = [frozenset(m) for n in range(3, len(hand) + 1) for m in combinations(hand, n) if is_meld(m, longest)]
    memo: dict[frozenset[str], int] = {}

    def least(left: frozenset[str]) -> int:
        if left not in memo:
            rest = [least(left - meld) for meld in melds if meld <= left]
            memo[left] = min([sum(map(value, left)), *rest])
        return memo[left]

    return least(frozenset(hand))


Run = tuple[str, int, int]
"""A run on the table: suit, lowest and highest rank (1 to 13)."""


def places(meld: Collection[str], span: Collection[str]) -> tuple[str, int] | Run:
    """Return a meld on the table: rank and size of a set, or a run by the places that its span names."""
    if span:
        ranks = [rank(c) for c in span]
        return (suit(next(iter(span))), min(ranks), max(ranks))
    return (next(c[0] for c in meld if c not in JOKERS), len(meld))


def best_defence(hand: Collection[str], melds: list[list[str]], spans: list[list[str]], longest: int) -> int:
    """Return the defender's least deadwood after any layoffs, card by card on any meld, and the best own melds."""
    start = (tuple(places(m, s) for m, s in zip(melds, spans, strict=True)), frozenset(hand))
    natural = {c for m in melds for c in m if c not in JOKERS}
    seen, waiting, best = {start}, [start], 1 << 30
    known: dict[frozenset[str], int] = {}
    while waiting:
        table, left = waiting.pop()
        if left not in known:
            known[left] = least_deadwood(left, longest)
        best = min(best, known[left])
        for i, meld in enumerate(table):
            for card in left:
                grown = []
                if len(meld) == 2:
                    fits = card in JOKERS or (card[0] == meld[0] and card not in natural)
                    if fits and meld[1] < min(4, longest):
                        grown.append((meld[0], meld[1] + 1))
                elif meld[2] - meld[1] + 1 < longest:
                    below, above = (meld[0], meld[1] - 1, meld[2]), (*meld[:2], meld[2] + 1)
                    for at, new in ((below[1], below), (above[2], above)):
                        if 1 <= at <= 13 and card in (*JOKERS, RANKS[at - 1] + meld[0]):
                            grown.append(new)
                for new in grown:
                    then = ((*table[:i], new, *table[i + 1 :]), left - {card})
                    if then not in seen:
                        seen.add(then)
                        waiting.append(then)
    return best
