"""A chart as an ECharts option for `st.echarts_chart`: plain data, no callbacks, tables for the points.

What travels at every tick is bounded: at most `Series.most` points a series, four bytes a number, and series with the
same x share a table. The tables are Arrow ones: Streamlit sends them as they are, and pandas in between would cost more
than all the rest. Log axes get no value that is not positive.

The frame of an ECharts chart: margins, axes and reference lines, so placed that no label is cut off or covered.
"""

import math
import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ohash.plots import layout, theme
from ohash.plots.chart import Axis, Chart, Mark, Series
from ohash.plots.responsive import media, wrapped
from ohash.plots.thinning import drawable, thinned

Option = dict[str, Any]
DASHES = {"solid": "solid", "dashed": [6, 4], "dotted": [2, 3]}
LEGEND = 22
LANE = 15
LOW = 240  # px


@dataclass(frozen=True)
class Frame:
    """Margins in pixels, the ends of both axes, and where the labels of upright marks go."""

    left: int
    right: int
    top: int
    bottom: int
    inner: int
    plot: int
    heading: int
    y_name: int
    x: tuple[float, float]
    y: tuple[float, float]
    placed: list[layout.Placed]
    size: int

    @property
    def grid(self) -> Option:
        """The margins; ECharts 6 would add its own for labels that have room already."""
        margins = {"left": self.left, "right": self.right, "top": self.top, "bottom": self.bottom}
        return {**margins, "outerBoundsMode": "none"}


def framed(chart: Chart, width: int, height: int, size: int, *, heading: int, legend: bool) -> Frame:
    """Room for tick labels, axis names, legend and the labels of marks."""
    (lo, hi), y = layout.limits(chart, "x"), layout.limits(chart, "y")
    labels = [layout.tick_label(tick, chart.y) for tick in layout.ticks(*y, chart.y)]
    wide = max((layout.text_width(text, size) for text in labels), default=20)
    label_width = max((layout.text_width(one.label, size) + 10 for one in layout.labelled(chart)), default=0)
    end = layout.text_width(layout.tick_label(hi, chart.x), size) / 2 + 2  # the last tick's label
    left, right = round(wide + size + 18), max(16, round(end), round(min(label_width, 0.3 * width)))
    inner = max(60, width - left - right)
    upright = [mark for mark in chart.marks if mark.axis == "x"]
    most = 1 if height < LOW else 3  # lanes of labels take from the plot
    placed = layout.place(upright, lambda at: layout.position(at, lo, hi, chart.x.scale), inner, size, most)
    lanes = max((one.lane + 1 for one in placed if one.lane is not None), default=0)
    top = heading + (LEGEND if legend else 6) + lanes * LANE
    bottom = 2 * size + 18
    plot = max(40, height - top - bottom)
    return Frame(left, right, top, bottom, inner, plot, heading, round(wide + 10), (lo, hi), y, placed, size)


def by_powers(axis: Axis) -> bool:
    """Whether a log axis is drawn over exponents: ECharts would write 1e-8, and takes no callback for 10⁻⁸."""
    return axis.scale == "log" and axis.format == "power"


