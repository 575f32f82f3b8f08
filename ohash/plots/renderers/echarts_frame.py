"""The frame of an ECharts chart: margins, axes and reference lines, so placed that no label is cut off or covered."""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

from ohash.plots import layout, theme
from ohash.plots.chart import Axis, Chart, Mark

Option = dict[str, Any]
DASHES = {"solid": "solid", "dashed": [6, 4], "dotted": [2, 3]}
LEGEND, LANE = 1.8, 1.25  # heights of the legend and of a row of labels, in sizes of type
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
    placed: list[layout.PlacedMark]
    size: int

    @property
    def lane(self) -> int:
        """The height of a row of labels."""
        return round(LANE * self.size)

    @property
    def grid(self) -> Option:
        """The margins; ECharts 6 would add its own for labels that have room already."""
        margins = {"left": self.left, "right": self.right, "top": self.top, "bottom": self.bottom}
        return {**margins, "outerBoundsMode": "none"}


def frame_of(chart: Chart, width: int, height: int, size: int, *, heading: int, legend: bool) -> Frame:
    """Room for tick labels, axis names, legend and the labels of marks."""
    (lo, hi), y = layout.limits(chart, "x"), layout.limits(chart, "y")
    labels = [layout.tick_label(tick, chart.y) for tick in layout.ticks(*y, chart.y)]
    wide = max((layout.text_width(text, size) for text in labels), default=20)
    label_width = max((layout.text_width(one.label, size) + 10 for one in layout.with_labels(chart)), default=0)
    end = layout.text_width(layout.tick_label(hi, chart.x), size) / 2 + 2  # the last tick's label
    left, right = round(wide + size + 18), max(16, round(end), round(min(label_width, 0.3 * width)))
    inner = max(60, width - left - right)
    upright = [mark for mark in chart.marks if mark.axis == "x"]
    limit = 1 if height < LOW else 3  # lanes of labels take from the plot
    placed = layout.place(upright, lambda at: layout.position(at, lo, hi, chart.x.scale), inner, size, limit)
    lanes = max((one.lane + 1 for one in placed if one.lane is not None), default=0)
    top = heading + (round(LEGEND * size) if legend else 6) + lanes * round(LANE * size)
    bottom = 2 * size + 18
    plot = max(40, height - top - bottom)
    return Frame(left, right, top, bottom, inner, plot, heading, round(wide + 10), (lo, hi), y, placed, size)


def enlarge(frame: Frame, chart: Chart, factor: float, width: int, height: int) -> Frame:
    """The frame of the same chart in another size, with type and margins `factor` times as large."""
    names = "left", "right", "top", "bottom", "heading", "y_name"
    sides = {name: round(factor * getattr(frame, name)) for name in names}
    inner, plot = width - sides["left"] - sides["right"], height - sides["top"] - sides["bottom"]
    size = round(factor * frame.size)
    lanes = max((one.lane + 1 for one in frame.placed if one.lane is not None), default=1)
    upright = [one.mark for one in frame.placed]
    placed = layout.place(upright, lambda at: layout.position(at, *frame.x, chart.x.scale), inner, size, lanes)
    return replace(frame, **sides, inner=inner, plot=plot, size=size, placed=placed)


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
        limit = 5 if which == "y" else max(3, min(10, int(frame.inner / 64)))
        label["customValues"] = tick["customValues"] = layout.ticks(lo, hi, axis, limit)
        drawn["interval"] = layout.tick_step(lo, hi, limit, whole=axis.format == "count")
    else:
        label["showMaxLabel"] = layout.exponent(hi).is_integer()
    return drawn


def marks_option(chart: Chart, frame: Frame, side_labels: list[layout.SideLabel], dark: bool) -> Option:
    """A series without points that carries the reference lines."""
    ground = theme.ground(dark)
    lines = []
    for one in frame.placed:
        label: Option = {"show": one.lane is not None}
        if one.lane is not None:
            label |= {"position": "end", "align": one.align, "formatter": one.label}
            label["distance"] = [0, 3 + frame.lane * one.lane]
        lines.append(_line(one.mark, {"xAxis": float(one.mark.at)}, label, dark))
    moved = {id(one.of): one.up for one in side_labels}
    for mark in chart.marks:
        if mark.axis == "y":
            label = _label_beside(mark, frame, moved) if id(mark) in moved else {"show": False}
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
    words = layout.truncate(mark.label, frame.right - 9, frame.size)
    return {"show": True, "position": "end", "formatter": words, "distance": 6, "offset": [0, -moved[id(mark)]]}


def _line(mark: Mark, at: Option, label: Option, dark: bool) -> Option:
    style = {"color": theme.colour(mark.role, dark), "width": theme.THIN, "type": DASHES[mark.dash]}
    return {**at, "lineStyle": style, "label": label}
