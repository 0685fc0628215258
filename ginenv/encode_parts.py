"""The parts that encodings are made of: names, scales and meanings.

Their order is that in which the kernels of `ginenv.encode_kernels` write them.
"""

from __future__ import annotations

from ginenv.state import SEATS, Phase

RANKS = 13
SUITS = 4
TURNS = 32
"""Turns that history-v1 shows."""

Part = tuple[str, float, str]
"""Name, scale and meaning of a plane or a scalar."""

PLANES: tuple[Part, ...] = (
    ("hand", 1, "own hand"),
    ("top", 1, "top of the discard pile"),
    ("buried", 1, "the rest of the discard pile"),
    ("unseen", 1, "in the stock or the opponent's hand, for all the viewer knows"),
    ("known_opponent", 1, "known to be in the opponent's hand (all of it once a knock has ended the hand)"),
    ("known_own", 1, "in own hand, and the opponent knows it"),
    ("refused_opponent", 1, "upcards that the opponent passed over"),
    ("refused_own", 1, "upcards that the viewer passed over"),
    ("drawn", 1, "card drawn or taken in the present turn, where the viewer saw it"),
    ("knocks", 1, "discards that a knock may be made with; own turn only"),
    (
        "thrown_own",
        1 / 16,
        "own discards of this hand by age: 16 for one of the newest turn (the turn in progress, "
        "else the last), one less a turn back, 1 from fifteen turns back on; 0 never. A card "
        "that was taken up again stays",
    ),
    ("thrown_opponent", 1 / 16, "the opponent's discards, in the same way"),
)

CARD_FEATURES: tuple[Part, ...] = (
    (
        "deadwood_without",
        1 / 80,
        "for each card held: least deadwood (points) of the hand without it, that is after "
        "discarding it where eleven are held; 0 for other cards",
    ),
    ("melded", 1, "own cards that some least-deadwood arrangement of the hand melds"),
    (
        "ways",
        1 / 6,
        "melds of three, 0 to 6, that this card makes with two others held or unseen; for every card of the deck",
    ),
    ("ways_opponent", 1 / 6, "the same with two others unseen or known in the opponent's hand"),
)

DRAWS = 5
"""How many of the best next draws the planes and scalars about the next draw add up."""
OUTLOOK: tuple[Part, ...] = (
    (
        "saves_without",
        1 / 100,
        "for each card that may be discarded now: deadwood (points) that the five best next draws would save after it, "
        "together, at most 127",
    ),
    ("melding_without", 1 / 20, "for the same cards: unseen cards that would then save deadwood by a meld"),
    ("gins_without", 1 / 8, "for the same cards: unseen cards that would then bring gin"),
    ("outs", 1 / 8, "for each card held: unseen cards that meld with two held because of this one only"),
    (
        "danger",
        1 / 100,
        "for each card that may be discarded now: per cent that the opponent melds it, by what lies open "
        "(`ginenv.lookahead.danger`)",
    ),
    (
        "saves",
        1 / 40,
        "between turns, for each unseen card and the top of the pile: deadwood (points) that it would save of the hand",
    ),
    (
        "melds_held",
        1 / 6,
        "melds of three, 0 to 6, that this card makes with two others held; for every card of the deck",
    ),
    ("melds_opponent", 1 / 6, "the same with two others known in the opponent's hand"),
)

SCALARS: tuple[Part, ...] = (
    *((f"phase_{phase.name.lower()}", 1, f"1 in the phase {phase.name}") for phase in list(Phase)[:4]),
    ("to_act", 1, "1 when the decision is the viewer's"),
    ("stock", 1 / 40, "cards in the stock"),
    ("draws_left", 1 / 40, "cards that can be drawn before the stock is dead (H11)"),
    ("turn", 1 / 100, "turns begun in this hand, at most 127"),
    ("own_turn", 1 / 50, "of these the viewer's, at most 63"),
    ("turns_left", 1 / 100, "turns to the turn limit (H15), at most 127"),
    ("pile", 1 / 40, "cards in the discard pile"),
    ("passes", 1 / 2, "passes of the first upcard"),
    ("taken", 1, "1 when the card of the turn in progress came from the discard pile"),
    ("deadwood", 1 / 100, "least deadwood (points) of the cards held, ten or eleven"),
    ("knock_limit", 1 / 10, "most deadwood (points) to knock with in this hand, at most 13"),
    ("can_knock", 1, "1 when the viewer may knock now"),
    ("can_big_gin", 1, "1 when the viewer may declare big gin now"),
    ("multiplier", 1 / 2, "what the hand's points are multiplied by"),
    ("score_own", 1 / 100, "own points in the game so far, without bonuses, at most 127"),
    ("score_opponent", 1 / 100, "the opponent's"),
    ("to_go_own", 1 / 100, "points to the target, 0 to 127; 0 without a target"),
    ("to_go_opponent", 1 / 100, "the opponent's"),
    ("target", 1 / 100, "the target in tens of points, at most 127; 0 for none"),
    ("hands_left", 1 / 10, "hands left in a game of so many hands, this one included, at most 13"),
    ("boxes_own", 1 / 10, "hands won by the viewer in this game, at most 13"),
    ("boxes_opponent", 1 / 10, "hands won by the opponent"),
    ("dealer", 1, "1 when the viewer is the dealer"),
    ("first", 1, "1 when the viewer had the first turn of this hand"),
    ("gin_bonus", 1 / 50, "points for gin, at most 63"),
    ("undercut_bonus", 1 / 50, "points for an undercut, at most 63"),
    ("undercut_ties", 1, "1 when equal deadwood is an undercut"),
    ("discard_taken", 1, "1 when the card just taken may be discarded again"),
)

