"""Agents and matches: spec strings, legal and repeatable play, `simple` as its description says, mirrored pairs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from agents.protocol import Agent, NativeAgent
from agents.registry import kind, make, names
from experiments.match import NOBODY, A, B, pair_seed, play_pairs
from experiments.provenance import agent_digest
from ginenv.cards import card
from ginenv.deal import deal_deck, new_game
from ginenv.envs.opponent import AgentError
from ginenv.rules import PRESETS, Rules
from ginenv.state import BIG_GIN, DISCARD, DRAW, KNOCK, ORDER, OVER_PHASE, PASS, TAKE, Phase, new_states
from ginenv.step import step
from ginenv.view import VIEW, look
from tests.common import AGENTS_PLAY, DECK, ODD, cards, choose, legal_actions, positions, words
from tests.reference import all_melds, least_deadwood

EAAI = PRESETS["eaai"]


@dataclass
class Hidden:
    """An agent that hides that it is native, so that matches ask it table by table, batch by batch."""

    inner: Agent
    calls: ClassVar[int] = 0
    """Of all of them: a match plays with copies."""

    @property
    def spec(self) -> str:
        return self.inner.spec

    def act(self, views: np.ndarray, rules: Rules, keys: np.ndarray) -> np.ndarray:
        Hidden.calls += 1
        return self.inner.act(views, rules, keys)


def in_step(spec: str) -> Hidden:
    return Hidden(make(spec))


def equal(a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]) -> bool:
    """Return whether two matches had the same games and hands."""
    return all(
        all(np.array_equal(x[name], y[name]) for name in x.dtype.names) and len(x) == len(y)
        for x, y in zip(a, b, strict=True)
    )


# --- Spec strings ---------------------------------------------------------------------------------


def test_the_registry_finds_the_files():
    assert {"random", "simple"} <= set(names())
    for name in names():
        assert kind(name).summary
        assert make(name).spec.startswith(name)


def test_a_spec_is_kept_in_full_and_makes_the_same_agent_again():
    agent = make("simple: early=0 , late=4")
    assert agent.spec == "simple:early=0,until=1,late=4"
    again = make(agent.spec)
    assert again.spec == agent.spec
    assert np.array_equal(again.params, agent.params)


@pytest.mark.parametrize(("spec", "sentence"), [
    ("smple", "agent: there is no agent 'smple': did you mean simple?"),
    ("", "agent: there is no agent '': there are "),
    ("registry", "agent: there is no agent 'registry'"),
    ("simple:erly=3", "agent: simple has no option 'erly': did you mean early?"),
    ("simple:early", "agent: 'early' in 'simple:early' is no option: write key=value"),
    ("simple:early=x", "agent: simple: early=x should be a whole number"),
    ("simple:early=101", "agent: simple: early=101 is out of range: 0 to 100 is possible"),
    ("random:x=1", "agent: random has no option 'x': its options are none"),
    ("./nowhere.py", "agent: there is no file"),
])  # fmt: skip
def test_a_wrong_spec_is_one_clear_sentence(spec, sentence):
    with pytest.raises(ValueError) as caught:
        make(spec)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


# --- Legal and repeatable -------------------------------------------------------------------------


@pytest.mark.parametrize("rules", AGENTS_PLAY)
@pytest.mark.parametrize("name", names())
def test_every_agent_plays_legally_under_every_preset(name, rules):
    short = PRESETS[rules].but(target=None, hands=3, hollywood=False)
    games, _ = play_pairs(make(name), make("simple"), short, 1, 0, 2)
    assert (games["forfeit"] == NOBODY).all()
    assert (games["hands"] == 3).all()


@pytest.mark.parametrize("rules", ODD)
@pytest.mark.parametrize("name", names())
def test_every_agent_plays_legally_in_small_decks(name, rules):
    games, _ = play_pairs(make(name), make(name), ODD[rules].but(target=None, hands=3, hollywood=False), 1, 0, 3)
    assert (games["forfeit"] == NOBODY).all()


@pytest.mark.parametrize("name", names())
def test_the_same_seed_is_the_same_play_and_another_is_not(name):
    first = play_pairs(make(name), make("simple"), EAAI.but(target=30), 5, 0, 4, keep_hands=True)
    assert equal(first, play_pairs(make(name), make("simple"), EAAI.but(target=30), 5, 0, 4, keep_hands=True))
    other = play_pairs(make(name), make("simple"), EAAI.but(target=30), 6, 0, 4, keep_hands=True)
    assert not np.array_equal(first[0]["turns"], other[0]["turns"])


def test_random_is_uniform_over_the_legal_actions():
    agent, rules = make("random"), PRESETS["big_gin"]
    for n, s in enumerate(positions(rules, 21, 2)):
        if s["phase"] == OVER_PHASE or n % 8 > 1:
            continue
        legal = legal_actions(s)
        views = np.zeros(3000, dtype=VIEW)
        look(s, rules.record, int(s["seat"]), views[0])
        views[1:] = views[0]
        tally = Counter(agent.act(views, rules, np.arange(3000) + 10_000 * n).tolist())
        assert set(tally) == set(legal)
        even = 3000 / len(legal)
        chi = sum((tally[a] - even) ** 2 / even for a in legal)
        freedom = len(legal) - 1
        assert chi < freedom + 5 * (2 * freedom) ** 0.5


# --- `simple`, by its description -----------------------------------------------------------------


class NaiveSimple:
    """The baseline's description in plain Python: what it may choose at a decision."""

    def __init__(self, early: int = 10, until: int = 1, late: int = 10) -> None:
        self.early, self.until, self.late = early, until, late
        self.pairs: set[frozenset[str]] = set()

    def may(self, s: np.void, rules: Rules) -> set[tuple[str, ...]]:
        """Return the choices: more than one where several discards are equally good."""
        legal = {words(a) for a in legal_actions(s)}
        hand = set(cards(int(s["hand"][s["seat"]])))
        if s["phase"] != Phase.DISCARD:
            top = DECK[s["order"][ORDER - s["n_pile"]]]
            if ("take",) in legal and any(top in meld for meld in all_melds(hand | {top})):
                return {("take",)}
            return {("draw",)} if ("draw",) in legal else {("pass",)}
        if ("big gin",) in legal:
            return {("big gin",)}
        drawn = DECK[s["drawn"]]
        allowed = {a[1] for a in legal if a[0] == "discard"} - ({drawn} if s["taken"] else set())
        fresh = {c for c in allowed if frozenset((drawn, c)) not in self.pairs} or allowed
        left = {c: least_deadwood(hand - {c}, rules.longest_meld) for c in fresh}
        least = min(left.values())
        best = {c for c in fresh if left[c] == least}
        own_turn = (int(s["turn"]) + 1) // 2 if s["first"] == s["seat"] else int(s["turn"]) // 2
        limit = self.early if own_turn < self.until else self.late
        if least <= limit and ("knock", min(best)) in legal:
            return {("knock", c) for c in best}
        return {("discard", c) for c in best}

    def saw(self, s: np.void, action: tuple[str, ...]) -> None:
        """Remember the pair of this turn."""
        if action[0] == "discard":
            self.pairs.add(frozenset((DECK[s["drawn"]], action[1])))


