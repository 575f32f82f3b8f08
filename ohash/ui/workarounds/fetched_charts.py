"""Streamlit's own charts, brought up to date by the browser without a run of the script.

Streamlit (1.67) shows ECharts, but lets nobody have the chart: it is found among the state that React keeps for the
component. Where it is not found, because Streamlit or React has changed, nothing is fetched.
"""

from pathlib import Path

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

FETCH = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


def fetch_changes(address: str, keys: list[str]) -> None:
    """Let the browser fetch what changes in the charts of these keys, and in the words around them."""
    _component()(key="fetch", data={"address": address, "keys": keys})


@st.cache_resource
def _component() -> ComponentRenderer:
    place = '<div class="ohash-fetch" hidden></div>'
    css = ".st-key-fetch {display: none;}"  # the gap around an element would stay
    return st.components.v2.component("ohash_fetch", html=place, css=css, js=FETCH, isolate_styles=False)
