"""No peeking: nothing that a seat is shown depends on a card that it has not seen; and worlds sampled from a VIEW."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from agents.playout import decision_key
from agents.registry import make
from experiments.match import pair_seed, play_pairs, side_key
from ginenv.cards import BIT, N_CARDS, NO_CARD, count
from ginenv.deal import new_game
from ginenv.melds import deadwood, knock_discards
from ginenv.rng import apart
from ginenv.rules import PRESETS, Rules
from ginenv.state import (
    BIG_GIN,
    DISCARD_PHASE,
    DRAW,
    DRAW_PHASE,
    FROM_PILE,
    ORDER,
    OVER_PHASE,
    RING,
    SEATS,
    STATE,
    UPCARD_PHASE,
    Kind,
    new_states,
)
from ginenv.step import step, write_mask
from ginenv.view import VIEW, look, look_again, sample_hidden
from ginenv.wild import deadwood_wild, knock_discards_wild
from tests.common import ALL_RULES, MANY, MORE_RULES, cards, positions

EVERY = ALL_RULES | MORE_RULES | MANY
EACH = sorted(EVERY)


def numbers(bits: int) -> list[int]:
    """Return the cards of a mask as card numbers."""
    return [c for c in range(len(BIT)) if bits & int(BIT[c])]


def bits_of(held: list[int]) -> int:
    return sum(int(BIT[c]) for c in held)


def seen_by(s: np.void, rules: Rules, seat: int, dirt: int = 0) -> np.ndarray:
    """Return the VIEW of a seat, written over a buffer full of ``dirt``."""
    views = np.full(VIEW.itemsize, dirt, dtype=np.uint8).view(VIEW)
    look(s, rules.record, seat, views[0])
    return views


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether two VIEWs agree in every field (bytes between fields are nobody's)."""
    return all(a[name].tobytes() == b[name].tobytes() for name in VIEW.names)


def shuffled(s: np.void, rules: Rules, seat: int, rng: np.random.Generator) -> np.void:
    """Return a STATE that looks the same to ``seat``: everything that is hidden from it is exchanged.

    That is the order of the stock; while the hand is in play (or dead) what the others hold but did not take from the
    pile, and drew from the stock; after a knock the card face down. And the seed, from which all decks follow. The
    hidden cards are permuted among the stock and all others.
    """
    t = new_states(1)[0]
    for name in STATE.names:
        t[name] = s[name]
    players = rules.hand_players
    others = [(seat + k) % players for k in range(1, players)]
    shown = s["phase"] == OVER_PHASE and s["kind"] != Kind.DEAD
    stock = s["order"][: s["n_stock"]].tolist()
    pile = s["order"][ORDER - s["n_pile"] :].tolist()
    held = [] if shown else [numbers(int(s["hand"][other] & ~s["known"][other])) for other in others]
    everywhere = bits_of(stock + pile) | int(np.bitwise_or.reduce(s["hand"]) | s["sets"] | s["runs"])
    down = numbers(int(rules.record["deck"]) & ~everywhere)
    hidden = rng.permutation(stock + [c for cards_ in held for c in cards_] + down).tolist()
    t["order"][: s["n_stock"]] = hidden[: len(stock)]
    del hidden[: len(stock)]
    for other, before in zip(others, held, strict=False):
        new = hidden[: len(before)]
        del hidden[: len(before)]
        t["hand"][other] = bits_of(new) | int(s["known"][other])
        if s["seat"] == other and s["phase"] == DISCARD_PHASE:
            if not s["taken"] and int(s["drawn"]) in before:  # at the open table it may be laid down by now
                t["drawn"] = new[0]
            hand, longest = t["hand"][other], rules.longest_meld
            t["discards"] = hand if rules.discard_taken or not s["taken"] else hand & ~BIT[s["drawn"]]
            if rules.jokers:
                now = deadwood_wild(hand, longest)
                t["knocks"] = knock_discards_wild(hand, t["discards"], s["knock_limit"], longest)
            else:
                now = deadwood(hand, longest)
                t["knocks"] = knock_discards(hand, now, t["discards"], s["knock_limit"], longest)
            t["mid_deadwood"] = now
            t["choices"] = 1 << BIG_GIN if rules.big_gin and now == 0 else 0
            t["bluffs"] = t["discards"] & ~t["knocks"] if rules.illegal_knocks else 0
        if s["seat"] == other and s["phase"] > OVER_PHASE:  # settling by hand
            t["loose"] = (int(s["loose"]) & int(s["known"][other])) | (bits_of(new) if s["loose"] else 0)
    if s["down"] != NO_CARD:  # the discard of a bluff, not turned up yet
        t["down"] = hidden[-1]
    turn = int(s["turn"])
    for n in range(max(0, turn - RING), turn):  # what the other drew from the stock, even when thrown since
        if (int(s["first"]) + n) % players != seat and s["draws"][n % RING] < FROM_PILE:
            t["draws"][n % RING] = rng.integers(N_CARDS)
    t["seed"] = rng.integers(1 << 62)
    return t


