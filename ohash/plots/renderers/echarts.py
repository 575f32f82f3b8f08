"""A chart as an ECharts option for `st.echarts_chart`: plain data, no callbacks, tables for the points.

What travels at every tick is bounded: at most `Series.max_points` points per series, four bytes per number, and series
with the same x share a table. The tables are Arrow ones: Streamlit sends them as they are, and pandas in between would
cost more than all the rest. Log axes get no value that is not positive.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa

from ohash.core.arrays import Numbers
from ohash.plots import layout, theme
from ohash.plots.chart import Chart, Mark, Series, band
from ohash.plots.renderers.echarts_frame import (
    DASHES,
    Frame,
    Option,
    axis_option,
    by_powers,
    enlarge,
    frame_of,
    marks_option,
)
from ohash.plots.renderers.responsive import UPRIGHT, full_factor, full_screens, media, wrap
from ohash.plots.thinning import thin

FORMATS = {"share": "%.3f", "percent": "%.1f %%", "count": "%,d", "number": "%.4g", "power": "%.1e"}
# The line under the pointer, or whose label is, in full; the others fade.
HIGHLIGHT: Option = {
    "triggerLineEvent": True,
    "emphasis": {"focus": "series", "lineStyle": {"width": 4}},
    "blur": {"lineStyle": {"opacity": 0.25}},
}
TYPES = {"bar": "bar", "points": "scatter"}
NAMED_POINT = 11  # px
WIDER = 1.8  # a plot in a large window, compared with the width it is supposed to have
STEP = {"step": "middle", "hold": "end"}
ICONS = {"solid": [(0, 180)], "dashed": [(0, 70), (110, 70)], "dotted": [(0, 20), (53, 20), (106, 20), (160, 20)]}


def option(
    chart: Chart,
    *,
    dark: bool = False,
    height: int = 240,
    width: int = 380,
    size: int = theme.SIZE,
    title: bool = False,
    toolbox: bool = False,
    title_lines: int = 0,
    title_margin: int = 0,
    title_width: int | None = None,
    presenting: bool = False,
    highlight: bool = False,
    moving: bool = False,
) -> Option:
    """The option; `width` and `height` in pixels are only used to keep labels apart, the chart fits its container.

    The title has room for `title_lines` at least, so that nothing moves when it gets shorter, and is expected to be
    `title_width` wide; `title_margin` pixels to its right belong to something else. In present mode (`presenting`) a
    chart may become as high as the screen. With `highlight` the line under the pointer stands out from the others. A
    `moving` chart is drawn again within a second.
    """
    ground = theme.ground(dark)
    series = [thin(one, chart) for one in chart.series]
    datasets, places = _datasets(series, chart)
    listed = {one.name: _icon(one) for one in series if one.listed and len(one.x)}
    heading = (
        wrap(chart.title, max(20, int(((title_width or width) - title_margin) / (0.5 * (size + 2))))) if title else []
    )
    # in a page the browser knows how wide the title is, and `media` makes more room only where it needs more lines
    expected = len(heading) if presenting or not title_lines else 0
    heading_lines = max(expected, title_lines) if title else 0
    room = heading_lines * (size + 6)
    frame = frame_of(chart, width, height, size, heading=room, legend=len(listed) > 1)
    lines = [_series(one, at, place, chart, dark) for at, (one, place) in enumerate(zip(series, places, strict=True))]
    bands = [
        part for at, one in enumerate(series) if one.spread is not None for part in _band(one, at, places[at], dark)
    ]
    if highlight:
        for line in lines:
            line.update(HIGHLIGHT)
    labels = layout.labels(chart, frame.inner, frame.plot, frame.size, widest=WIDER * frame.inner)
    for line, beside in zip(lines, _side_labels(chart, frame, labels, dark), strict=True):
        line.update(beside)
    drawn: Option = {
        "animation": False,
        "backgroundColor": ground.background,
        "textStyle": {"fontFamily": theme.FONT, "fontSize": size},
        "grid": frame.grid,
        "xAxis": axis_option(chart, "x", frame, ground),
        "yAxis": axis_option(chart, "y", frame, ground),
        "tooltip": _tooltip(chart, ground, size, highlight),
        "dataset": datasets,
        "series": [*lines, *bands, marks_option(chart, frame, labels, dark)],
    }
    titles = _heading(heading, ground, size) + _placeholder(chart, ground, size, width)
    if titles:
        drawn["title"] = titles
    if title_lines and heading:
        drawn["title"][0]["text"] = chart.title
    if len(listed) > 1:
        drawn["legend"] = _legend(listed, frame, ground, toolbox)
    if toolbox:
        name = re.sub(r"\W+", "-", chart.title.lower()).strip("-")[:60]
        drawn["toolbox"] = {"top": 0, "right": 0, "feature": {"saveAsImage": {"name": name, "pixelRatio": 3}}}
    if title_lines:
        heading_text = chart.title if heading else ""
        drawn["media"] = media(
            drawn, heading_text, size, title_margin, heading_lines, presenting=presenting, moving=moving
        )
        optional = sum(one.optional_label for one in chart.series)
        if optional > len(labels) or any(label.up or label.over for label in labels):
            drawn["media"] += _full_screen_labels(SameLines(chart, frame), presenting=presenting, dark=dark)
    return drawn


# -- points --------------------------------------------------------------------------------


def _datasets(series: list[Series], chart: Chart) -> tuple[list[Option], list[tuple[int, int]]]:
    """Arrow tables, and for every series its table and column; series of equal x share one."""
    frames: dict[bytes, dict[str, Numbers]] = {}
    places = []
    powers = by_powers(chart.y)
    for one in series:
        key = one.x.tobytes()
        frame = frames.setdefault(key, {chart.x.name: _compact(one.x)})
        places.append((list(frames).index(key), len(frame)))
        name = _free(one.name, frame)
        if powers:
            frame[_free(f"log₁₀ {one.name}", frame)] = _compact(np.log10(one.y))
        frame[name] = _compact(one.y)
        if one.spread is not None:
            low, high = band(one, chart.y)
            frame[_free(f"{name} low", frame)] = _compact(low)
            frame[_free(f"{name} width", frame)] = _compact(high - low)
    return [{"source": pa.table(frame)} for frame in frames.values()], places


def _free(name: str, frame: Mapping[str, object]) -> str:
    """A column name that is not taken; two ghosts may have the same label."""
    while name in frame:
        name += " "
    return name


def _compact(values: Numbers) -> Numbers:
    """Four bytes per number: whole numbers exactly, others to six digits."""
    if len(values) and np.all(values == np.round(values)) and np.abs(values).max() < 2**31:
        return values.astype(np.int32)
    return values.astype(np.float32)


def _series(series: Series, at: int, place: tuple[int, int], chart: Chart, dark: bool) -> Option:
    dataset, column = place
    hue = theme.colour(series.role, dark)
    drawn: Option = {
        "name": series.name,
        "datasetIndex": dataset,
        "encode": {"x": 0, "y": column, "tooltip": [column + by_powers(chart.y)]},
        "itemStyle": {"color": hue, "opacity": series.opacity},
        "emphasis": {"disabled": True},
        "z": 2 + at,
    }
    if series.kind == "bar":
        return drawn | {"type": "bar", "barMaxWidth": 48}
    if series.kind == "points":
        return drawn | {"type": "scatter", "symbolSize": NAMED_POINT if series.label else 5}
    drawn |= {
        "type": "line",
        "lineStyle": {"color": hue, "width": series.width, "type": DASHES[series.dash], "opacity": series.opacity},
        "symbol": "circle" if len(series.x) == 1 else "none",
        "symbolSize": 6,
    }
    if series.kind in STEP:
        drawn["step"] = STEP[series.kind]
    if series.fill or series.kind == "area":
        drawn["areaStyle"] = {"color": hue, "opacity": series.fill or 0.25}
    return drawn


def _band(series: Series, at: int, place: tuple[int, int], dark: bool) -> list[Option]:
    """What lies within the spread of a curve: a line nobody sees, and upon it an area of the band's width."""
    dataset, column = place
    parts: list[Option] = []
    hue = theme.colour(series.role, dark)
    for nth, fill in ((1, 0.0), (2, 0.16)):
        parts.append({
            "name": f"{series.name} ±", "type": "line", "datasetIndex": dataset, "encode": {"x": 0, "y": column + nth},
            "stack": f"band {at}", "stackStrategy": "all", "symbol": "none", "silent": True, "tooltip": {"show": False},
            "lineStyle": {"opacity": 0}, "areaStyle": {"color": hue, "opacity": fill}, "z": 1,
        })  # fmt: skip
    return parts


