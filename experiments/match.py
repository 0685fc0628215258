"""Mirrored matches: a pair is two games on the same decks, the agents' seats swapped.

Two native agents play in one compiled loop. Any other agent plays many tables in step, one batch of VIEWs a move. Both
ways give the same games: decks follow from the pair's seed, an agent's randomness from the pair, its side and the place
in the game.

Whoever saw both games of a pair would know the other hand. So all first games are played before all second ones, each
by a copy of the agent that was given (`own_copy`), and no array is shared between calls. What an agent's code keeps in
places that a copy does not reach (a module's globals, files, another process) is beyond this: read the code of an
agent before you believe its results.
"""

from __future__ import annotations

import copy

import numba
import numpy as np
from numba import types

from agents.playout import NO_FORFEIT, decision_key, play_hand
from agents.protocol import PARAMS, POLICY_POINTER, Agent, NativeAgent
from ginenv.deal import deal, new_game
from ginenv.envs.opponent import ask, exact_copy
from ginenv.hands import KINDS
from ginenv.jit import kernel
from ginenv.ledger import LONGEST_GAME, game_over, game_winner, margin
from ginenv.rng import apart, mix
from ginenv.rules import RULES_TYPE, Rules, check_two, refuse_more_actions
from ginenv.state import NO_SEAT, OVER_PHASE, STATE_TYPE, Kind, new_states
from ginenv.step import is_legal, step
from ginenv.view import VIEW, VIEW_TYPE, look

GAME = np.dtype(
    [
        ("pair", np.int64),
        ("a_seat", np.int8),  # 0 in a pair's first game, 1 in its second
        ("winner", np.int8),  # A (0), B (1), or NOBODY
        ("forfeit", np.int8),  # who lost the game by an illegal action, or NOBODY
        ("margin", np.int32),  # by how many points A won (negative: lost), bonuses included
        ("points", np.int32, (2,)),  # scored in hands by A and by B, without boxes and bonuses
        ("hands", np.int32),
        ("finishes", np.int32, (2, 6)),  # hands won by A and B, by Kind
        ("dead", np.int32),  # dead hands
        ("turns", np.int32),  # draws, of both
        ("knock_deadwood", np.int32),  # summed over the knockers of knocks and undercuts
        ("starter_wins", np.int32),  # hands won by the non-dealer
    ],
    align=True,
)
"""The result of one game between A and B."""

FINISHES = {int(kind): KINDS[kind] for kind in (Kind.KNOCK, Kind.GIN, Kind.BIG_GIN, Kind.UNDERCUT)}
"""How a hand of a match can be won, by place in ``finishes``; the open table is not played in matches."""

HAND = np.dtype(
    [
        ("pair", np.int64),
        ("turns", np.int16),  # draws of both seats
        ("points", np.int16),  # to the winner
        ("kind", np.int8),
        ("knocker", np.int8),  # A (0), B (1), or NOBODY
        ("winner", np.int8),
        ("starter", np.int8),  # who was not the dealer
        ("knocker_deadwood", np.uint8),
        ("defender_deadwood", np.uint8),  # after layoffs
        ("knock_turn", np.int16),  # which of the knocker's own turns it was, from 1
    ],
    align=True,
)
"""The result of one hand, for studies of play."""

A, B, NOBODY = 0, 1, -1

PAIR_STREAM = 1 << 41
_SIDE_STREAM = 1 << 42
_PAIRS_AT_ONCE = 100
_KNOCK, _UNDERCUT, _DEAD = int(Kind.KNOCK), int(Kind.UNDERCUT), int(Kind.DEAD)


@kernel
def pair_seed(seed, pair):
    """Return the seed of the games of pair number ``pair`` (int64)."""
    return mix(mix(seed, PAIR_STREAM), pair)


@kernel
def begin_game(s, rules, seed, pair, game):
    """Start a game of a pair in STATE ``s`` and its record in GAME ``game`` (``a_seat`` already set)."""
    new_game(s, rules, pair_seed(seed, pair))
    game["pair"] = pair
    game["winner"] = NOBODY
    game["forfeit"] = NOBODY


@kernel
def side_key(root, pair, side):
    """Return the stream of randomness of side A (0) or B (1) in a pair; ``root`` is `apart` of the seed."""
    return mix(pair_seed(root, pair), _SIDE_STREAM + side)


