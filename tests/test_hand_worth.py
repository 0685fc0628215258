"""What hands are worth in games: chances that move from a game's start to its end, solved for each opponent."""

from __future__ import annotations

import numpy as np
import pytest

from agents.game_value import game_table
from agents.registry import make
from experiments.hand_worth import ITSELF, HandWorth
from ginenv.envs.opponent import ask
from ginenv.envs.vector import Tables
from ginenv.rules import PRESETS
from ginenv.state import NO_SEAT, Kind
from ginenv.step import step

GAME = PRESETS["eaai"].but(target=60)


def played(rules, steps, worth, n=24, renew_at=None):
    """Play `simple` against itself at ``n`` tables; yields, after each step, the tables and how the chances changed."""
    tables, simple = Tables(n, rules, 5, "game", "features-v2"), make("simple")
    for number in range(steps):
        if number == renew_at:
            worth.renew()
        keys = np.arange(n) + n * number
        worth.look(tables)
        tables.step(ask(simple, tables.views, rules, keys))
        yield tables, worth.change(tables)


def test_a_game_moves_each_chance_from_its_start_to_none_or_all():
    worth = HandWorth(GAME, np.arange(24) % 3 - 1, np.arange(24) // 3 % 2)
    total = np.zeros((24, 2))
    began = worth.chances(Tables(24, GAME, 5, "game", "features-v2"))
    over = 0
    for tables, change in played(GAME, 1500, worth):
        assert np.allclose(change.sum(1), 0) and (change[tables.kinds == 0] == 0).all()
        total += change
        for i in np.flatnonzero(tables.dones):
            winner = int(np.argmax(tables.returns[i]))
            assert total[i, winner] == pytest.approx(1 - began[i, winner])
            total[i], began[i] = 0, worth.chances(tables)[i]
            over += 1
    assert over > 100


def test_at_first_all_are_equals():
    worth = HandWorth(GAME, np.array([0, ITSELF]), np.array([1, 0]))
    tables = Tables(2, GAME, 1, "game", "features-v2")
    table = game_table(GAME)
    for chances, dealer in zip(worth.chances(tables), tables.states["dealer"], strict=True):
        assert chances[0] == pytest.approx(table[dealer, 0, 0], abs=1e-9)


@pytest.mark.parametrize("renew_at", [None, 200])
def test_hands_are_counted_as_they_ended(renew_at):
    opponents, seats = np.arange(24) % 4 - 1, np.arange(24) // 4 % 2
    worth = HandWorth(GAME, opponents, seats)
    wanted = worth.lately.copy()
    before, hands = [None] * 24, 0
    for number, (tables, _) in enumerate(played(GAME, 400, worth, renew_at=renew_at)):
        if number == renew_at:
            wanted /= 2
        for i in range(24):
            if tables.kinds[i] not in (Kind.NONE, Kind.DEAD) and before[i] is not None:
                gain = int(tables.rewards[i, seats[i]])
                dealt, lost = int(before[i] != seats[i]), int(gain < 0)
                wanted[opponents[i], dealt, lost, min(abs(gain), 60)] += 1
                hands += 1
            elif tables.kinds[i] not in (Kind.NONE, Kind.DEAD):
                raise AssertionError("a hand that ended in a step")
            before[i] = int(tables.states["dealer"][i])
    assert hands > 300
    assert np.allclose(worth.lately, wanted)


def test_who_wins_mostly_has_more_to_lose_than_to_win():
    rules = PRESETS["eaai"]
    worth = HandWorth(rules, np.array([0, ITSELF]), np.array([0, 0]))
    tables = Tables(2, rules, 1, "game", "features-v2")
    even = worth.chances(tables)[:, 0]
    worth.lately[0, :, 0] *= 6  # six hands of seven
    worth.renew()
    best = worth.chances(tables)[:, 0]
    assert best[0] > 0.95 and best[1] == pytest.approx(even[1])
    scores = tables.states["scores"]
    scores[:, 0] = 30
    won = worth.chances(tables)[:, 0] - best
    scores[:, :2] = (0, 30)
    lost = best - worth.chances(tables)[:, 0]
    assert lost[0] > 1.5 * won[0]
    assert lost[1] == pytest.approx(won[1], rel=0.2)


@pytest.mark.parametrize(
    "rules",
    [
        PRESETS["modern"].but(target=30),
        PRESETS["denexa"].but(target=60),
        PRESETS["historic"],
        PRESETS["palace"].but(target=1),
        PRESETS["eaai"].but(target=50, box_bonus=90, game_bonus=7, shutout="double"),
        PRESETS["oklahoma"].but(target=50),
    ],
    ids=lambda rules: f"{rules.name}-{rules.target}",
)
def test_the_points_of_a_last_hand_are_told_from_its_bonuses(rules):
    """Held against the same hand ended once more at a copy of the table."""
    n, simple = 24, make("simple")
    seats = np.arange(n) % 2
    worth, tables = HandWorth(rules, np.full(n, ITSELF), seats), Tables(n, rules, 5, "game", "features-v2")
    wanted, lasts = worth.lately.copy(), 0
    for number in range(400):
        actions = np.array(ask(simple, tables.views, rules, np.arange(n) + n * number))
        before = tables.snapshot()["states"]
        worth.look(tables)
        tables.step(actions)
        worth.change(tables)
        for i in np.flatnonzero(tables.kinds):
            dealer = before[i]["dealer"]
            step(before[i], rules.record, actions[i])
            winner = before[i]["winner"]
            if winner != NO_SEAT and before[i]["points"][winner] > 0:
                points = min(int(before[i]["points"][winner]), rules.target)
                wanted[ITSELF, int(dealer != seats[i]), int(winner != seats[i]), points] += 1
                lasts += int(tables.dones[i])
    assert lasts > 20
    assert np.array_equal(worth.lately, wanted)
