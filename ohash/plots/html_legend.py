"""The legend of many lines as HTML below the plot: it wraps by itself in a narrow window, and covers no axis."""

from html import escape

from ohash.plots import theme
from ohash.plots.chart import Chart, Series
from ohash.plots.svg import DASHES, dot, stroke

STYLE = (
    "<style>.ohash-legend {display: flex; flex-wrap: wrap; gap: .15rem 1.1rem; list-style: none; margin: 0; padding: 0;"
    " font-size: .82rem;} .ohash-legend li {display: flex; gap: .45rem; align-items: baseline; margin: 0;"
    " overflow-wrap: anywhere;} .ohash-legend svg {flex: none;}</style>"
)
WIDE, HIGH = 16.0, 4.0  # of a mark, in the units of the SVG


def legend_html(chart: Chart, dark: bool = False) -> str:
    """A list of every line that has a name: its mark and its name."""
    items = "".join(f"<li>{_mark(one, dark)}<span>{escape(one.name)}</span></li>" for one in chart.series if one.listed)
    return f'{STYLE}<ul class="ohash-legend">{items}</ul>'


def _mark(one: Series, dark: bool) -> str:
    hue, middle = theme.colour(one.role, dark), HIGH / 2
    shape = "" if one.marker is None else f'<g fill="{hue}">{dot(WIDE / 2, middle, one.marker)}</g>'
    line = stroke(0, middle, WIDE, middle, hue, 0.45 * one.width, DASHES[one.dash])
    return f'<svg width="36" height="9" viewBox="0 0 {WIDE:g} {HIGH:g}" aria-hidden="true">{line}{shape}</svg>'
