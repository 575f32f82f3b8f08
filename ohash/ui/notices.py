"""What a link or a control got wrong, with a way out."""

import streamlit as st

from ohash.ui import state


def warnings(session: state.Session) -> None:
    """What was not quite right and was left out; in a place of their own, so that nothing below moves by one."""
    with st.container():
        for warning in session.warnings:
            st.warning(warning, icon=":material/info:")


def missing(problem: ValueError) -> None:
    """Data that are not here."""
    st.error(f"{problem}.", icon=":material/link_off:")
    st.page_link("pages/data.py", label="Open the Data page", icon=":material/upload:")
