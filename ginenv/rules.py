"""The rules as data: frozen `Rules`, checked for sense, and `PRESETS` with their sources.

Every field names the id of the rule it sets (docs/rules.md). Kernels get the same numbers as one structured record
(`Rules.record`), people get the dataclass.
"""

from __future__ import annotations

import dataclasses
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Literal

import numba
import numpy as np

from ginenv.cards import JOKERS, count, deck_mask

SHUTOUTS = ("none", "double", "add")
DEALERS = ("loser", "winner", "alternate")
SCORINGS = ("gin", "penalty", "points")
SEATINGS = ("table", "three_handed", "partners")
FIRST_DEALERS = ("random", "low", "high")
MORE_ACTIONS = ("jokers", "open_table", "settle_by_hand", "illegal_knocks")
"""Options that bring actions of their own."""
NO_END = 1 << 30
"""Stands for ``reshuffles=None`` in a `RULES` record: more than any hand can have."""

RULES = np.dtype(
    [
        ("deck", np.int64),
        *(
            (name, np.int32)
            for name in [
                "players",
                "people",
                "seating",
                "ranks",
                "suits",
                "cards_dealt",
                "longest_meld",
                "knock_limit",
                "gin_bonus",
                "undercut_bonus",
                "undercut_ties",
                "big_gin",
                "big_gin_bonus",
                "scoring",
                "knock_bonus",
                "oklahoma",
                "ace_means_gin",
                "spades_double",
                "straight",
                "hollywood",
                "discard_taken",
                "dead_stock",
                "turn_limit",
                "target",
                "hands",
                "box_bonus",
                "game_bonus",
                "shutout",
                "shutout_bonus",
                "next_dealer",
                "reshuffles",
                "first_dealer",
                "settle_by_hand",
                "illegal_knocks",
                "more_actions",
                "jokers",
                "open_table",
                "rummy_doubles",
            ]
        ),
    ],
    align=True,
)
"""What kernels see of the rules, one record. Booleans are 0 or 1; ``shutout``, ``next_dealer``, ``scoring``,
``seating`` and ``first_dealer`` are indices of `CHOICES`; a target or number of hands that is not set is 0;
``reshuffles`` without end is `NO_END`; ``more_actions`` says whether there are any (`Rules.more_actions`). ``players``
play one hand, ``people`` the game: these are more under V5 and V6."""
RULES_TYPE = numba.from_dtype(RULES)
"""A RULES record in the signature of a kernel."""

CHOICES = {
    "shutout": SHUTOUTS,
    "next_dealer": DEALERS,
    "scoring": SCORINGS,
    "seating": SEATINGS,
    "first_dealer": FIRST_DEALERS,
}
"""What fields with a choice of words may be, in the order of their indices."""


def _rule(default: Any, ids: str, what: str) -> Any:
    return field(default=default, metadata={"ids": ids, "what": what})


