"""A chart as a small SVG for print: real text, sizes in millimetres and points.

The other two renderers need a browser to make a file: ECharts draws in the page, and Plotly exports by way of Chrome.
"""

import zlib
from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from ohash.core.arrays import Numbers
from ohash.plots import layout, theme
from ohash.plots.chart import Chart, HeatMap, Mark, Marker, Series, band
from ohash.plots.thinning import drawable

POINT = 25.4 / 72  # millimetres
DASHES = {"solid": "", "dashed": ' stroke-dasharray="4 2.6"', "dotted": ' stroke-dasharray="1.2 1.8"'}
LEGEND = 0.2  # share of the height that a legend may take from the plot
ROW, AROUND_ROWS = 4.5, 24  # millimetres of a row of a figure with one row per name, and of what is around them
# Corners around a point.
SHAPES: dict[Marker, Numbers] = {
    "square": np.array([[-1.3, 1.3, 1.3, -1.3], [-1.3, -1.3, 1.3, 1.3]]),
    "diamond": np.array([[0, 1.9, 0, -1.9], [-1.9, 0, 1.9, 0]]),
    "triangle": np.array([[0, 1.8, -1.8], [-1.9, 1.2, 1.2]]),
    "star": np.tile([2.6, 1.1], 5) * np.array([np.sin(np.arange(10) * np.pi / 5), -np.cos(np.arange(10) * np.pi / 5)]),
}


def to_svg(
    chart: Chart,
    *,
    width: float = 88,
    height: float = 58,
    size: float = 8,
    dark: bool = False,
    heading: bool = True,
) -> str:
    """The figure, `width` x `height` millimetres (88 is one column of a journal), type of `size` points.

    A long legend and many rows of names make it higher, so that the plot stays readable. Without `heading` the title
    is not drawn, for a page that has it as text.
    """
    height = max(height, ROW * len(chart.y.names) + AROUND_ROWS if chart.y.names else 0)
    return _Figure(chart, width / POINT, height / POINT, size, dark, heading=heading).text()


