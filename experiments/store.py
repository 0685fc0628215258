"""The store of a run: every game of a tournament in one SQLite file of the run folder.

A shard of pairs is committed whole or not at all, so a run killed at any moment goes on where it stood. The table
``games`` has one row a game, its columns named after `experiments.match.GAME`, for anyone's own queries.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from experiments.match import FINISHES, GAME
from experiments.refusal import Refusal

DATABASE, LOCK = "games.sqlite", "lock"
_APPLICATION = 0x47494E52  # "GINR": tells our files from other SQLite files
_FORMAT = 1

Identity = Mapping[str, Any]
"""What makes a run this run and no other: names to values that JSON can hold."""


def _columns() -> list[tuple[str, str, int | tuple[int, int] | None]]:
    """Return (column, field of GAME, index in the field) for each number of a game's record."""
    columns: list[tuple[str, str, int | tuple[int, int] | None]] = []
    for name in GAME.names or ():
        shape = GAME[name].shape
        if name == "finishes":
            columns += [(f"{kind_name}_{'ab'[side]}", name, (side, kind))
                        for side in (0, 1) for kind, kind_name in FINISHES.items()]  # fmt: skip
        elif shape:
            columns += [(f"{name}_{'ab'[side]}", name, side) for side in (0, 1)]
        else:
            columns.append((name, name, None))
    return columns


COLUMNS = _columns()


def _cell(games: np.ndarray, name: str, index: Any) -> np.ndarray:
    """Return one column of games, a view: shape (n,)."""
    column = games[name]
    if index is None:
        return column
    return column[:, index] if isinstance(index, int) else column[:, index[0], index[1]]


