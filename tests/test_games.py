"""Games and matches from hand results: the documents' words, the oracle's columns, and the engine's running score."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ginenv.deal import reset_game
from ginenv.games import (
    LONGEST_MATCH,
    HandScore,
    dead,
    hand_score,
    keep_game,
    keep_match,
    next_dealer,
    prize_shares,
    won,
)
from ginenv.ledger import enter_hand, final_total, game_over, game_winner, margin
from ginenv.rules import PRESETS, Rules, rules
from ginenv.state import NO_SEAT, new_states
from ginenv.table import Table
from tests.common import ALL_RULES, legal_actions, naive_game
from tests.reference import DEAD, HandResult

HOLLYWOOD = PRESETS["hollywood"]


def scores(game, column):
    return game.columns[column].scores


# --- V2: Hollywood --------------------------------------------------------------------------------


def test_V2_the_first_win_goes_into_column_1_the_second_into_two_later_ones_into_all():
    game = keep_game("hollywood", [won(0, 10), won(1, 7), won(0, 20), won(0, 30), dead(), won(1, 5)])
    assert [scores(game, c) for c in range(3)] == [(60, 12), (50, 5), (30, 0)]
    assert [c.boxes for c in game.columns] == [(3, 2), (2, 1), (1, 0)]
    assert [(e.hand, e.seat, e.points, e.score) for e in game.columns[1].entries] == [
        (2, 0, 20, 20), (3, 0, 30, 50), (5, 1, 5, 5),
    ]  # fmt: skip
    assert not game.over


def test_V2_a_closed_column_takes_no_more_points_and_no_more_boxes():
    game = keep_game("hollywood", [won(0, 60), won(0, 50), won(1, 30), won(1, 40)])
    # Column 1 closed with seat 0's second win: seat 1's first win finds it closed and is entered nowhere.
    assert [scores(game, c) for c in range(3)] == [(110, 0), (50, 40), (0, 0)]
    assert [c.boxes for c in game.columns] == [(2, 0), (1, 1), (0, 0)]
    assert [c.home for c in game.columns] == [0, None, None]


def test_V2_each_column_has_its_own_boxes_game_bonus_and_shutout():
    game = keep_game("hollywood", [won(0, 60), won(1, 10), won(0, 50), won(0, 55), won(0, 48)])
    first, second, third = game.columns
    # Column 1: 110 and two boxes, home; seat 1 has its hand here, so no shutout.
    assert (first.scores, first.boxes, first.game_bonus, first.shutout) == ((110, 10), (2, 1), (100, 0), (0, 0))
    assert first.totals == (110 + 50 + 100, 10 + 25)
    # Columns 2 and 3: seat 1's only hand is not entered there, so it won no hand in them: shut out, all doubles.
    assert (second.scores, second.boxes, second.totals) == ((105, 0), (2, 0), (2 * (105 + 50 + 100), 0))
    assert (third.scores, third.boxes, third.totals) == ((103, 0), (2, 0), (2 * (103 + 50 + 100), 0))
    assert (game.over, game.totals, game.winner) == (True, (260 + 510 + 506, 35), 0)
    assert game.margin == 260 + 510 + 506 - 35


def test_V2_the_game_ends_with_its_third_column():
    hands = [won(0, 60), won(0, 60), won(0, 60)]
    assert not keep_game("hollywood", hands).over  # 180, 120, 60
    game = keep_game("hollywood", [*hands, won(0, 40)])
    assert game.over and [scores(game, c)[0] for c in range(3)] == [120, 120, 100]
    with pytest.raises(ValueError, match="the game is over after 4 hands"):
        keep_game("hollywood", [*hands, won(0, 40), dead()])


def test_V2_level_totals_go_to_who_reached_the_target_first():
    level = rules("hollywood", box_bonus=0, game_bonus=0, shutout="none", target=20)
    for first in (0, 1):
        # Column 1: 40 to 0. The other's first win finds it closed; then columns 2 and 3 are 20 to 0 for them.
        hands = [won(first, 40), won(1 - first, 1), *[won(1 - first, 10)] * 3]
        game = keep_game(level, hands)
        assert (game.over, game.totals, game.winner, game.margin) == (True, (40, 40), first, 0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"hollywood": True, "target": None, "hands": 3}, "races to a target"),
        ({"match": 0}, "match=0 is out of range"),
    ],
)
def test_V2_G6_rules_that_make_no_game_are_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        rules("modern", **changes)


# --- In step with the oracle and the engine -------------------------------------------------------


def play_ledgers(r: Rules, seed: int, share: float, most: int) -> int:
    """Enter random hands in the engine's ledger, the oracle's and ours until the game ends; return its hands."""
    rng = random.Random(seed)
    s = new_states(1)[0]
    reset_game(s, seed)
    s["dealer"] = rng.randrange(2)
    first = int(s["dealer"])
    naive = naive_game(r, first)
    hands: list[HandScore] = []
    while not game_over(s, r.record):
        alive = rng.random() < 0.9
        winner = int(rng.random() < share) if alive else NO_SEAT
        points = rng.randrange(most)
        s["winner"] = winner
        s["points"][:] = 0
        if alive:
            s["points"][winner] = points
        enter_hand(s, r.record)
        hands.append(won(winner, points) if alive else dead())
        naive.record(HandResult("knock", winner, winner, points, 0, 0) if alive else DEAD)
        game = keep_game(r, hands)
        places = [score for column in game.columns for score in column.scores]
        assert s["scores"][: len(places)].tolist() == places == list(naive.scores)
        boxes = [box for column in game.columns for box in column.boxes]
        assert s["boxes"][: len(boxes)].tolist() == boxes == list(naive.boxes)
        assert s["first_home"] == (NO_SEAT if game.columns[0].home is None else game.columns[0].home)
        assert game.totals == tuple(int(final_total(s, r.record, seat)) for seat in (0, 1))
        assert s["dealer"] == next_dealer(r, hands, first) == naive.dealer
        assert game.over == bool(game_over(s, r.record))
        if r.hands is None:
            assert game.over == naive.over
    assert game_winner(s, r.record) == (NO_SEAT if game.winner is None else game.winner)
    assert abs(margin(s, r.record, 0)) == game.margin
    if r.hands is None:
        assert (game.totals, game.winner, game.margin) == (naive.totals(), naive.winner(), naive.margin())
    return len(hands)


@pytest.mark.parametrize("name", ALL_RULES)
def test_G1_to_G5_G8_V2_engine_oracle_and_score_keeper_agree(name):
    for seed in range(4):
        play_ledgers(ALL_RULES[name], seed, (0.5, 0.5, 0.9, 1.0)[seed % 4], (60, 30, 90)[seed % 3])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1 << 32), st.sampled_from([0.0, 0.3, 0.5, 0.9]), st.sampled_from([15, 60, 200]))
def test_V2_hollywood_games_of_all_kinds_agree(seed, share, most):
    shutout = ("double", "add", "none")[seed % 3]
    play_ledgers(rules("hollywood", shutout=shutout, target=40, box_bonus=seed % 2 * 25), seed, share, most)


@pytest.mark.parametrize("name", ["modern", "hollywood", "denexa", "oklahoma", "eaai"])
def test_G1_G5_V2_a_game_at_the_table_is_kept_the_same(name):
    """A whole game, card by card; the score keeper is told the results only."""
    table, rng = Table(PRESETS[name], seed=11), random.Random(5)
    hands = []
    while True:
        while not table.done:
            table.step(legal_actions(table._s)[-1] if rng.random() < 0.8 else rng.choice(legal_actions(table._s)))
        hands.append(hand_score(table.result))
        game = keep_game(PRESETS[name], hands)
        assert tuple(column.scores for column in game.columns) == table.columns
        assert (game.totals, game.over, game.winner) == (table.totals, table.game_over, table.winner)
        if table.game_over:
            break
        dealer = next_dealer(PRESETS[name], hands, table.history[0].dealer)
        table.deal()
        assert table.dealer == dealer
    assert table.columns[0] == table.scores


# --- G6: matches ----------------------------------------------------------------------------------


def test_G6_games_go_on_until_the_agreed_total_and_margins_are_added():
    """Document 000: a match to 500; each game's winner earns the difference of the totals."""
    game = [won(0, 60), won(1, 30), won(0, 45)]  # 105 + 100 + 50 against 30 + 25: 200
    match = keep_match("denexa", game)
    assert (match.totals, match.over, match.winner) == ((200, 0), False, None)
    lost = [won(0, 20), won(1, 101)]  # 101 + 100 + 25 against 20 + 25: 181 to seat 1
    match = keep_match("denexa", [*game, *lost])
    assert (match.totals, [g.winner for g in match.games]) == ((200, 181), [0, 1])
    match = keep_match("denexa", [*game, *lost, *game, won(0, 100)])
    assert match.totals == (400 + 100 + 100 + 100 + 25, 181)  # the last game is a shutout, which adds 100
    assert (match.over, match.winner) == (True, 0)
    with pytest.raises(ValueError, match="the match is over"):
        keep_match("denexa", [*game, *lost, *game, won(0, 100), dead()])


