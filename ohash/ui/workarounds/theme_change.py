"""A page that is drawn again when its theme changes.

Charts are drawn in the colours of the theme. When the system turns dark, Streamlit (1.67) restyles what is its own and
runs nothing again: until something else did, charts of a run that rests stood white on a dark page.
"""

from functools import cache
from typing import Any

import streamlit as st

from ohash.ui.workarounds.style import dark

# Asked every second, because the theme can also be chosen in Streamlit's menu; told once per change.
WATCH = """
export default function ({ data, setTriggerValue }) {
  const scheme = () => getComputedStyle(document.querySelector(".stApp")).colorScheme;
  let told = data.drawn;
  const timer = setInterval(() => {
    if (scheme() === told) return;
    told = scheme();
    setTriggerValue("theme", told);
  }, 1000);
  return () => clearInterval(timer);
}
"""
NAME = "ohash_theme"


@cache
def _component() -> Any:
    return st.components.v2.component(NAME, js=WATCH)


def redraw_on_theme_change() -> None:
    """Run the page again as soon as the browser shows another theme than the one that it was drawn in."""
    _component()(key=NAME, data={"drawn": "dark" if dark() else "light"}, on_theme_change=lambda: None, height=1)