class _Figure:
    """Everything in points; (0, 0) is the top left corner."""

    def __init__(
        self, chart: Chart, width: float, height: float, size: float, dark: bool, *, heading: bool = True
    ) -> None:
        self.chart, self.width, self.height, self.size, self.dark = chart, width, height, size, dark
        self.ground = theme.ground(dark)
        self.x_ends, self.y_ends = layout.limits(chart, "x"), layout.limits(chart, "y")
        self.y_ticks = layout.ticks(*self.y_ends, chart.y)
        wide = max((layout.text_width(layout.tick_label(at, chart.y), size) for at in self.y_ticks), default=0)
        label_width = max(
            (layout.text_width(one.label, size) + 0.6 * size for one in layout.with_labels(chart)), default=0
        )
        end = layout.text_width(layout.tick_label(layout.limits(chart, "x")[1], chart.x), size) / 2 + 2
        self.left, self.right = wide + 2.1 * size, width - max(1.2 * size, end, min(label_width, 0.4 * width))
        self.listed = [one for one in chart.series if one.listed and len(one.x)]
        self.rows = self._legend_rows() if len(self.listed) > 1 else []
        self.height += max(0.0, 1.4 * size * len(self.rows) - LEGEND * height)
        upright = [mark for mark in chart.marks if mark.axis == "x"]
        self.placed = layout.place(upright, self._share, self.right - self.left, size)
        lanes = max((one.lane + 1 for one in self.placed if one.lane is not None), default=0)
        self.title = _wrap(chart.title, (width - size) / (layout.CHARACTER * size * 1.1)) if heading else []
        self.top = size * (0.6 + 1.4 * len(self.title) + 1.4 * len(self.rows) + 1.25 * lanes + 0.4)
        self.bottom = self.height - 3.4 * size

    def text(self) -> str:
        millimetres = (self.width * POINT, self.height * POINT)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{millimetres[0]:.4g}mm" height="{millimetres[1]:.4g}mm" '
            f'viewBox="0 0 {self.width:.2f} {self.height:.2f}" role="img" font-family={quoteattr(theme.FONT)} '
            f'font-size="{self.size:g}" fill="{self.ground.ink}">'
        )
        parts = [head, f"<title>{escape(self.chart.title)}</title>", f"<desc>{escape(self.chart.alt)}</desc>"]
        parts.append(f'<rect width="{self.width:.2f}" height="{self.height:.2f}" fill="{self.ground.background}"/>')
        for row, line in enumerate(self.title):
            style = f'font-size="{1.1 * self.size:g}" font-weight="600"'
            parts.append(_text(line, 0.5 * self.size, self.size * (1.3 + 1.4 * row), style))
        if self.chart.empty:
            for row, line in enumerate(_wrap(self.chart.caption, 0.8 * self.width / (layout.CHARACTER * self.size))):
                where = (self.width / 2, self.height / 2 + 1.4 * self.size * row)
                parts.append(_text(line, *where, f'text-anchor="middle" fill="{self.ground.faint}"'))
            return "\n".join([*parts, "</svg>"]) + "\n"
        parts += [*self._legend(), *self._axes()]
        box = self._box()
        name = f"plot-{zlib.crc32(box.encode()):08x}"  # of this very box: a page may hold many figures
        parts.append(f'<clipPath id="{name}">{box}</clipPath><g clip-path="url(#{name})" fill="none">')
        curves = [drawable(one, self.chart) for one in self.chart.series]
        lone = [one for one in curves if len(one.x) == 1 and one.kind != "bar"]
        parts += [self._curve(one) for one in curves if one not in lone]
        points = [self._curve(one) for one in lone]  # whole at the edge
        return "\n".join([*parts, "</g>", *self._marks(), *points, *self._labels(), "</svg>"]) + "\n"

    # -- places ---------------------------------------------------------------------------------------------------

    def _share(self, value: float) -> float:
        return layout.position(value, self.x_ends[0], self.x_ends[1], self.chart.x.scale)

    def _x(self, value: float) -> float:
        return self.left + self._share(value) * (self.right - self.left)

    def _y(self, value: float) -> float:
        up = layout.position(value, self.y_ends[0], self.y_ends[1], self.chart.y.scale)
        return self.bottom - up * (self.bottom - self.top)

    def _box(self) -> str:
        size = f'width="{self.right - self.left:.2f}" height="{self.bottom - self.top + 1:.2f}"'
        return f'<rect x="{self.left:.2f}" y="{self.top - 1:.2f}" {size}/>'

    # -- parts ----------------------------------------------------------------------------------------------------

    def _axes(self) -> list[str]:
        parts, size, faint = [], self.size, self.ground.faint
        for at in self.y_ticks:
            y = self._y(at)
            parts.append(stroke(self.left, y, self.right, y, self.ground.grid, 0.5))
            label = layout.tick_label(at, self.chart.y)
            parts.append(_text(label, self.left - 0.5 * size, y + 0.35 * size, f'text-anchor="end" fill="{faint}"'))
        parts.append(stroke(self.left, self.bottom, self.right, self.bottom, faint, 0.75))
        max_length = max(2, int((self.right - self.left) / (6 * size)))
        for at in layout.ticks(*self.x_ends, self.chart.x, max_length):
            x = self._x(at)
            parts.append(stroke(x, self.bottom, x, self.bottom + 2.5, faint, 0.75))
            label = layout.tick_label(at, self.chart.x)
            parts.append(_text(label, x, self.bottom + 1.35 * size, f'text-anchor="middle" fill="{faint}"'))
        middle = (self.left + self.right) / 2
        parts.append(_text(self.chart.x.name, middle, self.height - 0.7 * size, 'text-anchor="middle"'))
        long = layout.text_width(self.chart.y.name, size)
        upright = min((self.top + self.bottom) / 2, self.height - long / 2 - 2)
        turn = f'text-anchor="middle" transform="rotate(-90 {size:.2f} {upright:.2f})"'
        parts.append(_text(self.chart.y.name, size, upright, turn))
        return parts

    def _curve(self, series: Series) -> str:
        if not len(series.x):
            return ""
        hue = theme.colour(series.role, self.dark)
        x, y = np.array([self._x(value) for value in series.x]), np.array([self._y(value) for value in series.y])
        if series.kind == "bar":
            half = 0.36 * self._between_bars()
            box = "".join(
                _path([a - half, a - half, a + half, a + half], [self.bottom, b, b, self.bottom])
                for a, b in zip(x, y, strict=True)
            )
            return f'<path d="{box}" fill="{hue}" fill-opacity="{series.opacity:g}"/>'
        if series.kind == "points" or len(x) == 1:
            scale = 1.5 * self.size / 8 if len(x) == 1 else 1.0
            dots = "".join(dot(a, b, series.marker or "circle", scale) for a, b in zip(x, y, strict=True))
            return f'<g fill="{hue}" fill-opacity="{series.opacity:g}">{dots}</g>'
        x, y = _corners(x, y, series.kind)
        parts = []
        if series.spread is not None:
            ends = [[self._y(value) for value in edge] for edge in reversed(band(series, self.chart.y))]
            outline = _path([*x, *x[::-1]], [*ends[0], *ends[1][::-1]])
            parts.append(f'<path d="{outline}Z" fill="{hue}" fill-opacity="0.18"/>')
        if series.fill or series.kind == "area":
            area = _path([x[0], *x, x[-1]], [self.bottom, *y, self.bottom])
            parts.append(f'<path d="{area}Z" fill="{hue}" fill-opacity="{series.fill or 0.25:g}"/>')
        style = f'stroke="{hue}" stroke-width="{0.55 * series.width:.3g}" stroke-opacity="{series.opacity:g}"'
        style += DASHES[series.dash]
        parts.append(f'<path d="{_path(x, y)}" {style} stroke-linejoin="round"/>')
        return "".join(parts)

    def _between_bars(self) -> float:
        """The least distance of two bars, of whichever series: all bars of a chart are equally wide."""
        bars = [drawable(one, self.chart).x for one in self.chart.series if one.kind == "bar"]
        places = np.unique([self._x(value) for x in bars for value in x])
        return float(np.diff(places).min()) if len(places) > 1 else (self.right - self.left) / 2

    def _marks(self) -> list[str]:
        parts = []
        for placed in self.placed:
            mark, x = placed.mark, self._x(placed.mark.at)
            parts.append(self._rule(mark, x, self.top, x, self.bottom))
            if placed.lane is not None:
                anchor = {"left": "start", "center": "middle", "right": "end"}[placed.align]
                y = self.top - self.size * (0.35 + 1.25 * placed.lane)
                parts.append(_text(placed.label, x, y, f'text-anchor="{anchor}" fill="{self.ground.faint}"'))
        for mark in self.chart.marks:
            if mark.axis == "y":
                y = self._y(mark.at)
                parts.append(self._rule(mark, self.left, y, self.right, y))
        return parts

    def _labels(self) -> list[str]:
        """Words beside the plot, at the height of their lines, moved up or down where they would overlap."""
        size, parts = self.size, []
        for one in layout.labels(self.chart, self.right - self.left, self.bottom - self.top, size):
            x, y = self._x(one.at[0]), self._y(one.at[1])
            if one.leader is not None:
                parts.append(stroke(x, y, x + one.leader[0], y - one.leader[1], self.ground.faint, 0.4))
            across = one.across if one.across is not None else 0 if one.over else 0.5 * size
            style = f'fill="{theme.text_colour(one.of.role, self.dark)}"' + (' text-anchor="end"' if one.over else "")
            parts.append(_text(one.of.label, x + across, y - one.up + 0.35 * size, style))
        return parts

    def _rule(self, mark: Mark, x1: float, y1: float, x2: float, y2: float) -> str:
        return stroke(x1, y1, x2, y2, theme.colour(mark.role, self.dark), 0.6, DASHES[mark.dash])

    def _legend_rows(self) -> list[list[Series]]:
        """A group begins a row of its own, unless all are of one line."""
        several = len({one.group for one in self.listed}) < len(self.listed)
        rows: list[list[Series]] = [[]]
        used = 0.0
        for one in self.listed:
            wide = layout.text_width(one.name, self.size) + 3.2 * self.size
            other = several and bool(rows[-1]) and one.group != rows[-1][-1].group
            if rows[-1] and (other or used + wide > self.width - self.left):
                rows.append([])
                used = 0.0
            rows[-1].append(one)
            used += wide
        return rows

    def _legend(self) -> list[str]:
        parts = []
        for row, several in enumerate(self.rows):
            x, y = self.left, self.size * (0.9 + 1.4 * (len(self.title) + row))
            for one in several:
                hue, size = theme.colour(one.role, self.dark), self.size
                if one.fill or one.kind == "bar":
                    box = f'x="{x:.2f}" y="{y - 0.4 * size:.2f}" width="{1.6 * size:.2f}" height="{0.7 * size:.2f}"'
                    parts.append(f'<rect {box} fill="{hue}"/>')
                else:
                    if one.kind != "points":
                        parts.append(stroke(x, y, x + 1.6 * size, y, hue, 0.55 * one.width, DASHES[one.dash]))
                    if one.kind == "points" or one.marker is not None:
                        scale = 1.5 * size / 8 if one.marker is None else 1.0
                        parts.append(f'<g fill="{hue}">{dot(x + 0.8 * size, y, one.marker or "circle", scale)}</g>')
                parts.append(_text(one.name, x + 2 * size, y + 0.35 * size))
                x += layout.text_width(one.name, size) + 3.2 * size
        return parts


