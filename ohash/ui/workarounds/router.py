"""Every page is reached through app.py."""

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ohash.ui.workarounds.style import unseen_heading
from ohash.ui.workarounds.theme_change import redraw_on_theme_change


def mark_routed() -> None:
    """Called by app.py: this tab has its navigation."""
    st.session_state["routed"] = True


def before_page(title: str) -> None:
    """Called by app.py: what every page has."""
    unseen_heading(title)
    redraw_on_theme_change()


def require_router() -> None:
    """Until app.py has run once in a server, Streamlit serves pages/ by itself, and a deep link misses the router."""
    if not st.session_state.get("routed"):
        PagesManager.uses_pages_directory = False
        mark_routed()  # now; a page that is run by itself, as in a test, has no router to wait for
        st.rerun()


def went_back() -> bool:
    """Whether this run answers Back or Forward of the browser, so that the address is newer than the session."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation
