"""The PettingZoo and Gymnasium environments: their own conformance tests, and the bugs that others had."""

import copy
import pickle
import warnings

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, render_test, seed_test

import agents.registry
import ginenv
from ginenv import gin_rummy_v0
from ginenv.encode import ENCODINGS
from ginenv.envs.aec import raw_env
from ginenv.envs.opponent import AgentError
from ginenv.envs.single import GinRummyEnv
from ginenv.envs.single_vector import GinRummyVectorEnv
from ginenv.ledger import final_total, game_winner
from ginenv.rng import mix
from ginenv.state import DISCARD, KNOCK
from tests.common import AGENTS_PLAY

PRESETS = sorted(name for name, preset in ginenv.PRESETS.items() if not preset.more_actions)


def play_randomly(env, seed, episodes=1):
    """Play whole episodes at random and return everything seen: (agent, observation, mask, reward) by step."""
    rng = np.random.default_rng(seed)
    seen = []
    env.reset(seed=seed)
    for _ in range(episodes):
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            mask = observation["action_mask"]
            seen.append((agent, observation["observation"].tobytes(), mask.tobytes(), reward))
            env.step(None if terminated or truncated else int(rng.choice(np.flatnonzero(mask))))
        env.reset()
    return seen


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize("episode", ["hand", "game"])
def test_pettingzoo_api(rules, episode):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api_test(gin_rummy_v0.env(rules=rules, episode=episode), num_cycles=300)
        api_test(gin_rummy_v0.raw_env(rules=rules, episode=episode), num_cycles=300)


def test_pettingzoo_seed():
    seed_test(gin_rummy_v0.env, num_cycles=100)


@pytest.mark.parametrize("encoding", sorted(ENCODINGS))
def test_pettingzoo_render(encoding, capsys):
    render_test(lambda **kwargs: gin_rummy_v0.env(encoding=encoding, **kwargs))


def test_registered_with_pettingzoo_and_gymnasium():
    env = pettingzoo.make("aec", "ginenv/gin_rummy_v0", rules="oklahoma")
    env.reset(seed=1)
    assert env.unwrapped.rules.name == "oklahoma"
    assert gymnasium.spec("ginenv/GinRummy-v0").vector_entry_point


def test_off_turn_observe_gives_own_view_and_an_empty_mask():
    """PettingZoo's old environment gave the waiting seat the mover's hand."""
    env = raw_env()
    env.reset(seed=3)
    for _ in range(30):
        mover = env.agent_selection
        waiting = "player_1" if mover == "player_0" else "player_0"
        seen = env.observe(waiting)
        assert not seen["action_mask"].any()
        hand = next(block for block in ENCODINGS["planes-v1"].layout if "own hand" in block.meaning.lower())
        assert hand is not None
        held = ginenv.card_mask(int(env._desk.states[0]["hand"][env.possible_agents.index(waiting)]))
        _, mask = env._desk.observe(env.possible_agents.index(mover))
        assert (env.observe(mover)["action_mask"] == mask).all() and mask.any()
        assert held == int(env._desk.view(env.possible_agents.index(waiting))[0]["hand"])
        env.step(int(np.flatnonzero(mask)[-1]))
        if env.terminations[mover]:
            break


def test_I1_raw_env_refuses_an_illegal_action_and_changes_nothing():
    env = raw_env()
    env.reset(seed=1)
    before = env._desk.states.tobytes()
    with pytest.raises(ginenv.IllegalAction, match="draw"):
        env.step(0)
    assert env._desk.states.tobytes() == before


def test_order_and_bounds_are_enforced():
    env = gin_rummy_v0.env()
    with pytest.raises(AttributeError, match=r"before the first reset\(\)"):
        env.step(0)
    env.reset(seed=1)
    for action in (-1, 108):
        with pytest.raises(ValueError, match="0 to 107"):
            env.step(action)
    with pytest.raises(ValueError, match="None is no action"):
        env.step(None)


def test_I1_wrapped_env_ends_the_hand_with_a_loss():
    env = gin_rummy_v0.env(illegal_reward=-25.0)
    env.reset(seed=1)
    mover = env.agent_selection
    env.step(0)  # PettingZoo logs a warning
    assert env.rewards[mover] == -25.0
    assert all(env.terminations.values())
    rewards = {}
    for agent in env.agent_iter():
        rewards[agent] = env.last()[1]
        env.step(None)
    assert rewards == {mover: -25.0, "player_1" if mover == "player_0" else "player_0": 0.0}


