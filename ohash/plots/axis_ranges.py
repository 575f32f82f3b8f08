"""The ends of axes during a run: they grow and do not snap back."""

from dataclasses import replace
from typing import Literal

from ohash.plots.chart import Axis, Chart
from ohash.plots.layout import limits

Which = Literal["x", "y"]


class AxisRanges:
    """The widest range that each axis of a run has had."""

    def __init__(self) -> None:
        """Of a run that begins."""
        self._widest: dict[tuple[str, Which, str, str], tuple[float, float]] = {}

    def widen(self, key: str, chart: Chart, *, remember: bool = True) -> Chart:
        """The chart on axes that are at least as wide as before.

        Without `remember` its range does not count later: the shares of the first few pairs reach 100 %.
        """
        if chart.empty:
            return chart
        return replace(chart, x=self._axis(key, "x", chart, remember), y=self._axis(key, "y", chart, remember))

    def _axis(self, key: str, which: Which, chart: Chart, remember: bool) -> Axis:
        axis: Axis = getattr(chart, which)
        name = key, which, axis.label, axis.scale  # another score or scale has its own
        lo, hi = limits(chart, which)
        low, high = self._widest.get(name, (lo, hi))
        ends = min(lo, low), max(hi, high)
        if remember:
            self._widest[name] = ends
        return replace(axis, lo=ends[0], hi=ends[1])
