"""Live: pick a dataset, tune β, C, T and r, and watch cumulative loss, τ and mAP evolve."""

import streamlit as st

from ohash.ui import client, live, notices, rail, share, state, style, transport
from ohash.ui.below import below_the_fold

style.apply()
session = state.current()
try:
    runner = state.runner(session)
except ValueError as problem:
    notices.missing(problem)
    rail.choose_data(session)
    st.stop()
state.write_query(session.params)
client.ask(session)
notices.warnings(session)

if session.present:
    with st.container(key="stage"):
        transport.bar(session, runner)
        live.live_area(session)
        transport.gallery_bar(session)
        live.gallery_area(session)
    st.stop()
with st.container(horizontal=True, key="top", vertical_alignment="center"):
    transport.presets(session)
    share.buttons(session)
transport.bar(session, runner)
left, right = st.columns([1, 4])
with left, st.container(key="rail"):
    rail.controls(session)
with right:
    with st.container(key="moving"):
        live.live_area(session)
    with st.container(key="found"):
        transport.gallery_bar(session)
        live.gallery_area(session)
with st.container(key="below"):
    below_the_fold(session)
