"""A position as a person tells it, made into a VIEW: for tools that are asked about a hand."""

from __future__ import annotations

import numpy as np

from ginenv.cards import NO_CARD, card_list, card_mask, cards_text, count
from ginenv.melds import deadwood, knock_discards
from ginenv.rules import Rules, refuse_more_actions
from ginenv.state import BIG_GIN, DRAW, TAKE, Phase
from ginenv.view import VIEW


def position(
    hand: str,
    rules: Rules,
    *,
    pile: str = "",
    threw: str = "",
    took: str = "",
    refused: str = "",
    turn: int | None = None,
    scores: tuple[int, int] = (0, 0),
    upcard: str = "",
) -> np.ndarray:
    """Return the VIEW of a hand as a person would tell it: VIEW, shape (1,), for two players.

    Args:
        hand: Own cards: ten before the draw, eleven before the discard; the last of eleven is the one just drawn.
        rules: What is played; under Oklahoma (V1) the knock limit is by the first upcard.
        pile: The discard pile from the bottom up; the first upcard is at the bottom, unless it was taken.
        threw: Which of these the opponent threw.
        took: What the opponent took from the pile and still holds.
        refused: Upcards that the opponent passed over.
        turn: Own turn, from 1, this one included; default: as the pile tells.
        scores: Own and the opponent's.
        upcard: The first upcard, wherever it lies now; default: the bottom of the pile.

    Raises:
        ValueError: for cards that cannot lie so, in one sentence.
    """
    own, piled, taken = card_list(hand), card_list(pile), card_list(took)
    refuse_more_actions(rules, "an analysis")
    dealt = rules.cards_dealt
    if len(own) not in (dealt, dealt + 1):
        raise ValueError(
            f"the hand has {len(own)} cards: {dealt} before a draw or {dealt + 1} before a discard are due"
        )
    mid_turn = len(own) == dealt + 1
    if twice := [c for c in own if c in piled + taken] + [c for c in piled if c in taken]:
        raise ValueError(f"{cards_text(twice)}: a card lies in one place only")
    if foreign := [c for c in card_list(threw) if c not in piled]:
        raise ValueError(
            f"{cards_text(foreign)} was thrown, so it lies in the pile or was taken: it is not in the pile"
        )
    if len(taken) > dealt:
        raise ValueError(f"the opponent took {len(taken)} cards and holds {dealt}")
    if not mid_turn and not piled:
        raise ValueError("before a draw there is a card to take: name the pile")
    deck = int(rules.record["deck"])
    seen = card_mask(own) | card_mask(piled) | card_mask(taken)
    if seen & ~deck:
        raise ValueError(f"{cards_text(seen & ~deck)} is not in this deck")
    v = np.zeros(1, dtype=VIEW)[0]
    turned = card_list(upcard)
    if upcard and (len(turned) != 1 or not card_mask(turned) & seen):
        raise ValueError(
            f"the first upcard is {upcard}: one card is due, of the hand, the pile or what the opponent took"
        )
    if rules.oklahoma and not turned and not piled:
        raise ValueError(
            "the first upcard sets the knock limit (V1): name it, or the pile, which it lies at the bottom of"
        )
    unseen = deck & ~seen
    n_stock = int(count(unseen)) - (dealt - len(taken))
    # Whoever drew the last card that may be drawn can still knock (H11).
    if n_stock < rules.dead_stock or (n_stock == rules.dead_stock and not mid_turn):
        raise ValueError(f"that leaves {n_stock} cards in the stock: the hand would be over")
    for ring in ("pile", "draws", "throws"):
        v[ring] = NO_CARD
    v["hand"], v["unseen"], v["in_pile"] = card_mask(own), unseen, card_mask(piled)
    v["known"][1], v["thrown"][1], v["refused"][1] = card_mask(taken), card_mask(threw), card_mask(refused)
    v["thrown"][0] = card_mask(piled[1:]) & ~card_mask(threw)
    v["pile"][: len(piled)] = piled
    v["n_pile"], v["top"] = len(piled), piled[-1] if piled else NO_CARD
    v["n_stock"] = n_stock
    v["scores"][:2] = scores
    v["cards"][:2] = len(own), dealt
    own_turn = turn if turn is not None else max(1, (len(piled) + 1) // 2)
    if own_turn < 1:
        raise ValueError(f"turn {own_turn}: own turns count from 1")
    if 2 * own_turn - 1 > rules.turn_limit:
        raise ValueError(f"turn {own_turn}: a hand of these rules ends after {rules.turn_limit} turns of both")
    begun = own_turn if mid_turn else own_turn - 1
    v["own_turn"], v["turn"] = begun, 2 * own_turn - 1 if mid_turn else 2 * own_turn - 2
    v["players"], v["mover"], v["first"], v["dealer"] = 2, 0, 0, 1
    v["upcard"] = (turned or piled or taken or own[-1:])[0]
    v["knock_limit"], v["multiplier"] = _limit(rules, int(v["upcard"]))
    v["drawn"] = NO_CARD
    if mid_turn:
        longest = rules.longest_meld
        now = int(deadwood(v["hand"], longest))
        v["phase"], v["drawn"], v["mid_deadwood"] = Phase.DISCARD, own[-1], now
        v["discards"] = v["hand"]
        v["knocks"] = knock_discards(v["hand"], now, v["hand"], int(v["knock_limit"]), longest)
        v["choices"] = 1 << BIG_GIN if rules.big_gin and now == 0 else 0
        v["draws"][(int(v["turn"]) - 1) % 64] = own[-1]
    else:
        v["phase"], v["choices"] = Phase.DRAW, 1 << DRAW | 1 << TAKE
    out = np.zeros(1, dtype=VIEW)
    out[0] = v
    return out


def _limit(rules: Rules, upcard: int) -> tuple[int, int]:
    """Return the knock limit and the multiplier of a hand (V1)."""
    if not rules.oklahoma:
        return rules.knock_limit, 1
    rank = upcard % 13
    limit = 0 if rules.ace_means_gin and rank == 0 else min(rank + 1, 10)
    return limit, 2 if rules.spades_double and upcard < 13 else 1
