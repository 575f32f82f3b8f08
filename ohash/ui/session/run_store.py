"""Runs by key: those of this tab, those stored on disk, and both together."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import streamlit as st

from ohash.engine.snapshot import Snapshot
from ohash.runtime.files import home
from ohash.runtime.frames import JsonObject
from ohash.store.listing import ENDED, LIVE, RunRow, make_row
from ohash.store.store import Store
from ohash.sweeps.saving import list_sweeps
from ohash.ui.session import live_run
from ohash.ui.session.access import is_owner, require_owner
from ohash.ui.session.session import Session, key_of

MAX_LISTED = 1000
SAVED = "saved"  # after the state of a run that is stored on disk

Run = tuple[RunRow, Snapshot]


@st.cache_resource(ttl="1m", show_spinner=False)
def _open(folder: str) -> Store:
    return Store(folder)


@st.cache_data(ttl="10s", max_entries=4, show_spinner=False)
def _sweep_names(folder: str, _store: Store) -> dict[str, str]:
    """The sweep that each stored run belongs to, by its key; the newest sweep of several."""
    return {cell.key: f"sweep {sweep.name}" for sweep in list_sweeps(_store).values() for cell in sweep.cells}


def open_store() -> Store:
    """The store of this server; a folder that was repaired is noticed within a minute."""
    return _open(str(home()))


class SessionRuns:
    """A `RunStore` in the memory of one browser tab: its earlier runs, and the live one under the key "live"."""

    def __init__(self, session: Session) -> None:
        """Reads the session at every call."""
        self._session = session

    def list(self) -> "list[RunRow]":
        """Earlier runs, then the live one."""
        return [make_row(key, now) for key, now in self._all().items()]

    def get(self, key: str) -> Snapshot:
        """The last snapshot of a run."""
        return self._all()[key]

    def delete(self, keys: Iterable[str]) -> None:
        """Forget earlier runs; the live one stays."""
        self._session.forget(set(keys) - {LIVE})

    def live_key(self) -> str:
        """The key under which the finished live run is stored; "" while it runs."""
        now = live_run.latest_snapshot(self._session)
        return "" if now is None or now.state not in ENDED else key_of(now)

    def _all(self) -> dict[str, Snapshot]:
        runs = {run.key: run.now for run in self._session.earlier}
        now = live_run.latest_snapshot(self._session)
        if now is not None and now.t > 0 and self.live_key() not in runs:  # a finished live run may have been pinned
            runs[LIVE] = now
        return runs


class AllRuns:
    """A `RunStore` of both: the runs stored on disk, then those only this tab remembers, and the live run.

    A visitor of a class has only those of her tab.
    """

    def __init__(self, session: Session, store: Store) -> None:
        """`store` is shared by all tabs, and with the command line."""
        self._tab, self._store = SessionRuns(session), store

    def list(self) -> "list[RunRow]":
        """The newest stored runs, then those of this tab that are not stored."""
        if not is_owner():
            return self._tab.list()
        stored = self._store.list()[-MAX_LISTED:]
        keys = {line.key for line in stored}
        if self._tab.live_key() in keys:
            keys.add(LIVE)
        sweeps = _sweep_names(str(self._store.folder), self._store)
        named = [replace(line, origin=sweeps.get(line.key, line.origin)) for line in stored]
        return [replace(line, state=f"{line.state}, {SAVED}") for line in named] + [
            line for line in self._tab.list() if line.key not in keys
        ]

    def get(self, key: str) -> Snapshot:
        """From this tab, or from disk."""
        try:
            return self._tab.get(key)
        except KeyError:
            if key == LIVE:  # it is never stored under this name
                raise
            require_owner("A stored run")
            return self._store.get(key)

    def read(self, lines: Sequence[RunRow]) -> tuple[Sequence[Run], Sequence[RunRow]]:
        """Runs with their snapshots, and those that cannot be read here: their plugin is missing, or has changed.

        Left out is what has gone since it was listed: deleted elsewhere, or the live run, listed under its own key now.
        """
        runs: list[Run] = []
        unreadable = []
        for line in lines:
            try:
                runs.append((line, self.get(line.key)))
            except ValueError:
                unreadable.append(line)
            except KeyError:
                continue
        return runs, unreadable

    def unlisted(self) -> int:
        """How many stored runs are too many for the list."""
        return max(0, self._store.count() - MAX_LISTED) if is_owner() else 0

    def delete(self, keys: Iterable[str]) -> None:
        """From this tab and from disk."""
        keys = list(keys)
        self._tab.delete(keys)
        if is_owner():
            self._store.delete(keys)

    def restore(self, keys: Iterable[str]) -> None:
        """Bring back what was deleted from disk."""
        require_owner("Restoring a stored run")
        self._store.restore(keys)

    def remark(self, key: str, tags: str, note: str) -> None:
        """Replace the tags and the note of a stored run."""
        require_owner("A remark on a stored run")
        self._store.remark(key, tags=tags, note=note)

    def values(self, runs: Sequence[Run]) -> dict[str, JsonObject]:
        """What is stored about the runs besides their snapshots."""
        if not is_owner():
            return {}
        return self._store.values(line.key for line, _ in runs)

    def keep(self, runs: Sequence[Run]) -> None:
        """Store runs of this tab on disk."""
        require_owner("Saving a run")
        for line, now in runs:
            if line.key != LIVE or now.state in ENDED:
                self._store.save_snapshot(now)
