"""What only the browser knows: whether the user prefers less motion, how wide the screen is, what was clicked."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer
from streamlit.web.server.starlette.starlette_app_utils import decode_xsrf_token_string

from ohash.ui.workarounds.slots import component_value

# The browser reports once per load, and only if there is something to report: an ordinary laptop costs no extra run. A
# value set while the component is being mounted can be lost, hence the timer. Clicks are reported by page.js.
REPORT = """
export default function ({ setStateValue, setTriggerValue }) {
  window.ohashTell = setTriggerValue;
  if (window.ohashTold) return;
  window.ohashTold = true;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const narrow = innerWidth < 640;
  if (still || narrow) setTimeout(() => setStateValue("client", { still, narrow }), 200);
}
"""
NAME = "ohash_client"
COOKIE = "_streamlit_xsrf"  # random, one per browser; every answer masks it anew


@dataclass(frozen=True)
class BrowserReport:
    """What a browser reports when a page is loaded."""

    narrow: bool
    reduced_motion: bool


@cache
def _component() -> ComponentRenderer:
    return st.components.v2.component(NAME, js=REPORT)


def listen(
    on_report: Callable[[BrowserReport], None],
    on_row: Callable[[int | None], None],
    on_pair: Callable[[int], None] = lambda _: None,
) -> None:
    """Call `on_report` when the browser has reported, `on_row` and `on_pair` when an item or a curve is clicked."""

    def report() -> None:
        reported = component_value(NAME, "client")
        client = reported if isinstance(reported, dict) else {}
        on_report(BrowserReport(bool(client.get("narrow")), bool(client.get("still"))))

    def click() -> None:
        row = component_value(NAME, "row")
        on_row(row if isinstance(row, int) else None)

    def click_curve() -> None:
        pair = component_value(NAME, "pair")
        if isinstance(pair, int) and pair >= 0:
            on_pair(pair)

    _component()(key=NAME, on_client_change=report, on_row_change=click, on_pair_change=click_curve, height=1)


def browser_token() -> str:
    """A token that all sessions of one browser share, and that nobody can guess; "" if there is none."""
    return token_of(st.context.cookies.get(COOKIE, ""))


def token_of(cookie: str) -> str:
    """The browser's token, from the cookie itself."""
    token, _ = decode_xsrf_token_string(cookie)
    return "" if token is None else token.hex()
