"""A part of a page that is redrawn on its own, in a separate container.

When a fragment ticks before the last run of the whole page has left the server, Streamlit (1.67) drops what that run
had drawn of the fragment but still tells the browser that the run is over, and the browser throws the fragment's place
away as stale: its neighbours move up, and the next frame lands on one of them or nowhere ("Bad delta path index", a
blank page). A container outside the fragment keeps the place.
"""

from collections.abc import Callable

import streamlit as st


def fragment(draw: Callable[[], None], *, key: str, every: float | None = None) -> None:
    """Draw now, and again every `every` seconds, or only when a widget in it changes."""
    with st.container():
        st.fragment(draw, run_every=every, key=key)()
