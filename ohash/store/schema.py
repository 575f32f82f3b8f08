"""The database of the store: its tables, and migrations from older versions.

`MIGRATIONS[v]` leads from version v to v + 1; a new database goes through all of them. The version is SQLite's
user_version.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

BUSY_SECONDS = 30.0
MIGRATIONS = (
    """
    CREATE TABLE runs (
        key TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        dataset TEXT NOT NULL,
        method TEXT NOT NULL,
        seed INTEGER NOT NULL,
        state TEXT NOT NULL,
        t INTEGER NOT NULL,
        created REAL NOT NULL,
        record TEXT NOT NULL
    );
    CREATE INDEX runs_by_time ON runs (created);
    """,
    """
    CREATE TABLE claims (key TEXT PRIMARY KEY, owner TEXT NOT NULL, beat REAL NOT NULL);
    CREATE TABLE activity (
        sweep TEXT PRIMARY KEY,
        owner TEXT NOT NULL,
        state TEXT NOT NULL,
        started REAL NOT NULL,
        beat REAL NOT NULL,
        progress TEXT NOT NULL
    );
    """,
    """
    CREATE TABLE trash (
        key TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        dataset TEXT NOT NULL,
        method TEXT NOT NULL,
        seed INTEGER NOT NULL,
        state TEXT NOT NULL,
        t INTEGER NOT NULL,
        created REAL NOT NULL,
        record TEXT NOT NULL,
        deleted REAL NOT NULL
    );
    CREATE TABLE remarks (key TEXT PRIMARY KEY, tags TEXT NOT NULL, note TEXT NOT NULL);
    """,
    "ALTER TABLE trash ADD COLUMN expired REAL",
)
VERSION = len(MIGRATIONS)


class DamagedError(Exception):
    """The database file is damaged."""


class NewerError(Exception):
    """The database was made by a newer version of ohash."""


@contextmanager
def connect(path: Path, *, writable: bool = True) -> Iterator[sqlite3.Connection]:
    """Open a connection, and close it at the end of the block."""
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None) if writable else _read_only(path)
    with closing(connection) as db:
        try:
            db.execute("PRAGMA synchronous = FULL")
            yield db
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorname", "") in ("SQLITE_CORRUPT", "SQLITE_NOTADB"):
                raise DamagedError(str(error)) from error
            raise


def _read_only(path: Path) -> sqlite3.Connection:
    """Open for reading; without locks where no lock can be taken."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(address, uri=True, isolation_level=None)
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1")
    except sqlite3.OperationalError:
        connection.close()
        connection = sqlite3.connect(f"{address}&immutable=1", uri=True, isolation_level=None)
    return connection


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All or nothing; the write lock is taken at the start, so that reads inside stay valid until the writes."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def prepare(path: Path) -> None:
    """Create the tables, or migrate those of an older version; a copy of the old file stays next to it."""
    with connect(path) as db:
        db.execute("PRAGMA journal_mode = WAL")
        if (current := version(db)) == VERSION:
            _check(db)
            return
        if current > VERSION:
            raise NewerError(
                f"{path} must be of version {VERSION} or older, got {current}: it was made by a newer ohash; update "
                "ohash, or set OHASH_HOME to another folder"
            )
        if current:
            with closing(sqlite3.connect(path.with_name(f"{path.stem}-v{current}{path.suffix}"))) as copy:
                db.backup(copy)
        with transaction(db):
            for at in range(version(db), VERSION):  # another process may have been faster
                for statement in MIGRATIONS[at].split(";"):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {at + 1}")


def version(db: sqlite3.Connection) -> int:
    """The version of the tables, 0 in an empty file."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _check(db: sqlite3.Connection) -> None:
    result = str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
    if result != "ok":
        raise DamagedError(result)
