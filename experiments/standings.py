"""What a tournament came to: the result document, the tables for people and the run folder's description."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from experiments.match import FINISHES, NOBODY, A, B
from experiments.stats import Interval, mean, ratio, share
from experiments.store import DATABASE, Store
from experiments.whole_file import write_whole
from ginenv.rules import Rules

DIGITS = 6
"""Decimals in the document: more than any interval supports, and few enough to read."""


def scores(games: np.ndarray) -> np.ndarray:
    """Return the share of each pair that A won, a level game as half: float64, shape (n,).

    Args:
        games: GAME, shape (n, 2).
    """
    return np.mean((games["winner"] == A) + 0.5 * (games["winner"] == NOBODY), axis=1)


def pairing_result(games: np.ndarray) -> dict[str, Any]:
    """Return the results of one pairing, ready for JSON.

    Args:
        games: GAME, shape (n, 2).
    """
    won = share(score := scores(games))
    hands = games["hands"].sum(axis=1)
    points = games["points"].sum(axis=1)
    points_a, points_b = ratio(points[:, A], hands), ratio(points[:, B], hands)
    margin = mean(games["margin"].mean(axis=1))
    finishes = games["finishes"].sum(axis=(0, 1))
    knocks = int(sum(finishes[:, kind].sum() for kind, name in FINISHES.items() if name in ("knock", "undercut")))
    n_hands, dead = int(hands.sum()), int(games["dead"].sum())
    return {
        "games": int(games.size),
        "a_win_rate": _round(won.value),
        "ci95": _bounds(won),
        "hands": n_hands,
        "a_points_per_hand": _round(points_a.value),
        "b_points_per_hand": _round(points_b.value),
        "finishes": {
            **{side: {name: int(finishes[i, kind]) for kind, name in FINISHES.items()}
               for i, side in ((A, "a"), (B, "b"))},
            "dead": dead,
        },
        "forfeits": {side: int((games["forfeit"] == i).sum()) for i, side in ((A, "a"), (B, "b"))},
        "games_won": {side: int((games["winner"] == i).sum()) for i, side in ((A, "a"), (B, "b"))},
        "games_level": int((games["winner"] == NOBODY).sum()),
        "pairs": {
            "a_won_both": int((score == 1).sum()),
            "b_won_both": int((score == 0).sum()),
            "shared": int(((score > 0) & (score < 1)).sum()),
        },
        "a_points_per_hand_ci95": _bounds(points_a),
        "b_points_per_hand_ci95": _bounds(points_b),
        "a_margin_per_game": _round(margin.value),
        "a_margin_per_game_ci95": _bounds(margin),
        "hands_per_game": _round(n_hands / games.size),
        "turns_per_hand": _part(games["turns"].sum(), n_hands),
        "knock_deadwood": _part(games["knock_deadwood"].sum(), knocks),
        "starter_win_rate": _part(games["starter_wins"].sum(), n_hands - dead),
    }  # fmt: skip


def _round(value: float) -> float | None:
    return None if math.isnan(value) else round(float(value), DIGITS)


def _bounds(interval: Interval) -> list[float | None]:
    return [_round(interval.low), _round(interval.high)]


def _part(total: Any, count: int) -> float | None:
    return round(float(total) / count, DIGITS) if count else None


def result_document(
    store: Store, rules: Rules, seed: int, names: Sequence[str], specs: Sequence[str], games: int
) -> dict[str, Any]:
    """Return the result of a finished tournament, the same for the same games: no times, no machine.

    Args:
        store: With all games played.
        rules, seed: Of the tournament.
        names: The agents as they were given.
        specs: The agents with options in full.
        games: Games a pairing.
    """
    pairings = []
    won: dict[int, list[np.ndarray]] = {i: [] for i in range(len(names))}
    for number, (a, b) in enumerate(pairs_of(len(names))):
        played = store.games(number, games // 2)
        score = scores(played)
        won[a].append(score)
        won[b].append(1 - score)
        about = {"a": names[a], "b": names[b], "a_spec": specs[a], "b_spec": specs[b]}
        pairings.append(about | pairing_result(played))
    ranking = []
    for i, rows in won.items():
        # The same pair number has the same decks in every pairing, so it is one cluster across them.
        overall = share(np.mean(rows, axis=0))
        entry = {"agent": names[i], "spec": specs[i], "win_rate": _round(overall.value), "ci95": _bounds(overall)}
        ranking.append((-overall.value, i, entry))
    ranking.sort(key=lambda row: row[:2])
    return {
        "rules": rules.as_dict(),
        "seed": seed,
        "pairings": pairings,
        "ranking": [entry | {"entry": i} for _, i, entry in ranking],
    }


def pairs_of(agents: int) -> list[tuple[int, int]]:
    """Return who plays whom in a round robin; the index in this list is the pairing's number."""
    return [(a, b) for a in range(agents) for b in range(a + 1, agents)]


# --- For people -----------------------------------------------------------------------------------


def tables(document: dict[str, Any]) -> RenderableType:
    """Return the result as tables for the terminal and for a text file."""
    rules, pairings = document["rules"], document["pairings"]
    head = f"rules {rules['name']}, seed {document['seed']}, {pairings[0]['games']} games a pairing, in mirrored pairs"
    foot = "Intervals are 95 %, clustered by pair. Points are those of hands, without boxes and bonuses."
    return Group(
        Text(head), _rank_table(document), _pairing_table(pairings), _finish_table(pairings), Text(foot, style="dim")
    )


