"""Runs: what was run in this session, side by side."""

import streamlit as st

from ohash.ui import items, runs, state, style

style.apply()
items.apply()
session = state.current()
state.hub().poll(session.id)
store = runs.SessionRuns(session)
lines = store.list()
if not lines:
    st.markdown("#### Nothing was run yet")
    st.markdown("Every run of this tab appears here with its first pairs, to be compared and exported.")
    if st.button("Start one on Live", type="primary", icon=":material/play_arrow:", key="runs_start"):
        st.switch_page("pages/live.py")
    st.stop()
st.markdown(f"#### {len(lines)} run{'s' if len(lines) > 1 else ''} in this session")
st.caption(
    "Select rows to compare, click a column to sort. Runs last as long as this tab: export what you want to keep."
)
picked = [(lines[row], store.get(lines[row].key)) for row in runs.table(session, lines)]
runs.actions(session, store, picked)
runs.compare(lines, picked)