def _side_labels(chart: Chart, frame: Frame, labels: list[layout.SideLabel], dark: bool) -> list[Option]:
    """For every series its label; nothing where it has none."""
    # of an optional one ECharts would keep that of the picture before
    parts: list[Option] = [{"endLabel": {"show": False}} if one.optional_label else {} for one in chart.series]
    for label in labels:
        if isinstance(label.of, Mark):
            continue
        hue = theme.text_colour(label.of.role, dark)
        across = min(1.0, layout.position(label.at[0], *frame.x, chart.x.scale))
        aside = 9 if label.across is None else label.across + 2
        room = across * frame.inner if label.over else frame.right + (1 - across) * frame.inner - aside
        words = layout.truncate(label.of.label, room, frame.size)
        text = {"show": True, "formatter": words, "color": hue, "fontSize": frame.size, "fontWeight": 600}
        at = next(at for at, one in enumerate(chart.series) if one is label.of)
        if label.of.kind == "points":
            parts[at] = _point_label(text, label, theme.ground(dark))
            continue
        halo = {"textBorderColor": theme.ground(dark).background, "textBorderWidth": 3}
        beside = {"distance": 6, "align": "left", "offset": [0, -label.up]}
        over = {"distance": 0, "align": "right", "offset": [0, -label.up]}
        parts[at] = {"endLabel": {**text, **halo, **(over if label.over else beside)}}
        if across < 1:  # its label lies within the plot, and must not be crossed by a curve
            parts[at]["z"] = 2 + len(chart.series)
    return parts