def _corners(x: Numbers, y: Numbers, kind: str) -> tuple[Numbers, Numbers]:
    """A line as it is; steps with a corner halfway between the points, or at the next point."""
    if kind == "step":
        edges = np.r_[x[0] - (x[1] - x[0]) / 2, (x[1:] + x[:-1]) / 2, x[-1] + (x[-1] - x[-2]) / 2]
        return np.repeat(edges, 2)[1:-1], np.repeat(y, 2)
    if kind == "hold":
        return np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]
    return x, y


def dot(x: float, y: float, marker: Marker, scale: float = 1.0) -> str:
    """A point; the shapes cover about the same area."""
    if marker == "circle":
        return f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{1.4 * scale:.3g}"/>'
    return f'<path d="{_path(*(np.array([[x], [y]]) + scale * SHAPES[marker]))}Z"/>'


def _path(x: Iterable[float], y: Iterable[float]) -> str:
    return "M" + "L".join(f"{a:.2f} {b:.2f}" for a, b in zip(x, y, strict=True))


def stroke(x1: float, y1: float, x2: float, y2: float, hue: str, width: float, dash: str = "") -> str:
    return f'<path d="M{x1:.2f} {y1:.2f}L{x2:.2f} {y2:.2f}" stroke="{hue}" stroke-width="{width:.3g}"{dash}/>'


