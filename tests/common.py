"""What several tests of the engine share: cards both ways, rules to play under, hands rich in melds, positions."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

import numpy as np

from ginenv.cards import BIT, JOKERS, RANKS, SUITS, card, card_text
from ginenv.deal import deal, new_game
from ginenv.ledger import game_over
from ginenv.melds import deadwood
from ginenv.rules import PRESETS, Rules
from ginenv.state import BIG_GIN, DISCARD, DRAW, KNOCK, N_ACTIONS, OVER_PHASE, PASS, TAKE, n_actions, new_states
from ginenv.step import step, write_mask
from tests.reference import NaiveGame, NaiveGameRules, NaiveHollywood, NaiveRules

DECK = [r + s for s in SUITS for r in RANKS]
BITS = {text: int(BIT[card(text)]) for text in DECK}
TEXTS = {bit: text for text, bit in BITS.items()} | {int(BIT[c]): card_text(c) for c in (52, 53)}  # jokers (C8)
WORDS = {DRAW: ("draw",), TAKE: ("take",), PASS: ("pass",), BIG_GIN: ("big gin",)}


def mask(cards: str | Iterable[str]) -> int:
    """Return cards (texts, or one text of several) as a mask."""
    return sum(BITS[c] for c in (cards.split() if isinstance(cards, str) else cards))


def cards(bits: int) -> frozenset[str]:
    """Return a mask as texts."""
    found = []
    while bits:
        found.append(TEXTS[bits & -bits])
        bits &= bits - 1
    return frozenset(found)


def words(action: int) -> tuple[str, ...]:
    """Return an action id as the oracle says it."""
    if action < DISCARD:
        return WORDS[action]
    return ("discard", card_text(action - DISCARD)) if action < KNOCK else ("knock", card_text(action - KNOCK))


# --- Rules ----------------------------------------------------------------------------------------

SMALL = {"box_bonus": 10, "game_bonus": 20, "shutout": "none"}
ODD: dict[str, Rules] = {
    "10 ranks, 7 cards": Rules(ranks=10, cards_dealt=7),
    "7 ranks, 5 cards": Rules(ranks=7, cards_dealt=5, target=50, **SMALL),
    "4 ranks, 3 cards": Rules(ranks=4, cards_dealt=3, knock_limit=6, target=30, big_gin=True, **SMALL),
    "3 suits": Rules(suits=3, cards_dealt=10, undercut_ties=False, target=40),
    "2 suits, melds of 3": Rules(suits=2, cards_dealt=7, longest_meld=3, big_gin=True, knock_limit=20),
    "1 suit": Rules(suits=1, cards_dealt=3, dead_stock=0, knock_limit=20, target=60),
    "3 ranks, 1 card": Rules(ranks=3, suits=2, cards_dealt=1, dead_stock=0, knock_limit=1, target=10, gin_bonus=1),
    "4 ranks, 6 cards": Rules(ranks=4, cards_dealt=6, dead_stock=1, knock_limit=0, big_gin=True, target=60),
    "melds of 3": Rules(longest_meld=3, next_dealer="alternate"),
    "melds of 3 and 4": Rules(longest_meld=4, knock_limit=15, big_gin=True),
    "melds to 6": Rules(longest_meld=6, knock_limit=20, big_gin=True, big_gin_bonus=25),
    "whole stock": Rules(dead_stock=0, discard_taken=True),
    "long stock": Rules(dead_stock=20, turn_limit=9),
    "one new stock": Rules(reshuffles=1, dead_stock=0, knock_limit=3),
    "new stocks, 5 ranks": Rules(ranks=5, cards_dealt=5, reshuffles=None, dead_stock=0, knock_limit=2, turn_limit=150),
    "short hands": Rules(turn_limit=6, knock_limit=40, next_dealer="winner", shutout="add"),
    "any knock": Rules(knock_limit=100, target=250),
    "3 hands": Rules(target=None, hands=3, knock_limit=40),
    "oklahoma, no options": Rules(oklahoma=True, big_gin=True, discard_taken=True, target=60),
    "oklahoma, 8 ranks": Rules(
        oklahoma=True, ace_means_gin=True, spades_double=True, ranks=8, cards_dealt=5, undercut_ties=False
    ),
    "hollywood, adding": Rules(hollywood=True, target=60, shutout="add", knock_limit=40, next_dealer="winner"),
    "straight, 7 ranks": Rules(straight=True, knock_limit=0, ranks=7, cards_dealt=6, big_gin=True),
}
"""Small decks and rules that no preset plays."""
ALL_RULES: dict[str, Rules] = {name: r for name, r in (PRESETS | ODD).items() if r.for_two and not r.more_actions}
"""The rules for two, of the 108 actions."""
AGENTS_PLAY = [name for name in PRESETS if name in ALL_RULES]
"""Presets of these, which every agent can play."""
MORE_RULES: dict[str, Rules] = {
    "by hand": Rules(settle_by_hand=True, knock_limit=25),
    "by hand, melds to 4, big gin": Rules(
        settle_by_hand=True, longest_meld=4, knock_limit=40, big_gin=True, ranks=7, cards_dealt=7, undercut_ties=False
    ),
    "by hand, small": Rules(settle_by_hand=True, ranks=5, cards_dealt=6, big_gin=True, dead_stock=0, knock_limit=15),
    "open table": PRESETS["open_table"],
    "open table, small": Rules(
        open_table=True, ranks=6, suits=4, cards_dealt=6, reshuffles=None, dead_stock=0, turn_limit=60, knock_limit=2
    ),
    "jokers": Rules(jokers=True, knock_limit=5),
    "jokers, melds to 4": Rules(
        jokers=True, longest_meld=4, ranks=8, cards_dealt=7, big_gin=True, reshuffles=1, dead_stock=0
    ),
    "bluffs": Rules(illegal_knocks=True),
    "bluffs by hand": Rules(illegal_knocks=True, settle_by_hand=True, oklahoma=True, spades_double=True, turn_limit=30),
    "bluffs, new stock": Rules(illegal_knocks=True, ranks=5, cards_dealt=5, reshuffles=1, dead_stock=0, knock_limit=1),
}
"""Rules with more actions than these."""

_PENALTY, _POINTS = PRESETS["penalty"], PRESETS["point_rules"]
TABLES: dict[str, Rules] = {
    "point_rules": _POINTS,
    "penalty": _PENALTY,
    **{f"point_rules for {n}": _POINTS.but(players=n) for n in (2, 4, 5, 6)},
    **{f"penalty for {n}": _PENALTY.but(players=n) for n in (2, 3, 5, 6)},
    "5, any knock": _POINTS.but(players=5, knock_limit=100, undercut_ties=False, next_dealer="loser"),
    "6, short cards": _PENALTY.but(
        players=6, ranks=10, cards_dealt=4, big_gin=True, undercut_ties=True, knock_limit=20, next_dealer="winner"
    ),
    "3, whole stock": _POINTS.but(
        dead_stock=0,
        reshuffles=2,
        oklahoma=True,
        ace_means_gin=True,
        spades_double=True,
        big_gin=True,
        target=60,
        hands=None,
    ),
    "4, melds of 3 and 4": _PENALTY.but(longest_meld=4, knock_limit=30, discard_taken=True, target=30),
}
"""Two to six at one table, scored for all (H13, S6, S7)."""
PLACES: dict[str, Rules] = {
    "three_handed": PRESETS["three_handed"],
    "partners": PRESETS["partners"],
    "three-handed, small": PRESETS["three_handed"].but(ranks=7, cards_dealt=5, target=50, next_dealer="winner"),
    "partners, small": PRESETS["partners"].but(ranks=7, cards_dealt=5, target=50, next_dealer="alternate"),
    "partners, 6 hands": PRESETS["partners"].but(target=None, hands=6, knock_limit=40, shutout="add"),
}
"""Hands of two, played by three or four people (V5, V6)."""
MANY: dict[str, Rules] = TABLES | PLACES


def naive_rules(rules: Rules) -> NaiveRules:
    """Return the rules of a hand as the oracle takes them."""
    return NaiveRules(
        ranks=rules.ranks,
        suits=rules.suits,
        cards_dealt=rules.cards_dealt,
        longest_meld=rules.longest_meld,
        knock_limit=rules.knock_limit,
        gin_bonus=rules.gin_bonus,
        undercut_bonus=rules.undercut_bonus,
        undercut_ties=rules.undercut_ties,
        big_gin=rules.big_gin,
        big_gin_bonus=rules.big_gin_bonus,
        oklahoma=rules.oklahoma,
        oklahoma_ace_gin=rules.ace_means_gin,
        oklahoma_spades_double=rules.spades_double,
        straight=rules.straight,
        discard_taken=rules.discard_taken,
        dead_stock=rules.dead_stock,
        reshuffles=rules.reshuffles,
        turn_limit=rules.turn_limit,
        players=rules.hand_players,
        scoring=rules.scoring,
        knock_bonus=rules.knock_bonus,
    )


def naive_game_rules(rules: Rules) -> NaiveGameRules:
    """Return the rules of a game as the oracle takes them; a number of hands is a target never reached."""
    return NaiveGameRules(
        target=rules.target or 1_000_000,
        box_bonus=rules.box_bonus,
        game_bonus=rules.game_bonus,
        shutout=rules.shutout,
        shutout_bonus=rules.shutout_bonus,
        next_dealer=rules.next_dealer,
    )


def naive_game(rules: Rules, first_dealer: int) -> NaiveGame | NaiveHollywood:
    """Return the oracle's ledger of a game."""
    kind = NaiveHollywood if rules.hollywood else NaiveGame
    return kind(naive_game_rules(rules), first_dealer)