@dataclass(frozen=True)
class Rules:
    """The rules of a game; the defaults are the preset ``modern``.

    Raises:
        ValueError: when a value, or a combination of values, makes no game; the sentence names the field.
    """

    name: str = _rule("modern", "", "name of the preset these rules began as")
    players: int = _rule(2, "H1 H13", "players of the game, 2 to 6")
    seating: Literal["table", "three_handed", "partners"] = _rule(
        "table", "V5 V6 V7", "all at one table; or hands of two: one of three sits out, or two against two"
    )
    ranks: int = _rule(13, "C1", "ranks in the deck, from the ace up")
    suits: int = _rule(4, "C1", "suits in the deck")
    jokers: bool = _rule(False, "C8", "two jokers in the deck, wild in melds, 20 points as deadwood")
    cards_dealt: int = _rule(10, "H1", "cards in a hand")
    longest_meld: int = _rule(13, "C6", "most cards in a meld, layoffs included (13: no limit)")
    knock_limit: int = _rule(10, "H6", "most deadwood to knock with")
    gin_bonus: int = _rule(25, "S3", "points for gin")
    undercut_bonus: int = _rule(25, "S2", "points for an undercut")
    undercut_ties: bool = _rule(True, "S2", "equal deadwood is an undercut")
    big_gin: bool = _rule(False, "H8 V4", "eleven melded cards may be declared without a discard")
    big_gin_bonus: int = _rule(31, "S4", "points for big gin")
    scoring: Literal["gin", "penalty", "points"] = _rule(
        "gin", "S1 S6 S7", "the winner scores; or penalties for the losers; or the point rules' both"
    )
    knock_bonus: int = _rule(0, "S7", "points for a knock, under the point rules")
    oklahoma: bool = _rule(False, "V1", "the first upcard's value is the knock limit")
    ace_means_gin: bool = _rule(False, "V1", "Oklahoma: with an ace upcard only gin ends the hand")
    spades_double: bool = _rule(False, "V1", "Oklahoma: a spade upcard doubles what the hand scores")
    straight: bool = _rule(False, "V3", "only gin ends a hand")
    discard_taken: bool = _rule(False, "H4", "the card just taken may be discarded again")
    dead_stock: int = _rule(2, "H11", "cards left in the stock that end the hand")
    reshuffles: int | None = _rule(0, "H12", "times that the discards become a new stock (None: without end)")
    turn_limit: int = _rule(100, "H15", "turns after which a hand is dead")
    target: int | None = _rule(100, "G1", "points that end a game (None: see hands)")
    hands: int | None = _rule(None, "G8", "hands that end a game, where no target does")
    box_bonus: int = _rule(25, "G2", "points for each hand won, added when the game ends")
    game_bonus: int = _rule(100, "G3", "points for reaching the target")
    shutout: Literal["none", "double", "add"] = _rule("double", "G4", "what a game without a won hand costs")
    shutout_bonus: int = _rule(100, "G4", "points that a shutout adds, where it adds")
    next_dealer: Literal["loser", "winner", "alternate"] = _rule("loser", "H14", "who deals the next hand")
    settle_by_hand: bool = _rule(False, "H9 H10", "the melds of a knock and the layoffs are actions of the players")
    illegal_knocks: bool = _rule(False, "I2", "a knock above the limit may be tried; the opponent answers")
    open_table: bool = _rule(False, "V8", "melds and layoffs are laid down in the turns; who goes out wins")
    rummy_doubles: bool = _rule(False, "S8", "open table: going out with nothing laid in turns before scores double")
    first_dealer: Literal["random", "low", "high"] = _rule(
        "random", "H14 C7", "who deals the first hand: chance, or the low or the high card of a cut"
    )
    hollywood: bool = _rule(False, "V2", "a game is kept in three columns, each a race to the target")
    match: int | None = _rule(None, "G6", "sum of margins that ends a match of games, as `gin score` keeps it")

    def __post_init__(self) -> None:
        for spec in dataclasses.fields(self):
            _check_type(spec.name, getattr(self, spec.name), str(spec.type))
        for name, low, high in (
            ("players", 2, 6),
            ("ranks", 3, 13),
            ("suits", 1, 4),
            ("cards_dealt", 1, 10),
            ("longest_meld", 3, 13),
            ("knock_limit", 0, 100),
            ("gin_bonus", 0, 1000),
            ("undercut_bonus", 0, 1000),
            ("big_gin_bonus", 0, 1000),
            ("knock_bonus", 0, 1000),
            ("dead_stock", 0, 50),
            ("reshuffles", 0, 1000),
            ("turn_limit", 1, 10_000),
            ("target", 1, 10_000),
            ("hands", 1, 1000),
            ("box_bonus", 0, 1000),
            ("game_bonus", 0, 10_000),
            ("shutout_bonus", 0, 10_000),
            ("match", 1, 100_000),
        ):
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise ValueError(f"rules: {name}={value} is out of range: {low} to {high} is possible")
        self._check_players()
        self._check_sense()

    @property
    def hand_players(self) -> int:
        """How many play one hand: two where they sit three-handed or as partners (V5, V6), else all."""
        return self.players if self.seating == "table" else 2

    @property
    def for_two(self) -> bool:
        """Whether these are rules for two, scored as gin is: what matches and most agents are made for."""
        return self.players == 2 and self.scoring == "gin"

    def _check_players(self) -> None:
        wanted = {"three_handed": 3, "partners": 4}.get(self.seating, self.players)
        if self.players != wanted:
            raise ValueError(f"rules: seating={self.seating!r} is for {wanted} players, not {self.players}")
        if self.seating != "table" and self.scoring != "gin":
            raise ValueError(f"rules: seating={self.seating!r} plays hands of two, which scoring='gin' scores")
        if self.hand_players > 2 and self.scoring == "gin":
            raise ValueError(
                f"rules: scoring='gin' is between two: {self.players} players at one table need 'penalty' or 'points'"
            )
        if self.scoring != "gin" and (self.box_bonus or self.game_bonus or self.shutout != "none"):
            raise ValueError(
                f"rules: scoring={self.scoring!r} has no boxes and no bonuses for the game: "
                "set box_bonus=0, game_bonus=0 and shutout='none'"
            )
        if not self.for_two and (self.more_actions or self.hollywood):
            option = self.more_actions or "hollywood"
            raise ValueError(f"rules: {option} is for two players and scoring='gin'")
        if self.knock_bonus and self.scoring != "points":
            raise ValueError("rules: knock_bonus belongs to scoring='points'")
        if self.seating == "partners" and self.hands is not None and self.hands % 2:
            raise ValueError(f"rules: partners play two hands a round, so hands={self.hands} should be even")
        stock = self.ranks * self.suits - self.players * self.cards_dealt - 1 - self.dead_stock
        if self.hand_players > 2 and 0 < stock < self.players:
            raise ValueError(
                f"rules: {self.players} hands of {self.cards_dealt} leave {stock} cards to draw: "
                f"deal fewer, so that each of the {self.players} players can draw once"
            )

    def _check_sense(self) -> None:
        deck, needed = count(self.deck), self.hand_players * self.cards_dealt + 1 + self.dead_stock
        if deck <= needed:
            raise ValueError(
                f"rules: a deck of {self.ranks} ranks × {self.suits} suits{' and two jokers' * self.jokers} = {deck} "
                "cards is too small: "
                f"{self.hand_players} hands of {self.cards_dealt}, the upcard and a stock of more than "
                f"{self.dead_stock} need {needed + 1}"
            )
        if (self.target is None) == (self.hands is None):
            raise ValueError("rules: a game ends by its target or by its number of hands: set just one of them")
        if self.jokers:
            if self.name in ("eaai", "openspiel"):
                raise ValueError(f"rules: {self.name} plays another program's game, which has no jokers: jokers=false")
            for option, why in (
                ("oklahoma", "a joker as the upcard would set no knock limit"),
                ("settle_by_hand", "melds with jokers are laid down by the automatic settlement only"),
                ("illegal_knocks", "there is no action to bluff with a joker"),
            ):
                if getattr(self, option):
                    raise ValueError(f"rules: jokers do not go with {option}: {why}")
        if self.open_table:
            for option, why in (
                ("jokers", "they are wild in a hand's own melds only"),
                ("settle_by_hand", "melds and layoffs are actions of each turn already"),
                ("illegal_knocks", "an exposed hand could not be laid down any more"),
                ("big_gin", "going out needs no discard anyway"),
                ("straight", "it ends by going out"),
                ("oklahoma", "the upcard sets nothing there"),
            ):
                if getattr(self, option):
                    raise ValueError(f"rules: open_table does not go with {option}: {why}")
            if self.longest_meld < 13:
                raise ValueError("rules: at the open table melds grow as long as they can: longest_meld must be 13")
        elif self.rummy_doubles:
            raise ValueError("rules: rummy_doubles is an option of the open table: set open_table=True as well")
        if self.reshuffles != 0 and self.dead_stock != 0:
            raise ValueError(
                "rules: with reshuffles the stock is used up before the discards become a new one: dead_stock must be 0"
            )
        if self.straight and self.oklahoma:
            raise ValueError("rules: straight gin has no knock limit, so oklahoma cannot set it: choose one")
        if self.straight and self.knock_limit != 0:
            raise ValueError("rules: straight gin has no knocks: knock_limit must be 0")
        if self.straight and self.illegal_knocks:
            raise ValueError("rules: straight gin has no knocks, so none can be illegal: illegal_knocks must be false")
        if not self.oklahoma and (self.ace_means_gin or self.spades_double):
            option = "ace_means_gin" if self.ace_means_gin else "spades_double"
            raise ValueError(f"rules: {option} is an option of oklahoma: set oklahoma=True as well")
        if self.hollywood and self.target is None:
            raise ValueError("rules: hollywood's columns are races to a target: set target instead of hands")
        if self.hollywood and self.players != 2:
            raise ValueError(f"rules: hollywood is a game of two players, not of {self.players}")
        if self.match is not None and self.players != 2:
            raise ValueError(
                f"rules: a match adds up the margins of two players, not of {self.players}: leave match out"
            )
        if self.shutout == "add" and self.shutout_bonus == 0:
            raise ValueError("rules: shutout='add' adds nothing with shutout_bonus=0: use shutout='none'")

    @property
    def deck(self) -> int:
        """The mask of the whole deck (C1, C8)."""
        return deck_mask(self.ranks, self.suits) | (JOKERS if self.jokers else 0)

    @property
    def more_actions(self) -> str:
        """The first option that has actions behind the 108 that every game has (`ginenv.state`); empty for none."""
        return next((name for name in MORE_ACTIONS if getattr(self, name)), "")

    @cached_property
    def record(self) -> np.void:
        """The rules as one `RULES` record, for kernels. Do not write to it."""
        array = np.zeros(1, dtype=RULES)
        row = array[0]
        for name in RULES.names or ():
            if name == "more_actions":
                row[name] = self.more_actions != ""
            elif name == "deck":
                row[name] = self.deck
            elif name == "players":
                row[name] = self.hand_players
            elif name == "people":
                row[name] = self.players
            elif name in CHOICES:
                row[name] = CHOICES[name].index(getattr(self, name))
            elif name == "reshuffles":
                row[name] = NO_END if self.reshuffles is None else self.reshuffles
            else:
                row[name] = int(getattr(self, name) or 0)
        array.flags.writeable = False
        return row

    def __getstate__(self) -> dict[str, Any]:
        return self.as_dict()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def as_dict(self) -> dict[str, Any]:
        """Return every field by name, ready for JSON."""
        return {spec.name: getattr(self, spec.name) for spec in dataclasses.fields(self)}

    def but(self, **changes: Any) -> Rules:
        """Return these rules with ``changes``; with another number of players the cards each follow (`cards_each`),
        unless they are given too or were not the usual ones.

        Raises:
            ValueError: for an unknown field or a senseless value.
        """
        known = [spec.name for spec in dataclasses.fields(self)]
        for name in changes:
            if name not in known:
                close = get_close_matches(name, known, n=1)
                hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
                raise ValueError(f"rules: there is no field {name!r}: {hint}")
        if "players" in changes and "cards_dealt" not in changes:
            before = (self.players, self.seating, self.scoring)
            after = tuple(changes.get(n, v) for n, v in zip(("players", "seating", "scoring"), before, strict=True))
            if self.cards_dealt == cards_each(*before):
                changes["cards_dealt"] = cards_each(*after)
        return dataclasses.replace(self, **changes)


