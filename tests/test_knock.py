"""When to knock: the paired values against exact ones, studies that resume, and what is made of them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import types
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from agents.game_value import game_table
from agents.registry import native
from agents.worlds import sample_worlds
from experiments import knock_analysis, knock_folk, knock_metagame, knock_report, knock_study, shards
from experiments.cli import main
from experiments.knock_values import DECISION, best_knock, hints_of, rate_knock, sum_up, ways_of
from experiments.refusal import Refusal
from experiments.solve import MINI
from experiments.stats import Interval
from ginenv.cards import card_list, card_mask, cards_text
from ginenv.position import position
from ginenv.rules import PRESETS, parse_rules
from ginenv.state import DISCARD_PHASE, ORDER
from ginenv.view import VIEW, look
from tests.common import positions

ROOT = Path(__file__).resolve().parent.parent
EAAI = PRESETS["eaai"]
HAND = "AS 2S 3S 7H 7D 7C 4D 3C AC 2D KD"


# --- Values ---------------------------------------------------------------------------------------


def rate(view, hands, stocks, rival="simple", ways=(0, 10), rules=EAAI):
    """Return points, wins and kinds of a knock and of each way to play on, in given worlds."""
    agent, shape = native(rival), (1 + len(ways), len(hands))
    points, wins = np.empty(shape), np.empty(shape)
    kinds, turns, later = np.empty(shape, np.int16), np.empty(shape, np.int16), np.empty(len(hands), np.int16)
    bad = rate_knock(
        view, rules.record, game_table(EAAI), ways_of(ways), agent.policy, agent.params, hints_of(), 5, -1,
        np.ascontiguousarray(hands), np.ascontiguousarray(stocks), points, wins, kinds, turns, later,
    )  # fmt: skip
    assert bad == 0
    return points, wins, kinds


def near_the_end(seed: int, stock: int, n: int) -> list[np.void]:
    """Return VIEWs with a legal knock and few cards in the stock, so that all worlds can be listed."""
    rng, melded = np.random.default_rng(seed), card_list("AS 2S 3S 7H 7D 7C")
    others = [c for c in range(52) if c not in melded]
    found = []
    while len(found) < n:
        cards = rng.permutation(others)
        pile = cards[5 : 52 - 6 - 10 - stock]
        told = position(cards_text(melded + cards[:5].tolist()), EAAI, pile=cards_text(pile.tolist()), turn=13)[0]
        if told["knocks"]:
            assert told["n_stock"] == stock
            found.append(told)
    return found


def all_worlds(view: np.void) -> tuple[np.ndarray, np.ndarray]:
    """Return each way in which the unseen cards can be dealt, the order of the stock apart."""
    unseen, known = card_list(int(view["unseen"])), int(view["known"][1])
    n_held = len(unseen) - int(view["n_stock"])
    hands, stocks = [], []
    for held in combinations(unseen, n_held):
        rest = [c for c in unseen if c not in held]
        hands.append(known | card_mask(list(held)))
        stocks.append(rest + [255] * (ORDER - len(rest)))
    return np.array(hands), np.array(stocks, dtype=np.uint8)


def covered(view: np.void, exact: float, key: int, ways: tuple[int, ...], rules=EAAI, rival="simple") -> int:
    """Return how many of 20 samples of 64 worlds have the exact gain in their 95 % interval."""
    inside = 0
    for k in range(20):
        hands, stocks = np.zeros(64, np.int64), np.zeros((64, ORDER), np.uint8)
        sample_worlds(view, rules.record, np.array([0.0, 0.0, -1.0]), 100 * key + k, hands, stocks)
        row = np.zeros(1, dtype=DECISION)
        sum_up(*rate(view, hands, stocks, rival, ways, rules), row[0])
        inside += abs(float(row["gain_points"].mean()) - exact) <= 1.998 * float(row["se_points"][0]) + 1e-5
    return inside


def test_paired_estimates_cover_the_exact_gain_on_the_last_turn_in_95_of_100_trials():
    # On the last turn of a hand playing on ends it, so the gain follows from the opponent's hand alone: the mean over
    # all of them is exact. 30 positions, 600 trials.
    inside = cases = 0
    for n, view in enumerate(near_the_end(8, 2, 30)):
        hands, stocks = all_worlds(view)
        points, _, _ = rate(view, hands, stocks)
        assert (points[1:] == 0).all()  # a dead hand
        inside += covered(view, points[0].mean(), n, (0, 10))
        cases += 20
    # 600 cases: 95 % would be 570, with a standard error of 5.
    assert inside / cases > 0.925


def test_paired_estimates_cover_the_exact_gain_a_draw_from_the_end_in_95_of_100_trials():
    # One draw before the end: each world is a hand of the opponent and a card to draw, all of them listed. Against an
    # opponent without chance of its own, so that the mean over them is exact. 30 positions and two ways, 1,200 trials
    # with worlds of their own.
    inside = cases = 0
    for n, view in enumerate(near_the_end(9, 3, 30)):
        hands, stocks = all_worlds(view)
        tops = [np.array([np.append(np.roll(stock[:3], k), stock[3:]) for stock in stocks]) for k in range(3)]
        for way in (0, 10):
            points = np.concatenate([rate(view, hands, top, "lean", (way,))[0] for top in tops], axis=1)
            inside += covered(view, (points[0] - points[1]).mean(), 20 * n + way, (way,), rival="lean")
            cases += 20
    # 95 % would be 1,140, with a standard error of 8.
    assert inside / cases > 0.925


def test_paired_estimates_cover_the_exact_gain_on_mini_gin_in_95_of_100_trials():
    # The small deck that `gin solve` solves: all hands of the opponent and all orders of the stock, from the first turn
    # on. Positions whose worlds are all alike tell nothing and are left out.
    rules, inside, cases, seen = parse_rules(MINI), 0, 0, set()
    for s in positions(rules, 5, 400):
        if cases == 2000:
            break
        view = np.zeros(1, dtype=VIEW)
        look(s, rules.record, int(s["seat"]), view[0])
        key = (int(view[0]["hand"]), int(view[0]["unseen"]), int(view[0]["known"][1]))
        if s["phase"] != DISCARD_PHASE or not view[0]["knocks"] or key in seen:
            continue
        hands, stocks = all_worlds(view[0])
        n_stock = int(view[0]["n_stock"])
        orders = list(permutations(range(n_stock)))
        every = np.concatenate([np.hstack([stocks[:, list(o)], stocks[:, n_stock:]]) for o in orders])
        points, _, _ = rate(view[0], np.tile(hands, len(orders)), every, "lean", (0,), rules)
        ahead = points[0] - points[1]
        if ahead.std() > 0:
            seen.add(key)
            inside += covered(view[0], ahead.mean(), cases, (0,), rules, "lean")
            cases += 20
    # 95 % would be 1,900, with a standard error of 10.
    assert cases == 2000
    assert inside / cases > 0.93


def test_the_better_of_two_equal_ways_is_not_rated_as_better():
    # Ways of pure noise around one mean: the best by its own worlds would look better; cross-fitted it does not.
    rng = np.random.default_rng(1)
    gains = []
    for _ in range(400):
        points = rng.normal(0, 20, size=(5, 64))
        row = np.zeros(1, dtype=DECISION)
        sum_up(points, points / 100, np.zeros((5, 64), np.int16), row[0])
        gains.append(float(row["gain_points"].mean()))
    assert abs(np.mean(gains)) < 3 * np.std(gains) / 20
    assert abs(np.std(gains) - float(row["se_points"][0])) < 1.0


def test_a_knock_with_gin_wins_and_is_never_undercut():
    view = position("AS 2S 3S 7H 7D 7C 9C TC JC QC KD", EAAI, pile="5H")[0]
    assert best_knock(view, EAAI.record)[1] == 0
    hands, stocks = np.zeros(32, np.int64), np.zeros((32, ORDER), np.uint8)
    sample_worlds(view, EAAI.record, np.array([0.03, 1.0, -1.0]), 3, hands, stocks)
    points, wins, kinds = rate(view, hands, stocks)
    assert (points[0] >= 25).all() and (wins[0] > 0.5).all() and (kinds[0] == 2).all()


# --- Studies --------------------------------------------------------------------------------------

STUDY = ["knock", "study", "--agents", "simple", "lean", "--games", "30", "--worlds", "16", "--workers", "1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("knock") / "study"
    assert main([*STUDY, "--out", str(out)]) == 0
    return out


def stored(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted([*(folder / "shards").iterdir(), folder / "about.json"])}


def test_a_study_stores_every_decision_with_both_values(folder):
    study = knock_study.read_study(folder)
    rows = study.rows
    assert len(rows) > 300
    assert (np.bitwise_count(rows["hand"]) == 11).all()
    assert ((rows["deadwood"] >= 0) & (rows["deadwood"] <= 10)).all()
    assert np.allclose(rows["knock_points"] - rows["on_points"], rows["gain_points"].mean(axis=1), atol=1e-3)
    assert ((rows["knock_win"] >= 0) & (rows["knock_win"] <= 1)).all()
    # Where the mover knocked, the true world's knock is what really happened.
    knocked = rows[rows["knocked"] == 1]
    assert len(knocked) > 100
    assert (knocked["true_knock_points"] == knocked["points"]).all()
    # A player who may knock has thrown nothing that lies in its hand, and the opponent holds what it took.
    assert not (rows["known"] & rows["hand"]).any()


def test_a_stopped_study_goes_on_to_the_same_bytes(folder, tmp_path):
    out = tmp_path / "again"
    shutil.copytree(folder, out)
    for name in shards.names(out)[1:4]:  # as if it had been killed before these
        shards.path_of(out, name).unlink()
    (out / "shards" / ".half.npy.new").write_bytes(b"torn")
    assert main([*STUDY, "--out", str(out)]) == 0
    (out / "shards" / ".half.npy.new").unlink()
    assert stored(out) == stored(folder)
    assert main([*STUDY, "--seed", "2", "--out", str(out)]) == 2


@pytest.mark.fuzz
def test_ctrl_c_stops_between_shards_and_two_processes_give_the_same_bytes(folder, tmp_path):
    out = tmp_path / "stopped"
    command = [sys.executable, "-m", "experiments.cli", *STUDY[:-1], "2", "--out", str(out)]
    child = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE)
    while child.poll() is None and not (out / "shards").exists():
        time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=200) in (0, 130)
    assert main([*STUDY, "--out", str(out)]) == 0
    assert stored(out) == stored(folder)


def test_ray_plays_the_same_bytes(folder, tmp_path):
    pytest.importorskip("ray")
    out = tmp_path / "ray"
    assert main([*STUDY[:-1], "2", "--ray", "--out", str(out)]) == 0
    assert stored(out) == stored(folder)


def padded(n: int) -> np.ndarray:
    return np.full(24 * 100, n + 1, np.uint8).view(
        np.dtype([("a", np.int8), ("b", np.int64), ("c", np.int16)], align=True)
    )


def test_the_ray_backend_hands_out_every_shard_once_and_stores_the_same_bytes(tmp_path, monkeypatch):
    # A stand-in for Ray's calls: where Ray is installed the test above runs the real one.
    begun: list[str] = []

    class Reference:
        def __init__(self, value):
            self.value = value

    class Remote:
        def __init__(self, call):
            self.call = call

        def remote(self, *args):
            begun.append("shard")
            return Reference(self.call(*args))

    ray = types.SimpleNamespace(
        init=lambda **where: begun.append(str(sorted(where))), remote=Remote, shutdown=lambda: begun.append("end"),
        wait=lambda refs, num_returns, timeout: (refs[-1:], refs[:-1]), get=lambda ref: ref.value,
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    # With bytes between the fields, which NumPy's own copies leave to chance: one shard in 90 differed on a real Ray.
    todo = [shards.Shard(f"s{i}", padded, (i,), 1) for i in range(5)]
    for name, by_ray in (("ray", True), ("here", False)):
        shards.run_shards(tmp_path / name, {"kind": "test"}, todo, workers=1, ray=by_ray, console=Console(quiet=True))
    assert stored(tmp_path / "ray") == stored(tmp_path / "here")
    assert begun.count("shard") == 5 and begun[-1] == "end"

    def fails(**where):
        raise Exception("the node timed out")

    ray.init = fails
    todo.append(shards.Shard("s5", padded, (5,), 1))
    with pytest.raises(Refusal, match="Ray cannot be begun"):
        shards.run_shards(tmp_path / "ray", {"kind": "test"}, todo, workers=1, ray=True, console=Console(quiet=True))


# --- What is made of them -------------------------------------------------------------------------


def made_up(gain_of, games: int = 400) -> knock_study.Study:
    """Return a study whose gains are ``gain_of(turn, deadwood)`` with noise."""
    rng = np.random.default_rng(2)
    rows = np.zeros(games * 20, dtype=DECISION)
    rows["game"] = np.repeat(np.arange(games), 20)
    rows["turn"], rows["deadwood"] = rng.integers(1, 14, len(rows)), rng.integers(0, 11, len(rows))
    rows["limit"] = 10
    gain = gain_of(rows["turn"], rows["deadwood"])[:, None]
    rows["gain_points"] = gain + rng.normal(0, 5, (len(rows), 2))
    rows["gain_win"] = (gain + rng.normal(0, 5, (len(rows), 2))) / 100
    about = {"agents": ["simple"], "rules": EAAI.as_dict()}
    return knock_study.Study(Path(), about, rows, np.zeros(len(rows), np.int64), rows["game"].astype(np.int64))


def test_the_rules_find_what_was_put_in():
    study = made_up(lambda turn, loose: np.where((turn < 5) | (loose <= 1), 6.0, -6.0))
    rated = {r.kind: r for r in knock_analysis.rate_rules(study, tree=False)}
    assert rated["n:e:l"].rule == "5:10:1"
    assert abs(rated["n:e:l"].cost.value) < 0.002
    assert rated["always"].cost.low > 0.02
    assert rated["table by turn"].rule.split()[:6] == ["10", "10", "10", "10", "1", "1"]
    decided = [c for c in knock_analysis.cells(study, knock_analysis.gain(study.rows, "points")) if c.decided]
    assert len(decided) > 100
    assert all((c.value.value > 0) == (c.turn < 5 or c.deadwood <= 1) for c in decided)


def test_hands_where_gin_alone_is_legal_are_no_split_of_their_own():
    study = made_up(lambda turn, loose: np.ones(len(turn)))
    study.about["rules"]["oklahoma"] = True
    study.rows["limit"][:100] = 0
    found = knock_analysis.splits(study)
    assert "knock limit 10" in found and "knock limit 0" not in found


def test_a_rule_that_knocks_early_with_much_only_is_found():
    study = made_up(lambda turn, loose: np.where((loose == 0) | ((turn < 4) & (loose >= 6)), 6.0, -6.0))
    rated = {r.kind: r for r in knock_analysis.rate_rules(study, tree=False)}
    assert rated["much or gin"].rule == "6 or more before turn 4, else gin"


def test_the_tree_finds_what_was_put_in():
    pytest.importorskip("sklearn")
    study = made_up(lambda turn, loose: np.where(turn < 5, 6.0, -6.0))
    rated = {r.kind: r for r in knock_analysis.rate_rules(study)}
    assert rated["tree, 8 leaves"].rule == "(turn ≤ 4: knock; else play on)"


def test_sayings_are_judged_by_what_was_put_in():
    study = made_up(lambda turn, loose: np.where(turn <= 4, 6.0, -6.0))
    found = {v.saying.name: v for v in (knock_folk.judge(study, s) for s in knock_folk.sayings())}
    assert found["knock within the first four turns"].verdict == "holds"
    assert found["after the fourth turn do not knock with more than 5"].verdict == "holds"
    refuted = found["with the stock nearly gone, knock"]
    assert refuted.verdict == "refuted" and refuted.cost.low > 0
    with pytest.raises(ValueError, match="is no saying"):
        knock_folk.sayings("knock always")
    with pytest.raises(ValueError, match="compare turn"):
        knock_folk.holds_in("__import__('os')", study.rows)
    with pytest.raises(ValueError, match="no condition"):
        knock_folk.holds_in("turn <=", study.rows)


def test_the_equilibrium_of_rock_paper_scissors_is_even_and_a_better_rule_takes_all():
    beats = np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0.0]])
    assert np.allclose(knock_metagame.nash(beats), 1 / 3)
    found = knock_metagame.equilibrium(lambda decks: beats, pairs=5, resamples=3)
    assert np.allclose(found.low, 1 / 3) and np.allclose(found.against, 0)
    better = np.array([[0, 1, 1], [-1, 0, 1], [-1, -1, 0.0]])
    assert np.allclose(knock_metagame.nash(better), [1, 0, 0])


@pytest.fixture(scope="module")
def metagame(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("knock") / "metagame"
    args = ["knock", "metagame", "--games", "4", "--hands", "400", "--rules", "oklahoma", "--workers", "1"]
    assert main([*args, "--out", str(out)]) == 0
    return out


def test_a_metagame_is_a_zero_sum_matrix_of_forty_rules_and_points_follow_the_bonuses(metagame):
    found = knock_metagame.read_metagame(metagame)
    assert len(knock_metagame.RULES_IN_GAMES) >= 40
    matrix = found.games_matrix()
    assert np.allclose(matrix, -matrix.T) and np.abs(matrix).max() <= 0.5
    # The same hands under the rules' own bonuses, counted by the match driver's own scores.
    own = found.points()
    assert np.allclose(own, found.points(25, 25))
    more = found.points(26, 25) - own
    assert np.allclose(more[0, 1], found.hands["gins"][0, 1] / 2)
    assert set(np.unique(found.limits())) <= set(range(11))
    even = found.break_even()
    assert even.low < even.value < even.high
    at = found.points(gin=round(even.value)).mean(axis=2)[0, -1]
    assert abs(at) < 1.0


def test_the_report_is_one_file_without_links_outside(folder, metagame, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("sklearn")
    path = knock_report.report([folder, metagame], tmp_path / "report", resamples=2)
    page = path.read_text(encoding="utf-8")
    assert "data:image/png;base64," in page
    assert "http" not in page.replace("http-equiv", "")
    names = {p.name for p in path.parent.iterdir()}
    assert {"study-gain-points.png", "study-gain-points.csv", "study-rules.csv", "metagame-phase.png"} <= names
    assert all(f"{p.stem}.csv" in names for p in path.parent.glob("*.png"))


# --- The tool -------------------------------------------------------------------------------------


def test_the_position_tool_tells_what_to_do_and_why(capsys):
    args = ["knock", "position", HAND, "--turn", "2", "--opponent-threw", "QH JC", "--opponent-took", "9S", "--json"]
    assert main([*args, "--scores", "40,65", "--worlds", "2000"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["best"] in ("knock", "play on")
    assert (found["knock"], found["deadwood"]) == ("knock KD", 10)
    assert found["gin"] == sorted(found["gin"])
    assert 0 <= found["undercut"] <= 1
    assert found["rival_deadwood_later"] < found["rival_deadwood"]
    low, high = found["gain_points_ci95"]
    assert low < found["gain_points"] < high
    assert 0.5 <= found["sure"] <= 1
    assert main([*args[:-1], "--worlds", "200"]) == 0
    assert "undercut in" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["AS 2S 3S 7H 7D 7C 4D 4C 2D 2H KD"], "no knock is legal: 12"),
        (["AS 2S 3S 7H 7D 7C 4D 4C 2D 2H", "--pile", "QH"], "eleven cards"),
        ([HAND, "--scores", "120,3"], "two scores from 0 to 99"),
        ([HAND, "--worlds", "3"], "a number from 32"),
        ([HAND, "--opponent", "mybot"], "mybot"),
        ([HAND, "--opponent-took", "AS"], "one place only"),
        ([HAND, "--rules", "oklahoma"], "the first upcard sets the knock limit (V1): name it, or the pile"),
        ([HAND, "--rules", "oklahoma", "--upcard", "QH"], "the first upcard is QH: one card is due, of the hand, the"),
        ([HAND, "--upcard", "AS 2S"], "the first upcard is AS 2S: one card is due"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(capsys, args, why):
    assert main(["knock", "position", *args]) == 2
    assert why in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["study", "--agents", "simple", "simple"], "name none twice"),
        (["study", "--agents", "nobody"], "nobody"),
        (["study", "--rules", "openspiel"], "number of hands"),
        (["study", "--worlds", "2"], "a number from 8"),
        (["study", "--ways", "a"], "different counts"),
        (["metagame", "--games", "3"], "an even number"),
        (["metagame", "--rules", "straight"], "no knocks to time"),
        (["metagame", "--rules", "penalty"], "two players"),
        (["study", "--rules", "hollywood"], "three columns"),
        (["study", "--rules", "open_table"], "open_table"),
        (["figures", "--games", "3"], "an even number"),
        (["change", "simple", "--to", "late=1,late=2"], "set twice"),
    ],
)
def test_what_cannot_be_studied_is_refused_in_a_sentence(capsys, tmp_path, args, why):
    assert main(["knock", *args, "--out", str(tmp_path / "out")]) == 2
    assert why in capsys.readouterr().err


def test_who_is_refused_finds_all_as_it_was(capsys, tmp_path, monkeypatch):
    args = ["knock", "figures", "--games", "40", "--workers", "1", "--out"]
    monkeypatch.setitem(sys.modules, "ray", None)  # as where it is not installed
    assert main([*args, str(tmp_path / "new"), "--ray"]) == 2
    assert "needs the package ray" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
    (tmp_path / "letter.txt").touch()
    assert main([*args, str(tmp_path)]) == 2
    assert "holds other files (letter.txt)" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]
    (tmp_path / "letter.txt").rename(tmp_path / "about.json")
    (tmp_path / "about.json").write_text('{"kind": "metagame"}')
    assert main([*args, str(tmp_path)]) == 2
    assert "holds another run" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["about.json"]


def test_V1_the_knock_limit_of_a_position_is_by_its_first_upcard(capsys):
    def limit(**told: str) -> int:
        return int(position(HAND, PRESETS["oklahoma"], **told)[0]["knock_limit"])

    assert limit(pile="5H QH") == limit(pile="QH", took="5H", upcard="5H") == 5
    assert limit(pile="5H QH", upcard="QH") == limit(upcard="KD") == 10
    assert main(["knock", "position", HAND, "--rules", "oklahoma", "--upcard", "KD", "--worlds", "200"]) == 0
    assert "knocking with 10" in capsys.readouterr().out


def test_a_folder_without_a_run_is_refused_in_a_sentence(capsys, tmp_path, folder):
    assert main(["knock", "folk", str(tmp_path)]) == 2
    assert "holds no run" in capsys.readouterr().err
    (tmp_path / "about.json").write_text('{"kind": "metagame"}')
    assert main(["knock", "folk", str(tmp_path)]) == 2
    assert "holds no study" in capsys.readouterr().err
    assert main(["knock", "folk", str(folder)]) == 0
    assert "knock as soon as you can" in capsys.readouterr().out


def test_figures_are_measured_beside_what_was_stated(capsys, tmp_path):
    args = ["knock", "figures", "--games", "40", "--workers", "1", "--out", str(tmp_path / "f"), "--json"]
    assert main(args) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found) == 18 + 7 + 2 * 7 + 2 * 5
    assert all(f["verdict"] in ("reproduced", "not reproduced") for f in found)
    assert isinstance(Interval(*found[0]["measured"]), Interval)


def test_a_change_is_measured_pair_by_pair_on_the_same_decks(capsys, tmp_path):
    args = ["knock", "change", "simple", "--against", "simple", "lean", "--games", "40", "--workers", "1", "--json"]
    assert main([*args, "--to", "until=6,late=0", "--out", str(tmp_path / "c")]) == 0
    rows = json.loads(capsys.readouterr().out)["changes"]
    assert [row["opponent"] for row in rows] == ["simple", "lean", "all"]
    change = [row["change"][0] for row in rows]
    assert change[2] == pytest.approx((change[0] + change[1]) / 2)
    before, after = (share_of(tmp_path / "c", name) for name in ("00-00", "01-00"))
    assert change[0] == pytest.approx(after - before)
    assert main([*args, "--to", "late=10", "--out", str(tmp_path / "d")]) == 2
    assert "changes that change something" in capsys.readouterr().err


def share_of(folder: Path, name: str) -> float:
    return float(shards.read_shard(folder, name).mean())
