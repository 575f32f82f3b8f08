"""The Runs page: the runs of this tab and those saved on disk, as a table and as overlaid curves; and actions."""

import hashlib
from collections.abc import Callable

import pandas as pd
import streamlit as st

from ohash.engine.snapshot import Snapshot
from ohash.plots.runs import MAX_RUNS, overlay
from ohash.store.listing import ENDED, LIVE, RunRow, differences, to_csv, to_json
from ohash.store.store import StoreError
from ohash.ui.parts import static_chart
from ohash.ui.parts.notices import show_error
from ohash.ui.parts.run_table import COLUMNS, run_frame
from ohash.ui.parts.sharing import link_to_live
from ohash.ui.session import live_run
from ohash.ui.session.run_store import SAVED, AllRuns, Run, SessionRuns
from ohash.ui.session.session import EarlierRun, Selection, Session
from ohash.ui.workarounds.slots import once

SELECTED_AT_FIRST = 3
LONGEST_NAME = 42


def table(session: Session, lines: list[RunRow]) -> list[int]:
    """A sortable table; returns which of the lines are selected."""
    rows = {line.key: len(lines) - 1 - at for at, line in enumerate(lines)}
    # the key changes with the list: a selection by row number must not outlive its rows
    listed = hashlib.sha256("\n".join(rows).encode()).hexdigest()[:16]
    if session.selection.listed != listed:
        finished = SessionRuns(session).live_key()  # saved or pinned, a finished live run has a key of its own
        keys = [finished if key == LIVE and LIVE not in rows else key for key in session.selection.keys]
        selected = sorted(rows[key] for key in keys if key in rows)
        session.selection = Selection(listed, selected or list(range(min(SELECTED_AT_FIRST, len(lines)))))
    event = st.dataframe(
        run_frame(session, lines), key=f"runs_{listed}", hide_index=True, column_config=COLUMNS, on_select="rerun",
        selection_mode="multi-row", selection_default={"selection": {"rows": session.selection.first}},
        alt="The runs with their parameters and scores",
    )  # fmt: skip
    chosen = sorted(len(lines) - 1 - row for row in event["selection"]["rows"])
    session.selection.keys = [lines[at].key for at in chosen]
    return chosen


def actions(session: Session, store: AllRuns, runs: list[Run]) -> None:
    """Open, pin, save, export and delete."""
    one = runs[0] if len(runs) == 1 else None
    with st.container(horizontal=True, key="run_actions", vertical_alignment="center"):
        if st.button(
            "Open on Live", icon=":material/play_arrow:", type="primary", disabled=one is None, key="run_open",
            help="Select one run to restart its experiment from the first pair.",
        ) and one is not None:  # fmt: skip
            _open(session, *one)
        pinned = one is not None and session.pinned == one[0].key
        st.button(
            "Unpin" if pinned else "Pin as reference", icon=":material/keep:", disabled=one is None, key="run_pin",
            on_click=once(_pin), args=(session, None if pinned else one),
            help="Select one run to draw its curve on Live behind the run there.",
        )  # fmt: skip
        unsaved = [(line, now) for line, now in runs if not line.state.endswith(SAVED) and now.state in ENDED]
        if st.button(
            f"Save {len(unsaved)}" if len(unsaved) > 1 else "Save", icon=":material/save:", disabled=not unsaved,
            key="run_keep", help="Save the selected runs on this computer, with their curves, once they have finished.",
        ):  # fmt: skip
            _try(lambda: store.keep(unsaved))
        st.download_button(
            "CSV", lambda: to_csv(runs), "ohash-runs.csv", "text/csv", on_click="ignore", key="run_csv",
            icon=":material/download:", disabled=not runs, help="Download the checkpoints of the selected runs.",
        )  # fmt: skip
        st.download_button(
            "JSON", lambda: to_json(runs, store.values(runs)), "ohash-runs.json", "application/json", on_click="ignore",
            key="run_json", icon=":material/download:", disabled=not runs,
            help="Download the parameters and numbers of the selected runs.",
        )  # fmt: skip
        deletable = [line.key for line, _ in runs if line.key != LIVE]
        if st.button(
            f"Delete {len(deletable)}" if len(deletable) > 1 else "Delete", icon=":material/delete:",
            disabled=not deletable, key="run_delete",
            help="Delete the selected runs from this tab and from disk. The live run can only be stopped on Live.",
        ):  # fmt: skip
            _try(lambda: store.delete(deletable))
    if one is not None:
        st.caption("Link to this run:")
        st.code(link(one[1]), language=None, wrap_lines=True)


def compare(lines: list[RunRow], runs: list[Run]) -> None:
    """The selected runs in one chart each for mAP and recall@10, and the parameters that differ."""
    if not runs:
        st.markdown("Select rows to compare their curves.")
        return
    numbers = {line.key: at for at, line in enumerate(lines, 1)}
    named = [(f"{numbers[line.key]} · {_shorten(line.name)}", now) for line, now in runs]
    left, right = st.columns(2, gap="medium")
    with left:
        static_chart.show(overlay(named, "map"), "overlay_map", 320)
    with right:
        static_chart.show(overlay(named, "recall_10"), "overlay_recall", 320)
    if len(named) > MAX_RUNS:
        st.caption(f"Only the first {MAX_RUNS} of {len(named)} selected runs are drawn.")
    if len(runs) > 1:
        _show_differences(named)


def link(now: Snapshot) -> str:
    """The experiment as a link to Live."""
    return link_to_live(now.params.to_query(), page="runs")


def _show_differences(named: list[tuple[str, Snapshot]]) -> None:
    different = differences([now.params for _, now in named])
    if not different:
        st.markdown("The selected runs have the same parameters.")
        return
    st.markdown("**Parameters that differ**")
    columns = {name: [values[at] for values in different.values()] for at, (name, _) in enumerate(named)}
    st.dataframe(
        pd.DataFrame({"parameter": list(different), **columns}), hide_index=True, key="run_differences",
        alt="Parameters that differ between the selected runs",
    )  # fmt: skip


def _open(session: Session, line: RunRow, now: Snapshot) -> None:
    if line.key != LIVE:
        try:
            live_run.run_stored(session, now, now.params)
        except ValueError as error:
            show_error(error)
            return
    st.switch_page("pages/live.py")


def _try(action: Callable[[], None]) -> None:
    """Change the store and redraw the list; a full disk or a read-only folder becomes a message."""
    try:
        action()
    except StoreError as error:
        show_error(error)
    else:
        st.rerun()


def _pin(session: Session, one: Run | None) -> None:
    """Pin a run, or none; a run that is only on disk is added to the earlier runs of the tab."""
    if one is None or one[0].key == LIVE:
        session.pinned = "" if one is None else live_run.remember_live_run(session)
        return
    line, now = one
    if line.key not in {run.key for run in session.earlier}:
        session.earlier = [*session.earlier, EarlierRun(line.key, f"{line.method} on {line.data}", now)]
    session.pinned = line.key


def _shorten(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
