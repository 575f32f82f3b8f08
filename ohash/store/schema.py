"""The database of the store: its tables, and how an older one is brought up to date.

`MIGRATIONS[v]` leads from version v to v + 1; a new database goes through all of them. The number is SQLite's
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
)
VERSION = len(MIGRATIONS)


class DamagedError(Exception):
    """The database file is no database any more."""


class NewerError(Exception):
    """The database was made by a newer version of this file."""


@contextmanager
def connected(path: Path, *, writable: bool = True) -> Iterator[sqlite3.Connection]:
    """A connection; the block is one transaction when something is written."""
    link = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None) if writable else _read_only(path)
    with closing(link) as db:
        try:
            db.execute("PRAGMA synchronous = FULL")
            yield db
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorname", "") in ("SQLITE_CORRUPT", "SQLITE_NOTADB"):
                raise DamagedError(str(error)) from error
            raise


def _read_only(path: Path) -> sqlite3.Connection:
    """Read what others write, or, where not even a lock can be taken, the file as it lies there."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    link = sqlite3.connect(address, uri=True, isolation_level=None)
    try:
        link.execute("SELECT 1 FROM sqlite_master LIMIT 1")
    except sqlite3.OperationalError:
        link.close()
        link = sqlite3.connect(f"{address}&immutable=1", uri=True, isolation_level=None)
    return link


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All or nothing; the lock is taken at the start, so that reading and writing inside belong together."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def prepare(path: Path) -> None:
    """Create the tables, or bring those of an older version up to date; a copy of the old file stays beside it."""
    with connected(path) as db:
        db.execute("PRAGMA journal_mode = WAL")
        if (found := version(db)) == VERSION:
            _check(db)
            return
        if found > VERSION:
            raise NewerError(
                f"{path} must be of version {VERSION} or older, got {found}: a newer ohash made it; update ohash, or "
                "set OHASH_HOME to another folder"
            )
        if found:
            with closing(sqlite3.connect(path.with_name(f"{path.stem}-v{found}{path.suffix}"))) as copy:
                db.backup(copy)
        with transaction(db):
            for at in range(version(db), VERSION):  # another process may have been quicker
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
