"""Compare: up to six methods on exactly the same stream, what each costs, and a verdict computed from the numbers."""

import streamlit as st

from ohash.ui import address, state
from ohash.ui.compare import cards as compare_cards
from ohash.ui.compare import comparisons
from ohash.ui.compare import page as compare
from ohash.ui.compare import rail as compare_rail
from ohash.ui.compare import share as compare_share
from ohash.ui.workarounds import browser as client
from ohash.ui.workarounds import messages as notices
from ohash.ui.workarounds import style

style.apply()
compare_cards.apply()
session = state.current()
state.hub().poll(session.id)
try:
    runner = comparisons.of(session)
except ValueError as problem:
    notices.missing(problem)
    if session.comparison is not None:
        compare_rail.choose_data(session, session.comparison)
    st.stop()
address.write(runner.comparison)
client.ask(session)
notices.warnings(session)

with st.container(horizontal=True, key="top", vertical_alignment="center"):
    compare.transport(session, runner)
    compare_share.buttons(session, runner.comparison, runner.snapshot())
compare.verdict_area(session)
left, right = st.columns([1, 4])
with left, st.container(key="rail"):
    compare_rail.controls(session, runner.comparison)
with right, st.container(key="moving"):
    compare.curves_area(session)
with right, st.container(key="found"):
    compare.rest_area(session)
    compare.gallery_bar(session, runner.snapshot())
    compare.gallery_area(session)
    compare.to_live(session, runner)
    compare.more_charts(session)