def axis_option(chart: Chart, which: Literal["x", "y"], frame: Frame, ground: theme.Ground) -> Option:
    """One axis with its ticks."""
    axis: Axis = getattr(chart, which)
    (lo, hi), size = getattr(frame, which), frame.size
    label: Option = {"color": ground.faint, "fontSize": size, "hideOverlap": True}
    tick: Option = {"show": which == "x", "lineStyle": {"color": ground.faint}}
    drawn: Option = {
        "show": not chart.empty,
        "type": "log" if axis.scale == "log" and not by_powers(axis) else "value",
        "name": axis.name,
        "nameLocation": "middle",
        "nameGap": frame.y_name if which == "y" else size + 12,
        "nameTextStyle": {"color": ground.faint, "fontSize": size, "padding": 0},
        "min": lo,
        "max": hi,
        "containShape": False,
        "axisLine": {"show": which == "x", "onZero": False, "lineStyle": {"color": ground.faint}},
        "splitLine": {"show": which == "y", "lineStyle": {"color": ground.grid}},
        "axisPointer": {"label": {"precision": 0 if axis.format == "count" else "auto"}},
        "axisLabel": label,
        "axisTick": tick,
    }
    if by_powers(axis):
        low, high = layout.exponent(lo), layout.exponent(hi)
        raised = {"fontSize": size - 3, "padding": [0, 0, size // 2, 0]}
        label |= {"formatter": "10{up|{value}}", "rich": {"up": raised}}
        drawn |= {"min": low, "max": high, "interval": math.ceil((high - low) / 6)}
    elif axis.scale == "linear":
        most = 5 if which == "y" else max(3, min(10, int(frame.inner / 64)))
        label["customValues"] = tick["customValues"] = layout.ticks(lo, hi, axis, most)
        drawn["interval"] = layout.tick_step(lo, hi, most, whole=axis.format == "count")
    else:
        label["showMaxLabel"] = layout.exponent(hi).is_integer()
    return drawn


def marks_option(chart: Chart, frame: Frame, beside: list[layout.Beside], dark: bool) -> Option:
    """A series without points that carries the reference lines."""
    ground = theme.ground(dark)
    lines = []
    for one in frame.placed:
        label: Option = {"show": one.lane is not None}
        if one.lane is not None:
            label |= {"position": "end", "align": one.align, "formatter": one.label}
            label["distance"] = [0, 3 + LANE * one.lane]
        lines.append(_line(one.mark, {"xAxis": float(one.mark.at)}, label, dark))
    moved = {id(one.of): one.up for one in beside}
    for mark in chart.marks:
        if mark.axis == "y":
            label = _label_beside(mark, frame, moved) if id(mark) in moved else _level_label(mark, chart, frame)
            lines.append(_line(mark, {"yAxis": _height(mark.at, chart.y)}, label, dark))
    style = {"color": ground.faint, "fontSize": frame.size}
    halo = {"textBorderColor": ground.background, "textBorderWidth": 3}
    return {
        "name": "marks",
        "type": "line",
        "data": [],
        "silent": True,
        "tooltip": {"show": False},
        # without a precision ECharts rounds the place of a line to two decimals
        "markLine": {
            "silent": True,
            "symbol": "none",
            "animation": False,
            "precision": 15,
            "label": style | halo,
            "data": lines,
        },
        "z": 1,
    }


def _height(value: float, axis: Axis) -> float:
    return layout.exponent(value) if by_powers(axis) else float(value)


def _label_beside(mark: Mark, frame: Frame, moved: dict[int, float]) -> Option:
    words = layout.fitted(mark.label, frame.right - 9, frame.size)
    return {"show": True, "position": "end", "formatter": words, "distance": 6, "offset": [0, -moved[id(mark)]]}


def _level_label(mark: Mark, chart: Chart, frame: Frame) -> Option:
    """On the side that the mark asks for, if the plot has room there."""
    lo, hi = frame.y
    below = layout.position(mark.at, lo, hi, chart.y.scale) * frame.plot
    room = frame.size + 7
    above = (mark.side == "above" and frame.plot - below > room) or below <= room
    where = f"inside{mark.place.title()}{'Top' if above else 'Bottom'}"
    return {"show": bool(mark.label), "position": where, "formatter": mark.label, "distance": [4, 3 if above else 6]}


def _line(mark: Mark, at: Option, label: Option, dark: bool) -> Option:
    style = {"color": theme.colour(mark.role, dark), "width": theme.THIN, "type": DASHES[mark.dash]}
    return {**at, "lineStyle": style, "label": label}


FORMATS = {"share": "%.3f", "percent": "%.1f %%", "count": "%,d", "number": "%.4g", "power": "%.1e"}
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
    beside_title: int = 0,
    title_width: int | None = None,
) -> Option:
    """The option; `width` and `height` in pixels are only used to keep labels apart, the chart fits its container.

    The title has room for `title_lines` at least, so that nothing moves when it gets shorter, and is expected to be
    `title_width` wide; `beside_title` pixels to its right belong to something else.
    """
    ground = theme.ground(dark)
    series = [thinned(one, chart) for one in chart.series]
    datasets, places = _datasets(series, chart)
    listed = {one.name: _icon(one) for one in series if one.listed and len(one.x)}
    heading = (
        wrapped(chart.title, max(20, int(((title_width or width) - beside_title) / (0.5 * (size + 2)))))
        if title
        else []
    )
    room = max(len(heading), title_lines if title else 0) * (size + 6)
    frame = framed(chart, width, height, size, heading=room, legend=len(listed) > 1)
    lines = [_series(one, at, place, chart, dark) for at, (one, place) in enumerate(zip(series, places, strict=True))]
    bands = [
        part for at, one in enumerate(series) if one.spread is not None for part in _band(one, at, places[at], dark)
    ]
    labels = layout.labels(chart, frame.inner, frame.plot, frame.size)
    _add_labels(chart, lines, frame, labels, dark)
    drawn: Option = {
        "animation": False,
        "backgroundColor": ground.background,
        "textStyle": {"fontFamily": theme.FONT, "fontSize": size},
        "grid": frame.grid,
        "xAxis": axis_option(chart, "x", frame, ground),
        "yAxis": axis_option(chart, "y", frame, ground),
        "tooltip": _tooltip(chart, ground, size),
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
        drawn["media"] = media(drawn, chart.title if heading else "", size, beside_title)
    return drawn


# -- points --------------------------------------------------------------------------------


def _datasets(series: list[Series], chart: Chart) -> tuple[list[Option], list[tuple[int, int]]]:
    """Arrow tables, and for every series its table and column; series of equal x share one."""
    frames: dict[bytes, dict[str, npt.NDArray[Any]]] = {}
    places = []
    powers = by_powers(chart.y)
    for one in series:
        key = one.x.tobytes()
        frame = frames.setdefault(key, {chart.x.name: _small(one.x)})
        places.append((list(frames).index(key), len(frame)))
        name = _free(one.name, frame)
        if powers:
            frame[_free(f"log₁₀ {one.name}", frame)] = _small(np.log10(one.y))
        frame[name] = _small(one.y)
        if one.spread is not None:
            frame[_free(f"{name} low", frame)] = _small(one.y - one.spread)
            frame[_free(f"{name} width", frame)] = _small(2 * one.spread)
    return [{"source": pa.table(frame)} for frame in frames.values()], places


def _free(name: str, frame: dict[str, Any]) -> str:
    """A column name that is not taken; two ghosts may have the same label."""
    while name in frame:
        name += " "
    return name


def _small(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Four bytes a number: whole numbers exactly, others to six digits."""
    if len(values) and np.all(values == np.round(values)) and np.abs(values).max() < 2**31:
        return values.astype(np.int32)
    return values.astype(np.float32)


def _series(one: Series, at: int, place: tuple[int, int], chart: Chart, dark: bool) -> Option:
    dataset, column = place
    hue = theme.colour(one.role, dark)
    drawn: Option = {
        "name": one.name,
        "datasetIndex": dataset,
        "encode": {"x": 0, "y": column, "tooltip": [column + by_powers(chart.y)]},
        "itemStyle": {"color": hue, "opacity": one.opacity},
        "emphasis": {"disabled": True},
        "z": 2 + at,
    }
    if one.kind == "bar":
        return drawn | {"type": "bar", "barMaxWidth": 48}
    if one.kind == "points":
        return drawn | {"type": "scatter", "symbolSize": 11 if one.label else 5}
    drawn |= {
        "type": "line",
        "lineStyle": {"color": hue, "width": one.width, "type": DASHES[one.dash], "opacity": one.opacity},
        "symbol": "circle" if len(one.x) == 1 else "none",
        "symbolSize": 6,
    }
    if one.kind in STEP:
        drawn["step"] = STEP[one.kind]
    if one.fill or one.kind == "area":
        drawn["areaStyle"] = {"color": hue, "opacity": one.fill or 0.25}
    return drawn


def _band(one: Series, at: int, place: tuple[int, int], dark: bool) -> list[Option]:
    """What lies within the spread of a curve: a line nobody sees, and upon it an area of the band's width."""
    dataset, column = place
    parts: list[Option] = []
    for nth, fill in ((1, 0.0), (2, 0.16)):
        parts.append({
            "name": f"{one.name} ±", "type": "line", "datasetIndex": dataset, "encode": {"x": 0, "y": column + nth},
            "stack": f"band {at}", "stackStrategy": "all", "symbol": "none", "silent": True, "tooltip": {"show": False},
            "lineStyle": {"opacity": 0}, "areaStyle": {"color": theme.colour(one.role, dark), "opacity": fill}, "z": 1,
        })  # fmt: skip
    return parts


def _add_labels(chart: Chart, lines: list[Option], frame: Frame, labels: list[layout.Beside], dark: bool) -> None:
    for label in labels:
        if isinstance(label.of, Mark):
            continue
        hue = theme.colour(label.of.role, dark)
        across = min(1.0, layout.position(label.at[0], *frame.x, chart.x.scale))
        room = frame.right + (1 - across) * frame.inner - 9
        words = layout.fitted(label.of.label, room, frame.size)
        text = {"show": True, "formatter": words, "color": hue, "fontSize": frame.size, "fontWeight": 600}
        at = next(at for at, one in enumerate(chart.series) if one is label.of)
        if lines[at]["type"] == "scatter":
            lines[at]["label"] = {**text, "position": "right", "offset": [0, -label.up]}
        else:
            end = layout.position(float(drawable(chart.series[at], chart).x[-1]), *frame.x, chart.x.scale)
            away = (1 - min(1.0, end)) * frame.inner
            lines[at]["endLabel"] = {**text, "distance": 6, "offset": [away, -label.up]}


# -- around the points ---------------------------------------------------------------------


def _tooltip(chart: Chart, ground: theme.Ground, size: int) -> Option:
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
        "axisPointer": {"type": "line", "lineStyle": {"color": ground.faint, "type": "dotted"}},
    }


def _icon(one: Series) -> str:
    """What the legend shows: a filled box, or a line with its dashes; ECharts would add a dot to every line."""
    if one.fill or one.kind in ("bar", "area"):
        return "roundRect"
    high = round(10 * one.width)
    return "path://" + "".join(f"M{at} 0h{wide}v{high}h-{wide}z" for at, wide in ICONS[one.dash])


def _legend(names: dict[str, str], frame: Frame, ground: theme.Ground, toolbox: bool) -> Option:
    # ECharts forgets what was switched off at the next tick, so nothing can be switched off
    return {
        "type": "scroll",
        "data": [{"name": name, "icon": icon} for name, icon in names.items()],
        "top": frame.heading,
        "left": frame.left - 4,
        "right": 36 if toolbox else 8,
        "itemWidth": 18,
        "itemHeight": 9,
        "itemGap": 12,
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
    text = "\n".join(wrapped(chart.caption, 0.7 * width / (0.5 * size)))
    style = {"color": ground.faint, "fontSize": size + 1, "fontWeight": "normal", "lineHeight": size + 6}
    return [{"text": text, "left": "center", "top": "middle", "padding": 0, "textStyle": style}]
