"""A chart as a Plotly figure: for what stands still and for standalone HTML. The only module that imports plotly."""

import html
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go
from plotly.basedatatypes import BaseTraceType

from ohash.plots import layout, theme
from ohash.plots.chart import Axis, Chart, HeatMap, Mark, Series, band
from ohash.plots.thinning import drawable
from ohash.repr_html import facts_html

Layout = dict[str, Any]  # of Plotly, or a part of it
DASHES = {"solid": "solid", "dashed": "dash", "dotted": "dot"}
MARKERS = {"circle": "circle", "square": "square", "diamond": "diamond", "triangle": "triangle-up", "star": "star"}
STAR = 15  # its points are thin
SHAPES = {"line": "linear", "area": "linear", "step": "hvh", "hold": "hv"}
FORMATS = {"share": ".3f", "percent": ".1f", "count": ",.0f", "number": ".4~g", "power": ".1e"}


# Pixels: a row of labels above the plot, the plot's usual height and width, what lies around it.
LANE, PLOT, WIDTH = 16, 300, 640
NARROWEST = 145  # of a plot with labels beside it: on a phone
WIDEST = 1100  # px of a plot in which names of points must be free, too
ABOVE, BELOW, PAD = 84, 52, 12
LEFT = 64  # px left of a plot, at least
MAX_LEGEND_ABOVE = 8
ROOM = 0.04  # of the height


