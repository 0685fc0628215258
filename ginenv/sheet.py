"""Score sheets as people write them on paper, from a `ginenv.games.Match`: `sheet_text` and `sheet_html`.

Each player has a column with the points of every hand won and the running score, and a line drawn under it; in
Hollywood there are three such double columns side by side. Below stand boxes, bonuses and totals, and the games of a
match.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import zip_longest

from ginenv.games import SEATS, Column, Game, Match

_LONGEST_NAME = 24


@dataclass(frozen=True)
class _Cell:
    """A player's place in a row: points or a number of boxes to the left, the running score or a sum to the right."""

    left: str = ""
    right: str = ""
    line: bool = False
    """Whether a line is drawn under it: a hand won."""


_EMPTY = _Cell()


@dataclass(frozen=True)
class _Row:
    """A line of the sheet: a cell for each column and seat, and what is said about it."""

    label: str
    cells: tuple[_Cell, ...]
    note: str = ""


def checked_names(names: Sequence[str]) -> tuple[str, str]:
    """Return the names of the two players, by seat.

    Raises:
        ValueError: unless there are two different ones that can stand on a sheet.
    """
    if isinstance(names, str) or len(names) != 2:
        raise ValueError(f"names: two are needed, not {names!r}")
    for name in names:
        if not name.strip() or name != name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
            raise ValueError(f"name {name!r}: a name has 1 to {_LONGEST_NAME} printed characters, no space at its ends")
    if names[0].casefold() == names[1].casefold():
        raise ValueError(f"names: both players are called {names[0]}")
    return (names[0], names[1])


def standing(match: Match, names: Sequence[str]) -> str:
    """Return how the match stands, or ended, in one sentence."""
    first, second = checked_names(names)
    game = match.games[-1]
    if match.rules.match is not None and match.over:
        sums = match.totals
        if match.winner is None:
            return f"The match ends level, {sums[0]} to {sums[1]}."
        return f"{names[match.winner]} wins the match, {max(sums)} to {min(sums)}."
    where = f"Game {len(match.games)}: " if match.rules.match is not None else ""
    if not game.over:
        scores = ", ".join(f"{column.scores[0]} to {column.scores[1]}" for column in game.columns)
        return f"{where}{first} and {second} stand at {scores}."
    high, low = max(game.totals), min(game.totals)
    if game.winner is None:
        return f"{where}the game ends level, {high} to {low}."
    return f"{where}{names[game.winner]} wins by {game.margin}, {high} to {low}."


# --- What stands where ----------------------------------------------------------------------------


def _hand_rows(game: Game) -> list[_Row]:
    """Return a row for each hand."""
    rows = []
    for number, hand in enumerate(game.hands):
        cells = []
        for column in game.columns:
            entry = next((e for e in column.entries if e.hand == number), None)
            cells += [
                _Cell(str(entry.points), str(entry.score), line=True) if entry and entry.seat == seat else _EMPTY
                for seat in SEATS
            ]
        note = "dead hand" if hand.winner is None else hand.kind.replace("_", " ")
        if hand.winner is not None and not any(cell.line for cell in cells):
            note += f" {hand.points}: its columns are closed"
        rows.append(_Row(str(number + 1), tuple(cells), note))
    return rows


def _sum_rows(game: Game) -> list[_Row]:
    """Return the rows under the line: what the rules add, and the totals."""
    rules = game.rules

    def row(label: str, *values: tuple[int, int], counts: Sequence[tuple[int, int]] = ()) -> _Row:
        cells = [
            _Cell(f"{count[seat]} ×" if count else "", str(value[seat]))
            for value, count in zip_longest(values, counts)
            for seat in SEATS
        ]
        return _Row(label, tuple(cells))

    def each(label: str, of: str) -> _Row:
        return row(label, *(getattr(column, of) for column in game.columns))

    rows = [each("score", "scores")]
    if rules.box_bonus:
        boxes = [column.boxes for column in game.columns]
        rows.append(row("boxes", *(column.box_points for column in game.columns), counts=boxes))
    if rules.game_bonus and rules.target is not None:
        rows.append(each("game bonus", "game_bonus"))
    if rules.shutout != "none" and rules.target is not None:
        rows.append(each("shutout", "shutout"))
    rows.append(each("total" if game.over else "so far", "totals"))
    rows.append(row("ahead by", *(_ahead(column) for column in game.columns)))
    return rows


def _ahead(column: Column) -> tuple[int, int]:
    return (max(column.lead, 0), max(-column.lead, 0))


def _title(match: Match, number: int) -> str:
    rules = match.rules
    end = f"to {rules.target}" if rules.target is not None else f"of {rules.hands} hands"
    frame = ", in three columns" if rules.hollywood else ""
    return f"Game {number} ({rules.name}, {end}{frame})"


def _match_rows(match: Match) -> list[_Row]:
    """Return a row for each game that is over, and the sums (G6)."""
    rows = []
    for number, game in enumerate(match.games, start=1):
        if game.over:
            cells = [_Cell("", str(game.margin)) if game.winner == seat else _EMPTY for seat in SEATS]
            rows.append(_Row(f"game {number}", tuple(cells), "level" if game.winner is None else ""))
    sums = match.totals
    return [*rows, _Row("sum", tuple(_Cell("", str(sums[seat])) for seat in SEATS))]


# --- Text -----------------------------------------------------------------------------------------

_LABEL = 10
_NUMBER = 5


