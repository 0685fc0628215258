"""Jokers, the open table, settlement by hand and bluffs (C8, V8, H9, I2) in every environment; and who plays them."""

from __future__ import annotations

import copy
import io
import pickle
import sys
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st
from pettingzoo.test import api_test, seed_test

from agents.registry import make, names
from experiments.cli import main
from experiments.play import Game, action_of, legal_text
from ginenv import IllegalAction, Table, action_text, gin_rummy_v0, replay
from ginenv.cards import card_list, card_text
from ginenv.encode import encode
from ginenv.envs.single import GinRummyEnv
from ginenv.envs.single_vector import GinRummyVectorEnv
from ginenv.envs.vector import Tables, random_actions
from ginenv.invariants import invariants
from ginenv.ledger import margin
from ginenv.rng import mix
from ginenv.rules import PRESETS, Rules
from ginenv.state import (
    ARRANGE_PHASE,
    DEFEND_PHASE,
    DISCARD_JOKER,
    KNOCK_JOKER,
    LAY_ABOVE,
    LAY_BELOW,
    N_ALL_ACTIONS,
    OVER_PHASE,
    n_actions,
    new_states,
)
from ginenv.step import any_legal, has_more, is_legal, step
from ginenv.view import VIEW, look
from tests.common import ALL_RULES, MORE_RULES, legal_actions, positions
from tests.test_invariants import any_rules
from tests.test_vector import ARRAYS, same

more_rules = pytest.mark.parametrize("r", MORE_RULES.values(), ids=MORE_RULES.keys())
OPEN, JOKERS = PRESETS["open_table"], Rules(jokers=True)


def play(tables: Tables, steps: int, start: int = 0) -> None:
    actions = np.zeros(tables.n, np.int64)
    for k in range(start, start + steps):
        random_actions(tables.views, mix(7, k), actions)
        tables.step(actions)


# --- Any legal action ------------------------------------------------------------------------------


@more_rules
def test_C8_V8_H9_I2_any_legal_is_uniform_over_all_actions(r):
    phases, n = set(), 0
    for s in positions(r, 31, 4):
        v = np.zeros(1, VIEW)
        look(s, r.record, int(s["seat"]), v[0])
        legal = legal_actions(s, N_ALL_ACTIONS)
        assert has_more(v[0]) or not [a for a in legal if a >= 108]
        if s["phase"] == OVER_PHASE or not has_more(v[0]):
            continue
        n += 1
        if n % 13 != 1:  # some of them are enough
            continue
        phases.add(int(s["phase"]))
        found = [int(any_legal(v[0], 5, i)) for i in range(60 * len(legal))]
        counts = np.bincount(found, minlength=N_ALL_ACTIONS)
        assert counts[legal].sum() == len(found)
        assert (abs(counts[legal] - 60) < 6 * 60**0.5).all()
    assert phases


def test_games_of_108_actions_have_nothing_more_to_choose():
    for name, r in ALL_RULES.items():
        for s in positions(r, 32, 2):
            assert not has_more(s), name


# --- Tables ----------------------------------------------------------------------------------------


@more_rules
@pytest.mark.parametrize("episode", ["hand", "game"])
def test_C8_V8_H9_I2_tables_agree_with_the_engine(r, episode):
    t = Tables(4, r, seed=3, episode=episode)
    assert t.encoding.name == "planes-v2" and t.action_masks.shape == (4, N_ALL_ACTIONS)
    out, v, total, phases = np.zeros(t.encoding.size, np.int8), np.zeros(1, VIEW), np.zeros(4), set()
    before = {name: getattr(t, name) for name in ARRAYS}
    for k in range(150):
        play(t, 1, start=k)
        total += t.rewards[:, 0]
        assert (t.rewards.sum(1) == 0).all()
        for i in np.flatnonzero(t.dones):
            assert t.returns[i, 0] == total[i] == -t.returns[i, 1]
            total[i] = 0
        i = k % 4
        s = t.states[i]
        phases.add(int(s["phase"]))
        invariants(s, r)
        assert t.seats[i] == s["seat"] and s["phase"] != OVER_PHASE
        assert t.action_masks[i].tolist() == [is_legal(s, a) for a in range(N_ALL_ACTIONS)]
        look(s, r.record, s["seat"], v[0])
        encode(v[0], r.record, t.encoding.code, out)
        assert v[0].tobytes() == t.views[i].tobytes() and (out == t.observations[i]).all()
    assert all(getattr(t, name) is array for name, array in before.items())
    assert t.episodes.sum() > 0 or episode == "game"


@pytest.mark.parametrize("name", ["open table", "jokers", "bluffs by hand"])
def test_C8_V8_H9_I2_tables_copy_pickle_and_restore(name):
    t = Tables(6, MORE_RULES[name], 3, "game")
    play(t, 77)
    for other in (pickle.loads(pickle.dumps(t)), copy.deepcopy(t)):
        mine = copy.deepcopy(t)
        play(mine, 60, start=77)
        play(other, 60, start=77)
        assert same(mine, other)
    kept, mine = t.snapshot(), copy.deepcopy(t)
    play(t, 30, start=77)
    t.restore(kept)
    play(t, 30, start=77)
    play(mine, 30, start=77)
    assert same(t, mine)
    few = Tables(2, MORE_RULES[name], 3, "game")
    play(few, 137)
    play(mine, 30, start=107)
    assert same(few, mine, slice(0, 2))