@pytest.mark.parametrize("spec", ["simple", "simple:early=10,until=4,late=0", "simple:early=0,until=5,late=6"])
@pytest.mark.parametrize("preset", ["eaai", "palace", "openspiel", "oklahoma"])
def test_simple_does_what_its_description_says(preset, spec):
    agent, rules = make(spec), PRESETS[preset]
    options = {key: int(value) for key, value in (p.split("=") for p in agent.spec.partition(":")[2].split(","))}
    rng = random.Random(spec)
    s, v = new_states(1)[0], np.zeros(1, dtype=VIEW)
    for seed in range(6):
        new_game(s, rules.record, 1000 + seed)
        naive = NaiveSimple(**options)
        while s["phase"] != OVER_PHASE:
            seat = int(s["seat"])
            if seat == 1 and seed % 2:  # against random play, for odd positions and long hands
                step(s, rules.record, choose(s, legal_actions(s), 0, rng))
                continue
            if seat == 1:
                look(s, rules.record, seat, v[0])
                step(s, rules.record, int(agent.act(v, rules, np.array([rng.randrange(1 << 60)]))[0]))
                continue
            look(s, rules.record, seat, v[0])
            action = int(agent.act(v, rules, np.array([rng.randrange(1 << 60)]))[0])
            assert words(action) in naive.may(s, rules)
            naive.saw(s, words(action))
            step(s, rules.record, action)


