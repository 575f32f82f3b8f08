"""Live: pick a dataset, tune β, C, T and r, and watch cumulative loss, τ and mAP evolve."""

import streamlit as st

from ohash.ui import client, live, rail, share, state, style, transport
from ohash.ui.below import below_the_fold

style.apply()
session = state.current()
try:
    runner = state.runner(session)
except ValueError as problem:
    st.error(str(problem), icon=":material/link_off:")
    rail.choose_data(session)
    st.stop()
state.write_query(session.params)
client.ask(session)
for warning in session.warnings:
    st.warning(warning, icon=":material/info:")

with st.container(horizontal=True, key="top", vertical_alignment="center"):
    transport.presets(session)
    share.buttons(session)
transport.bar(session, runner)
if not session.present:
    left, right = st.columns([1, 4])
    with left, st.container(key="rail"):
        rail.controls(session)
with st.container() if session.present else right:
    live.live_area(session)
    transport.gallery_bar(session)
    live.gallery_area(session)
if not session.present:
    below_the_fold(session)
