"""A part of a page that is redrawn on its own, in a separate container.

When a fragment ticks before the last run of the whole page has left the server, Streamlit (1.67) drops what that run
had drawn of the fragment but still tells the browser that the run is over, and the browser throws the fragment's place
away as stale: its neighbours move up, and the next frame lands on one of them or nowhere ("Bad delta path index", a
blank page). A container outside the fragment keeps the place.

A callback may ask for other parts than that of its widget. Where its press has been merged with a wish for the whole
page, Streamlit has told the browser that the whole page is drawn anew, and the browser has ended all timers: would only
parts be drawn then, the page would stand still for ever.
"""

from collections.abc import Callable

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx


def fragment(draw: Callable[[], None], *, key: str, every: float | None = None) -> None:
    """Draw now, and again every `every` seconds, or only when a widget in it changes."""
    with st.container():
        st.fragment(draw, run_every=every, key=key)()


def draw_instead(*keys: str) -> None:
    """For the callback of a widget in a fragment: draw these in its place, unless the whole page is drawn anyway."""
    context = get_script_run_ctx()
    if context is not None and context.fragment_ids_this_run:
        st.rerun([*keys])
