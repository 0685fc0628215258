"""Worlds sampled from a VIEW fit what is known, look the same through it, and follow the model of the opponent."""

from __future__ import annotations

import random
from math import comb

import numpy as np
import pytest

from agents.registry import make
from agents.worlds import completed, make_state, opponent_hand, sample_worlds
from ginenv.cards import BIT, N_CARDS, count
from ginenv.deal import new_game
from ginenv.melds import deadwood, meldable
from ginenv.rules import PRESETS, Rules
from ginenv.state import DISCARD_PHASE, ORDER, OVER_PHASE, new_states
from ginenv.step import step
from ginenv.view import VIEW, look
from tests.common import ALL_RULES, choose, legal_actions, mask, positions

EACH = sorted(ALL_RULES)
UNIFORM = np.array([0.0, 0.0, -1.0])
PLAYED = np.array([0.04, 1.0, 10.0])


def seen_by(s: np.void, rules: Rules, seat: int) -> np.void:
    v = np.zeros(1, dtype=VIEW)
    look(s, rules.record, seat, v[0])
    return v[0]


def sample(v: np.void, rules: Rules, model: np.ndarray, key: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    hands, stocks = np.zeros(n, dtype=np.int64), np.full((n, ORDER), 255, dtype=np.uint8)
    sample_worlds(v, rules.record, model, key, hands, stocks)
    return hands, stocks


def numbers(bits: int) -> list[int]:
    return [c for c in range(N_CARDS) if bits & int(BIT[c])]


@pytest.mark.parametrize("model", [UNIFORM, PLAYED], ids=["uniform", "played"])
@pytest.mark.parametrize("name", EACH)
def test_worlds_fit_what_is_known(name, model):
    rules = ALL_RULES[name]
    for n, s in enumerate(positions(rules, 41, 3)):
        if s["phase"] == OVER_PHASE or n % 3:
            continue
        for seat in (0, 1):
            v = seen_by(s, rules, seat)
            hands, stocks = sample(v, rules, model, n, 3)
            for hand, stock in zip(hands, stocks, strict=True):
                assert count(hand) == v["cards"][1]
                assert v["known"][1] & ~hand == 0
                left = stock[: s["n_stock"]].tolist()
                assert sorted(left + numbers(int(hand & ~v["known"][1]))) == numbers(int(v["unseen"]))
                assert (stock[s["n_stock"] :] == 255).all()


@pytest.mark.parametrize("name", EACH)
def test_a_made_state_looks_as_the_view_it_was_made_from(name):
    rules = ALL_RULES[name]
    made, again = new_states(1), np.zeros(1, dtype=VIEW)
    for n, s in enumerate(positions(rules, 42, 6)):
        if s["phase"] == OVER_PHASE:
            continue
        for seat in (0, 1):
            v = seen_by(s, rules, seat)
            hands, stocks = sample(v, rules, PLAYED, n, 2)
            made.view(np.uint8)[:] = 0xA5  # whatever was there before
            again.view(np.uint8)[:] = 0x5A
            make_state(v, rules.record, hands[1], stocks[1], made[0])
            look(made[0], rules.record, 0, again[0])
            for field in VIEW.names:
                assert np.array_equal(again[0][field], v[field]), field
            if s["phase"] != DISCARD_PHASE:  # what the opponent may discard, the VIEW does not tell
                assert made[0]["choices"] == s["choices"]


@pytest.mark.parametrize("name", EACH)
def test_with_the_true_cards_a_made_state_plays_on_as_the_table_does(name):
    rules = ALL_RULES[name]
    rng = random.Random(name)
    s, made = new_states(1)[0], new_states(1)[0]
    for seed in range(8):
        new_game(s, rules.record, 300 + seed)
        for _ in range(rng.randrange(12)):
            if s["phase"] != OVER_PHASE:
                step(s, rules.record, choose(s, legal_actions(s), 0, rng))
        if s["phase"] == OVER_PHASE:
            continue
        viewer = int(s["seat"])
        v = seen_by(s, rules, viewer)
        make_state(v, rules.record, s["hand"][1 - viewer], s["order"].copy(), made)
        made["seed"] = s["seed"]  # new stocks (H12) follow from it
        while s["phase"] != OVER_PHASE:
            assert legal_actions(s) == legal_actions(made)
            action = choose(s, legal_actions(s), 2, rng)
            step(s, rules.record, action)
            step(made, rules.record, action)
        for k in (0, 1):
            for field in ("hand", "points", "deadwood", "scores", "boxes"):
                assert made[field][k] == s[field][(viewer + k) % 2]
        assert made["kind"] == s["kind"]


def middle_of_a_hand() -> tuple[np.void, np.void]:
    """Return a STATE in the middle of a hand, and the VIEW of the seat to discard."""
    rules = PRESETS["eaai"]
    for s in positions(rules, 43, 40):
        if s["phase"] == DISCARD_PHASE and s["turn"] > 10 and count(s["known"][1 - int(s["seat"])]) in (1, 2):
            return s, seen_by(s, rules, int(s["seat"]))
    raise AssertionError("no such position")


@pytest.mark.parametrize("model", [UNIFORM, PLAYED], ids=["uniform", "played"])
def test_different_keys_are_different_worlds_and_the_same_key_the_same(model):
    rules = PRESETS["eaai"]
    _, v = middle_of_a_hand()
    hands, stocks = sample(v, rules, model, 5, 200)
    same_hands, same_stocks = sample(v, rules, model, 5, 200)
    assert np.array_equal(hands, same_hands) and np.array_equal(stocks, same_stocks)
    others, other_stocks = sample(v, rules, model, 6, 200)
    assert (hands != others).mean() > 0.9
    assert len({stock.tobytes() for stock in [*stocks, *other_stocks]}) == 400
    # More worlds begin with the fewer.
    assert np.array_equal(sample(v, rules, model, 5, 300)[0][:200], hands)


def test_uniform_worlds_hit_the_true_hand_no_more_often_than_chance():
    rules = PRESETS["eaai"]
    right, expected, variance = 0.0, 0.0, 0.0
    for n, s in enumerate(positions(rules, 44, 60)):
        if s["phase"] == OVER_PHASE:
            continue
        seat = n % 2
        v = seen_by(s, rules, seat)
        hands, _ = sample(v, rules, UNIFORM, n, 1)
        hidden = s["hand"][1 - seat] & ~s["known"][1 - seat]
        held, m = count(hidden), count(v["unseen"])
        right += count(hands[0] & hidden)
        expected += held * held / m
        variance += held * held * (m - held) ** 2 / (m * m * (m - 1))
    assert abs(right - expected) < 5 * variance**0.5


def test_opponent_hand_is_even_without_a_model_and_sums_to_the_hand():
    rules = PRESETS["eaai"]
    _, v = middle_of_a_hand()
    held = opponent_hand(v, rules, worlds=4000, deadwood=0, gone=0, above=-1)
    unseen, known = numbers(int(v["unseen"])), numbers(int(v["known"][1]))
    chance = (10 - len(known)) / len(unseen)
    assert held.sum() == pytest.approx(10)
    assert held[known] == pytest.approx(1)
    assert np.abs(held[unseen] - chance).max() < 5 * (chance * (1 - chance) / 4000) ** 0.5
    assert not held[[c for c in range(N_CARDS) if c not in unseen + known]].any()


def test_the_model_has_the_weights_that_it_says():
    """On a deck so small that every hand can be weighed: the chain comes out at those chances."""
    rules = Rules(ranks=7, suits=2, cards_dealt=3, dead_stock=0, knock_limit=0)
    model = np.array([0.05, 0.7, 5.0])
    s = next(s for s in positions(rules, 45, 60) if s["phase"] == DISCARD_PHASE and s["turn"] == 3)
    v = seen_by(s, rules, int(s["seat"]))
    hands, _ = sample(v, rules, model, 9, 40_000)
    found, counts = np.unique(hands, return_counts=True)
    gone = int(v["thrown"][1] | v["refused"][1])
    assert gone != 0
    weights = np.array([np.exp(-0.05 * deadwood(h, 13) - 0.7 * count(completed(h) & gone)) for h in found])
    assert min(deadwood(h, 13) for h in found) > 5
    everyone, _ = sample(v, rules, np.array([0.05, 0.7, -1.0]), 9, 40_000)
    lower = [h for h in np.unique(everyone) if deadwood(h, 13) <= 5]
    assert len(lower) > 1
    assert len(found) + len(lower) == comb(count(v["unseen"]), 3) > 30
    chances = weights / weights.sum()
    assert chances.max() > 2 * chances.min()
    assert np.abs(counts / counts.sum() / chances - 1).max() < 0.3


def test_completed_is_what_two_cards_would_meld():
    assert completed(mask("5S 6S")) & mask("3S 4S 7S 8S 5H 6D") == mask("4S 7S")
    assert completed(mask("5S 7S")) & mask("4S 6S 8S") == mask("6S")
    assert completed(mask("KS KH")) & mask("KD KC QS AS AH") == mask("KD KC")
    rules = PRESETS["eaai"]
    for s in positions(rules, 46, 2):
        hand = int(s["hand"][0])
        for c in range(N_CARDS):
            bit = int(BIT[c])
            if not hand & bit:
                assert (completed(hand) & bit != 0) == (meldable(hand | bit) & bit != 0)


def test_weighted_worlds_are_nearer_to_real_hands_than_uniform_ones():
    """Against play with sense: hands taken from the opponent's own, better than chance at guessing them."""
    rules = PRESETS["eaai"]
    agent = make("simple:early=10,until=4,late=0")
    s, v = new_states(1)[0], np.zeros(1, dtype=VIEW)
    losses = []
    for seed in range(40):
        new_game(s, rules.record, 700 + seed)
        for n in range(30):
            if s["phase"] == OVER_PHASE:
                break
            look(s, rules.record, int(s["seat"]), v[0])
            if s["phase"] == DISCARD_PHASE and s["turn"] > 6:
                truth = np.zeros(N_CARDS)
                truth[numbers(int(s["hand"][1 - int(s["seat"])]))] = 1
                unseen = numbers(int(v[0]["unseen"]))
                row = []
                for model in ({}, {"deadwood": 0, "gone": 0, "above": -1}):
                    p = opponent_hand(v[0], rules, worlds=200, **model).clip(0.005, 0.995)[unseen]
                    t = truth[unseen]
                    row.append(-(t * np.log(p) + (1 - t) * np.log(1 - p)).mean())
                losses.append(row)
            step(s, rules.record, int(agent.act(v, rules, np.array([1000 * seed + n]))[0]))
    modelled, uniform = np.mean(losses, axis=0)
    assert modelled < uniform - 0.03