@pytest.mark.parametrize("reward", ["points", "win"])
def test_a_seeded_reset_a_copy_and_a_pickle_keep_every_option(reward):
    options = {
        "rules": ginenv.rules("oklahoma", gin_bonus=31),
        "episode": "game",
        "reward": reward,
        "encoding": "history-v1",
    }
    env = raw_env(**options)
    expected = play_randomly(env, 5)
    assert play_randomly(env, 5) == expected
    env.reset(seed=9)
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert twin.rules == options["rules"]
        assert play_randomly(twin, 5) == expected


@pytest.mark.parametrize("rules", AGENTS_PLAY)
def test_a_games_rewards_add_up_to_its_margin(rules):
    env = raw_env(rules=rules, episode="game")
    rng = np.random.default_rng(1)
    env.reset(seed=1)
    earned = dict.fromkeys(env.agents, 0.0)
    for agent in env.agent_iter(max_iter=20_000):
        observation, reward, terminated, truncated, _ = env.last()
        earned[agent] += reward
        if terminated or truncated:
            env.step(None)
            continue
        legal = np.flatnonzero(observation["action_mask"])
        # Knock when possible, so that games end.
        env.step(int(legal[-1] if legal[-1] >= 56 else rng.choice(legal)))
    assert earned["player_0"] == -earned["player_1"]
    if not env.agents:
        from ginenv.ledger import margin

        assert earned["player_0"] == margin(env._desk.states[0], env.rules.record, 0)


@pytest.mark.parametrize("option", ["rules", "episode", "reward", "encoding", "render_mode"])
def test_a_wrong_option_is_one_clear_sentence(option):
    with pytest.raises(ValueError, match=r"nonsense") as error:
        raw_env(**{option: "nonsense"})
    assert "\n" not in str(error.value)


# One learner


@pytest.mark.parametrize("encoding", sorted(ENCODINGS))
def test_gymnasium_check_env(encoding):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(GinRummyEnv("simple", encoding=encoding, illegal_reward=-1.0), skip_render_check=True)


def random_episode(env, seed):
    rng = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    total, seen = 0.0, [observation.tobytes()]
    while True:
        action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        observation, reward, terminated, truncated, info = env.step(action)
        total += reward
        seen.append(observation.tobytes())
        if terminated or truncated:
            return total, seen


@pytest.mark.parametrize("rules", AGENTS_PLAY)
def test_single_env_plays_every_preset(rules):
    env = gymnasium.make("ginenv/GinRummy-v0", opponent="simple:early=10,until=6,late=0", rules=rules)
    first = random_episode(env, 4)
    assert random_episode(env, 4) == first
    assert (env.unwrapped.action_masks() == env.unwrapped._mask.astype(bool)).all()


def test_single_env_pickles():
    env = GinRummyEnv("simple", rules="palace", episode="game")
    expected = random_episode(env, 2)
    assert random_episode(pickle.loads(pickle.dumps(env)), 2) == expected


def test_I1_single_env_illegal_action():
    env = GinRummyEnv("random")
    _, info = env.reset(seed=1)
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
    with pytest.raises(ginenv.IllegalAction):
        env.step(illegal)
    losing = GinRummyEnv("random", illegal_reward=-100.0)
    losing.reset(seed=1)
    _, reward, terminated, _, _ = losing.step(illegal)
    assert reward == -100.0 and terminated


def test_an_unknown_opponent_is_one_clear_sentence():
    with pytest.raises(ValueError, match="no agent 'simpel': did you mean simple"):
        GinRummyEnv("simpel")
    with pytest.raises(TypeError, match="opponent"):
        GinRummyEnv(3)


def test_an_agent_object_can_be_the_opponent():
    env = GinRummyEnv(agents.registry.make("random"))
    random_episode(env, 1)


@pytest.mark.parametrize("episode", ["hand", "game"])
def test_vector_tables_play_what_single_environments_play(episode):
    n, steps = 5, 150
    vector = GinRummyVectorEnv(n, opponent="simple", episode=episode)
    singles = [GinRummyEnv("simple", episode=episode) for _ in range(n)]
    observations, info = vector.reset(seed=7)
    for i, env in enumerate(singles):
        observation, single_info = env.reset(seed=mix(7, i))
        assert (observations[i] == observation).all()
        assert (info["action_mask"][i] == single_info["action_mask"]).all()
    rng = np.random.default_rng(0)
    for _ in range(steps):
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in info["action_mask"]])
        observations, rewards, ended, truncated, info = vector.step(actions)
        for i, env in enumerate(singles):
            observation, reward, terminated, cut, _ = env.step(int(actions[i]))
            assert (reward, terminated, cut) == (rewards[i], ended[i], truncated[i])
            if terminated or cut:
                assert (info["final_obs"][i] == observation).all()
                observation, _ = env.reset()
            assert (observations[i] == observation).all()