def _rank_table(document: dict[str, Any]) -> Table:
    ranking, count = document["ranking"], len(document["ranking"])
    table = _table("games won, % (row against column)", "all", *map(str, range(1, count + 1)))
    rates: dict[tuple[int, int], tuple[float, list[float]]] = {}
    for (a, b), pairing in zip(pairs_of(count), document["pairings"], strict=True):
        low, high = pairing["ci95"]
        rates[a, b] = pairing["a_win_rate"], [low, high]
        rates[b, a] = 1 - pairing["a_win_rate"], [1 - high, 1 - low]
    for place, row in enumerate(ranking, start=1):
        cells = ["–" if other is row else _percent(*rates[row["entry"], other["entry"]]) for other in ranking]
        table.add_row(f"{place}\u00a0{row['agent']}", _percent(row["win_rate"], row["ci95"]), *cells)
    return table


def _pairing_table(pairings: Sequence[dict[str, Any]]) -> Table:
    table = _table("pairings", "games won, %", "95 %", "points a hand", "forfeits", "hands")
    for p in pairings:
        low, high = p["ci95"]
        for side, rate, bounds in (
            ("a", p["a_win_rate"], (low, high)),
            ("b", 1 - p["a_win_rate"], (1 - high, 1 - low)),
        ):
            points = _plus_minus(p[f"{side}_points_per_hand"], p[f"{side}_points_per_hand_ci95"])
            interval = f"{100 * bounds[0]:.2f}–{100 * bounds[1]:.2f}"
            hands = str(p["hands"]) if side == "a" else ""
            table.add_row(
                p[side], f"{100 * rate:.2f}", interval, points, str(p["forfeits"][side]), hands, end_section=side == "b"
            )
    return table


def _finish_table(pairings: Sequence[dict[str, Any]]) -> Table:
    table = _table("finishes, % of all hands, by who scored", "knock", "gin", "big gin", "undercut", "dead")
    for p in pairings:
        hands, finishes = p["hands"], p["finishes"]
        for side in ("a", "b"):
            counts = [*finishes[side].values(), *([finishes["dead"]] if side == "a" else [])]
            cells = [f"{100 * n / hands:.2f}" if hands else "–" for n in counts]
            table.add_row(p[side], *cells, end_section=side == "b")
    return table


def _table(title: str, *headings: str) -> Table:
    """Return a table with a column for agents, and columns of numbers that a terminal of 80 columns shows whole."""
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    table.add_column("", overflow="fold", min_width=12)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _percent(rate: float, bounds: Sequence[float]) -> str:
    return f"{100 * rate:.1f} ± {50 * (bounds[1] - bounds[0]):.1f}"


def _plus_minus(value: float | None, bounds: Sequence[float | None]) -> str:
    if value is None:
        return "–"
    low, high = bounds
    return f"{value:.2f} ± {(high - low) / 2:.2f}" if low is not None and high is not None else f"{value:.2f}"


# --- The run folder -------------------------------------------------------------------------------


def write_results(folder: Path, document: dict[str, Any], description: str) -> None:
    """Write result.json, table.txt and README.md to the run folder, each of them whole or not at all."""
    write_whole(folder / "result.json", as_json(document))
    text = plain(tables(document))
    write_whole(folder / "table.txt", text)
    write_whole(folder / "README.md", f"{description}\n## Result\n\n```\n{text}```\n")


def as_json(document: dict[str, Any]) -> str:
    """Return the document as text, the same to the byte for the same result."""
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def plain(what: RenderableType) -> str:
    """Return tables as plain text."""
    console = Console(file=io.StringIO(), width=160, color_system=None, force_terminal=False, highlight=False)
    console.print(what)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def describe(identity: dict[str, Any], sessions: Sequence[dict[str, Any]], games: int) -> str:
    """Return the run folder's README but for the result: what was played, by what, where, when."""
    lines = [
        "# A tournament of `gin tournament`",
        "",
        f"Round robin, {games} games a pairing in mirrored pairs: two games on the same decks, the seats swapped.",
        "",
        "The command (give it again to resume, or with more `--games` to go on):",
        "",
        f"    {sessions[-1]['command']}",
        "",
        f"- seed: {identity['seed']}",
        f"- rules: `{json.dumps(identity['rules'])}`",
        *(
            f"- agent: `{spec}`, digest of its code {identity['code'][spec]}"
            for spec in dict.fromkeys(identity["agents"])
        ),
        f"- digest of the engine's code: {identity['code']['engine']}",
        "",
        "| file | what it is |",
        "| --- | --- |",
        f"| {DATABASE} | SQLite: table `games`, one row a game; `meta`, what the run is; `sessions`, who played it |",
        "| result.json | the result, as `--json` prints it; the same games give the same bytes |",
        "| table.txt | the result for people |",
        "",
        "## Sessions",
        "",
    ]
    for session in sessions:
        versions = ", ".join(f"{name} {version}" for name, version in session["versions"].items())
        machine = session["machine"]
        lines.append(
            f"- {session['started']}: {machine['cpu']}, {machine['cores']} cores, {machine['system']}; {versions}; "
            f"{session['threads']} threads"
        )
    return "\n".join(lines) + "\n"