@dataclass(frozen=True, eq=False)
class SameLines:
    """A chart and its frame, equal to any other with the same lines: most pictures have only another title."""

    chart: Chart
    frame: Frame

    def _key(self) -> tuple[object, ...]:
        lines = ((one.name, one.label, one.role, one.x.tobytes(), one.y.tobytes()) for one in self.chart.series)
        return *lines, self.chart.marks, self.chart.x, self.chart.y, *self.frame.grid.values(), self.frame.size

    def __eq__(self, other: object) -> bool:
        """Whether labels have the same places."""
        return isinstance(other, SameLines) and self._key() == other._key()

    def __hash__(self) -> int:
        """The hash of what is compared."""
        return hash(self._key())


@lru_cache(maxsize=64)
def _full_screen_labels(same: SameLines, *, presenting: bool, dark: bool) -> list[Option]:
    """Where labels go on full screens, in ranges of their height.

    A label keeps its distance in pixels, while lines move apart with the plot: what is free in a page is not so there.
    """
    chart, queries = same.chart, []
    for query, width, height, tallest in full_screens():
        full = enlarge(same.frame, chart, full_factor(presenting), width, height)
        taller = (full.plot + tallest - height) / full.plot
        placed = layout.labels(chart, full.inner, full.plot, full.size, full.inner, taller)
        marks = marks_option(chart, full, placed, dark)
        beside = _merge_by_name(chart, _side_labels(chart, full, placed, dark))
        parts = [*beside, {key: marks[key] for key in ("name", "type", "markLine")}]
        queries.append({"query": query, "option": {"series": parts}})
    off: list[Option] = [{"endLabel": {"show": False}} if one.optional_label else {} for one in chart.series]
    return [{"query": UPRIGHT, "option": {"series": _merge_by_name(chart, off)}}, *queries]


