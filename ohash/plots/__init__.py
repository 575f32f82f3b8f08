"""A history becomes a chart described as data, and a renderer draws it.

`chart` is the description, `theme` has every colour, `layout` places labels, `formats` writes numbers. `echarts` draws
live charts, `plotly` those that stand still, `svg` those for print. The charts themselves: `live` (a package),
`compare`, `data`, `runs`, `sweeps`, `paper`.
"""

from typing import TYPE_CHECKING

from ohash.runtime import lazy

if TYPE_CHECKING:
    from ohash.plots.chart import Axis, Chart, HeatMap, Mark, Series
    from ohash.plots.echarts import option
    from ohash.plots.plotly import figure
    from ohash.plots.svg import to_svg

__all__ = [
    "Axis", "Chart", "HeatMap", "Mark", "Series", "figure", "option", "to_svg",
]  # fmt: skip

__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "Axis": "chart",
        "Chart": "chart",
        "HeatMap": "chart",
        "Mark": "chart",
        "Series": "chart",
        "figure": "plotly",
        "option": "echarts",
        "to_svg": "svg",
    },
)