def _text(text: str, x: float, y: float, style: str = "") -> str:
    return f'<text x="{x:.2f}" y="{y:.2f}" {style}>{escape(text)}</text>'


def _wrap(text: str, max_length: float) -> list[str]:
    lines: list[str] = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > max_length:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def heat_to_svg(heat: HeatMap, *, width: float = 88, height: float = 58, size: float = 8, dark: bool = False) -> str:
    """A heat map for print: the number in every cell, the best framed."""
    w, h, ground = width / POINT, height / POINT, theme.ground(dark)
    title = _wrap(heat.title, (w - size) / (layout.CHARACTER * size * 1.1))
    texts, finite = heat.texts(), heat.z[np.isfinite(heat.z)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    left = max(layout.text_width(name, size) for name in heat.y) + 2.4 * size
    top, right, bottom = size * (1.0 + 1.4 * len(title)), w - 0.8 * size, h - 3.4 * size
    wide, tall = (right - left) / len(heat.x), (bottom - top) / len(heat.y)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.4g}mm" height="{height:.4g}mm" '
        f'viewBox="0 0 {w:.2f} {h:.2f}" role="img" font-family={quoteattr(theme.FONT)} font-size="{size:g}" '
        f'fill="{ground.ink}">',
        f"<title>{escape(heat.title)}</title><desc>{escape(heat.alt)}</desc>",
        f'<rect width="{w:.2f}" height="{h:.2f}" fill="{ground.background}"/>',
    ]
    for row, line in enumerate(title):
        style = f'font-size="{1.1 * size:g}" font-weight="600"'
        parts.append(_text(line, 0.5 * size, size * (1.3 + 1.4 * row), style))
    hue = theme.colour("now", dark)
    for row, name in enumerate(heat.y):
        y = bottom - (row + 1) * tall  # the first row is the lowest, as on screen
        parts.append(_text(name, left - 0.5 * size, y + tall / 2 + 0.35 * size, 'text-anchor="end"'))
        for column, text in enumerate(texts[row]):
            value, x = float(heat.z[row, column]), left + column * wide
            share = 0.1 + 0.6 * (value - low) / (high - low) if high > low and np.isfinite(value) else 0.1
            frame = f' stroke="{ground.ink}" stroke-width="1.2"' if (row, column) in heat.best else ""
            box = f'x="{x + 0.5:.2f}" y="{y + 0.5:.2f}" width="{wide - 1:.2f}" height="{tall - 1:.2f}"'
            parts.append(f'<rect {box} fill="{hue}" fill-opacity="{share if text else 0:.3f}"{frame}/>')
            shown = text.removeprefix("0") if layout.text_width(text, size) < wide else ""
            parts.append(_text(shown, x + wide / 2, y + tall / 2 + 0.35 * size, 'text-anchor="middle"'))
    for column, name in enumerate(heat.x):
        where = left + (column + 0.5) * wide, bottom + 1.2 * size
        parts.append(_text(name, *where, f'text-anchor="middle" fill="{ground.faint}"'))
    parts.append(_text(heat.x_label, (left + right) / 2, h - 0.7 * size, 'text-anchor="middle"'))
    turn = f'text-anchor="middle" transform="rotate(-90 {size:.2f} {(top + bottom) / 2:.2f})"'
    parts.append(_text(heat.y_label, size, (top + bottom) / 2, turn))
    return "\n".join([*parts, "</svg>"]) + "\n"
