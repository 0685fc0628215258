"""Hands for people: `arrange`, `deadwood` and `settle` take cards in any form, check them, and answer in text.

The kernels behind them (`ginenv.melds`, `ginenv.scoring`) take masks and check nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ginenv.cards import (
    BIT,
    POINTS,
    CardsLike,
    card_list,
    card_mask,
    cards_text,
    count,
    total,
)
from ginenv.melds import MAX_HAND, MAX_MELDS
from ginenv.melds import arrange as best_melds
from ginenv.rules import Rules
from ginenv.rules import rules as rules_of
from ginenv.scoring import settle_hands, settle_table
from ginenv.state import SEATS, Kind
from ginenv.wild import arrange_wild, deadwood_wild, defend_wild

KINDS: dict[Kind, str] = {kind: kind.name.lower() for kind in Kind if kind != Kind.NONE}
"""How a hand ended, as text: knock, gin, big_gin, undercut, dead, out."""


@dataclass(frozen=True)
class Arrangement:
    """A hand laid out in melds; each meld is text such as ``"AS 2S 3S"``."""

    melds: tuple[str, ...]
    loose: str
    """The cards in no meld, as text."""
    deadwood: int
    """Points of the loose cards (C2)."""

    def __str__(self) -> str:
        return " | ".join([*self.melds, f"{self.loose or 'nothing'} loose ({self.deadwood})"])


class Layoff(NamedTuple):
    """Cards that the defender lays off on one meld of the knocker (H9), all as text."""

    cards: str
    meld: str

    def __str__(self) -> str:
        return f"{self.cards} on {self.meld}"


@dataclass(frozen=True)
class Settlement:
    """What a hand that has ended came to, seen from knocker and defender."""

    kind: str
    """``knock``, ``gin``, ``big_gin``, ``undercut`` or ``dead``."""
    points: int
    """What the winner scores, doubling included (S1-S5, V1)."""
    knocker_deadwood: int = 0
    defender_deadwood: int = 0
    """After layoffs. Both are 0 in a dead hand, where nothing is counted."""
    knocker_melds: tuple[str, ...] = ()
    defender_melds: tuple[str, ...] = ()
    layoffs: tuple[Layoff, ...] = ()

    @property
    def winner(self) -> str | None:
        """``"knocker"``, ``"defender"``, or None in a dead hand."""
        if self.kind == "dead":
            return None
        return "defender" if self.kind == "undercut" else "knocker"

    def __str__(self) -> str:
        if self.kind == "dead":
            return "dead hand: nobody scores"
        counts = f"{self.knocker_deadwood} against {self.defender_deadwood}"
        text = f"{self.kind.replace('_', ' ')}, {counts}: the {self.winner} scores {self.points}"
        if self.layoffs:
            text += "; laid off: " + ", ".join(map(str, self.layoffs))
        return text


@dataclass(frozen=True)
class HandResult(Settlement):
    """The `Settlement` of a hand of two played at a table, with the seats."""

    knocker_seat: int | None = None
    winner_seat: int | None = None
    defender_seat: int | None = None


class SeatResult(NamedTuple):
    """What a hand that has ended came to for one seat."""

    points: int
    """Penalties are negative; doubling included."""
    deadwood: int
    """After layoffs."""
    melds: tuple[str, ...]
    layoffs: tuple[Layoff, ...] = ()


@dataclass(frozen=True)
class TableResult:
    """What a hand came to that was scored for all at one table (S6, S7)."""

    kind: str
    """``knock``, ``gin``, ``big_gin`` or ``undercut``; a dead hand is a `HandResult`."""
    knocker_seat: int
    winner_seat: int
    seats: tuple[SeatResult, ...]

    def __str__(self) -> str:
        counts = ", ".join(f"seat {k} {s.points:+d} ({s.deadwood} deadwood)" for k, s in enumerate(self.seats))
        return f"{self.kind.replace('_', ' ')} by seat {self.knocker_seat}, seat {self.winner_seat} wins: {counts}"


def arrange(cards: CardsLike, rules: str | Rules = "modern") -> Arrangement:
    """Return the best arrangement of a hand: least deadwood (C5), among equals fewest possible layoffs.

    Args:
        cards: At most 11 cards, as text (``"AS 2S 3S KD"``), numbers, or a mask.
        rules: A preset's name or `Rules`: they say how long melds may be (C6), and the deck.

    Raises:
        ValueError: for what is no card, a card that comes twice or is not in the deck, too many cards.
    """
    r = rules_of(rules)
    hand = _checked(cards, r)
    melds = np.zeros(MAX_MELDS, np.int64)
    least = _best_melds(hand, r, melds)
    return Arrangement(_texts(melds), cards_text(hand & ~_union(melds)), int(least))


def deadwood(cards: CardsLike, rules: str | Rules = "modern") -> int:
    """Return the least deadwood of a hand (C5), in points. Arguments and errors as `arrange`."""
    r = rules_of(rules)
    return int(deadwood_wild(_checked(cards, r), r.longest_meld))


def settle(
    knocker: CardsLike,
    defender: CardsLike,
    rules: str | Rules = "modern",
    melds: Iterable[CardsLike] | None = None,
    upcard: CardsLike | None = None,
) -> Settlement:
    """Settle a knock by the two hands: best melds and layoffs (H9, H10), kind and points (S1-S4).

    Args:
        knocker: The knocker's hand after the discard; with all of it melded that is gin. One card
            more, all melded, is big gin where the rules have it (H8).
        defender: The opponent's hand.
        rules: A preset's name or `Rules`.
        melds: The melds that the knocker lays down, where they are not the best ones.
        upcard: The first upcard of the hand, which Oklahoma needs (V1).

    Raises:
        ValueError: when hands, melds or upcard cannot be, or the knock is above the limit.
    """
    r = rules_of(rules)
    if r.scoring != "gin":
        raise ValueError(f"settle is for two and scoring='gin': with {r.scoring!r} use settle_all")
    own, other = _checked(knocker, r, "the knocker: "), _checked(defender, r, "the defender: ")
    if own & other:
        raise ValueError(f"{cards_text(own & other)} cannot be in both hands")
    if count(other) != r.cards_dealt:
        raise ValueError(f"the defender holds {count(other)} cards: it must be {r.cards_dealt}")
    eleven = count(own) == r.cards_dealt + 1
    if eleven and not r.big_gin:
        raise ValueError(
            f"the knocker holds {count(own)} cards, and these rules have no big gin: leave the discard out"
        )
    if not eleven and count(own) != r.cards_dealt:
        raise ValueError(f"the knocker holds {count(own)} cards: it must be {r.cards_dealt}")
    limit, multiplier = _limit(r, upcard)
    chosen = np.zeros(MAX_MELDS, np.int64)
    if melds is None:
        _best_melds(own, r, chosen)
    else:
        if r.jokers:
            raise ValueError("with jokers the best melds are laid down: leave melds out (C8)")
        checked = _checked_melds(melds, own, r)
        chosen[: len(checked)] = checked
    loose = total(own & ~_union(chosen))
    if eleven and loose:
        raise ValueError(f"{count(own)} cards with {loose} deadwood are no big gin: leave the discard of the knock out")
    if loose > limit:
        raise ValueError(f"the knocker cannot knock with {loose} deadwood: the limit is {limit}")
    return settlement(own, other, r, chosen, multiplier)


def settlement(knocker: int, defender: int, rules: Rules, melds: np.ndarray, multiplier: int = 1) -> Settlement:
    """Settle two hands (masks) that are known to be sound; see `settle`.

    Args:
        knocker: Mask of the knocker's cards after the discard, or of all of them for big gin.
        defender: Mask of the opponent's cards.
        rules: The rules.
        melds: The knocker's melds: int64, shape (3,), 0 for none; all 0 to have the best chosen.
        multiplier: Of the points (V1).
    """
    melds = melds.copy()
    kind, points, own, other, laid = settle_hands(knocker, defender, rules.deck, rules.record, melds)
    rest = arrange(defender & ~int(laid), rules)
    return Settlement(
        kind=KINDS[Kind(kind)],
        points=int(points) * multiplier,
        knocker_deadwood=int(own),
        defender_deadwood=int(other),
        knocker_melds=_texts(melds),
        defender_melds=rest.melds,
        layoffs=_layoffs_wild(knocker, defender, rules)
        if rules.jokers and laid
        else layoffs_of([int(m) for m in melds if m], int(laid), rules.longest_meld),
    )


def _best_melds(hand: int, rules: Rules, melds: np.ndarray) -> int:
    """Write the best melds of a hand, jokers included, and return its deadwood."""
    if rules.jokers:
        return int(arrange_wild(hand, rules.deck, rules.longest_meld, melds, np.zeros(MAX_MELDS, np.int64)))
    return int(best_melds(hand, rules.deck, rules.longest_meld, melds))


def _layoffs_wild(knocker: int, defender: int, rules: Rules) -> tuple[Layoff, ...]:
    """Return which cards are laid off on which meld where there are jokers (C8)."""
    melds, spans, laid = (np.zeros(MAX_MELDS, np.int64) for _ in range(3))
    arrange_wild(knocker, rules.deck, rules.longest_meld, melds, spans)
    defend_wild(defender, melds, spans, rules.longest_meld, laid)
    return tuple(
        Layoff(cards_text(int(cards)), cards_text(int(meld))) for cards, meld in zip(laid, melds, strict=True) if cards
    )


def settle_all(
    hands: Sequence[CardsLike],
    knocker: int,
    rules: str | Rules = "point_rules",
    melds: Iterable[CardsLike] | None = None,
) -> TableResult:
    """Settle a knock among all at one table by their hands (H13, S6, S7).

    Args:
        hands: One for each seat in turn, the knocker's after the discard.
        knocker: The knocker's seat.
        rules: A preset's name or `Rules`; players and cards each follow the hands where the rules allow it.
        melds: The melds that the knocker lays down, where they are not the best ones.

    Raises:
        ValueError: when hands or melds cannot be, or the knock is above the limit.
    """
    r = rules_of(rules)
    if r.scoring == "gin":
        raise ValueError("settle_all is for scoring='penalty' or 'points': use settle")
    if len(hands) != r.players:
        r = r.but(players=len(hands))
    if knocker not in range(r.players):
        raise ValueError(f"knocker {knocker}: the seats are 0 to {r.players - 1}")
    masks = [_checked(hand, r, f"seat {seat}: ") for seat, hand in enumerate(hands)]
    for seat, mask in enumerate(masks):
        wanted = r.cards_dealt + (seat == knocker and r.big_gin and count(mask) > r.cards_dealt)
        if count(mask) != wanted:
            raise ValueError(f"seat {seat} holds {count(mask)} cards: it must be {wanted}")
        for other in range(seat):
            if mask & masks[other]:
                raise ValueError(f"{cards_text(mask & masks[other])} cannot be in two hands")
    chosen = np.zeros(MAX_MELDS, np.int64)
    if melds is None:
        best_melds(masks[knocker], r.deck, r.longest_meld, chosen)
    else:
        checked = _checked_melds(melds, masks[knocker], r)
        chosen[: len(checked)] = checked
    loose = total(masks[knocker] & ~_union(chosen))
    if loose > (0 if count(masks[knocker]) > r.cards_dealt else r.knock_limit):
        raise ValueError(f"the knocker cannot knock with {loose} deadwood: the limit is {r.knock_limit}")
    return table_settlement(masks, knocker, r, chosen)


def table_settlement(
    hands: Sequence[int], knocker: int, rules: Rules, melds: np.ndarray, multiplier: int = 1
) -> TableResult:
    """Settle hands (masks, by seat) that are known to be sound; see `settle_all` and `settlement`."""
    melds = melds.copy()
    held = np.zeros(SEATS, np.int64)
    held[: len(hands)] = hands
    deadwoods, points = np.zeros(SEATS, np.uint8), np.zeros(SEATS, np.int16)
    kind, winner, laid = settle_table(held, knocker, rules.deck, rules.record, multiplier, melds, deadwoods, points)
    own = [int(m) for m in melds if m]
    seats = []
    for seat, hand in enumerate(hands):
        off = int(laid) & hand
        shown = _texts(melds) if seat == knocker else arrange(hand & ~off, rules).melds
        layoffs = layoffs_of(own, off, rules.longest_meld)
        seats.append(SeatResult(int(points[seat]), int(deadwoods[seat]), shown, layoffs))
    return TableResult(KINDS[Kind(kind)], knocker, int(winner), tuple(seats))


def is_meld(cards: int, longest: int = 13) -> bool:
    """Return whether a mask of cards is one meld: a set (C3) or a run (C4), of ``longest`` at most (C6)."""
    numbers = card_list(cards)
    if not 3 <= len(numbers) <= longest:
        return False
    ranks = [c % 13 for c in numbers]
    one_suit = len({c // 13 for c in numbers}) == 1
    return len(set(ranks)) == 1 or (one_suit and max(ranks) - min(ranks) == len(numbers) - 1)


def _checked(cards: CardsLike, rules: Rules, whose: str = "") -> int:
    """Return ``cards`` as a mask of at most 11 cards of the rules' deck, or raise ValueError."""
    try:
        mask = card_mask(cards)
    except ValueError as error:
        raise ValueError(f"{whose}{error}") from None
    strange = mask & ~rules.deck
    if strange:
        raise ValueError(
            f"{whose}{cards_text(strange)} is not in this deck of {rules.ranks} ranks and {rules.suits} suits"
        )
    if count(mask) > MAX_HAND:
        raise ValueError(f"{whose}a hand has {MAX_HAND} cards at most, not {count(mask)}")
    return mask