def cards_each(players: int, seating: str = "table", scoring: str = "gin") -> int:
    """Return how many cards each of so many players is dealt (H13): 10 for two, 7 for three or four, 6 for five or six.

    Three under penalty scoring get 10, as document 003 has it.
    """
    if seating != "table" or players == 2 or (players == 3 and scoring == "penalty"):
        return 10
    return 7 if players in (3, 4) else 6


def _check_type(name: str, value: Any, kind: str) -> None:
    """Raise ValueError unless ``value`` is of the annotated ``kind``."""
    if value is None and kind.endswith("| None"):
        return
    if kind == "bool":
        good, wanted = isinstance(value, bool), "True or False"
    elif kind.startswith("int"):
        good, wanted = isinstance(value, int) and not isinstance(value, bool), "a whole number"
    elif name in CHOICES:
        good, wanted = value in CHOICES[name], "one of " + ", ".join(CHOICES[name])
    else:
        good, wanted = isinstance(value, str), "a text"
    if not good:
        raise ValueError(f"rules: {name}={value!r} should be {wanted}")


_MODERN = Rules()

PRESETS: dict[str, Rules] = {
    "modern": _MODERN,
    "denexa": Rules(
        name="denexa", undercut_ties=False, shutout="add", next_dealer="winner", match=500
    ),
    "historic": Rules(name="historic", gin_bonus=20, undercut_bonus=10, box_bonus=20),
    "palace": Rules(
        name="palace", knock_limit=9, gin_bonus=30, undercut_bonus=10, big_gin=True, big_gin_bonus=50,
        longest_meld=5, box_bonus=0, game_bonus=0, shutout="none",
    ),
    "oklahoma": Rules(name="oklahoma", oklahoma=True, ace_means_gin=True, spades_double=True),
    "hollywood": Rules(name="hollywood", hollywood=True),
    "straight": Rules(name="straight", straight=True, knock_limit=0),
    "big_gin": Rules(name="big_gin", big_gin=True),
    "point_rules": Rules(
        name="point_rules", players=3, cards_dealt=7, scoring="points", undercut_bonus=20, knock_bonus=10,
        target=None, hands=10, box_bonus=0, game_bonus=0, shutout="none", next_dealer="alternate",
    ),
    "penalty": Rules(
        name="penalty", players=4, cards_dealt=7, scoring="penalty", knock_limit=9, undercut_ties=False,
        dead_stock=0, reshuffles=None, box_bonus=0, game_bonus=0, shutout="none", next_dealer="alternate",
    ),
    "three_handed": Rules(name="three_handed", players=3, seating="three_handed"),
    "partners": Rules(name="partners", players=4, seating="partners"),
    "open_table": Rules(
        name="open_table", open_table=True, rummy_doubles=True, gin_bonus=0, undercut_bonus=10, dead_stock=0,
        reshuffles=1, turn_limit=200, box_bonus=0, game_bonus=0, shutout="none", first_dealer="high",
    ),
    "eaai": Rules(
        name="eaai", next_dealer="alternate", box_bonus=0, game_bonus=0, shutout="none"
    ),
    "openspiel": Rules(
        name="openspiel", undercut_ties=False, discard_taken=True, target=None, hands=1,
        box_bonus=0, game_bonus=0, shutout="none",
    ),
}  # fmt: skip
"""Rules by name. Their sources: modern, historic, oklahoma, hollywood, straight, big_gin, three_handed and partners are
document 001's, denexa is 000's second article and point_rules its first, penalty is 003, palace 004's first half and
open_table its second; eaai is the EAAI-21 challenge's Java framework, openspiel what OpenSpiel's gin_rummy plays by
default (for differential tests)."""


