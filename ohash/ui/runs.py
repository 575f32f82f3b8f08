"""The Runs page: what this session has run and what is kept, a table, an overlay, and what can be done with a run."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from ohash.engine.snapshot import Snapshot
from ohash.plots.runs import MOST, overlay
from ohash.runtime.folders import home
from ohash.store.listing import ENDED, LIVE, RunRow, differences, make_row, to_csv, to_json
from ohash.store.store import Store, StoreError
from ohash.ui import earlier_runs as shelf
from ohash.ui import state
from ohash.ui.session import Past, Selection, Session
from ohash.ui.workarounds import static_chart as still
from ohash.ui.workarounds.messages import plain
from ohash.ui.workarounds.slots import once

SCORE = st.column_config.NumberColumn(format="%.3f", width="small")
WIDER = st.column_config.NumberColumn(format="%.3f", width=112)
WHOLE = st.column_config.NumberColumn(format="localized", width="small")
COLUMNS = {
    "run": st.column_config.NumberColumn(width=48, help="First what is kept, then the runs of this tab."),
    "data": st.column_config.TextColumn(width="medium"),
    "different from default": st.column_config.TextColumn(width="medium"),
    "pairs": WHOLE, "bits": WHOLE, "mAP start": SCORE, "mAP end": SCORE, "recall@10 start": WIDER,
    "recall@10 end": WIDER, "pair-AUC": SCORE, "state": st.column_config.TextColumn(width=130),
}  # fmt: skip
# Runs that are selected when the page opens.
FIRST = 3
MOST_LISTED = 1000

Run = tuple[RunRow, Snapshot]


class SessionRuns:
    """A `RunStore` in the memory of one browser tab: its past runs, and the live one under the key "live"."""

    def __init__(self, session: Session) -> None:
        """Reads the session at every call."""
        self._session = session

    def list(self) -> "list[RunRow]":
        """Past runs, then the live one."""
        return [make_row(key, now) for key, now in self._all().items()]

    def get(self, key: str) -> Snapshot:
        """The last picture of a run."""
        return self._all()[key]

    def delete(self, keys: Iterable[str]) -> None:
        """Forget past runs; the live one stays."""
        shelf.forget(self._session, set(keys) - {LIVE})

    def live_key(self) -> str:
        """What the live run is called when it is kept; "" while it goes on."""
        running = state.hub().lease(self._session.id).runner
        now = None if running is None else running.snapshot()
        return "" if now is None or now.state not in ENDED else f"{now.params.key()}-{now.t}"

    def _all(self) -> dict[str, Snapshot]:
        found = {past.key: past.now for past in self._session.past}
        running = state.hub().lease(self._session.id).runner
        now = None if running is None else running.snapshot()
        kept = now is not None and now.state in ENDED and f"{now.params.key()}-{now.t}" in found
        if now is not None and now.t > 0 and not kept:  # a live run that is over may have been pinned, hence kept
            found[LIVE] = now
        return found


@st.cache_resource(ttl="1m", show_spinner=False)
def _opened(folder: str) -> Store:
    return Store(folder)


def kept() -> Store:
    """The store of this server; a folder that was repaired is noticed within a minute."""
    return _opened(str(home()))


class AllRuns:
    """A `RunStore` of both: what is kept on disk, then what only this tab remembers, and the live run."""

    def __init__(self, session: Session, store: Store) -> None:
        """`store` is shared by all tabs, and with the command line."""
        self._here, self._store = SessionRuns(session), store

    def list(self) -> "list[RunRow]":
        """The newest of the kept runs, then those of this tab that are not kept."""
        kept = self._store.list()[-MOST_LISTED:]
        known = {line.key for line in kept}
        if self._here.live_key() in known:
            known.add(LIVE)
        return [replace(line, state=f"{line.state}, kept") for line in kept] + [
            line for line in self._here.list() if line.key not in known
        ]

    def get(self, key: str) -> Snapshot:
        """From this tab, or from disk."""
        try:
            return self._here.get(key)
        except KeyError:
            return self._store.get(key)

    def delete(self, keys: Iterable[str]) -> None:
        """From this tab and from disk."""
        keys = list(keys)
        self._here.delete(keys)
        self._store.delete(keys)

    def values(self, runs: Sequence[Run]) -> dict[str, dict[str, Any]]:
        """What the disk knows of them beside the picture."""
        return self._store.values(line.key for line, _ in runs)

    def keep(self, runs: Sequence[Run]) -> None:
        """Put runs of this tab on disk."""
        for line, now in runs:
            if line.key != LIVE or now.state in ENDED:
                self._store.save_snapshot(now)


def frame(session: Session, lines: list[RunRow]) -> pd.DataFrame:
    """One row a run, the newest first."""
    lines = lines[::-1]
    return pd.DataFrame(
        {
            "run": range(len(lines), 0, -1),
            "method": [line.method for line in lines],
            "data": [line.data for line in lines],
            "different from default": [line.changed_settings or "nothing" for line in lines],
            "pairs": [line.pairs for line in lines],
            "mAP start": [line.map_start for line in lines],
            "mAP end": [line.map for line in lines],
            "recall@10 start": [line.recall_start for line in lines],
            "recall@10 end": [line.recall for line in lines],
            "pair-AUC": [line.auc for line in lines],
            "bits": [line.bits for line in lines],
            "state": [_state(session, line) for line in lines],
        }
    )


def table(session: Session, lines: list[RunRow]) -> list[int]:
    """A sortable table; returns which of the lines are selected."""
    rows = {line.key: len(lines) - 1 - at for at, line in enumerate(lines)}
    # the key changes with the list: a selection by row number must not outlive its rows
    listed = hashlib.sha256("\n".join(rows).encode()).hexdigest()[:16]
    if session.selection.listed != listed:
        over = SessionRuns(session).live_key()  # kept or pinned, a live run that is over has a name of its own
        keys = [over if key == LIVE and LIVE not in rows else key for key in session.selection.keys]
        again = sorted(rows[key] for key in keys if key in rows)
        session.selection = Selection(listed, again or list(range(min(FIRST, len(lines)))))
    picked = st.dataframe(
        frame(session, lines), key=f"runs_{listed}", hide_index=True, column_config=COLUMNS, on_select="rerun",
        selection_mode="multi-row", selection_default={"selection": {"rows": session.selection.first}},
        alt="The runs of this session with their parameters and scores",
    )  # fmt: skip
    chosen = sorted(len(lines) - 1 - row for row in picked["selection"]["rows"])
    session.selection.keys = [lines[at].key for at in chosen]
    return chosen


def actions(session: Session, store: AllRuns, runs: list[Run]) -> None:
    """Open, pin, export and delete."""
    one = runs[0] if len(runs) == 1 else None
    with st.container(horizontal=True, key="run_actions", vertical_alignment="center"):
        if st.button(
            "Open on Live", icon=":material/play_arrow:", type="primary", disabled=one is None, key="run_open",
            help="Start this experiment again from its first pair. Select one run.",
        ) and one is not None:  # fmt: skip
            _open(session, *one)
        pinned = one is not None and session.pinned == one[0].key
        st.button(
            "Unpin" if pinned else "Pin as reference", icon=":material/keep:", disabled=one is None, key="run_pin",
            on_click=once(_pin), args=(session, None if pinned else one),
            help="Draw this run on Live beside whatever runs there. Select one run.",
        )  # fmt: skip
        new = [(line, now) for line, now in runs if not line.state.endswith("kept") and now.state in ENDED]
        if st.button(
            f"Keep {len(new)}" if len(new) > 1 else "Keep", icon=":material/save:", disabled=not new, key="run_keep",
            help="Store the selected runs on this computer, with their curves. Only runs that are over.",
        ):  # fmt: skip
            _do(lambda: store.keep(new))
        st.download_button(
            "CSV", lambda: to_csv(runs), "ohash-runs.csv", "text/csv", on_click="ignore", key="run_csv",
            icon=":material/download:", disabled=not runs, help="The checkpoints of the selected runs.",
        )  # fmt: skip
        st.download_button(
            "JSON", lambda: to_json(runs, store.values(runs)), "ohash-runs.json", "application/json", on_click="ignore",
            key="run_json", icon=":material/download:", disabled=not runs,
            help="Parameters and numbers of the selected runs.",
        )  # fmt: skip
        old = [line.key for line, _ in runs if line.key != LIVE]
        if st.button(
            f"Delete {len(old)}" if len(old) > 1 else "Delete", icon=":material/delete:", disabled=not old,
            key="run_delete", help="From this tab and from disk. The live run stays: it ends on Live.",
        ):  # fmt: skip
            _do(lambda: store.delete(old))
    if one is not None:
        st.caption("Its link, for somebody else:")
        st.code(link(one[1]), language=None, wrap_lines=True)


def compare(lines: list[RunRow], runs: list[Run]) -> None:
    """The selected runs in one chart each for mAP and recall, and what differs between them."""
    if not runs:
        st.markdown("Select rows to draw them together.")
        return
    numbers = {line.key: at for at, line in enumerate(lines, 1)}
    named = [(f"{numbers[line.key]} · {_short(line.name)}", now) for line, now in runs]
    left, right = st.columns(2, gap="medium")
    with left:
        still.show(overlay(named, "map"), "overlay_map", 320)
    with right:
        still.show(overlay(named, "recall_10"), "overlay_recall", 320)
    if len(named) > MOST:
        st.caption(f"The first {MOST} of {len(named)} are drawn.")
    if len(runs) > 1:
        _differences(named)


def link(now: Snapshot) -> str:
    """The experiment as an address."""
    base = (st.context.url or "http://localhost:8501/").partition("?")[0].rstrip("/").removesuffix("/runs")
    return f"{base}/?{urlencode(now.params.to_query())}"


def _differences(named: list[tuple[str, Snapshot]]) -> None:
    found = differences([now.params for _, now in named])
    if not found:
        st.markdown("The selected runs have the same parameters.")
        return
    st.markdown("**What differs between them**")
    columns = {name: [values[at] for values in found.values()] for at, (name, _) in enumerate(named)}
    st.dataframe(
        pd.DataFrame({"parameter": list(found), **columns}), hide_index=True, key="run_differences",
        alt="Parameters that differ between the selected runs",
    )  # fmt: skip


def _open(session: Session, line: RunRow, now: Snapshot) -> None:
    if line.key != LIVE:
        try:
            state.open_kept(session, now, now.params)
        except ValueError as error:
            st.error(f"{plain(error)}.", icon=":material/error:")
            return
    st.switch_page("pages/live.py")


def _do(work: Callable[[], None]) -> None:
    """Change the store and show the list again; a full disk or a read-only folder is a message."""
    try:
        work()
    except StoreError as error:
        st.error(f"{plain(error)}.", icon=":material/error:")
    else:
        st.rerun()


def _pin(session: Session, one: Run | None) -> None:
    """Pin a run, or none; one that is only on disk is remembered by the tab, too."""
    if one is None or one[0].key == LIVE:
        session.pinned = "" if one is None else state.keep_live(session)
        return
    line, now = one
    if line.key not in {past.key for past in session.past}:
        session.past = [*session.past, Past(line.key, f"{line.method} on {line.data}", now)]
    session.pinned = line.key


def _state(session: Session, line: RunRow) -> str:
    return f"{line.state}, pinned" if session.pinned == line.key else line.state


def _short(name: str) -> str:
    return name if len(name) <= 42 else f"{name[:41]}…"
