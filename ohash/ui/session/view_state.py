"""Widgets that only change the view. Only this, access.py, tab.py, slots.py and router.py touch session_state."""

from typing import Any

import streamlit as st

from ohash.ui.session import own_data
from ohash.ui.session.session import Session
from ohash.ui.workarounds.router import went_back


def data_part(session: Session) -> str:
    """The widget key of the Data page's part; at first and after Back that of the link, "own" if it needs an upload."""
    if went_back():
        session.data_part = ""
        forget_data_part()
    part = session.data_part or st.query_params.get("view", "look")
    upload_needed = own_data.missing(session) is not None and not session.data_part
    initial = "own" if upload_needed else part if part in ("all", "own") else "look"
    st.session_state.setdefault("view_part", initial)
    return "view_part"


def forget_data_part() -> None:
    """Let the address decide again, on a page that is about to be drawn."""
    st.session_state.pop("view_part", None)


def show_data_part(name: str) -> None:
    """Turn to a part of the Data page; for callbacks."""
    st.session_state["view_part"] = name


def close(key: str) -> None:
    """Close a popover; for callbacks."""
    st.session_state[key] = False


def view(name: str) -> Any:
    """The value of a widget that only changes the view; None if it is not on the page."""
    return st.session_state.get(f"view_{name}")
