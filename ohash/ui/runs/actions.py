"""What can be done with the selected runs: open, pin, save, export, delete, tag.

Deleting asks first, and can be undone.
"""

from collections.abc import Sequence

import streamlit as st

from ohash.engine.snapshot import Snapshot
from ohash.store.listing import ENDED, LIVE, RunRow, to_csv, to_json
from ohash.store.store import StoreError
from ohash.ui.parts.notices import show_error, try_action
from ohash.ui.parts.run_table import number_runs
from ohash.ui.parts.sharing import link_to_live
from ohash.ui.session import live_run
from ohash.ui.session.access import is_owner
from ohash.ui.session.run_store import SAVED, AllRuns, Run
from ohash.ui.session.session import EarlierRun, Session
from ohash.ui.workarounds.markdown import escape_markdown
from ohash.ui.workarounds.slots import once_per_press

MAX_NAMED = 3


def actions(session: Session, store: AllRuns, runs: Sequence[Run], unreadable: Sequence[RunRow] = ()) -> None:
    """Open, pin, save, export and delete; runs that cannot be read here can only be deleted."""
    one = runs[0] if len(runs) == 1 and not unreadable else None
    with st.container(horizontal=True, key="run_actions", vertical_alignment="center"):
        if st.button(
            "Open on Live", icon=":material/play_arrow:", type="primary", disabled=one is None, key="run_open",
            help="Select one run to restart its experiment from the first pair.",
        ) and one is not None:  # fmt: skip
            _open(session, *one)
        pinned = one is not None and session.pinned == one[0].key
        st.button(
            "Unpin" if pinned else "Pin as reference", icon=":material/keep:", disabled=one is None, key="run_pin",
            on_click=once_per_press(_pin), args=(session, None if pinned else one),
            help="Select one run to draw its curve behind the run on Live.",
        )  # fmt: skip
        unsaved = [(line, now) for line, now in runs if not line.state.endswith(SAVED) and now.state in ENDED]
        if is_owner() and st.button(
            f"Save {len(unsaved)}" if len(unsaved) > 1 else "Save", icon=":material/save:", disabled=not unsaved,
            key="run_keep", help="Save the selected runs on this computer, with their curves, once they have finished.",
        ):  # fmt: skip
            try_action(lambda: store.keep(unsaved))
        st.download_button(
            "CSV", lambda: to_csv(runs), "ohash-runs.csv", "text/csv", on_click="ignore", key="run_csv",
            icon=":material/download:", disabled=not runs, help="Download the checkpoints of the selected runs.",
        )  # fmt: skip
        st.download_button(
            "JSON", lambda: to_json(runs, store.values(runs)), "ohash-runs.json", "application/json", on_click="ignore",
            key="run_json", icon=":material/download:", disabled=not runs,
            help="Download the parameters and numbers of the selected runs.",
        )  # fmt: skip
        deletable = [line.key for line in (*(line for line, _ in runs), *unreadable) if line.key != LIVE]
        if st.button(
            f"Delete {len(deletable)}" if len(deletable) > 1 else "Delete", icon=":material/delete:",
            disabled=not deletable, key="run_delete",
            help="Delete the selected runs from this tab and from disk, after confirmation. The live run can only be "
            "stopped on Live.",
        ):  # fmt: skip
            session.deleting, session.deleted = deletable, None
            st.rerun()
    if one is not None:
        st.caption("Link to this run:")
        st.code(link(one[1]), language=None, wrap_lines=True)
        if one[0].created:
            _remarks(store, one[0])


def show_problems(lines: Sequence[RunRow], runs: Sequence[Run], unreadable: Sequence[RunRow]) -> None:
    """Why selected runs have no curves, each reason once with the runs that it holds for."""
    numbers = number_runs(lines)
    reasons: dict[str, list[int]] = {}
    for line in unreadable:
        reasons.setdefault(line.changed_settings, []).append(numbers[line.key])
    for line, now in runs:
        if now.error:
            reasons.setdefault(now.error, []).append(numbers[line.key])
    for reason, which in reasons.items():
        names = f"Run{'s' if len(which) > 1 else ''} {', '.join(map(str, sorted(which)))}"
        st.caption(f"{names}: {escape_markdown(reason)}.")


