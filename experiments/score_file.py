"""The file of `gin score`: a game at a real table as text that people can read and edit.

It looks like this; ``#`` begins a comment, blank lines do not matter::

    gin rummy score 1                     the format and its version, always the first line
    rules: oklahoma gin_bonus=20          a preset, then the fields that differ from it
    names: anna, ben
    dealer: anna                          optional: who dealt the first hand

    anna knock 12 upcard 9H               anna knocked and wins by a difference of 12
    anna knock 6 against 21 upcard 7D     the same with both deadwoods: the rules say who wins, and what
    ben gin 31 upcard AH                  gin; anna was left with 31
    ben undercut 4 upcard KS              anna knocked, ben has 4 less
    anna big gin 31 upcard KS             where the rules know it
    dead                                  nobody knocked

Numbers are what the cards count: the bonuses of gin, undercut and spades are the rules' work. The upcard stands where
it matters, under Oklahoma rules only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ginenv.cards import JOKER_POINTS, POINTS, card, card_text
from ginenv.games import HandScore, Match, dead, keep_match, next_dealer, won
from ginenv.record import BYTE_ORDER_MARK, rules_text
from ginenv.rules import Rules, parse_rules
from ginenv.scoring import score_knock
from ginenv.sheet import checked_names
from ginenv.state import Kind

HEADER = "gin rummy score 1"
WORDS = ("undo", "sheet", "quit", "dead")
"""What a line may be instead of a player's hand; no player may be called so."""