def figure(chart: Chart, dark: bool = False, width: float = WIDTH) -> go.Figure:
    """The figure, with every point of every series; labels have room where the plot is at least so wide."""
    ground = theme.ground(dark)
    drawn = [drawable(one, chart) for one in chart.series]
    bands = [_band(one, chart.y, dark) for one in drawn if one.spread is not None and len(one.x) > 1]
    font = {"family": theme.FONT, "size": theme.SIZE, "color": ground.ink}
    style = {
        "title": _title(chart.title),
        "font": font,
        "paper_bgcolor": ground.background,
        "plot_bgcolor": ground.background,
        "hovermode": "x unified",
        "hoverlabel": {"bgcolor": ground.background, "font": font},
        "showlegend": sum(one.listed for one in chart.series) > 1,
        "xaxis": _axis(chart, "x", ground),
        "yaxis": _axis(chart, "y", ground),
        "bargap": 0.25,
    }
    fig = go.Figure([*bands, *(_trace(one, chart, dark) for one in drawn)], style)  # later changes take much longer
    lanes = _add_marks(fig, chart, dark, width)
    fig.layout.height = ABOVE + LANE * lanes + PLOT + BELOW
    fig.layout.margin = {"l": _left_of(chart), "r": 24, "t": ABOVE + LANE * lanes, "b": BELOW}
    fig.layout.legend = _legend(chart, lanes)
    _add_labels(fig, chart, dark, width)
    if chart.empty:
        middle = {"xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5, "showarrow": False}
        fig.add_annotation(text=html.escape(chart.caption), font={"color": ground.faint}, **middle)
    return fig


def _left_of(chart: Chart) -> int:
    """Room left of the plot for the longest tick of the y axis and the name of the axis beside it."""
    ticks = layout.ticks(*layout.limits(chart, "y"), chart.y)
    longest = max((layout.text_width(layout.tick_label(at, chart.y), theme.SIZE) for at in ticks), default=0.0)
    return max(LEFT, round(longest + 2 * theme.SIZE))


def height_of_labels(fig: go.Figure) -> int:
    """What the labels of upright lines take above the plot."""
    return max((LANE + one.yshift for one in fig.layout.annotations if one.yref == "y domain"), default=0)


def stack_linked(upper: Chart, lower: Chart, dark: bool = False) -> go.Figure:
    """Two charts of the same lines over the same x, one above the other: the pointer reads both at once."""
    fig, other = figure(upper, dark), figure(lower, dark)
    for chart, drawn in ((upper, fig), (lower, other)):
        for trace in drawn.data:
            trace.hovertemplate = (
                trace.hovertemplate and f"{html.escape(chart.y.name.partition(' of ')[0])} {trace.hovertemplate}"
            )
    for trace in other.data:
        trace.yaxis, trace.showlegend = "y2", False
    fig.add_traces(other.data)
    fig.layout.yaxis2 = _axis(lower, "y", theme.ground(dark)) | {"domain": [0, 0.46]}
    fig.layout.yaxis.domain, fig.layout.xaxis.anchor, fig.layout.hoversubplots = [0.54, 1], "y2", "axis"
    return fig


def _title(text: str) -> Layout:
    """At the upper edge, whatever stands between it and the plot."""
    at = {"x": 0, "xref": "paper", "y": 1, "yref": "container", "yanchor": "top", "pad": {"t": PAD}}
    return {"text": html.escape(text), "font": {"size": theme.SIZE + 3}, **at}


def _legend(chart: Chart, lanes: int) -> Layout:
    """A row or two above the plot; where there are many lines, below it, one column per group."""
    if has_long_legend(chart):
        return {"orientation": "h", "x": 0, "xref": "container", "y": 0, "yref": "container", "yanchor": "bottom"}
    return {"orientation": "h", "x": 0, "y": 1.02 + LANE * lanes / PLOT, "yanchor": "bottom"}


def has_long_legend(chart: Chart) -> bool:
    """Whether the legend has more entries than two rows above a plot can hold."""
    return sum(one.listed for one in chart.series) > MAX_LEGEND_ABOVE


def pickable(chart: Chart, dark: bool = False) -> go.Figure:
    """The figure with points that can be clicked: large, whole at the edges, and they alone answer the pointer."""
    fig = figure(chart, dark)
    fig.update_layout(hovermode="closest", hoverdistance=24, dragmode=False)
    lo, hi = fig.layout.yaxis.range
    room = ROOM * (hi - lo)  # a point on the frame would lie half outside of what answers the pointer
    fig.update_yaxes(range=[lo - room, hi + room])
    for mode in ("lines", "lines+markers"):
        fig.update_traces(hoverinfo="skip", hovertemplate=None, selector={"mode": mode})
    for trace in fig.select_traces(selector={"mode": "markers"}):
        hover = f"%{{y:{FORMATS[chart.y.format]}}}" if trace.text is None else "%{text}"
        size = max(11, trace.marker.size)
        trace.update(marker_size=size, cliponaxis=False, hoverinfo=None, hovertemplate=hover)
    return fig


def to_html(
    charts: Chart | Sequence[Chart], dark: bool = False, title: str = "ohash", facts: Mapping[str, str] | None = None
) -> str:
    """A page that needs no network: what it is about, every figure with its caption, the library once.

    `facts` are named texts, such as the data set and the seed; an address becomes a link.
    """
    several = [charts] if isinstance(charts, Chart) else list(charts)
    ground = theme.ground(dark)
    style = f"body{{font-family:{theme.FONT};max-width:60rem;margin:2rem auto;padding:0 1rem;"
    style += f"color:{ground.ink};background:{ground.background}}}p{{color:{ground.faint}}}"
    style += "h1{font-size:1.3rem}dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}dd{margin:0}"
    style += "a{overflow-wrap:anywhere}"
    parts = ["<!doctype html>", '<html lang="en"><head><meta charset="utf-8">', f"<title>{html.escape(title)}</title>"]
    parts.append(f"<style>{style}</style></head><body>")
    if facts:
        parts.append(f"<h1>{html.escape(title)}</h1><dl>{facts_html(facts)}</dl>")
    for at, chart in enumerate(several):
        body = figure(chart, dark).to_html(include_plotlyjs=at == 0, full_html=False)
        label = html.escape(chart.alt or chart.title, quote=True)
        parts.append(f'<figure role="img" aria-label="{label}">{body}<p>{html.escape(chart.caption)}</p></figure>')
    return "\n".join([*parts, "</body></html>"])


def _trace(series: Series, chart: Chart, dark: bool) -> BaseTraceType:
    hue = theme.colour(series.role, dark)
    common: Layout = {
        "name": html.escape(series.name),
        "x": series.x,
        "y": series.y,
        "showlegend": series.listed,
        "opacity": series.opacity,
    }
    if series.group:
        common["legendgroup"] = series.group
    common["hovertemplate"] = f"%{{y:{FORMATS[chart.y.format]}}}{' %' if chart.y.format == 'percent' else ''}"
    if series.kind == "bar":
        return go.Bar(marker_color=hue, **common)
    if series.notes:
        common |= {"text": [html.escape(note) for note in series.notes], "hovertemplate": "%{text}"}
    size = STAR if series.marker == "star" else 7 if series.marker else 6
    marker = {"color": hue, "size": size, "symbol": MARKERS[series.marker or "circle"]}
    if series.kind == "points" or len(series.x) == 1:
        if any(_accompanies(series, other) for other in chart.series):
            common |= {"hoverinfo": "skip", "hovertemplate": None}  # the line says it
        return go.Scatter(mode="markers", marker=marker, cliponaxis=len(series.x) > 1, **common)  # whole at the edge
    if series.fill or series.kind == "area":
        common |= {"fill": "tozeroy", "fillcolor": _transparent(hue, series.fill or 0.25)}
    line = {"color": hue, "width": series.width, "dash": DASHES[series.dash], "shape": SHAPES[series.kind]}
    if series.marker is None:
        return go.Scatter(mode="lines", line=line, **common)
    return go.Scatter(mode="lines+markers", line=line, marker=marker, **common)


def _accompanies(points: Series, line: Series) -> bool:
    return line.kind == "line" and line.name == points.name and len(line.x) == len(points.x) > 1


def _band(series: Series, axis: Axis, dark: bool) -> go.Scatter:
    """What lies within the spread of a curve."""
    low, high = band(series, axis)
    x, y = np.r_[series.x, series.x[::-1]], np.r_[high, low[::-1]]
    fill = _transparent(theme.colour(series.role, dark), 0.18)
    shape = {"x": x, "y": y, "fill": "toself", "fillcolor": fill, "line": {"width": 0}}
    return go.Scatter(mode="lines", hoverinfo="skip", showlegend=False, name=f"{series.name} ± spread", **shape)


def heat_figure(heat: HeatMap, dark: bool = False) -> go.Figure:
    """A heat map; cells that are not known are empty."""
    ground = theme.ground(dark)
    font = {"family": theme.FONT, "size": theme.SIZE, "color": ground.ink}
    hue = theme.colour("now", dark)
    colours = [[0.0, _blend(hue, ground.background, 0.1)], [1.0, hue]]
    bar = {"title": {"text": html.escape(heat.value)}, "outlinewidth": 0, "thickness": 12}
    fig = go.Figure(
        go.Heatmap(
            x=list(heat.x), y=list(heat.y), z=heat.z, text=heat.texts(), texttemplate="%{text}", colorscale=colours,
            colorbar=bar, hoverinfo="skip", xgap=2, ygap=2, hoverongaps=False,
        )
    )  # fmt: skip
    places = [(name, other, [column, row]) for row, other in enumerate(heat.y) for column, name in enumerate(heat.x)]
    fig.add_scatter(  # invisible, and there to be clicked: a heat map itself cannot be
        x=[one[0] for one in places], y=[one[1] for one in places], customdata=[one[2] for one in places],
        mode="markers", marker={"size": 34, "symbol": "square", "opacity": 0}, showlegend=False,
        text=[html.escape(note) for note in heat.notes]
        or [f"{value:.4g}" if np.isfinite(value) else "not finished" for value in heat.z.ravel()],
        hovertemplate="%{x}, %{y}: %{text}<extra></extra>",
    )  # fmt: skip
    for row, column in heat.best:
        fig.add_shape(
            type="rect", x0=column - 0.48, x1=column + 0.48, y0=row - 0.48, y1=row + 0.48,
            line={"color": ground.ink, "width": 2.5},
        )  # fmt: skip
    axis = {"type": "category", "showgrid": False, "zeroline": False}
    fig.update_layout(
        title={"text": html.escape(heat.title), "x": 0, "xref": "paper"}, font=font, paper_bgcolor=ground.background,
        plot_bgcolor=ground.background, hoverlabel={"bgcolor": ground.background, "font": font},
        margin={"l": LEFT, "r": 24, "t": 60, "b": 52}, hovermode="closest", hoverdistance=-1, dragmode=False,
        xaxis={**axis, "title": {"text": html.escape(heat.x_label)}},
        yaxis={**axis, "title": {"text": html.escape(heat.y_label)}},
    )  # fmt: skip
    return fig


def _add_marks(fig: go.Figure, chart: Chart, dark: bool, width: float) -> int:
    """Lines and their labels; returns the rows that labels of upright lines take above the plot."""
    font = {"color": theme.ground(dark).faint, "size": theme.SIZE - 1}
    (lo, hi), x, lanes = layout.limits(chart, "x"), chart.x, 0
    upright = [mark for mark in chart.marks if mark.axis == "x"]
    for one in layout.place(upright, lambda at: layout.position(at, lo, hi, x.scale), width, theme.SIZE - 1):
        at = one.mark.at
        _add_line(fig, one.mark, dark, {"xref": "x", "yref": "y domain", "x0": at, "x1": at, "y0": 0, "y1": 1})
        if one.lane is not None:
            lanes = max(lanes, one.lane + 1)
            where = {"xref": "x", "yref": "y domain", "x": layout.exponent(at) if x.scale == "log" else at, "y": 1}
            align = {"xanchor": one.align, "yanchor": "bottom", "yshift": LANE * one.lane, "showarrow": False}
            fig.add_annotation(text=html.escape(one.label), font=font, **where, **align)
    for mark in chart.marks:
        if mark.axis == "y":
            across = {"xref": "x domain", "yref": "y", "x0": 0, "x1": 1, "y0": mark.at, "y1": mark.at}
            _add_line(fig, mark, dark, across)
    return lanes


def _add_labels(fig: go.Figure, chart: Chart, dark: bool, width: float) -> None:
    """Words beside the plot, at the height of their lines, moved up or down where they would overlap."""
    narrowest = min(width, NARROWEST)
    labels = layout.labels(chart, width, PLOT, theme.SIZE, narrowest, widest=max(width, WIDEST))
    for one in labels:
        at = [layout.exponent(value) if axis.scale == "log" else value
              for value, axis in zip(one.at, (chart.x, chart.y), strict=True)]  # fmt: skip
        font = {"color": theme.text_colour(one.of.role, dark), "size": theme.SIZE}
        across = one.across if one.across is not None else 0 if one.over else 8
        fig.add_annotation(
            text=html.escape(one.of.label), x=at[0], y=at[1], xshift=across, yshift=one.up, showarrow=False, font=font,
            xanchor="right" if one.over else "left",
        )  # fmt: skip
        if one.leader is not None:
            line = {"color": theme.ground(dark).faint, "width": theme.THIN}
            pixels = {"xsizemode": "pixel", "ysizemode": "pixel", "xanchor": at[0], "yanchor": at[1]}
            ends = {"x0": 0, "y0": 0, "x1": one.leader[0], "y1": one.leader[1]}
            fig.add_shape(type="line", line=line, layer="below", **pixels, **ends)
    if labels:
        x_ends = layout.limits(chart, "x")
        beyond = [
            _beyond(one, layout.position(one.at[0], *x_ends, chart.x.scale) * narrowest - narrowest) for one in labels
        ]
        fig.update_layout(margin_r=24 + round(max(0.0, *beyond)))


def _beyond(label: layout.SideLabel, at: float) -> float:
    """How far a label reaches beyond the right end of the plot, its point `at` that end; if a line's, all of it."""
    wide = layout.text_width(label.of.label, theme.SIZE)
    if label.across is None:
        return wide
    return max(0.0, at + label.across + (0.0 if label.over else wide))


def _add_line(fig: go.Figure, mark: Mark, dark: bool, ends: Layout) -> None:
    line = {"color": theme.colour(mark.role, dark), "width": theme.THIN, "dash": DASHES[mark.dash]}
    fig.add_shape(type="line", line=line, layer="above", **ends)


def _axis(chart: Chart, which: Literal["x", "y"], ground: theme.Ground) -> Layout:
    axis: Axis = getattr(chart, which)
    lo, hi = layout.limits(chart, which)
    at = layout.ticks(lo, hi, axis, 8 if which == "x" else 5)
    ends = [lo, hi]
    if axis.scale == "log":
        ends = [layout.exponent(lo), layout.exponent(hi)]
    return {
        "title": {"text": html.escape(axis.name)},
        "type": axis.scale,
        "range": ends,
        "tickvals": at,
        "ticktext": [layout.tick_label(value, axis) for value in at],
        "hoverformat": FORMATS[axis.format],
        "gridcolor": ground.grid,
        "linecolor": ground.faint,
        "showgrid": which == "y",
        "showline": which == "x",
        "ticks": "outside" if which == "x" else "",
        "zeroline": False,
        "visible": not chart.empty,
    }


def _blend(hue: str, background: str, share: float) -> str:
    """An opaque mixture: Plotly chooses the colour of a text on it, and does not see through a transparent one."""
    parts = zip(_rgb(hue), _rgb(background), strict=True)
    return f"rgb({','.join(str(round(share * one + (1 - share) * other)) for one, other in parts)})"


def _transparent(hue: str, opacity: float) -> str:
    red, green, blue = _rgb(hue)
    return f"rgba({red},{green},{blue},{opacity:g})"


def _rgb(hue: str) -> tuple[int, int, int]:
    red, green, blue = (int(hue[at : at + 2], 16) for at in (1, 3, 5))
    return red, green, blue
