"""The irregularities of document 000: slips of hands and eyes, which cannot happen here.

Each test has the name that the document gives the slip. The illegal knock (I1) has more tests with the actions; the
bluff knock (I2) is still to come.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ginenv.actions import IllegalAction, action_text
from ginenv.cards import BIT, NO_CARD, card_text
from ginenv.envs.aec import raw_env
from ginenv.rules import PRESETS
from ginenv.state import DISCARD, DISCARD_PHASE, DRAW, KNOCK, N_ACTIONS, OVER_PHASE, TAKE, Phase
from ginenv.table import Table, replay
from ginenv.view import VIEW
from tests.common import cards, legal_actions

SEEDS = st.integers(0, 1 << 40)
NAMES = st.sampled_from(sorted(
    name for name, rules in PRESETS.items()
    if rules.players == 2 and rules.scoring == "gin" and not rules.open_table and not rules.reshuffles
))  # fmt: skip
several = settings(max_examples=10, deadline=None)


def walk(preset: str, seed: int, look_at: Callable[[Table], None], hands: int = 2) -> Table:
    """Play hands at random and call ``look_at`` before every action and at every end; return the table."""
    rng, table = random.Random(seed), Table(preset, seed=seed)
    for hand in range(hands):
        while not table.done:
            look_at(table)
            legal = table.legal_actions()
            ends = [action for action in legal if action >= KNOCK]
            table.step(rng.choice(ends) if ends and rng.random() < 0.1 else rng.choice(legal))
        look_at(table)
        if hand + 1 < hands and not table.game_over:
            table.deal()
        else:
            break
    return table


@several
@given(NAMES, SEEDS)
def test_wrong_dealer(preset: str, seed: int) -> None:
    """The dealer follows from the hands before: nobody else can deal, and a record that says otherwise is refused."""
    table = walk(preset, seed, lambda _: None, hands=1)
    if table.game_over:
        return
    due = int(table._s["dealer"])
    table.deal()
    assert table.dealer == due
    first, second = table.record().rsplit("dealer: ", 1)
    with pytest.raises(ValueError, match=rf"seat {due} deals this hand \(H14\)"):
        replay(f"{first}dealer: {1 - due}{second[1:]}")


@several
@given(NAMES, SEEDS)
def test_irregular_hands_have_the_wrong_number_of_cards(preset: str, seed: int) -> None:
    """Ten cards each between turns, eleven only for the seat that has drawn; all 52 are somewhere, once."""
    rules = PRESETS[preset]

    def look_at(table: Table) -> None:
        s = table._s
        held = [cards(int(s["hand"][seat])) for seat in (0, 1)]
        if not table.done:
            extra = table.seat if table.phase == Phase.DISCARD else None
            assert [len(hand) for hand in held] == [rules.cards_dealt + (seat == extra) for seat in (0, 1)]
        pile = set(table.pile)
        stock = {card_text(int(c)) for c in s["order"][: s["n_stock"]]}
        everywhere = [*held[0], *held[1], *pile, *stock]
        face_down = table.done and table.result is not None and table.result.kind not in ("dead", "big_gin")
        assert len(everywhere) == len(set(everywhere)) == 52 - face_down

    walk(preset, seed, look_at)


@several
@given(NAMES, SEEDS)
def test_faced_cards(preset: str, seed: int) -> None:
    """No card lies open but the pile's: of what others hold, a VIEW shows only what was taken from the pile."""

    def look_at(table: Table) -> None:
        if table.phase == Phase.OVER:
            return
        for seat in (0, 1):
            view = table.view(seat)
            open_cards = int(view["hand"]) | int(view["in_pile"])
            for k in (0, 1):
                open_cards |= int(view["known"][k])
            hidden = [int(c) for c in table._s["order"][: table.stock_size]]
            assert not any(open_cards & int(BIT[c]) for c in hidden)
            other = int(table._s["hand"][1 - seat])
            assert open_cards & other == int(table._s["known"][1 - seat])

    walk(preset, seed, look_at, hands=1)


