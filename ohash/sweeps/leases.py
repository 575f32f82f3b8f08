"""Who works on what: several processes may work on one sweep, or on sweeps that share cells, and none does work twice.

A claim is a row with a heartbeat. It ends with the run it was for; a process that died holds no claim, as its heart has
stopped, and on the same machine its number is gone.
"""

import json
import os
import secrets
import socket
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ohash.store.store import Store

# A heart that has not beaten for this long has stopped.
STALE_SECONDS = 60.0


@dataclass(frozen=True)
class Activity:
    """What a process said last about a sweep; `alive` is whether it can still go on."""

    sweep: str
    owner: str
    state: str
    started: float
    beat: float
    progress: dict[str, Any]

    @property
    def alive(self) -> bool:
        """Whether somebody works on it."""
        return self.state in ("running", "cancelling") and owner_alive(self.owner, self.beat)


class CellLeases:
    """The claims of one process on one store."""

    def __init__(self, store: Store) -> None:
        """Nothing is claimed yet."""
        self._store = store
        self.owner = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"

    def take(self, keys: Iterable[str], most: int) -> list[str]:
        """At most `most` of these runs, now ours to do: neither done nor claimed by somebody alive."""
        keys, now = list(keys), time.time()

        def work(db: Any) -> list[str]:
            done = {key for (key,) in db.execute("SELECT key FROM runs WHERE state = 'done'")}
            held = {key: (owner, beat) for key, owner, beat in db.execute("SELECT key, owner, beat FROM claims")}
            free = [key for key in keys if key not in done and not (key in held and owner_alive(*held[key]))][:most]
            rows = [(key, self.owner, now) for key in free]
            db.executemany("INSERT OR REPLACE INTO claims (key, owner, beat) VALUES (?, ?, ?)", rows)
            return free

        found: list[str] = self._store.transact(work)
        return found

    def release(self, keys: Iterable[str] | None = None) -> None:
        """Give up some claims, or all."""
        if keys is None:
            self._store.transact(lambda db: db.execute("DELETE FROM claims WHERE owner = ?", (self.owner,)))
        else:
            rows = [(key, self.owner) for key in keys]
            self._store.transact(lambda db: db.executemany("DELETE FROM claims WHERE key = ? AND owner = ?", rows))

    def beat(self, sweep: str, state: str, started: float, progress: dict[str, Any]) -> bool:
        """Say that we are alive and how far; returns whether somebody wants us to stop."""

        def work(db: Any) -> bool:
            now = time.time()
            row = db.execute("SELECT owner, state FROM activity WHERE sweep = ?", (sweep,)).fetchone()
            wanted = row is not None and row == (self.owner, "cancelling") and state == "running"
            db.execute("UPDATE claims SET beat = ? WHERE owner = ?", (now, self.owner))
            db.execute(
                "INSERT OR REPLACE INTO activity (sweep, owner, state, started, beat, progress) VALUES (?,?,?,?,?,?)",
                (sweep, self.owner, "cancelling" if wanted else state, started, now, json.dumps(progress)),
            )
            return wanted

        return bool(self._store.transact(work))


def activity(store: Store) -> dict[str, Activity]:
    """What is known of every sweep that was ever worked on, by its key."""
    rows = store.rows("SELECT sweep, owner, state, started, beat, progress FROM activity")
    return {row[0]: Activity(row[0], row[1], row[2], row[3], row[4], json.loads(row[5])) for row in rows}


def cancel(store: Store, sweep: str) -> None:
    """Ask whoever works on a sweep to stop; finished cells stay."""
    store.transact(
        lambda db: db.execute(
            "UPDATE activity SET state = 'cancelling' WHERE sweep = ? AND state = 'running'", (sweep,)
        )
    )


def owner_alive(owner: str, beat: float) -> bool:
    """Whether the heart of a process still beats."""
    host, pid, _ = owner.split(":")
    if time.time() - beat > STALE_SECONDS:
        return False
    if host != socket.gethostname():
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's: it is there
        return True
    return True