HAND_FEATURES: tuple[Part, ...] = (
    ("least", 1 / 80, "least deadwood (points) after the best discard; with ten cards: of the hand"),
    ("margin", 1 / 100, "knock_limit less `least`: not negative when that is low enough to knock with"),
    ("gin", 1, "1 when `least` is 0"),
    (
        "least_taking",
        1 / 80,
        "in the phases UPCARD and DRAW: least deadwood after taking the top of the pile and the best "
        "discard, or `least` where that is less; else `least`",
    ),
    (
        "top_melded",
        1,
        "in the phases UPCARD and DRAW: 1 when a best arrangement of hand and top of the pile melds the latter",
    ),
    ("melded_cards", 1 / 10, "how many cards the plane `melded` marks"),
    ("known_cards", 1 / 10, "how many cards the plane `known_opponent` marks"),
    ("opponent_turn", 1 / 50, "turns of this hand begun by the opponent, at most 63"),
)

OUTLOOK_SCALARS: tuple[Part, ...] = (
    *(
        (f"{name}{when}", scale, f"{what} {then}")
        for when, then in (
            ("_next", "after the best discard of the planes above (by deadwood left, less 15 % of `saves_without`); "
             "with ten cards: of the hand"),
            ("_taking", "in the phases UPCARD and DRAW: the same after taking the top of the pile; else as without it"),
        )
        for name, scale, what in (
            ("left", 1 / 100, "deadwood (points)"),
            ("saves", 1 / 100, "what the five best next draws save together, at most 127"),
            ("melding", 1 / 20, "unseen cards that save deadwood by a meld"),
            ("gins", 1 / 8, "unseen cards that bring gin"),
        )
    ),
)  # fmt: skip

TABLE_PLANES: tuple[Part, ...] = (
    ("hand", 1, "own hand"),
    ("top", 1, "top of the discard pile"),
    ("buried", 1, "the rest of the discard pile"),
    ("unseen", 1, "in the stock or another hand, for all the viewer knows"),
    ("drawn", 1, "card drawn or taken in the present turn, where the viewer saw it"),
    ("knocks", 1, "discards that a knock may be made with; own turn only"),
    *(
        (f"{name}_{k}", 1, f"{what} seat {k}; 0 where nobody sits there")
        for k in range(SEATS)
        for name, what in (
            ("known", "known to all to be in the hand of"),
            ("thrown", "discarded in this hand by"),
            ("refused", "upcards passed over by"),
        )
    ),
)

TABLE_SCALARS: tuple[Part, ...] = (
    *((name.replace("_opponent", "_next"), scale, what.replace("the opponent", "the next in turn"))
      for name, scale, what in SCALARS),
    ("players", 1 / 6, "players of the hand"),
    ("penalty", 1, "1 under penalty scoring (S6)"),
    ("points", 1, "1 under the point rules (S7)"),
    ("knock_bonus", 1 / 50, "points for a knock, at most 63"),
    *(
        (f"{name}_{k}", scale, what.format(k))
        for k in range(SEATS)
        for name, scale, what in (
            ("present", 1, "1 when seat {} plays the hand"),
            ("mover", 1, "1 when the decision is that of seat {}"),
            ("dealer", 1, "1 when seat {} is the dealer"),
            ("first", 1, "1 when seat {} had the first turn of this hand"),
            ("cards", 1 / 10, "cards that seat {} holds"),
            ("score", 1 / 100, "points of seat {} in the game so far, -127 to 127"),
        )
    ),
)  # fmt: skip

