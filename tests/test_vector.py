"""The native batch environment: deterministic, zero-sum, right at the end of hands and games."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from ginenv.actions import IllegalAction
from ginenv.cards import BIT, card_list
from ginenv.deal import deal, new_game
from ginenv.encode import ENCODINGS, encode
from ginenv.envs.vector import Tables, episode_seed, random_actions
from ginenv.ledger import game_over, game_winner, margin
from ginenv.melds import deadwood
from ginenv.rng import mix
from ginenv.rules import rules
from ginenv.state import DISCARD, KNOCK, NO_SEAT, STATE, Kind, Phase, new_states
from ginenv.step import is_legal, step
from ginenv.view import VIEW, look
from tests.common import ALL_RULES, MANY

every_rules = pytest.mark.parametrize("r", ALL_RULES.values(), ids=ALL_RULES.keys())
ARRAYS = [
    "observations",
    "action_masks",
    "views",
    "seats",
    "rewards",
    "returns",
    "dones",
    "truncated",
    "kinds",
    "episodes",
]


def play(tables: Tables, steps: int, after: Callable[[], None] = lambda: None, start: int = 0) -> None:
    """Play ``steps`` random steps; each table's choices depend on its place and the step alone."""
    actions = np.zeros(tables.n, np.int64)
    for k in range(start, start + steps):
        random_actions(tables.views, mix(99, k), actions)
        tables.step(actions)
        after()


def same(a: Tables, b: Tables, rows: slice = slice(None)) -> bool:
    names = [n for n in ARRAYS if n != "returns"]
    alike = all((getattr(a, n)[rows] == getattr(b, n)[rows]).all() for n in names)
    return alike and (a.returns[rows][a.dones[rows]] == b.returns[rows][b.dones[rows]]).all()


def test_shapes_and_promises():
    t = Tables(5, encoding="features-v1")
    assert t.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    assert t.observations.shape == (5, ENCODINGS["features-v1"].size) and t.observations.dtype == np.int8
    assert t.action_masks.shape == (5, 108) and t.action_masks.dtype == np.int8
    assert t.views.dtype == VIEW and t.seats.dtype == np.int8
    assert STATE.itemsize <= 576
    before = {name: getattr(t, name) for name in ARRAYS}
    play(t, 50)
    assert all(getattr(t, name) is array for name, array in before.items())
    assert t.step(t.action_masks.argmax(1))[0] is t.observations


@every_rules
def test_arrays_agree_with_the_tables(r):
    t = Tables(4, r, seed=3, encoding="history-v1")
    out = np.zeros(t.encoding.size, np.int8)
    v = np.zeros(1, VIEW)

    def check() -> None:
        for i in range(t.n):
            s = t._states[i]
            assert t.seats[i] == s["seat"] and s["phase"] != Phase.OVER
            assert t.action_masks[i].tolist() == [is_legal(s, a) for a in range(108)]
            look(s, r.record, s["seat"], v[0])
            encode(v[0], r.record, t.encoding.code, out)
            assert v[0].tobytes() == t.views[i].tobytes() and (out == t.observations[i]).all()

    play(t, 40, check)


def plausible(v: np.void, longest: int, k: int) -> int:
    """Return a legal action of a player of sorts, whose games end."""
    if v["choices"]:
        legal = [a for a in range(4) if int(v["choices"]) >> a & 1]
        return legal[k % len(legal)]
    cards = card_list(int(v["knocks"])) or card_list(int(v["discards"]))
    best = min(cards, key=lambda c: deadwood(int(v["hand"]) & ~int(BIT[c]), longest))
    return best + (KNOCK if v["knocks"] else DISCARD)


