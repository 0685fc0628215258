"""Score sheets: what people would have written on paper, in text and in HTML that holds nothing foreign."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from ginenv.games import dead, keep_match, won
from ginenv.rules import rules
from ginenv.sheet import sheet_html, sheet_text, standing

HANDS = [won(0, 15), dead(), won(1, 56, "gin"), won(0, 90)]

MODERN = """\
Game 1 (modern, to 100)

      hand        anna        ben
         1     15   15             knock
            ──────────
         2                         dead hand
         3                56   56  gin
                       ──────────
         4     90  105             knock
            ──────────

     score         105         56
     boxes    2 ×   50   1 ×   25
game bonus         100          0
   shutout           0          0
     total         255         81
  ahead by         174          0

anna wins by 174, 255 to 81.
"""

HOLLYWOOD = """\
Game 1 (hollywood, to 100, in three columns)

                         column 1  │              column 2  │              column 3
      hand        anna        ben  │       anna        ben  │       anna        ben
         1     60   60             │                        │                        knock
            ──────────             │                        │
         2                10   10  │                        │                        gin
                       ──────────  │                        │
         3     50  110             │    50   50             │                        knock
            ──────────             │ ──────────             │
         4                         │              33   33   │                        undercut
"""


def test_G1_to_G5_a_game_as_it_stands_on_paper():
    assert sheet_text(keep_match("modern", HANDS), ["anna", "ben"]) == MODERN


def test_V2_hollywood_has_three_double_columns():
    hands = [won(0, 60), won(1, 10, "gin"), won(0, 50), won(1, 33, "undercut"), won(1, 20)]
    text = sheet_text(keep_match("hollywood", hands), ["anna", "ben"])
    lines = text.splitlines()
    assert lines[:7] == HOLLYWOOD.splitlines()[:7]
    # Hand 4, ben's second, goes into columns 1 and 2, but column 1 is closed; hand 5 goes into 2 and 3.
    fourth, fifth = (next(line for line in lines if line.split()[:1] == [n]) for n in "45")
    assert [part.split() for part in fourth.split("│")] == [["4"], ["33", "33"], ["undercut"]]
    assert [part.split() for part in fifth.split("│")] == [["5"], ["20", "53"], ["20", "20", "knock"]]
    boxes = next(line for line in lines if line.strip().startswith("boxes"))
    assert boxes.count("×") == 6
    assert "anna and ben stand at 110 to 10, 50 to 53, 0 to 20." in text


def test_V2_a_win_that_no_column_takes_is_said():
    text = sheet_text(keep_match("hollywood", [won(0, 120), won(1, 30)]), ["anna", "ben"])
    assert "knock 30: its columns are closed" in text


def test_G6_a_match_has_the_margins_of_its_games_and_their_sum():
    text = sheet_text(keep_match("denexa", [won(0, 120), won(0, 40), won(1, 130), won(1, 3)]), ["anna", "ben"])
    tail = text[text.index("Match to 500") :].splitlines()
    assert [line.split() for line in tail if line] == [
        ["Match", "to", "500"], ["anna", "ben"], ["game", "1", "345"], ["game", "2", "190"], ["sum", "345", "190"],
        ["Game", "3:", "anna", "and", "ben", "stand", "at", "0", "to", "3."],
    ]  # fmt: skip
    over = keep_match("denexa", [won(0, 120), won(0, 120)])
    assert standing(over, ["anna", "ben"]) == "anna wins the match, 690 to 0."


def test_level_games_and_matches():
    level = rules("openspiel", match=10)
    assert standing(keep_match(level, [dead()]), ["a", "b"]) == "Game 1: the game ends level, 0 to 0."
    assert "level" in sheet_text(keep_match(level, [dead()]), ["a", "b"])


def test_names_of_any_letters_keep_the_columns_straight():
    lines = sheet_text(keep_match("modern", HANDS), ["李小龙", "Bjo\u0308rn"]).splitlines()
    assert lines[2].endswith("李小龙      Bjo\u0308rn")
    assert "│".join(lines[3].split()) == "1│15│15│knock"


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["anna"], "two are needed"),
        ("ab", "two are needed"),
        (["anna", "Anna"], "both players are called anna"),
        (["anna", ""], "1 to 24 printed characters"),
        (["anna", "ben\n"], "1 to 24 printed characters"),
        (["anna", "b\x1b[31m"], "1 to 24 printed characters"),
        (["anna", "x" * 25], "1 to 24 printed characters"),
    ],
)
def test_names_that_cannot_stand_on_a_sheet(names, words):
    for draw in (sheet_text, sheet_html):
        with pytest.raises(ValueError, match=words):
            draw(keep_match("modern", HANDS), names)


# --- HTML -----------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Reads a page: its tags in balance, its attributes, its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.rows: list[list[str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attributes
        if tag != "meta":
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data


@pytest.mark.parametrize("preset", ["modern", "hollywood", "denexa", "palace"])
def test_the_page_is_sound_and_asks_nobody(preset):
    text = sheet_html(keep_match(preset, HANDS), ["anna", "ben"])
    page = Page(text)
    assert page.open == []
    assert {"script", "link", "img", "iframe"}.isdisjoint(page.tags)
    assert {name for name, _ in page.attributes} <= {"class", "lang", "charset", "colspan"}
    assert not re.search(r"https?:|url\(|@import", text)
    widths = {len(row) for row in page.rows[2:]}
    assert widths == ({8} if preset == "hollywood" else {4})


def test_names_are_escaped():
    names = ["<script>x</script>", '"&ben']
    text = sheet_html(keep_match("modern", HANDS), names)
    page = Page(text)
    assert "script" not in page.tags
    assert "<script>" not in text
    assert any(row[1:3] == names for row in page.rows)


def test_text_and_page_say_the_same():
    match = keep_match("hollywood", [won(0, 60), won(1, 10), won(0, 50), won(1, 33), won(1, 99)])
    rows = [" ".join(row).replace("\xa0", " ").split() for row in Page(sheet_html(match, ["anna", "ben"])).rows]
    lines = [line.replace("│", " ").split() for line in sheet_text(match, ["anna", "ben"]).splitlines()]
    for row in rows[2:]:
        assert row in lines
