"""`gin score FILE`: keep the score of a game at a real table, hand by hand.

    gin score evening.txt --names anna,ben --rules hollywood
    gin score evening.txt "anna knock 12" "ben gin 31" "ben undercut 4" dead
    gin score evening.txt "anna knock 6 against 21" --html evening.html

Numbers are what the cards count (a difference, or the other's deadwood after gin); bonuses are added by the rules. With
nothing to enter, a terminal asks for hand after hand, and each is saved at once. What is wrong changes nothing.
"""

from __future__ import annotations

import argparse
import sys
from decimal import Decimal, InvalidOperation
from pathlib import Path

from experiments.refusal import Refusal, refusing
from experiments.score_file import ScoreFile, add_hands, new_score, read_score, seat_of
from experiments.whole_file import write_whole
from ginenv.games import SEATS, prize_shares
from ginenv.rules import parse_rules
from ginenv.sheet import sheet_html, sheet_text, standing

HELP = """\
  anna knock 12              anna knocked and wins by 12
  anna knock 6 against 21    the same with both deadwoods: the rules say who wins
  ben gin 31                 gin, and anna was left with 31 (big gin likewise)
  ben undercut 4             anna knocked, ben has 4 less
  dead                       nobody knocked
  undo                       take the last hand back
  sheet                      the whole sheet
  quit                       leave; all is saved"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `gin score`."""
    parser.add_argument("file", metavar="FILE", help="the score, made when it is not there")
    parser.add_argument("hands", nargs="*", metavar="HAND", help="'anna knock 12', 'ben gin 31', 'dead', … in turn")
    parser.add_argument(
        "--from", dest="source", metavar="LINES", help="more hands, one a line, from a file (- for stdin)"
    )
    parser.add_argument("--names", metavar="A,B", help="of the two players, for a new score")
    parser.add_argument(
        "--rules", metavar="P", help="for a new score: a preset, or preset,field=value,… (default modern)"
    )
    parser.add_argument("--dealer", metavar="NAME", help="who deals the first hand of a new score")
    parser.add_argument("--undo", action="store_true", help="take the last hand back (before more are entered)")
    parser.add_argument("--html", metavar="FILE", help="write the sheet as one HTML page, too")
    parser.add_argument("--pool", metavar="AMOUNT", help="share a prize pool out at the end (003: 75 and 25 %%)")


def run(args: argparse.Namespace) -> int:
    """Enter what was given, save it, and show the sheet; or ask for hands."""
    path = Path(args.file)
    pool = _amount(args.pool)
    file = _opened(path, args)
    asking = not (args.hands or args.source or args.undo) and sys.stdin is not None and sys.stdin.isatty()
    if args.undo:
        with refusing(about=args.file):
            file = file.without_last()
    with refusing():
        file = add_hands(file, [(f"hand {n}", text) for n, text in enumerate(args.hands, start=1)])
        file = add_hands(file, _lines(args.source))
    _save(path, file, args.html)
    print(sheet_text(file.match, file.names), end="")
    if asking:
        file = _ask(path, file, args.html)
    elif file.next_dealer:
        print(f"{file.next_dealer} deals.")
    if pool is not None:
        print(_shared(file, pool))
    return 0


def _opened(path: Path, args: argparse.Namespace) -> ScoreFile:
    """Return the score in the file, or a new one."""
    given = {name: getattr(args, name) for name in ("names", "rules", "dealer") if getattr(args, name) is not None}
    text = _read(path) if path.exists() else None
    if text is None:
        if "names" not in given:
            raise Refusal(f"{path} is not there: begin a score with --names anna,ben")
        with refusing():
            names = [name.strip() for name in given["names"].split(",")]
            return new_score(parse_rules(given.get("rules", "modern")), names, given.get("dealer"))
    with refusing(about=str(path)):
        file = read_score(text)
    with refusing():
        same = {
            "names": lambda text: [name.strip() for name in text.split(",")] == list(file.names),
            "rules": lambda text: parse_rules(text) == file.rules,
            "dealer": lambda text: seat_of(text, file.names) == file.dealer,
        }
        for name, value in given.items():
            if not same[name](value):
                raise Refusal(f"{path} has other {name}: leave --{name} out, or begin another file")
    return file


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Refusal(f"{path} is not text") from error
    except OSError as error:
        raise Refusal(f"{path} cannot be read: {error.strerror or error}") from error


def _lines(source: str | None) -> list[tuple[str, str]]:
    """Return the hands of a file of lines, each with where it stands."""
    if source is None:
        return []
    name, text = ("stdin", sys.stdin.read()) if source == "-" else (source, _read(Path(source)))
    lines = ((n, line.partition("#")[0].strip()) for n, line in enumerate(text.splitlines(), start=1))
    return [(f"{name}: line {n}", line) for n, line in lines if line]


def _save(path: Path, file: ScoreFile, html: str | None) -> None:
    """Write the page, if one is wanted, and the score; when the page cannot be, the score is not either."""
    pages = [(Path(html), sheet_html(file.match, file.names))] if html else []
    for target, text in (*pages, (path, file.text)):
        try:
            write_whole(target, text)
        except OSError as error:
            raise Refusal(f"{target} cannot be written: {error.strerror or error}") from error


def _ask(path: Path, file: ScoreFile, html: str | None) -> ScoreFile:
    """Ask for hand after hand; each is saved before the next is asked for."""
    print("Enter hand after hand; ? for help.")
    while True:
        if file.next_dealer:
            print(f"{file.next_dealer} deals.")
        try:
            line = input("> ").strip()
        except EOFError:
            print()
            return file
        word = line.casefold()
        if word in ("quit", "q"):
            return file
        if word in ("?", "help"):
            print(HELP)
        elif word == "sheet":
            print(sheet_text(file.match, file.names), end="")
        elif line:
            try:
                changed = file.without_last() if word == "undo" else file.with_hand(line)
            except ValueError as error:
                print(error)
                continue
            _save(path, changed, html)
            file = changed
            print(standing(file.match, file.names))


def _amount(text: str | None) -> Decimal | None:
    """Return the prize pool."""
    if text is None:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal(0)
    if not amount.is_finite() or amount <= 0:
        raise Refusal(f"--pool {text}: an amount above 0 is due")
    return amount


def _shared(file: ScoreFile, pool: Decimal) -> str:
    """Return who is given what of the prize pool (G7)."""
    match = file.match
    if not match.over:
        return f"The prize pool of {pool} is shared out at the end."
    totals = match.totals if file.rules.match is not None else match.games[0].totals
    shares = prize_shares(totals, SEATS if match.winner is None else [match.winner])
    parts = [
        f"{name} {pool * share.numerator / share.denominator:.2f}"
        for name, share in zip(file.names, shares, strict=True)
    ]
    rest = 1 - sum(shares)
    left = f"; {pool * rest.numerator / rest.denominator:.2f} stays in it" if rest else ""
    return f"Of the prize pool of {pool}: {', '.join(parts)}{left}."
