"""Charts that never tick: Plotly, with the title as text above, so that it wraps on a phone."""

import plotly.graph_objects as go
import streamlit as st

from ohash.plots.chart import Chart
from ohash.plots.plotly import figure
from ohash.ui.parts.sharing import file_stem
from ohash.ui.workarounds.style import dark

NO_BUTTONS = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"]}


def show(chart: Chart, key: str, height: int = 260, drawing: go.Figure | None = None) -> None:
    """A chart under its title; `drawing` is its figure if the standard one will not do."""
    fig = figure(chart, dark()) if drawing is None else drawing
    several = sum(one.listed for one in chart.series) > 1
    margin = {"l": 56, "r": max(28, fig.layout.margin.r or 0), "t": 34 if several else 22, "b": 44}
    fig.update_layout(title=None, height=height, margin=margin)
    st.markdown(f"**{chart.title}**")
    picture = {"toImageButtonOptions": {"filename": file_stem(chart.title)[:80]}}
    st.plotly_chart(fig, key=key, theme=None, config=NO_BUTTONS | picture, alt=chart.alt or chart.title)