@every_rules
@pytest.mark.parametrize("episode", ["hand", "game"])
def test_returns_are_the_ledgers(r, episode):
    """One table beside the engine: every reward, return and flag, episode by episode."""
    points = Tables(1, r, seed=5, episode=episode)
    wins = Tables(1, r, seed=5, episode=episode, reward="win")
    s, record = new_states(1)[0], r.record
    action = np.zeros(1, np.int64)
    n, total, done, k, lead = 0, 0.0, False, 0, 0
    new_game(s, record, episode_seed(5, 0, 0))
    while n < 2:
        assert k < 200_000
        action[0] = plausible(points.views[0], r.longest_meld, int(mix(1, k)))
        k += 1
        points.step(action)
        wins.step(action)
        step(s, record, action[0])
        over = s["phase"] == Phase.OVER
        done = over and (episode == "hand" or bool(game_over(s, record)))
        assert points.dones[0] == wins.dones[0] == done
        assert points.rewards.sum() == wins.rewards.sum() == 0
        assert points.kinds[0] == (s["kind"] if over else 0)
        cut = over and s["kind"] == Kind.DEAD and s["turn"] >= r.turn_limit
        assert points.truncated[0] == cut
        total += points.rewards[0, 0]
        if not over:
            assert not points.rewards.any() and not wins.rewards.any()
            continue
        hand = int(s["points"][0]) - int(s["points"][1])
        if r.hollywood and episode == "game":  # what the columns took of it (V2)
            columns = s["scores"][:6].astype(int)
            hand = int(columns[::2].sum() - columns[1::2].sum()) - lead
            lead += hand
        winner = s["winner"] if episode == "hand" else game_winner(s, record)
        if not done:
            assert points.rewards[0, 0] == hand and not wins.rewards.any()
            deal(s, record)
            continue
        whole = hand if episode == "hand" else margin(s, record, 0)
        assert points.returns.tolist() == [[whole, -whole]] and total == whole
        won = 0 if winner == NO_SEAT else 1 - 2 * int(winner)
        assert wins.returns.tolist() == wins.rewards.tolist() == [[won, -won]]
        n, total, lead = n + 1, 0.0, 0
        assert points.episodes[0] == n
        new_game(s, record, episode_seed(5, 0, n))


@pytest.mark.parametrize("r", MANY.values(), ids=MANY.keys())
@pytest.mark.parametrize(("episode", "reward"), [("hand", "points"), ("game", "points"), ("game", "win")])
def test_V7_V5_V6_tables_of_many_players(r, episode, reward):
    t = Tables(4, r, seed=3, episode=episode, reward=reward)
    assert t.encoding.name == ("planes-v1" if r.hand_players == 2 else "table-v1")
    assert t.rewards.shape == t.returns.shape == (4, r.players)
    total, asked, out = np.zeros((4, r.players)), set(), np.zeros(t.encoding.size, np.int8)
    v, actions = np.zeros(1, VIEW), np.zeros(4, np.int64)
    for k in range(3000 if episode == "game" else 400):
        for i in range(t.n):
            actions[i] = plausible(t.views[i], r.longest_meld, int(mix(k, i)))
        t.step(actions)
        total += t.rewards
        assert np.abs(t.rewards.sum(1)).max() < 1e-3
        asked.update(t.seats.tolist())
        for i in np.flatnonzero(t.dones):
            assert t.returns[i] == pytest.approx(total[i], abs=0.05)  # sums of float32
            if reward == "win":
                assert total[i].max() in (0, 1)
            total[i] = 0
        s = t.states[k % 4]
        assert t.seats[k % 4] == s["player"][s["seat"]]
        look(s, r.record, s["seat"], v[0])
        encode(v[0], r.record, t.encoding.code, out)
        assert (out == t.observations[k % 4]).all()
        if t.episodes.min() >= 2 and k > 200:
            break
    assert t.episodes.max() >= 1 and asked == set(range(r.players))


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("episode", ["hand", "game"])
def test_the_same_for_any_number_of_tables(encoding, episode):
    few, many = (Tables(n, "oklahoma", 7, episode, encoding) for n in (3, 50))
    for k in range(300):
        play(few, 1, start=k)
        play(many, 1, start=k)
        assert same(few, many, slice(0, 3)) if k == 0 else (few.observations == many.observations[:3]).all()
    assert few.episodes.tolist() == many.episodes[:3].tolist()


def test_seeds_and_episodes():
    t = Tables(4, seed=1)
    first = t.observations.copy()
    assert (t.reset()[0] == first).all(), "fresh tables stay"
    play(t, 30)
    t.reset(1)
    assert (t.observations == first).all() and (t.episodes == 0).all()
    play(t, 1)
    t.reset()
    assert (t.episodes == 1).all() and not (t.observations == first).all()
    assert not (Tables(4, seed=2).observations == first).all()
    seeds = {int(episode_seed(s, i, k)) for s in range(9) for i in range(9) for k in range(9)}
    assert len(seeds) == 9**3 and min(seeds) >= 0


