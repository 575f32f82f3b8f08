"""Charts that are redrawn while a run goes on: ECharts with a stable key."""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from ohash.plots import theme
from ohash.plots.chart import Chart
from ohash.plots.echarts import option
from ohash.ui.workarounds.style import dark

RESTING = ("paused", "done", "error", "stopped")  # states of a run in which charts need no timer
NARROW = 340  # px: a phone, or half a laptop


@dataclass(frozen=True, eq=False)
class LiveChart:
    """A chart that is computed, but not sent yet."""

    key: str
    spec: dict[str, Any]
    height: int
    alt: str

    def send(self) -> None:
        """Send it to the browser."""
        st.echarts_chart(self.spec, key=self.key, height=self.height, alt=self.alt)


def live_chart(chart: Chart, key: str, height: int, width: int = 380, size: int = theme.SIZE_COMPACT) -> LiveChart:
    """`width` is roughly what the chart will have, to wrap its title."""
    spec = option(chart, dark=dark(), height=height, width=width, size=size, title=True)
    return LiveChart(key, spec, height, chart.alt)