@pytest.mark.parametrize("name", EACH)
def test_no_view_depends_on_hidden_cards(name):
    rules = EVERY[name]
    rng = np.random.default_rng(len(name))
    native = [make("random")]
    if rules.more_actions:
        native += [make("greedy")]
    elif rules.hand_players == 2:
        native += [make("simple"), make("simple:early=0,until=3,late=4")]
    phases: Counter[int] = Counter()
    changed = 0
    for n, s in enumerate(positions(rules, 11, 6)):
        for seat in range(rules.hand_players):
            seen = seen_by(s, rules, seat)
            t = shuffled(s, rules, seat, rng)
            changed += t.tobytes() != s.tobytes()
            again = seen_by(t, rules, seat)
            assert same(seen, again)
            if seat == s["seat"] and s["phase"] != OVER_PHASE and n % 4 == 0:
                keys = np.array([n], dtype=np.int64)
                for agent in native:
                    assert agent.act(seen, rules, keys) == agent.act(again, rules, keys)
        phases[int(s["phase"])] += 1
    assert changed > 0
    assert {UPCARD_PHASE, DISCARD_PHASE, OVER_PHASE} <= set(phases)


@pytest.mark.parametrize("name", EACH)
def test_look_overwrites_a_dirty_view(name):
    rules = EVERY[name]
    for n, s in enumerate(positions(rules, 12, 3)):
        if n % 3 == 0:
            for seat in range(rules.hand_players):
                clean = seen_by(s, rules, seat)
                assert same(clean, seen_by(s, rules, seat, 0xFF))
                assert same(clean, seen_by(s, rules, seat, 0x5A))


@pytest.mark.parametrize("name", EACH)
def test_looking_again_shows_what_a_first_look_shows(name):
    rules = EVERY[name]
    kept: dict[int, np.ndarray] = {}
    for n, s in enumerate(positions(rules, 15, 24)):
        if s["phase"] == OVER_PHASE:
            kept = {}
            continue
        seat = int(s["seat"])
        want = seen_by(s, rules, seat, dirt=n % 256)
        if seat in kept:
            look_again(s, rules.record, seat, kept[seat][0])
            assert same(kept[seat], want), (int(s["turn"]), int(s["phase"]))
        else:
            kept[seat] = want


def test_look_leaves_the_state_alone():
    for s in positions(PRESETS["modern"], 13, 3):
        before = s.tobytes()
        seen_by(s, PRESETS["modern"], 0)
        assert s.tobytes() == before


