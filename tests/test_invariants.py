"""Random play with every invariant checked after each decision; and the checker itself: it must see what is broken."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agents.random import nth_card
from ginenv.cards import BIT, JOKERS, count
from ginenv.deal import deal, new_game
from ginenv.invariants import BROKEN, broken_invariant, invariants
from ginenv.jit import kernel
from ginenv.ledger import final_total, game_over, game_winner, round_net, standing
from ginenv.melds import least_discards
from ginenv.rng import below, mix
from ginenv.rules import PRESETS, SEATINGS, Rules
from ginenv.state import (
    DISCARD,
    DISCARD_PHASE,
    DRAW_PHASE,
    KNOCK,
    N_ALL_ACTIONS,
    NO_SEAT,
    OVER_PHASE,
    UPCARD_PHASE,
    Kind,
    new_states,
)
from ginenv.step import is_legal, step, write_mask
from tests.common import ALL_RULES, MANY, ODD, positions

EVERY = ALL_RULES | MANY

PARTNERS = SEATINGS.index("partners")
LEDGER = 100
"""Code of `random_play` for a score that is not the sum of the hands' points."""


@kernel
def random_action(s, rules, style, key, mask):
    """Return a legal action: uniform (style 0), knocking when it may (1), or discarding least deadwood (2).

    ``mask``, int8 of shape (652,), is scratch.
    """
    choices, discards, knocks = np.int64(s["choices"]), s["discards"], s["knocks"]
    natural = knocks & ~JOKERS
    if style > 0 and natural != 0 and below(key, 1, 5) > 0:
        return KNOCK + nth_card(natural, below(key, 0, count(natural)))
    if style > 1 and discards != 0 and choices == 0 and s["loose"] == 0 and s["hand"][s["seat"]] & JOKERS == 0:
        cards, _ = least_discards(s["hand"][s["seat"]], np.int64(s["mid_deadwood"]), discards, rules["longest_meld"])
        return DISCARD + nth_card(cards, below(key, 0, count(cards)))
    if rules["more_actions"]:
        write_mask(s, mask)
        pick = below(key, 2, np.int64(mask.sum()))
        for action in range(mask.shape[0]):
            pick -= mask[action]
            if pick < 0:
                return action
    n_choices, n_discards = count(choices), count(discards)
    pick = below(key, 0, n_choices + n_discards + count(knocks))
    if pick < n_choices:
        return nth_card(choices, pick)
    if pick < n_choices + n_discards:
        return DISCARD + nth_card(discards, pick - n_choices)
    return KNOCK + nth_card(knocks, pick - n_choices - n_discards)


@kernel
def random_play(s, rules, seed, n, kinds):
    """Make ``n`` decisions, hand after hand and game after game, and check the STATE after each.

    Returns:
        ``(code, decision)``: 0 when all is sound; ``kinds`` counts how the hands ended.
    """
    games = 0
    mask = np.zeros(N_ALL_ACTIONS, np.int8)
    new_game(s, rules, mix(seed, games))
    people, partners = np.int64(rules["people"]), rules["seating"] == PARTNERS
    sums = np.zeros(people, np.int64)
    style = 0
    for i in range(n):
        code = broken_invariant(s, rules)
        if code != 0:
            return code, i
        action = random_action(s, rules, style, mix(seed, -1 - i), mask)
        if not is_legal(s, action):
            return LEDGER + 1, i
        closed = rules["hollywood"] and s["first_home"] != NO_SEAT  # the first column takes no more (V2)
        step(s, rules, action)
        if s["phase"] != OVER_PHASE:
            continue
        code = broken_invariant(s, rules)
        if code != 0:
            return code, i
        kinds[s["kind"]] += 1
        for seat in range(rules["players"]):
            if not partners:  # by player: they change places under V5
                sums[s["player"][seat]] += s["points"][seat]
        if partners and s["hand_number"] % 2 == 0:
            net = np.int64(round_net(s))
            sums[:] += np.array([max(net, 0), max(-net, 0), max(net, 0), max(-net, 0)])
        for seat in range(people):
            if not closed and sums[s["player"][seat]] != s["scores"][seat]:
                return LEDGER, i
        balance = 0.0
        for seat in range(people):
            balance += standing(s, rules, seat)
        if abs(balance) > 1e-6:  # zero-sum
            return LEDGER + 2, i
        style = (style + 1) % 3
        if not game_over(s, rules):
            deal(s, rules)
            continue
        winner = game_winner(s, rules)
        for seat in range(people):
            if winner != NO_SEAT and final_total(s, rules, seat) > final_total(s, rules, winner):
                return LEDGER + 3, i
        games += 1
        sums[:] = 0
        new_game(s, rules, mix(seed, games))
    return 0, n