def test_simple_never_repeats_a_pair_of_drawn_and_discarded():
    # Two players who feed each other: what seat 1 throws is what seat 0 last threw.
    agent, rules = make("simple:early=0,until=0,late=0"), EAAI
    keys = np.random.default_rng(1)
    for seed in range(50):
        s, v = new_states(1)[0], np.zeros(1, dtype=VIEW)
        new_game(s, rules.record, seed)
        pairs: set[frozenset[int]] = set()
        while s["phase"] != OVER_PHASE:
            look(s, rules.record, int(s["seat"]), v[0])
            action = int(agent.act(v, rules, keys.integers(1 << 60, size=1))[0])
            if s["seat"] == 0 and DISCARD <= action < KNOCK:
                pair = frozenset((int(s["drawn"]), action - DISCARD))
                assert pair not in pairs
                pairs.add(pair)
            step(s, rules.record, action)


def test_simple_minds_a_pair_in_either_order():
    # Seat 1 draws KS and throws 5S; much later it takes 5S back, and KS is again the card to throw: not with that pair.
    first, second = "5S 6S 7S 2H 3H 4H 9C 9D 9H 4C", "TD 8D 6H 3C 2C JH QH KC AD 7D"
    front = [c for pair in zip(first.split(), second.split(), strict=True) for c in pair] + ["KH", "KS", "QC", "JD"]
    deck = [card(c) for c in [*front, *(c for c in DECK if c not in front)]]
    s, v = new_states(1)[0], np.zeros(1, dtype=VIEW)
    new_game(s, EAAI.record, 1)
    s["dealer"] = 0
    deal_deck(s, EAAI.record, np.array(deck, dtype=np.uint8))
    game = [PASS, PASS, DRAW, "5S", TAKE, "TD", DRAW, "QC", DRAW, "5S", TAKE]
    for move in game:
        step(s, EAAI.record, move if isinstance(move, int) else DISCARD + card(move))
    look(s, EAAI.record, 1, v[0])
    assert make("simple").act(v, EAAI, np.array([1]))[0] == KNOCK + card("4C")
    # Had it thrown something else then, it would be the king.
    v["throws"][0, 0] = card("8S")
    assert make("simple").act(v, EAAI, np.array([1]))[0] == KNOCK + card("KS")


def test_simple_chooses_among_equal_discards_with_equal_chance():
    agent = make("simple")
    seen = 0
    for n, s in enumerate(positions(EAAI, 23, 30)):
        if s["phase"] != Phase.DISCARD:
            continue
        if s["turn"] > 2:  # no pair can come again before its seat's second turn
            continue
        may = NaiveSimple().may(s, EAAI)
        if len(may) < 3:
            continue
        views = np.zeros(2000, dtype=VIEW)
        look(s, EAAI.record, int(s["seat"]), views[0])
        views[1:] = views[0]
        tally = Counter(words(a) for a in agent.act(views, EAAI, np.arange(2000) + 5000 * n).tolist())
        assert set(tally) == may
        even = 2000 / len(may)
        chi = sum((tally[a] - even) ** 2 / even for a in may)
        assert chi < (len(may) - 1) + 5 * (2 * (len(may) - 1)) ** 0.5
        seen += 1
    assert seen >= 5