@pytest.mark.parametrize("name", EACH)
def test_a_view_is_what_the_table_shows(name):
    """What each field holds, worked out anew from the STATE."""
    rules, players = EVERY[name], EVERY[name].hand_players
    deck = set(cards(int(rules.record["deck"])))
    for s in positions(rules, 14, 3):
        shown = s["phase"] == OVER_PHASE and s["kind"] != Kind.DEAD
        for seat in range(players):
            v = seen_by(s, rules, seat)[0]
            pile = s["order"][ORDER - s["n_pile"] :].tolist()[::-1]
            assert v["hand"] == s["hand"][seat]
            assert v["pile"].tolist() == pile + [NO_CARD] * (ORDER - len(pile))
            assert v["top"] == (pile[-1] if pile else NO_CARD)
            assert numbers(int(v["in_pile"])) == sorted(pile)
            visible = in_pile = cards(int(v["in_pile"]))
            for k in range(players):
                who = (seat + k) % players
                assert v["known"][k] == (s["hand"][who] if shown else s["known"][who])
                assert (v["thrown"][k], v["refused"][k]) == (s["thrown"][who], s["refused"][who])
                assert v["cards"][k] == count(s["hand"][who])
                assert (v["scores"][k], v["boxes"][k]) == (s["scores"][who], s["boxes"][who])
                visible |= cards(int(v["known"][k]))
            assert not v["known"][players:].any() and not v["cards"][players:].any()
            assert (
                v["scores"][2] == s["scores"][2] or players != 2 or rules.seating == "partners" or rules.hollywood
            )  # who sits out (V5)
            table = int(s["sets"] | s["runs"])
            laid = int(s["laid_first"]) if seat == 0 else table & ~int(s["laid_first"])
            assert v["laid"] == (laid if rules.open_table else 0)
            visible |= cards(table)  # laid down (V8)
            assert len(in_pile) == len(pile)
            assert cards(int(v["unseen"])) == deck - visible - cards(int(v["hand"]))
            own_turn_due = s["seat"] == seat and s["phase"] != OVER_PHASE
            for field in ("discards", "knocks", "choices"):
                assert v[field] == (s[field] if own_turn_due else 0)
            own = [n for n in range(int(s["turn"])) if (int(s["first"]) + n) % players == seat]
            assert v["own_turn"] == len(own)


def test_off_turn_a_view_has_the_own_hand_and_nothing_to_do():
    s = next(positions(PRESETS["modern"], 1, 1))
    waiting = 1 - int(s["seat"])
    v = seen_by(s, PRESETS["modern"], waiting)[0]
    assert v["hand"] == s["hand"][waiting]
    assert (v["choices"], v["discards"], v["knocks"], v["mover"]) == (0, 0, 0, 1)


# --- Worlds sampled from a view -------------------------------------------------------------------


def world(v: np.void, key: int) -> tuple[np.ndarray, np.ndarray]:
    hands, stock = np.zeros(SEATS, dtype=np.int64), np.full(ORDER, 255, dtype=np.uint8)
    sample_hidden(v, key, hands, stock)
    return hands, stock


@pytest.mark.parametrize("name", EACH)
def test_sampled_worlds_fit_what_is_known(name):
    rules, players = EVERY[name], EVERY[name].hand_players
    for n, s in enumerate(positions(rules, 15, 3)):
        if s["phase"] >= OVER_PHASE:
            continue
        for seat in range(players):
            v = seen_by(s, rules, seat)[0]
            hands, stock = world(v, n)
            left = stock[: s["n_stock"]].tolist()
            assert (stock[s["n_stock"] :] == 255).all()
            assert hands[0] == v["hand"]
            for k in range(1, players):
                assert count(hands[k]) == v["cards"][k]
                assert v["known"][k] & ~hands[k] == 0
                left += numbers(int(hands[k] & ~v["known"][k]))
            assert not hands[players:].any()
            assert sorted(left) == numbers(int(v["unseen"]))


def middle_of_a_hand() -> tuple[np.void, np.void]:
    """Return a STATE in the middle of a hand where seat 0 knows some of seat 1's cards, and seat 0's VIEW."""
    rules = PRESETS["modern"]
    for s in positions(rules, 16, 40):
        if s["phase"] == DRAW_PHASE and s["turn"] > 10 and 1 < count(s["known"][1]) < 5 and s["seat"] == 0:
            return s, seen_by(s, rules, 0)[0]
    raise AssertionError("no such position")


def test_different_keys_give_different_worlds_and_the_same_key_the_same():
    _, v = middle_of_a_hand()
    worlds = [world(v, key) for key in range(2000)]
    assert len({hands[1].item() for hands, _ in worlds}) > 1900
    assert len({stock.tobytes() for _, stock in worlds}) == 2000
    again = world(v, 7)
    assert np.array_equal(again[0], worlds[7][0]) and np.array_equal(again[1], worlds[7][1])


def test_every_unseen_card_is_as_likely_in_the_other_hand_and_anywhere_in_the_stock():
    s, v = middle_of_a_hand()
    unseen = numbers(int(v["unseen"]))
    n_hidden = int(v["cards"][1]) - count(v["known"][1])
    worlds = 6000
    held = np.zeros(N_CARDS)
    place = np.zeros((int(s["n_stock"]), N_CARDS))
    for key in range(worlds):
        hands, stock = world(v, key)
        held[numbers(int(hands[1] & ~v["known"][1]))] += 1
        place[np.arange(s["n_stock"]), stock[: s["n_stock"]]] += 1
    chance = n_hidden / len(unseen)
    sigma = (worlds * chance * (1 - chance)) ** 0.5
    assert np.abs(held[unseen] - worlds * chance).max() < 5 * sigma
    even = worlds / len(unseen)
    assert np.abs(place[:, unseen] - even).max() < 6 * even**0.5


