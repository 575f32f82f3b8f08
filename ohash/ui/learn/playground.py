"""The playground as a component: mounted once, computed in the browser; nothing comes back to the server."""

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from ohash.web.files import about, component_script, markup, style


@st.cache_resource
def _component() -> ComponentRenderer:
    return st.components.v2.component("ohash_playground", html=markup(), css=style(), js=component_script())


def show_about() -> None:
    """What it is, in two sentences."""
    st.caption(about(), width="stretch", unsafe_allow_html=True)


def show(start: str, on_stage: dict[str, dict[str, object]]) -> None:
    """The playground itself; `start` is the link it opens with, "" for that of the address."""
    _component()(key="playground", data={"start": start, "lessons": on_stage})
