"""The encodings: no leaks, symmetric in the suits, in range, and the numbers right."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from ginenv import encode as module
from ginenv.actions import action_text
from ginenv.cards import BIT, JOKERS, NO_CARD, card_list, card_mask, card_text, count
from ginenv.deal import new_game
from ginenv.encode import ENCODINGS, encode, encoding
from ginenv.envs.vector import random_actions
from ginenv.lookahead import danger
from ginenv.melds import completed, deadwood, deadwoods_without
from ginenv.rules import Rules, rules
from ginenv.state import BIG_GIN, DISCARD, FROM_PILE, NO_SEAT, ORDER, RING, Phase, n_actions, new_states
from ginenv.step import step, write_mask
from ginenv.table import Table
from ginenv.view import VIEW, look
from ginenv.wild import deadwood_wild
from tests.common import ALL_RULES, MORE_RULES, TABLES
from tests.reference import best_arrangements
from tests.test_view import shuffled

more_rules = pytest.mark.parametrize("r", MORE_RULES.values(), ids=MORE_RULES.keys())
every_rules = pytest.mark.parametrize("r", ALL_RULES.values(), ids=ALL_RULES.keys())
every_encoding = pytest.mark.parametrize("e", ENCODINGS.values(), ids=ENCODINGS.keys())


def random_states(r: Rules, seed: int, n_hands: int = 2) -> np.ndarray:
    """Return every STATE of some hands of random play, the finished ones included."""
    found = []
    s, v, action = new_states(1), np.zeros(1, VIEW), np.zeros(1, np.int64)
    for hand in range(n_hands):
        new_game(s[0], r.record, seed * 1000 + hand)
        s[0]["scores"][:2] = (37 * hand % 90, 11 * hand % 90)
        while True:
            found.append(s.copy())
            if s[0]["phase"] == Phase.OVER:
                break
            look(s[0], r.record, s[0]["seat"], v[0])
            random_actions(v, len(found) + seed, action)
            step(s[0], r.record, action[0])
    return np.concatenate(found)


def view_of(s: np.void, r: Rules, seat: int) -> np.ndarray:
    v = np.zeros(1, VIEW)
    look(s, r.record, seat, v[0])
    return v


def encoded(v: np.void, r: Rules, e: module.Encoding) -> np.ndarray:
    out = np.full(e.size, 99, np.int8)
    encode(v, r.record, e.code, out)
    return out


@every_encoding
def test_layout_covers_every_value_once(e):
    places = np.concatenate([b.index.ravel() for b in e.layout])
    assert sorted(places) == list(range(e.size))
    assert len({b.name for b in e.layout}) == len(e.layout)
    assert e.scale.shape == (e.size,) and e.scale.dtype == np.float32 and (e.scale > 0).all()
    assert e is encoding(e.name) is ENCODINGS[e.name]
    for b in e.layout:  # suit blocks come first, and are alike
        if len(b.shape) == 2:
            assert b.index[0].max() < e.suit_size and b.stride == e.suit_size
        else:
            assert b.index.min() >= 4 * e.suit_size


def test_unknown_encoding():
    with pytest.raises(ValueError, match=r"no encoding 'planes-v3': did you mean planes-v[12]\?"):
        encoding("planes-v3")
    with pytest.raises(KeyError, match="no block 'hnad'"):
        ENCODINGS["planes-v1"]["hnad"]


def test_the_page_is_the_registry():
    page = Path(__file__).parent.parent / "docs" / "encodings.md"
    assert page.read_text() == module.page(), "run: python -m ginenv.encode > docs/encodings.md"


@every_encoding
@every_rules
def test_range(r, e):
    for s in random_states(r, 1):
        for seat in (0, 1):
            out = encoded(view_of(s, r, seat)[0], r, e)
            scaled = np.abs(out * e.scale)
            assert scaled.max() < 1.31, [b.name for b in e.layout if (np.abs(b.of(scaled)) > 1.3).any()]


def extreme_rules() -> list[Rules]:
    return [
        rules("modern", target=10_000, turn_limit=10_000, gin_bonus=1000, undercut_bonus=1000, knock_limit=100),
        rules("openspiel", hands=1000, cards_dealt=1, dead_stock=0),
        rules("modern", target=1, turn_limit=1, cards_dealt=1, dead_stock=0),
    ]


@every_encoding
def test_range_under_extreme_rules(e):
    for r in extreme_rules():
        for s in random_states(r, 2, 2):
            for score in (-3000, 3000):
                s["scores"][:2], s["boxes"][:2] = (score, -score), (255, 0)
                v = view_of(s, r, 0)[0]
                out = encoded(v, r, e)
                assert np.abs(out * e.scale).max() < 1.31
                if "turns_left" in [b.name for b in e.layout]:
                    assert e["turn"].of(out) == min(int(v["turn"]), 127)


# --- What is hidden ---------------------------------------------------------------------------------


def shuffle_hidden(s: np.void, viewer: int, rng: np.random.Generator) -> None:
    """Exchange, in place, the cards that ``viewer`` cannot see: opponent's unknown ones and the stock."""
    other = 1 - viewer
    n = int(s["n_stock"])
    known = int(s["known"][other])
    hidden = card_list(int(s["hand"][other]) & ~known)
    cards = hidden + [int(c) for c in s["order"][:n]]
    new = [cards[i] for i in rng.permutation(len(cards))]
    rename = dict(zip(cards, new, strict=True))
    s["hand"][other] = known | sum(int(BIT[c]) for c in new[: len(hidden)])
    s["order"][:n] = new[len(hidden) :]
    turn = int(s["turn"])
    for t in range(max(0, turn - RING), turn):  # what the opponent drew unseen
        drawn = int(s["draws"][t % RING])
        mine = (int(s["first"]) + t) % 2 == viewer
        if not mine and drawn < FROM_PILE:
            s["draws"][t % RING] = rename.get(drawn, drawn)
    if s["phase"] == Phase.DISCARD and s["seat"] == other:
        if not s["taken"]:
            s["drawn"] = rename.get(int(s["drawn"]), int(s["drawn"]))
        s["discards"], s["knocks"], s["choices"] = int(s["hand"][other]), 0, 0


