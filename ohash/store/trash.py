"""The trash of a store: runs that were deleted stay for a month and can be restored.

A deleted run leaves the list first, in one transaction; its file follows. A process that dies in between leaves a file
that the trash claims when the store is next opened.

A clock that is wrong for an hour must not empty the trash: a run goes for good only when its month has been found over
on two days.
"""

import sqlite3
import time
from collections.abc import Iterable
from pathlib import Path

DAY = 86_400.0
KEPT_SECONDS = 30 * DAY
FOLDER = "trash"
COLUMNS = "key, kind, dataset, method, seed, state, t, created, record"


def move_to_trash(db: sqlite3.Connection, keys: Iterable[str]) -> list[str]:
    """Move these runs from the list to the trash; returns those that were there."""
    listed = [key for key in keys if db.execute("SELECT 1 FROM runs WHERE key = ?", (key,)).fetchone()]
    for key in listed:
        _move(db, key, "runs", "trash", f"{COLUMNS}, deleted", f"{COLUMNS}, {time.time()!r}")
    return listed


def restore_from_trash(db: sqlite3.Connection, keys: Iterable[str]) -> list[str]:
    """Move these runs back to the list; returns those that were in the trash."""
    moved = [key for key in keys if db.execute("SELECT 1 FROM trash WHERE key = ?", (key,)).fetchone()]
    for key in moved:
        _move(db, key, "trash", "runs", COLUMNS, COLUMNS)
    return moved


def delete_expired(db: sqlite3.Connection, now: float) -> list[str]:
    """Drop the runs whose KEPT_SECONDS were found over at least a day ago, and return their keys; note the others."""
    over = (now - KEPT_SECONDS,)
    keys = [key for (key,) in db.execute("SELECT key FROM trash WHERE deleted < ? AND expired < ?", (*over, now - DAY))]
    db.execute(  # found in the future: the clock was ahead then
        "UPDATE trash SET expired = ? WHERE deleted < ? AND (expired IS NULL OR expired > ?)", (now, *over, now)
    )
    db.executemany("DELETE FROM trash WHERE key = ?", [(key,) for key in keys])
    db.executemany("DELETE FROM remarks WHERE key = ?", [(key,) for key in keys])
    return keys


def move_files(keys: Iterable[str], source: Path, target: Path) -> None:
    """Move the traces of these runs; a run that failed has none."""
    files = [file for key in keys if (file := source / f"{key}.parquet").exists()]
    if files:
        target.mkdir(parents=True, exist_ok=True)
    for file in files:
        file.replace(target / file.name)


def _move(db: sqlite3.Connection, key: str, source: str, target: str, into: str, values: str) -> None:
    db.execute(f"INSERT OR REPLACE INTO {target} ({into}) SELECT {values} FROM {source} WHERE key = ?", (key,))
    db.execute(f"DELETE FROM {source} WHERE key = ?", (key,))
