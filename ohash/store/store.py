"""Store: the runs that are kept, on disk, safe from crashes and shared by any number of processes.

A finished run is one Parquet file that says everything about itself (`traces`); an SQLite database lists them. The file
comes first: what the database does not know after a crash, or after its own file was damaged, it learns again from the
files. So no finished run is lost, and none is there twice, as its key is its name.
"""

import json
import shutil
import sqlite3
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ohash.engine.params import from_json
from ohash.engine.snapshot import Snapshot, to_frame, to_snapshot
from ohash.runtime.folders import HOME, home
from ohash.runtime.frames import Arrays, Frame
from ohash.store.listing import RunRow, make_row_from
from ohash.store.schema import DamagedError, NewerError, connected, prepare, transaction
from ohash.store.traces import looks_complete, read_trace, read_values, write_trace

DATABASE, TRACES = "runs.sqlite3", "traces"
LIVE_RUN, CELL = "live", "cell"
Rows = list[tuple[Any, ...]]
FULL = 2**18  # bytes that are free: less than one run and the database take


class StoreError(ValueError):
    """Nothing can be kept: a full disk, a read-only folder; the message says which."""


class Store:
    """A folder of runs. `problem` says what is wrong with it, in words; `writable` whether runs can be kept."""

    def __init__(self, folder: str | Path | None = None) -> None:
        """Open, or create; a damaged database is put aside and made again from the files of the runs."""
        self.folder = home() if folder is None else Path(folder)
        self.problem, self.writable, self._readable = "", True, True
        self._database, self._traces = self.folder / DATABASE, self.folder / TRACES
        try:
            self._traces.mkdir(parents=True, exist_ok=True)
            self._open()
        except (OSError, sqlite3.OperationalError) as error:
            self._only_read(error)
        except NewerError as error:
            self.problem, self.writable, self._readable = str(error), False, False

    # -- what a list of runs needs (`RunStore`) ---------------------------------------------------------------------

    def list(self, *, kind: str = "", dataset: str = "", method: str = "", state: str = "") -> "list[RunRow]":
        """Every run, the newest last; optionally only some."""
        wanted = {"kind": kind, "dataset": dataset, "method": method, "state": state}
        chosen = {name: value for name, value in wanted.items() if value}
        where = " AND ".join(f"{name} = ?" for name in chosen) or "1"
        rows = self.rows(f"SELECT key, record FROM runs WHERE {where} ORDER BY created, key", *chosen.values())
        return [_line(key, json.loads(record)) for key, record in rows]

    def get(self, key: str) -> Snapshot:
        """The last picture of a run; KeyError if it is not kept. Without its trace it has numbers and no curves."""
        return to_snapshot(*self.frame(key))

    def delete(self, keys: Iterable[str]) -> None:
        """Forget these runs and remove their files."""
        keys = list(keys)
        for key in keys:
            self.write(lambda key=key: self.trace(key).unlink(missing_ok=True))
        self.transact(lambda db: db.executemany("DELETE FROM runs WHERE key = ?", [(key,) for key in keys]))

    # -- runs as values and arrays ----------------------------------------------------------------------------------

    def trace(self, key: str) -> Path:
        """The Parquet file of a run."""
        return self._traces / f"{key}.parquet"

    def values(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """What is known of some runs (parameters, numbers, state, environment), without curves; unknown ones not."""
        wanted = set(keys)
        rows = self.rows("SELECT key, record FROM runs")
        return {key: json.loads(record) for key, record in rows if key in wanted}

    def frame(self, key: str) -> Frame:
        """Values and arrays of a run; where its trace is lost or damaged, `notes` says so."""
        rows = self.rows("SELECT record FROM runs WHERE key = ?", key)
        if not rows:
            raise KeyError(key)
        values = json.loads(rows[0][0])
        if values["state"] == "error":
            return values, {}
        try:
            return read_trace(self.trace(key))
        except (OSError, ValueError) as error:
            return {**values, "notes": [*values["notes"], f"the curves are lost: {error}"]}, {}

    def curves_lost(self, line: RunRow) -> bool:
        """Whether a run that ended well has a file that is not there, or at a glance no whole one."""
        return line.state != "error" and not looks_complete(self.trace(line.key))

    def done(self) -> set[str]:
        """The keys of all runs that ended well."""
        return {key for (key,) in self.rows("SELECT key FROM runs WHERE state = 'done'")}

    def save(self, key: str, values: dict[str, Any], arrays: Arrays, *, kind: str = CELL) -> None:
        """Keep a run. One that ended well is never replaced; one that failed may be tried again."""
        values = {"created": time.time(), **values, "kind": kind}
        if values["state"] != "error" and key not in self.done():
            self.write(lambda: write_trace(self.trace(key), values, arrays))
        self.transact(lambda db: _insert(db, key, values))

    def save_snapshot(self, now: Snapshot, *, kind: str = LIVE_RUN) -> str:
        """Keep a picture of a run; returns its key."""
        key = f"{now.params.key()}-{now.t}"
        self.save(key, *to_frame(now), kind=kind)
        return key

    # -- the database -----------------------------------------------------------------------------------------------

    def _open(self) -> None:
        try:
            prepare(self._database)
        except DamagedError as error:
            aside = f"damaged-{time.strftime('%Y%m%d-%H%M%S')}"
            for end in ("", "-wal", "-shm"):
                with suppress(FileNotFoundError):  # another process was quicker
                    (self.folder / f"{DATABASE}{end}").replace(self.folder / f"{DATABASE}.{aside}{end}")
            prepare(self._database)
            self.problem = (
                f"{self._database} was damaged ({error}); it was put aside, and made again from the files of the runs. "
                "Runs that failed have no file: their errors are no longer listed, and a sweep tries them again"
            )
        self._adopt()

    def _adopt(self) -> None:
        """List the files the database does not know: of a process that died in between, or of a damaged database."""
        known = {key for (key,) in self.rows("SELECT key FROM runs")}
        for file in sorted(self._traces.glob("*.parquet")):
            if file.stem in known:
                continue
            try:
                values = read_values(file)
                self.transact(lambda db, file=file, values=values: _insert(db, file.stem, values))
            except FileNotFoundError:  # deleted by another process just now
                continue
            except (ValueError, KeyError) as error:
                self.problem = self.problem or f"a file of the store was left out: {error}"

    def _only_read(self, error: Exception) -> None:
        """The folder cannot be written: what is there can still be looked at."""
        self.writable = False
        way_out = "make room on it" if self._full() else "make it writable"
        self.problem = (
            f"nothing can be kept in {self.folder} ({self._why(error)}); {way_out}, or set {HOME} to another folder"
        )

    def _full(self) -> bool:
        try:
            return shutil.disk_usage(self.folder).free < FULL
        except OSError:
            return False

    def _why(self, error: Exception) -> str:
        """What the system says; SQLite does not name a full disk."""
        return f"the disk is full: {error}" if self._full() else str(error)

    def rows(self, sql: str, *values: Any) -> Rows:
        """Read the database."""
        if not (self._readable and self._database.exists()):
            return []
        try:
            with connected(self._database, writable=self.writable) as db:
                return db.execute(sql, values).fetchall()
        except sqlite3.OperationalError:  # not even a lock could be written
            return self._read_as_it_lies(sql, *values)
        except DamagedError as error:
            if not self.writable:
                raise StoreError(f"{self._database} is damaged ({error}); {self.problem}") from error
            self._open()  # puts it aside
            with connected(self._database) as db:
                return db.execute(sql, values).fetchall()

    def _read_as_it_lies(self, sql: str, *values: Any) -> Rows:
        try:
            with connected(self._database, writable=False) as db:
                return db.execute(sql, values).fetchall()
        except sqlite3.OperationalError as error:
            self.problem = self.problem or f"{self._database} cannot be read ({error})"
            return []

    def transact(self, work: Any) -> Any:
        """Do something in one transaction."""

        def inside() -> Any:
            with connected(self._database) as db, transaction(db):
                return work(db)

        return self.write(inside)

    def write(self, work: Any) -> Any:
        """Write something; what the system refuses is a StoreError in words."""
        if not self.writable:
            raise StoreError(self.problem)
        try:
            return work()
        except (OSError, sqlite3.OperationalError) as error:
            hint = "" if self._full() else "is the disk full, or the folder read-only? But "
            raise StoreError(
                f"{self.folder} could not be written ({self._why(error)}); {hint}what was kept before is still there"
            ) from error


def _insert(db: sqlite3.Connection, key: str, values: dict[str, Any]) -> None:
    params = json.loads(values["params"])
    record = {name: value for name, value in values.items() if name != "curves"}
    row = (key, values["kind"], params["dataset"], params["method"], params["seed"], values["state"], values["t"])
    db.execute(
        "INSERT INTO runs (key, kind, dataset, method, seed, state, t, created, record) VALUES (?,?,?,?,?,?,?,?,?) "
        "ON CONFLICT (key) DO UPDATE SET state = excluded.state, t = excluded.t, created = excluded.created, "
        "record = excluded.record WHERE runs.state = 'error'",
        (*row, values["created"], json.dumps(record)),
    )
    db.execute("DELETE FROM claims WHERE key = ?", (key,))


def _line(key: str, values: dict[str, Any]) -> RunRow:
    numbers, t, state = values["numbers"], values["t"], values["state"]
    try:
        return make_row_from(key, from_json(values["params"]), numbers, t, state)
    except ValueError as error:  # of a plugin that is not here, or of another version
        params = json.loads(values["params"])
        nothing = dict.fromkeys(("map_start", "map", "recall_start", "recall", "auc"))
        return RunRow(key, params["method"], params["dataset"], str(error), t, state, bits=0, **nothing)
