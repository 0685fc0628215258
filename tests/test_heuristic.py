"""`heuristic`: its evaluation against a naive one, its decisions, and that it sees no more than its VIEW."""

from __future__ import annotations

import random

import numpy as np
import pytest

from agents.registry import make
from experiments.match import NOBODY, play_pairs
from ginenv.cards import BIT, N_CARDS, card_list, card_mask
from ginenv.deal import new_game
from ginenv.lookahead import danger, savings
from ginenv.melds import completed, deadwood
from ginenv.rules import PRESETS
from ginenv.state import DISCARD_PHASE, KNOCK, OVER_PHASE, Phase, new_states
from ginenv.step import is_legal, step
from ginenv.view import VIEW, look
from tests.common import AGENTS_PLAY, ALL_RULES, positions
from tests.test_view import shuffled

EAAI = PRESETS["eaai"]


def least_after_draw(hand: int, card: int) -> int:
    drawn = hand | int(BIT[card])
    return min(int(deadwood(drawn & ~int(BIT[c]), 13)) for c in card_list(drawn))


@pytest.mark.parametrize("draws", [1, 4, 40])
def test_savings_are_what_the_best_draws_save(draws):
    rng = random.Random(draws)
    tally = np.zeros(128, dtype=np.int64)
    for n in range(200):
        pool = list(range(N_CARDS)) if n % 2 else [c for c in range(N_CARDS) if c % 13 < 6]
        deck = rng.sample(pool, len(pool))
        hand = card_mask(deck[:10])
        unseen = deck[10 : rng.randrange(11, len(deck) + 1)]
        now = int(deadwood(hand, 13))
        saved = sorted((max(0, now - least_after_draw(hand, c)) for c in unseen), reverse=True)[:draws]
        melding = {c: now - least_after_draw(hand, c) for c in unseen if int(completed(hand)) & int(BIT[c])}
        want = sum(saved), sum(s > 0 for s in melding.values()), sum(0 < s == now for s in melding.values())
        assert savings(hand, now, card_mask(unseen), draws, tally, 13) == want
        assert not tally.any()


def test_danger_counts_the_pairs_they_may_hold():
    v = np.zeros(1, dtype=VIEW)[0]
    v["cards"][1] = 10
    v["known"][1] = card_mask("7S 8S")
    assert danger(v, card_list("9S")[0], 0.2) == 1.0
    assert danger(v, card_list("6S")[0], 0.2) == 1.0
    assert danger(v, card_list("6H")[0], 0.2) == 0.0
    v["thrown"][1] = card_mask("TS")
    v["known"][1] = card_mask("8S")
    v["unseen"] = card_mask("9S KD QD JD")
    hidden = 9 / 4
    assert danger(v, card_list("7S")[0], 0.2) == pytest.approx(min(1.0, hidden * 0.2))


def test_it_knocks_early_and_later_with_gin_only():
    early = late = 0
    agent, v = make("heuristic"), np.zeros(1, dtype=VIEW)
    for seed in range(300):
        s = new_states(1)[0]
        new_game(s, EAAI.record, seed)
        while s["phase"] != OVER_PHASE:
            look(s, EAAI.record, int(s["seat"]), v[0])
            action = int(agent.act(v, EAAI, np.array([1]))[0])
            if s["phase"] == DISCARD_PHASE and s["knocks"]:
                left = int(deadwood(v[0]["hand"] & ~BIT[(action - 4) % 52], 13))
                if action >= KNOCK and left > 0:
                    early += 1
                    assert v[0]["own_turn"] <= 6
                elif left > 0 and action < KNOCK:
                    late += 1
            step(s, EAAI.record, action)
    assert early > 20
    assert late > 20


@pytest.mark.parametrize("preset", AGENTS_PLAY)
def test_it_plays_legally_under_every_preset(preset):
    games, _ = play_pairs(
        make("heuristic"), make("simple"), PRESETS[preset].but(target=None, hands=10, hollywood=False), 3, 0, 10
    )
    assert (games["forfeit"] == NOBODY).all()


@pytest.mark.parametrize("name", sorted(ALL_RULES))
def test_it_acts_on_what_it_sees_alone(name):
    rules, rng = ALL_RULES[name], np.random.default_rng(8)
    agent, v = make("heuristic"), np.zeros(2, dtype=VIEW)
    for n, s in enumerate(positions(rules, 61, 4)):
        if s["phase"] == OVER_PHASE or n % 2:
            continue
        seat = int(s["seat"])
        look(s, rules.record, seat, v[0])
        look(shuffled(s, rules, seat, rng), rules.record, seat, v[1])
        first, second = agent.act(v, rules, np.array([n, n + 1]))
        assert first == second
        assert is_legal(s, int(first))


def test_the_upcard_is_taken_for_a_meld_in_the_best_arrangement_only():
    agent, v = make("heuristic:gain=1"), np.zeros(1, dtype=VIEW)
    for hand, top, wants in (
        ("7S 7H KD QC 2D 4C 9H JS 5D 3C", "7D", True),  # three sevens
        ("7S 8H KD QC 2D 4C 9C JS 5D 3C", "7D", False),  # a pair only
        ("AS 2S KD KH KC QH 4C 9C JS 6D", "3S", True),
        ("5S 5H 5D 6S KC QD 9H 2C JC AH", "7S", False),  # 5 6 7 of spades would cost the fives
    ):
        v[0]["phase"] = Phase.DRAW
        v[0]["choices"] = 3
        v[0]["hand"] = card_mask(hand)
        v[0]["top"] = card_list(top)[0]
        took = int(agent.act(v, EAAI, np.array([0]))[0]) == 1
        assert took == wants, (hand, top)