@kernel
def enter_result(s, rules, starter, game, hand):
    """Add the finished hand in STATE ``s`` to its game, and write it to HAND ``hand``.

    Args:
        starter: The hand's non-dealer (the ledger has named the next dealer by now).
    """
    a_seat = np.int64(game["a_seat"])
    kind = s["kind"]
    game["hands"] += 1
    game["turns"] += s["turn"]
    hand["pair"] = game["pair"]
    hand["turns"] = s["turn"]
    hand["kind"] = kind
    hand["starter"] = starter ^ a_seat
    hand["points"] = 0
    hand["knocker"] = NOBODY
    hand["winner"] = NOBODY
    hand["knocker_deadwood"] = 0
    hand["defender_deadwood"] = 0
    hand["knock_turn"] = 0
    if kind == _DEAD:
        game["dead"] += 1
        return
    winner, knocker = np.int64(s["winner"]), np.int64(s["knocker"])
    side = winner ^ a_seat
    game["points"][side] += s["points"][winner]
    game["finishes"][side, kind] += 1
    if kind == _KNOCK or kind == _UNDERCUT:  # noqa: SIM109 - cheaper than a tuple in a kernel
        game["knock_deadwood"] += s["deadwood"][knocker]
    if winner == starter:
        game["starter_wins"] += 1
    hand["points"] = s["points"][winner]
    hand["knocker"] = knocker ^ a_seat
    hand["winner"] = side
    hand["knocker_deadwood"] = s["deadwood"][knocker]
    hand["defender_deadwood"] = s["deadwood"][1 - knocker]
    hand["knock_turn"] = (s["turn"] + 1) // 2


@kernel
def enter_game(s, rules, forfeit, game):
    """Write who won the finished game in STATE ``s``; ``forfeit`` is the seat that acted illegally, or NOBODY."""
    a_seat = np.int64(game["a_seat"])
    if forfeit != NO_FORFEIT:
        game["forfeit"] = forfeit ^ a_seat
        game["winner"] = 1 - (forfeit ^ a_seat)
        return
    game["margin"] = margin(s, rules, a_seat)
    winner = game_winner(s, rules)
    if winner != NO_SEAT:
        game["winner"] = winner ^ a_seat


@kernel(
    signature=types.int64(
        POLICY_POINTER, PARAMS, POLICY_POINTER, PARAMS, RULES_TYPE, types.int64,
        types.int64, types.int64, numba.from_dtype(GAME)[:, ::1], numba.from_dtype(HAND)[::1],
        STATE_TYPE[::1], VIEW_TYPE[::1],
    )
)  # fmt: skip
def _play_native(policy_a, params_a, policy_b, params_b, rules, seed, root, first, games, hands, states, views):
    """Play the pairs ``first`` … first+n-1 into ``games``, shape (n, 2); hands while there is room. Returns the
    hands.
    """
    s = states[0]
    n_hands = 0
    keep = hands.shape[0] - 1  # the last record is scratch
    for n in range(games.shape[0]):
        pair = first + n
        key_a, key_b = side_key(root, pair, A), side_key(root, pair, B)
        for swap in range(2):
            game = games[n, swap]
            game["a_seat"] = swap
            begin_game(s, rules, seed, pair, game)
            while True:
                starter = np.int64(s["first"])
                if swap == 0:
                    forfeit = play_hand(s, rules, views, policy_a, params_a, key_a, policy_b, params_b, key_b)
                else:
                    forfeit = play_hand(s, rules, views, policy_b, params_b, key_b, policy_a, params_a, key_a)
                if forfeit == NO_FORFEIT:
                    enter_result(s, rules, starter, game, hands[min(n_hands, keep)])
                    n_hands += 1
                    if not game_over(s, rules):
                        deal(s, rules)
                        continue
                enter_game(s, rules, forfeit, game)
                break
    return n_hands


def own_copy(agent: Agent) -> Agent:
    """Return a copy of ``agent`` as it is now, so that what one learns in its games is not known to another.

    It is ``copy.deepcopy``: an agent that holds what cannot be copied (a process, a socket) plays all games itself, and
    so does one whose ``__deepcopy__`` returns itself, to gather data for one. Native agents have no memory.
    """
    if isinstance(agent, NativeAgent):
        return agent
    try:
        return copy.deepcopy(agent)
    except Exception:  # whatever a stranger's object does
        return agent


