"""What a link or a control got wrong, with a way out."""

import streamlit as st

from ohash.ui.plain import plain
from ohash.ui.press import once
from ohash.ui.session import Session


def warnings(session: Session) -> None:
    """What was not quite right and was left out; in a place of their own, so that nothing below moves by one."""
    with st.container():
        for at, warning in enumerate(session.warnings):
            with st.container(horizontal=True, vertical_alignment="top"):
                st.warning(warning, icon=":material/info:")
                st.button(
                    "Close", icon=":material/close:", on_click=once(_close), args=(session, at), key=f"close_{at}"
                )


def missing(problem: ValueError) -> None:
    """Data that are not here."""
    st.error(f"{plain(problem)}.", icon=":material/link_off:")
    st.page_link("pages/data.py", label="Open the Data page", icon=":material/upload:")


def _close(session: Session, at: int) -> None:
    del session.warnings[at : at + 1]