def check(name: str, seed: int, n: int) -> np.ndarray:
    """Make ``n`` random decisions under the rules of this name; return how the hands ended."""
    return check_rules(name, EVERY[name], seed, n)


def check_rules(name: str, rules: Rules, seed: int, n: int) -> np.ndarray:
    """Do as `check`, under any rules."""
    kinds = np.zeros(len(Kind), dtype=np.int64)
    code, decision = random_play(new_states(1)[0], rules.record, seed, n, kinds)
    text = BROKEN[code] if code < len(BROKEN) else "the ledger is wrong"
    assert code == 0, f"{name}, seed {seed}, decision {decision}: {text} (code {code})"
    return kinds


@pytest.mark.parametrize("name", EVERY)
def test_H1_to_H11_S1_to_S5_G1_invariants_hold_in_random_play(name):
    kinds = check(name, 1, 60_000)
    rules = EVERY[name]
    assert kinds[Kind.DEAD] > 0 or rules.knock_limit == 100 or rules.cards_dealt < 8
    assert kinds[Kind.KNOCK] > 0 or rules.knock_limit == 0
    assert kinds[1:5].sum() > 0 or rules.straight


OPTIONS = ("settle_by_hand", "illegal_knocks", "jokers", "open_table", "hollywood")


def allowed(rules: Rules, **changes: object) -> Rules | None:
    """Return the rules with these changes; None where they go together with something else there."""
    try:
        return rules.but(**changes)
    except ValueError as refused:
        assert str(refused).startswith("rules: ") and "\n" not in str(refused)
        return None


def every_preset() -> dict[str, Rules]:
    """Return each preset for each number of players that it can be played by."""
    found = {f"{name} for {n}": allowed(PRESETS[name], players=n) for name in PRESETS for n in range(2, 7)}
    return {name: rules for name, rules in found.items() if rules is not None}


def every_option() -> dict[str, Rules]:
    """Return each preset with each option that it can be played with, and bluffs settled by hand."""
    found = {f"{name}, {option}": allowed(PRESETS[name], **{option: True}) for name in PRESETS for option in OPTIONS}
    for name in PRESETS:
        both = allowed(PRESETS[name], settle_by_hand=True, illegal_knocks=True)
        found[f"{name}, bluffs by hand"] = both
    return {name: rules for name, rules in found.items() if rules is not None}


N_FUZZ, N_FUZZ_OPTION = 10_000_000, 1_000_000


@pytest.mark.fuzz
@pytest.mark.parametrize("name", ODD)
def test_H1_to_G8_invariants_hold_in_10_million_decisions_by_odd_rules(name):
    check(name, 2, N_FUZZ)


@pytest.mark.fuzz
@pytest.mark.parametrize("name", every_preset())
def test_H1_to_G8_invariants_hold_in_10_million_decisions_of_every_preset_and_number_of_players(name):
    check_rules(name, every_preset()[name], 3, N_FUZZ)


@pytest.mark.fuzz
@pytest.mark.parametrize("name", every_option())
def test_H9_H10_I2_C8_V2_V8_invariants_hold_in_a_million_decisions_with_every_option(name):
    check_rules(name, every_option()[name], 4, N_FUZZ_OPTION)


def test_V8_H4_a_card_taken_that_is_all_that_is_left_can_be_laid_off():
    # Seat 0 took TD and laid all else down: nothing may be discarded, and TD goes on 4D to 9D.
    check_rules("denexa, open_table", every_option()["denexa, open_table"], 4, 240_000)


# --- Any rules at all -----------------------------------------------------------------------------

TABLE_GAMES = ("point_rules", "penalty")


@st.composite
def any_rules(draw: st.DrawFn) -> Rules:
    """Return rules with any options that go together."""
    rules = PRESETS[draw(st.sampled_from(sorted(PRESETS)))]
    if rules.name in TABLE_GAMES:
        rules = rules.but(players=draw(st.integers(2, 6)))
    ranges: dict[str, st.SearchStrategy[object]] = {
        **dict.fromkeys((*OPTIONS, "discard_taken", "undercut_ties", "rummy_doubles", "big_gin"), st.booleans()),
        "longest_meld": st.integers(3, 13),
        "knock_limit": st.integers(0, 40),
        "dead_stock": st.integers(0, 6),
        "reshuffles": st.sampled_from((0, 1, None)),
        "turn_limit": st.integers(1, 120),
        "target": st.integers(20, 150),
        "next_dealer": st.sampled_from(("loser", "winner", "alternate")),
        "first_dealer": st.sampled_from(("random", "low", "high")),
    }
    # One after the other, in any order: what does not go with those before it is left out.
    for name in draw(st.permutations(sorted(ranges)))[: draw(st.integers(1, 8))]:
        changes: dict[str, object] = {name: draw(ranges[name])}
        if name == "reshuffles":
            changes["dead_stock"] = 0
        if name == "target":
            changes["hands"] = None
        rules = allowed(rules, **changes) or rules
    return rules


@settings(max_examples=150, deadline=None)
@given(rules=any_rules(), seed=st.integers(0, 2**63 - 1))
@example(rules=PRESETS["open_table"], seed=1)
@example(rules=PRESETS["partners"], seed=1)
@example(rules=PRESETS["hollywood"].but(settle_by_hand=True, illegal_knocks=True), seed=1)
@example(rules=PRESETS["big_gin"].but(jokers=True), seed=1)
@example(rules=PRESETS["penalty"].but(players=6), seed=1)
def test_H9_H10_H12_H13_C6_C8_I2_V2_V5_V6_V8_invariants_hold_whatever_the_rules(rules, seed):
    check_rules(str(rules), rules, seed, 1500)


@pytest.mark.parametrize("name", ["modern", "oklahoma", "palace", "4 ranks, 3 cards", "3 hands", "penalty", "partners"])
def test_G5_invariants_hold_as_a_sentence(name):
    for s in positions(EVERY[name], 5, 12):
        invariants(s, EVERY[name])


# --- The checker sees what is broken --------------------------------------------------------------


def swap_into_hand(s: np.void) -> None:
    s["hand"][0] |= int(BIT[s["order"][0]])


def lose_a_card(s: np.void) -> None:
    s["n_stock"] -= 1


def lay_off_what_is_melded(s: np.void) -> None:
    s["laid"] = s["hand"][s["knocker"] % 2]


def add(field: str, amount: int, index: int | None = None) -> Callable[[np.void], None]:
    def change(s: np.void) -> None:
        if index is None:
            s[field] += amount
        else:
            s[field][index] += amount

    return change


def put(field: str, value: int, index: int | None = None) -> Callable[[np.void], None]:
    def change(s: np.void) -> None:
        if index is None:
            s[field] = value
        else:
            s[field][index] = value

    return change


ANY = (UPCARD_PHASE, DRAW_PHASE, DISCARD_PHASE, OVER_PHASE)
BREAKS: list[tuple[Callable[[np.void], None], tuple[int, ...]]] = [
    (swap_into_hand, ANY),
    (lose_a_card, ANY),
    (add("n_pile", 1), ANY),
    (put("n_stock", 52), ANY),
    (put("phase", 4), ANY),
    (put("seat", 2), ANY),
    (put("dealer", 2), ANY),
    (put("turn", 101), ANY),
    (put("known", 1 << 52, 0), ANY),
    (put("refused", 1 << 14, 1), ANY),
    (put("thrown", 0x1FFF, 0), ANY),
    (put("choices", 15), ANY),
    (put("knocks", 1 << 52), ANY),
    (put("drawn", 62), ANY),
    (put("mid_deadwood", 99), ANY),
    (put("taken", 2), ANY),
    (put("kind", int(Kind.GIN)), (UPCARD_PHASE, DRAW_PHASE, DISCARD_PHASE)),
    (put("winner", 0), (UPCARD_PHASE, DRAW_PHASE, DISCARD_PHASE)),
    (put("discards", 0), (DISCARD_PHASE,)),
    (add("seat", 1), (DRAW_PHASE, DISCARD_PHASE)),
    (add("scores", -500, 0), (OVER_PHASE,)),
    (add("points", 1, 0), (OVER_PHASE,)),
    (add("deadwood", 1, 0), (OVER_PHASE,)),
    (put("boxes", 200, 0), (OVER_PHASE,)),
    (put("hand_number", 0), (OVER_PHASE,)),
    (lay_off_what_is_melded, (OVER_PHASE,)),
]


@pytest.mark.parametrize("n", range(len(BREAKS)))
def test_a_broken_state_is_seen_in_every_phase(n):
    change, phases = BREAKS[n]
    rules = PRESETS["modern"]
    seen = dict.fromkeys(phases, 0)
    for s in positions(rules, 7, 6):
        phase = int(s["phase"])
        if phase not in phases:
            continue
        trial = new_states(1)
        trial[0] = s
        with np.errstate(over="ignore"):
            change(trial[0])
        if trial[0].tobytes() == s.tobytes():
            continue  # it was so already
        with pytest.raises(AssertionError, match=r"\(code \d+, seed "):
            invariants(trial[0], rules)
        seen[phase] += 1
    assert all(seen.values())


def test_the_codes_have_sentences():
    assert len(set(BROKEN)) == len(BROKEN) < LEDGER
