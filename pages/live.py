"""Live: pick a dataset, tune β, C, T and r, and watch cumulative loss, τ and mAP evolve."""

import streamlit as st

from ohash.ui import address, state
from ohash.ui.live import page as live
from ohash.ui.live import rail, share, transport
from ohash.ui.live.details import below_the_fold
from ohash.ui.workarounds import browser as client
from ohash.ui.workarounds import messages as notices
from ohash.ui.workarounds import style

style.apply()
session = state.current()
try:
    runner = state.runner(session)
except ValueError as problem:
    notices.missing(problem)
    rail.choose_data(session)
    st.stop()
address.write(session.params)
client.ask(session)
notices.warnings(session)

# The same elements in both modes, hidden by the style: a picture that is under way finds its place, and no widget goes
# away, whose last message would then count as a choice.
with st.container(key="stage" if session.present else "desk"):
    top = st.container(horizontal=True, key="top", vertical_alignment="center")
    bar = st.container()
    left, right = st.columns([1, 4])
    with right, st.container(key="moving"):  # first: the browser fetches what draws charts when it hears of one
        live.live_area(session)
    with top:
        transport.presets(session)
        share.buttons(session)
    with bar:
        transport.bar(session, runner)
    with left, st.container(key="rail"):
        rail.controls(session)
    with right, st.container(key="found"):
        if runner.state != "error":
            transport.gallery_bar(session)
        live.gallery_area(session)
    with st.container(key="below"):
        below_the_fold(session)
