"""Charts of a dataset: how large its classes are, how long its rows, and how it lies in the plane."""

import html
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ohash import number_formats as formats
from ohash.core.arrays import Array
from ohash.plots.chart import Axis, Chart, Kind, Mark, Series
from ohash.plots.renderers.plotly import figure
from ohash.streams.dataset import Dataset
from ohash.streams.overview import Overview, item_name

# Classes drawn one by one, with their names below; beyond, only by rank.
NAMED = 20
# Colours that stay apart; more classes than these are not told apart by colour.
CLASS_ROLES = ("now", "dissimilar", "distance", "bound", "threshold")


def class_balance(seen: Overview) -> Chart:
    """Rows a class; many classes are ordered by size."""
    sizes = seen.class_sizes if len(seen.class_sizes) <= NAMED else np.sort(seen.class_sizes)[::-1]
    x = Axis(
        "class" if len(sizes) <= NAMED else "classes by size", lo=-0.6, hi=max(1.0, len(sizes) - 0.4), format="count"
    )
    y = Axis("rows", lo=0, format="count")
    if not len(sizes):
        return Chart(
            "There are no labels, so there are no classes", x, y, caption="No labels.", alt="No class balance."
        )
    least, largest = int(sizes.min()), int(sizes.max())
    title = f"{len(sizes):,} classes of {largest:,} rows each"
    if least != largest:
        title = f"{len(sizes):,} classes of {least:,} to {largest:,} rows"
        title += f": the largest is {largest / max(1, least):.1f} times the smallest" if largest >= 1.5 * least else ""
    kind: Kind = "bar" if len(sizes) <= NAMED else "hold"
    series = Series("rows", np.arange(len(sizes)), sizes, kind=kind, role="now")
    return Chart(title, x, y, (series,), alt=f"Bar chart of the rows of each class. {title}.")


def norms(seen: Overview) -> Chart:
    """How long the rows are."""
    histogram = seen.norms
    middle = (histogram.edges[:-1] + histogram.edges[1:]) / 2
    x, y = Axis("norm of a row"), Axis("rows", lo=0, format="count")
    if len(middle) == 1:
        title = f"Every row has norm {formats.number(histogram.median)}: only directions differ"
    else:
        least, median, largest = (
            formats.number(value) for value in (histogram.smallest, histogram.median, histogram.largest)
        )
        title = f"Row norms range from {least} to {largest}, with a median of {median}"
    mark = Mark(histogram.median, "median", role="threshold", dash="dotted")
    of = f"of {seen.sampled:,} sampled rows" if seen.sampled else ""
    series = Series("rows", middle, histogram.counts, kind="bar", role="now")
    return Chart(
        title,
        x,
        y,
        (series,),
        (mark,),
        caption=of,
        alt=f"Histogram of the norms of the rows{of and ' '}{of}. {title}.",
    )


SIGNS = ("circle", "diamond", "cross", "x", "triangle-up", "square", "star", "triangle-down")  # colour is never alone


def projection(dataset: Dataset, seen: Overview, coloured: Sequence[int] = ()) -> Chart:
    """Sampled rows along their two principal directions; the classes `coloured` stand out, the rest is pale."""
    plane = seen.projection
    share = sum(plane.explained)
    first, second = (formats.percent(part) for part in plane.explained)
    title = f"Two directions explain {formats.percent(share)} of the variance"
    title += ": points that are close here may be far apart" if share < 0.5 else ""
    x, y = Axis(f"first direction, {first}"), Axis(f"second direction, {second}")
    if plane.exact:
        title, x, y = "The data lie in the plane, as drawn", Axis("first column"), Axis("second column")
    parts: list[Series] = []
    rest = np.ones(len(plane.rows), bool)
    for role, c in zip(CLASS_ROLES, coloured, strict=False):
        mine = _in_class(dataset, plane.rows, c)
        rest &= ~mine
        parts.append(_points(seen.classes[c], plane.xy[mine], role))
    name = "the other classes" if parts else "rows"
    others = _points(name, plane.xy[rest], "ghost" if parts else "now", 0.55 if parts else 0.6)
    alt = f"Scatter plot of {len(plane.rows):,} rows in the plane. {title}."
    return Chart(title, x, y, (others, *parts) if rest.any() else tuple(parts), alt=alt)


def balance_figure(seen: Overview, *, dark: bool) -> go.Figure:
    """The class balance with the names of the classes under the bars."""
    fig = figure(class_balance(seen), dark)
    if 0 < len(seen.class_sizes) <= NAMED:
        names = [html.escape(name if len(name) <= 14 else f"{name[:13]}…") for name in seen.classes]
        angle = -40 if sum(map(len, names)) > 30 else 0
        fig.update_xaxes(tickvals=list(range(len(names))), ticktext=names, title=None, tickangle=angle, automargin=True)
    return fig


def projection_figure(dataset: Dataset, seen: Overview, coloured: Sequence[int] = (), *, dark: bool) -> go.Figure:
    """The projection; a point tells its name when pointed at, and both axes have one scale."""
    chart = projection(dataset, seen, coloured)
    fig = figure(chart, dark)
    place = {
        tuple(point): int(row) for point, row in zip(seen.projection.xy.tolist(), seen.projection.rows, strict=True)
    }
    for trace, sign in zip(fig.data[-len(coloured) :] if len(coloured) else (), SIGNS, strict=False):
        trace.update(marker_symbol=sign)
    for trace in fig.data:
        names = [item_name(dataset, place[x, y]) for x, y in zip(trace.x.tolist(), trace.y.tolist(), strict=True)]
        trace.update(text=[html.escape(name) for name in names], hovertemplate="%{text}<extra></extra>", marker_size=5)
    fig.update_layout(hovermode="closest")
    fig.update_yaxes(scaleanchor="x", range=None, autorange=True)
    fig.update_xaxes(range=None, autorange=True)
    return fig


def _in_class(dataset: Dataset, rows: Array, c: int) -> Array:
    assert dataset.labels is not None
    return np.asarray(dataset.labels[rows, c] if dataset.multi_label else dataset.labels[rows] == c)


def _points(name: str, xy: Array, role: str, opacity: float = 0.75) -> Series:
    return Series(name, xy[:, 0], xy[:, 1], kind="points", role=role, opacity=opacity, max_points=2000)