@several
@given(NAMES, SEEDS)
def test_premature_play_out_of_turn(preset: str, seed: int) -> None:
    """Only the seat to act has actions; a record in which the other plays is refused, and so is a second draw."""

    def look_at(table: Table) -> None:
        if table.done:
            return
        waiting = table.view(1 - table.seat)
        assert int(waiting["choices"]) == int(waiting["discards"]) == int(waiting["knocks"]) == 0
        if table.phase == Phase.DISCARD:
            assert not {DRAW, TAKE} & set(table.legal_actions())
        else:
            assert not any(action >= DISCARD for action in table.legal_actions())

    table = walk(preset, seed, look_at, hands=1)
    lines = table.record().splitlines()
    at = next(i for i, line in enumerate(lines) if line[:2] in ("0:", "1:"))
    lines[at] = f"{1 - int(lines[at][0])}{lines[at][1:]}"
    with pytest.raises(ValueError, match=rf"line {at + 1}: it is the turn of seat"):
        replay("\n".join(lines) + "\n")


def test_premature_play_in_an_environment() -> None:
    """An environment has no way to say who acts: the action is always that of the seat to act."""
    env = raw_env()
    env.reset(seed=1)
    for _ in range(12):
        waiting = next(name for name in env.possible_agents if name != env.agent_selection)
        assert not env.observe(waiting)["action_mask"].any()
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(int(np.flatnonzero(mask)[0]))


@several
@given(NAMES, SEEDS)
def test_illegally_seeing_a_card(preset: str, seed: int) -> None:
    """Whatever card is exchanged with one that a seat may not see, the seat sees the same."""
    rng = np.random.default_rng(seed % (1 << 32))

    def look_at(table: Table) -> None:
        if table.done or table.stock_size < 2:
            return
        s, seat = table._s, int(rng.integers(2))
        before = [table.view(seat)[name].tobytes() for name in VIEW.names or ()]
        twin = table.copy()
        t = twin._s
        n = table.stock_size
        t["order"][:n] = rng.permutation(t["order"][:n])  # the stock in another order
        secret = int(s["hand"][1 - seat]) & ~int(s["known"][1 - seat])
        drawn = int(s["drawn"])
        mine = [c for c in range(52) if secret & int(BIT[c]) and c != drawn]
        if mine:  # one of the other's hidden cards against one of the stock
            c, place = mine[int(rng.integers(len(mine)))], int(rng.integers(n))
            d = int(t["order"][place])
            t["hand"][1 - seat] = (int(t["hand"][1 - seat]) & ~int(BIT[c])) | int(BIT[d])
            t["order"][place] = c
            draws = t["draws"]
            for i in range(len(draws)):  # it may have been drawn from the stock in this hand
                if int(draws[i]) == c:
                    draws[i] = d
        after = [twin.view(seat)[name].tobytes() for name in VIEW.names or ()]
        assert after == before

    walk(preset, seed, look_at, hands=1)


@several
@given(NAMES, SEEDS)
def test_looking_at_discards(preset: str, seed: int) -> None:
    """Looking back is allowed to all and no irregularity: every VIEW has the whole pile, in order, as it was thrown."""

    def look_at(table: Table) -> None:
        for seat in (0, 1):
            view = table.view(seat)
            pile = [card_text(int(c)) for c in view["pile"] if int(c) != NO_CARD]
            assert tuple(pile[::-1]) == table.pile  # `pile` of a VIEW begins at the bottom
            assert int(view["n_pile"]) == len(pile)

    walk(preset, seed, look_at, hands=1)


@several
@given(NAMES, SEEDS)
def test_wrong_card_discarded(preset: str, seed: int) -> None:
    """A card that one does not hold, has just taken (H4), or may not knock with cannot be thrown; nothing changes."""
    rng = random.Random(seed)

    def look_at(table: Table) -> None:
        if table.phase != DISCARD_PHASE:
            return
        legal = set(legal_actions(table._s))
        before = table.copy()
        for action in rng.sample([a for a in range(DISCARD, N_ACTIONS) if a not in legal], 5):
            with pytest.raises(IllegalAction, match=action_text(action)):
                table.step(action)
            assert table == before
        held = table.hand(table.seat).split()
        assert {action_text(a).split()[1] for a in legal if a >= DISCARD} <= set(held)

    walk(preset, seed, look_at, hands=1)


@several
@given(NAMES, SEEDS)
def test_illegal_knock(preset: str, seed: int) -> None:
    """I1: every legal knock leaves deadwood within the limit of the hand, so none above it can be made."""

    def look_at(table: Table) -> None:
        if table._s["phase"] == OVER_PHASE and table.result is not None and table.result.kind != "dead":
            assert table.result.knocker_deadwood <= table.knock_limit

    walk(preset, seed, look_at)