def test_G6_a_game_starts_at_zero_and_the_deal_passes_on():
    hands = [won(0, 100), won(1, 3)]
    match = keep_match("denexa", hands)
    assert [g.columns[0].scores for g in match.games] == [(100, 0), (0, 3)]
    assert next_dealer("denexa", hands) == 1  # the winner of a hand deals (000)
    assert next_dealer("modern", hands) == 0  # the loser (001)
    assert next_dealer("eaai", hands) is None  # alternates, from nobody knows whom
    assert next_dealer("eaai", [dead(), *hands], 1) == 1


def test_G6_without_an_agreed_total_there_is_one_game():
    match = keep_match("modern", [won(0, 100)])
    assert (match.over, match.winner) == (True, 0)
    with pytest.raises(ValueError, match="the game is over"):
        keep_match("modern", [won(0, 100), dead()])


def test_G6_level_games_alone_end_a_match_after_a_thousand():
    level = rules("modern", target=None, hands=1, match=100)
    match = keep_match(level, [dead()] * LONGEST_MATCH)
    assert (match.over, match.winner) == (True, None)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0, 1]), st.integers(0, 120)), max_size=60))
def test_G6_a_match_is_its_games_and_ends_as_soon_as_it_may(played):
    taken: list[HandScore] = []
    for seat, points in played:
        if keep_match("denexa", taken).over:
            break
        taken.append(won(seat, points))
    match = keep_match("denexa", taken)
    assert sum(len(g.hands) for g in match.games) == len(taken)
    assert all(g.over for g in match.games[:-1])
    for g in match.games:
        assert keep_game("denexa", g.hands) == g
    sums = [sum(g.margin for g in match.games if g.winner == seat) for seat in (0, 1)]
    assert (list(match.totals), match.over) == (sums, max(sums) >= 500)


