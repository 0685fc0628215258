"""What an episode is, for every environment: one hand or a whole game, and the rewards of its steps."""

from __future__ import annotations

from math import isfinite

import numpy as np

from ginenv.deal import cut_short
from ginenv.jit import kernel
from ginenv.ledger import above_others, game_over, game_winner, margin, round_net, score_lead, standing
from ginenv.rules import SEATINGS
from ginenv.state import NO_SEAT, OVER_PHASE
from ginenv.step import step

EPISODES = ("hand", "game")
REWARDS = ("points", "win")

RUNNING, NEXT_HAND, ENDED, TRUNCATED = 0, 1, 2, 3
_PARTNERS = SEATINGS.index("partners")


def choice(name: str, value: str, there: tuple[str, ...]) -> int:
    """Return the index of ``value`` among the choices. Raises ValueError naming what there is."""
    if not isinstance(value, str) or value not in there:
        raise ValueError(f"environment: {name}={value!r} should be {' or '.join(there)}")
    return there.index(value)


def checked_count(name: str, value: object) -> int:
    """Return a number of tables. Raises ValueError when it is no whole number from 1."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"environment: {name}={value!r} should be a whole number from 1")
    return int(value)


def checked_reward(name: str, value: object) -> float:
    """Return a reward. Raises ValueError when it is no finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)) or not isfinite(value):
        raise ValueError(f"environment: {name}={value!r} should be a number")
    return float(value)


@kernel
def advance(s, rules, episode, reward, action, rewards):
    """Play a legal action and say what it earned.

    Args:
        s: A STATE record of a hand in play.
        rules: A RULES record.
        episode: Index in `EPISODES`.
        reward: Index in `REWARDS`. ``points``: what a hand scores, the loser's negative (in a game of Hollywood as
            often as it is entered in a column); the last step of a game also adds what boxes and bonuses change, so
            that a game's rewards add up to its margin. ``win``: 1 and -1 when the episode ends, 0 for a dead hand. Of
            more than two, each is given what he scored less the mean of the others' (`ginenv.ledger.above_others`); a
            win is 1 and -1 shared by the others; partners (V6) are given the same, and a round's two hands are one.
        action: A legal action id.
        rewards: Written: float32, shape (players of the game,), by player (`ginenv.state.STATE`). Their sum is 0.

    Returns:
        RUNNING; NEXT_HAND when the hand has ended and the game goes on, so that `ginenv.deal.deal` is due; ENDED; or
        TRUNCATED where the limit on turns cut an episode of one hand short (H15), or one of a round's two (V6).
    """
    for player in range(rewards.shape[0]):
        rewards[player] = 0
    before = score_lead(s, rules) if rules["hollywood"] else 0
    step(s, rules, action)
    if s["phase"] != OVER_PHASE:
        return RUNNING
    if rules["people"] > 2:
        return _finish_many(s, rules, episode, reward, rewards)
    lead = np.int64(s["points"][0]) - np.int64(s["points"][1])
    winner = np.int64(s["winner"])
    outcome = NEXT_HAND
    if episode == 0:
        outcome = TRUNCATED if cut_short(s, rules) else ENDED
    else:
        if rules["hollywood"]:  # what the columns took of the hand
            lead = score_lead(s, rules) - before
        if game_over(s, rules):
            outcome = ENDED
            winner = np.int64(game_winner(s, rules))
            lead += margin(s, rules, 0) - score_lead(s, rules)
    if reward == 0:
        rewards[0] = lead
        rewards[1] = -lead
    elif outcome != NEXT_HAND and winner != NO_SEAT:
        rewards[winner] = 1
        rewards[1 - winner] = -1
    return outcome


@kernel
def _finish_many(s, rules, episode, reward, rewards):
    """Do as `advance` where a hand of more than two people has ended."""
    partners = rules["seating"] == _PARTNERS
    if partners and s["hand_number"] % 2 == 1:
        return NEXT_HAND
    people = np.int64(rules["people"])
    winner = np.int64(s["winner"])
    if partners:
        net = round_net(s)
        winner = np.int64(NO_SEAT) if net == 0 else np.int64(net < 0)
    outcome = NEXT_HAND
    if episode == 0:
        outcome = TRUNCATED if s["cut"] != 0 or cut_short(s, rules) else ENDED
    elif game_over(s, rules):
        outcome = ENDED
        winner = np.int64(game_winner(s, rules))
    for seat in range(people):
        if reward == 0:
            if partners:
                gain = np.float64(net if seat % 2 == 0 else -net)
            else:
                gain = above_others(s["points"], rules, seat)
            if episode != 0 and outcome == ENDED:
                gain += standing(s, rules, seat) - above_others(s["scores"], rules, seat)
        elif outcome == NEXT_HAND or winner == NO_SEAT:
            gain = 0.0
        elif partners:
            gain = 1.0 if seat % 2 == winner else -1.0
        else:
            gain = 1.0 if seat == winner else -1.0 / (people - 1)
        rewards[s["player"][seat]] = gain
    return outcome