def test_I1_V8_an_illegal_action_of_a_table_is_named_and_changes_nothing():
    t = Tables(3, OPEN, seed=1)
    while not (t.views["phase"] == 2).all():
        t.step(np.array([int(np.flatnonzero(mask)[0]) for mask in t.action_masks]))
        if (t.views["phase"] == 2).any() and not (t.views["phase"] == 2).all():
            t.reset()
    before, good = t.states.tobytes(), t.action_masks.argmax(1)
    for bad, reason in ((LAY_ABOVE, "lay off AS above a run"), (652, "there is none"), (593, "done")):
        actions = good.copy()
        actions[1] = bad
        with pytest.raises(IllegalAction, match=f"table 1, seat .*{reason}.*no table was changed"):
            t.step(actions)
        assert t.states.tobytes() == before


@settings(max_examples=40, deadline=None)
@given(rules=any_rules(), seed=st.integers(0, 2**63 - 1))
def test_C8_V8_H9_I2_tables_play_whatever_the_rules(rules, seed):
    t = Tables(2, rules, seed=seed, episode="game")
    for k in range(60):
        for i in range(2):
            invariants(t.states[i], rules)
            assert t.action_masks[i].sum() == len(legal_actions(t.states[i], n_actions(rules))) > 0
        play(t, 1, start=k)
        assert np.abs(t.rewards.sum(1)).max() < 1e-3


# --- PettingZoo ------------------------------------------------------------------------------------


@more_rules
def test_C8_V8_H9_I2_pettingzoo_api(r):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for episode in ("hand", "game"):
            api_test(gin_rummy_v0.env(r, episode=episode), num_cycles=120)
        api_test(gin_rummy_v0.raw_env(r), num_cycles=120)
        seed_test(lambda: gin_rummy_v0.env(r), num_cycles=60)
    assert gin_rummy_v0.env(r).action_space("player_0").n == N_ALL_ACTIONS


@more_rules
def test_C8_V8_H9_I2_pettingzoo_games_add_up_and_are_drawn(r):
    env = gin_rummy_v0.raw_env(r.but(target=30, hands=None), episode="game", render_mode="ansi")
    rng = np.random.default_rng(1)
    env.reset(seed=1)
    earned = dict.fromkeys(env.agents, 0.0)
    shape = None
    for agent in env.agent_iter(max_iter=20_000):
        observation, reward, terminated, truncated, _ = env.last()
        earned[agent] += reward
        if terminated or truncated:
            env.step(None)
            continue
        waiting = env.possible_agents[1 - env.possible_agents.index(agent)]
        assert not env.observe(waiting)["action_mask"].any()
        if rng.random() < 0.02:
            assert "knock at" in env.render() or "gin only" in env.render()
            env._desk.render_mode = "rgb_array"
            shape = shape or env.render().shape
            assert env.render().shape == shape
            env._desk.render_mode = "ansi"
        legal = np.flatnonzero(observation["action_mask"])
        late = legal[legal >= 56]
        env.step(int(rng.choice(late if len(late) else legal)))
    assert not env.agents
    assert earned["player_0"] == -earned["player_1"] == margin(env._desk.states[0], env.rules.record, 0)


# --- One learner -----------------------------------------------------------------------------------


@more_rules
def test_C8_V8_H9_I2_gymnasium_check_env(r):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(GinRummyEnv("random", r, illegal_reward=-1.0), skip_render_check=True)


@more_rules
@pytest.mark.parametrize("opponent", ["random", "greedy"])
def test_C8_V8_H9_I2_the_vector_plays_what_single_environments_play(r, opponent):
    n = 3
    vector = gymnasium.make_vec("ginenv/GinRummy-v0", num_envs=n, opponent=opponent, rules=r)
    assert vector.single_action_space.n == N_ALL_ACTIONS
    singles = [GinRummyEnv(opponent, rules=r) for _ in range(n)]
    observations, info = vector.reset(seed=7)
    for i, env in enumerate(singles):
        assert (observations[i] == env.reset(seed=mix(7, i))[0]).all()
    rng, phases = np.random.default_rng(0), set()
    for _ in range(120):
        actions = np.zeros(n, np.int64)
        for i, mask in enumerate(info["action_mask"]):
            legal = np.flatnonzero(mask)
            late = legal[legal >= 56]
            actions[i] = rng.choice(late if len(late) and rng.random() < 0.5 else legal)
        observations, rewards, ended, truncated, info = vector.step(actions)
        for i, env in enumerate(singles):
            observation, reward, terminated, cut, _ = env.step(int(actions[i]))
            assert (reward, terminated, cut) == (rewards[i], ended[i], truncated[i])
            if terminated or cut:
                assert (info["final_obs"][i] == observation).all()
                observation, _ = env.reset()
            phases.add(int(env._desk.states[0]["phase"]))
            assert (observations[i] == observation).all()
            assert (info["action_mask"][i] == env.action_masks()).all()
    assert not r.settle_by_hand or phases & {ARRANGE_PHASE, DEFEND_PHASE}