def test_make_vec_and_the_number_of_tables_does_not_matter():
    seen = []
    for n in (2, 6):
        env = gymnasium.make_vec("ginenv/GinRummy-v0", num_envs=n, opponent="random", rules="palace")
        assert env.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.SAME_STEP
        observations, info = env.reset(seed=3)
        rows = [observations[:2].copy()]
        for _ in range(40):
            actions = np.array([np.flatnonzero(mask)[0] for mask in info["action_mask"]])
            observations, *_, info = env.step(actions)
            rows.append(observations[:2].copy())
        seen.append(np.stack(rows))
    assert (seen[0] == seen[1]).all()


def test_I1_vector_env_changes_nothing_on_an_illegal_action():
    env = GinRummyVectorEnv(4, opponent="random")
    _, info = env.reset(seed=1)
    before = env._states.tobytes()
    actions = np.array([np.flatnonzero(mask)[0] for mask in info["action_mask"]])
    actions[2] = np.flatnonzero(info["action_mask"][2] == 0)[0]
    with pytest.raises(ginenv.IllegalAction, match="table 2"):
        env.step(actions)
    assert env._states.tobytes() == before


# --- What is handed in ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [-1, 1.5, True, "7", 1 << 63, np.float64(3)])
@pytest.mark.parametrize("make", [gin_rummy_v0.env, raw_env, GinRummyEnv, lambda: GinRummyVectorEnv(2)])
def test_a_wrong_seed_is_one_sentence_and_changes_nothing(make, seed):
    env = make()
    env.reset(seed=4)
    with pytest.raises(ValueError, match=r"^seed .*2\*\*63 - 1"):
        env.reset(seed=seed)
    for good in (0, (1 << 63) - 1, np.int64(5)):
        env.reset(seed=good)


def test_wrong_actions_are_refused_and_change_nothing():
    aec, single = raw_env(), GinRummyEnv("random")
    aec.reset(seed=1)
    _, info = single.reset(seed=1)
    legal = int(np.flatnonzero(info["action_mask"])[0])
    for env in (aec, single):
        before = env._desk.states.tobytes()
        for wrong in (float(legal), 1.7, str(legal), np.float32(2.9), True, np.bool_(True), [legal], np.array([legal])):
            with pytest.raises(TypeError, match=r"^an action is a whole number, not "):
                env.step(wrong)
        for large in (1 << 70, -(1 << 70), 108, np.uint64(1 << 63)):
            with pytest.raises(ginenv.IllegalAction, match=r"there is none, they run from 0 to 107$"):
                env.step(large)
        assert env._desk.states.tobytes() == before
    single.step(np.array(legal))  # as stable-baselines3 gives them
    losing = GinRummyEnv("random", illegal_reward=-3)
    losing.reset(seed=1)
    with pytest.raises(TypeError):
        losing.step(1.7)
    assert losing.step(1 << 70)[1:3] == (-3.0, True)


def test_wrong_actions_of_a_vector_are_refused_and_change_nothing():
    env = GinRummyVectorEnv(3, "random")
    _, info = env.reset(seed=1)
    good = np.array([np.flatnonzero(mask)[0] for mask in info["action_mask"]])
    before = env._states.tobytes()
    for wrong in (good + 0.5, good.astype(bool), [True, 2, 2], ["2"] * 3):
        with pytest.raises(TypeError, match=r"^actions: whole numbers of shape \(3,\) are due, not "):
            env.step(wrong)
    for wrong in (good[:2], 2, None, [[2], [2, 2], 2]):
        with pytest.raises(ValueError, match=r"^actions: whole numbers of shape \(3,\) are due, not "):
            env.step(wrong)
    for large in ([1 << 70, 2, 2], np.array([1 << 63, 2, 2], dtype=np.uint64)):
        with pytest.raises(ginenv.IllegalAction, match=r"table 0: action .*: there is none"):
            env.step(large)
    assert env._states.tobytes() == before
    env.step(good.astype(np.uint8))


