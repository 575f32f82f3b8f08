"""Runs: what was run here and what is kept, side by side."""

import streamlit as st

from ohash.ui import address, items, runs, state
from ohash.ui.workarounds import style

style.apply()
items.apply()
session = state.current()
state.hub().poll(session.id)
address.put({})
kept = runs.kept()
if kept.problem:
    st.warning(f"{kept.problem}.", icon=":material/info:")
store = runs.AllRuns(session, kept)
lines = store.list()
if not lines:
    st.markdown("#### Nothing was run yet")
    st.markdown("Every run of this tab appears here with its first pairs, to be compared, kept and exported.")
    if st.button("Start one on Live", type="primary", icon=":material/play_arrow:", key="runs_start"):
        st.switch_page("pages/live.py")
    st.stop()
st.markdown(f"#### {len(lines)} run{'s' if len(lines) > 1 else ''}")
st.caption(
    "Select rows to compare, click a column to sort. A run lasts as long as this tab unless it is kept. Kept runs and "
    "the cells of sweeps are on disk; `python3 -m ohash runs` lists them, too."
)
picked = [(lines[row], store.get(lines[row].key)) for row in runs.table(session, lines)]
runs.actions(session, store, picked)
runs.compare(lines, picked)
