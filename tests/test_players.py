"""More than two players: all at one table (H13, S6, S7), three-handed (V5), partners (V6), the prize pool (G7)."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import ginenv
from agents.registry import make
from experiments.match import play_pairs
from ginenv.cards import card_text
from ginenv.deal import deal, new_game, shuffled_deck
from ginenv.games import prize_shares
from ginenv.hands import table_settlement
from ginenv.invariants import invariants
from ginenv.ledger import (
    above_others,
    final_total,
    game_over,
    game_winner,
    margin,
    standing,
)
from ginenv.rules import PRESETS, Rules, cards_each, parse_rules
from ginenv.state import BIG_GIN, KNOCK, NO_SEAT, OVER_PHASE, Kind, new_states
from ginenv.step import step
from ginenv.table import Table, replay
from ginenv.view import VIEW
from tests.common import (
    DECK,
    MANY,
    PLACES,
    TABLES,
    cards,
    choose,
    legal_actions,
    mask,
    meld_rich_pool,
    naive_rules,
    words,
)
from tests.reference import (
    NaiveHand,
    NaivePartners,
    NaiveTableGame,
    NaiveThreeHanded,
    TableSettlement,
    best_arrangements,
    least_deadwood,
    settle_table,
)

GOLDEN = Path(__file__).parent / "golden"
POINTS, PENALTY = PRESETS["point_rules"], PRESETS["penalty"]


# --- All at one table, in step with the oracle ------------------------------------------------------


def play_in_step(s: np.void, rules: Rules, style: int, rng: random.Random) -> NaiveHand:
    """Play the hand just dealt in ``s`` in step with the oracle, which is returned."""
    deck = shuffled_deck(int(s["seed"]), int(s["hand_number"]), rules.ranks, rules.suits)
    naive = NaiveHand([DECK[c] for c in deck], naive_rules(rules), int(s["dealer"]))
    while naive.result is None:
        invariants(s, rules)
        assert s["phase"] == ("upcard", "draw", "discard").index(naive.phase)
        assert (s["seat"], s["turn"]) == (naive.seat, naive.turns)
        for seat in range(rules.hand_players):
            assert cards(int(s["hand"][seat])) == naive.hands[seat]
        legal = legal_actions(s)
        assert {words(a) for a in legal} == naive.legal()
        action = choose(s, legal, style, rng)
        step(s, rules.record, action)
        melds = [cards(int(m)) for m in s["melds"] if m] if action >= KNOCK or action == BIG_GIN else None
        naive.apply(words(action), melds, [DECK[c] for c in s["order"][: s["n_stock"]][::-1]])
    invariants(s, rules)
    return naive


@pytest.mark.parametrize("name", TABLES)
def test_H13_S6_S7_hands_and_games_are_the_oracles(name):
    rules, rng = TABLES[name], random.Random(len(name))
    s, kinds = new_states(1)[0], set()
    hands = 40
    while hands > 0:
        new_game(s, rules.record, rng.randrange(1 << 62))
        game = NaiveTableGame(rules.players, rules.scoring, rules.target, rules.next_dealer, int(s["dealer"]))
        played = 0
        while hands > 0:
            result = play_in_step(s, rules, 1 + hands % 2, rng).result
            hands, played = hands - 1, played + 1
            game.record(result)
            kinds.add(result.kind)
            assert Kind(int(s["kind"])).name.lower() == result.kind
            if isinstance(result, TableSettlement):
                assert tuple(s["points"][: rules.players]) == result.points
                assert tuple(s["deadwood"][: rules.players]) == result.deadwoods
                assert (s["winner"], s["knocker"]) == (result.winner, result.knocker)
            assert tuple(s["scores"][: rules.players]) == tuple(game.scores)
            assert s["dealer"] == game.dealer
            over = game.over if rules.hands is None else played == rules.hands
            assert bool(game_over(s, rules.record)) == over
            if over:
                best = game.winners()
                assert [final_total(s, rules.record, seat) for seat in range(rules.players)] == game.scores
                if len(best) == 1:
                    assert game_winner(s, rules.record) == best[0]
                break
            deal(s, rules.record)
    assert kinds & {"knock", "gin"}


@pytest.mark.parametrize("scoring", [PENALTY, POINTS], ids=["penalty", "points"])
def test_H13_S6_S7_settlements_are_the_oracles(scoring):
    """Hands of two to six, dealt from cards that lie near each other: undercuts, ties and chains abound."""
    rng, kinds, several = random.Random(1), Counter(), 0
    while sum(kinds.values()) < 600:
        players = rng.randint(2, 6)
        pool = meld_rich_pool(rng)
        most = min(len(pool) // players, 10)
        if most < 4:
            continue
        each = rng.randint(4, most)
        rules = scoring.but(players=players, cards_dealt=each, undercut_ties=rng.random() < 0.5)
        dealt = rng.sample(pool, players * each)
        hands = [set(dealt[k::players]) for k in range(players)]
        knocker = rng.randrange(players)
        if rng.random() < 0.5:
            knocker = min(range(players), key=lambda seat: least_deadwood(hands[seat]))
        best = sorted(best_arrangements(hands[knocker]), key=lambda melds: sorted(map(sorted, melds)))
        laid_down = rng.choice(best)  # any: the knocker may have chosen it
        if not laid_down:
            continue  # the engine chooses for whom no melds are given
        melds = np.zeros(3, np.int64)
        melds[: len(laid_down)] = [mask(m) for m in laid_down]
        mine = table_settlement([mask(hand) for hand in hands], knocker, rules, melds)
        want = settle_table(hands, knocker, laid_down, rules=naive_rules(rules))
        assert (mine.kind, mine.winner_seat) == (want.kind, want.winner)
        assert tuple(seat.deadwood for seat in mine.seats) == want.deadwoods
        assert tuple(seat.points for seat in mine.seats) == want.points
        kinds[want.kind] += 1
        several += sum(count <= want.deadwoods[knocker] for count in want.deadwoods) > 2
    assert min(kinds[kind] for kind in ("knock", "gin", "undercut")) > 5
    assert several > 5


# --- H13, in words ----------------------------------------------------------------------------------


def test_H13_cards_by_the_number_of_players():
    assert [cards_each(n) for n in range(2, 7)] == [10, 7, 7, 6, 6]
    assert [POINTS.but(players=n).cards_dealt for n in range(2, 7)] == [10, 7, 7, 6, 6]
    assert [PENALTY.but(players=n).cards_dealt for n in range(2, 7)] == [10, 10, 7, 6, 6]  # 003: ten for three
    assert POINTS.but(players=4, cards_dealt=9).cards_dealt == 9
    assert POINTS.but(cards_dealt=5).but(players=5).cards_dealt == 5  # an unusual number is kept


@pytest.mark.parametrize("players", range(2, 7))
def test_H13_the_refusal_goes_round_and_turns_rotate(players):
    t = Table(POINTS.but(players=players), seed=5, dealer=players - 1)
    for seat in range(players):  # from the dealer's left, the dealer last
        assert (t.seat, [ginenv.action_text(a) for a in t.legal_actions()]) == (seat, ["take", "pass"])
        t.step("pass")
    assert (t.seat, [ginenv.action_text(a) for a in t.legal_actions()]) == (0, ["draw"])
    for turn in range(2 * players):
        assert t.seat == turn % players
        t.step("take" if turn % 2 else "draw")  # the next in turn may always take the top discard
        t.step(next(a for a in t.legal_actions() if a < KNOCK))


def test_H13_who_takes_the_upcard_has_the_first_turn():
    t = Table(PENALTY, seed=5, dealer=0)
    t.step("pass")
    t.step("pass")
    t.step("take")
    t.step(t.legal_actions()[0])
    assert t.seat == 0


KNOCKER = "AS 2S 3S JH JD JC 5D"  # knocks with 5


def test_H13_layoffs_go_on_the_knockers_melds_as_he_laid_them():
    chain, next_one = "4S 5S 9H 9D 8C 7C QD", "JS 6S 7S KH KD 2H 4D"
    result = ginenv.settle_all([KNOCKER, chain, next_one], 0, POINTS)
    assert [[str(x) for x in seat.layoffs] for seat in result.seats] == [
        [], ["4S 5S on AS 2S 3S"], ["JS on JH JD JC"],
    ]  # fmt: skip
    assert [seat.deadwood for seat in result.seats] == [5, 9 + 9 + 8 + 7 + 10, 6 + 7 + 10 + 10 + 2 + 4]
    # One's own chain is on the original: with 4S and 5S of one's own, 6S goes too.
    result = ginenv.settle_all([KNOCKER, "4S 5S 6S 9D 8C 7C QD", "JS 2C 7S KH KD 2H 4D"], 0, POINTS)
    assert result.seats[1].layoffs == (ginenv.Layoff("4S 5S 6S", "AS 2S 3S"),)


def test_H13_document_003_nine_and_ten_on_a_run_to_the_eight():
    hands = ["3H 2H QC TC 8D 6C 6D", "4H 5H 6H 7H 8H 5D 4C", "9H TH KS KD 3S 3D 7C", "JH QS 9C 6S AS AD JD"]
    result = ginenv.settle_all(hands, 1, PENALTY)
    assert (result.kind, result.winner_seat) == ("knock", 1)
    assert [seat.points for seat in result.seats] == [9 - 40, 0, 9 - 33, 9 - 47]


# --- Scores -----------------------------------------------------------------------------------------


def points_of(hands: list[str], rules: Rules) -> tuple[str, int, list[int]]:
    result = ginenv.settle_all(hands, 0, rules)
    return result.kind, result.winner_seat, [seat.points for seat in result.seats]


HIGH = "KS KH QC 7S 7D 3H 3D"  # 50
SIX, FIVE = "QS QH QD TS TH TD 6C", "9H 9D 9C 8S 8H 8D 5C"


def test_S6_a_knock_the_others_get_their_deadwood_less_the_knockers():
    assert points_of([KNOCKER, HIGH, "QS QH TD 8S 7H 6H 3C", "9S 9H 8C 8D 6C 6D 4C"], PENALTY) == (
        "knock", 0, [0, 5 - 50, 5 - 54, 5 - 50],
    )  # fmt: skip


def test_S6_gin_the_others_get_their_deadwood_and_25():
    gin = "AS 2S 3S JH JD JC JS"
    assert points_of([gin, HIGH, SIX, "9S 9H 8C 8D 6S 6D 4C"], PENALTY) == ("gin", 0, [0, -75, -31, -75])


def test_S6_an_undercut_costs_the_knocker_25_and_who_did_not_undercut_the_own_count():
    knocker = "AS 2S 3S JH JD JC 8C"
    assert points_of([knocker, HIGH, SIX, FIVE], PENALTY) == ("undercut", 3, [-(8 + 25), -50, 0, 0])
    # An equal count is no undercut (003: "lower"): SIX against 6 gets 6 - 6.
    assert points_of(["AS 2S 3S JH JD JC 6S", HIGH, SIX, "9S 9H 7C 8D 5S 4D 4C"], PENALTY)[:2] == ("knock", 0)
    assert points_of(["AS 2S 3S JH JD JC 6S", HIGH, SIX, "9S 9H 7C 8D 5S 4D 4C"], PENALTY)[2][:3] == [0, 6 - 50, 0]


def test_S7_gin_25_and_twice_the_deadwood():
    gin = "AS 2S 3S JH JD JC JS"
    assert points_of([gin, HIGH, SIX], POINTS) == ("gin", 0, [25, -100, -12])


def test_S7_a_knock_10_and_the_difference():
    assert points_of([KNOCKER, HIGH, SIX], POINTS) == ("knock", 0, [10, 5 - 50, 5 - 6])


def test_S7_an_undercut_20_and_the_difference_to_the_undercutter():
    knocker = "AS 2S 3S JH JD JC 8C"
    # Several undercut: the lowest wins, the other undercutter is one of the defeated.
    assert points_of([knocker, SIX, FIVE], POINTS) == ("undercut", 2, [5 - 8, 5 - 6, 20])
    assert points_of([knocker, HIGH, FIVE], POINTS) == ("undercut", 2, [5 - 8, 5 - 50, 20])


def test_S7_among_equal_undercutters_the_next_in_turn_after_the_knocker():
    knocker, other = "AS 2S 3S JH JD JC 8C", "9H 9D 9C 8S 8H 8D 6H"
    assert points_of([knocker, SIX, other], POINTS) == ("undercut", 1, [-2, 20, 0])
    hands = [SIX, other, knocker]  # the knocker is seat 2, so seat 0 is next
    assert ginenv.settle_all(hands, 2, POINTS).winner_seat == 0
    hands = [SIX, knocker, other]
    assert ginenv.settle_all(hands, 1, POINTS).winner_seat == 2
    # Equal to the knocker is an undercut (000), to be won by the next in turn.
    assert points_of(["AS 2S 3S JH JD JC 6S", SIX, HIGH], POINTS) == ("undercut", 1, [0, 20, 6 - 50])


def test_S6_penalty_games_end_at_the_target_and_the_least_penalties_win():
    t = replay(GOLDEN / "penalty.txt")
    assert (t.game_over, t.winner, t.scores) == (True, 3, (-115, -45, -107, -38))
    assert [float(share) for share in prize_shares(t.totals, [t.winner])] == [0, 0.25, 0, 0.75]  # G7
    s = new_states(1)[0]
    new_game(s, PENALTY.record, 1)
    s["scores"][:4] = (-40, -100, -40, -60)
    s["first_home"] = 1
    assert game_winner(s, PENALTY.record) == NO_SEAT  # level, and who has 100 is not home
    s["scores"][0] = -39
    assert game_winner(s, PENALTY.record) == 0


# --- Hands of two, played by three and four ----------------------------------------------------------


def finish_hand(s: np.void, rules: Rules, rng: random.Random) -> tuple[int, int] | None:
    """Play a hand of two out; return the winner (a player) and the points, None for a dead hand."""
    invariants(s, rules)
    naive = play_in_step(s, rules, rng.randrange(3), rng)
    assert (s["kind"] == Kind.DEAD) == (naive.result.kind == "dead")
    if s["winner"] == NO_SEAT:
        return None
    return int(s["player"][s["winner"]]), int(s["points"][s["winner"]])


def by_player(s: np.void, rules: Rules, field: str) -> list[int]:
    return [int(x) for _, x in sorted(zip(s["player"].tolist(), s[field].tolist(), strict=True))][: rules.players]


@pytest.mark.parametrize("name", [n for n, r in PLACES.items() if r.seating == "three_handed"])
def test_V5_the_winner_stays_and_the_loser_changes_places_with_the_third(name):
    rules, rng = PLACES[name], random.Random(3)
    s, out = new_states(1)[0], set()
    for seed in range(4):
        new_game(s, rules.record, seed)
        naive = NaiveThreeHanded(int(s["player"][s["dealer"]]), rules.next_dealer)
        while True:
            assert s["player"][:2].tolist() == naive.places
            assert (s["player"][2], s["dealer"]) == (naive.out, naive.deals)
            out.add(naive.out)
            naive.record(finish_hand(s, rules, rng))
            assert by_player(s, rules, "scores") == naive.scores
            assert by_player(s, rules, "boxes") == naive.boxes
            assert bool(game_over(s, rules.record)) == (max(naive.scores) >= rules.target)
            if game_over(s, rules.record):
                break
            deal(s, rules.record)
        totals = [score + 25 * boxes for score, boxes in zip(naive.scores, naive.boxes, strict=True)]
        home = max(range(3), key=lambda p: naive.scores[p] >= rules.target)
        totals[home] += 100
        if sum(naive.boxes) == naive.boxes[home]:
            totals[home] *= 2  # a shutout: neither of the others has won a hand
        place = s["player"].tolist().index
        assert [final_total(s, rules.record, place(p)) for p in range(3)] == totals
        assert totals[s["player"][game_winner(s, rules.record)]] == max(totals)
    assert out == {0, 1, 2}


@pytest.mark.parametrize("name", [n for n, r in PLACES.items() if r.seating == "partners"])
def test_V6_only_the_net_difference_of_a_round_is_scored(name):
    rules, rng = PLACES[name], random.Random(4)
    s = new_states(1)[0]
    for seed in range(4):
        new_game(s, rules.record, seed)
        naive, rounds = NaivePartners(int(s["dealer"]), rules.next_dealer), 0
        while True:
            hands = []
            for table in range(2):
                assert s["player"][:2].tolist() == [2 * table, 2 * table + 1]
                assert s["player"][s["dealer"]] == naive.dealers[table]
                before = by_player(s, rules, "scores")
                hands.append(finish_hand(s, rules, rng))
                if table == 0:
                    assert by_player(s, rules, "scores") == before  # nothing is entered before both are over
                    assert not game_over(s, rules.record)
                    deal(s, rules.record)
            naive.record(hands)
            rounds += 1
            assert by_player(s, rules, "scores") == naive.scores * 2
            assert by_player(s, rules, "boxes") == naive.boxes * 2
            over = max(naive.scores) >= rules.target if rules.target else 2 * rounds == rules.hands
            assert bool(game_over(s, rules.record)) == over
            if over:
                break
            deal(s, rules.record)
        totals = [final_total(s, rules.record, seat) for seat in range(4)]
        assert totals[:2] == totals[2:]
        assert margin(s, rules.record, 0) == totals[0] - totals[1] == -margin(s, rules.record, 3)
        if totals[0] != totals[1]:
            assert game_winner(s, rules.record) == int(totals[1] > totals[0])


def test_V5_V6_first_dealers_are_by_chance():
    s = new_states(1)[0]
    for name, n in (("three_handed", 3), ("partners", 2)):
        dealers = set()
        for seed in range(40):
            new_game(s, PRESETS[name].record, seed)
            dealers.add(int(s["player"][s["dealer"]]))
        assert dealers == set(range(n))


def test_V6_what_the_first_hand_of_a_round_gave_shows_nowhere_before_the_second_is_over():
    rules = PRESETS["partners"]
    t = Table(rules, seed=9)
    rng = random.Random(9)
    while not t.done:
        t.step(rng.choice([a for a in t.legal_actions() if a >= KNOCK] or t.legal_actions()))
    u = t.copy()
    u._states[0]["points"][:2] = u._states[0]["points"][1::-1]  # as if the other had won
    u._states[0]["other_dealer"] = t._states[0]["other_dealer"]
    t.deal()
    u.deal()
    for seat in t.seats:
        assert t.view(seat).tobytes() == u.view(seat).tobytes()


def test_standings_add_up_to_zero_and_for_two_are_the_margin():
    for name, rules in MANY.items():
        s = new_states(1)[0]
        new_game(s, rules.record, 1)
        rng = random.Random(name)
        for seat in range(rules.players):
            s["scores"][seat] = rng.randrange(99) if rules.seating != "partners" else 10 * (seat % 2)
        assert abs(sum(standing(s, rules.record, seat) for seat in range(rules.players))) < 1e-9
        for seat in range(rules.players):
            others = [int(s["scores"][k]) for k in range(rules.players) if k != seat]
            if rules.seating != "partners":
                mean = sum(others) / len(others)
                assert above_others(s["scores"], rules.record, seat) == pytest.approx(int(s["scores"][seat]) - mean)
            if rules.players == 2:
                assert standing(s, rules.record, seat) == margin(s, rules.record, seat)


# --- What makes no sense -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("partners,players=5", "seating='partners' is for 4 players, not 5"),
        ("three_handed,players=2", "seating='three_handed' is for 3 players, not 2"),
        ("modern,players=3", "scoring='gin' is between two: 3 players at one table need 'penalty' or 'points'"),
        ("modern,players=7", "players=7 is out of range: 2 to 6 is possible"),
        ("modern,players=1", "players=1 is out of range"),
        ("penalty,box_bonus=25", "scoring='penalty' has no boxes and no bonuses for the game"),
        ("point_rules,shutout=double", "scoring='points' has no boxes"),
        ("penalty,knock_bonus=10", "knock_bonus belongs to scoring='points'"),
        ("partners,scoring=points", "seating='partners' plays hands of two, which scoring='gin' scores"),
        ("partners,target=none,hands=3", "partners play two hands a round, so hands=3 should be even"),
        ("point_rules,players=5,cards_dealt=9", "5 hands of 9 leave 4 cards to draw"),
        ("point_rules,players=6,cards_dealt=10", "deck .* is too small"),
        ("modern,scoring=golf", "scoring='golf' should be one of gin, penalty, points"),
        ("modern,seating=round", "seating='round' should be one of table, three_handed, partners"),
    ],
)
def test_H13_combinations_that_make_no_sense(text, sentence):
    with pytest.raises(ValueError, match=f"^rules: .*{sentence}") as error:
        parse_rules(text)
    assert "\n" not in str(error.value)


def test_agents_and_matches_for_two_refuse_more():
    views = np.zeros(1, dtype=VIEW)
    keys = np.zeros(1, dtype=np.int64)
    with pytest.raises(ValueError, match=r"^agent simple.* plays hands of 2, and the rules want 4 players$"):
        make("simple").act(views, PENALTY, keys)
    for rules in (PENALTY, PRESETS["three_handed"], POINTS.but(players=2)):
        with pytest.raises(ValueError, match=r"this needs rules for two players and scoring=gin$"):
            play_pairs(make("random"), make("random"), rules, 1, 0, 1)


@pytest.mark.parametrize("command", ["hands simple random", "tournament simple random --out x", "play simple"])
def test_commands_for_two_refuse_more_in_one_sentence(command, capsys):
    from experiments.cli import main

    assert main([*command.split(), "--rules", "penalty"]) == 2
    assert "this needs rules for two players" in capsys.readouterr().err


@pytest.mark.parametrize("name", TABLES)
def test_settle_all_is_what_the_table_says(name):
    rules, rng = TABLES[name], random.Random(2)
    for seed in range(6):
        t = Table(rules, seed=seed)
        while not t.done:
            t.step(rng.choice([a for a in t.legal_actions() if a >= KNOCK] or t.legal_actions()))
        if t.result.kind == "dead" or rules.oklahoma:
            continue
        hands = [t.hand(seat) for seat in range(rules.players)]
        assert ginenv.settle_all(hands, t.result.knocker_seat, rules) == t.result
        assert [seat.points for seat in t.result.seats] == list(t.scores)


def test_settle_all_refuses_what_cannot_be():
    good = [KNOCKER, HIGH, SIX]
    with pytest.raises(ValueError, match="settle_all is for scoring='penalty' or 'points'"):
        ginenv.settle_all(good, 0, "modern")
    with pytest.raises(ValueError, match="use settle_all"):
        ginenv.settle(KNOCKER, HIGH, POINTS)
    with pytest.raises(ValueError, match="knocker 3: the seats are 0 to 2"):
        ginenv.settle_all(good, 3)
    with pytest.raises(ValueError, match="seat 1 holds 6 cards: it must be 7"):
        ginenv.settle_all([KNOCKER, "KS KH QD 9C 7D 2H", SIX], 0)
    with pytest.raises(ValueError, match="AS cannot be in two hands"):
        ginenv.settle_all([KNOCKER, "AS KH QD 9C 7D 2H 2D", SIX], 0)
    with pytest.raises(ValueError, match="cannot knock with 50 deadwood"):
        ginenv.settle_all(good, 1)
    assert card_text(0) == "AS"


# --- Records -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MANY)
def test_records_of_many_players_replay(name):
    rules, rng = MANY[name], random.Random(6)
    t = Table(rules, seed=6)
    for _ in range(6):
        while not t.done:
            t.step(rng.choice([a for a in t.legal_actions() if a >= KNOCK] or t.legal_actions()))
        again = replay(t.record())
        assert again == t and again.rules == rules and again.record() == t.record()
        if t.game_over:
            break
        t.deal()
    assert t.hand_number > 2 or t.game_over


def test_V5_a_record_that_deals_to_the_wrong_two_is_named():
    text = (GOLDEN / "three_handed.txt").read_text(encoding="utf-8")
    with pytest.raises(ginenv.RecordError, match=r"^line \d+: the seats 1 and 2 play this hand, not 0 and 1$"):
        replay(text.replace("cards 2: TS", "cards 0: TS").replace("dealer: 2", "dealer: 0"))
    with pytest.raises(ginenv.RecordError, match="1 of the players have cards: two play a hand"):
        replay("\n".join(line for line in text.splitlines() if not line.startswith("cards 0")))
    assert replay(text).phase == OVER_PHASE