# --- Hands ----------------------------------------------------------------------------------------


def meld_rich_pool(rng: random.Random) -> list[str]:
    """Return 16 to 26 cards, near each other in rank or suit: hands of them are full of crossing sets and runs."""
    kind = rng.randrange(5)
    low = rng.randrange(10)
    if kind == 0:  # four ranks next to each other
        return [c for c in DECK if low <= RANKS.index(c[0]) < low + 4]
    if kind == 1:  # six ranks of three suits
        suits, low = rng.sample(SUITS, 3), rng.randrange(8)
        return [c for c in DECK if c[1] in suits and low <= RANKS.index(c[0]) < low + 6]
    if kind == 2:  # two suits
        suits = rng.sample(SUITS, 2)
        return [c for c in DECK if c[1] in suits]
    if kind == 3:  # any five ranks
        ranks = rng.sample(RANKS, 5)
        return [c for c in DECK if c[0] in ranks]
    low = rng.randrange(9)  # five ranks next to each other
    return [c for c in DECK if low <= RANKS.index(c[0]) < low + 5]


# --- Positions ------------------------------------------------------------------------------------


def legal_actions(s: np.void, n: int = N_ACTIONS) -> list[int]:
    """Return the legal action ids of a STATE with ``n`` actions."""
    row = np.zeros(n, dtype=np.int8)
    write_mask(s, row)
    return np.flatnonzero(row).tolist()