MELD_PLANES: tuple[Part, ...] = (
    ("sets", 1, "cards in sets on the table that can be laid off on; all that is of one rank is one set"),
    ("runs", 1, "cards in runs on the table that can be laid off on"),
    (
        "starts",
        1,
        "the lowest card of each of these runs: it ends before the next of these, or at a card that is missing",
    ),
    ("laid_own", 1, "of the cards in these sets and runs, those that the viewer laid down or off"),
    ("laid_opponent", 1, "those that the opponent laid down or off"),
    ("loose", 1, "own cards that may be laid down or off; own turn only"),
    ("layoffs", 1, "of these, those that some meld on the table takes now"),
    ("bluffs", 1, "discards that a knock above the limit may be made with (I2); own turn only"),
)

MELD_SCALARS: tuple[Part, ...] = (
    *((f"phase_{phase.name.lower()}", 1, f"1 in the phase {phase.name}") for phase in list(Phase)[4:]),
    ("knocker_own", 1, "1 when the viewer has knocked"),
    ("knocker_opponent", 1, "1 when the opponent has"),
    ("can_say_done", 1, "1 when the viewer may say done now"),
    (
        "bound",
        1 / 10,
        "most deadwood (points) that the knocker's melds may leave, while they are laid down, at most 13",
    ),
    ("loose_points", 1 / 100, "points of the plane `loose`, card by card"),
    ("cards_own", 1 / 10, "cards that the viewer holds"),
    ("cards_opponent", 1 / 10, "cards that the opponent holds"),
    ("opened_own", 1, "open table: 1 when the viewer has laid something in an earlier turn (S8)"),
    ("opened_opponent", 1, "open table: 1 when the opponent has"),
    ("new_stocks", 1 / 10, "how often the discards may still become a new stock (H12), at most 13"),
    ("longest_meld", 1 / 13, "longest meld (C6)"),
    ("jokers", 1, "1 where there are jokers (C8)"),
    ("open_table", 1, "1 at the open table (V8)"),
    ("rummy_doubles", 1, "1 where going out in one turn scores double (S8)"),
    ("settle_by_hand", 1, "1 where melds and layoffs after a knock are actions"),
    ("illegal_knocks", 1, "1 where a knock above the limit may be tried (I2)"),
    ("big_gin", 1, "1 where big gin may be declared (H8)"),
    ("big_gin_bonus", 1 / 50, "points for it, at most 63"),
    ("hollywood", 1, "1 where a game is kept in three columns (V2); the scores and boxes above are the first column's"),
    *(
        (f"{name}_{whose}_{column}", scale, f"Hollywood: {what} in column {column}, at most {most}; else 0")
        for column in (2, 3)
        for name, scale, what, most in (("score", 1 / 100, "points", 127), ("boxes", 1 / 10, "hands won", 13))
        for whose, what in (("own", f"own {what}"), ("opponent", f"the opponent's {what}"))
    ),
    ("wins_own", 1 / 3, "Hollywood: hands won by the viewer, counted to 3: so many columns take a win"),
    ("wins_opponent", 1 / 3, "hands won by the opponent, in the same way"),
)

JOKER_PARTS: tuple[Part, ...] = tuple(
    (f"{name}_jokers", 1, f"by joker, `*1` and `*2`: 1 where it is {what}")
    for name, what in (
        ("hand", "in the own hand"),
        ("top", "the top of the discard pile"),
        ("buried", "in the rest of the discard pile"),
        ("unseen", "in the stock or the opponent's hand, for all the viewer knows"),
        ("known_opponent", "known to be in the opponent's hand"),
        ("known_own", "in own hand, and the opponent knows it"),
        ("refused_opponent", "an upcard that the opponent passed over"),
        ("refused_own", "an upcard that the viewer passed over"),
        ("drawn", "the card drawn or taken in the present turn, where the viewer saw it"),
        ("knocks", "a discard that a knock may be made with; own turn only"),
        ("thrown_own", "one of the own discards of this hand"),
        ("thrown_opponent", "one of the opponent's discards"),
    )
)
"""Both jokers in each plane of `PLANES`."""

N_PLANES = len(PLANES)
N_MELD_PLANES = len(MELD_PLANES)
N_MELD_SCALARS = len(MELD_SCALARS)
N_TABLE_PLANES = len(TABLE_PLANES)
N_FEATURES = len(CARD_FEATURES)
N_OUTLOOK = len(OUTLOOK)
N_SCALARS = len(SCALARS)
N_HAND_FEATURES = len(HAND_FEATURES)
WITH_JOKERS = 5
"""Code of planes-v2."""
HISTORY_SUIT = 2 * RANKS + 2 * TURNS
"""Length of a suit block of history-v1."""