def rules(preset: str | Rules = "modern", **changes: Any) -> Rules:
    """Return the rules of a preset, with ``changes``: ``rules("oklahoma", gin_bonus=20)``.

    Raises:
        ValueError: for an unknown preset or field, or values that make no game.
    """
    if isinstance(preset, Rules):
        return preset.but(**changes)
    if not isinstance(preset, str):
        raise ValueError(f"rules: {preset!r} should be Rules or the name of a preset, one of {', '.join(PRESETS)}")
    if preset not in PRESETS:
        close = get_close_matches(preset, PRESETS, n=1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(PRESETS)}"
        raise ValueError(f"rules: there is no preset {preset!r}: {hint}")
    return PRESETS[preset].but(**changes)


def parse_rules(text: str) -> Rules:
    """Return the rules that ``text`` names: a preset, then changes, ``"eaai,gin_bonus=20"``.

    Commas or spaces separate; without a preset the changes are to ``modern``. Truth values are written true and false,
    no value none.

    Raises:
        ValueError: for an unknown preset or field, or values that make no game.
    """
    parts = text.replace(",", " ").split()
    preset = parts.pop(0) if parts and "=" not in parts[0] else "modern"
    changes: dict[str, Any] = {}
    for part in parts:
        name, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"rules: {part!r} should be field=value")
        if name in changes:
            raise ValueError(f"rules: {name} is set twice")
        changes[name] = _parse_value(name, value)
    return rules(preset, **changes)