def _remarks(store: AllRuns, line: RunRow) -> None:
    """Tags and a note of a saved run."""
    with st.form(f"remarks_{line.key}", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        tags = st.text_input("Tags", line.tags, placeholder="separated by commas", max_chars=200, width=260)
        note = st.text_input("Note", line.note, max_chars=2_000)
        if st.form_submit_button("Save remarks"):
            try_action(lambda: store.remark(line.key, tags, note))


def link(now: Snapshot) -> str:
    """The experiment as a link to Live."""
    return link_to_live(now.params.to_query(), page="runs")


def _open(session: Session, line: RunRow, now: Snapshot) -> None:
    if line.key != LIVE:
        try:
            live_run.run_stored(session, now, now.params)
        except ValueError as error:
            show_error(error)
            return
    st.switch_page("pages/live.py")


def _pin(session: Session, one: Run | None) -> None:
    """Pin a run, or none; a run that is only on disk is added to the earlier runs of the tab."""
    if one is None or one[0].key == LIVE:
        session.pinned = "" if one is None else live_run.remember_live_run(session)
        return
    line, now = one
    if line.key not in {run.key for run in session.earlier}:
        session.earlier = [*session.earlier, EarlierRun(line.key, f"{line.method} on {line.data}", now)]
    session.pinned = line.key


def ask_deletion(session: Session, store: AllRuns) -> None:
    """The question, while runs wait for its answer; the answer "undo" for those deleted last."""
    if session.deleting:
        _question(session, store)
    elif session.deleted:
        _offer_undo(session, store)


def _question(session: Session, store: AllRuns) -> None:
    names = {line.key: f"{line.name} on {line.data}" for line in store.list()}
    keys = [key for key in session.deleting if key in names]
    some = "; ".join(escape_markdown(names[key]) for key in keys[:MAX_NAMED])
    more = f"; and {len(keys) - MAX_NAMED} more" if len(keys) > MAX_NAMED else ""
    with st.container(border=True, horizontal=True, key="delete_question", vertical_alignment="center"):
        st.markdown(f"Delete {_count(len(keys))}? {some}{more}")
        if st.button(f"Delete {_count(len(keys))}", type="primary", icon=":material/delete:", key="delete_yes"):
            _delete(session, store, keys)
        if st.button("Keep", key="delete_no"):
            session.deleting = []
            st.rerun()


def _delete(session: Session, store: AllRuns, keys: list[str]) -> None:
    remembered = [run for run in session.earlier if run.key in keys]
    try:
        store.delete(keys)
    except StoreError as error:
        show_error(error)
        return
    session.deleted, session.deleting = (keys, remembered), []
    st.rerun()


def _offer_undo(session: Session, store: AllRuns) -> None:
    assert session.deleted is not None
    keys, remembered = session.deleted
    with st.container(border=True, horizontal=True, key="delete_undo_row", vertical_alignment="center"):
        st.markdown(f"{_count(len(keys)).capitalize()} deleted. Saved ones stay in the trash for a month.")
        if st.button("Undo", icon=":material/undo:", key="delete_undo"):
            _undo(session, store, keys, remembered)
        if st.button("Close", icon=":material/close:", key="delete_close"):
            session.deleted = None
            st.rerun()


def _undo(session: Session, store: AllRuns, keys: list[str], remembered: list[EarlierRun]) -> None:
    try:
        store.restore(keys)
    except StoreError as error:
        show_error(error)
        return
    session.earlier = [*remembered, *session.earlier]
    session.deleted = None
    st.rerun()


def _count(n: int) -> str:
    return f"{n} runs" if n != 1 else "1 run"
