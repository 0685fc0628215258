"""Drawings of a VIEW: text, SVG, and an RGB array with a small built-in font (NumPy only).

A VIEW holds no hidden card, so no drawing shows one; whoever has the right to (`ginenv.Table`, a replay)
hands in the other hands as ``shown``. `_layout` says once what stands where; two painters draw it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from ginenv.cards import JOKER, NO_CARD, RANKS, SUITS, card_list, card_text, cards_text, count
from ginenv.hands import Settlement, TableResult, arrange, settlement, table_settlement
from ginenv.lay import table_melds
from ginenv.ledger import COLUMNS
from ginenv.melds import MAX_MELDS
from ginenv.rules import Rules
from ginenv.state import BIG_GIN, NO_SEAT, Kind, Phase

# --- What there is to show ------------------------------------------------------------------------


@dataclass
class _Row:
    """What a drawing shows of one seat."""

    name: str
    score: str
    """Of the game; in Hollywood of its columns, ``30/20/0``, and boxes likewise."""
    boxes: str
    melds: list[str] = field(default_factory=list)
    loose: str = ""
    """Cards in no meld; of a closed hand, the ones that all know."""
    laid: str = ""
    """Cards laid off on the knocker's melds (H9)."""
    backs: int = 0
    deadwood: int | None = None
    """None where the hand is not open."""


def _by_column(values: np.ndarray, rules: Rules, seat: int) -> str:
    """Return what a VIEW holds of ``seat``, column by column in Hollywood (V2)."""
    places = range(seat, 2 * COLUMNS, 2) if rules.hollywood else (seat,)
    return "/".join(str(int(values[place])) for place in places)


def _rows(
    view: Any, rules: Rules, shown: Sequence[int], names: Sequence[str]
) -> tuple[list[_Row], Settlement | TableResult | None]:
    """Return each seat's row, the viewer's first, and the settlement after a knock."""
    players = int(view["players"])
    names = list(names) or ["you", *(f"opponent {k}" if players > 2 else "opponent" for k in range(1, players))]
    rows = [
        _Row(names[k], _by_column(view["scores"], rules, k), _by_column(view["boxes"], rules, k))
        for k in range(players)
    ]
    knocker = int(view["knocker"])
    by_hand = rules.settle_by_hand or rules.open_table
    if knocker != NO_SEAT and int(view["kind"]) and not by_hand:  # all hands lie on the table
        hands = [int(view["known"][k]) for k in range(players)]
        none = np.zeros(MAX_MELDS, np.int64)
        if rules.scoring != "gin":
            table = table_settlement(hands, knocker, rules, none, int(view["multiplier"]))
            for row, hand, seat in zip(rows, hands, table.seats, strict=True):
                laid = " ".join(layoff.cards for layoff in seat.layoffs)
                _lay_out(row, hand, seat.melds, laid, seat.deadwood)
            return rows, table
        defender = 1 - knocker
        result = settlement(hands[knocker], hands[defender], rules, none, int(view["multiplier"]))
        _lay_out(rows[knocker], hands[knocker], result.knocker_melds, "", result.knocker_deadwood)
        laid = " ".join(layoff.cards for layoff in result.layoffs)
        _lay_out(rows[defender], hands[defender], result.defender_melds, laid, result.defender_deadwood)
        return rows, result
    for k, row in enumerate(rows):
        hand = int(view["hand"]) if k == 0 else (int(shown[k]) if shown else 0)
        if hand:
            best = arrange(hand, rules)
            _lay_out(row, hand, best.melds, "", best.deadwood)
        else:
            row.loose = cards_text(int(view["known"][k]))
            row.backs = int(view["cards"][k]) - count(int(view["known"][k]))
    return rows, None


def _lay_out(row: _Row, hand: int, melds: Sequence[str], laid: str, deadwood: int) -> None:
    used = {c for text in (*melds, laid) for c in text.split()}
    row.melds, row.laid, row.deadwood = list(melds), laid, deadwood
    # By rank, so that pairs stand together.
    loose = sorted((c for c in card_list(hand) if card_text(c) not in used), key=lambda c: c % 13)
    row.loose = cards_text(loose)