@every_rules
def test_hidden_cards_change_nothing(r):
    rng = np.random.default_rng(3)
    seen = set()
    for s in random_states(r, 3):
        for seat in (0, 1):
            if s["phase"] == Phase.OVER and s["winner"] != NO_SEAT:
                continue  # both hands lie on the table
            seen.add((int(s["phase"]), seat == s["seat"]))
            before = view_of(s, r, seat)
            changed = s.copy()
            shuffle_hidden(changed, seat, rng)
            after = view_of(changed, r, seat)
            assert before.tobytes() == after.tobytes()
            for e in ENCODINGS.values():
                assert (encoded(before[0], r, e) == encoded(after[0], r, e)).all()
    assert {(p, own) for p in (0, 1, 2) for own in (True, False)} <= seen


# --- Suits ------------------------------------------------------------------------------------------


def permute_suits(s: np.void, suits: tuple[int, ...]) -> None:
    """Rename suit k of everything in ``s`` to ``suits[k]``, in place."""
    rename = np.arange(128, dtype=np.uint8)
    for c in range(52):
        rename[c] = suits[c // 13] * 13 + c % 13
        rename[c + FROM_PILE] = rename[c] + FROM_PILE

    def moved(mask: int) -> int:
        return sum((int(mask) >> 16 * k & 0x1FFF) << 16 * suits[k] for k in range(4))

    for name in ("hand", "known", "thrown", "refused", "melds"):
        s[name] = [moved(m) | (int(m) & JOKERS) for m in s[name]]
    for name in ("laid", "discards", "knocks", "sets", "runs", "starts", "laid_first", "loose", "bluffs"):
        s[name] = moved(s[name]) | (int(s[name]) & JOKERS)
    for name in ("order", "draws", "throws"):
        s[name] = rename[s[name]]
    for name in ("drawn", "upcard"):
        s[name] = rename[s[name]]


@every_encoding
@every_rules
def test_permuting_suits_permutes_blocks(r, e):
    suits = {4: (2, 0, 3, 1), 3: (1, 2, 0, 3), 2: (1, 0, 2, 3), 1: (0, 1, 2, 3)}[r.suits]
    for s in random_states(r, 4, 2)[::3]:
        for seat in (0, 1):
            before = encoded(view_of(s, r, seat)[0], r, e)
            t = s.copy()
            permute_suits(t, suits)
            after = encoded(view_of(t, r, seat)[0], r, e)
            cut = 4 * e.suit_size
            blocks = after[:cut].reshape(4, e.suit_size)
            assert (blocks[list(suits)] == before[:cut].reshape(4, e.suit_size)).all()
            assert (before[cut:] == after[cut:]).all()


# --- The numbers ------------------------------------------------------------------------------------


def cards_of(plane: np.ndarray) -> set[int]:
    return {13 * int(suit) + int(rank) for suit, rank in np.argwhere(plane)}


def texts(cards: list[int]) -> list[str]:
    return [card_text(c) for c in cards]


def naive_ways(card: int, others: set[int]) -> int:
    suit, rank = divmod(card, 13)
    sets = [{13 * k + rank for k in trio} for trio in combinations(range(4), 3)]
    runs = [{13 * suit + low + i for i in range(3)} for low in range(11)]
    return sum(card in meld and meld - {card} <= others for meld in sets + runs)


@every_rules
def test_planes_and_scalars(r):
    for s in random_states(r, 5, 2)[::3]:
        for seat in (0, 1):
            v = view_of(s, r, seat)[0]
            pile = [int(c) for c in v["pile"][: v["n_pile"]]][::-1]
            assert set(card_list(int(v["in_pile"]))) == set(pile)
            want = {
                "hand": card_list(int(s["hand"][seat])),
                "top": pile[:1],
                "buried": pile[1:],
                "unseen": card_list(int(v["unseen"])),
                "known_opponent": card_list(int(v["known"][1])),
                "known_own": card_list(int(v["known"][0])),
                "refused_opponent": card_list(int(s["refused"][1 - seat])),
                "refused_own": card_list(int(s["refused"][seat])),
                "drawn": [int(v["drawn"])] if v["drawn"] != NO_CARD else [],
                "knocks": card_list(int(v["knocks"])),
            }
            own = s["phase"] != Phase.OVER and s["seat"] == seat
            turn = int(s["turn"])
            scalars = {
                **{f"phase_{p.name.lower()}": s["phase"] == p for p in list(Phase)[:4]},
                "to_act": own,
                "stock": s["n_stock"],
                "draws_left": max(int(s["n_stock"]) - r.dead_stock, 0),
                "turn": turn,
                "own_turn": sum((int(s["first"]) + t) % 2 == seat for t in range(turn)),
                "turns_left": min(r.turn_limit - turn, 127),
                "pile": s["n_pile"],
                "passes": s["passes"],
                "taken": s["taken"],
                "deadwood": deadwood(s["hand"][seat], r.longest_meld),
                "knock_limit": min(int(s["knock_limit"]), 13),
                "can_knock": own and s["knocks"] != 0,
                "can_big_gin": own and int(s["choices"]) >> BIG_GIN & 1,
                "multiplier": s["multiplier"],
                "score_own": min(int(s["scores"][seat]), 127),
                "score_opponent": min(int(s["scores"][1 - seat]), 127),
                "to_go_own": min(max((r.target or 0) - int(s["scores"][seat]), 0), 127),
                "to_go_opponent": min(max((r.target or 0) - int(s["scores"][1 - seat]), 0), 127),
                "target": (r.target or 0) // 10,
                "hands_left": max((r.hands or 0) - int(s["hand_number"]), 0),
                "boxes_own": s["boxes"][seat],
                "boxes_opponent": s["boxes"][1 - seat],
                "dealer": s["dealer"] == seat,
                "first": turn > 0 and s["first"] == seat,
                "gin_bonus": r.gin_bonus,
                "undercut_bonus": r.undercut_bonus,
                "undercut_ties": r.undercut_ties,
                "discard_taken": r.discard_taken,
            }
            for e in ENCODINGS.values():
                out = encoded(v, r, e)
                names = {b.name for b in e.layout}
                for name, cards in want.items():
                    if name in names:
                        assert cards_of(e[name].of(out)) == set(cards), name
                        assert set(e[name].of(out).ravel()) <= {0, 1}
                for name, value in scalars.items():
                    name = name if name in names else name.replace("_opponent", "_next")
                    assert e[name].of(out) == value, name


@every_rules
def test_ages_and_history(r):
    e, h = ENCODINGS["planes-v1"], ENCODINGS["history-v1"]
    for s in random_states(r, 6, 1):
        turn = int(s["turn"])
        if turn > RING:
            continue
        for seat in (0, 1):
            v = view_of(s, r, seat)[0]
            planes, out = encoded(v, r, e), encoded(v, r, h)
            want = {"thrown_own": np.zeros((4, 13)), "thrown_opponent": np.zeros((4, 13))}
            for t in range(turn):
                mine = (int(s["first"]) + t) % 2 == seat
                thrown, drawn = int(s["throws"][t]), int(s["draws"][t])
                if thrown != NO_CARD:
                    name = "thrown_own" if mine else "thrown_opponent"
                    want[name][divmod(thrown, 13)] = max(17 - (turn - t), 1)
                back = turn - 1 - t
                if back < 32:
                    assert h["seat"].of(out)[back] == (1 if mine else -1)
                    assert h["source"].of(out)[back] == (2 if drawn >= FROM_PILE else 1)
                    assert event(h["thrown_rank"].of(out)[:, back]) == (None if thrown == NO_CARD else thrown)
                    seen = mine or drawn >= FROM_PILE
                    assert event(h["drawn_rank"].of(out)[:, back]) == (drawn % FROM_PILE if seen else None)
            for name, plane in want.items():
                assert (e[name].of(planes) == plane).all()
            for name in ("seat", "source"):
                assert not h[name].of(out)[turn:].any()


def event(column: np.ndarray) -> int | None:
    """Return the card that a turn's four numbers name."""
    suits = np.flatnonzero(column)
    assert len(suits) <= 1
    return int(13 * suits[0] + column[suits[0]] - 1) if len(suits) else None


@every_rules
def test_features(r):
    e = ENCODINGS["features-v1"]
    for s in random_states(r, 7, 1)[::3]:
        for seat in (0, 1):
            v = view_of(s, r, seat)[0]
            out = encoded(v, r, e)
            hand, unseen = card_list(int(v["hand"])), set(card_list(int(v["unseen"])))
            without = np.zeros((4, 13))
            for c in hand:
                without[divmod(c, 13)] = deadwood(int(v["hand"]) & ~int(BIT[c]), r.longest_meld)
            assert (e["deadwood_without"].of(out) == without).all()
            known = set(card_list(int(v["known"][1])))
            for c in card_list(int(r.record["deck"])):
                assert e["ways"].of(out)[divmod(c, 13)] == naive_ways(c, unseen | set(hand))
                assert e["ways_opponent"].of(out)[divmod(c, 13)] == naive_ways(c, unseen | known)
            mid_turn = s["phase"] == Phase.DISCARD and s["seat"] == seat
            now = deadwood(v["hand"], r.longest_meld)
            least = min(without[divmod(c, 13)] for c in hand) if mid_turn else now
            taking = least
            top = int(v["top"])
            if s["phase"] in (Phase.UPCARD, Phase.DRAW) and v["n_pile"]:
                eleven = int(v["hand"]) | int(BIT[top])
                taking = min(deadwood(eleven & ~int(BIT[c]), r.longest_meld) for c in [*hand, top])
            want = {
                "least": least,
                "margin": min(int(v["knock_limit"]), 13) - least,
                "gin": least == 0,
                "least_taking": taking,
                "melded_cards": e["melded"].of(out).sum(),
                "known_cards": len(known),
                "opponent_turn": int(v["turn"]) - int(v["own_turn"]),
            }
            for name, value in want.items():
                assert e[name].of(out) == value, name


@every_rules
def test_features_v2_looks_a_draw_ahead(r):
    e, longest = ENCODINGS["features-v2"], r.longest_meld

    def least_after(cards: int) -> int:
        return min(int(deadwood(cards & ~int(BIT[c]), longest)) for c in card_list(cards))

    def outlook(hand: int, unseen: int) -> tuple[int, int, int, int]:
        now = int(deadwood(hand, longest))
        saved = {c: max(0, now - least_after(hand | int(BIT[c]))) for c in card_list(unseen)}
        melds = [s for c, s in saved.items() if s and int(completed(hand)) & int(BIT[c])]
        return now, min(127, sum(sorted(saved.values())[-5:])), len(melds), sum(s == now for s in melds)

    for s in random_states(r, 7, 1)[::5]:
        for seat in (0, 1):
            v = view_of(s, r, seat)[0]
            out = encoded(v, r, e)
            first = ENCODINGS["features-v1"]
            for block in first.layout:
                assert (e[block.name].of(out) == block.of(encoded(v, r, first))).all(), block.name
            hand, unseen, known = int(v["hand"]), int(v["unseen"]), card_list(int(v["known"][1]))
            for c in card_list(int(r.record["deck"])):
                assert e["melds_held"].of(out)[divmod(c, 13)] == naive_ways(c, set(card_list(hand)))
                assert e["melds_opponent"].of(out)[divmod(c, 13)] == naive_ways(c, set(known))
                only = int(completed(hand)) & ~int(completed(hand & ~int(BIT[c]))) & unseen
                assert e["outs"].of(out)[divmod(c, 13)] == (len(card_list(only)) if hand & int(BIT[c]) else 0)
            mid_turn = s["phase"] == Phase.DISCARD and s["seat"] == seat
            found = {c: outlook(hand & ~int(BIT[c]), unseen) for c in card_list(int(v["discards"]) if mid_turn else 0)}
            for plane, number in (("saves_without", 1), ("melding_without", 2), ("gins_without", 3)):
                want = np.zeros((4, 13))
                for c, numbers in found.items():
                    want[divmod(c, 13)] = numbers[number]
                assert (e[plane].of(out) == want).all(), plane
            want = np.zeros((4, 13))
            for c in found:
                want[divmod(c, 13)] = int(100 * danger(v, c, 0.05) + 0.5)
            assert (e["danger"].of(out) == want).all()
            drawing = s["phase"] in (Phase.UPCARD, Phase.DRAW) and v["n_pile"]
            top = int(BIT[int(v["top"])]) if v["n_pile"] else 0
            saves = np.zeros((4, 13))
            for c in [] if mid_turn else card_list((unseen | top) & ~hand):
                saves[divmod(c, 13)] = max(0, int(deadwood(hand, longest)) - least_after(hand | int(BIT[c])))
            assert (e["saves"].of(out) == saves).all()
            ways = [outlook((hand | top) & ~int(BIT[c]), unseen)
                    for c in card_list(hand)] if drawing else []  # fmt: skip
            best = [min(options, key=lambda o: (20 * o[0] - 3 * o[1], -o[2], -o[3], o[0]))
                    for options in (found.values() if mid_turn else [outlook(hand, unseen)],
                                    ways or (found.values() if mid_turn else [outlook(hand, unseen)]))]  # fmt: skip
            for when, numbers in zip(("next", "taking"), best, strict=True):
                for name, number in zip(("left", "saves", "melding", "gins"), numbers, strict=True):
                    assert e[f"{name}_{when}"].of(out) == number, (name, when)


def naive_melded(cards: list[int], longest: int) -> set[str]:
    found = best_arrangements(texts(cards), longest)
    return {c for arrangement in found for meld in arrangement for c in meld}


@pytest.mark.parametrize("longest", [3, 4, 5, 13])
def test_deadwoods_without_and_melded_against_the_oracle(longest):
    rng = np.random.default_rng(8)
    out = np.zeros(64, np.int64)
    for n_ranks in (13, 7, 5) * 40:
        deck = [13 * suit + rank for suit in range(4) for rank in range(n_ranks)]
        cards = sorted(int(c) for c in rng.permutation(deck)[: int(rng.integers(1, 12))])
        mask = sum(int(BIT[c]) for c in cards)
        now, melded = deadwoods_without(mask, longest, out, 0, 16)
        assert now == deadwood(mask, longest)
        for c in cards:
            assert out[16 * (c // 13) + c % 13] == deadwood(mask & ~int(BIT[c]), longest), texts(cards)
        assert set(texts(card_list(int(melded)))) == naive_melded(cards, longest), texts(cards)


def test_long_hands_see_the_last_turns():
    """Beyond the ring of 64 turns the view and the ages still name the right seats."""
    r = rules("modern", turn_limit=300, discard_taken=True)
    s, v = new_states(1)[0], np.zeros(1, VIEW)[0]
    new_game(s, r.record, 1)
    e = ENCODINGS["planes-v1"]
    throws: list[int] = []
    while s["phase"] != Phase.OVER:
        look(s, r.record, s["seat"], v)
        if s["phase"] == Phase.DISCARD:
            out = encoded(v, r, e)
            if throws:
                assert e["thrown_opponent"].of(out)[divmod(throws[-1], 13)] == 15
            if len(throws) > 1:
                assert e["thrown_own"].of(out)[divmod(throws[-2], 13)] == 14
            throws.append(int(v["drawn"]))
            step(s, r.record, DISCARD + throws[-1])
        else:
            step(s, r.record, 1)
    assert len(throws) == 300


@pytest.mark.parametrize("r", TABLES.values(), ids=TABLES.keys())
def test_H13_table_v1_shows_each_seat_as_the_viewer_counts(r):
    e, n = ENCODINGS["table-v1"], r.players
    for s in random_states(r, 7, 1):
        s["scores"][:n] = [300 - 70 * seat for seat in range(n)]
        for seat in range(n):
            v = view_of(s, r, seat)[0]
            out = encoded(v, r, e)
            assert np.abs(out * e.scale).max() < 1.31
            shown = s["phase"] == Phase.OVER and s["winner"] != NO_SEAT
            pile = {int(c) for c in s["order"][ORDER - s["n_pile"] :]}
            assert cards_of(e["hand"].of(out)) == set(card_list(int(s["hand"][seat])))
            assert cards_of(e["top"].of(out)) | cards_of(e["buried"].of(out)) == pile
            assert cards_of(e["unseen"].of(out)) == set(card_list(int(v["unseen"])))
            assert e["players"].of(out) == n
            for k in range(6):
                who = (seat + k) % n
                there = k < n
                known = s["hand"][who] if shown else s["known"][who]
                assert cards_of(e[f"known_{k}"].of(out)) == (set(card_list(int(known))) if there else set())
                for name in ("thrown", "refused"):
                    want = set(card_list(int(s[name][who]))) if there else set()
                    assert cards_of(e[f"{name}_{k}"].of(out)) == want
                assert e[f"present_{k}"].of(out) == there
                assert e[f"mover_{k}"].of(out) == (there and s["seat"] == who and s["phase"] != Phase.OVER)
                assert e[f"dealer_{k}"].of(out) == (there and s["dealer"] == who)
                assert e[f"cards_{k}"].of(out) == (int(s["hand"][who]).bit_count() if there else 0)
                assert e[f"score_{k}"].of(out) == (min(max(300 - 70 * who, -127), 127) if there else 0)


def test_an_encoding_for_two_is_refused_for_more():
    two, three = rules("modern"), rules("point_rules")
    assert module.encoding_for(two).name == "planes-v1" and module.encoding_for(three).name == "table-v1"
    assert module.encoding_for(two, "table-v1").most_players == 6
    for name in ("history-v1", "planes-v2"):
        with pytest.raises(ValueError, match=f"encoding {name} is for two players, not 3: use table-v1"):
            module.encoding_for(three, name)


# --- Melds on the table, jokers, and settlement by hand (planes-v2) ---------------------------------


def test_C8_V8_an_encoding_that_does_not_show_the_game_is_refused():
    for r in MORE_RULES.values():
        assert module.encoding_for(r).name == "planes-v2"
    for r, what in ((MORE_RULES["jokers"], "jokers"), (MORE_RULES["open table"], r"melds on the table \(open_table\)")):
        for name in ENCODINGS:
            if name != "planes-v2":
                with pytest.raises(ValueError, match=f"^encoding {name} shows no {what}: use planes-v2$"):
                    module.encoding_for(r, name)
    assert module.encoding_for(MORE_RULES["by hand"], "planes-v1").name == "planes-v1"


@more_rules
def test_C8_V8_H9_I2_hidden_cards_change_no_encoding_and_no_mask(r):
    rng, phases, changed = np.random.default_rng(4), set(), 0
    masks = np.zeros((2, n_actions(r)), np.int8)
    for s in random_states(r, 3, 4):
        for seat in (0, 1):
            t = shuffled(s, r, seat, rng)
            changed += t.tobytes() != s.tobytes()
            phases.add((int(s["phase"]), seat == s["seat"]))
            views = [view_of(state, r, seat)[0] for state in (s, t)]
            for v, mask in zip(views, masks, strict=True):
                write_mask(v, mask)
            assert (masks[0] == masks[1]).all() and (seat == s["seat"] or not masks.any())
            for e in ENCODINGS.values():
                assert (encoded(views[0], r, e) == encoded(views[1], r, e)).all(), e.name
    assert changed > 0
    due = (0, 1, 2) + ((4, 5) if r.settle_by_hand else ()) + ((6,) if r.illegal_knocks else ())
    assert {(p, own) for p in due for own in (True, False)} <= phases


@more_rules
def test_C8_V8_H9_I2_planes_v2_in_range_and_suits_permute_blocks(r):
    e, suits = ENCODINGS["planes-v2"], {4: (2, 0, 3, 1)}[r.suits]
    for s in random_states(r, 4, 3)[::2]:
        for seat in (0, 1):
            before = encoded(view_of(s, r, seat)[0], r, e)
            assert np.abs(before * e.scale).max() < 1.31
            t = s.copy()
            permute_suits(t, suits)
            after = encoded(view_of(t, r, seat)[0], r, e)
            cut = 4 * e.suit_size
            blocks = after[:cut].reshape(4, e.suit_size)
            assert (blocks[list(suits)] == before[:cut].reshape(4, e.suit_size)).all()
            if not r.settle_by_hand or s["phase"] != Phase.ARRANGE:
                assert (before[cut:] == after[cut:]).all()


def laid_by_hand(t: Table) -> list[set[str]]:
    """Return by seat what was laid down and off in this hand where that can be laid off on, from the record."""
    laid: list[set[str]] = [set(), set()]
    for play in t.history[-1].plays:
        words = action_text(play.action).split()
        if words[0] == "meld" and (t.rules.open_table or play.seat == t._s["knocker"]):
            laid[play.seat] |= set(words[1:])
        elif words[0] == "lay":
            laid[play.seat].add(words[2])
    return laid


def naive_layoffs(t: Table) -> set[str]:
    """Return the cards that the seat to act may lay off, from the texts of its actions."""
    lays = [action_text(a).split() for a in t.legal_actions()]
    return {words[2] for words in lays if words[0] == "lay"}


@more_rules
def test_C8_V8_H9_I2_planes_v2_shows_what_lies_on_the_table_and_who_laid_it(r):
    e, seen = ENCODINGS["planes-v2"], set()
    for seed in range(5):
        rng, t = np.random.default_rng(seed), Table(r, seed=seed)
        while True:
            s = t._s
            laid = laid_by_hand(t)
            knocker, gin = int(s["knocker"]), s["phase"] == Phase.DEFEND and int(s["sets"] | s["runs"]) == 0
            for seat in (0, 1):
                v = view_of(s, r, seat)[0]
                out = encoded(v, r, e)

                def shown(name: str, out: np.ndarray = out) -> set[str]:
                    return set(texts(sorted(cards_of(e[name].of(out)))))

                own = seat == t.seat and not t.done
                if not t.done and not gin:
                    assert shown("laid_own") == laid[seat] and shown("laid_opponent") == laid[1 - seat]
                    assert shown("sets") | shown("runs") == laid[0] | laid[1]
                if gin:
                    assert not shown("sets") | shown("runs")  # nothing is laid off on gin
                assert shown("layoffs") == (naive_layoffs(t) if own else set())
                assert shown("loose") == (set(texts(card_list(int(s["loose"])))) if own else set())
                assert shown("bluffs") == (set(texts(card_list(int(s["bluffs"])))) if own else set())
                runs = shown("runs")
                starts = set(texts(card_list(int(s["starts"]))))
                assert shown("starts") == starts <= runs
                want = {
                    **{f"phase_{p.name.lower()}": s["phase"] == p for p in Phase},
                    "knocker_own": knocker == seat,
                    "knocker_opponent": knocker == 1 - seat,
                    "can_say_done": own and "done" in [action_text(a) for a in t.legal_actions()],
                    "bound": min(int(s["bound"]), 13),
                    "loose_points": sum(min(c % 13 + 1, 10) for c in card_list(int(s["loose"]))) if own else 0,
                    "cards_own": count(s["hand"][seat]),
                    "cards_opponent": count(s["hand"][1 - seat]),
                    "opened_own": int(s["opened"]) >> seat & 1,
                    "opened_opponent": int(s["opened"]) >> (1 - seat) & 1,
                    "new_stocks": min((99 if r.reshuffles is None else r.reshuffles) - int(s["reshuffled"]), 13),
                    "longest_meld": r.longest_meld,
                    "jokers": r.jokers,
                    "open_table": r.open_table,
                    "rummy_doubles": r.rummy_doubles,
                    "settle_by_hand": r.settle_by_hand,
                    "illegal_knocks": r.illegal_knocks,
                    "big_gin": r.big_gin,
                    "big_gin_bonus": r.big_gin_bonus,
                    "hollywood": 0,
                    "deadwood": deadwood_wild(int(v["hand"]), r.longest_meld),
                }
                for name, value in want.items():
                    assert e[name].of(out) == value, name
                pile = [int(c) for c in s["order"][ORDER - s["n_pile"] :]]
                masks = {
                    "hand": int(v["hand"]),
                    "top": int(BIT[pile[0]]) if pile else 0,
                    "buried": card_mask(pile[1:]),
                    "unseen": int(v["unseen"]),
                    "known_opponent": int(v["known"][1]),
                    "known_own": int(v["known"][0]),
                    "refused_opponent": int(s["refused"][1 - seat]),
                    "refused_own": int(s["refused"][seat]),
                    "drawn": int(BIT[v["drawn"]]) if v["drawn"] != NO_CARD else 0,
                    "knocks": int(v["knocks"]),
                    "thrown_own": int(s["thrown"][seat]),
                    "thrown_opponent": int(s["thrown"][1 - seat]),
                }
                for name, bits in masks.items():
                    assert shown(name) == set(texts(card_list(bits & ~JOKERS))), name
                    there = [bits >> 61 & 1, bits >> 62 & 1]
                    assert e[f"{name}_jokers"].of(out).tolist() == there, name
                    seen.update([name] if any(there) else [])
                seen.update(name for name in ("sets", "runs", "laid_own", "layoffs", "bluffs") if shown(name))
            if t.done:
                break
            legal = t.legal_actions()
            lays = [a for a in legal if 108 <= a < 596]
            knocks = [a for a in legal if 56 <= a < 108]
            pool = lays if lays and rng.random() < 0.7 else knocks if knocks and rng.random() < 0.5 else legal
            t.step(int(rng.choice(pool)))
    due = {"hand", "top", "unseen", "drawn", "thrown_own"} if r.jokers else set()
    if (r.open_table or r.settle_by_hand) and r.longest_meld == 13:
        due |= {"sets", "laid_own", "layoffs"}
    assert due | ({"bluffs"} if r.illegal_knocks else set()) <= seen


def test_V2_planes_v2_shows_all_three_columns():
    r, e = rules("hollywood"), ENCODINGS["planes-v2"]
    s = random_states(r, 8, 1)[0]
    s["scores"][:6], s["boxes"][:6], s["wins"] = (90, 60, 50, 30, 0, 200), (2, 3, 1, 2, 0, 4), (2, 3)
    for seat in (0, 1):
        out = encoded(view_of(s, r, seat)[0], r, e)
        assert e["hollywood"].of(out) == 1
        for column in (1, 2):
            for who, name in ((seat, "own"), (1 - seat, "opponent")):
                assert e[f"score_{name}_{column + 1}"].of(out) == min(int(s["scores"][2 * column + who]), 127)
                assert e[f"boxes_{name}_{column + 1}"].of(out) == s["boxes"][2 * column + who]
        assert (e["wins_own"].of(out), e["wins_opponent"].of(out)) == (s["wins"][seat], s["wins"][1 - seat])


def test_C8_encodings_without_a_place_for_jokers_write_0():
    r = MORE_RULES["jokers"]
    for s in random_states(r, 5, 1)[::5]:
        for e in ENCODINGS.values():
            assert encoded(view_of(s, r, 0)[0], r, e).any() == (e.name == "planes-v2")
