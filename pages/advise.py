"""Learn or rotate? One measured answer for vectors and clicks."""

import streamlit as st

from ohash.ui import advise
from ohash.ui.compare import cards
from ohash.ui.parts import notices
from ohash.ui.session import address, advice_run, live_run, tab

cards.apply()
session = tab.current_session()
live_run.hub().poll(session.id)
try:
    runner = advice_run.runner(session)
except ValueError as problem:
    notices.show_missing_data(problem)
    if session.advice is not None:
        advise.choose_data(session, session.advice)
    st.stop()
address.write(runner.params)
tab.follow_browser(session)
notices.show_warnings(session)

st.markdown(advise.QUESTION)
with st.container(horizontal=True, key="top", vertical_alignment="center"):
    advise.transport(session)
    advise.sharing(session, runner)
advise.answer_area(session)
left, right = st.columns([1, 4])
with left, st.container(key="rail"):
    advise.controls(session, runner.params)
with right, st.container(key="advice"):
    advise.results_area(session)
