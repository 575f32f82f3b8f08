"""Learn: see hash codes form, on points in the plane."""

import streamlit as st

from ohash.ui import learn
from ohash.ui.parts import items, notices, present
from ohash.ui.session import address, live_run, tab

items.apply()
session = tab.current_session(own_query=True)
live_run.hub().poll(session.id)
address.follow_present(session)
notices.show_warnings(session)
with present.page_container(session):
    with st.container(horizontal=True, key="learn_top", vertical_alignment="center"):
        if session.present:
            learn.show_scenes(session)
        else:
            learn.show_about()
        present.bar(session, "pages/learn.py")
    with st.container(horizontal=True, key="learn_body"):
        with st.container(key="learn_playground"):  # at the same place in both modes, or it would begin anew
            learn.show_playground(learn.start_of(session), learn.presented_scenes())
        if not session.present:
            with st.container(key="lessons"):
                learn.show_lessons()
                learn.show_glossary()