def sheet_text(match: Match, names: Sequence[str]) -> str:
    """Return the score sheet as text for a fixed-width font.

    Raises:
        ValueError: for names that cannot stand on it.
    """
    names = checked_names(names)
    width = max(2 * _NUMBER, *(_width(name) + 1 for name in names))
    out = []
    for number, game in enumerate(match.games, start=1):
        if not game.hands and number > 1:
            continue
        out += [_title(match, number), ""]
        columns = len(game.columns)
        if columns > 1:
            heads = [_fit(f"column {c + 1}", 2 * width + 1) for c in range(columns)]
            out.append(_joined("", heads, ""))
        out.append(_joined("hand", [" ".join(_fit(name, width) for name in names)] * columns, ""))
        for row in _hand_rows(game):
            out.append(_text_row(row, width))
            if any(cell.line for cell in row.cells):
                out.append(_joined("", _pairs(["─" * width if c.line else " " * width for c in row.cells]), ""))
        out += ["", *(_text_row(row, width) for row in _sum_rows(game)), ""]
    if match.rules.match is not None:
        out += [f"Match to {match.rules.match}", ""]
        out.append(_joined("", [" ".join(_fit(name, width) for name in names)], ""))
        out += [*(_text_row(row, width) for row in _match_rows(match)), ""]
    out.append(standing(match, names))
    return "\n".join(out) + "\n"


def _text_row(row: _Row, width: int) -> str:
    cells = [f"{cell.left:>{width - _NUMBER}}{cell.right:>{_NUMBER}}" for cell in row.cells]
    return _joined(row.label, _pairs(cells), row.note)


def _pairs(cells: Sequence[str]) -> list[str]:
    """Return the cells of both seats of each column as one text."""
    return [" ".join(cells[at : at + 2]) for at in range(0, len(cells), 2)]


def _joined(label: str, columns: Sequence[str], note: str) -> str:
    return f"{label:>{_LABEL}}  {'  │ '.join(columns)}  {note}".rstrip()


def _fit(name: str, width: int) -> str:
    """Return a name with spaces before it, as wide as ``width`` letters."""
    return " " * (width - _width(name)) + name


def _width(text: str) -> int:
    """Return how many places a text takes in a fixed-width font: two for wide letters, none for marks on letters."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


# --- HTML -----------------------------------------------------------------------------------------

_STYLE = """
body { font: 16px/1.4 Georgia, serif; margin: 2em; color: #222; background: #fdfbf4; }
table { border-collapse: collapse; margin: 1em 0 2em; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: bold; padding-bottom: .5em; }
th, td { padding: .15em .6em; text-align: right; }
thead th { border-bottom: 2px solid #222; }
tbody.sums tr:first-child > * { border-top: 2px solid #222; }
.seat { border-left: 1px solid #999; }
.column { border-left: 3px double #222; }
.won { border-bottom: 2px solid #a33; font-weight: bold; }
.points { color: #777; font-size: .85em; font-weight: normal; }
.note { text-align: left; color: #777; font-size: .85em; }
"""


def sheet_html(match: Match, names: Sequence[str]) -> str:
    """Return the score sheet as one HTML page that needs nothing else.

    Raises:
        ValueError: for names that cannot stand on it.
    """
    names = checked_names(names)
    title = escape(f"Gin rummy: {names[0]} and {names[1]}")
    out = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>",
    ]
    for number, game in enumerate(match.games, start=1):
        if game.hands or number == 1:
            bodies = [("hands", _hand_rows(game)), ("sums", _sum_rows(game))]
            out.append(_html_table(_title(match, number), names, len(game.columns), bodies))
    if match.rules.match is not None:
        out.append(_html_table(f"Match to {match.rules.match}", names, 1, [("sums", _match_rows(match))]))
    out.append(f"<p>{escape(standing(match, names))}</p>\n</body>\n</html>\n")
    return "\n".join(out)


def _html_table(caption: str, names: Sequence[str], columns: int, bodies: Sequence[tuple[str, list[_Row]]]) -> str:
    out = [f"<table>\n<caption>{escape(caption)}</caption>\n<thead>"]
    if columns > 1:
        heads = "".join(f'<th class="column" colspan="2">column {c + 1}</th>' for c in range(columns))
        out.append(f"<tr><th></th>{heads}<th></th></tr>")
    kinds = [_side(at, columns) for at in range(2 * columns)]
    heads = "".join(f'<th class="{kind}">{escape(names[at % 2])}</th>' for at, kind in enumerate(kinds))
    out.append(f"<tr><th></th>{heads}<th></th></tr>\n</thead>")
    for body, rows in bodies:
        out.append(f'<tbody class="{body}">')
        for row in rows:
            cells = "".join(_html_cell(cell, kind) for cell, kind in zip(row.cells, kinds, strict=True))
            out.append(f'<tr><th>{escape(row.label)}</th>{cells}<td class="note">{escape(row.note)}</td></tr>')
        out.append("</tbody>")
    return "\n".join([*out, "</table>"])


def _side(at: int, columns: int) -> str:
    return "column" if columns > 1 and at % 2 == 0 else "seat"


def _html_cell(cell: _Cell, kind: str) -> str:
    kind = f"{kind} won" if cell.line else kind
    points = f'<span class="points">{escape(cell.left)}</span> ' if cell.left else ""
    return f'<td class="{kind}">{points}{escape(cell.right)}</td>'
