"""Store: runs on disk, safe from crashes and shared by any number of processes.

A finished run is one self-contained Parquet file (`traces`); an SQLite database lists the runs. The file is written
first: whatever the database misses after a crash or damage is restored from the files. So no finished run is lost, and
none is stored twice, because its key is its name.
"""

import json
import math
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from ohash.engine.params import from_json
from ohash.engine.snapshot import Snapshot, to_frame, to_snapshot
from ohash.models import registry
from ohash.runtime.files import HOME, home
from ohash.runtime.frames import Arrays, Frame, JsonObject
from ohash.store import trash
from ohash.store.listing import RunRow, make_row_from, truth_fields
from ohash.store.schema import DamagedError, NewerError, connect, prepare, transaction
from ohash.store.traces import looks_complete, read_trace, read_values, write_trace

DATABASE, TRACES = "runs.sqlite3", "traces"
LIVE_RUN, CELL = "live", "cell"
SCORES = {"recall_start": "recall_10_start", "recall": "recall_10", "auc": "auc"}
Rows = list[tuple[Any, ...]]
Result = TypeVar("Result")
LONGEST_REMARK = 2_000  # characters
FULL = 2**18  # free bytes below which the disk counts as full: one run and the database need more


class StoreError(ValueError):
    """The store cannot be written: a full disk or a read-only folder; the message says which."""


class StoreBusyError(StoreError):
    """Another program has held the database for longer than a writer waits; it may be free again at any moment."""