def test_H4_simple_never_throws_the_upcard_just_taken():
    agent, rules = make("simple"), Rules(discard_taken=True, hands=1, target=None)
    v = np.zeros(1, dtype=VIEW)
    for s in positions(rules, 24, 25):
        if s["phase"] == Phase.DISCARD and s["taken"]:
            look(s, rules.record, int(s["seat"]), v[0])
            action = int(agent.act(v, rules, np.array([1]))[0])
            assert action not in (DISCARD + s["drawn"], KNOCK + s["drawn"])


# --- Matches --------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", AGENTS_PLAY)
def test_native_and_in_step_games_are_the_same(preset):
    rules = PRESETS[preset]
    if rules.target:
        rules = rules.but(target=40)
    native = play_pairs(make("simple"), make("simple:late=0"), rules, 7, 3, 4, keep_hands=True)
    hidden = in_step("simple:late=0")
    mixed = play_pairs(make("simple"), hidden, rules, 7, 3, 4, keep_hands=True)
    assert Hidden.calls
    assert equal(native, mixed)
    assert isinstance(make("simple"), NativeAgent)


def test_G1_a_match_is_the_same_however_it_is_cut():
    a, b, rules = make("simple"), make("random"), EAAI.but(target=30)
    whole, _ = play_pairs(a, b, rules, 9, 0, 12)
    parts = [play_pairs(a, b, rules, 9, first, n)[0] for first, n in ((0, 1), (1, 4), (5, 7))]
    assert equal((whole, whole[:0]), (np.concatenate(parts), whole[:0]))
    stepped = play_pairs(in_step("simple"), in_step("random"), rules, 9, 5, 7)[0]
    assert equal((whole[5:], whole[:0]), (stepped, whole[:0]))


def test_pairs_are_mirrored():
    """Both games of a pair deal the same decks with the same dealer, and the agents change seats."""
    decks: dict[int, list[list[bytes]]] = {A: [], B: []}

    @dataclass
    class Watcher:
        spec: str
        side: int

        def act(self, views: np.ndarray, rules: Rules, keys: np.ndarray) -> np.ndarray:
            decks[self.side].append([v["hand"].tobytes() for v in views if v["passes"] == 0 and v["turn"] == 0])
            return make("simple").act(views, rules, keys)

    rules = PRESETS["openspiel"]
    games, _ = play_pairs(Watcher("a", A), Watcher("b", B), rules, 2, 0, 20)
    assert (games["a_seat"] == [0, 1]).all()
    # Who starts holds the same hand in both games: A in one, B in the other.
    hands_a = {h for batch in decks[A] for h in batch}
    hands_b = {h for batch in decks[B] for h in batch}
    assert hands_a == hands_b
    assert len(hands_a) == 20


class Nosy:
    """Remembers all that it is shown, plays as `simple`, and keeps what arrays it gets."""

    spec = "nosy"

    def __init__(self, all_seen: list[dict[bytes, set[bytes]]]) -> None:
        self.all_seen = all_seen
        self.seen: dict[bytes, set[bytes]] = {}
        self.kept: list[tuple[np.ndarray, bytes]] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> Nosy:
        new = Nosy(self.all_seen)
        new.seen, new.kept = {k: set(v) for k, v in self.seen.items()}, list(self.kept)
        self.all_seen.append(new.seen)
        return new

    def act(self, views: np.ndarray, rules: Rules, keys: np.ndarray) -> np.ndarray:
        assert views.base is None and views.flags.owndata and views.flags.writeable and keys.base is None
        for array, before in self.kept:
            assert array.tobytes() == before, "an array handed out before has changed"
        self.kept.append((views, views.tobytes()))
        bare = np.zeros(len(views), dtype=VIEW)
        for name in VIEW.names or ():
            bare[name] = views[name]
        assert bare.tobytes() == views.tobytes(), "something lies between the fields"
        for v in views:
            if v["turn"] == 0 and v["hand_number"] == 0:
                deal = v["upcard"].tobytes()
                self.seen.setdefault(deal, set()).add(v["hand"].tobytes())
        return make("simple").act(views, rules, keys)


