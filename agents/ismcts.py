"""`ismcts`: Monte Carlo tree search over information sets, the reference of the literature on games of hidden cards.

Single-observer ISMCTS (Cowling, Powley and Whitehouse, "Information Set Monte Carlo Tree Search", IEEE Transactions on
Computational Intelligence and AI in Games 4, 2012): one tree, seen from the seat to act, for all worlds. Each iteration
samples a world from the VIEW, goes down the tree by those actions that are legal in it, adds one node, and plays the
hand out. An action is chosen by UCB1 in which the number of a parent's visits is the number of times that the action
was there to be chosen. What the opponent draws from the stock is not seen, so it is one edge; what the searcher draws
is seen, so each card is an edge of its own.

Worlds, rollouts and budgets are those of `agents.mc`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents import mc
from agents.clock import deadline, nanoseconds
from agents.protocol import Kind, NativeAgent, Option, policy
from agents.simple import repeated_discards
from agents.worlds import make_state, set_hidden
from ginenv.cards import lowest
from ginenv.jit import kernel
from ginenv.melds import least_discards, meldable
from ginenv.rng import below, mix
from ginenv.state import BIG_GIN, DISCARD, DISCARD_PHASE, DRAW, KNOCK, N_ACTIONS, ORDER, OVER_PHASE, PASS, STATE, TAKE
from ginenv.step import step
from ginenv.view import VIEW

WORLDS, MS, BANK, EXPLORE = range(4)
"""Places of the options in ``params``."""
ROLLOUT = 4
"""Where the params of `mc` begin, whose worlds and rollouts these are."""

_WORD = 50.0
"""Points that count as 1 in UCB1: most hands are worth less."""
_ROOT = 0

NODE = np.dtype(
    [
        ("action", np.int16),  # that leads here; `N_ACTIONS` + card after one's own draw of that card
        ("mine", np.int16),  # 1 when the searcher chose it
        ("child", np.int32),  # first of them; -1: none
        ("sibling", np.int32),  # next one; -1: none
        ("visits", np.int32),
        ("offered", np.int32),  # visits of the parent in whose world the action was legal
        ("points", np.float64),  # sum over visits, the searcher's less the opponent's
    ],
    align=True,
)
"""A node of the tree: 32 bytes."""


@kernel
def list_actions(s, repeated, rules, actions):
    """Write the actions worth a node, and return how many: int64, shape (56,).

    Of knocks only the one that leaves least; of discards those of loose cards, and of cards that leave least; of
    ``repeated`` ones (`agents.simple.repeated_discards`) none, unless there are no others.

    Args:
        s: STATE or mover's VIEW.
        repeated: Mask of discards that would only go round in circles.
        rules: A RULES record.
        actions: Written.
    """
    n = 0
    for action in (DRAW, TAKE, PASS):
        if (s["choices"] >> action) & 1 == 1:
            actions[n] = action
            n += 1
    if n > 0:
        return n
    if (s["choices"] >> BIG_GIN) & 1 == 1:
        actions[0] = BIG_GIN
        return 1
    hand = s["hand"][s["seat"]]
    now, longest = np.int64(s["mid_deadwood"]), rules["longest_meld"]
    if s["knocks"] != 0:
        cards, left = least_discards(hand, now, s["knocks"], longest)
        actions[0] = KNOCK + lowest(cards)
        n = 1
        if left == 0:
            return 1  # gin is never worth waiting
    allowed = s["discards"] & ~repeated
    if allowed == 0:
        allowed = s["discards"]
    cards, _ = least_discards(hand, now, allowed, longest)
    todo = cards | (allowed & ~meldable(hand))
    while todo != 0:
        actions[n] = DISCARD + lowest(todo)
        todo &= todo - 1
        n += 1
    return n


@kernel
def find_child(nodes, parent, action):
    """Return the child of ``parent`` that ``action`` leads to; -1 when there is none yet."""
    child = nodes[parent]["child"]
    while child >= 0 and nodes[child]["action"] != action:
        child = nodes[child]["sibling"]
    return child


@kernel
def add_child(nodes, n, parent, action, mine):
    """Write node ``n``, the child of ``parent`` that ``action`` leads to, and return ``n``."""
    node = nodes[n]
    node["action"], node["mine"] = action, mine
    node["child"], node["sibling"] = -1, nodes[parent]["child"]
    node["visits"], node["offered"], node["points"] = 0, 0, 0.0
    nodes[parent]["child"] = n
    return n


@kernel
def pick(nodes, parent, actions, n_actions, mine, explore, key):
    """Return the place in ``actions`` of the one to try: a new one if there is any, at random, else the best by UCB1.

    All legal actions' nodes are marked as offered.
    """
    new, best, best_score = 0, 0, -1e18
    for i in range(n_actions):
        child = find_child(nodes, parent, actions[i])
        if child < 0:
            actions[new], actions[i] = actions[i], actions[new]  # new ones to the front
            new += 1
            continue
        nodes[child]["offered"] += 1
    if new > 0:
        return below(key, 0, new), True
    for i in range(n_actions):
        node = nodes[find_child(nodes, parent, actions[i])]
        mean = node["points"] / (node["visits"] * _WORD)
        score = (mean if mine else -mean) + explore * np.sqrt(np.log(np.float64(node["offered"])) / node["visits"])
        if score > best_score:
            best, best_score = i, score
    return best, False


@kernel
def grow(view, rules, params, key, nodes):
    """Grow a tree from a VIEW whose seat has to act, and return the iterations made: at most half the nodes.

    Args:
        view, rules, params, key: As a policy's.
        nodes: NODE, shape (n,), written; the root is the first.
    """
    most = (nodes.shape[0] - 1) // 2
    end = deadline(view, params[MS], params[BANK])
    batch = min(most, mc.TIMED_BATCH if end > 0 else mc.BATCH)
    hands, stocks, patient = np.empty(batch, np.int64), np.empty((batch, ORDER), np.uint8), np.empty(batch, np.int8)
    tables, views = np.empty(2, dtype=STATE), np.empty(2, dtype=VIEW)
    actions, path = np.empty(N_ACTIONS, np.int64), np.empty(most + 1, np.int64)
    root = nodes[_ROOT]
    root["child"], root["sibling"], root["visits"] = -1, -1, 0
    repeated = repeated_discards(view) if view["phase"] == DISCARD_PHASE else np.int64(0)
    n = 1
    for w in range(most):
        i = w % batch
        if i == 0:
            mc.sample_batch(view, rules, params[ROLLOUT:], mix(key, w), hands, stocks, patient)
            if w == 0:
                make_state(view, rules, hands[0], stocks[0], tables[0])
                if list_actions(tables[0], repeated, rules, actions) == 1:  # nothing to think about
                    add_child(nodes, 1, _ROOT, actions[0], 1)
                    return 0
        set_hidden(view, hands[i], stocks[i], tables[0])
        tables[1] = tables[0]
        s, stream = tables[1], mix(key, -1 - w)
        node, depth, grown = _ROOT, 0, False
        while s["phase"] != OVER_PHASE and not grown:
            seat = np.int64(s["seat"])
            n_actions = list_actions(s, repeated if node == _ROOT else 0, rules, actions)
            place, grown = pick(nodes, node, actions, n_actions, seat == 0, params[EXPLORE], mix(stream, depth))
            action = actions[place]
            if grown:
                node = add_child(nodes, n, node, action, seat == 0)
                nodes[node]["offered"] = 1
                n += 1
            else:
                node = find_child(nodes, node, action)
            path[depth] = node
            depth += 1
            step(s, rules, action)
            if seat == 0 and action == DRAW and not grown:
                seen = N_ACTIONS + np.int64(s["drawn"])
                child = find_child(nodes, node, seen)
                if child < 0:
                    child = add_child(nodes, n, node, seen, 0)
                    n += 1
                node = child
        if s["phase"] == OVER_PHASE:
            points = np.int64(s["points"][0]) - np.int64(s["points"][1])
        else:
            points = mc.finish_hand(s, rules, views, 0, params[ROLLOUT:], patient[i] == 1, stream)
        for d in range(depth):
            nodes[path[d]]["visits"] += 1
            nodes[path[d]]["points"] += points
        if end > 0 and nanoseconds() >= end:
            return w + 1
    return most


@policy
def choose(view, rules, params, key):
    """Choose the action that was visited most."""
    most = mc.MOST_WORLDS if params[MS] > 0 or params[BANK] > 0 else np.int64(params[WORLDS])
    nodes = np.empty(2 * most + 1, dtype=NODE)  # an iteration ends at a new node; before it there may be a card drawn
    grow(view, rules, params, key, nodes)
    best, visits = np.int64(-1), -1
    child = nodes[_ROOT]["child"]
    while child >= 0:
        if nodes[child]["visits"] > visits:
            best, visits = np.int64(nodes[child]["action"]), nodes[child]["visits"]
        child = nodes[child]["sibling"]
    return best


def _make(spec: str, options: Mapping[str, Any]) -> NativeAgent:
    own = [float(options[name]) for name in OPTIONS]
    defaults = {name: option.default for name, option in mc.OPTIONS.items()}
    return NativeAgent(spec, choose, np.concatenate([own, mc.params_of(defaults)]))


OPTIONS = {
    "worlds": Option(1000, "iterations a decision, each in a world of its own", 1, mc.MOST_WORLDS),
    "ms": Option(0.0, "milliseconds a decision, in place of `worlds` (0: as many worlds as it says)", 0, 1e6),
    "bank": Option(0.0, "seconds a game, shared out over its decisions, likewise", 0, 1e6),
    "explore": Option(2.0, "weight of UCB1's exploration, the points of a hand counted in fifties", 0, 100),
}

AGENT = Kind("searches a tree over information sets: the literature's reference", _make, OPTIONS)
