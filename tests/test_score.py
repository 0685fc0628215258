"""`gin score`: hands told in words, files that go on, one sentence for each wrong line, and nothing half-written."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from experiments.cli import main
from experiments.score_file import new_score, read_hand, read_score
from ginenv.games import HandScore, keep_match
from ginenv.rules import parse_rules
from tests.test_cli import COMPILING

NAMES = ("anna", "ben")


def hand(text: str, rules: str = "modern") -> tuple[int | None, int, str]:
    """Return winner, points and kind of a hand as `gin score` understands it."""
    told = read_hand(text, NAMES, parse_rules(rules))
    return told.winner, told.points, told.kind


# --- Hands in words -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "rules", "told"),
    [
        ("anna knock 12", "modern", (0, 12, "knock")),
        ("anna knock 6 against 21", "modern", (0, 15, "knock")),  # 001's example (S1)
        ("anna knock 8 against 32", "denexa", (0, 24, "knock")),  # 000's (S1)
        ("anna knock 8 against 6", "denexa", (1, 27, "undercut")),  # 000's (S2)
        ("ben undercut 2", "denexa", (1, 27, "undercut")),
        ("ben undercut 6 against 8", "denexa", (1, 27, "undercut")),
        ("ben undercut 4", "palace", (1, 14, "undercut")),  # 004's (S2)
        ("ben undercut 4", "modern", (1, 29, "undercut")),
        ("anna knock 7 against 7", "modern", (1, 25, "undercut")),  # a tie (S2)
        ("ben undercut 0", "modern", (1, 25, "undercut")),
        ("anna knock 7 against 7", "denexa", (0, 0, "knock")),
        ("anna knock 0", "denexa", (0, 0, "knock")),
        ("ben gin 31", "modern", (1, 56, "gin")),  # S3
        ("ben gin against 31", "modern", (1, 56, "gin")),
        ("ben gin 31", "historic", (1, 51, "gin")),
        ("anna knock 0 against 31", "modern", (0, 56, "gin")),  # H7
        ("ben big gin 31", "big_gin", (1, 62, "big_gin")),  # S4
        ("ben big_gin 31", "palace", (1, 81, "big_gin")),
        ("dead", "modern", (None, 0, "dead")),  # S5
        ("Dead hand", "modern", (None, 0, "dead")),
        ("B  GIN  5", "modern", (1, 30, "gin")),
        ("anna knock 12 upcard 9H", "oklahoma", (0, 12, "knock")),
        ("anna knock 12 upcard 9S", "oklahoma", (0, 24, "knock")),  # a spade doubles (V1)
        ("ben undercut 4 upcard KS", "oklahoma", (1, 58, "undercut")),
        ("ben gin 31 upcard AS", "oklahoma", (1, 112, "gin")),
        ("anna knock 1 against 9 upcard AD", "oklahoma,ace_means_gin=false", (0, 8, "knock")),
        ("anna knock 12", "oklahoma,spades_double=false", (0, 12, "knock")),
        ("anna gin 40", "straight", (0, 65, "gin")),
        ("anna gin 120", "modern,jokers=true", (0, 145, "gin")),  # eight court cards and two jokers (C8)
    ],
)
def test_S1_S2_S3_S4_S5_V1_what_is_told_scores_by_the_rules(text: str, rules: str, told: tuple[int | None, int, str]):
    assert hand(text, rules) == told


@pytest.mark.parametrize(
    ("text", "rules", "words"),
    [
        ("anna", "modern", "'anna' is no hand: write 'anna knock 12'"),
        ("anna nock 12", "modern", "is no hand"),
        ("anna knock -3", "modern", "is no hand"),
        ("anna knock 12 points", "modern", "is no hand"),
        ("zoe knock 12", "modern", "'zoe' is nobody here: there are anna and ben"),
        ("anna knock", "modern", "lacks the points: write 'anna knock 12'"),
        ("anna knock against 12", "modern", "lacks the points"),
        ("anna knock 101", "modern", "101 is more than 10 cards can count, 100 at the most"),
        ("anna gin 999999999999999999999", "modern", "more than 10 cards can count"),
        ("anna gin 121", "modern,jokers=true", "121 is more than 10 cards can count, 120 at the most"),
        ("anna knock 11 against 40", "modern", "a knock with 11 is above the limit of 10 (H6)"),
        ("anna knock 10 against 40", "palace", "a knock with 10 is above the limit of 9 (H6)"),
        ("anna knock 7 against 40 upcard 6D", "oklahoma", "a knock with 7 is above the limit of 6 (H6)"),
        ("ben undercut 11", "modern", "an undercut by 11 needs a knock above the limit of 10"),
        ("ben undercut 9 against 8", "modern", "undercut does not fit these counts"),
        ("ben undercut 3 against 0", "modern", "nobody undercuts gin"),
        ("anna knock 0", "modern", "an equal count is undercut under these rules (S2)"),
        ("ben undercut 0", "denexa", "an equal count is no undercut under these rules (S2)"),
        ("ben gin 0 against 31", "modern", "write the other's only, 'ben gin 31'"),
        ("ben big gin 31", "modern", "there is no big gin under these rules (H8)"),
        ("anna knock 12", "straight", "only gin ends this hand: there is no knock (V3)"),
        ("anna knock 12 upcard AD", "oklahoma", "only gin ends this hand: there is no knock (H6, V1)"),
        ("anna knock 12", "oklahoma", "say the upcard at the end, 'upcard 9H'"),
        ("anna knock 12 upcard 1H", "oklahoma", "1H"),
        ("anna knock 12 upcard 9H", "modern", "it does not count under these rules"),
    ],
)
def test_what_cannot_be_is_one_sentence(text: str, rules: str, words: str):
    with pytest.raises(ValueError) as caught:
        hand(text, rules)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_names_may_begin_alike_and_have_spaces():
    names, rules = ("Ann", "Ann Lee"), parse_rules("modern")
    assert read_hand("ann knock 5", names, rules).winner == 0
    assert read_hand("ANN LEE knock 5", names, rules).winner == 1
    with pytest.raises(ValueError, match="'an' is both players"):
        read_hand("an knock 5", names, rules)


# --- Files ----------------------------------------------------------------------------------------

FILE = """\
gin rummy score 1
rules: hollywood gin_bonus=20   # as we agreed
names: Anna, ben
dealer: ben