@pytest.mark.parametrize("same", [True, False])
def test_no_agent_sees_both_hands_of_a_deal(same: bool):
    """The first decisions of a game, one hand a deal: nobody is shown the other, in the mirrored game or elsewhere."""
    all_seen: list[dict[bytes, set[bytes]]] = []
    a = Nosy(all_seen)
    play_pairs(a, a if same else make("simple"), PRESETS["openspiel"], 3, 0, 12)
    assert not a.seen and not a.kept
    assert len(all_seen) == (4 if same else 2)
    for seen in all_seen:
        assert seen
    # One pair: with twelve, two deals may turn up the same card.
    all_seen.clear()
    for pair in range(12):
        play_pairs(a, a if same else make("simple"), PRESETS["openspiel"], 3, pair, 1)
    assert all(len(hands) == 1 for seen in all_seen for hands in seen.values())


def test_an_agent_that_cannot_be_copied_still_plays():
    class Stiff(Hidden):
        def __deepcopy__(self, memo: dict[int, Any]) -> Stiff:
            raise TypeError("cannot pickle a process")

    games, _ = play_pairs(Stiff(make("simple")), make("random"), EAAI.but(target=30), 3, 0, 3)
    assert equal(
        (games, games[:0]), (play_pairs(make("simple"), make("random"), EAAI.but(target=30), 3, 0, 3)[0], games[:0])
    )


def test_G8_the_longest_game_fits():
    """49 points a hand for 1000 hands are more than 16 bits hold, 1000 hands of a game more than there was room for."""

    rules = PRESETS["modern"].but(target=None, hands=1000)
    games, hands = play_pairs(make("simple"), make("random"), rules, 1, 0, 1, keep_hands=True)
    assert len(hands) == 2000 == games["hands"].sum()
    for swap in (0, 1):
        mine = hands[:1000] if swap == 0 else hands[1000:]
        for side in (A, B):
            assert games[0, swap]["points"][side] == mine["points"][mine["winner"] == side].astype(int).sum()
        boxes = [int((mine["winner"] == side).sum()) for side in (A, B)]
        lead = int(games[0, swap]["points"][A] - games[0, swap]["points"][B]) + 25 * (boxes[A] - boxes[B])
        assert games[0, swap]["margin"] == lead
        assert games[0, swap]["points"][A] > 1 << 15 and boxes[A] > 255
    stepped = play_pairs(in_step("simple"), make("random"), rules, 1, 0, 1, keep_hands=True)
    assert equal((games, hands), stepped)


def test_one_agent_against_itself_breaks_even_to_the_point():
    """Seats and decks are mirrored, so an agent without chance scores the same on both sides."""
    rules = PRESETS["openspiel"]

    class First:
        spec = "first"

        def act(self, views: np.ndarray, rules: Rules, keys: np.ndarray) -> np.ndarray:
            return make("simple").act(views, rules, np.zeros(len(keys), dtype=np.int64))

    games, _ = play_pairs(First(), First(), rules, 4, 0, 30)
    assert (games["margin"][:, 0] == -games["margin"][:, 1]).all()
    assert (games["points"][:, 0, A] == games["points"][:, 1, B]).all()
    assert games["margin"].any()


def test_a_match_counts_what_happened():
    games, hands = play_pairs(make("simple"), make("random"), EAAI.but(target=50), 8, 0, 20, keep_hands=True)
    assert games["hands"].sum() == len(hands)
    assert games["turns"].sum() == hands["turns"].sum()
    for side in (A, B):
        assert games["points"][:, :, side].sum() == hands["points"][hands["winner"] == side].sum()
        for finish in range(1, 5):
            won = (hands["winner"] == side) & (hands["kind"] == finish)
            assert games["finishes"][:, :, side, finish].sum() == won.sum()
    assert (np.abs(games["margin"]) == np.abs(games["points"][..., A] - games["points"][..., B])).all()
    assert ((games["winner"] == A) == (games["margin"] > 0)).all()
    assert (games["winner"] == A).mean() > 0.9