def test_options_survive_reset_pickle_and_copy():
    t = Tables(6, rules("oklahoma", gin_bonus=20), 3, "game", "history-v1", "win")
    play(t, 77)
    for other in (pickle.loads(pickle.dumps(t)), copy.copy(t), copy.deepcopy(t)):
        assert repr(other) == repr(t) and other.rules == t.rules and same(t, other)
        assert not np.shares_memory(t.observations, other.observations)
        mine, play_on = copy.deepcopy(t), 40
        play(mine, play_on, start=77)
        play(other, play_on, start=77)
        assert same(mine, other)
    t.reset(3)
    assert repr(t) == repr(Tables(6, rules("oklahoma", gin_bonus=20), 3, "game", "history-v1", "win"))
    assert t.rules.gin_bonus == 20


def test_illegal_actions_change_nothing():
    t = Tables(5, seed=4)
    play(t, 40)
    good = t.action_masks.argmax(1)
    everything = pickle.dumps(t)
    for bad, reason in ((2, "table 3, seat "), (-1, "action -1: there is none"), (108, "action 108"), (10**12, "none")):
        actions = good.copy()
        actions[3] = bad
        if 0 <= bad < 108 and t.action_masks[3, bad]:
            continue
        with pytest.raises(IllegalAction, match=reason) as caught:
            t.step(actions)
        assert "no table was changed" in str(caught.value)
        t._actions[:] = pickle.loads(everything)._actions
        assert pickle.dumps(t) == everything
    for wrong in (good[:4], good[None], 3, None, [[1], [1, 2], 3, 4, 5]):
        with pytest.raises(ValueError, match=r"^actions: whole numbers of shape \(5,\) are due, not "):
            t.step(wrong)
    for wrong in (good.astype(float), good.astype(bool), [True, *good[1:]], [1.5, *good[1:]], ["1"] * 5, [None] * 5):
        with pytest.raises(TypeError, match=r"^actions: whole numbers of shape \(5,\) are due, not "):
            t.step(wrong)
    for large in (1 << 63, 1 << 70, -(1 << 70)):
        with pytest.raises(IllegalAction, match=r"table 0, .*: there is none"):
            t.step([large, *good[1:]])
    with pytest.raises(IllegalAction, match=r"table 0, .*: there is none"):
        t.step(np.array([(1 << 63) + 5, *good[1:]], dtype=np.uint64))
    t = pickle.loads(everything)
    for dtype in (np.int8, np.uint8, np.int32, np.uint64):
        copy.deepcopy(t).step(good.astype(dtype))
    t.step(good.tolist())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n": 0}, "n=0"),
        ({"n": 2.5}, "n=2.5"),
        ({"n": True}, "n=True"),
        ({"rules": 3}, "rules: 3 should be Rules or the name of a preset"),
        ({"encoding": ["planes-v1"]}, "there is no encoding"),
        ({"rules": "modem"}, "did you mean modern"),
        ({"episode": "match"}, "should be hand or game"),
        ({"reward": "money"}, "should be points or win"),
        ({"encoding": "planes-v9"}, "did you mean planes-v"),
        ({"seed": -1}, "seed -1"),
        ({"seed": 1 << 63}, "2\\*\\*63 - 1"),
        ({"seed": None}, "seed None"),
        ({"seed": 1.5}, "seed 1.5"),
        ({"seed": True}, "seed True"),
    ],
)
def test_wrong_options(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        Tables(**{"n": 2, **options})


def test_random_actions_are_uniform():
    t = Tables(1, seed=8)
    while t.views["phase"][0] != Phase.DISCARD:
        play(t, 1)
    views, out = np.repeat(t.views, 20_000), np.zeros(20_000, np.int64)
    random_actions(views, 5, out)
    legal = np.flatnonzero(t.action_masks[0])
    counts = np.bincount(out, minlength=108)
    assert counts[legal].sum() == 20_000
    expected = 20_000 / len(legal)
    assert (abs(counts[legal] - expected) < 5 * expected**0.5).all()


def test_turn_limit_truncates():
    t = Tables(16, rules("modern", turn_limit=3, knock_limit=0), seed=2)
    ended = []
    play(t, 100, lambda: ended.extend(t.truncated[t.dones]))
    assert len(ended) > 16 and np.mean(ended) > 0.9