# --- G7: the prize pool ---------------------------------------------------------------------------


def test_G7_document_003_winner_75_and_the_rest_to_those_not_more_than_50_behind():
    def shares(*percent):
        return tuple(Fraction(p, 100) for p in percent)

    assert prize_shares([100, 50], [0]) == shares(75, 25)  # 50 behind is not more than 50
    assert prize_shares([100, 49], [0]) == shares(75, 0)  # the quarter stays in the pool
    assert prize_shares([100, 60, 90, 20], [0]) == (Fraction(3, 4), Fraction(1, 8), Fraction(1, 8), 0)
    assert prize_shares([-10, -30, -70], [0]) == shares(75, 25, 0)  # penalties count down
    assert prize_shares([80, 80, 40], [0, 1]) == (Fraction(3, 8), Fraction(3, 8), Fraction(1, 4))
    for winners in ([], [3], [-1]):
        with pytest.raises(ValueError, match="should have won"):
            prize_shares([1, 2, 3], winners)


@given(st.lists(st.integers(-500, 500), min_size=2, max_size=6))
def test_G7_shares_never_exceed_the_pool(totals):
    winner = totals.index(max(totals))
    shares = prize_shares(totals, [winner])
    others = [share for seat, share in enumerate(shares) if seat != winner]
    near = sum(max(totals) - total <= 50 for total in totals) - 1
    assert shares[winner] == Fraction(3, 4)
    assert sum(others) == (Fraction(1, 4) if near else 0)
    assert len(set(others) - {0}) <= 1


def test_wrong_hands_are_refused():
    with pytest.raises(ValueError, match="the seats are 0 and 1"):
        won(2, 5)
    with pytest.raises(ValueError, match="0 points or more, not -1"):
        won(0, -1)
