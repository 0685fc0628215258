"""Games and matches from a list of hand results, for score keepers: `keep_game`, `keep_match`, `prize_shares`.

Nothing here needs cards or a STATE: who won how many points goes in, columns and totals come out (G1-G8, V2), at a real
table as well as beside the engine. The running score of the engine is `ginenv.ledger`; a test plays both side by side.

    >>> from ginenv.games import dead, keep_game, won
    >>> game = keep_game("modern", [won(0, 15), dead(), won(1, 56), won(0, 90)])
    >>> game.over, game.totals, game.winner, game.margin
    (True, (255, 81), 0, 174)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ginenv.hands import HandResult
from ginenv.ledger import COLUMNS, LONGEST_GAME
from ginenv.rules import Rules
from ginenv.rules import rules as rules_of

SEATS = (0, 1)
LONGEST_MATCH = 1000
"""Games after which a match ends by its totals: level games alone would never end it."""


@dataclass(frozen=True)
class HandScore:
    """What one hand brought, as a score keeper enters it."""

    winner: int | None
    """Seat of the player that won the hand (after an undercut not the knocker); None for a dead hand."""
    points: int = 0
    """What the winner scores, bonuses and doubling of the hand included; boxes are not."""
    kind: str = "knock"
    """``knock``, ``gin``, ``big_gin``, ``undercut`` or ``dead``."""


def won(winner: int, points: int, kind: str = "knock") -> HandScore:
    """Return a hand that ``winner`` (0 or 1) won with so many points.

    Raises:
        ValueError: when there is no such seat, or the points are negative.
    """
    if winner not in SEATS:
        raise ValueError(f"winner {winner}: the seats are 0 and 1")
    if points < 0:
        raise ValueError(f"a hand won scores 0 points or more, not {points}")
    return HandScore(winner, points, kind)


def dead() -> HandScore:
    """Return a dead hand (S5)."""
    return HandScore(None, 0, "dead")


def hand_score(result: HandResult) -> HandScore:
    """Return the result of a hand played at a `ginenv.Table` as a score keeper enters it."""
    return HandScore(result.winner_seat, result.points, result.kind)


@dataclass(frozen=True)
class Entry:
    """One winning hand in a column: the score, with a line drawn under it."""

    hand: int
    """Index of the hand in its game."""
    seat: int
    points: int
    score: int
    """The seat's running score in the column, this hand included."""


@dataclass(frozen=True)
class Column:
    """One race to the target: a whole game but for Hollywood, where a game is three of them."""

    entries: tuple[Entry, ...]
    scores: tuple[int, int]
    """Points of hands, without boxes and bonuses, by seat."""
    boxes: tuple[int, int]
    """Hands won and entered here."""
    home: int | None
    """Seat that has reached the target and so closed the column; None while it is open, and where hands are counted."""
    box_points: tuple[int, int]
    """What the boxes are worth (G2)."""
    game_bonus: tuple[int, int]
    """G3, for who is home."""
    shutout: tuple[int, int]
    """What a shutout adds: as much as all the rest where it doubles, else the bonus (G4)."""

    @property
    def totals(self) -> tuple[int, int]:
        """Totals with boxes and bonuses; of an open column as if it ended now."""
        first, second = (
            self.scores[seat] + self.box_points[seat] + self.game_bonus[seat] + self.shutout[seat] for seat in SEATS
        )
        return (first, second)

    @property
    def lead(self) -> int:
        """By how many points seat 0 leads (negative: trails), bonuses included."""
        return self.totals[0] - self.totals[1]


@dataclass(frozen=True)
class Game:
    """One game: its hands entered in one column, or in three (V2)."""

    rules: Rules
    hands: tuple[HandScore, ...]
    columns: tuple[Column, ...]

    @property
    def over(self) -> bool:
        """Whether the game has ended: each column by its target (G1), or all by the number of hands (G8)."""
        if self.rules.target is None:
            return len(self.hands) >= (self.rules.hands or 0)
        return all(column.home is not None for column in self.columns) or len(self.hands) >= LONGEST_GAME

    @property
    def totals(self) -> tuple[int, int]:
        """Totals with boxes and bonuses (G2-G4), summed over the columns; of a game under way as if it ended now."""
        first, second = (sum(column.totals[seat] for column in self.columns) for seat in SEATS)
        return (first, second)

    @property
    def leader(self) -> int | None:
        """Seat with the higher total; on level totals the one that was home first, in whichever column; else None
        (G5).
        """
        first, second = self.totals
        if first == second:
            return self.columns[0].home  # no column closes before the first
        return 0 if first > second else 1

    @property
    def winner(self) -> int | None:
        """Seat that won the game (G5); None while it goes on, or when it ended level."""
        return self.leader if self.over else None

    @property
    def margin(self) -> int:
        """The difference of the totals (G5)."""
        return abs(self.totals[0] - self.totals[1])


@dataclass(frozen=True)
class Match:
    """Games, the margin of each counted for its winner, until somebody has the agreed total (G6)."""

    rules: Rules
    games: tuple[Game, ...]
    """At least one; the last may be under way, or not begun."""

    @property
    def totals(self) -> tuple[int, int]:
        """Sums of the margins of the games won, by seat."""
        first, second = (sum(game.margin for game in self.games if game.winner == seat) for seat in SEATS)
        return (first, second)

    @property
    def over(self) -> bool:
        """Whether the match has ended; without ``Rules.match`` it is one game."""
        if not self.games[-1].over:
            return False
        if self.rules.match is None:
            return True
        return max(self.totals) >= self.rules.match or len(self.games) >= LONGEST_MATCH

    @property
    def winner(self) -> int | None:
        """Seat that won the match; None while it goes on, or when it ended level."""
        if not self.over:
            return None
        if self.rules.match is None:
            return self.games[0].winner
        first, second = self.totals
        return None if first == second else (0 if first > second else 1)


