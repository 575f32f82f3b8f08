"""Sweeps: a grid of experiments, what it costs, and its results as they come."""

import streamlit as st

from ohash.ui import items, runs, state
from ohash.ui.sweeps import new as new_sweep
from ohash.ui.sweeps import page as sweeps
from ohash.ui.workarounds import style

style.apply()
items.apply()
session = state.current()
state.hub().poll(session.id)
store = runs.kept()
if store.problem:
    st.warning(f"{store.problem[0].upper()}{store.problem[1:]}.", icon=":material/info:")
chosen, found = sweeps.choose(store)
if found is None:
    st.markdown("#### A new sweep")
    st.caption(
        "Every combination of the values, on all cores, in a process of its own: close this page, and it goes on. Each "
        "finished cell is kept at once, and is never run again."
    )
    wanted = new_sweep.build(session)
    if wanted is not None:
        new_sweep.cost_of(session, wanted, store)
        if st.button(
            "Start", type="primary", icon=":material/play_arrow:", key="sweep_new", disabled=not store.writable
        ):
            sweeps.start(session, store, wanted)
else:
    sweeps.watch(session, store, found)
