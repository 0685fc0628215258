"""Games whose decisions to knock are rated as they are met: the kernel of `gin knock study`."""

from __future__ import annotations

import numba
import numpy as np
from numba import types

from agents.playout import decision_key, see
from agents.protocol import PARAMS, POLICY_POINTER
from agents.worlds import sample_worlds
from experiments.knock_values import DECISION, best_knock, rate_knock, set_model, sum_up
from experiments.match import pair_seed, side_key
from ginenv.deal import deal, new_game
from ginenv.jit import kernel
from ginenv.ledger import game_over, game_winner
from ginenv.melds import deadwood
from ginenv.rng import mix
from ginenv.rules import RULES_TYPE
from ginenv.state import BIG_GIN, DISCARD_PHASE, KNOCK, ORDER, OVER_PHASE, STATE, Kind
from ginenv.step import is_legal, step
from ginenv.view import VIEW

TRUTH_STREAM, WORLDS_STREAM = 1 << 43, 1 << 44
_UNDERCUT = int(Kind.UNDERCUT)
_FLOATS, _TABLE, _RULES = types.float64[:, ::1], types.float64[:, :, ::1], RULES_TYPE

FORFEIT_A, FORFEIT_B = -1, -2
"""What is returned when an agent acted illegally."""


@kernel(
    signature=types.int64(
        POLICY_POINTER, PARAMS, POLICY_POINTER, PARAMS, _FLOATS, PARAMS, _FLOATS, _TABLE, _RULES,
        types.int64, types.int64, types.int64, types.int64, types.int64, numba.from_dtype(DECISION)[::1],
    )
)  # fmt: skip
def fill_rows(
    policy_a, params_a, policy_b, params_b, rivals, hints, own, table, rules, seed, root, first, most,
    n_worlds, rows,
):  # fmt: skip
    """Play games between A and B from number ``first`` on and write each decision whether to knock, until ``rows`` is
    full.

    Args:
        policy_a, params_a, policy_b, params_b: The agents; A has seat 0 in even games.
        rivals: float64, shape (2, RIVAL): how A and B play, for the worlds of their opponents.
        hints, own, table, rules: See `rate_knock`.
        seed, root: Of the study; decks and the agents' randomness as in `experiments.match`.
        first, most: Number of the first game, and how many are played at the most.
        n_worlds: Worlds a decision.
        rows: DECISION, shape (n,), written.

    Returns:
        How many rows are full; `FORFEIT_A` or `FORFEIT_B` when an agent acted illegally.
    """
    states, views = np.empty(1, dtype=STATE), np.empty(2, dtype=VIEW)
    ways = own.shape[0]
    hands, stocks = np.empty(n_worlds, np.int64), np.empty((n_worlds, ORDER), np.uint8)
    points, wins = np.empty((1 + ways, n_worlds)), np.empty((1 + ways, n_worlds))
    kinds, turns = np.empty((1 + ways, n_worlds), np.int16), np.empty((1 + ways, n_worlds), np.int16)
    later, model = np.empty(n_worlds, np.int16), np.empty(3)
    true_hand, true_stock = np.empty(1, np.int64), np.empty((1, ORDER), np.uint8)
    true_points, true_wins = np.empty((1 + ways, 1)), np.empty((1 + ways, 1))
    true_kinds, true_turns = np.empty((1 + ways, 1), np.int16), np.empty((1 + ways, 1), np.int16)
    longest = rules["longest_meld"]
    n = 0
    for game in range(first, first + most):
        s = states[0]  # in the loop: a record does not keep its array in memory
        game_begins = n
        a_seat = game & 1
        new_game(s, rules, pair_seed(seed, game))
        key_a, key_b = side_key(root, game, 0), side_key(root, game, 1)
        while True:
            hand_begins, met = n, 0
            while s["phase"] != OVER_PHASE:
                seat = np.int64(s["seat"])
                met = see(s, rules, views, met)
                v = views[seat]
                side = seat ^ a_seat
                if side == 0:
                    action = policy_a(v, rules, params_a, decision_key(s, key_a))
                else:
                    action = policy_b(v, rules, params_b, decision_key(s, key_b))
                if not is_legal(s, action):
                    return FORFEIT_A if side == 0 else FORFEIT_B
                due = v["phase"] == DISCARD_PHASE and (v["knocks"] != 0 or v["choices"] != 0)
                if due and n < rows.shape[0]:
                    row = rows[n]
                    key = mix(mix(root, WORLDS_STREAM + game), np.int64(s["hand_number"]) * 1024 + np.int64(s["turn"]))
                    set_model(v, rivals[1 - side], model)
                    sample_worlds(v, rules, model, key, hands, stocks)
                    true_hand[0] = s["hand"][1 - seat]
                    for i in range(np.int64(s["n_stock"])):
                        true_stock[0, i] = s["order"][i]
                    rival = policy_b if side == 0 else policy_a
                    rival_params = params_b if side == 0 else params_a
                    bad = rate_knock(
                        v, rules, table, own, rival, rival_params, hints, key, -1, hands, stocks,
                        points, wins, kinds, turns, later,
                    )  # fmt: skip
                    bad += rate_knock(
                        v, rules, table, own, rival, rival_params, hints, mix(key, TRUTH_STREAM), -1, true_hand,
                        true_stock, true_points, true_wins, true_kinds, true_turns, later,
                    )  # fmt: skip
                    if bad != 0:
                        return FORFEIT_B if side == 0 else FORFEIT_A
                    sum_up(points, wins, kinds, row)
                    loose = 0
                    for w in range(n_worlds):
                        loose += deadwood(hands[w], longest)
                    _, left = best_knock(v, rules)
                    way = row["way"]
                    row["rival_deadwood"] = loose / n_worlds
                    row["true_knock_points"], row["true_on_points"] = true_points[0, 0], true_points[way, 0]
                    row["true_knock_win"], row["true_on_win"] = true_wins[0, 0], true_wins[way, 0]
                    row["true_undercut"] = 1 if true_kinds[0, 0] == -_UNDERCUT else 0
                    row["true_rival_deadwood"] = deadwood(true_hand[0], longest)
                    row["game"], row["side"] = game, side
                    row["hand"], row["known"], row["refused"] = v["hand"], v["known"][1], v["refused"][1]
                    row["thrown"], row["in_pile"] = v["thrown"][1], v["in_pile"]
                    row["turn"], row["stock"], row["deadwood"] = v["own_turn"], v["n_stock"], left
                    row["limit"], row["multiplier"] = v["knock_limit"], v["multiplier"]
                    row["dealer"] = v["dealer"]
                    row["own_score"], row["other_score"] = v["scores"][0], v["scores"][1]
                    row["knocked"] = 1 if action >= KNOCK or action == BIG_GIN else 0
                    n += 1
                step(s, rules, action)
            for i in range(hand_begins, n):
                seat = np.int64(rows[i]["side"]) ^ a_seat
                rows[i]["points"] = np.int64(s["points"][seat]) - np.int64(s["points"][1 - seat])
            if game_over(s, rules):
                break
            deal(s, rules)
        winner = np.int64(game_winner(s, rules))
        for i in range(game_begins, n):
            rows[i]["won"] = 1 if (np.int64(rows[i]["side"]) ^ a_seat) == winner else 0
        if n == rows.shape[0]:
            break
    return n