def test_rules_are_the_first_option_and_others_have_names():
    """``env("eaai")`` played `modern`: its first option was the illegal_reward."""
    assert gin_rummy_v0.env("eaai").rules == gin_rummy_v0.raw_env("eaai").rules == ginenv.rules("eaai")
    for make in (gin_rummy_v0.env, gin_rummy_v0.raw_env):
        with pytest.raises(TypeError, match="positional"):
            make("eaai", "game")
    for make in (GinRummyEnv, lambda *options: GinRummyVectorEnv(2, *options)):
        with pytest.raises(TypeError, match="positional"):
            make("simple", "eaai", "game")


@pytest.mark.parametrize(
    ("make", "options", "sentence"),
    [
        (gin_rummy_v0.env, {"rules": -1.0}, r"^rules: -1\.0 should be Rules or the name of a preset"),
        (gin_rummy_v0.env, {"rules": ["eaai"]}, "^rules: .* should be Rules or the name of a preset"),
        (gin_rummy_v0.env, {"illegal_reward": "eaai"}, "^environment: illegal_reward='eaai' should be a number"),
        (gin_rummy_v0.env, {"illegal_reward": None}, "^environment: illegal_reward=None should be a number"),
        (gin_rummy_v0.env, {"illegal_reward": True}, "^environment: illegal_reward=True should be a number"),
        (GinRummyEnv, {"illegal_reward": float("nan")}, "^environment: illegal_reward=nan should be a number"),
        (GinRummyEnv, {"episode": 1}, "^environment: episode=1 should be hand or game"),
        (GinRummyEnv, {"encoding": ["planes-v1"]}, "^environment: encoding=.* should be planes-v1 or"),
        (GinRummyEnv, {"reward": np.zeros(2)}, "^environment: reward=.* should be points or win"),
        (GinRummyVectorEnv, {"num_envs": 1.5}, r"^environment: num_envs=1\.5 should be a whole number from 1"),
        (GinRummyVectorEnv, {"num_envs": "2"}, "^environment: num_envs='2' should be a whole number from 1"),
        (GinRummyVectorEnv, {"num_envs": 0}, "^environment: num_envs=0 should be a whole number from 1"),
    ],
)
def test_an_option_of_the_wrong_type_is_one_clear_sentence(make, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        make(**options)


def test_what_needs_a_reset_says_so():
    for env in (gin_rummy_v0.env(render_mode="ansi"), GinRummyEnv(render_mode="rgb_array")):
        with pytest.raises(ResetNeeded, match=r"^render: call reset\(\) first"):
            env.render()
    for env, actions in ((GinRummyEnv(illegal_reward=-1.0), 0), (GinRummyVectorEnv(2), [0, 0])):
        with pytest.raises(ResetNeeded, match=r"call reset\(\) first"):
            env.step(actions)
    losing = GinRummyEnv("random", illegal_reward=-1.0)
    losing.reset(seed=1)
    losing.step(107)
    with pytest.raises(ResetNeeded):
        losing.step(2)


# --- The opponent ---------------------------------------------------------------------------------


class Scripted:
    """Plays as `simple`, and from its ``start``-th call on returns ``answer(n)`` or raises it."""

    spec = "scripted"

    def __init__(self, answer, start=3):
        self.answer, self.start, self.calls = answer, start, 0
        self.simple, self.kept = agents.registry.make("simple"), []

    def act(self, views, rules, keys):
        assert views.base is None and views.flags.owndata and keys.base is None
        assert all(array.tobytes() == before for array, before in self.kept), "an array of an earlier call has changed"
        assert (views["mover"] == 0).all() and (views["choices"] | views["discards"] != 0).all()
        self.kept.append((views, views.tobytes()))
        self.calls += 1
        if self.answer is None or self.calls < self.start:
            return self.simple.act(views, rules, keys)
        answer = self.answer(len(views))
        if isinstance(answer, BaseException):
            raise answer
        return answer


def play_on(env, seed, steps=60):
    _, info = env.reset(seed=seed)
    for _ in range(steps):
        mask = info["action_mask"]
        actions = mask.argmax(axis=-1)
        _, _, ended, truncated, info = env.step(actions)
        if mask.ndim == 1 and (ended or truncated):
            _, info = env.reset()


@pytest.mark.parametrize("make", [GinRummyEnv, lambda opponent: GinRummyVectorEnv(4, opponent)])
def test_an_opponents_arrays_are_its_own(make):
    opponent = Scripted(None)
    play_on(make(opponent), 5)
    assert opponent.calls > 20


@pytest.mark.parametrize("make", [GinRummyEnv, lambda opponent: GinRummyVectorEnv(4, opponent)])
@pytest.mark.parametrize("start", [1, 3])
@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (lambda n: np.full(n, 107), "agent scripted acted illegally"),
        (lambda n: np.full(n, (1 << 63) + 1, dtype=np.uint64), "agent scripted acted illegally.*there is none"),
        (lambda n: [1 << 70] * n, "agent scripted acted illegally.*there is none"),
        (lambda n: None, "agent scripted: act"),
        (lambda n: 2, "agent scripted: act"),
        (lambda n: np.zeros(0, int), "agent scripted: act"),
        (lambda n: np.zeros(n), "agent scripted: act"),
        (lambda n: np.ones(n, bool), "agent scripted: act"),
        (lambda n: np.zeros((n, 1), int), "agent scripted: act"),
        (lambda n: ginenv.IllegalAction("mine"), "agent scripted failed: IllegalAction: mine .test_envs.py, line"),
        (lambda n: KeyError("oh"), "agent scripted failed: KeyError: 'oh' .test_envs.py, line"),
        (lambda n: SystemExit(3), "agent scripted failed: SystemExit: 3 .test_envs.py, line"),
    ],
)
def test_an_opponent_that_fails_is_named_and_a_reset_is_due(make, start, answer, sentence):
    opponent = Scripted(answer, start)
    env = make(opponent)
    with pytest.raises(AgentError, match=sentence):
        for seed in range(20):
            play_on(env, seed)
    with pytest.raises(ResetNeeded, match=r"call reset\(\) first"):
        env.step(np.zeros(4, int) if isinstance(env, GinRummyVectorEnv) else 0)
    opponent.answer = None
    play_on(env, 1)


