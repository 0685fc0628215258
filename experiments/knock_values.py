"""Knock now against playing on, in the same worlds: the kernels of the knock studies, and the rows they write.

*Knock now* throws the card that leaves the least. *Playing on* throws what `heuristic` would and then goes on as `lean`
does, in one of several *ways*: each is a count of deadwood at which it knocks from then on (0: gin only). The opponent
plays as the opponent plays, and holds what `agents.worlds` samples from the knocker's VIEW.

The better of several ways is chosen in one half of the worlds and rated in the other, both ways round: the best of
several noisy means, rated by these very means, would look better than it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numba
import numpy as np
from numba import types

from agents import heuristic, lean
from agents.game_value import win_chance
from agents.heuristic import judge_discards
from agents.lean import choose as lean_choose
from agents.playout import decision_key, see
from agents.protocol import PARAMS, POLICY_POINTER, NativeAgent
from agents.registry import split
from agents.simple import repeated_discards
from agents.worlds import GONE as GONE_WEIGHT
from agents.worlds import make_state, set_hidden
from ginenv.cards import lowest
from ginenv.jit import kernel
from ginenv.melds import deadwood, least_discards
from ginenv.rng import mix
from ginenv.rules import RULES_TYPE
from ginenv.state import BIG_GIN, DISCARD, DISCARD_PHASE, KNOCK, NO_SEAT, ORDER, OVER_PHASE, STATE, Kind
from ginenv.step import is_legal, step
from ginenv.view import VIEW, look

DECISION = np.dtype(
    [
        ("game", np.int64),
        ("hand", np.int64),  # the eleven cards, a mask
        ("known", np.int64),  # what the opponent took and holds
        ("refused", np.int64),  # upcards the opponent passed over
        ("thrown", np.int64),  # what the opponent threw
        ("in_pile", np.int64),
        ("side", np.int8),  # whose decision: A (0) or B (1)
        ("turn", np.int16),  # the mover's own turn, from 1
        ("stock", np.int16),  # cards left in it
        ("deadwood", np.int16),  # of a knock now
        ("limit", np.int16),  # the hand's knock limit
        ("multiplier", np.int16),
        ("dealer", np.int8),  # 0 when the mover dealt
        ("own_score", np.int16),
        ("other_score", np.int16),
        ("way", np.int8),  # the better way to play on, by points in all worlds
        ("knocked", np.int8),  # what really happened: whether the mover knocked
        ("points", np.int16),  # and the mover's points in this hand, less the opponent's
        ("won", np.int8),  # and whether the mover won the game
        ("knock_points", np.float32),  # the mover's points less the opponent's, knocking now
        ("on_points", np.float32),  # and playing on
        ("gain_points", np.float32, (2,)),  # knocking less playing on, by half of the worlds
        ("se_points", np.float32),  # standard error of the mean of both halves, from world by world differences
        ("knock_win", np.float32),  # the same as the chance to win the game
        ("on_win", np.float32),
        ("gain_win", np.float32, (2,)),
        ("se_win", np.float32),
        ("undercut", np.float32),  # share of worlds that undercut a knock now
        ("gin", np.float32),  # share of worlds where playing on ends in own gin
        ("rival_deadwood", np.float32),  # the opponent's, in the mean of the worlds
        ("true_knock_points", np.float32),  # check against the true hidden cards: one world, used for nothing else
        ("true_on_points", np.float32),
        ("true_knock_win", np.float32),
        ("true_on_win", np.float32),
        ("true_undercut", np.int8),
        ("true_rival_deadwood", np.int16),
    ],
    align=True,
)
"""One decision whether to knock, of a study. Values with ``true_`` are of the hidden cards as they lay."""

_UNDERCUT, _GIN, _BIG_GIN = int(Kind.UNDERCUT), int(Kind.GIN), int(Kind.BIG_GIN)
_VIEW, _RULES, _STATE = numba.from_dtype(VIEW), RULES_TYPE, numba.from_dtype(STATE)
_DECISION = numba.from_dtype(DECISION)
_TABLE, _FLOATS, _INTS = types.float64[:, :, ::1], types.float64[:, ::1], types.int16[:, ::1]

EARLY, UNTIL, LATE, GONE, WEIGHTS = range(5)
LAST_WEIGHT = 15
RIVAL = WEIGHTS + LAST_WEIGHT + 1
"""How an opponent plays, for the worlds: its knock rule as `simple` has it, the weight of cards it let go, and the
weight of its deadwood by the number of its turns so far, the last one for all later ones (`agents.worlds`)."""


@kernel
def chance_after(s, rules, table):
    """Return the chance of seat 0 to win the game, once the hand in STATE ``s`` is over (see `agents.game_value`)."""
    if s["first_home"] != NO_SEAT:
        return 1.0 if s["first_home"] == 0 else 0.0
    return win_chance(table[np.int64(s["dealer"])], np.int64(s["scores"][0]), np.int64(s["scores"][1]))


@kernel
def play_on(s, rules, views, own, rival, rival_params, key, until):
    """Play the hand in STATE ``s`` to its end: seat 0 by `lean`, seat 1 by ``rival``.

    Args:
        s: A STATE record, changed.
        rules: A RULES record.
        views: VIEW, shape (2,): seat 0's as of its last decision in this hand, and one for scratch; changed.
        own: Params of `lean`.
        rival, rival_params: The opponent's policy.
        key: The opponent's stream of randomness.
        until: A number of turns.

    Returns:
        The opponent's deadwood once ``until`` turns are over, -1 when the hand ended before; -2 for an illegal action.
    """
    met, told = 1, -1
    while s["phase"] != OVER_PHASE:
        seat = s["seat"]
        met = see(s, rules, views, met)
        v = views[seat]
        if s["turn"] == until and s["phase"] != DISCARD_PHASE:
            told = np.int64(deadwood(s["hand"][1], rules["longest_meld"]))
        if seat == 0:
            action = lean_choose(v, rules, own, 0)
        else:
            action = rival(v, rules, rival_params, decision_key(s, key))
            if not is_legal(s, action):
                return -2
        step(s, rules, action)
    return told


@kernel
def best_throw(view, rules, hints):
    """Return the card that `heuristic` with params ``hints`` would throw, if it did not knock."""
    allowed = view["discards"] & ~repeated_discards(view)
    if allowed == 0:
        allowed = view["discards"]
    _, left = least_discards(view["hand"], np.int64(view["mid_deadwood"]), allowed, rules["longest_meld"])
    cards, scores = np.empty(ORDER, np.int64), np.empty(ORDER, np.float64)
    judge_discards(view, rules, hints, allowed, left, cards, scores)
    return cards[0]


@kernel
def best_knock(view, rules):
    """Return ``(action, deadwood)`` of the knock that leaves the least; there must be one, or big gin."""
    if (view["choices"] >> BIG_GIN) & 1 == 1:
        return BIG_GIN, 0
    cards, left = least_discards(view["hand"], np.int64(view["mid_deadwood"]), view["knocks"], rules["longest_meld"])
    return KNOCK + lowest(cards), left


@kernel(
    signature=types.int64(
        _VIEW, _RULES, _TABLE, _FLOATS, POLICY_POINTER, PARAMS, PARAMS, types.int64, types.int64, types.int64[::1],
        types.uint8[:, ::1], _FLOATS, _FLOATS, _INTS, _INTS, types.int16[::1],
    )
)  # fmt: skip
def rate_knock(
    view, rules, table, own, rival, rival_params, hints, key, until, hands, stocks, points, wins, kinds, turns, later
):
    """Play a knock now and each way to play on out in the same worlds.

    Args:
        view: A VIEW record of a seat that may knock.
        rules: A RULES record.
        table: float64, shape (2, target, target): `agents.game_value.game_table`.
        own: float64, shape (ways, 6): params of `lean` for each way to play on.
        rival, rival_params: The opponent's policy.
        hints: Params of `heuristic`, which chooses the card to throw when playing on.
        key: The opponent's randomness.
        until: Turns of the hand after which the opponent's deadwood is looked at.
        hands: int64, shape (worlds,): the opponent's cards in each world.
        stocks: uint8, shape (worlds, 54): the stocks, their tops at ``n_stock - 1``.
        points: float64, shape (1 + ways, worlds), written: the viewer's points less the opponent's; a knock now first.
        wins: float64, of the same shape, written: the chance to win the game after the hand.
        kinds: int16, of the same shape, written: how the hand ended, a `Kind`; negative where the opponent won it.
        turns: int16, of the same shape, written: own turns begun in the hand.
        later: int16, shape (worlds,), written: the opponent's deadwood after ``until`` turns of the first way; where
            the hand was over by then, what they had at its end.

    Returns:
        0; -1 when the opponent acted illegally.
    """
    tables, views = np.empty(2, dtype=STATE), np.empty(3, dtype=VIEW)
    make_state(view, rules, hands[0], stocks[0], tables[0])
    look(tables[0], rules, 0, views[2])
    throw = DISCARD + best_throw(view, rules, hints)
    knock, _ = best_knock(view, rules)
    s = tables[1]
    for w in range(hands.shape[0]):
        set_hidden(view, hands[w], stocks[w], tables[0])
        for c in range(1 + own.shape[0]):
            tables[1] = tables[0]
            if c == 0:
                step(s, rules, knock)
            else:
                views[0] = views[2]
                step(s, rules, throw)
                told = play_on(s, rules, views, own[c - 1], rival, rival_params, mix(key, np.int64(-1 - w)), until)
                if told == -2:
                    return -1
                if c == 1:
                    later[w] = told if told >= 0 else deadwood(s["hand"][1], rules["longest_meld"])
            points[c, w] = np.int64(s["points"][0]) - np.int64(s["points"][1])
            wins[c, w] = chance_after(s, rules, table)
            kind = np.int64(s["kind"])
            kinds[c, w] = -kind if s["winner"] == 1 else kind
            # The viewer's own turns: those begun after the present one are every other one.
            turns[c, w] = np.int64(view["own_turn"]) + (np.int64(s["turn"]) - np.int64(view["turn"])) // 2
    return 0


@kernel
def cross_fit(values, first, last):
    """Return ``(gain, variance)``: knocking less playing on in worlds ``first`` … last-1, the way chosen in the others.

    Args:
        values: float64, shape (1 + ways, worlds).
        first, last: The half in which it is rated; the way is the best one in all other worlds.
    """
    n = values.shape[1]
    best, way = -1e18, 1
    for c in range(1, values.shape[0]):
        total = 0.0
        for w in range(n):
            if w < first or w >= last:
                total += values[c, w]
        if total > best:
            best, way = total, c
    sum_, squares = 0.0, 0.0
    for w in range(first, last):
        ahead = values[0, w] - values[way, w]
        sum_ += ahead
        squares += ahead * ahead
    m = last - first
    mean = sum_ / m
    return mean, max(squares / m - mean * mean, 0.0) / (m - 1)


@kernel
def rate_halves(values, gains):
    """Write the gain in either half of the worlds (`cross_fit`) to ``gains``, shape (2,).

    Returns:
        ``(error, knock)``: the standard error of their mean, and what a knock now is worth in all worlds.
    """
    n = values.shape[1]
    a, variance_a = cross_fit(values, 0, n // 2)
    b, variance_b = cross_fit(values, n // 2, n)
    gains[0], gains[1] = a, b
    return np.sqrt(variance_a + variance_b) / 2, values[0].sum() / n


@kernel(signature=types.void(_FLOATS, _FLOATS, _INTS, _DECISION))
def sum_up(points, wins, kinds, row):
    """Write what the worlds say (`rate_knock`) into the DECISION ``row``: at least four worlds."""
    n = points.shape[1]
    gains = np.empty(2)
    row["se_points"], knock = rate_halves(points, gains)
    row["gain_points"][0], row["gain_points"][1] = gains[0], gains[1]
    row["knock_points"], row["on_points"] = knock, knock - (gains[0] + gains[1]) / 2
    row["se_win"], knock = rate_halves(wins, gains)
    row["gain_win"][0], row["gain_win"][1] = gains[0], gains[1]
    row["knock_win"], row["on_win"] = knock, knock - (gains[0] + gains[1]) / 2
    way = 1
    for c in range(2, points.shape[0]):
        if points[c].sum() > points[way].sum():
            way = c
    row["way"] = way
    undercuts, gins = 0, 0
    for w in range(n):
        if kinds[0, w] == -_UNDERCUT:
            undercuts += 1
        if kinds[way, w] == _GIN or kinds[way, w] == _BIG_GIN:
            gins += 1
    row["undercut"] = undercuts / n
    row["gin"] = gins / n


@kernel
def set_model(view, rival, model):
    """Write the model of the opponent's hand (`agents.worlds`).

    Args:
        view: A VIEW record.
        rival: float64, shape (RIVAL,): how the opponent plays; see `RIVAL`.
        model: float64, shape (3,), written.
    """
    turns = np.int64(view["turn"]) - np.int64(view["own_turn"])
    limit = rival[EARLY] if turns < rival[UNTIL] else rival[LATE]
    model[0] = rival[WEIGHTS + min(turns, LAST_WEIGHT)]
    model[1] = rival[GONE]
    model[2] = -1.0 if turns == 0 else min(limit, np.float64(view["knock_limit"]))


def hints_of(**changes: float) -> np.ndarray:
    """Return the params of `heuristic`: float64, shape (14,)."""
    return heuristic.params_of({name: changes.get(name, o.default) for name, o in heuristic.AGENT.options.items()})


def ways_of(thresholds: tuple[int, ...]) -> np.ndarray:
    """Return the params of `lean` for ways to play on, which knock at so much deadwood: float64, shape (n, 6)."""
    options = {name: option.default for name, option in lean.AGENT.options.items()} | {"ways": 1.3, "until": 0}
    return np.stack([lean.params_of(options | {"early": t, "late": t}) for t in thresholds])


def knock_rule(agent: NativeAgent) -> tuple[float, float, float]:
    """Return early, until and late of an agent that has such options; for others that they hold no gin."""
    options = dict(item.partition("=")[::2] for item in split(agent.spec)[1].split(",") if item)
    try:
        return float(options["early"]), float(options["until"]), float(options["late"])
    except KeyError:
        return 0.0, 0.0, 0.0


def rival_of(agent: NativeAgent, weights: Sequence[float]) -> np.ndarray:
    """Return how an agent plays, for the worlds of its opponents: float64, shape (RIVAL,).

    Args:
        agent: The agent.
        weights: Of its deadwood, by its turns so far (`experiments.knock_study.fit_weights`).
    """
    return np.array([*knock_rule(agent), GONE_WEIGHT, *weights])