def choose(s: np.void, legal: list[int], style: int, rng: random.Random) -> int:
    """Return an action: at random (style 0), random but ending the hand when it may (1), or a player of sorts (2)."""
    ends = [a for a in legal if a >= KNOCK or a == BIG_GIN]
    if style == 0 or (ends and rng.random() < 0.2):
        return rng.choice(legal)
    if ends:
        return rng.choice(ends)
    if style == 2 and DISCARD <= legal[0] < KNOCK and rng.random() < 0.9:
        hand = int(s["hand"][s["seat"]]) & ~JOKERS
        return min((a for a in legal if a < KNOCK), key=lambda a: deadwood(hand & ~int(BIT[a - DISCARD]), 13))
    return rng.choice(legal)


def positions(rules: Rules, seed: int, hands: int) -> Iterator[np.void]:
    """Yield STATEs of random play, each until the next is asked for: each decision and each end of ``hands`` hands."""
    rng = random.Random(seed)
    s, record = new_states(1)[0], rules.record
    new_game(s, record, seed)
    for n in range(hands):
        while s["phase"] != OVER_PHASE:
            yield s
            step(s, record, choose(s, legal_actions(s, n_actions(rules)), n % 3, rng))
        yield s
        if game_over(s, record):
            new_game(s, record, seed + 1000 * (n + 1))
        else:
            deal(s, record)
