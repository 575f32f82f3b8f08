"""Live: choose a data set, tune β, C, T and r, and watch cumulative loss, τ and mAP evolve."""

import streamlit as st

from ohash.ui.live import chart_switches, chips, followers, headline, page, rail, sharing, transport
from ohash.ui.live.details import details_area
from ohash.ui.parts import notices, present
from ohash.ui.session import address, live_run, tab

session = tab.current_session()
if followers.key_in_address():
    followers.show(session)
    st.stop()
try:
    runner = live_run.runner(session)
except ValueError as problem:
    notices.show_missing_data(problem)
    rail.choose_data(session)
    st.stop()
if address.pair() is not None or session.opens_step:
    session.pair, session.opens_step = session.pair if session.opens_step else address.pair(), False
    st.switch_page("pages/step.py")
address.write(live_run.address_params(session), present=session.present)
tab.follow_browser(session)
notices.show_warnings(session)

# Both modes have the same elements, and the style hides some: a frame under way finds its place, and no widget
# disappears, whose last message would then count as a choice.
with present.page_container(session, "live_page"):
    headline.show_introduction()
    top = st.container(horizontal=True, key="top", vertical_alignment="center")
    bar = st.container()
    left, right = st.columns([1, 4])
    with right:
        row = st.container(key="chips_row")
    with right, st.container(key="moving"):  # first: the browser fetches the chart library when it sees a chart
        page.live_area(session)
        chart_switches.show(session)
    with top:
        transport.presets(session)
        sharing.buttons(session)
    with bar:
        transport.bar(session, runner)
    with row:
        chips.chips(session)
    with left, st.container(key="rail"):
        rail.controls(session)
    with right, st.container(key="results"):
        if runner.state != "error":
            transport.gallery_bar(session)
        page.gallery_area(session)
    with st.container(key="details"):
        details_area(session)
    transport.dock(session, runner)
    present.preset_scenes(session)