def test_an_illegal_reward_is_the_learners_alone():
    env = GinRummyEnv(Scripted(lambda n: np.full(n, 107), 2), illegal_reward=-1.0)
    with pytest.raises(AgentError, match="acted illegally"):
        for seed in range(20):
            play_on(env, seed)


# --- More than two players -------------------------------------------------------------------------


@pytest.mark.parametrize("players", range(2, 7))
def test_H13_pettingzoo_api_for_two_to_six(players):
    for rules in ("penalty", "point_rules"):
        env = gin_rummy_v0.env(rules=rules, num_players=players, episode="game")
        assert env.max_num_agents == players
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            api_test(env, num_cycles=200)


@pytest.mark.parametrize("rules", ["penalty", "point_rules", "three_handed", "partners"])
@pytest.mark.parametrize(("episode", "reward"), [("hand", "points"), ("game", "points"), ("game", "win")])
def test_rewards_of_many_are_what_the_totals_say_and_sum_to_zero(rules, episode, reward):
    env = raw_env(rules=rules, episode=episode, reward=reward)
    rng = np.random.default_rng(2)
    for seed in range(3):
        env.reset(seed=seed)
        earned = dict.fromkeys(env.agents, 0.0)
        for agent in env.agent_iter(max_iter=60_000):
            observation, gained, terminated, truncated, _ = env.last()
            earned[agent] += gained
            if terminated or truncated:
                env.step(None)
                continue
            legal = np.flatnonzero(observation["action_mask"])
            env.step(int(legal[-1] if legal[-1] >= 56 else rng.choice(legal)))
        assert not env.agents
        values = list(earned.values())
        assert sum(values) == pytest.approx(0, abs=1e-3)
        s = env._desk.states[0]
        record = env.rules.record
        order = [int(p) for p in s["player"][: env.rules.players]]
        totals = np.zeros(len(order))
        totals[order] = [final_total(s, record, seat) for seat in range(len(order))]
        if reward == "win":
            winner = int(game_winner(s, record))
            if winner != 255:
                assert max(values) == 1.0 == values[order[winner]]
        elif episode == "game":
            for player, value in enumerate(values):
                others = np.delete(totals, player)
                mean = others.mean() if rules != "partners" else totals[player ^ 1]
                assert value == pytest.approx(totals[player] - mean, abs=1e-3)
        elif rules != "partners":
            points = s["points"][: len(order)].astype(float)
            for seat, player in enumerate(order):
                assert values[player] == pytest.approx(points[seat] - np.delete(points, seat).mean(), abs=1e-3)
        else:
            assert values[0] == values[2] == -values[1] == -values[3]


