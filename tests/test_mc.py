"""`mc`: legal and repeatable, a function of what it sees; its rollouts are those of the engine."""

from __future__ import annotations

import pickle
import time
from collections import Counter

import numpy as np
import pytest

from agents.clock import deadline
from agents.mc import drop_losers, find_candidates, finish_hand, sample_batch, search, worth
from agents.playout import NO_FORFEIT, play_hand
from agents.registry import make
from experiments.match import NOBODY, play_pairs
from ginenv.cards import BIT
from ginenv.deal import new_game
from ginenv.melds import deadwood
from ginenv.rules import PRESETS, rules
from ginenv.state import BIG_GIN, DISCARD, DISCARD_PHASE, KNOCK, ORDER, OVER_PHASE, new_states
from ginenv.step import is_legal, step
from ginenv.view import VIEW, look
from tests.common import AGENTS_PLAY, ALL_RULES, legal_actions, positions
from tests.test_view import shuffled

EAAI = PRESETS["eaai"]
SHORT = {name: r.but(target=None, hands=2, hollywood=False) for name, r in PRESETS.items()}


@pytest.mark.parametrize("preset", AGENTS_PLAY)
def test_mc_plays_legally_under_every_preset(preset):
    games, _ = play_pairs(make("mc:worlds=8,width=3"), make("simple"), SHORT[preset], 3, 0, 2)
    assert (games["forfeit"] == NOBODY).all()


def test_V2_in_hollywood_points_are_searched_for_since_no_table_knows_its_columns():
    v = np.zeros(1, dtype=VIEW)
    v[0]["scores"][:2] = 137, 9  # the first column is closed
    agent = make("mc:game=1")
    assert worth(v[0], PRESETS["hollywood"].record, agent.params, -12) == -12
    games, _ = play_pairs(make("mc:game=1,worlds=2"), make("heuristic"), rules("hollywood", target=20), 3, 0, 1)
    assert (games["forfeit"] == NOBODY).all()


@pytest.mark.parametrize("policy", ["ppo", "heuristic"])
def test_games_may_be_searched_for_whoever_proposes(policy):
    # The network's params lie behind the table of chances.
    agent = make(f"mc:game=1,worlds=8,policy={policy}")
    games, _ = play_pairs(agent, make("heuristic"), rules("eaai", target=30), 3, 0, 2)
    assert (games["forfeit"] == NOBODY).all()
    v = np.zeros(1, dtype=VIEW)
    v[0]["scores"][:2] = 90, 50
    won, lost = (worth(v[0], EAAI.record, agent.params, points) for points in (10, -60))
    assert lost < 0 < won and 99 < won - lost <= 100  # either ends the game


def test_the_same_key_is_the_same_choice_and_its_legality_no_matter_of_worlds():
    agents = [make(f"mc:worlds={n},width=3") for n in (1, 16, 100)]
    v = np.zeros(1, dtype=VIEW)
    for name in sorted(ALL_RULES):
        rules = ALL_RULES[name]
        for n, s in enumerate(positions(rules, 51, 3)):
            if s["phase"] == OVER_PHASE or n % 5:
                continue
            look(s, rules.record, int(s["seat"]), v[0])
            keys = np.array([n])
            for agent in agents:
                action = int(agent.act(v, rules, keys)[0])
                assert is_legal(s, action)
                assert agent.act(v, rules, keys)[0] == action


def test_other_keys_are_other_searches():
    """Few worlds leave much to luck: over many decisions another key must choose otherwise now and then."""
    agent, v = make("mc:worlds=2,prior=0,width=3"), np.zeros(50, dtype=VIEW)
    varied = 0
    for s in positions(EAAI, 52, 3):
        if s["phase"] == DISCARD_PHASE:
            look(s, EAAI.record, int(s["seat"]), v[0])
            v[1:] = v[0]
            varied += len(set(agent.act(v, EAAI, np.arange(50)).tolist())) > 1
    assert varied > 5


def test_mc_never_sees_what_is_hidden():
    agent, v = make("mc:worlds=16,width=3"), np.zeros(2, dtype=VIEW)
    rng = np.random.default_rng(5)
    for n, s in enumerate(positions(EAAI, 53, 6)):
        if s["phase"] == OVER_PHASE:
            continue
        seat = int(s["seat"])
        look(s, EAAI.record, seat, v[0])
        look(shuffled(s, EAAI, seat, rng), EAAI.record, seat, v[1])
        first, second = agent.act(v, EAAI, np.array([n, n]))
        assert first == second


def test_a_match_is_the_same_again_and_pickles():
    agent = make("mc:worlds=8,width=3")
    first, _ = play_pairs(agent, make("simple"), EAAI.but(target=30), 4, 0, 2)
    again, _ = play_pairs(pickle.loads(pickle.dumps(agent)), make("simple"), EAAI.but(target=30), 4, 0, 2)
    assert all(np.array_equal(first[name], again[name]) for name in first.dtype.names)


def test_gin_is_declared_at_once():
    agent, v = make("mc:worlds=4,width=3"), np.zeros(1, dtype=VIEW)
    found = 0
    for name in ("4 ranks, 3 cards", "1 suit", "big_gin"):
        rules = ALL_RULES[name]
        for s in positions(rules, 54, 30):
            if s["phase"] != DISCARD_PHASE:
                continue
            hand = int(s["hand"][s["seat"]])
            gins = [a for a in legal_actions(s) if a >= KNOCK and deadwood(hand & ~int(BIT[a - KNOCK]), 13) == 0]
            big = (int(s["choices"]) >> BIG_GIN) & 1
            if gins or big:
                look(s, rules.record, int(s["seat"]), v[0])
                assert int(agent.act(v, rules, np.array([1]))[0]) in ([BIG_GIN] if big else gins)
                found += 1
    assert found > 10