def test_G1_H14_games_are_those_of_the_engine():
    """A match by hand: a game's decks follow from its pair's seed, and each hand is dealt by who should."""
    agent, rules = make("simple"), PRESETS["modern"]
    games, hands = play_pairs(agent, agent, rules, 12, 0, 3, keep_hands=True)
    for pair in range(3):
        s = new_states(1)[0]
        new_game(s, rules.record, int(pair_seed(12, pair)))
        non_dealer = 1 - int(s["dealer"])
        mine = hands[hands["pair"] == pair]
        assert mine["starter"][0] == non_dealer  # side A sits in seat 0 in the first game
        second = mine[games[pair, 0]["hands"]]
        assert second["starter"] == 1 - non_dealer
        # The loser deals: whoever won starts the next hand.
        first_game = mine[: games[pair, 0]["hands"]]
        for before, after in pairwise(first_game):
            assert after["starter"] == (before["winner"] if before["winner"] != NOBODY else before["starter"])


# --- Forfeits and users' own agents ---------------------------------------------------------------


class Cheat:
    """Draws when it may, and then knocks whatever it holds."""

    spec = "cheat"

    def act(self, views: np.ndarray, rules: Rules, keys: np.ndarray) -> np.ndarray:
        return np.where(views["phase"] == Phase.DISCARD, KNOCK, np.where(views["passes"] < 2, PASS, DRAW))


def test_I1_an_illegal_action_forfeits_the_game_and_is_counted_apart():
    games, _ = play_pairs(Cheat(), make("simple"), EAAI, 1, 0, 10)
    lost = games["forfeit"] == A
    assert lost.mean() > 0.9
    assert (games["winner"][lost] == B).all()
    assert (games["forfeit"] != B).all()
    games, _ = play_pairs(make("simple"), Cheat(), EAAI, 1, 0, 10)
    assert (games["forfeit"] == B).mean() > 0.9


def test_an_agent_that_returns_nonsense_is_told_by_name():
    class Nonsense(Cheat):
        spec = "nonsense"
        answer: Callable[[int], Any]

        def act(self, views: np.ndarray, rules: Rules, keys: np.ndarray) -> np.ndarray:
            return Nonsense.answer(len(views))  # type: ignore[no-any-return]

    answers: list[Callable[[int], Any]] = [
        lambda n: None,
        lambda n: 3,
        lambda n: [],
        lambda n: [[2] * n],
        lambda n: [2] * (n + 1),
        lambda n: [[2]] * (n - 1) + [3],
        np.zeros,
        lambda n: [np.nan] * n,
        lambda n: [True] * n,
        lambda n: np.ones(n, dtype=bool),
        lambda n: ["2"] * n,
    ]
    for answer in answers:
        Nonsense.answer = staticmethod(answer)
        sentence = r"agent nonsense: act\(\) returned no actions: whole numbers of shape \(\d+,\) are due, not "
        with pytest.raises(AgentError, match=sentence):
            play_pairs(Nonsense(), make("simple"), PRESETS["openspiel"], 1, 0, 20)


def test_an_agent_that_raises_is_told_by_name():
    for error in (ZeroDivisionError("oh"), ValueError("oh"), SystemExit("oh")):

        class Broken(Cheat):
            def act(self, views: np.ndarray, rules: Rules, keys: np.ndarray) -> np.ndarray:
                raise error  # noqa: B023

        sentence = rf"agent cheat failed: {type(error).__name__}: oh \(test_agents.py, line \d+\)"
        with pytest.raises(AgentError, match=sentence):
            play_pairs(make("simple"), Broken(), EAAI, 1, 0, 2)


