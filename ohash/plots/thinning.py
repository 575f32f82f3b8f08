"""Fewer points without a visible difference: evenly in the scale of the axis, first and last kept."""

import numpy as np

from ohash.core.arrays import Numbers, Rows
from ohash.plots.chart import Chart, Scale, Series


def kept_rows(x: Numbers, max_rows: int, scale: Scale) -> Rows:
    """At most `max_rows` rows of rising x, as even as x allows on this scale.

    >>> kept_rows(np.arange(1, 1001), 4, "log").tolist(), kept_rows(np.arange(1, 1001), 3, "linear").tolist()
    ([0, 9, 99, 999], [0, 499, 999])
    """
    if len(x) <= max_rows:
        return np.arange(len(x))
    at = np.log(np.maximum(x, 1e-300)) if scale == "log" else np.asarray(x, np.float64)
    wanted = np.linspace(at[0], at[-1], max_rows)
    right = np.clip(np.searchsorted(at, wanted), 1, len(at) - 1)
    nearest = np.where(wanted - at[right - 1] <= at[right] - wanted, right - 1, right)
    return nearest[np.diff(nearest, prepend=-1) > 0]  # they rise, from the first row to the last


def drawable(series: Series, chart: Chart) -> Series:
    """The series without what cannot be drawn: rows with no finite x, no y, or nothing positive on a log axis."""
    x, y = np.asarray(series.x, np.float64), np.asarray(series.y, np.float64)
    fine = np.isfinite(x)
    if chart.x.scale == "log":
        fine &= x >= (chart.x.lo or 0) * (1 - 1e-9)
        fine &= x > 0
    kept = np.isfinite(y)
    if chart.y.scale == "log":
        kept &= y > 0
    x, y, kept = x[fine], y[fine], kept[fine]
    spread = None
    if series.spread is not None:
        width = np.asarray(series.spread, np.float64)[fine][kept]
        spread = np.where(np.isfinite(width), width, 0.0)
    return _with(series, x[kept], y[kept], spread)


def thin(series: Series, chart: Chart) -> Series:
    """What is drawn live: at most `series.max_points` points."""
    clean = drawable(series, chart)
    rows = kept_rows(clean.x, series.max_points, chart.x.scale)
    return _with(clean, clean.x[rows], clean.y[rows], None if clean.spread is None else clean.spread[rows])


def _with(series: Series, x: Numbers, y: Numbers, spread: Numbers | None) -> Series:
    return Series(**{**vars(series), "x": x, "y": y, "spread": spread})