anna knock 12
# a break
ben gin 31
dead
"""


def test_a_file_is_read_and_keeps_what_people_wrote():
    file = read_score("\ufeff" + FILE)
    assert (file.names, file.dealer) == (("Anna", "ben"), 1)
    assert file.rules == parse_rules("hollywood,gin_bonus=20")
    assert file.hands == (HandScore(0, 12, "knock"), HandScore(1, 51, "gin"), HandScore(None, 0, "dead"))
    assert file.text == FILE
    assert file.with_hand("ben  knock  3").text == FILE + "ben knock 3\n"
    assert file.without_last().text == FILE.removesuffix("dead\n")
    assert file.without_last().without_last().text == FILE.removesuffix("ben gin 31\ndead\n")
    assert read_score(file.with_hand("ben knock 3").text).hands == file.with_hand("ben knock 3").hands
    assert file.next_dealer == "Anna"  # ben won last, the loser deals, a dead hand changes nothing (H14)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (FILE, "", "line 1: a score file begins with 'gin rummy score 1'"),
        ("score 1", "record 1", "line 1: a score file begins with"),
        ("hollywood", "hollywod", "line 2: rules: there is no preset 'hollywod': did you mean hollywood?"),
        ("names: Anna, ben\n", "", "line 5: before the first hand there must be a line 'names: anna, ben'"),
        ("names: Anna, ben\ndealer: ben\n", "", "line 4: before the first hand there must be a line 'names"),
        ("Anna, ben", "Anna, anna", "line 3: names: both players are called Anna"),
        ("Anna, ben", "Anna", "line 3: names: two are needed"),
        ("Anna, ben", "Anna, dead", "line 3: name 'dead'"),
        ("dealer: ben", "dealer: zoe", "line 4: 'zoe' is nobody here"),
        ("dealer: ben", "dealer: ben\ndealer: anna", "line 5: dealer: given already"),
        ("# a break", "names: a, b", "line 7: names comes too late"),
        ("anna knock 12", "anna nock 12", "line 6: 'anna nock 12' is no hand"),
        ("ben gin 31", "ben gin 3l", "line 8: 'ben gin 3l' is no hand"),
        ("dead\n", "anna knock 90\n" * 4, "line 12: the game is over"),
    ],
)
def test_a_wrong_line_is_named_by_its_number(old: str, new: str, words: str):
    assert old in FILE
    with pytest.raises(ValueError) as caught:
        read_score(FILE.replace(old, new))
    assert words in str(caught.value)


# --- The command ----------------------------------------------------------------------------------


def score(path: Path, *args: str) -> int:
    return main(["score", str(path), *args])


def errors(capsys: pytest.CaptureFixture[str]) -> str:
    out, said = capsys.readouterr()
    said = said.replace(COMPILING, "")
    assert said.startswith("gin: ") and said.count("\n") == 1, said
    assert out == ""
    return said


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))


def test_an_evening_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path, page = tmp_path / "evening.txt", tmp_path / "evening.html"
    assert score(path, "--names", "anna,ben", "--rules", "denexa", "--dealer", "anna") == 0
    assert "anna deals." in capsys.readouterr().out
    assert score(path, "anna knock 12", "ben gin 31", "ben undercut 4", "dead", "--html", str(page)) == 0
    shown = capsys.readouterr().out
    assert "anna and ben stand at 12 to 85." in shown
    assert "ben deals." in shown
    assert path.read_text() == (
        "gin rummy score 1\nrules: denexa\nnames: anna, ben\ndealer: anna\n\n"
        "anna knock 12\nben gin 31\nben undercut 4\ndead\n"
    )
    assert "<td" in page.read_text(encoding="utf-8")
    assert score(path, "--undo") == 0  # the dead hand
    assert score(path, "--undo", "ben knock 20") == 0  # the undercut, and what it was instead
    assert "12 to 76" in capsys.readouterr().out
    assert score(path, "anna knock 6 against 94", "--pool", "40") == 0
    shown = capsys.readouterr().out
    assert "Match to 500" in shown and "anna wins by" in shown
    assert "The prize pool of 40 is shared out at the end." in shown
    assert sorted(p.name for p in tmp_path.iterdir()) == ["evening.html", "evening.txt"]


def test_G7_the_pool_is_shared_out_at_the_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    rules = "palace,target=40"
    assert score(tmp_path / "a.txt", "--names", "a,b", "--rules", rules, "a gin 20", "--pool", "40.5") == 0
    assert "Of the prize pool of 40.5: a 30.38, b 10.12." in capsys.readouterr().out
    assert score(tmp_path / "b.txt", "--names", "a,b", "--rules", rules, "a gin 21", "--pool", "40") == 0
    assert "Of the prize pool of 40: a 30.00, b 0.00; 10.00 stays in it." in capsys.readouterr().out


def test_hands_from_a_file_and_from_stdin(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    path, lines = tmp_path / "s.txt", tmp_path / "lines.txt"
    lines.write_text("anna knock 12  # first\n\nben gin 31\n")
    assert score(path, "--names", "anna,ben", "--from", str(lines)) == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("dead\nanna knock 3\n"))
    assert score(path, "--from", "-") == 0
    assert "stand at 15 to 56" in capsys.readouterr().out
    before = path.read_text()
    lines.write_text("anna knock 12\nben gin 31x\n")
    assert score(path, "--from", str(lines)) == 2
    assert f"{lines}: line 2: 'ben gin 31x' is no hand" in errors(capsys)
    assert path.read_text() == before


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["anna knock 5", "ben nock 5"], "hand 2: 'ben nock 5' is no hand"),
        (["anna gin 90", "dead"], "hand 2: the game is over"),
        (["--names", "anna,carl"], "has other names: leave --names out"),
        (["--rules", "palace"], "has other rules: leave --rules out"),
        (["--rules", "palce"], "did you mean palace?"),
        (["--dealer", "ben"], "has other dealer: leave --dealer out"),
        (["--undo"], "there is no hand to take back"),
        (["--pool", "x"], "--pool x: an amount above 0 is due"),
        (["--pool", "-3"], "--pool -3: an amount above 0 is due"),
        (["--from", "/no/such/file"], "/no/such/file cannot be read"),
        (["--html", "/no/such/folder/a.html", "dead"], "/no/such/folder/a.html cannot be written"),
    ],
)
def test_what_is_wrong_changes_nothing(args: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "s.txt"
    assert score(path, "--names", "anna,ben", "--dealer", "anna") == 0
    capsys.readouterr()
    before = path.read_text()
    assert score(path, *args) == 2
    assert words in errors(capsys)
    assert path.read_text() == before
    assert [p.name for p in tmp_path.iterdir()] == ["s.txt"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], "is not there: begin a score with --names anna,ben"),
        (["--names", "anna"], "names: two are needed"),
        (["--names", "anna,ben", "--rules", "nothing"], "there is no preset 'nothing'"),
        (["--names", "anna,ben", "--dealer", "carl"], "'carl' is nobody here"),
        (["--names", "anna,ben", "carl knock 3"], "hand 1: 'carl' is nobody here"),
    ],
)
def test_a_new_score_that_cannot_be_is_not_written(
    args: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert score(tmp_path / "s.txt", *args) == 2
    assert words in errors(capsys)
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_file_is_named_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "s.txt"
    path.write_text(FILE.replace("ben gin", "carl gin"))
    assert score(path, "dead") == 2
    assert f"{path}: line 8: 'carl' is nobody here: there are Anna and ben" in errors(capsys)
    path.write_bytes(b"\xff\xfe")
    assert score(path) == 2
    assert "is not text" in errors(capsys)
    assert score(tmp_path) == 2
    assert "cannot be read" in errors(capsys)


class Terminal(io.StringIO):
    """What somebody types at a terminal."""

    def isatty(self) -> bool:
        return True


def test_hand_after_hand_at_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    path, page = tmp_path / "s.txt", tmp_path / "s.html"
    seen: list[str] = []
    lines = [
        "?",
        "anna knock 12",
        "ben gnn 3",
        "",
        "ben gin 31",
        "undo",
        "undo",
        "undo",
        "sheet",
        "ben knock 2",
        "quit",
    ]

    def typed(prompt: str) -> str:
        seen.append(path.read_text() if path.exists() else "")
        return lines.pop(0)

    monkeypatch.setattr("builtins.input", typed)
    monkeypatch.setattr("sys.stdin", Terminal())
    assert score(path, "--names", "anna,ben", "--html", str(page)) == 0
    shown = capsys.readouterr().out
    assert "'ben gnn 3' is no hand" in shown
    assert "there is no hand to take back" in shown
    assert "anna and ben stand at 12 to 56." in shown
    assert "Game 1 (modern, to 100)" in shown
    # Each hand is in the file before the next is asked for, and taken back as soon.
    assert [text.count("\n") for text in seen] == [4, 4, 5, 5, 5, 6, 5, 4, 4, 4, 5]
    assert read_score(path.read_text()).hands == (HandScore(1, 2, "knock"),)
    lines = ["ben gin 3"]
    monkeypatch.setattr("builtins.input", typed)
    lines.append("quit")
    assert score(path) == 0
    assert read_score(path.read_text()).match == keep_match("modern", [HandScore(1, 2), HandScore(1, 28, "gin")])


def test_rules_of_all_sorts_come_back_from_a_file():
    for text in ("modern", "denexa,match=none", "straight,target=none,hands=3", "hollywood,target=50,shutout=add"):
        file = new_score(parse_rules(text), NAMES)
        assert read_score(file.text).rules == parse_rules(text)