def keep_game(rules: str | Rules, hands: Iterable[HandScore]) -> Game:
    """Return the game that these hands make, over or not.

    Args:
        rules: A preset's name or `Rules`.
        hands: In the order they were played.

    Raises:
        ValueError: when a hand comes after the end of the game.
    """
    rules = rules_of(rules)
    game = Game(rules, (), _columns(rules, ()))
    for hand in hands:
        if game.over:
            raise ValueError(f"the game is over after {len(game.hands)} hands")
        played = (*game.hands, hand)
        game = Game(rules, played, _columns(rules, played))
    return game


def keep_match(rules: str | Rules, hands: Iterable[HandScore]) -> Match:
    """Return the match that these hands make: a game that is over is followed by the next. Without ``Rules.match`` it
    is one game.

    Raises:
        ValueError: when a hand comes after the end of the match.
    """
    rules = rules_of(rules)
    match = Match(rules, (keep_game(rules, ()),))
    for hand in hands:
        if match.over:
            raise ValueError("the game is over" if rules.match is None else "the match is over")
        last = match.games[-1]
        if last.over:
            match = Match(rules, (*match.games, keep_game(rules, (hand,))))
        else:
            played = (*last.hands, hand)
            match = Match(rules, (*match.games[:-1], Game(rules, played, _columns(rules, played))))
    return match


def next_dealer(rules: str | Rules, hands: Sequence[HandScore], first: int | None = None) -> int | None:
    """Return who deals after these hands (H14), or None where that is not known yet.

    Args:
        rules: A preset's name or `Rules`.
        hands: All hands so far; the deal passes on from one game of a match to the next.
        first: Seat of the first dealer; None when nobody wrote it down.
    """
    rules = rules_of(rules)
    dealer = first
    for hand in hands:
        if hand.winner is None:  # a dead hand: the same dealer again (H11)
            continue
        if rules.next_dealer == "winner":
            dealer = hand.winner
        elif rules.next_dealer == "loser":
            dealer = 1 - hand.winner
        elif dealer is not None:
            dealer = 1 - dealer
    return dealer


def prize_shares(totals: Sequence[int], winners: Iterable[int]) -> tuple[Fraction, ...]:
    """Return each player's share of the prize pool (G7, document 003).

    The winner has three quarters; the last quarter is shared equally by the opponents that are not more than 50 points
    behind. Where there is none it stays in the pool, so the shares then come to less than 1. Winners that are level
    share what one would have.

    Args:
        totals: Final totals of two or more players, the higher the better.
        winners: The seats that won.

    Raises:
        ValueError: when nobody won, or there is no such seat.
    """
    winning = sorted(set(winners))
    if not winning or winning[0] < 0 or winning[-1] >= len(totals):
        raise ValueError(f"winners {winning}: one seat or more of 0 to {len(totals) - 1} should have won")
    best = max(totals[seat] for seat in winning)
    near = [seat for seat in range(len(totals)) if seat not in winning and best - totals[seat] <= 50]
    shares = [Fraction(0)] * len(totals)
    for seat in winning:
        shares[seat] = Fraction(3, 4) / len(winning)
    for seat in near:
        shares[seat] = Fraction(1, 4) / len(near)
    return tuple(shares)


def _columns(rules: Rules, hands: Sequence[HandScore]) -> tuple[Column, ...]:
    """Return the columns of a game with these hands."""
    if not rules.hollywood:
        return (_column(rules, list(enumerate(hands))),)
    # A player's first win goes into column 1, the second into 1 and 2, every later one into all (V2).
    wins = [0, 0]
    taken: list[list[tuple[int, HandScore]]] = [[] for _ in range(COLUMNS)]
    for number, hand in enumerate(hands):
        if hand.winner is None:
            continue
        wins[hand.winner] += 1
        for column in taken[: wins[hand.winner]]:
            column.append((number, hand))
    return tuple(_column(rules, column) for column in taken)


def _column(rules: Rules, hands: Iterable[tuple[int, HandScore]]) -> Column:
    """Return the column that takes these hands (their index in the game, and the hand) until it is closed."""
    scores, boxes, home, entries = [0, 0], [0, 0], None, []
    for number, hand in hands:
        if hand.winner is None or home is not None:
            continue
        scores[hand.winner] += hand.points
        boxes[hand.winner] += 1
        entries.append(Entry(number, hand.winner, hand.points, scores[hand.winner]))
        if rules.target is not None and scores[hand.winner] >= rules.target:
            home = hand.winner
    box_points = [count * rules.box_bonus for count in boxes]
    bonus, shutout = [0, 0], [0, 0]
    if home is not None:
        bonus[home] = rules.game_bonus
        if boxes[1 - home] == 0 and rules.shutout == "double":
            shutout[home] = scores[home] + box_points[home] + bonus[home]
        elif boxes[1 - home] == 0 and rules.shutout == "add":
            shutout[home] = rules.shutout_bonus
    return Column(tuple(entries), _pair(scores), _pair(boxes), home, _pair(box_points), _pair(bonus), _pair(shutout))


def _pair(values: Sequence[int]) -> tuple[int, int]:
    return (values[0], values[1])
