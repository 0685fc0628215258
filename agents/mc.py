"""`mc`: determinized Monte Carlo. What to discard and whether to knock is played out in worlds sampled from its VIEW.

All candidates meet the same worlds and the same luck, so what differs is their own doing; those clearly behind are
dropped on the way. There are two kinds of worlds, since what beats an opponent who knocks at once loses to one who
waits: in some the opponent is `simple`, and holds no hand that it would have knocked with by now; in the others it is
`lean`, which waits for gin after its first turns (`agents.worlds`). Its own side is played out by `lean`, too.

A policy proposes: the draws are its own, and of the discards the ``width`` likeliest are played out, with what it holds
of them as a prior, since rollouts alone judge discards badly (docs/strength.md). The policy is the network of `ppo`; or
it is `heuristic`, whose one-ply score is the prior then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents import heuristic, lean, ppo, simple, worlds
from agents.clock import deadline, nanoseconds
from agents.game_value import game_table, win_chance
from agents.heuristic import judge_discards
from agents.lean import choose as lean_choose
from agents.lean import draw_or_take
from agents.playout import decision_key, see
from agents.ppo import load as make_network
from agents.protocol import Kind, NativeAgent, Option, policy
from agents.simple import choose as simple_choose
from agents.simple import repeated_discards
from agents.worlds import make_state, sample_worlds, set_hidden
from ginenv.cards import lowest
from ginenv.jit import kernel
from ginenv.melds import least_discards
from ginenv.rng import mix
from ginenv.rules import PRESETS
from ginenv.state import BIG_GIN, DISCARD, DISCARD_PHASE, KNOCK, N_ACTIONS, ORDER, OVER_PHASE, STATE
from ginenv.step import step
from ginenv.view import VIEW, look

WORLDS, MS, BANK, PRIOR, WIDTH, PATIENT, DEADWOOD, GONE, GAME, UNTIL, NETWORK = range(11)
"""Places of the options in ``params``; the last is where the params of `ppo` begin, 0 for none."""
OWN, PATIENT_RIVAL, IMPATIENT_RIVAL, HINTS = 11, 11 + lean.N_PARAMS, 11 + 2 * lean.N_PARAMS, 14 + 2 * lean.N_PARAMS
"""Where the params of the policies begin: `lean`'s twice, `simple`'s and `heuristic`'s."""
CHANCES = HINTS + heuristic.N_PARAMS
"""Where the table of the chance to win the game begins (`agents.game_value`), for a target of `_TARGET`."""
_TARGET = 100

BATCH, TIMED_BATCH = 128, 16
"""Worlds that are sampled at a time: fewer against the clock, which is not looked at meanwhile."""
MOST_WORLDS = 1 << 14
FIRST_LOOK = 16
"""Worlds before the first candidate may be dropped."""
SURE = 2.0
"""Standard errors by which a candidate must be behind to be dropped."""


@kernel
def finish_hand(s, rules, views, met, params, patient, key):
    """Play the hand in STATE ``s`` to its end and return the points of seat 0 less those of seat 1.

    Args:
        s: A STATE record, changed.
        rules: A RULES record.
        views: VIEW, shape (2,): of either seat, as of its last decision in this hand where it is in ``met``; changed.
        met: The seats that have a view, as bits.
        params: Of `mc`.
        patient: Whether the opponent waits for gin.
        key: The stream of randomness of both.
    """
    while s["phase"] != OVER_PHASE:
        seat = s["seat"]
        met = see(s, rules, views, met)
        v = views[seat]
        if seat == 0:
            action = lean_choose(v, rules, params[OWN : OWN + 6], 0)
        elif patient:
            action = lean_choose(v, rules, params[PATIENT_RIVAL : PATIENT_RIVAL + 6], 0)
        else:
            action = simple_choose(v, rules, params[IMPATIENT_RIVAL : IMPATIENT_RIVAL + 3], decision_key(s, key))
        step(s, rules, action)
    return np.int64(s["points"][0]) - np.int64(s["points"][1])