def test_the_true_world_is_hit_no_more_often_than_chance():
    """Over many positions: how many of the other's hidden cards, and of the stock's top cards, a sample gets right."""
    rules = PRESETS["modern"]
    right, expected, variance, top, top_expected = 0.0, 0.0, 0.0, 0, 0.0
    for n, s in enumerate(positions(rules, 17, 90)):
        if s["phase"] == OVER_PHASE:
            continue
        seat = n % 2
        v = seen_by(s, rules, seat)[0]
        hands, stock = world(v, n)
        hidden = s["hand"][1 - seat] & ~s["known"][1 - seat]
        a, b, m = count(hidden), count(hidden), count(v["unseen"])
        right += count(hands[1] & hidden)
        expected += a * b / m
        variance += a * b * (m - a) * (m - b) / (m * m * (m - 1))
        top += stock[s["n_stock"] - 1] == s["order"][s["n_stock"] - 1]
        top_expected += 1 / m
    # Positions of one hand are alike, so allow for some dependence.
    assert abs(right - expected) < 6 * variance**0.5
    assert abs(top - top_expected) < 6 * top_expected**0.5


def test_a_view_says_nothing_of_decks_to_come():
    """Two games that agree in what lies on the table but not in their seed look the same."""
    rules = PRESETS["modern"]
    a = new_states(1)[0]
    new_game(a, rules.record, 1)
    b = a.copy()
    b["seed"] = 2
    for _ in range(2):
        assert same(seen_by(a, rules, 0), seen_by(b, rules, 0))
        step(a, rules.record, 2)
        step(b, rules.record, 2)
    step(a, rules.record, DRAW)
    step(b, rules.record, DRAW)
    assert same(seen_by(a, rules, 1), seen_by(b, rules, 1))


def test_an_agents_keys_do_not_lead_back_to_the_deck():
    """`mix` can be undone: what it made of a seed gives the seed away. So keys of agents come from `apart`."""

    def undone(key: int, index: int) -> list[int]:
        found = []
        for x in (2 * key, 2 * key + 1):  # the lost bit
            x ^= (x >> 31) ^ (x >> 62)
            x = x * pow(0x94D049BB133111EB, -1, 1 << 64) % (1 << 64)
            x ^= (x >> 27) ^ (x >> 54)
            x = x * pow(0xBF58476D1CE4E5B9, -1, 1 << 64) % (1 << 64)
            x ^= (x >> 30) ^ (x >> 60)
            found.append((x - (index + 1) * 0x9E3779B97F4A7C15) % (1 << 64))
        return found

    seed, pair = 2**40 + 17, 5
    assert pair_seed(seed, pair) in undone(int(side_key(seed, pair, 0)), 1 << 42)  # as it must not be done
    candidates = undone(int(side_key(apart(seed), pair, 0)), 1 << 42)
    assert pair_seed(seed, pair) not in candidates
    assert all(seed not in undone(x, 1 << 41) for y in candidates for x in undone(y >> 1, pair))


def test_agents_in_a_match_get_keys_from_apart():
    keys: list[int] = []

    class Spy:
        spec = "spy"

        def act(self, views: np.ndarray, rules: Rules, given: np.ndarray) -> np.ndarray:
            keys.extend(given.tolist())
            return np.array([int(np.argmax(bits(v))) for v in views])

        def __deepcopy__(self, memo: object) -> Spy:
            return self

    def bits(v: np.void) -> np.ndarray:
        mask = np.zeros(108, dtype=np.int8)
        write_mask(v, mask)
        return mask

    play_pairs(Spy(), make("simple"), PRESETS["eaai"].but(target=None, hands=1), 9, 0, 1)
    s = new_states(1)[0]
    new_game(s, PRESETS["eaai"].record, int(pair_seed(9, 0)))
    assert int(decision_key(s, side_key(apart(9), 0, 0))) in keys
