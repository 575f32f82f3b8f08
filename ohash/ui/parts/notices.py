"""Notices at the top of a page: what was wrong with a link or a control, and what to do about it."""

from collections.abc import Callable

import streamlit as st

from ohash.models import registry
from ohash.ui.session.session import Session
from ohash.ui.workarounds.markdown import escape_markdown
from ohash.ui.workarounds.slots import once_per_press


def show_warnings(session: Session) -> None:
    """The session's warnings; in a container, so that nothing below changes its place."""
    with st.container():
        show_edited_plugins()
        for at, warning in enumerate(session.warnings):
            with st.container(horizontal=True, vertical_alignment="top"):
                st.warning(warning, icon=":material/info:")
                st.button(
                    "Close",
                    icon=":material/close:",
                    on_click=once_per_press(_close),
                    args=(session, at),
                    key=f"close_{at}",
                )


def show_missing_data(problem: ValueError) -> None:
    """Data that a link needs and that are not here."""
    st.error(f"{escape_markdown(problem)}.", icon=":material/link_off:")
    st.page_link("pages/data.py", label="Open the Data page", icon=":material/upload:")


def show_error(error: object) -> None:
    """An error as a sentence."""
    st.error(f"{escape_markdown(error)}.", icon=":material/error:")


def try_action(action: Callable[[], object]) -> None:
    """Act and redraw the page; what is in the way, such as a store that cannot be written, becomes a message."""
    try:
        action()
    except ValueError as error:
        show_error(error)
    else:
        st.rerun()


def show_store_problem(problem: str) -> None:
    """What is wrong with the store, or with what would be compared with it, if anything."""
    show_edited_plugins()
    if problem:
        st.warning(f"{problem[0].upper()}{problem[1:]}.", icon=":material/info:")


def show_edited_plugins() -> None:
    """Plugin files that were edited since the server started, which still runs them as they were."""
    try:
        names = registry.edited_plugins()
    except ValueError:  # a broken plugin: whoever asks for its method is told
        return
    if names:
        st.warning(
            f"{', '.join(names)}: edited since this server started, which still runs the version before. Restart it.",
            icon=":material/info:",
        )


def _close(session: Session, at: int) -> None:
    del session.warnings[at : at + 1]
