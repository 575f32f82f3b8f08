"""What a crowd sees of one run: all charts as one picture, drawn once and fetched by every browser.

Whoever touches a control gets her own run, with charts that answer the pointer.
"""

from collections.abc import Sequence
from urllib.parse import urlencode

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from ohash.plots.chart import Chart
from ohash.plots.glossary import with_cards
from ohash.plots.renderers.svg import to_svg
from ohash.ui.parts.live_chart import CHART_KEYS
from ohash.ui.session import live_run
from ohash.ui.session.broadcast import PATH, Broadcast, ChartSwitches
from ohash.ui.session.session import Session

CROWD = 12  # viewers of one run, from which on it is drawn for all at once
WIDTHS = 150.0, 86.0, 86.0, 86.0  # mm
HEIGHT, TYPE = 56.0, 8.5  # mm, points
SHOW = """export default ({ data, parentElement }) => {
  const place = parentElement.querySelector(".ohash-crowd"), known = place.address !== undefined;
  if (place.address !== data.address) [place.address, place.seq] = [data.address, ""];
  if (known) return;
  const watch = async () => {
    if (!place.isConnected) return;
    const from = place.address;
    let wait = place.wait || 1000;
    try {
      const answer = await fetch(`${from}&after=${place.seq}`, { signal: AbortSignal.timeout(8000) });
      if (answer.status === 200 && place.address === from) {
        const picture = await answer.json();
        [place.innerHTML, place.seq, place.wait] = [picture.html, picture.seq, picture.wait];
      }
      wait = answer.ok ? place.wait || 200 : 2000;
    } catch { wait = 2000; }
    setTimeout(watch, document.hidden ? 2000 : wait);
  };
  watch();
}"""
STYLE = """.ohash-crowd {display: grid; min-height: 33rem; align-content: start;
  grid-template-columns: repeat(12, 1fr); gap: .5rem 1rem;}
.ohash-crowd figure {margin: 0; grid-column: span 4;} .ohash-crowd figure:first-of-type {grid-column: span 8;}
.ohash-crowd svg {width: 100%; height: auto;}
.ohash-crowd > div {grid-column: span 4;} .ohash-crowd > .ohash-words {grid-column: 1 / -1;}
@media (max-width: 640px) {.ohash-crowd > *, .ohash-crowd figure:first-of-type {grid-column: 1 / -1 !important;}}"""


def is_crowded(session: Session) -> bool:
    """Whether so many watch the session's run that all get the same picture."""
    lease = live_run.hub().lease(session.id)
    other_charts = session.present or session.ghosts or session.earlier or lease.companions
    other_moment = session.use_recording or session.shared_until is not None
    return not other_charts and not other_moment and live_run.hub().watchers(session.id) >= CROWD


def picture(top: str, charts: Sequence[Chart], numbers: str, *, dark: bool, narrow: bool = False) -> str:
    """The headline, the charts with their captions, and the numbers, as HTML."""
    widths = [min(width, WIDTHS[-1]) if narrow else width for width in WIDTHS]
    figures = (
        _figure(chart, key, width, dark=dark) for chart, key, width in zip(charts, CHART_KEYS, widths, strict=True)
    )
    return f"{top}{''.join(figures)}<div>{numbers}</div>"


def _figure(chart: Chart, key: str, width: float, *, dark: bool) -> str:
    """Under the key of the live chart, so that the switches find their place on it."""
    caption = "" if chart.empty else f'<p class="ohash-caption">{with_cards(chart.caption)}</p>'
    svg = to_svg(chart, width=width, height=HEIGHT, size=TYPE, dark=dark)
    return f'<figure><div class="st-key-{key}">{svg}</div>{caption}</figure>'


def watch(broadcast: Broadcast, look: ChartSwitches) -> None:
    """Let the browser of one viewer fetch the pictures and show each in the place of the one before."""
    _component()(key="crowd", data={"address": f"{PATH}/{broadcast.key}?{urlencode(look.query())}"})


@st.cache_resource
def _component() -> ComponentRenderer:
    place = '<div class="ohash-crowd" role="group" aria-label="Charts of the run"></div>'
    return st.components.v2.component("ohash_crowd", html=place, css=STYLE, js=SHOW, isolate_styles=False)
