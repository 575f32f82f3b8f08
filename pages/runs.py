"""Runs: the runs of this tab and those saved on disk, side by side."""

import streamlit as st

from ohash.ui.live import followers
from ohash.ui.parts import items, notices
from ohash.ui.runs import actions, comparison, filters, run_list
from ohash.ui.session import access, address, live_run, run_store, tab

items.apply()
session = tab.current_session()
live_run.hub().poll(session.id)
address.write_query({})
saved = run_store.open_store()
notices.show_store_problem(saved.problem if access.is_owner() else "")
store = run_store.AllRuns(session, saved)
lines = store.list()
followers.show_list()
if not lines:
    actions.ask_deletion(session, store)
    st.markdown("#### No runs yet")
    st.markdown("Runs of this tab appear here from their first pairs on; you can then compare, save and export them.")
    if st.button("Start a run on Live", type="primary", icon=":material/play_arrow:", key="runs_start"):
        st.switch_page("pages/live.py")
    st.stop()
st.markdown(f"#### {len(lines)} run{'s' if len(lines) > 1 else ''}")
unlisted = store.unlisted()
if unlisted:
    st.caption(f"These are the newest of {unlisted + len(lines):,}; `python3 -m ohash runs` lists all saved ones.")
st.caption(
    "Select rows to compare, click a column to sort. "
    + (
        "Runs last as long as this tab unless you save them. Saved runs and the experiments of sweeps are on disk; "
        "`python3 -m ohash runs` lists them, too."
        if access.is_owner()
        else "Runs last as long as this tab; export those you want to keep."
    )
)
view = filters.choose_view(lines)
if not view.lines:
    st.markdown("No run passes these filters.")
chosen = run_list.show_table(session, view) if view.lines else []
selected, unreadable = store.read(chosen)
actions.actions(session, store, selected, unreadable)
actions.ask_deletion(session, store)
actions.show_problems(lines, selected, unreadable)
comparison.compare(lines, selected, more=bool(unreadable))
