"""`mc`: determinized Monte Carlo. Plays its few best discards, and the knock, out in worlds sampled from its VIEW.

All candidates meet the same worlds and the same luck, so what differs is their own doing; those clearly behind are
dropped on the way. The worlds are weighed by how the opponent plays (`agents.worlds`); rollouts are played by `simple`,
patient for itself and a mixture for the opponent, since what beats those who knock at once loses to those who wait. The
one-ply score of `heuristic` is a prior on the discards, and decides on draws, where search has shown no gain.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents import heuristic, worlds
from agents.heuristic import AHEAD, BEST_DRAWS, DANGER, DOUBT, FADE, best_after_draws, danger
from agents.heuristic import choose as heuristic_choose
from agents.playout import decision_key
from agents.protocol import Kind, NativeAgent, Option, policy
from agents.simple import choose as simple_choose
from agents.worlds import make_state, sample_worlds, set_hidden
from ginenv.cards import BIT, NO_CARD, lowest
from ginenv.jit import kernel
from ginenv.melds import deadwood, least_discards
from ginenv.rng import mix
from ginenv.state import BIG_GIN, DISCARD, DISCARD_PHASE, KNOCK, ORDER, OVER_PHASE, RING, STATE
from ginenv.step import step
from ginenv.view import VIEW, look

WORLDS, MODEL, PRIOR, WIDTH, SPREAD, PATIENT = 0, 1, 5, 6, 7, 8
"""Places of the options in ``params``; the model has four."""
OWN, IMPATIENT_RIVAL, PATIENT_RIVAL, HEURISTIC = 9, 12, 15, 18
"""Where the params of the policies begin: `simple`'s for the rollouts, `heuristic`'s."""
FIRST_LOOK = 16
"""Worlds before the first candidate may be dropped."""
SURE = 2.0
"""Standard errors by which a candidate must be behind to be dropped."""


@kernel
def glance(s, v):
    """Write into VIEW ``v`` what `simple` reads for the seat to act in ``s``: `ginenv.view.look` takes longer than it.

    ``v`` must have been of this hand before its last step: of the history only the present turn is written, and the
    opponent's draws, which `simple` does not read, are not hidden.
    """
    turn = np.int64(s["turn"])
    if turn > 0:
        t = (turn - 1) % RING
        v["draws"][t] = s["draws"][t]
        v["throws"][t] = s["throws"][t]
    v["turn"] = turn
    v["own_turn"] = (turn + 1) // 2 if s["first"] == s["seat"] else turn // 2
    v["hand"] = s["hand"][s["seat"]]
    v["thrown"][0] = s["thrown"][s["seat"]]
    v["top"] = s["order"][ORDER - s["n_pile"]] if s["n_pile"] > 0 else NO_CARD
    v["discards"] = s["discards"]
    v["knocks"] = s["knocks"]
    v["choices"] = s["choices"]
    v["phase"] = s["phase"]
    v["drawn"] = s["drawn"]
    v["mid_deadwood"] = s["mid_deadwood"]
    v["taken"] = s["taken"]


@kernel
def finish_hand(s, rules, v, own, rival, key):
    """Play the hand in STATE ``s`` to its end by `simple` and return the points of seat 0 less those of seat 1.

    `agents.playout.play_hand` does the same for any policies; called by name they are inlined, and found in the cache.

    Args:
        s: A STATE record, changed.
        rules: A RULES record.
        v: A VIEW record that `look` has filled at this point of the hand, or one step before; changed.
        own, rival: Params of `simple` for seat 0 and seat 1.
        key: The stream of randomness of both.
    """
    while s["phase"] != OVER_PHASE:
        glance(s, v)
        step(s, rules, simple_choose(v, rules, own if s["seat"] == 0 else rival, decision_key(s, key)))
    return np.int64(s["points"][0]) - np.int64(s["points"][1])


@kernel
def find_candidates(view, rules, params, actions, priors):
    """Write the actions worth a search and what speaks for each beforehand, in points; the most promising first.

    Args:
        view: A VIEW record of a seat that has to discard.
        rules: A RULES record.
        params: Of `mc`.
        actions: int64, shape (52 + 1,), written.
        priors: float64, of the same shape, written.

    Returns:
        How many there are: `WIDTH` discards at the most, and a knock.
    """
    hand, longest = view["hand"], rules["longest_meld"]
    hints = params[HEURISTIC:]
    now = np.int64(view["mid_deadwood"])
    _, left = least_discards(hand, now, view["discards"], longest)
    weight = hints[AHEAD] * hints[FADE] ** (np.float64(view["own_turn"]) - 1.0)
    n = 0
    todo = view["discards"]
    while todo != 0:
        bit = todo & -todo
        todo &= todo - 1
        rest = hand & ~bit
        loose = deadwood(rest, longest)
        if loose > left + params[SPREAD]:
            continue
        card = lowest(bit)
        score = loose + weight * best_after_draws(rest, view["unseen"], hints[BEST_DRAWS], longest)
        score += hints[DANGER] * danger(view, card, hints[DOUBT])
        place = n
        while place > 0 and priors[place - 1] < -score:  # insertion keeps the best in front
            actions[place], priors[place] = actions[place - 1], priors[place - 1]
            place -= 1
        actions[place], priors[place] = DISCARD + card, -score
        n += 1
    n = min(n, np.int64(params[WIDTH]))
    best = priors[0]
    for c in range(n):
        priors[c] = params[PRIOR] * (priors[c] - best)
    if view["knocks"] != 0:
        cards, _ = least_discards(hand, now, view["knocks"], longest)
        actions[n], priors[n] = KNOCK + lowest(cards), 0.0
        n += 1
    return n


@kernel
def drop_losers(values, priors, alive, n, seen):
    """Drop the candidates that are clearly behind; return ``(best, left)``: who leads, and how many are left.

    Args:
        values: float64, shape (candidates, worlds): points of each in each world.
        priors: float64, shape (candidates,).
        alive: int8, shape (candidates,), changed.
        n: Number of candidates.
        seen: Worlds played so far.
    """
    best, best_value = 0, -1e18
    for c in range(n):
        if alive[c]:
            value = priors[c] + values[c, :seen].sum() / seen
            if value > best_value:
                best, best_value = c, value
    left = 0
    for c in range(n):
        if not alive[c]:
            continue
        if c != best and seen >= FIRST_LOOK:
            sum_, squares = 0.0, 0.0
            for w in range(seen):  # world by world: most of the luck is common to both
                ahead = values[best, w] - values[c, w]
                sum_ += ahead
                squares += ahead * ahead
            mean = sum_ / seen
            error = np.sqrt(max(squares / seen - mean * mean, 0.0) / seen)
            if mean + priors[best] - priors[c] > SURE * error:
                alive[c] = 0
                continue
        left += 1
    return best, left


@kernel
def search(view, rules, params, key, actions, priors, n, values, alive):
    """Play candidates out in sampled worlds and return ``(best, seen)``: the best one's place, and the worlds played.

    Args:
        view, rules, params, key: As a policy's.
        actions, priors, n: The candidates (see `find_candidates`).
        values: float64, shape (n, worlds), written: points of each candidate in each world, while it was in the race.
        alive: int8, shape (n,), written: who was not dropped.
    """
    n_worlds = values.shape[1]
    hands, stocks = np.empty(n_worlds, np.int64), np.empty((n_worlds, ORDER), np.uint8)
    sample_worlds(view, rules, params[MODEL : MODEL + 4], key, hands, stocks)
    tables, views = np.empty(2, dtype=STATE), np.empty(2, dtype=VIEW)
    make_state(view, rules, hands[0], stocks[0], tables[0])
    look(tables[0], rules, 0, views[0])
    for c in range(n):
        alive[c] = 1
    best, left = 0, n
    luck = mix(key, 2)
    patient = 0.0
    next_look = FIRST_LOOK
    for w in range(n_worlds):
        set_hidden(view, hands[w], stocks[w], tables[0])
        patient += params[PATIENT]  # spread evenly over the worlds
        rival = IMPATIENT_RIVAL
        if patient >= 1.0:
            patient -= 1.0
            rival = PATIENT_RIVAL
        for c in range(n):
            if alive[c]:
                tables[1] = tables[0]
                views[1] = views[0]
                step(tables[1], rules, actions[c])
                values[c, w] = finish_hand(
                    tables[1], rules, views[1], params[OWN : OWN + 3], params[rival : rival + 3], mix(luck, w)
                )
        if w + 1 == next_look or w + 1 == n_worlds:
            best, left = drop_losers(values, priors, alive, n, w + 1)
            next_look *= 2
            if left == 1:
                return best, w + 1
    return best, n_worlds


@policy
def choose(view, rules, params, key):
    """Choose by search where there is a choice that matters: what to discard, and whether to knock."""
    if view["phase"] != DISCARD_PHASE:
        return heuristic_choose(view, rules, params[HEURISTIC:], key)
    if (view["choices"] >> BIG_GIN) & 1 == 1:
        return BIG_GIN
    actions, priors = np.empty(ORDER + 1, np.int64), np.empty(ORDER + 1, np.float64)
    n = find_candidates(view, rules, params, actions, priors)
    last = actions[n - 1]
    if last >= KNOCK and deadwood(view["hand"] & ~BIT[last - KNOCK], rules["longest_meld"]) == 0:
        return last  # gin
    if n == 1:
        return actions[0]
    values, alive = np.empty((n, np.int64(params[WORLDS])), np.float64), np.empty(n, np.int8)
    best, _ = search(view, rules, params, key, actions, priors, n, values, alive)
    return actions[best]


def _make(spec: str, options: Mapping[str, Any]) -> NativeAgent:
    own = [float(options[name]) for name in OPTIONS]
    rollouts = [10.0, 4.0, 0.0, 10.0, 1.0, 10.0, 10.0, 4.0, 0.0]  # early, until, late: own, impatient, patient
    hints = [float(option.default) for option in heuristic.OPTIONS.values()]
    return NativeAgent(spec, choose, np.array(own + rollouts + hints, dtype=np.float64))


OPTIONS = {
    "worlds": Option(128, "worlds a decision", 1, 1_000_000),
    "deadwood": Option(worlds.DEADWOOD, "sampling: weight of the opponent's deadwood a turn (0: none)", 0, 10),
    "gone": Option(worlds.GONE, "sampling: weight of a card they let go that would have melded (0: none)", 0, 100),
    "dearer": Option(worlds.DEARER, "sampling: weight of a loose card dearer than their discard (0: none)", 0, 100),
    "turns": Option(worlds.TURNS, "sampling: turns after which their deadwood improves no more", 0, 1000),
    "prior": Option(0.3, "weight of the one-ply score of a discard", 0, 100),
    "width": Option(5, "discards that are looked at, at most", 1, 52),
    "spread": Option(5, "discards that leave this much more than the least are looked at", 0, 100),
    "patient": Option(0.5, "share of worlds where the opponent waits for gin after the first turns", 0, 1),
}

AGENT = Kind("plays its best discards and the knock out in sampled worlds", _make, OPTIONS)
