"""Sweeps: a grid of experiments, how long it takes, and its results as they arrive."""

import streamlit as st

from ohash.ui.parts import items, notices
from ohash.ui.session import live_run, run_store, tab
from ohash.ui.sweeps import new_sweep, page

items.apply()
session = tab.current_session()
live_run.hub().poll(session.id)
store = run_store.open_store()
notices.show_store_problem(store.problem)
sweep = page.choose(store)
if sweep is None:
    st.markdown("#### New sweep")
    st.caption(
        "Runs on all cores, in a separate process that continues when this page is closed. Each finished experiment is "
        "saved at once and never repeated."
    )
    planned = new_sweep.build(session)
    if planned is not None:
        new_sweep.show_cost(session, planned, store)
        if st.button(
            "Start", type="primary", icon=":material/play_arrow:", key="sweep_new", disabled=not store.writable
        ):
            page.start(session, store, planned)
else:
    page.watch(session, store, sweep)
