"""Charts that are redrawn while a run goes on: ECharts with a stable key."""

from dataclasses import dataclass

import streamlit as st

from ohash.plots import theme
from ohash.plots.chart import Chart
from ohash.plots.glossary import with_cards
from ohash.plots.renderers.echarts import option
from ohash.plots.renderers.echarts_frame import Option
from ohash.ui.workarounds import style

RESTING = ("paused", "done", "error", "stopped")  # states of a run in which charts need no timer
CHART_KEYS = "chart_a", "chart_b", "chart_c", "chart_d"  # score, hills, loss, step size
NARROW = 340  # px: a phone, or half a laptop
TITLE_SHARE = 0.78  # of that width a small laptop has


@dataclass(frozen=True, eq=False)
class LiveChart:
    """A chart that is computed, but not sent yet."""

    key: str
    spec: Option
    height: int
    alt: str
    caption: str

    def send(self) -> None:
        """Send it to the browser."""
        st.echarts_chart(self.spec, key=self.key, height=self.height, alt=self.alt)

    @property
    def note(self) -> str:
        """Its caption as HTML, of a class that names its chart; "" if it has none."""
        return f'<p class="ohash-caption of-{self.key}">{with_cards(self.caption)}</p>' if self.caption else ""


def live_chart(
    chart: Chart,
    key: str,
    height: int,
    width: int = 380,
    size: int = theme.SIZE_COMPACT,
    *,
    title_margin: int = 0,
    caption: bool = False,
    presenting: bool = False,
    highlight: bool = False,
    moving: bool = False,
    dark: bool | None = None,
) -> LiveChart:
    """`width` is roughly what the chart will have; `title_margin` is the room for a switch on it.

    A `moving` chart is drawn again within a second. Whether it is `dark` is asked of the viewer's browser unless told.
    """
    spec = option(
        chart, dark=style.dark() if dark is None else dark, height=height, width=width, size=size, title=True,
        title_lines=2, title_margin=title_margin, title_width=round(TITLE_SHARE * width), presenting=presenting,
        highlight=highlight, moving=moving,
    )  # fmt: skip
    return LiveChart(key, spec, height, chart.alt, chart.caption if caption and not chart.empty else "")
