"""What only the browser knows: who wants things to stand still, what is a phone, what was clicked."""

from functools import cache
from typing import Any

import streamlit as st

from ohash.ui import state
from ohash.ui import view_state as memory
from ohash.ui.session import Session

# What the browser is like is told once a load, and only if there is something to tell: an ordinary laptop costs no
# extra run. A value set while the component is being mounted can be lost, hence the timer.
# What is clicked is told by script.py.
ASK = """
export default function ({ setStateValue, setTriggerValue }) {
  window.ohashTell = setTriggerValue;
  if (window.ohashTold) return;
  window.ohashTold = true;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const narrow = innerWidth < 640;
  if (still || narrow) setTimeout(() => setStateValue("client", { still, narrow }), 200);
}
"""


@cache
def _component() -> Any:
    return st.components.v2.component("ohash_client", js=ASK)


def ask(session: Session) -> None:
    """Take note of the browser; who wants no motion gets a run that waits for Play, a comparison that moves rarely."""

    def told() -> None:
        client = _said("client") or {}
        session.narrow = bool(client.get("narrow"))
        session.still = bool(client.get("still"))
        if session.still and session.playing:  # what has begun since the page was opened begins again
            session.playing = False
            state.commit(session, session.params, preset=session.preset, keep_ghost=False)

    def clicked() -> None:
        row = _said("row")
        session.row = row if isinstance(row, int) else None

    _component()(key="ohash_client", on_client_change=told, on_row_change=clicked, height=1)


def _said(what: str) -> Any:
    return memory.said_by("ohash_client").get(what)