_HAND = re.compile(
    r"(?P<name>.+?)\s+(?P<kind>knock|big[ _]gin|gin|undercut)"
    r"(?:\s+(?P<first>\d+))?(?:\s+against\s+(?P<second>\d+))?(?:\s+upcard\s+(?P<upcard>\S+))?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ScoreFile:
    """A score file as it stands: its lines as they were written, and what they say."""

    lines: tuple[str, ...]
    rules: Rules
    names: tuple[str, str]
    dealer: int | None
    """Seat of the first dealer, where it was written down."""
    hands: tuple[HandScore, ...] = ()
    at: tuple[int, ...] = ()
    """Index of each hand's line."""

    @property
    def text(self) -> str:
        """The file."""
        return "\n".join(self.lines) + "\n"

    @property
    def match(self) -> Match:
        """Columns and totals of all hands."""
        return keep_match(self.rules, self.hands)

    @property
    def next_dealer(self) -> str | None:
        """Name of who deals the next hand (H14); None where that is not known, or when all is over."""
        seat = next_dealer(self.rules, self.hands, self.dealer)
        return None if seat is None or self.match.over else self.names[seat]

    def with_hand(self, text: str) -> ScoreFile:
        """Return the file with one more hand.

        Raises:
            ValueError: for what is no hand under these rules, or comes after the end.
        """
        hand = read_hand(text, self.names, self.rules)
        keep_match(self.rules, (*self.hands, hand))  # refuses what comes after the end
        return replace(
            self,
            lines=(*self.lines, " ".join(text.split())),
            hands=(*self.hands, hand),
            at=(*self.at, len(self.lines)),
        )

    def without_last(self) -> ScoreFile:
        """Return the file without its last hand.

        Raises:
            ValueError: when there is none.
        """
        if not self.hands:
            raise ValueError("there is no hand to take back")
        lines = (*self.lines[: self.at[-1]], *self.lines[self.at[-1] + 1 :])
        return replace(self, lines=lines, hands=self.hands[:-1], at=self.at[:-1])


def new_score(rules: Rules, names: Sequence[str], dealer: str | None = None) -> ScoreFile:
    """Return a score file without hands.

    Raises:
        ValueError: for names that cannot be, a dealer who is no player, and rules that are not for two.
    """
    if not rules.for_two:
        raise ValueError(f"rules: {rules.name} is not for two players and scoring=gin, which a score is kept of")
    first, second = checked_names(names)
    for name in (first, second):
        if "," in name or "#" in name or name.casefold() in WORDS:
            raise ValueError(f"name {name!r}: no commas or #, and not {', '.join(WORDS)}")
    lines = [HEADER, f"rules: {rules_text(rules)}", f"names: {first}, {second}"]
    seat = None if dealer is None else seat_of(dealer, (first, second))
    if seat is not None:
        lines.append(f"dealer: {(first, second)[seat]}")
    return ScoreFile((*lines, ""), rules, (first, second), seat)


def read_score(text: str) -> ScoreFile:
    """Read a score file.

    Raises:
        ValueError: for the first line that cannot be, with its number.
    """
    lines = text.removeprefix(BYTE_ORDER_MARK).splitlines()
    said = [(at, re.sub(r"(^|\s)#.*", "", line).strip()) for at, line in enumerate(lines)]
    said = [(at, line) for at, line in said if line]
    if not said or said[0][1].casefold() != HEADER:
        raise ValueError(f"line {said[0][0] + 1 if said else 1}: a score file begins with {HEADER!r}")
    head: dict[str, str] = {}
    file: ScoreFile | None = None
    for at, line in said[1:]:
        try:
            key, colon, value = (part.strip() for part in line.partition(":"))
            if colon and key.casefold() in ("rules", "names", "dealer"):
                if file is not None:
                    raise ValueError(f"{key} comes too late: the hands have begun")
                if key.casefold() in head:
                    raise ValueError(f"{key}: given already")
                head[key.casefold()] = value
                _head(head)  # so that what is wrong is told at its line
                continue
            file = file or _head(head)
            if file is None:
                raise ValueError("before the first hand there must be a line 'names: anna, ben'")
            one = replace(file, lines=tuple(lines[:at])).with_hand(line)
            file = replace(one, lines=tuple(lines))
        except ValueError as error:
            raise ValueError(f"line {at + 1}: {error}") from None
    file = file or _head(head)
    if file is None:
        raise ValueError(f"line {len(lines)}: there is no line 'names: anna, ben'")
    return replace(file, lines=tuple(lines))


def _head(head: dict[str, str]) -> ScoreFile | None:
    """Return a file with this head, or None while the names are missing."""
    rules = parse_rules(head.get("rules", "modern"))
    if "names" not in head:
        return None
    return new_score(rules, [name.strip() for name in head["names"].split(",")], head.get("dealer"))


def seat_of(name: str, names: Sequence[str]) -> int:
    """Return the seat of a player, named in full or by a beginning that fits one only.

    Raises:
        ValueError: when it fits nobody, or both.
    """
    wanted = name.casefold()
    same = [seat for seat, known in enumerate(names) if known.casefold() == wanted]
    fits = same or [seat for seat, known in enumerate(names) if known.casefold().startswith(wanted)]
    if len(fits) != 1:
        raise ValueError(f"{name!r} is {'both players' if fits else 'nobody here'}: there are {' and '.join(names)}")
    return fits[0]


def read_hand(text: str, names: Sequence[str], rules: Rules) -> HandScore:
    """Return the hand that a line tells (see the module).

    Raises:
        ValueError: for what is no hand under these rules, in one sentence.
    """
    if text.casefold().split() in (["dead"], ["dead", "hand"]):
        return dead()
    match = _HAND.fullmatch(text.strip())
    if match is None:
        raise ValueError(
            f"{text!r} is no hand: write '{names[0]} knock 12', '{names[0]} gin 31' or 'dead', for example"
        )
    seat = seat_of(match["name"], names)
    kind = match["kind"].casefold().replace(" ", "_")
    limit, multiplier = _by_upcard(match["upcard"], rules)
    counts = [int(match[key]) for key in ("first", "second") if match[key] is not None]
    most = 10 * rules.cards_dealt + (2 * (JOKER_POINTS - 10) if rules.jokers else 0)
    if not counts or (match["first"] is None and kind in ("knock", "undercut")):
        raise ValueError(f"{text!r} lacks the points: write '{names[seat]} {kind.replace('_', ' ')} 12', for example")
    if max(counts) > most:
        raise ValueError(f"{max(counts)} is more than {rules.cards_dealt} cards can count, {most} at the most")
    if kind in ("gin", "big_gin"):
        if len(counts) > 1:
            raise ValueError(f"gin leaves no deadwood: write the other's only, '{names[seat]} gin {counts[1]}'")
        if kind == "big_gin" and not rules.big_gin:
            raise ValueError("there is no big gin under these rules (H8)")
        bonus = rules.gin_bonus if kind == "gin" else rules.big_gin_bonus
        return won(seat, (bonus + counts[0]) * multiplier, kind)
    if rules.straight or limit == 0:
        raise ValueError("only gin ends this hand: there is no knock " + ("(V3)" if rules.straight else "(H6, V1)"))
    knocker, points, kind = _knock(kind, seat, counts, limit, rules)
    winner = 1 - knocker if kind == "undercut" else knocker
    return won(winner, points * multiplier, kind)


def _knock(kind: str, seat: int, counts: list[int], limit: int, rules: Rules) -> tuple[int, int, str]:
    """Return knocker, points and kind of a knock or an undercut told by ``seat``'s view of the counts."""
    knocker = seat if kind == "knock" else 1 - seat
    if len(counts) == 2:
        own, other = counts if kind == "knock" else counts[::-1]
        if own > limit:
            raise ValueError(f"a knock with {own} is above the limit of {limit} (H6)")
        if own == 0:
            if kind == "undercut":
                raise ValueError("nobody undercuts gin")
            return knocker, rules.gin_bonus + other, "gin"
    else:  # the difference alone: any counts that have it
        own, other = (0, counts[0]) if kind == "knock" else (counts[0], 0)
        if own > limit:
            raise ValueError(f"an undercut by {own} needs a knock above the limit of {limit} (H6)")
    number, points = score_knock(own, other, rules.record)
    found = Kind(int(number)).name.lower()
    if found != kind and (kind == "undercut" or len(counts) == 1):
        ties = "is" if rules.undercut_ties else "is no"
        raise ValueError(f"{kind} does not fit these counts: an equal count {ties} undercut under these rules (S2)")
    return knocker, int(points), found


def _by_upcard(text: str | None, rules: Rules) -> tuple[int, int]:
    """Return knock limit and multiplier of a hand (V1)."""
    if text is None:
        if rules.spades_double:
            raise ValueError("say the upcard at the end, 'upcard 9H': a spade doubles the hand (V1)")
        return 10 if rules.oklahoma else rules.knock_limit, 1
    upcard = card(text)
    if not rules.oklahoma:
        raise ValueError(f"upcard {card_text(upcard)}: it does not count under these rules, leave it out")
    ace = upcard % 13 == 0
    limit = 0 if ace and rules.ace_means_gin else int(POINTS[upcard])
    return limit, 2 if rules.spades_double and upcard < 13 else 1


def add_hands(file: ScoreFile, hands: Iterable[tuple[str, str]]) -> ScoreFile:
    """Return the file with more hands: pairs of where each stands (for the error) and its text.

    Raises:
        ValueError: for the first that cannot be, beginning with where it stands.
    """
    for where, text in hands:
        try:
            file = file.with_hand(text)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
    return file
