"""Leases on cells: several processes may work on one sweep, or on sweeps that share cells, without repeating work.

A lease is a row of the table `claims` with a heartbeat. It ends when its cell is saved. The leases of a dead process
lapse: its heartbeat has stopped, and on the same machine its process id is gone.
"""

import json
import os
import secrets
import socket
import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass

from ohash.runtime.frames import JsonObject
from ohash.store.store import Store

# A process without a heartbeat for this long is dead.
STALE_SECONDS = 60.0


@dataclass(frozen=True)
class Activity:
    """The last state of a sweep that a process reported."""

    sweep: str
    owner: str
    state: str
    started: float
    beat: float
    progress: JsonObject

    @property
    def alive(self) -> bool:
        """Whether a live process works on it."""
        return self.state in ("running", "cancelling") and owner_alive(self.owner, self.beat)


class CellLeases:
    """The leases of one process in one store."""

    def __init__(self, store: Store) -> None:
        """No cell is leased yet."""
        self._store = store
        self.owner = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"

    def take(self, keys: Iterable[str], limit: int) -> list[str]:
        """Lease at most `limit` of these cells: those neither done nor leased by a live process; returns their keys."""
        keys, now = list(keys), time.time()

        def lease_free_cells(db: sqlite3.Connection) -> list[str]:
            done = {key for (key,) in db.execute("SELECT key FROM runs WHERE state = 'done'")}
            held = {key: (owner, beat) for key, owner, beat in db.execute("SELECT key, owner, beat FROM claims")}
            free = [key for key in keys if key not in done and not (key in held and owner_alive(*held[key]))][:limit]
            rows = [(key, self.owner, now) for key in free]
            db.executemany("INSERT OR REPLACE INTO claims (key, owner, beat) VALUES (?, ?, ?)", rows)
            return free

        return self._store.transact(lease_free_cells)

    def release(self, keys: Iterable[str] | None = None) -> None:
        """Give up some leases, or all."""
        if keys is None:
            self._store.transact(lambda db: db.execute("DELETE FROM claims WHERE owner = ?", (self.owner,)))
        else:
            rows = [(key, self.owner) for key in keys]
            self._store.transact(lambda db: db.executemany("DELETE FROM claims WHERE key = ? AND owner = ?", rows))

    def beat(self, sweep: str, state: str, started: float, progress: JsonObject) -> bool:
        """Renew the leases and report progress; returns whether cancelling was requested."""

        def report(db: sqlite3.Connection) -> bool:
            now = time.time()
            row = db.execute("SELECT owner, state FROM activity WHERE sweep = ?", (sweep,)).fetchone()
            cancelled = row is not None and row == (self.owner, "cancelling") and state == "running"
            db.execute("UPDATE claims SET beat = ? WHERE owner = ?", (now, self.owner))
            db.execute(
                "INSERT OR REPLACE INTO activity (sweep, owner, state, started, beat, progress) VALUES (?,?,?,?,?,?)",
                (sweep, self.owner, "cancelling" if cancelled else state, started, now, json.dumps(progress)),
            )
            return cancelled

        return self._store.transact(report)


def activity(store: Store) -> dict[str, Activity]:
    """The last reported activity of every sweep, by its key."""
    rows = store.rows("SELECT sweep, owner, state, started, beat, progress FROM activity")
    return {row[0]: Activity(row[0], row[1], row[2], row[3], row[4], json.loads(row[5])) for row in rows}


def cancel(store: Store, sweep: str) -> None:
    """Ask the process that works on a sweep to stop; finished cells stay."""
    store.transact(
        lambda db: db.execute(
            "UPDATE activity SET state = 'cancelling' WHERE sweep = ? AND state = 'running'", (sweep,)
        )
    )


def owner_alive(owner: str, beat: float) -> bool:
    """Whether the process that owns a lease is alive."""
    host, pid, _ = owner.split(":")
    if abs(time.time() - beat) > STALE_SECONDS:  # a beat from the future is from before the clock was set back
        return False
    if host != socket.gethostname():
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's process: it exists
        return True
    return True
