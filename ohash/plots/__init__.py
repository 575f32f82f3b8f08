"""A history becomes a chart described as data, and a renderer draws it.

`chart` is the description, `theme` has every colour, `layout` places labels, `formats` writes numbers. Of `renderers`,
`echarts` draws live charts, `plotly` those that stand still, `svg` those for print. The charts themselves: `live` (a
package), `compare`, `data`, `runs`, `sweeps`, `paper`.
"""

from typing import TYPE_CHECKING

from ohash.runtime import lazy

if TYPE_CHECKING:
    from ohash.plots.chart import Axis, Chart, HeatMap, Mark, Series
    from ohash.plots.renderers.echarts import option
    from ohash.plots.renderers.plotly import figure
    from ohash.plots.renderers.svg import to_svg

__all__ = [
    "Axis", "Chart", "HeatMap", "Mark", "Series", "figure", "option", "to_svg",
]  # fmt: skip

__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "chart": ("Axis", "Chart", "HeatMap", "Mark", "Series"),
        "renderers.echarts": ("option",),
        "renderers.plotly": ("figure",),
        "renderers.svg": ("to_svg",),
    },
)