@pytest.mark.parametrize(
    "actions",
    [
        lambda n: np.full(n, (1 << 63) + 5, dtype=np.uint64),
        lambda n: [1 << 70] * n,
        lambda n: [-(1 << 70)] * n,
        lambda n: np.full(n, -1, dtype=np.int8),
    ],
)
def test_I1_a_number_of_any_size_forfeits(actions: Callable[[int], Any]):
    class Large(Cheat):
        def act(self, views: np.ndarray, rules: Rules, keys: np.ndarray) -> np.ndarray:
            return actions(len(views))  # type: ignore[no-any-return]

    games, _ = play_pairs(Large(), make("simple"), EAAI, 1, 0, 3)
    assert (games["forfeit"] == A).all()


MYBOT = """
import numpy as np

from agents.protocol import Kind, NativeAgent, Option, policy
from ginenv.cards import lowest
from ginenv.state import BIG_GIN, DISCARD, DISCARD_PHASE, DRAW, KNOCK, PASS


@policy
def choose(view, rules, params, key):
    if view["phase"] != DISCARD_PHASE:
        return DRAW if view["choices"] & 1 else PASS
    if view["choices"] >> BIG_GIN & 1:
        return BIG_GIN
    if view["knocks"] != 0 and params[0] > 0:
        return KNOCK + lowest(view["knocks"])
    return DISCARD + lowest(view["discards"])


AGENT = Kind(
    "throws its lowest card",
    lambda spec, options: NativeAgent(spec, choose, np.array([options["knock"]], dtype=np.float64)),
    {"knock": Option(1, "1: knocks when it may", 0, 1)},
)
"""


def test_a_users_own_policy_file_plays_at_native_speed(tmp_path, monkeypatch):
    (tmp_path / "mybot.py").write_text(MYBOT)
    monkeypatch.chdir(tmp_path)
    agent = make("./mybot.py:knock=0")
    assert isinstance(agent, NativeAgent)
    assert agent.spec == "./mybot.py:knock=0"
    rules = EAAI.but(target=30)
    native = play_pairs(agent, make("simple"), rules, 3, 0, 3)
    assert (native[0]["forfeit"] == NOBODY).all()
    assert equal(native, play_pairs(Hidden(agent), make("simple"), rules, 3, 0, 3))
    with pytest.raises(ValueError, match=r"\./mybot\.py has no option 'knok': did you mean knock\?"):
        make("./mybot.py:knok=1")
    (tmp_path / "empty.py").write_text("")
    with pytest.raises(ValueError, match="defines no AGENT"):
        make("./empty.py")


def test_a_file_that_fails_is_one_sentence(tmp_path: Path):
    path = tmp_path / "my.pybots" / "bot.py"  # ".py" within the folder's name
    path.parent.mkdir()
    path.write_text(MYBOT)
    assert make(f"{path}:knock=0").spec == f"{path}:knock=0"
    assert make(str(path)).spec == f"{path}:knock=1"
    assert agent_digest(f"{path}:knock=0") == agent_digest(str(path))
    for text, sentence in (
        ("def (", r"SyntaxError: .*bot\.py, line 1\)$"),
        ("1 / 0", r"ZeroDivisionError: .*\(bot\.py, line 1\)$"),
        ("import sys\nsys.exit(3)", r"SystemExit: 3 \(bot\.py, line 2\)$"),
        ("import nowhere_at_all", r"ModuleNotFoundError: .*\(bot\.py, line 1\)$"),
        ("raise ValueError('my own')", r"ValueError: my own \(bot\.py, line 1\)$"),
        (
            "from agents.protocol import Kind\nAGENT = Kind('', lambda spec, options: 1 / 0, {})",
            r"ZeroDivisionError: .*\(bot\.py, line 2\)$",
        ),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=rf"^agent: .*bot\.py cannot be made: {sentence}"):
            make(str(path))


def test_an_option_set_twice_is_refused():
    with pytest.raises(ValueError, match="early is set twice in 'simple:early=5,early=6'"):
        make("simple:early=5,early=6")


def test_actions_are_numbered_as_the_agents_expect():
    assert (DRAW, TAKE, PASS, BIG_GIN, DISCARD, KNOCK) == (0, 1, 2, 3, 4, 56)
