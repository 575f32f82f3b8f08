"""The Runs page: what this session has run, as a store, a table, an overlay, and what can be done with a run."""

from collections.abc import Iterable
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from ohash.experiment.runs import ENDED, LIVE, Line, RunStore, differences, line_of, to_csv, to_json
from ohash.experiment.snapshot import Snapshot
from ohash.plots.runs import MOST, overlay
from ohash.ui import state, still

SCORE = st.column_config.NumberColumn(format="%.3f", width="small")
WHOLE = st.column_config.NumberColumn(format="localized", width="small")
COLUMNS = {
    "run": st.column_config.NumberColumn(width=48, help="In the order in which they were run."),
    "different from default": st.column_config.TextColumn(width="medium"),
    "pairs": WHOLE, "bits": WHOLE, "mAP start": SCORE, "mAP end": SCORE, "recall@10 start": SCORE,
    "recall@10 end": SCORE, "pair-AUC": SCORE,
}  # fmt: skip
# Runs that are selected when the page opens.
FIRST = 3

Run = tuple[Line, Snapshot]


class SessionRuns:
    """A `RunStore` in the memory of one browser tab: its past runs, and the live one under the key "live"."""

    def __init__(self, session: state.Session) -> None:
        """Reads the session at every call."""
        self._session = session

    def list(self) -> "list[Line]":
        """Past runs, then the live one."""
        return [line_of(key, now) for key, now in self._all().items()]

    def get(self, key: str) -> Snapshot:
        """The last picture of a run."""
        return self._all()[key]

    def delete(self, keys: Iterable[str]) -> None:
        """Forget past runs; the live one stays."""
        state.forget(self._session, set(keys) - {LIVE})

    def _all(self) -> dict[str, Snapshot]:
        found = {past.key: past.now for past in self._session.past}
        running = state.hub().lease(self._session.id).runner
        now = None if running is None else running.snapshot()
        kept = now is not None and now.state in ENDED and f"{now.params.key()}-{now.t}" in found
        if now is not None and now.t > 0 and not kept:  # a live run that is over may have been pinned, hence kept
            found[LIVE] = now
        return found


def table(session: state.Session, lines: list[Line]) -> list[int]:
    """A sortable table; returns the rows that are selected."""
    shown = pd.DataFrame(
        {
            "run": range(1, len(lines) + 1),
            "method": [line.method for line in lines],
            "data": [line.data for line in lines],
            "different from default": [line.different or "nothing" for line in lines],
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
    first = list(range(max(0, len(lines) - FIRST), len(lines)))
    # the key changes with the number of runs: a selection by row number must not outlive its rows
    picked = st.dataframe(
        shown, key=f"runs_{len(lines)}", hide_index=True, column_config=COLUMNS, on_select="rerun",
        selection_mode="multi-row", selection_default={"selection": {"rows": first}},
        alt="The runs of this session with their parameters and scores",
    )  # fmt: skip
    return sorted(picked["selection"]["rows"])


def actions(session: state.Session, store: RunStore, runs: list[Run]) -> None:
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
            on_click=_pin, args=(session, "" if pinned else one[0].key if one else ""),
            help="Draw this run on Live beside whatever runs there. Select one run.",
        )  # fmt: skip
        st.download_button(
            "CSV", lambda: to_csv(runs), "ohash-runs.csv", "text/csv", on_click="ignore", key="run_csv",
            icon=":material/download:", disabled=not runs, help="The checkpoints of the selected runs.",
        )  # fmt: skip
        st.download_button(
            "JSON", lambda: to_json(runs), "ohash-runs.json", "application/json", on_click="ignore", key="run_json",
            icon=":material/download:", disabled=not runs, help="Parameters and numbers of the selected runs.",
        )  # fmt: skip
        old = [line.key for line, _ in runs if line.key != LIVE]
        st.button(
            f"Delete {len(old)}" if len(old) > 1 else "Delete", icon=":material/delete:", disabled=not old,
            on_click=store.delete, args=(old,), key="run_delete", help="The live run stays: it ends on Live.",
        )  # fmt: skip
    if one is not None:
        st.caption("Its link, for somebody else:")
        st.code(link(one[1]), language=None, wrap_lines=True)


def compare(lines: list[Line], runs: list[Run]) -> None:
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


def _open(session: state.Session, line: Line, now: Snapshot) -> None:
    if line.key != LIVE:
        try:
            state.commit(session, now.params)
        except ValueError as error:
            st.error(f"{error}.", icon=":material/error:")
            return
    st.switch_page("pages/live.py")


def _pin(session: state.Session, key: str) -> None:
    session.pinned = state.keep_live(session) if key == LIVE else key


def _state(session: state.Session, line: Line) -> str:
    return f"{line.state}, pinned" if session.pinned == line.key else line.state


def _short(name: str) -> str:
    return name if len(name) <= 42 else f"{name[:41]}…"