class Store:
    """The games of one run. Only one process at a time has a folder open (`open_store`)."""

    def __init__(self, folder: Path, database: sqlite3.Connection) -> None:
        self.folder = folder
        self._db = database

    def add(self, shards: Iterable[tuple[int, np.ndarray]]) -> None:
        """Store played pairs of some pairings, all of them or none.

        Args:
            shards: Number of the pairing, and its GAME records, shape (n, 2).
        """
        names = ", ".join(column for column, _, _ in COLUMNS)
        marks = ", ".join("?" * (1 + len(COLUMNS)))
        with self._sentences(), self._db:
            for pairing, games in shards:
                flat = games.reshape(-1)
                cells = [_cell(flat, name, index).tolist() for _, name, index in COLUMNS]
                rows = zip([pairing] * len(flat), *cells, strict=True)
                self._db.executemany(f"INSERT INTO games (pairing, {names}) VALUES ({marks})", rows)

    def pairs(self, pairing: int) -> np.ndarray:
        """Return the numbers of the pairs played in a pairing, ascending."""
        with self._sentences():
            rows = self._db.execute("SELECT pair FROM games WHERE pairing = ? AND a_seat = 0 ORDER BY pair", (pairing,))
            return np.array([pair for (pair,) in rows], dtype=np.int64)

    def games(self, pairing: int, pairs: int) -> np.ndarray:
        """Return the games of the first ``pairs`` pairs of a pairing: GAME, shape (pairs, 2).

        Raises:
            Refusal: when some are missing.
        """
        names = ", ".join(column for column, _, _ in COLUMNS)
        query = f"SELECT {names} FROM games WHERE pairing = ? AND pair < ? ORDER BY pair, a_seat"
        with self._sentences():
            rows = self._db.execute(query, (pairing, pairs)).fetchall()
        if len(rows) != 2 * pairs:
            raise Refusal(f"{self.folder}: {2 * pairs - len(rows)} games of pairing {pairing} are missing")
        games = np.zeros(2 * pairs, dtype=GAME)
        for (_, name, index), column in zip(COLUMNS, zip(*rows, strict=True), strict=True):
            _cell(games, name, index)[:] = column
        return games.reshape(pairs, 2)

    def begin_session(self, session: Mapping[str, Any]) -> None:
        """Note that a process begins to play: when, where, with what versions."""
        with self._sentences(), self._db:
            self._db.execute("INSERT INTO sessions (about) VALUES (?)", (json.dumps(session),))

    def sessions(self) -> list[dict[str, Any]]:
        """Return what `begin_session` noted, the first one first."""
        with self._sentences():
            return [json.loads(row) for (row,) in self._db.execute("SELECT about FROM sessions ORDER BY id")]

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """Name the file in whatever SQLite finds wrong with it."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise Refusal(_damaged(self.folder / DATABASE, error)) from error


@contextmanager
def open_store(folder: Path, identity: Identity) -> Iterator[Store]:
    """Open the store of a run folder, made when it is not there, for this process alone.

    Args:
        folder: The run folder.
        identity: Of the run. A folder that holds another run is refused.

    Raises:
        Refusal: when the folder holds another run or other things, is in use, or cannot be read or written.
    """
    _make_folder(folder)
    with locked(folder):
        path = folder / DATABASE
        try:
            database = sqlite3.connect(path)
        except sqlite3.Error as error:
            raise Refusal(f"{path} cannot be opened: {error}") from error
        try:
            _prepare(database, path, identity)
            yield Store(folder, database)
        finally:
            database.close()


def _make_folder(folder: Path) -> None:
    """Make the folder, or see that it is a run folder: results must not be written among other files."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        others = [entry.name for entry in folder.iterdir() if entry.name not in (DATABASE, LOCK)]
    except OSError as error:
        raise Refusal(f"{folder} cannot be used as a run folder: {error.strerror or error}") from error
    if others and not (folder / DATABASE).exists():
        raise Refusal(
            f"{folder} holds other files ({', '.join(sorted(others)[:3])}) and no run: choose a new folder with --out"
        )


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock; the system frees it when the process ends, however it ends."""
    try:
        file = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise Refusal(f"{folder} cannot be written: {error.strerror or error}") from error
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refusal(
                f"{folder} is in use by another process: wait for it to end, or choose another folder with --out"
            ) from None
        yield
    finally:
        os.close(file)


def _prepare(db: sqlite3.Connection, path: Path, identity: Identity) -> None:
    """Make the tables in a new file; see that an old one holds this run."""
    try:
        # Each commit is on the disk before the next shard counts as played.
        db.execute("PRAGMA synchronous = FULL")
        application = db.execute("PRAGMA application_id").fetchone()[0]
        tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if application == 0 and tables == 0:
            _create(db, identity)
            return
        if application != _APPLICATION:
            raise Refusal(f"{path} is no file of this program: choose another folder with --out")
        form = db.execute("PRAGMA user_version").fetchone()[0]
        if form != _FORMAT:
            raise Refusal(f"{path} has format {form}, and this version reads {_FORMAT}: choose another --out")
        problem = db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if problem != "ok":
            raise Refusal(_damaged(path, problem))
        stored = {key: json.loads(value) for key, value in db.execute("SELECT key, value FROM meta")}
    except (sqlite3.DatabaseError, json.JSONDecodeError) as error:
        raise Refusal(_damaged(path, error)) from error
    differences = _differences(stored, identity)
    if differences:
        raise Refusal(
            f"{path.parent} holds another run: {'; '.join(differences)}: choose another folder with --out, or "
            "give the run as it was"
        )


def _create(db: sqlite3.Connection, identity: Identity) -> None:
    columns = ", ".join(f"{column} INTEGER NOT NULL" for column, _, _ in COLUMNS)
    # One transaction: a process killed here leaves an empty file, and the next begins anew.
    db.executescript(
        f"""
        BEGIN;
        PRAGMA application_id = {_APPLICATION};
        PRAGMA user_version = {_FORMAT};
        CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE sessions (id INTEGER PRIMARY KEY, about TEXT NOT NULL);
        CREATE TABLE games (pairing INTEGER NOT NULL, {columns}, PRIMARY KEY (pairing, pair, a_seat)) WITHOUT ROWID;
        """
    )
    db.executemany("INSERT INTO meta VALUES (?, ?)", [(key, json.dumps(value)) for key, value in identity.items()])
    db.commit()


def _damaged(path: Path, problem: object) -> str:
    reason = " ".join(str(problem).split())
    return f"{path} is damaged or no SQLite file ({reason}): restore it, or choose another folder with --out"


def _differences(stored: Identity, wanted: Identity) -> list[str]:
    """Return in words what differs between two identities; parts of a mapping are told one by one."""
    found = []
    for key, now in wanted.items():
        if key not in stored:
            continue  # an agent's code, where the agents differ: told already
        before = stored[key]
        if isinstance(before, dict) and isinstance(now, dict):
            found += [f"{key}: {text}" for text in _differences(before, now)]
        elif before != now:
            found.append(f"{key} was {_short(before)}, not {_short(now)}")
    return found


def _short(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