def _play_in_step(
    a: Agent, b: Agent, rules: Rules, seed: int, first: int, swap: int, games: np.ndarray
) -> list[np.ndarray]:
    """Play the first games (``swap`` 0) or the second ones (1) of some pairs side by side.

    Args:
        a, b: The agents; all decisions of one in one move are a batch.
        rules, seed: Of the match.
        first: Number of the first pair.
        swap: A's seat.
        games: GAME, shape (n,), written.

    Returns:
        The hands in the order of their ends: HAND, shape (1,) each.
    """
    n = len(games)
    states, views, record = new_states(n), np.zeros(n, dtype=VIEW), rules.record
    starters = np.zeros(n, dtype=np.int64)
    hands: list[np.ndarray] = []
    keys, root = np.zeros((n, 2), dtype=np.int64), apart(seed)
    games["a_seat"] = swap
    for at in range(n):
        begin_game(states[at], record, seed, first + at, games[at])
        starters[at] = states[at]["first"]
        keys[at] = side_key(root, first + at, A), side_key(root, first + at, B)
    running = np.ones(n, dtype=bool)
    row = np.zeros(1, dtype=HAND)
    while running.any():
        sides = states["seat"].astype(np.int64) ^ swap
        for side, agent in ((A, a), (B, b)):
            tables = np.flatnonzero(running & (sides == side))
            if not len(tables):
                continue
            _look_all(
                states, record, tables, keys[:, side].copy(), views, decision_keys := np.zeros(len(tables), np.int64)
            )
            actions = ask(agent, views[: len(tables)], rules, decision_keys)
            for i, action in zip(tables, actions, strict=True):
                s, game = states[i], games[i]
                forfeit: int = NO_FORFEIT
                if not is_legal(s, int(action)):
                    forfeit = int(s["seat"])
                else:
                    step(s, record, int(action))
                    if s["phase"] != OVER_PHASE:
                        continue
                    enter_result(s, record, starters[i], game, row[0])
                    hands.append(exact_copy(row))
                    if not game_over(s, record):
                        deal(s, record)
                        starters[i] = s["first"]
                        continue
                enter_game(s, record, forfeit, game)
                running[i] = False
    return hands


@kernel
def _look_all(states, rules, tables, keys, views, decision_keys):
    """Write the movers' VIEWs of the given tables to the front of ``views``, and the keys of their decisions."""
    for n in range(tables.shape[0]):
        s = states[tables[n]]
        look(s, rules, s["seat"], views[n])
        decision_keys[n] = decision_key(s, keys[tables[n]])


def play_pairs(
    a: Agent, b: Agent, rules: Rules, seed: int, first: int, n: int, *, keep_hands: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Play ``n`` mirrored pairs between ``a`` and ``b``.

    Args:
        a, b: The agents. Each that is not native plays by two fresh copies (`own_copy`), one for either seat, and
            learns nothing itself.
        rules: What they play.
        seed: Of the match. Pairs of the same seed and number have the same decks, whoever plays.
        first: Number of the first pair.
        n: How many pairs.
        keep_hands: Return each hand, too.

    Returns:
        ``(games, hands)``: GAME, shape (n, 2), and HAND, shape (number of hands,), sorted by pair; empty unless
        asked for.

    Raises:
        AgentError: when an agent fails; the message names it.
        ValueError: when the rules are not for two players (`check_two`), or have actions that agents do not know.
    """
    check_two(rules)
    refuse_more_actions(rules, "a match of agents")
    games = np.zeros((n, 2), dtype=GAME)
    rows: list[np.ndarray] = [np.zeros(0, dtype=HAND)]
    if isinstance(a, NativeAgent) and isinstance(b, NativeAgent):
        # A few pairs at a time, so that there is room for the longest games without much of it.
        size = _PAIRS_AT_ONCE if keep_hands else max(n, 1)
        longest = LONGEST_GAME if rules.hands is None else rules.hands
        room = np.zeros(1 + (2 * longest * min(n, size) if keep_hands else 0), dtype=HAND)
        state, views = new_states(1), np.zeros(2, dtype=VIEW)
        for at in range(0, n, size):
            used: int = _play_native(
                a.policy, a.params, b.policy, b.params, rules.record, seed, apart(seed), first + at,
                games[at : at + size], room, state, views,
            )  # fmt: skip
            if keep_hands:
                rows.append(exact_copy(room[:used]))
    else:
        for swap in (0, 1):
            played = _play_in_step(own_copy(a), own_copy(b), rules, seed, first, swap, games[:, swap])
            rows += played if keep_hands else []
        rows[1:] = sorted(rows[1:], key=lambda row: int(row["pair"][0]))  # stable: first games stay before second ones
    # As bytes, so that equal hands are equal to the byte (`exact_copy`).
    return games, np.concatenate([row.view(np.uint8) for row in rows]).view(HAND)