def _status(view: Any, rows: list[_Row], result: Settlement | TableResult | None) -> str:
    """Return in one sentence what happens at the table."""
    kind = Kind(int(view["kind"]))
    if kind == Kind.DEAD:
        return "dead hand, nobody scores"
    if isinstance(result, TableResult):
        verb = "wins" if result.winner_seat or rows[0].name != "you" else "win"
        points = ", ".join(f"{row.name} {seat.points:+d}" for row, seat in zip(rows, result.seats, strict=True))
        return f"{kind.name.lower().replace('_', ' ')}, {rows[result.winner_seat].name} {verb}: {points}"
    if result is not None:
        knocker = int(view["knocker"])
        winner = rows[knocker if result.winner == "knocker" else 1 - knocker].name
        counts = f"{result.knocker_deadwood} against {result.defender_deadwood}"
        verb = "score" if winner == "you" else "scores"
        return f"{kind.name.lower().replace('_', ' ')}, {counts}: {winner} {verb} {result.points}"
    phase = Phase(int(view["phase"]))
    if phase == Phase.OVER:  # settled by hand
        knocker = int(view["knocker"])
        winner = rows[1 - knocker if kind == Kind.UNDERCUT else knocker].name
        return f"{kind.name.lower().replace('_', ' ')}: {winner} {'win' if winner == 'you' else 'wins'} the hand"
    mover = rows[int(view["mover"])].name
    choices = int(view["choices"])
    what = {
        Phase.UPCARD: "take or pass",
        Phase.DRAW: "draw or take",
        Phase.DISCARD: "discard",
        Phase.ARRANGE: "lay down melds",
        Phase.DEFEND: "meld and lay off",
        Phase.ANSWER: "accept or refuse the knock",
    }[phase]
    if phase == Phase.DRAW and int(view["passes"]) == int(view["players"]) and int(view["turn"]) == 0:
        what = "draw from the stock"
    if phase == Phase.DISCARD and view["loose"]:  # the open table
        what = "lay down or off, discard"
    if view["knocks"]:
        what += " or knock"
    if choices >> BIG_GIN & 1:
        what += " or big gin"
    return f"{mover} to {what}"


def _limit(view: Any) -> str:
    limit = int(view["knock_limit"])
    text = f"knock at {limit} or less" if limit else "gin only"
    return text + (", points double" if int(view["multiplier"]) == 2 else "")


# --- Text -----------------------------------------------------------------------------------------


def ansi(
    view: Any,
    rules: Rules,
    shown: Sequence[int] = (),
    names: Sequence[str] = (),
    color: bool = False,
) -> str:
    """Return a VIEW as text: a line for each seat, one for stock and pile, one for what happens.

    Args:
        view: A VIEW record, shape ().
        rules: The rules of the game.
        shown: By relative seat, the mask of a hand to show open although the viewer may not know it;
            0 for none.
        names: By relative seat; default: you, opponent.
        color: Print hearts and diamonds red, by ANSI escapes.
    """
    rows, result = _rows(view, rules, shown, names)
    pile = [card_text(int(c)) for c in view["pile"][: view["n_pile"]][::-1]]
    more = " …" if len(pile) > 6 else ""
    lines = [f"hand {_hand_number(view)}, turn {int(view['turn'])}, {_limit(view)}"]
    lines += [_row_text(row) for row in rows[1:]]
    lines.append(f"  stock {int(view['n_stock'])}, pile {' '.join(pile[:6]) or 'empty'}{more}")
    lines.append(_row_text(rows[0]))
    if view["sets"] or view["runs"]:
        lines.append(f"  on the table {' | '.join(map(cards_text, table_melds(view)))}")
    lines.append(_status(view, rows, result))
    text = "\n".join(lines)
    if color:
        for suit in "HD":
            for rank in RANKS:
                text = text.replace(rank + suit, f"\x1b[31m{rank}{suit}\x1b[0m")
    return text


def _row_text(row: _Row) -> str:
    groups = list(row.melds)
    if row.laid:
        groups.append(f"laid off {row.laid}")
    if row.backs:
        known = f"{row.loose} and " if row.loose else ""
        groups.append(f"{known}{row.backs} hidden")
    elif row.loose:
        groups.append(row.loose)
    count_ = "" if row.deadwood is None else f"  ({row.deadwood} deadwood)"
    return f"{row.name} [{row.score}]: {' | '.join(groups)}{count_}"


def _hand_number(view: Any) -> int:
    # STATE counts a hand that has ended.
    return int(view["hand_number"]) + (int(view["phase"]) != Phase.OVER)


# --- Layout ---------------------------------------------------------------------------------------

WIDTH = 640
_CARD_W, _CARD_H, _STEP, _GAP, _MARGIN = 44, 62, 46, 10, 20
_ROW_H = 112
_MIDDLE_H = 104
_TABLE_H = 176
"""Of the melds on the table: two lines of cards, which is room for all that two hands can lay down."""