def _checked_melds(melds: Iterable[CardsLike], hand: int, rules: Rules) -> list[int]:
    """Return the knocker's own choice of melds as masks, or raise ValueError."""
    if isinstance(melds, str):
        raise ValueError('melds are a list with one entry a meld, such as ["AS 2S 3S", "7C 7D 7H"]')
    used, masks = 0, []
    for meld in melds:
        mask = card_mask(meld)
        text = cards_text(mask)
        if mask & ~hand:
            raise ValueError(f"meld {text}: the knocker does not hold {cards_text(mask & ~hand)}")
        if not is_meld(mask):
            raise ValueError(
                f"{text or 'no card'} is not a meld: a set is 3 or 4 cards of one rank, a run 3 or "
                "more in sequence of one suit"
            )
        if not is_meld(mask, rules.longest_meld):
            raise ValueError(f"meld {text} is too long: {rules.longest_meld} cards at most (C6)")
        if mask & used:
            raise ValueError(f"{cards_text(mask & used)} is in two melds: a card is in one at most (C5)")
        used |= mask
        masks.append(mask)
    if not masks:
        raise ValueError("melds is empty: leave it out to have the best ones laid down")
    return masks


def _limit(rules: Rules, upcard: CardsLike | None) -> tuple[int, int]:
    """Return the knock limit and the multiplier of points of a hand with this first upcard (V1)."""
    if not rules.oklahoma:
        return rules.knock_limit, 1
    if upcard is None:
        raise ValueError("oklahoma: the first upcard sets the knock limit: give upcard=")
    # One int is a mask elsewhere, but a mask of one card and a card's number cannot be told apart.
    numbers = card_list([int(upcard)] if isinstance(upcard, (int, np.integer)) else upcard)
    if len(numbers) != 1:
        raise ValueError(f"upcard is one card, not {len(numbers)}")
    card = numbers[0]
    _checked([card], rules, "the upcard: ")
    limit = 0 if rules.ace_means_gin and card % 13 == 0 else int(POINTS[card])
    return limit, 2 if rules.spades_double and card < 13 else 1


