"""Charts that never tick: Plotly, with the title as text above, so that it wraps on a phone."""

from dataclasses import replace

import plotly.graph_objects as go
import streamlit as st

from ohash.plots.chart import Chart
from ohash.plots.renderers.plotly import LANE, LEFT, figure, height_of_labels, stack_linked
from ohash.ui.parts.sharing import file_stem
from ohash.ui.workarounds.style import dark

NO_BUTTONS = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"]}


def show(chart: Chart, key: str, height: int = 260, drawing: go.Figure | None = None) -> None:
    """A chart under its title; `drawing` is its figure if the standard one will not do."""
    fig = figure(chart, dark()) if drawing is None else drawing
    st.markdown(f"**{chart.title}**")
    _send(chart, fig, key, height)


def show_linked(upper: Chart, lower: Chart, key: str, height: int) -> None:
    """Two charts of the same lines, one above the other, read by one pointer."""
    st.markdown(f"**{upper.title}**  \n**{lower.title}**")
    alt = f"{upper.alt or upper.title} Below it: {lower.alt or lower.title}"
    _send(replace(upper, alt=alt), stack_linked(upper, lower, dark()), key, height)


def _send(chart: Chart, fig: go.Figure, key: str, height: int) -> None:
    several = sum(one.listed for one in chart.series) > 1
    more = max(0, height_of_labels(fig) - LANE)  # rows of labels beyond the one that every chart has room for
    left, right = (fig.layout.margin.l or LEFT) - 8, max(28, fig.layout.margin.r or 0)
    margin = {"l": left, "r": right, "t": (34 if several else 22) + more, "b": 44}
    fig.layout.title, fig.layout.height, fig.layout.margin = None, height + more, margin
    picture = {"toImageButtonOptions": {"filename": file_stem(chart.title)[:80]}}
    st.plotly_chart(fig, key=key, theme=None, config=NO_BUTTONS | picture, alt=chart.alt or chart.title)