_FELT, _DARK, _WHITE, _RED, _BLACK = "#1f6b45", "#175236", "#ffffff", "#c8202f", "#1a1a1a"
_EDGE, _BACK, _BACK_LINE, _PALE, _GOLD, _BLUE = (
    "#9aa5a0", "#2b4a8b", "#5f7fc4", "#d9efe2", "#f2c14e", "#7fc8f8",
)  # fmt: skip


def _layout(view: Any, rules: Rules, shown: Sequence[int], names: Sequence[str]) -> tuple[int, list[tuple[Any, ...]]]:
    """Return the drawing's height and its shapes, back to front.

    Shapes: ("rect", x, y, w, h, colour), ("text", x, y, scale, colour, text), ("card", x, y, card),
    ("back", x, y); x and y are pixels from the top left.
    """
    rows, result = _rows(view, rules, shown, names)
    others = len(rows) - 1
    laid = rules.open_table or rules.settle_by_hand
    height = _ROW_H * (others + 1) + _MIDDLE_H + 16 + _TABLE_H * laid
    shapes: list[tuple[Any, ...]] = [("rect", 0, 0, WIDTH, height, _FELT)]
    y = 10
    for row in rows[1:]:
        _draw_row(shapes, row, y, NO_CARD)
        y += _ROW_H
    _draw_middle(shapes, view, rows, result, y)
    if laid:
        _draw_table(shapes, view, y + _MIDDLE_H)
        y += _TABLE_H
    drawn = int(view["drawn"]) if int(view["mover"]) == 0 else NO_CARD
    _draw_row(shapes, rows[0], y + _MIDDLE_H, drawn)
    return height, shapes


def _draw_row(shapes: list[tuple[Any, ...]], row: _Row, y: int, drawn: int) -> None:
    """Draw one seat: a line of text, its cards below, a bar under each group; the card just drawn in a frame."""
    shapes.append(("text", _MARGIN, y, 2, _WHITE, row.name))
    side = f"score {row.score}, boxes {row.boxes}"
    if row.deadwood is not None:
        side = f"deadwood {row.deadwood}, " + side
    shapes.append(("text", WIDTH - _MARGIN - 12 * len(side), y, 2, _PALE, side))
    x, top = _MARGIN, y + 22
    groups = [(text, _GOLD) for text in row.melds] + [(row.laid, _BLUE), (row.loose, "")]
    for text, bar in groups:
        if not text:
            continue
        start = x
        for c in card_list(text):
            if c == drawn:
                shapes.append(("rect", x - 2, top - 2, _CARD_W + 4, _CARD_H + 4, _GOLD))
            shapes.append(("card", x, top, c))
            x += _STEP
        if bar:
            shapes.append(("rect", start, top + _CARD_H + 4, x - start - 2, 4, bar))
        x += _GAP
    for _ in range(row.backs):
        shapes.append(("back", x, top))
        x += _STEP


def _draw_table(shapes: list[tuple[Any, ...]], view: Any, y: int) -> None:
    """Draw the melds on the table that can be laid off on, a bar under each, card by card over two lines."""
    shapes.append(("text", _MARGIN, y, 2, _WHITE, "on the table"))
    x, top = _MARGIN, y + 22
    for meld in table_melds(view):
        for c in card_list(meld):
            if x + _CARD_W > WIDTH - _MARGIN // 2:
                x, top = _MARGIN, top + _CARD_H + 14
            shapes += [("card", x, top, c), ("rect", x, top + _CARD_H + 4, _CARD_W, 4, _GOLD)]
            x += _STEP
        x += _GAP