def test_C8_V8_an_opponent_that_cannot_play_such_rules_is_refused():
    assert {"random", "greedy"} == {name for name in set(names()) - {"ppo"} if getattr(make(name), "plays_all", False)}
    for name in ("simple", "heuristic"):
        for r, what in ((JOKERS, "jokers"), (OPEN, "the open table")):
            for build in (GinRummyEnv, lambda *a: GinRummyVectorEnv(2, *a)):
                with pytest.raises(
                    ValueError, match=f"^agent {name}.* cannot play with {what}: random and greedy can$"
                ):
                    build(name, r)
        GinRummyEnv(name, Rules(settle_by_hand=True, illegal_knocks=True)).reset(seed=1)


# --- Who plays them --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["open table", "open table, small", "jokers", "jokers, melds to 4", "by hand"])
def test_C8_V8_greedy_plays_legally_and_beats_random(name):
    r, wins = MORE_RULES[name], [0, 0]
    agents = [make("greedy"), make("random")]
    s, views = new_states(1)[0], np.zeros(1, VIEW)
    from ginenv.deal import new_game

    for game in range(40):
        new_game(s, r.record, game)
        seats = agents if game % 2 else agents[::-1]
        for n in range(2000):
            if s["phase"] == OVER_PHASE:
                break
            look(s, r.record, int(s["seat"]), views[0])
            action = int(seats[s["seat"]].act(views, r, np.array([mix(game, n)]))[0])
            assert is_legal(s, action), action_text(action)
            step(s, r.record, action)
        if s["winner"] < 2:
            wins[(int(s["winner"]) == 1) == (game % 2 == 1)] += 1
    assert wins[0] > 4 * wins[1]


# --- gin play and gin replay -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("*1", DISCARD_JOKER), ("discard *2", DISCARD_JOKER + 1), ("k *1", KNOCK_JOKER), ("lay off TH above a run",
         LAY_ABOVE + 22), ("lay TH", LAY_BELOW + 22), ("lay off th", LAY_BELOW + 22),
    ],
)  # fmt: skip
def test_C8_V8_commands_for_jokers_and_layoffs(text, action):
    assert action_of(text, [4, LAY_BELOW + 22, LAY_ABOVE + 5]) == action


def test_V8_a_layoff_that_is_not_one_place():
    with pytest.raises(ValueError, match="lay off TH above a run or lay off TH below a run: say which"):
        action_of("lay TH", [LAY_ABOVE + 22, LAY_BELOW + 22])
    with pytest.raises(ValueError, match="lay TH: nothing on the table takes it"):
        action_of("lay TH", [LAY_BELOW + 21])


def test_C8_legal_actions_with_jokers_as_text():
    assert legal_text([4, DISCARD_JOKER, KNOCK_JOKER + 1, 596]) == "discard AS *1, k *2, bluff AS"


@pytest.mark.parametrize("name", ["open table", "jokers", "bluffs by hand"])
@pytest.mark.parametrize("opponent", ["random", "greedy"])
def test_C8_V8_H9_I2_a_person_plays_a_game_and_sees_nothing_hidden(name, opponent, monkeypatch, capsys, tmp_path):
    table = Table(MORE_RULES[name].but(target=20, hands=None), seed=3)
    game, me, asked = Game(table, make(opponent), opponent), make("greedy"), 0

    def person(prompt: str) -> str:
        nonlocal asked
        shown = capsys.readouterr().out
        if prompt.startswith("Enter"):
            return ""
        asked += 1
        unseen = {card_text(c) for c in card_list(int(table.view(0)["unseen"]))}
        here = shown.rpartition("--- hand")[2] if "--- hand" in shown else shown
        assert not set(here.replace(".", " ").replace(",", " ").split()) & unseen
        action = int(me.act(table.view(0).reshape(1), table.rules, np.array([asked]))[0])
        text = action_text(action)
        return text.replace("discard ", "").replace("lay off ", "lay ") if asked % 2 and text.count(" ") < 3 else text

    monkeypatch.setattr("builtins.input", person)
    game.play()
    assert table.game_over and asked > 2
    assert " with all bonuses." in capsys.readouterr().out
    path = Path(tmp_path) / "record.txt"
    path.write_text(table.record())
    assert replay(path) == table
    assert main(["replay", str(path)]) == 0
    assert "The game is over" in capsys.readouterr().out


@pytest.mark.parametrize("rules", ["open_table", "modern,jokers=true", "modern,settle_by_hand=true"])
def test_C8_V8_gin_play_by_name(rules, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO("?\nt\n*1\nmeld 7H\nlay KS\nq\n"))
    assert main(["play", "greedy", "--rules", rules, "--seed", "3"]) == 0
    shown = capsys.readouterr().out
    assert "lay a meld down" in shown and "You leave at you 0, greedy 0." in shown