def _merge_by_name(chart: Chart, parts: list[Option]) -> list[Option]:
    """What ECharts merges into the series of these names; those without a part are left as they are."""
    named = zip(chart.series, parts, strict=True)
    return [{"name": one.name, "type": TYPES.get(one.kind, "line"), **part} for one, part in named if part]


def _point_label(text: Option, label: layout.SideLabel, ground: theme.Ground) -> Option:
    """The name of a point; its place is told from the edge of the symbol."""
    edge = NAMED_POINT / 2
    across = 5 if label.across is None else label.across + (edge if label.over else -edge)
    side = "left" if label.over else "right"
    named: Option = {"label": {**text, "position": side, "distance": 0}, "labelLayout": {"dx": across, "dy": -label.up}}
    line = {"show": label.leader is not None, "lineStyle": {"color": ground.faint, "width": theme.THIN}}
    return named | {"labelLine": line}


# -- around the points ---------------------------------------------------------------------


def _tooltip(chart: Chart, ground: theme.Ground, size: int, highlight: bool) -> Option:
    pointer: Option = {"type": "line", "lineStyle": {"color": ground.faint, "type": "dotted"}}
    if highlight:
        pointer["triggerEmphasis"] = False  # it would highlight every line
    return {
        "trigger": "axis",
        "confine": True,
        "transitionDuration": 0,
        "valueFormatter": FORMATS[chart.y.format],
        "backgroundColor": ground.background,
        "borderColor": ground.grid,
        "textStyle": {"color": ground.ink, "fontSize": size},
        "padding": [4, 8],
        "extraCssText": "font-variant-numeric: tabular-nums;",
        "axisPointer": pointer,
    }


def _icon(series: Series) -> str:
    """What the legend shows: a filled box, or a line with its dashes; ECharts would add a dot to every line."""
    if series.fill or series.kind in ("bar", "area"):
        return "roundRect"
    high = round(10 * series.width)
    return "path://" + "".join(f"M{at} 0h{wide}v{high}h-{wide}z" for at, wide in ICONS[series.dash])


def _legend(names: dict[str, str], frame: Frame, ground: theme.Ground, toolbox: bool) -> Option:
    # ECharts forgets what was switched off at the next tick, so nothing can be switched off
    return {
        "type": "scroll",
        "data": [{"name": name, "icon": icon} for name, icon in names.items()],
        "top": frame.heading,
        "left": frame.left - 4 if len(names) < 3 else 0,
        "right": 36 if toolbox else 8,
        "itemWidth": 18,
        "itemHeight": 9,
        "itemGap": 12 if len(names) < 3 else 8,
        "padding": 2,
        "selectedMode": False,
        "textStyle": {"color": ground.ink, "fontSize": frame.size},
    }


def _heading(lines: list[str], ground: theme.Ground, size: int) -> list[Option]:
    if not lines:
        return []
    style = {"color": ground.ink, "fontSize": size + 2, "fontWeight": 600, "lineHeight": size + 6}
    return [{"text": "\n".join(lines), "left": 4, "top": 0, "padding": 0, "textStyle": style}]


def _placeholder(chart: Chart, ground: theme.Ground, size: int, width: int) -> list[Option]:
    """Words in the middle where there is nothing to draw."""
    if not chart.empty:
        return []
    text = "\n".join(wrap(chart.caption, 0.7 * width / (0.5 * size)))
    style = {"color": ground.faint, "fontSize": size + 1, "fontWeight": "normal", "lineHeight": size + 6}
    return [{"text": text, "left": "center", "top": "middle", "padding": 0, "textStyle": style}]