@kernel
def worth(view, rules, params, points):
    """Return what a hand's ``points``, the viewer's less the opponent's, are worth to the viewer.

    It is the points; with the option ``game``, by how much they change the chance to win the game, in hundredths. Other
    targets than `_TARGET` are scaled to it, and who deals the next hand is left open. No table knows the columns of
    Hollywood (V2): there it is the points.
    """
    target = np.int64(rules["target"])
    if params[GAME] == 0 or target == 0 or rules["hollywood"]:
        return np.float64(points)
    chances = params[CHANCES : CHANCES + _TARGET * _TARGET].reshape((_TARGET, _TARGET))
    own, other = np.int64(view["scores"][0]), np.int64(view["scores"][1])
    before = chances[own * _TARGET // target, other * _TARGET // target]
    own += max(points, 0)
    other += max(-points, 0)
    return 100.0 * (win_chance(chances, own * _TARGET // target, other * _TARGET // target) - before)


@kernel
def find_candidates(view, rules, params, actions, priors):
    """Write the actions worth a search and what the policy has for each, in points; its best discard first.

    Args:
        view: A VIEW record of a seat that has to discard.
        rules: A RULES record.
        params: Of `mc`.
        actions: int64, shape (52 + 1,), written.
        priors: float64, of the same shape, written.

    Returns:
        ``(n, gin)``: how many there are, `WIDTH` discards at the most and a knock behind them; and whether the knock,
        if there is one, is gin.
    """
    hand, now, longest = view["hand"], np.int64(view["mid_deadwood"]), rules["longest_meld"]
    allowed = view["discards"] & ~repeated_discards(view)
    if allowed == 0:
        allowed = view["discards"]
    network = np.int64(params[NETWORK])
    logits = np.empty(N_ACTIONS, np.float32)
    if network > 0:
        ppo.rate(view, rules, params[network:], logits)
        n = rank_discards(allowed, logits, actions, priors)
    else:
        _, left = least_discards(hand, now, allowed, longest)
        n = judge_discards(view, rules, params[HINTS:], allowed, left, actions, priors)
    n = min(n, np.int64(params[WIDTH]))
    best = priors[0]
    for c in range(n):
        actions[c] += DISCARD
        priors[c] = params[PRIOR] * (best - priors[c])
    if view["knocks"] == 0:
        return n, False
    cards, left = least_discards(hand, now, view["knocks"], longest)
    actions[n], priors[n] = KNOCK + lowest(cards), 0.0
    if network > 0:
        priors[n] = params[PRIOR] * (np.float64(logits[actions[n]]) + best)
    return n + 1, left == 0


@kernel
def rank_discards(allowed, logits, cards, scores):
    """Write the discards of ``allowed`` as `judge_discards` does, by a network: less is better, the logits' negatives.

    Args:
        allowed: Mask of the discards in question, not empty.
        logits: float32, shape (108,).
        cards: int64, shape (52,), written; scores: float64, of the same shape, written.

    Returns:
        How many there are.
    """
    n = 0
    todo = allowed
    while todo != 0:
        card = lowest(todo)
        todo &= todo - 1
        score = -np.float64(logits[DISCARD + card])
        place = n
        while place > 0 and scores[place - 1] > score:  # insertion keeps the best in front
            cards[place], scores[place] = cards[place - 1], scores[place - 1]
            place -= 1
        cards[place], scores[place] = card, score
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
def sample_batch(view, rules, params, key, hands, stocks, patient):
    """Sample worlds of both kinds, in turn as their shares are.

    Args:
        view, rules, params: As a policy's.
        key: Names the sample.
        hands: int64, shape (n,), written: the opponent's cards.
        stocks: uint8, shape (n, 54), written: the stocks, their tops at ``n_stock - 1``.
        patient: int8, shape (n,), written: 1 where the opponent waits for gin.
    """
    n = hands.shape[0]
    n_patient, due = 0, 0.0
    for w in range(n):
        due += params[PATIENT]
        patient[w] = 1 if due >= 1.0 else 0
        if due >= 1.0:
            due -= 1.0
            n_patient += 1
    turns = np.int64(view["turn"]) - np.int64(view["own_turn"])
    limit = np.int64(view["knock_limit"])
    some_hands, some_stocks = np.empty(n, np.int64), np.empty((n, ORDER), np.uint8)
    for kind in range(2):
        size = n_patient if kind == 1 else n - n_patient
        if size == 0:
            continue
        model = np.empty(3, np.float64)
        model[0], model[1] = params[DEADWOOD], params[GONE]
        # With so little they would have knocked in one of their turns; the patient one waits from turn `until` on.
        waits = kind == 1 and turns >= params[PATIENT_RIVAL + lean.UNTIL]
        model[2] = -1 if turns == 0 else (0 if waits else limit)
        sample_worlds(view, rules, model, mix(key, kind), some_hands[:size], some_stocks[:size])
        i = 0
        for w in range(n):
            if patient[w] == kind:
                hands[w] = some_hands[i]
                for k in range(ORDER):
                    stocks[w, k] = some_stocks[i, k]
                i += 1


@kernel
def search(view, rules, params, key, actions, priors, n, end, values, alive):
    """Play candidates out in sampled worlds and return ``(best, seen)``: the best one's place, and the worlds played.

    Args:
        view, rules, params, key: As a policy's.
        actions, priors, n: The candidates (see `find_candidates`).
        end: When it must be done (`agents.clock.deadline`); 0 for no limit.
        values: float64, shape (n, worlds), written: `worth` of each candidate in each world, while it was in the race.
        alive: int8, shape (n,), written: who was not dropped.
    """
    most = values.shape[1]
    batch = min(most, TIMED_BATCH if end > 0 else BATCH)
    hands, stocks, patient = np.empty(batch, np.int64), np.empty((batch, ORDER), np.uint8), np.empty(batch, np.int8)
    tables, views = np.empty(2, dtype=STATE), np.empty(3, dtype=VIEW)
    alive[:n] = 1
    best, left = 0, n
    next_look = FIRST_LOOK
    for w in range(most):
        i = w % batch
        if i == 0:
            sample_batch(view, rules, params, mix(key, w), hands, stocks, patient)
            if w == 0:
                make_state(view, rules, hands[0], stocks[0], tables[0])
                look(tables[0], rules, 0, views[2])
        set_hidden(view, hands[i], stocks[i], tables[0])
        for c in range(n):
            if alive[c]:
                tables[1] = tables[0]
                views[0] = views[2]
                step(tables[1], rules, actions[c])
                points = finish_hand(tables[1], rules, views, 1, params, patient[i] == 1, mix(key, -1 - w))
                values[c, w] = worth(view, rules, params, points)
        late = end > 0 and nanoseconds() >= end
        if w + 1 == next_look or w + 1 == most or late:
            best, left = drop_losers(values, priors, alive, n, w + 1)
            next_look *= 2
            if left == 1 or late:
                return best, w + 1
    return best, most


@policy
def choose(view, rules, params, key):
    """Choose by search where there is a choice that matters: what to discard, and whether to knock."""
    if view["phase"] != DISCARD_PHASE:
        network = np.int64(params[NETWORK])
        if network > 0:
            return ppo.choose(view, rules, params[network:], key)
        return draw_or_take(view, rules, params[HINTS + heuristic.GAIN])
    if (view["choices"] >> BIG_GIN) & 1 == 1:
        return BIG_GIN
    end = deadline(view, params[MS], params[BANK])
    actions, priors = np.empty(ORDER + 1, np.int64), np.empty(ORDER + 1, np.float64)
    n, gin = find_candidates(view, rules, params, actions, priors)
    if gin:
        return actions[n - 1]
    if n == 1:
        return actions[0]
    most = MOST_WORLDS if params[MS] > 0 or params[BANK] > 0 else np.int64(params[WORLDS])
    values, alive = np.empty((n, most), np.float64), np.empty(n, np.int8)
    best, _ = search(view, rules, params, key, actions, priors, n, end, values, alive)
    return actions[best]


def params_of(options: Mapping[str, Any]) -> np.ndarray:
    """Return the options, and the params of the policies it plays out with, as the policy wants them: float64."""

    def of(kind: Any, **changes: float) -> list[float]:
        return [float(changes.get(name, option.default)) for name, option in kind.AGENT.options.items()]

    own = [float(options[name]) for name in OPTIONS if name != "policy"]
    policies = of(lean, until=options["until"], ways=1.3) + of(lean) + of(simple) + of(heuristic)
    chances = game_table(PRESETS["eaai"]).mean(axis=0).ravel() if options["game"] else np.zeros(0)
    start, network = 0.0, np.zeros(0)
    if options["policy"] != "heuristic":
        start = 1.0 + len(own) + len(policies) + len(chances)
        network = make_network("mc", "" if options["policy"] == "ppo" else str(options["policy"])).params
    return np.concatenate([own, [start], policies, chances, network])


def _make(spec: str, options: Mapping[str, Any]) -> NativeAgent:
    return NativeAgent(spec, choose, params_of(options))


OPTIONS = {
    "worlds": Option(128, "worlds a decision", 1, MOST_WORLDS),
    "ms": Option(0.0, "milliseconds a decision, in place of `worlds` (0: as many worlds as it says)", 0, 1e6),
    "bank": Option(0.0, "seconds a game, shared out over its decisions, likewise", 0, 1e6),
    "prior": Option(1.0, "points for each unit of the policy's logits, or of the one-ply score", 0, 100),
    "width": Option(5, "discards that are played out, at most", 1, 52),
    "patient": Option(0.5, "share of worlds where the opponent waits for gin after the first turns", 0, 1),
    "deadwood": Option(worlds.DEADWOOD, "sampling: weight of the opponent's deadwood a turn (0: none)", 0, 10),
    "gone": Option(worlds.GONE, "sampling: weight of a card they let go that would have melded (0: none)", 0, 100),
    "policy": Option("ppo", "who proposes: `ppo`, a file of its weights, or `heuristic`"),
    "game": Option(0, "1: search for the chance to win the game, not for the hand's points", 0, 1),
    "until": Option(5, "own turn from which it waits for gin in what it plays out", 0, 1000),
}

AGENT = Kind("plays what a policy proposes out in sampled worlds", _make, OPTIONS)


@kernel
def rate_actions(view, rules, params, key, actions, values, kinds):
    """Play every action out in the same sampled worlds: what `search` does, with none dropped.

    Args:
        view, rules, params, key: As a policy's.
        actions: int64, shape (n,): legal actions of the viewer.
        values: float64, shape (n, worlds), written: points of the viewer less the opponent's.
        kinds: int8, of the same shape, written: how the hand ended, a `ginenv.state.Kind`; negative where the opponent
            won it.
    """
    n_worlds = values.shape[1]
    hands, stocks = np.empty(n_worlds, np.int64), np.empty((n_worlds, ORDER), np.uint8)
    patient = np.empty(n_worlds, np.int8)
    sample_batch(view, rules, params, mix(key, 0), hands, stocks, patient)
    tables, views = np.empty(2, dtype=STATE), np.empty(3, dtype=VIEW)
    make_state(view, rules, hands[0], stocks[0], tables[0])
    look(tables[0], rules, 0, views[2])
    for w in range(n_worlds):
        set_hidden(view, hands[w], stocks[w], tables[0])
        for c in range(actions.shape[0]):
            tables[1] = tables[0]
            views[0] = views[2]
            step(tables[1], rules, actions[c])
            values[c, w] = finish_hand(tables[1], rules, views, 1, params, patient[w] == 1, mix(key, -1 - w))
            kind = np.int8(tables[1]["kind"])
            kinds[c, w] = -kind if tables[1]["winner"] == 1 else kind