def _draw_middle(
    shapes: list[tuple[Any, ...]], view: Any, rows: list[_Row], result: Settlement | TableResult | None, y: int
) -> None:
    """Draw stock, discard pile and what happens."""
    shapes.append(("rect", 0, y, WIDTH, _MIDDLE_H - 10, _DARK))
    top = y + 16
    n_stock, n_pile = int(view["n_stock"]), int(view["n_pile"])
    if n_stock:
        shapes += [("back", _MARGIN + 3, top + 3), ("back", _MARGIN, top)]
    shapes.append(("text", _MARGIN + 52, top + 6, 2, _WHITE, str(n_stock)))
    shapes.append(("text", _MARGIN + 52, top + 26, 1, _PALE, "stock"))
    x = 120
    if n_pile:
        if n_pile > 1:
            shapes.append(("card", x + 3, top + 3, int(view["pile"][n_pile - 2])))
        shapes.append(("card", x, top, int(view["top"])))
    shapes.append(("text", x + 52, top + 6, 2, _WHITE, str(n_pile)))
    shapes.append(("text", x + 52, top + 26, 1, _PALE, "pile"))
    x = 220
    headline, _, rest = _status(view, rows, result).partition(": ")
    for text, colour, down in (
        (headline, _GOLD, 2),
        (rest or _limit(view), _GOLD if rest else _PALE, 24),
    ):
        scale = 2 if len(text) <= 34 else 1
        shapes.append(("text", x, top + down, scale, colour, text))
    where = f"hand {_hand_number(view)}, turn {int(view['turn'])}"
    shapes.append(("text", x, top + 46, 1, _PALE, where))
    if isinstance(result, Settlement) and result.layoffs:
        laid = "laid off: " + ", ".join(map(str, result.layoffs))
        shapes.append(("text", x, top + 60, 1, _BLUE, laid))


# --- SVG ------------------------------------------------------------------------------------------

_SIGNS = "♠♥♦♣"


def _face(card: int) -> tuple[str, int, str]:
    """Return a card's rank as printed, its suit (0-3) and colour."""
    if card >= JOKER:
        return "*", 0, _BLACK
    rank, suit = RANKS[card % 13], card // 13
    return ("10" if rank == "T" else rank), suit, (_RED if SUITS[suit] in "HD" else _BLACK)


