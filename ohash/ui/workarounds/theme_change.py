"""A page that is drawn again when its theme changes.

Charts are drawn in the colours of the theme. When the system turns dark, Streamlit (1.67) restyles what is its own and
runs nothing again: until something else did, charts of a run that rests stood white on a dark page.
"""

from functools import cache

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from ohash.ui.workarounds.style import dark

# Asked every second, because the theme can also be chosen in Streamlit's menu, and told three times at most: a message
# can be lost. Streamlit calls this again with every page, and ends nothing that an earlier call has begun.
WATCH = """
export default function ({ data, parentElement, setTriggerValue }) {
  const known = parentElement.drawn !== undefined;
  [parentElement.drawn, parentElement.tell] = [data.drawn, setTriggerValue];
  if (known) return;
  let told = "", left = 0, second = 0;
  const look = () => {
    if (!parentElement.isConnected) return;
    const scheme = getComputedStyle(document.querySelector(".stApp")).colorScheme;
    if (scheme !== told) [told, left, second] = [scheme, 3, 0];
    if (scheme !== parentElement.drawn && left && second % 4 === 0) {
      left -= 1;
      parentElement.tell("theme", scheme);
    }
    second += 1;
    setTimeout(look, 1000);
  };
  look();
}
"""
NAME = "ohash_theme"


@cache
def _component() -> ComponentRenderer:
    return st.components.v2.component(NAME, js=WATCH)


def redraw_on_theme_change() -> None:
    """Run the page again as soon as the browser shows another theme than the one that it was drawn in."""
    _component()(key=NAME, data={"drawn": "dark" if dark() else "light"}, on_theme_change=lambda: None, height=1)
