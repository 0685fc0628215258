"""`gin analyse`: positions as a person tells them, and what their actions are worth."""

from __future__ import annotations

import json

import numpy as np
import pytest

from experiments.analyse import analyse, legal_actions
from experiments.cli import main
from ginenv.cards import cards_text
from ginenv.position import position
from ginenv.rules import PRESETS
from ginenv.state import DISCARD_PHASE, DRAW_PHASE
from ginenv.view import VIEW, look
from tests.common import DECK, positions
from tests.common import legal_actions as legal_in

EAAI = PRESETS["eaai"]
HAND = "AS 2S 3S 7H 7D 7C 4D 4C KD 2D 3H"


def test_a_position_told_is_the_view_that_the_table_shows():
    told = 0
    for s in positions(EAAI, 71, 30):
        seat = int(s["seat"])
        if s["phase"] not in (DRAW_PHASE, DISCARD_PHASE) or s["turn"] < 2 or s["first"] != seat or s["taken"]:
            continue
        v = np.zeros(1, dtype=VIEW)
        look(s, EAAI.record, seat, v[0])
        if v[0]["known"][0] or not v[0]["n_pile"]:
            continue
        pile = v[0]["pile"][: v[0]["n_pile"]].tolist()
        drawn = [int(v[0]["drawn"])] if v[0]["phase"] == DISCARD_PHASE else []
        own = [c for c in map(int, range(52)) if c not in drawn and cards_text([c]) in cards_text(int(v[0]["hand"]))]
        turn = int(v[0]["own_turn"]) + (0 if drawn else 1)
        again = position(
            cards_text(own + drawn), EAAI, pile=cards_text(pile), turn=turn,
            threw=cards_text([c for c in pile if int(v[0]["thrown"][1]) & int(position_bit(c))]),
            took=cards_text(int(v[0]["known"][1])), refused=cards_text(int(v[0]["refused"][1])),
            scores=(int(v[0]["scores"][0]), int(v[0]["scores"][1])),
        )[0]  # fmt: skip
        for field in ("hand", "unseen", "in_pile", "discards", "knocks", "choices", "n_stock", "n_pile", "top", "turn",
                      "own_turn", "cards", "phase", "mid_deadwood", "knock_limit", "mover", "players"):  # fmt: skip
            assert np.array_equal(again[field], v[0][field]), field
        assert legal_actions(again) == legal_in(s)
        told += 1
    assert told > 20


def position_bit(card: int) -> int:
    from ginenv.cards import BIT

    return int(BIT[card])


def test_gin_is_worth_its_bonus_and_their_deadwood():
    view = position("AS 2S 3S 7H 7D 7C 9C TC JC QC KD", EAAI, pile="5H")
    best = analyse(view[0], EAAI, worlds=400)[0]
    assert best.action == "knock KD"
    assert (best.wins, best.gin, best.undercut, best.behind) == (1, 1, 0, 0)
    assert 25 + 30 < best.points < 25 + 70
    assert best.ci95[0] < best.points < best.ci95[1]


def test_the_same_seed_is_the_same_answer_and_intervals_shrink():
    view = position(HAND, EAAI, pile="QH JC 9S TD", threw="JC TD")
    first = analyse(view[0], EAAI, worlds=100, key=3)
    assert first == analyse(view[0], EAAI, worlds=100, key=3)
    assert {e.action for e in first} == {e.action for e in analyse(view[0], EAAI, worlds=50)}
    assert len(first) == 11
    more = analyse(view[0], EAAI, worlds=1600, key=4)[0]
    assert more.ci95[1] - more.ci95[0] < 0.5 * (first[0].ci95[1] - first[0].ci95[0])


def test_before_a_draw_both_draws_are_rated(capsys):
    assert main(["analyse", "AS 2S 7H 7D 7C 4D 4C KD 2D 9H", "--pile", "QH 3S", "--worlds", "1000", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {e["action"] for e in found["actions"]} == {"draw", "take"}
    assert found["actions"][0]["action"] == "take"


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["AS 2S"], "10 before a draw"),
        (["AS AS 3S 7H 7D 7C 4D 4C KD 2D 3H"], "comes twice"),
        ([HAND, "--pile", "AS"], "one place only"),
        ([HAND, "--pile", "QH", "--threw", "JC"], "not in the pile"),
        (["AS 2S 3S 7H 7D 7C 4D 4C KD 2D"], "name the pile"),
        ([HAND, "--scores", "many"], "two whole numbers"),
        ([HAND, "--worlds", "1"], "a number from 2"),
        ([HAND, "--turn", "0"], "count from 1"),
        ([HAND, "--turn", "70000"], "a hand of these rules ends after"),
        ([HAND, "--agent", "simple"], "is not mc"),
        ([HAND, "--rules", "nothing"], "nothing"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(capsys, args, why):
    assert main(["analyse", *args]) == 2
    assert why in capsys.readouterr().err


def test_H11_whoever_drew_the_last_card_may_still_knock_and_nobody_draws_another():
    own = ["AS", "2S", "3S", "7H", "7D", "7C", "4D", "3C", "AC", "2D"]
    rest = [c for c in DECK if c not in [*own, "KD"]]
    pile = " ".join(rest[:29])  # leaves the opponent's ten cards and two in the stock
    view = position(" ".join([*own, "KD"]), EAAI, pile=pile, turn=14)[0]
    assert view["n_stock"] == 2 and view["knocks"]
    with pytest.raises(ValueError, match="would be over"):
        position(" ".join(own), EAAI, pile=f"{pile} KD", turn=14)