def svg(view: Any, rules: Rules, shown: Sequence[int] = (), names: Sequence[str] = ()) -> str:
    """Return a VIEW as an SVG document (text). Arguments as `ansi`."""
    height, shapes = _layout(view, rules, shown, names)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace">'
    ]
    for kind, x, y, *rest in shapes:
        if kind == "rect":
            w, h, colour = rest
            corner = 4 if w < WIDTH and h > 4 else 0
            out.append(f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="{corner}" fill="{colour}"/>')
        elif kind == "text":
            scale, colour, text = rest
            # The layout is made for letters 6 pixels wide; those of monospaced fonts are 0.6 em.
            out.append(
                f'<text x="{x}" y="{y + 7 * scale}" font-size="{10 * scale}" fill="{colour}">{escape(text)}</text>'
            )
        elif kind == "card":
            rank, suit, colour = _face(rest[0])
            out.append(
                f'<g fill="{colour}"><title>{card_text(rest[0])}</title>'
                f'<rect x="{x}.5" y="{y}.5" width="{_CARD_W - 1}" height="{_CARD_H - 1}" rx="5" '
                f'fill="{_WHITE}" stroke="{_EDGE}"/>'
                f'<text x="{x + 4}" y="{y + 18}" font-size="17" font-weight="bold">{rank}</text>'
                f'<text x="{x + _CARD_W // 2}" y="{y + 52}" font-size="32" '
                f'text-anchor="middle">{_SIGNS[suit]}</text></g>'
            )
        else:
            out.append(
                f'<rect x="{x}.5" y="{y}.5" width="{_CARD_W - 1}" height="{_CARD_H - 1}" rx="5" '
                f'fill="{_BACK}" stroke="{_WHITE}"/>'
                f'<rect x="{x + 5}" y="{y + 5}" width="{_CARD_W - 10}" height="{_CARD_H - 10}" rx="3" '
                f'fill="none" stroke="{_BACK_LINE}"/>'
            )
    return "\n".join([*out, "</svg>"]) + "\n"


# --- RGB ------------------------------------------------------------------------------------------

# The well-known 5 × 7 font of small displays: five bytes a letter, each a column with its lowest bit
# on top. Other letters are drawn as "?".
_LETTERS = " !()+,-./0123456789:?ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
_COLUMNS = bytes.fromhex(
    "000000000000005f0000001c2241000041221c0008083e08080080703000080808080800006060002010080402"
    "3e5149453e00427f400072494949462141494d331814127f1027454545393c4a49493141211109073649494936"
    "464949291e000014000002015909067c1211127c7f494949363e414141227f4141413e7f494949417f09090901"
    "3e414151737f0808087f00417f41002040413f017f081422417f404040407f021c027f7f0408107f3e4141413e"
    "7f090909063e4151215e7f09192946264949493203017f01033f4040403f1f2040201f3f4038403f6314081463"
    "03047804036159494d43404040404020545478407f284444383844444428384444287f385454541800087e0902"
    "18a4a49c787f0804047800447d40002040403d007f1028440000417f40007c047804787c080404783844444438"
    "fc1824241818242418fc7c08040408485454542404043f44243c4040207c1c2040201c3c4030403c4428102844"
    "4c9090907c4464544c44"
)
_FONT = {letter: _COLUMNS[5 * i : 5 * i + 5] for i, letter in enumerate(_LETTERS)}

_PIPS = (
    "....#.... ...###... ..#####.. .#######. ######### ######### .##.#.##. ....#.... ...###...",
    ".##...##. ####.#### ######### ######### ######### .#######. ..#####.. ...###... ....#....",
    "....#.... ...###... ..#####.. .#######. ######### .#######. ..#####.. ...###... ....#....",
    "...###... ..#####.. ..#####.. .#.###.#. ####.#### ######### .##.#.##. ....#.... ...###...",
)


def _bitmap(text: str) -> np.ndarray:
    """Return ``text`` in the built-in font: bool, shape (8, 6 * len(text))."""
    out = np.zeros((8, 6 * len(text)), dtype=bool)
    for i, letter in enumerate(text):
        for j, bits in enumerate(_FONT.get(letter, _FONT["?"])):
            out[:, 6 * i + j] = [bits >> row & 1 for row in range(8)]
    return out


def _pip(suit: int) -> np.ndarray:
    return np.array([[dot == "#" for dot in row] for row in _PIPS[suit].split()])


def _rgb(colour: str) -> list[int]:
    return list(bytes.fromhex(colour[1:]))


def _stamp(image: np.ndarray, x: int, y: int, scale: int, colour: str, shape: np.ndarray) -> None:
    """Colour the pixels of ``shape`` (bool, 2-D), enlarged by ``scale``, clipped to the image."""
    big = shape.repeat(scale, axis=0).repeat(scale, axis=1)
    window = image[y : y + big.shape[0], x : x + big.shape[1]]
    window[big[: window.shape[0], : window.shape[1]]] = _rgb(colour)


def _box(image: np.ndarray, x: int, y: int, w: int, h: int, colour: str, corner: int = 0) -> None:
    """Fill a rectangle, its corners rounded off."""
    shape = np.ones((h, w), dtype=bool)
    for i in range(corner):
        cut = corner - round((corner**2 - (corner - i - 0.5) ** 2) ** 0.5)
        for row in (i, h - 1 - i):
            shape[row, :cut] = False
            shape[row, w - cut :] = False
    _stamp(image, x, y, 1, colour, shape)


def rgb_array(view: Any, rules: Rules, shown: Sequence[int] = (), names: Sequence[str] = ()) -> np.ndarray:
    """Return a VIEW as an image: uint8, shape (H, W, 3), W = 640. Arguments as `ansi`."""
    height, shapes = _layout(view, rules, shown, names)
    image = np.zeros((height, WIDTH, 3), dtype=np.uint8)
    for kind, x, y, *rest in shapes:
        if kind == "rect":
            w, h, colour = rest
            _box(image, x, y, w, h, colour, 6 if w < WIDTH and h > 4 else 0)
        elif kind == "text":
            scale, colour, text = rest
            _stamp(image, x, y, scale, colour, _bitmap(text))
        elif kind == "card":
            rank, suit, colour = _face(rest[0])
            _box(image, x, y, _CARD_W, _CARD_H, _EDGE, 5)
            _box(image, x + 1, y + 1, _CARD_W - 2, _CARD_H - 2, _WHITE, 4)
            _stamp(image, x + 5, y + 5, 2, colour, _bitmap(rank))
            _stamp(image, x + 30, y + 7, 1, colour, _pip(suit))
            pip = _pip(suit)
            _stamp(image, x + 9, y + 43 - pip.shape[0] * 3 // 2, 3, colour, pip)
        else:
            _box(image, x, y, _CARD_W, _CARD_H, _WHITE, 5)
            _box(image, x + 1, y + 1, _CARD_W - 2, _CARD_H - 2, _BACK, 4)
            weave = np.add.outer(np.arange(_CARD_H - 12), np.arange(_CARD_W - 12)) % 6 == 0
            _stamp(image, x + 6, y + 6, 1, _BACK_LINE, weave | weave[:, ::-1])
    return image


MODES: dict[str, Callable[..., Any]] = {"ansi": ansi, "svg": svg, "rgb_array": rgb_array}
"""Drawings by render mode."""
