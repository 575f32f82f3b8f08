"""A chart described as data: what is drawn, with which words, and the table that says the same.

The renderers `echarts` (what ticks), `plotly` (what stands still) and `svg` (what is printed) read nothing else.
Colours are named by role and looked up in `theme`.

A heat map described as data: two parameters, one number in each cell.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from ohash.core.arrays import Numbers

Scale = Literal["linear", "log"]
# line: straight between points; step: a histogram, each value centred on its x; hold: each value until the next x.
Kind = Literal["line", "step", "hold", "bar", "area", "points"]
Dash = Literal["solid", "dashed", "dotted"]
Marker = Literal["circle", "square", "diamond", "triangle", "star"]
# How a value of an axis is written: 0.93; 17 %; 20,000; 0.0143; 1.8·10⁻⁸.
Format = Literal["share", "percent", "count", "number", "power"]


@dataclass(frozen=True)
class Axis:
    """One axis; without `lo` and `hi` the renderer chooses limits, without `at` the places of ticks.

    `names` are words for the ticks at `at`, instead of their numbers.
    """

    label: str
    scale: Scale = "linear"
    unit: str = ""
    lo: float | None = None
    hi: float | None = None
    format: Format = "number"
    at: tuple[float, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The label with its unit.

        >>> Axis("CPU time", unit="s").name
        'CPU time (s)'
        """
        return f"{self.label} ({self.unit})" if self.unit else self.label


@dataclass(frozen=True, eq=False)
class Series:
    """One curve. `max_points` bounds the points drawn live; `listed` says whether the legend names it.

    `label` are words beside its last point; labels of several series are kept apart. An `optional_label` is left out
    where it would lie on a line or on another label.
    `spread` is the half width of a band around it. `marker` is the shape of its points, and series of one `group` stand
    together in the legend: both are for what stands still (Plotly and SVG). `notes` are words for each point, which
    Plotly shows under the pointer.
    """

    name: str
    x: Numbers
    y: Numbers
    kind: Kind = "line"
    role: str = "now"
    dash: Dash = "solid"
    width: float = 2.0
    opacity: float = 1.0
    fill: float = 0.0
    max_points: int = 400
    listed: bool = True
    label: str = ""
    optional_label: bool = False
    spread: Numbers | None = None
    marker: Marker | None = None
    group: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that x and y belong together."""
        if self.spread is not None and len(self.spread) != len(self.y):
            raise ValueError(f"series {self.name!r} must have one spread per point, got {len(self.spread)}")
        if len(self.x) != len(self.y):
            raise ValueError(f"series {self.name!r} must have as many x as y, got {len(self.x)} and {len(self.y)}")


def band(series: Series, axis: Axis) -> tuple[Numbers, Numbers]:
    """The lower and the upper edge of the band around a curve; that of a score from 0 to 1 stays there.

    >>> one = Series("mAP", np.array([1.0]), np.array([0.95]), spread=np.array([0.25]))
    >>> low, high = band(one, Axis("mAP", format="share"))
    >>> low.round(2).tolist(), high.tolist()
    ([0.7], [1.0])
    """
    spread = np.zeros(len(series.y)) if series.spread is None else series.spread
    low, high = series.y - spread, series.y + spread
    if axis.format != "share":
        return low, high
    return np.maximum(low, np.minimum(0.0, series.y)), np.minimum(high, np.maximum(1.0, series.y))


@dataclass(frozen=True)
class Mark:
    """A reference line: `at` on the x axis (upright) or on the y axis (level).

    The label of an upright line stands above the plot, that of a level one in the margin beside it.
    """

    at: float
    label: str = ""
    axis: Literal["x", "y"] = "x"
    role: str = "reference"
    dash: Dash = "solid"


@dataclass(frozen=True, eq=False)
class Chart:
    """A sentence, two axes, curves, reference lines; `caption` explains, `alt` is for screen readers."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...] = ()
    marks: tuple[Mark, ...] = ()
    caption: str = ""
    alt: str = ""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not any(len(series.x) for series in self.series)

    def table(self) -> pd.DataFrame:
        """The numbers as a table: one row per x, one column per series; a cell is empty where a series has no such x.

        >>> Chart("", Axis("pairs"), Axis("mAP"), (Series("now", np.array([1, 10]), np.array([0.5, 0.75])),)).table()
           pairs   now
        0      1  0.50
        1     10  0.75
        """
        columns = []
        for name, series in zip(_distinct([series.name for series in self.series]), self.series, strict=True):
            closed = series.kind == "step" and len(series.y) > 2 and series.y[0] == series.y[-1] == 0
            real = slice(1, -1) if closed else slice(None)  # the ends of a histogram only close its outline
            frame = pd.DataFrame({"x": series.x[real], name: series.y[real]})
            # the same x may occur twice: pair 0 is drawn at 1 on a logarithmic axis
            places = pd.MultiIndex.from_arrays([frame["x"], frame.groupby("x").cumcount()])
            columns.append(frame[name].set_axis(places))
        if not columns:
            return pd.DataFrame({self.x.name: np.empty(0)})
        joined = pd.concat(columns, axis=1).sort_index()
        joined.insert(0, self.x.name, joined.index.get_level_values(0))
        return joined.reset_index(drop=True)


def _distinct(names: list[str]) -> list[str]:
    distinct: list[str] = []
    for name in names:
        again = sum(other == name or other.startswith(f"{name} (") for other in distinct)
        distinct.append(name if name not in distinct else f"{name} ({again + 1})")
    return distinct


@dataclass(frozen=True, eq=False)
class HeatMap:
    """Cells z (len(y), len(x)); NaN where nothing is known yet.

    `notes` are words for each cell, row by row, shown under the pointer; `best` are (row, column) of cells to mark.
    """

    title: str
    x_label: str
    y_label: str
    value: str
    x: tuple[str, ...]
    y: tuple[str, ...]
    z: npt.NDArray[np.float64]
    caption: str = ""
    alt: str = ""
    notes: tuple[str, ...] = ()
    best: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        """Check the shape."""
        if self.z.shape != (len(self.y), len(self.x)):
            raise ValueError(f"z must have shape {(len(self.y), len(self.x))}, got {self.z.shape}")

    @property
    def empty(self) -> bool:
        """Whether nothing is known yet."""
        return not bool(np.isfinite(self.z).any())

    def texts(self) -> list[list[str]]:
        """What stands in each cell.

        >>> HeatMap("", "r", "β", "mAP", ("16",), ("0.5", "0.6"), np.array([[0.5], [np.nan]])).texts()
        [['0.500'], ['']]
        """
        return [[f"{value:.3f}" if math.isfinite(value) else "" for value in row] for row in self.z.tolist()]

    def table(self) -> pd.DataFrame:
        """The cells as a table: one row per y, one column per x."""
        frame = pd.DataFrame(self.z, columns=list(self.x))
        frame.insert(0, f"{self.y_label} \\ {self.x_label}", list(self.y))
        return frame
