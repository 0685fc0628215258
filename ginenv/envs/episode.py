"""What an episode is, for every environment: one hand or a whole game, and the rewards of its steps."""

from __future__ import annotations

from ginenv.deal import deal
from ginenv.jit import kernel
from ginenv.ledger import game_over, game_winner, margin
from ginenv.state import OVER_PHASE, Kind
from ginenv.step import step

EPISODES = ("hand", "game")
REWARDS = ("points", "win")

RUNNING, ENDED, TRUNCATED = 0, 1, 2
_DEAD = int(Kind.DEAD)


def choice(name: str, value: str, there: tuple[str, ...]) -> int:
    """Return the index of ``value`` among the choices. Raises ValueError naming what there is."""
    if value not in there:
        raise ValueError(f"environment: {name}={value!r} should be {' or '.join(there)}")
    return there.index(value)


@kernel
def advance(s, rules, episode, reward, action, rewards):  # type: ignore[no-untyped-def]
    """Play a legal action and say what it earned.

    Args:
        s: A STATE record of a hand in play. In a game, the next hand is dealt at once when one ends.
        rules: A RULES record.
        episode: Index in `EPISODES`.
        reward: Index in `REWARDS`. ``points``: what a hand scores, the loser's negative; the last step of a game also adds what
            boxes and bonuses change, so that a game's rewards add up to its margin. ``win``: 1 and -1 when
            the episode ends, 0 for a dead hand.
        action: A legal action id.
        rewards: Written: float32, shape (2,), by seat.

    Returns:
        RUNNING, ENDED, or TRUNCATED where the limit on turns cut an episode of one hand short (H15).
    """
    rewards[0] = 0
    rewards[1] = 0
    step(s, rules, action)
    if s["phase"] != OVER_PHASE:
        return RUNNING
    points = s["points"]
    lead = points[0] - points[1]
    if episode == 0:
        outcome = ENDED
        winner = s["winner"]
        if s["kind"] == _DEAD and s["turn"] >= rules["turn_limit"] and s["n_stock"] > rules["dead_stock"]:
            outcome = TRUNCATED
    elif game_over(s, rules):
        outcome = ENDED
        winner = game_winner(s, rules)
        scores = s["scores"]
        lead += margin(s, rules, 0) - (scores[0] - scores[1])
    else:
        if reward == 0:
            rewards[0] = lead
            rewards[1] = -lead
        deal(s, rules)
        return RUNNING
    if reward == 0:
        rewards[0] = lead
        rewards[1] = -lead
    elif winner == 0 or winner == 1:
        rewards[winner] = 1
        rewards[1 - winner] = -1
    return outcome