def _parse_value(name: str, text: str) -> Any:
    """Return ``text`` as a value of field ``name``; a text that is none stays one, for `Rules` to refuse."""
    kind = next((str(spec.type) for spec in dataclasses.fields(Rules) if spec.name == name), "str")
    if kind.endswith("| None") and text.lower() == "none":
        return None
    if kind == "bool" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if kind.startswith("int"):
        with suppress(ValueError):
            return int(text)
    return text


def refuse_more_actions(rules: Rules, who: str) -> None:
    """Raise ValueError where the rules have actions behind the 108 that ``who`` knows."""
    if rules.more_actions:
        raise ValueError(
            f"rules: {rules.more_actions} has actions that {who} cannot play: take an environment, a ginenv.Table or "
            "gin play"
        )


def check_two(rules: Rules) -> None:
    """Raise ValueError unless the rules are for two players, as mirrored matches are, and scored as gin is."""
    if not rules.for_two:
        raise ValueError(
            f"rules: {rules.name} has players={rules.players} and scoring={rules.scoring}; "
            "this needs rules for two players and scoring=gin"
        )


def rules_for_two(text: str) -> Rules:
    """Return the rules that ``text`` names (`parse_rules`). Raises ValueError as that and `check_two`."""
    rules = parse_rules(text)
    check_two(rules)
    return rules
