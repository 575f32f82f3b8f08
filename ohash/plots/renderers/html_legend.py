"""The legend of many lines as HTML below the plot: it wraps by itself in a narrow window, and covers no axis."""

import base64
from html import escape

from ohash.plots import theme
from ohash.plots.chart import Chart, Series
from ohash.plots.renderers.svg import DASHES, dot, stroke

STYLE = (
    "<style>.ohash-legend {display: flex; flex-wrap: wrap; gap: .15rem 1.1rem; font-size: .82rem;} .ohash-legend div"
    " {display: flex; gap: .45rem; align-items: center; overflow-wrap: anywhere;} "
    ".ohash-legend img {flex: none;}</style>"
)
IMAGE = 'width="36" height="9" src="data:image/svg+xml;base64,'
WIDE, HIGH = 16.0, 4.0  # of a mark, in the units of the SVG


def legend_html(chart: Chart, dark: bool = False) -> str:
    """A list of every line that is listed, its mark and its name; those of one group stand together."""
    groups = list(dict.fromkeys(one.group for one in chart.series))
    listed = sorted((one for one in chart.series if one.listed), key=lambda one: groups.index(one.group))
    items = "".join(
        f'<div role="listitem">{_mark(one, dark)}<span>{escape(one.name)}</span></div>'
        for one in listed
    )  # fmt: skip
    return f'{STYLE}<div class="ohash-legend" role="list">{items}</div>'


def _mark(series: Series, dark: bool) -> str:
    hue, middle = theme.colour(series.role, dark), HIGH / 2
    shape = "" if series.marker is None else f'<g fill="{hue}">{dot(WIDE / 2, middle, series.marker)}</g>'
    line = stroke(0, middle, WIDE, middle, hue, 0.45 * series.width, DASHES[series.dash])
    size = f'width="36" height="9" viewBox="0 0 {WIDE:g} {HIGH:g}"'
    drawn = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{line}{shape}</svg>'
    return (
        f'<img alt="" {IMAGE}{base64.b64encode(drawn.encode()).decode()}">'  # the page lets no SVG of its own through
    )