def layoffs_of(melds: list[int], laid: int, longest: int) -> tuple[Layoff, ...]:
    """Return which of the ``laid`` cards lie on which meld, in the order of the melds."""

    def place(grown: list[int], left: int) -> list[int] | None:
        # Card by card, back when stuck: a card may fit both a set and a run that needs it. Runs first,
        # since a set that takes a card never helps another one to fit.
        if left == 0:
            return grown
        runs_first = sorted(range(len(grown)), key=lambda i: len(set(_ranks(melds[i]))) == 1)
        for i in runs_first:
            for c in card_list(left):
                bit = int(BIT[c])
                if is_meld(grown[i] | bit, longest):
                    done = place([*grown[:i], grown[i] | bit, *grown[i + 1 :]], left & ~bit)
                    if done is not None:
                        return done
        return None

    grown = place(melds, laid)
    assert grown is not None, "the engine laid off cards that fit nowhere"
    return tuple(
        Layoff(cards_text(after & ~before), cards_text(before))
        for before, after in zip(melds, grown, strict=True)
        if after != before
    )


def _ranks(mask: int) -> list[int]:
    return [c % 13 for c in card_list(mask)]


def _union(melds: np.ndarray) -> int:
    return int(np.bitwise_or.reduce(melds))


def _texts(melds: np.ndarray) -> tuple[str, ...]:
    return tuple(cards_text(int(m)) for m in melds if m)
