"""Runs: the runs of this tab and those saved on disk, side by side."""

import streamlit as st

from ohash.ui import runs
from ohash.ui.parts import items, notices
from ohash.ui.session import address, live_run, run_store, tab
from ohash.ui.workarounds import style

style.apply()
items.apply()
session = tab.current_session()
live_run.hub().poll(session.id)
address.write_query({})
saved = run_store.open_store()
notices.show_store_problem(saved.problem)
store = run_store.AllRuns(session, saved)
lines = store.list()
if not lines:
    st.markdown("#### No runs yet")
    st.markdown("Runs of this tab appear here from their first pairs on; you can then compare, save and export them.")
    if st.button("Start a run on Live", type="primary", icon=":material/play_arrow:", key="runs_start"):
        st.switch_page("pages/live.py")
    st.stop()
st.markdown(f"#### {len(lines)} run{'s' if len(lines) > 1 else ''}")
st.caption(
    "Select rows to compare, click a column to sort. Runs last as long as this tab unless you save them. Saved runs "
    "and the experiments of sweeps are on disk; `python3 -m ohash runs` lists them, too."
)
selected = [(lines[row], store.get(lines[row].key)) for row in runs.table(session, lines)]
runs.actions(session, store, selected)
runs.compare(lines, selected)
