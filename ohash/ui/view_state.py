"""What widgets say that only change the view. Only this, slots.py, router.py and state.py touch session_state."""

from typing import Any

import streamlit as st

from ohash.ui.data import own_data as yours
from ohash.ui.session import Session


def said_by(component: str) -> Any:
    """What a component reported; for callbacks."""
    return st.session_state[component]


def part(session: Session) -> str:
    """The widget key of the Data page's part: "look", "all" or "own"; first what the link needs, or says."""
    said = session.part or st.query_params.get("view", "look")
    needed = yours.missing(session) is not None and not session.part
    st.session_state.setdefault("view_part", "own" if needed else said if said in ("all", "own") else "look")
    return "view_part"


def show_part(name: str) -> None:
    """Turn to a part of the Data page; for callbacks."""
    st.session_state["view_part"] = name


def any_open(*keys: str) -> bool:
    """Whether any of these expanders is open."""
    return any(st.session_state.get(key) for key in keys)


def close(key: str) -> None:
    """Close a popover; for callbacks."""
    st.session_state[key] = False


def view(name: str) -> Any:
    """What a widget says that only changes the view; None if it is not there."""
    return st.session_state.get(f"view_{name}")