class Store:
    """A folder of runs. `problem` says what is wrong with it; `writable`, whether runs can be saved."""

    def __init__(self, folder: str | Path | None = None) -> None:
        """Open or create a store; a damaged database is set aside and rebuilt from the files of the runs."""
        self.folder = home() if folder is None else Path(folder)
        self.problem, self.writable, self._readable = "", True, True
        self._database, self._traces = self.folder / DATABASE, self.folder / TRACES
        self._trash = self.folder / trash.FOLDER
        try:
            self._traces.mkdir(parents=True, exist_ok=True)
            self._open()
        except (OSError, sqlite3.OperationalError) as error:
            self._make_read_only(error)
        except NewerError as error:
            self.problem, self.writable, self._readable = str(error), False, False

    # -- the interface of a list of runs (`RunStore`) ------------------------------------------------------------------

    def list(self, *, kind: str = "", dataset: str = "", method: str = "", state: str = "") -> "list[RunRow]":
        """Every run that matches the filters, the newest last."""
        filters = {"kind": kind, "dataset": dataset, "method": method, "state": state}
        chosen = {name: value for name, value in filters.items() if value}
        where = " AND ".join(f"{name} = ?" for name in chosen) or "1"
        rows = self.rows(f"SELECT key, record FROM runs WHERE {where} ORDER BY created, key", *chosen.values())
        remarks = self.remarks()
        return [_row(key, json.loads(record), *remarks.get(key, ("", ""))) for key, record in rows]

    def get(self, key: str) -> Snapshot:
        """The last snapshot of a run; KeyError if it is not stored. Without its trace it has numbers but no curves."""
        return to_snapshot(*self.frame(key))

    def delete(self, keys: Iterable[str]) -> None:
        """Move these runs to the trash, where they stay for a month; `restore` brings them back."""
        keys = list(keys)
        moved = self.transact(lambda db: trash.move_to_trash(db, keys))
        self.write(lambda: trash.move_files(moved, self._traces, self._trash))

    def restore(self, keys: Iterable[str]) -> None:
        """Bring runs back from the trash; keys that are not in it are ignored."""
        keys = list(keys)
        self.write(lambda: trash.move_files(keys, self._trash, self._traces))
        self.transact(lambda db: trash.restore_from_trash(db, keys))

    def list_trash(self) -> Sequence[RunRow]:
        """The runs in the trash, the one deleted last at the end."""
        rows = self.rows("SELECT key, record FROM trash ORDER BY deleted, key")
        return [_row(key, json.loads(record)) for key, record in rows]

    # -- remarks ----------------------------------------------------------------------------------------------------

    def remark(self, key: str, *, tags: str = "", note: str = "") -> None:
        """Replace the tags (words separated by commas) and the note of a run."""
        words = ", ".join(dict.fromkeys(word.strip() for word in tags.split(",") if word.strip()))
        sql = "INSERT OR REPLACE INTO remarks (key, tags, note) VALUES (?, ?, ?)"
        self.transact(lambda db: db.execute(sql, (key, words[:LONGEST_REMARK], note.strip()[:LONGEST_REMARK])))

    def remarks(self) -> dict[str, tuple[str, str]]:
        """Tags and note of every run that has some."""
        return {key: (tags, note) for key, tags, note in self.rows("SELECT key, tags, note FROM remarks")}

    # -- runs as values and arrays ----------------------------------------------------------------------------------

    def trace(self, key: str) -> Path:
        """The Parquet file of a run."""
        return self._traces / f"{key}.parquet"

    def values(self, keys: Iterable[str]) -> dict[str, JsonObject]:
        """Parameters, numbers, state and environment of these runs, without curves; unknown keys are left out."""
        wanted = set(keys)
        rows = self.rows("SELECT key, record FROM runs")
        return {key: json.loads(record) for key, record in rows if key in wanted}

    def frame(self, key: str) -> Frame:
        """Values and arrays of a run; if its trace is lost or damaged, `notes` says so."""
        rows = self.rows("SELECT record FROM runs WHERE key = ?", key)
        if not rows:
            raise KeyError(key)
        values = json.loads(rows[0][0])
        if values["state"] == "error":
            return values, {}
        trace = self.trace(key)
        try:
            return read_trace(trace)
        except (OSError, ValueError) as error:
            reason = str(error).replace(str(trace), trace.name)  # notes are shown and exported
            return {**values, "notes": [*values["notes"], f"the curves are lost: {reason}"]}, {}

    def curves_lost(self, row: RunRow) -> bool:
        """Whether the trace of a finished run is missing, or incomplete at first sight."""
        return row.state != "error" and not looks_complete(self.trace(row.key))

    def count(self) -> int:
        """The number of runs."""
        return sum(int(number) for (number,) in self.rows("SELECT COUNT(*) FROM runs"))

    def done(self) -> set[str]:
        """The keys of all successful runs."""
        return {key for (key,) in self.rows("SELECT key FROM runs WHERE state = 'done'")}

    def save(self, key: str, values: JsonObject, arrays: Arrays, *, kind: str = CELL) -> None:
        """Save a run. A successful one is never replaced; a failed one may be."""
        values = {"created": time.time(), **values, "kind": kind}
        if values["state"] != "error":
            self.save_trace(key, values, arrays, kind=kind)
        self.transact(lambda db: _insert(db, key, values))
        self.write(partial((self._trash / f"{key}.parquet").unlink, missing_ok=True))

    def save_trace(self, key: str, values: JsonObject, arrays: Arrays, *, kind: str = CELL) -> None:
        """Save only the file of a successful run, also where the database is held; the next who opens it lists it."""
        if key not in self.done():
            values = {"created": time.time(), **values, "kind": kind}
            self.write(lambda: write_trace(self.trace(key), values, arrays))

    def save_snapshot(self, now: Snapshot, *, kind: str = LIVE_RUN) -> str:
        """Save the state of a run; returns its key."""
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
                with suppress(FileNotFoundError):  # another process was faster
                    (self.folder / f"{DATABASE}{end}").replace(self.folder / f"{DATABASE}.{aside}{end}")
            prepare(self._database)
            self.problem = (
                f"{self._database} was damaged ({error}); it was set aside and rebuilt from the files of the runs. "
                "Failed runs have no file: their errors are no longer listed, and a sweep runs them again"
            )
        try:
            self._adopt()
        except StoreBusyError as error:
            self.problem = self.problem or f"files of the store were not looked through: {error}"

    def _adopt(self) -> None:
        """Add files that the database misses, left by a process that died or by a damaged database."""
        keys = {key for (key,) in self.rows("SELECT key FROM runs")}
        moved = {key for (key,) in self.rows("SELECT key FROM trash")} - keys
        trash.move_files(moved, self._traces, self._trash)  # a process died before it could
        if self.rows("SELECT 1 FROM trash WHERE deleted < ? LIMIT 1", time.time() - trash.KEPT_SECONDS):
            for key in self.transact(lambda db: trash.delete_expired(db, time.time())):
                (self._trash / f"{key}.parquet").unlink(missing_ok=True)
        for file in sorted(self._traces.glob("*.parquet")):
            if file.stem in keys:
                continue
            try:
                values = read_values(file)
                self.transact(partial(_insert, key=file.stem, values=values))
            except FileNotFoundError:  # just deleted by another process
                continue
            except StoreBusyError:  # as it would be for every other file
                raise
            except (ValueError, KeyError) as error:
                self.problem = self.problem or f"a file of the store was skipped: {error}"

    def _make_read_only(self, error: Exception) -> None:
        """The folder cannot be written; what is there can still be read."""
        self.writable = False
        remedy = "free some space" if self._full() else "make it writable"
        self.problem = (
            f"nothing can be saved in {self.folder} ({self._reason(error)}); {remedy}, or set {HOME} to another folder"
        )

    def _full(self) -> bool:
        try:
            return shutil.disk_usage(self.folder).free < FULL
        except OSError:
            return False

    def _reason(self, error: Exception) -> str:
        """The message of the system, and a full disk, which SQLite does not name."""
        reason = getattr(error, "strerror", None) or str(error)
        return f"the disk is full: {reason}" if self._full() else reason

    def rows(self, sql: str, *values: object) -> Rows:
        """Query the database."""
        if not (self._readable and self._database.exists()):
            return []
        try:
            with connect(self._database, writable=self.writable) as db:
                return db.execute(sql, values).fetchall()
        except sqlite3.OperationalError:  # not even a lock file can be written
            return self._rows_without_lock(sql, *values)
        except DamagedError as error:
            if not self.writable:
                raise StoreError(f"{self._database} is damaged ({error}); {self.problem}") from error
            self._open()  # sets the damaged file aside
            with connect(self._database) as db:
                return db.execute(sql, values).fetchall()

    def _rows_without_lock(self, sql: str, *values: object) -> Rows:
        try:
            with connect(self._database, writable=False) as db:
                return db.execute(sql, values).fetchall()
        except sqlite3.OperationalError as error:
            self.problem = self.problem or f"{self._database} cannot be read ({error})"
            return []

    def transact(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Do `work` in one transaction."""

        def inside() -> Result:
            with connect(self._database) as db, transaction(db):
                return work(db)

        return self.write(inside)

    def write(self, work: Callable[[], Result]) -> Result:
        """Do `work`, which writes to the folder; a refusal of the system becomes a StoreError that says why."""
        if not self.writable:
            raise StoreError(self.problem)
        try:
            return work()
        except (OSError, sqlite3.OperationalError) as error:
            hint, kind = "runs" if self._full() else "is the disk full, or the folder read-only? Runs", StoreError
            if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY:
                hint, kind = "another program holds the database; close it, and try again. Runs", StoreBusyError
            raise kind(
                f"{self.folder} could not be written ({self._reason(error)}); {hint} saved before are still there"
            ) from error


def _insert(db: sqlite3.Connection, key: str, values: JsonObject) -> None:
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
    db.execute("DELETE FROM trash WHERE key = ?", (key,))  # the same run again: its file has been written anew


def _row(key: str, values: JsonObject, tags: str = "", note: str = "") -> RunRow:
    row = _bare_row(key, values)
    params = json.loads(values["params"])
    now = {"plugin": registry.plugin_version(params["method"])}
    now["data_plugin"] = registry.data_plugin_version(params["dataset"])
    for name, version in now.items():
        stored = values.get(name, {}).get("fingerprint", "")
        if version is not None and stored != version.fingerprint and version.name not in row.changed_settings:
            older = f"by an older version of {version.name}"
            row = replace(
                row, changed_settings=", ".join(filter(None, [row.changed_settings, older])),
                group=", ".join(filter(None, [row.group, f"{older} {stored}".strip()])),
            )  # fmt: skip
    origin = "a sweep" if values.get("kind") == CELL else "Live"
    return replace(row, created=values.get("created", 0.0), origin=origin, tags=tags, note=note)


def _bare_row(key: str, values: JsonObject) -> RunRow:
    numbers, t, state = values["numbers"], values["t"], values["state"]
    try:
        return make_row_from(key, from_json(values["params"]), numbers, t, state, values.get("similar_by", ""))
    except ValueError:  # from a missing plugin, or from another version
        params = json.loads(values["params"])
        method, data = params["method"], params["dataset"]
        obstacle = f"{method} is not here: give its file with --plugin"
        if method in registry.hashers():
            obstacle = "made by another version"
        columns = {"map_start": "", "map": ""} | truth_fields(values.get("similar_by", "")) | SCORES
        scores: JsonObject = {name: _finite(numbers, column) for name, column in columns.items()}
        return RunRow(key, method, data, obstacle, t, state, bits=round(numbers.get("bits", 0) or 0), **scores)


def _finite(numbers: dict[str, float], column: str) -> float | None:
    value = numbers.get(column)
    return value if value is not None and math.isfinite(value) else None