@pytest.mark.parametrize("patient", [False, True])
@pytest.mark.parametrize("name", sorted(ALL_RULES))
def test_rollouts_are_hands_of_the_agents_they_say(name, patient):
    rules = ALL_RULES[name]
    own, rival = make("lean:until=5,ways=1.3"), make("lean" if patient else "simple")
    s, t, v = new_states(1)[0], new_states(1)[0], np.zeros(4, dtype=VIEW)
    for seed in range(20):
        new_game(s, rules.record, 900 + seed)
        if s["seat"] != 0:
            continue  # a rollout follows a decision of seat 0
        new_game(t, rules.record, 900 + seed)
        look(t, rules.record, 0, v[2])
        end = play_hand(s, rules.record, v[:2], own.policy, own.params, 7, rival.policy, rival.params, 7)
        points = finish_hand(t, rules.record, v[2:], 1, make("mc").params, patient, 7)
        assert end == NO_FORFEIT
        assert points == int(s["points"][0]) - int(s["points"][1])
        assert (s["turn"], s["kind"]) == (t["turn"], t["kind"])


def test_the_worlds_are_of_both_kinds_and_fit_what_each_would_have_done():
    """The impatient would have knocked with 10 or less, whenever they had a turn; the patient in their first turns."""
    agent, v = make("mc:patient=0.25"), np.zeros(1, dtype=VIEW)
    hands, stocks, patient = (
        np.zeros(64, dtype=np.int64),
        np.zeros((64, ORDER), dtype=np.uint8),
        np.zeros(64, dtype=np.int8),
    )
    low = Counter()
    for s in positions(EAAI, 57, 30):
        if s["phase"] != DISCARD_PHASE or s["turn"] < 3:
            continue
        look(s, EAAI.record, int(s["seat"]), v[0])
        sample_batch(v[0], EAAI.record, agent.params, int(s["turn"]), hands, stocks, patient)
        assert patient.sum() == 16
        waits = int(v[0]["turn"]) - int(v[0]["own_turn"]) >= 4
        for hand, kind in zip(hands, patient, strict=True):
            low[waits, int(kind)] += int(deadwood(hand, 13)) <= 10
    assert low[True, 1] > 0
    assert low[True, 1] > 10 * (low[True, 0] + low[False, 0] + low[False, 1])


def test_a_time_budget_is_kept():
    agent, v = make("mc:ms=5,width=5"), np.zeros(1, dtype=VIEW)
    actions, priors = np.zeros(53, dtype=np.int64), np.zeros(53)
    late = searched = 0
    for s in positions(EAAI, 58, 8):
        if s["phase"] != DISCARD_PHASE:
            continue
        look(s, EAAI.record, int(s["seat"]), v[0])
        start = time.monotonic()
        end = deadline(v[0], 5, 0)
        n, gin = find_candidates(v[0], EAAI.record, agent.params, actions, priors)
        if n == 1 or gin:
            continue
        values, alive = np.zeros((n, 1 << 14)), np.zeros(n, dtype=np.int8)
        _, seen = search(v[0], EAAI.record, agent.params, 1, actions, priors, n, end, values, alive)
        took = time.monotonic() - start
        searched += 1
        late += took > 0.05  # ten times over: a busy machine must not fail the test
        assert seen >= 1
    assert searched > 20
    assert late <= searched // 10


def test_candidates_are_legal_distinct_and_the_best_discard_leads():
    agent, v = make("mc:width=5"), np.zeros(1, dtype=VIEW)
    actions, priors = np.zeros(53, dtype=np.int64), np.zeros(53)
    for s in positions(EAAI, 55, 6):
        if s["phase"] != DISCARD_PHASE:
            continue
        look(s, EAAI.record, int(s["seat"]), v[0])
        n, gin = find_candidates(v[0], EAAI.record, agent.params, actions, priors)
        chosen = actions[:n].tolist()
        assert 1 <= n <= 6 and len(set(chosen)) == n
        assert all(is_legal(s, a) for a in chosen)
        discards = [p for a, p in zip(chosen, priors, strict=False) if a < KNOCK]
        assert chosen[0] >= DISCARD and discards[0] == 0 and discards == sorted(discards, reverse=True)
        assert (s["knocks"] != 0) == (chosen[-1] >= KNOCK)
        assert gin == (chosen[-1] >= KNOCK and deadwood(v[0]["hand"] & ~BIT[chosen[-1] - KNOCK], 13) == 0)


def test_who_is_clearly_behind_is_dropped_and_a_close_second_is_not():
    rng = np.random.default_rng(1)
    luck = rng.normal(0, 30, 64)  # common to all
    values = np.stack([luck, luck - 3 + rng.normal(0, 3, 64), luck + rng.normal(0, 20, 64)])
    alive = np.ones(3, dtype=np.int8)
    best, left = drop_losers(values, np.array([0.5, 0.0, 0.0]), alive, 3, 64)
    assert alive[best] == 1 and alive[1] == 0 and left == alive.sum() == 2
    alive[:] = 1
    assert drop_losers(values, np.zeros(3), alive, 3, 8)[1] == 3  # too early to tell


def test_mc_against_itself_ends_hands_by_its_own_doing():
    agent, v = make("mc:worlds=64"), np.zeros(1, dtype=VIEW)
    ended = 0
    s = new_states(1)[0]
    for seed in range(40):
        new_game(s, EAAI.record, 60 + seed)
        while s["phase"] != OVER_PHASE:
            look(s, EAAI.record, int(s["seat"]), v[0])
            action = int(agent.act(v, EAAI, np.array([seed * 1000 + int(s["turn"])]))[0])
            ended += action >= KNOCK
            step(s, EAAI.record, action)
    assert ended > 30