@pytest.mark.parametrize(("rules", "last"), [("three_handed", 1), ("partners", 2)])
def test_V5_V6_who_sits_out_sees_nothing_and_is_not_asked(rules, last):
    env = raw_env(rules=rules, episode="game")
    rng, asked = np.random.default_rng(3), set()
    env.reset(seed=2)
    for agent in env.agent_iter(max_iter=3000):
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        asked.add(agent)
        assert len(env.agents) == len(env.possible_agents)
        out = [name for name in env.agents if env._desk.seat_of(env.possible_agents.index(name)) is None]
        assert len(out) == last and agent not in out
        for name in out:
            seen = env.observe(name)
            assert not seen["observation"].any() and not seen["action_mask"].any()
        legal = np.flatnonzero(observation["action_mask"])
        env.step(int(legal[-1] if legal[-1] >= 56 else rng.choice(legal)))
    assert asked == set(env.possible_agents)


@pytest.mark.parametrize(("turns", "cut"), [((2, 30), True), ((30, 2), True), ((30, 30), False)])
def test_H15_V6_a_round_is_truncated_where_the_limit_ended_either_of_its_hands(turns, cut):
    """Each hand gets to its limit or ends by a knock before it: the second hand's limit is told from the first's."""
    rules = ginenv.PRESETS["partners"].but(turn_limit=30, knock_limit=100, dead_stock=0)
    env = raw_env(rules=rules)
    env.reset(seed=3)
    for hand in range(2):
        while env._desk.states[0]["hand_number"] == hand:
            legal = np.flatnonzero(env.observe(env.agent_selection)["action_mask"])
            s = env._desk.states[0]
            if turns[hand] == 2 and int(s["turn"]) == 2:
                s["turn"] = 29  # as if 27 more turns had passed
            knocks = legal[legal >= KNOCK]
            discards = legal[(legal >= DISCARD) & (legal < KNOCK)]
            if turns[hand] == 2 and len(discards):
                env.step(int(discards[0]))
            else:
                env.step(int(knocks[0]) if len(knocks) else int(legal[0]))
    assert set(env.truncations.values()) == {cut}
    assert set(env.terminations.values()) == {not cut}


@pytest.mark.parametrize("rules", ["penalty", "point_rules", "three_handed", "partners"])
@pytest.mark.parametrize("episode", ["hand", "game"])
def test_one_learner_among_many_and_the_vector_of_them(rules, episode):
    n = 3
    vector = GinRummyVectorEnv(n, opponent="random", rules=rules, episode=episode)
    singles = [GinRummyEnv("random", rules=rules, episode=episode, render_mode="ansi") for _ in range(n)]
    observations, info = vector.reset(seed=7)
    for i, env in enumerate(singles):
        assert (observations[i] == env.reset(seed=mix(7, i))[0]).all()
    rng = np.random.default_rng(0)
    for _ in range(80):
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in info["action_mask"]])
        observations, rewards, ended, truncated, info = vector.step(actions)
        for i, env in enumerate(singles):
            assert "learner" in env.render()
            observation, reward, terminated, cut, _ = env.step(int(actions[i]))
            assert (reward, terminated, cut) == (pytest.approx(rewards[i], abs=1e-3), ended[i], truncated[i])
            if terminated or cut:
                observation, _ = env.reset()
            assert (observations[i] == observation).all()


def test_opponents_for_two_are_refused_at_a_larger_table():
    for make in (GinRummyEnv, lambda *a, **k: GinRummyVectorEnv(2, *a, **k)):
        with pytest.raises(ValueError, match=r"^agent simple.* plays hands of 2, and the rules want 4 players$"):
            make("simple", rules="penalty")
        make("simple", rules="three_handed").reset(seed=1)  # hands of two
    for make in (raw_env, lambda **k: GinRummyEnv("random", **k)):
        with pytest.raises(ValueError, match="encoding planes-v1 is for two players, not 4: use table-v1"):
            make(rules="penalty", encoding="planes-v1")
    with pytest.raises(ValueError, match="players=9 is out of range"):
        raw_env(rules="penalty", num_players=9)


def test_many_players_are_drawn():
    for rules in ("penalty", "three_handed", "partners"):
        env = raw_env(rules=rules, render_mode="rgb_array")
        env.reset(seed=1)
        assert env.render().shape == (120 + 112 * env.rules.hand_players, 640, 3)
    learner = GinRummyEnv("random", rules="three_handed", episode="game", render_mode="ansi")
    closed = 0
    for seed in range(12):  # a learner who sits out when the game ends sees the last two, closed but for a knock
        random_episode(learner, seed)
        text = learner.render()
        closed += "learner" not in text
    assert closed
