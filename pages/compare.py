"""Compare: up to twelve methods on exactly the same stream, their costs, and a verdict computed from the numbers."""

import streamlit as st

from ohash.ui.compare import cards, page, rail, sharing
from ohash.ui.parts import notices
from ohash.ui.session import address, comparisons, live_run, tab

cards.apply()
session = tab.current_session()
live_run.hub().poll(session.id)
try:
    runner = comparisons.runner(session)
except ValueError as problem:
    notices.show_missing_data(problem)
    if session.comparison is not None:
        rail.choose_data(session, session.comparison)
    st.stop()
address.write(runner.comparison)
tab.follow_browser(session)
notices.show_warnings(session)

with st.container(horizontal=True, key="top", vertical_alignment="center"):
    page.transport(session)
    sharing.buttons(session, runner.comparison, runner.snapshot())
page.verdict_area(session)
left, right = st.columns([1, 4])
with left, st.container(key="rail"):
    rail.controls(session, runner.comparison)
with right, st.container(key="moving"):
    page.curves_area(session)
with right, st.container(key="results"):
    page.results_area(session)
    page.gallery_bar(session, runner.snapshot())
    page.gallery_area(session)
    page.to_live(session, runner)
    page.more_charts(session)
