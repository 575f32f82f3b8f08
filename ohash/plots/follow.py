"""A follower over its stream: hits of present and deployed codes, loss, τ, update rate; a page that reloads itself."""

from collections.abc import Mapping
from html import escape

import numpy as np

from ohash.core.arrays import Floats
from ohash.plots.chart import Axis, Chart, Mark, Series
from ohash.plots.renderers.svg import to_svg

RELOAD_SECONDS = 5
MAX_MARKS = 20
BAND = "The band is the 95 % interval of the difference between the two lines, drawn around one of them."
PAGE = """\
<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="{seconds}">
<title>{title}</title><style>body {{ font: 16px sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }}
svg {{ width: 100%; height: auto }}</style></head><body><h1>{title}</h1><p>{text}</p>{charts}<p>{band}</p></body></html>
"""


def follow_charts(checks: Mapping[str, Floats]) -> tuple[Chart, Chart]:
    """Hits and loss at each check; a line marks a check before which a drift alarm went off."""
    x, alarms = checks["pairs"], np.diff(checks["alarms"], prepend=0)
    marks = tuple(Mark(float(at), "alarm") for at in x[alarms > 0])
    now, deployed = checks["hit_now"], checks["hit_deployed"]
    title = _title(now[-1] - deployed[-1], checks["half_width"][-1]) if len(x) else "No check yet"
    hits = Chart(
        title, Axis("pairs", format="count"), Axis("hit@10", lo=0, format="share"),
        (
            Series("codes made now", x, now, spread=checks["half_width"], role="now"),
            Series("deployed codes", x, deployed, role="frozen"),
        ),
        marks, BAND, f"{title}. Two lines over the pairs.",
    )  # fmt: skip
    loss = Chart(
        "Mean loss R of coming pairs", Axis("pairs", format="count"), Axis("R", lo=0),
        (Series("R before a pair is learnt", x, checks["loss"], role="now"),), marks, "", "Mean loss over the pairs.",
    )  # fmt: skip
    return hits, loss


def tick_charts(ticks: Mapping[str, Floats]) -> tuple[Chart, Chart, Chart]:
    """Loss, τ and update rate of coming pairs; a line marks where a drift alarm went off."""
    x, alarms = ticks["pairs"], np.diff(ticks["alarms"], prepend=0)
    marks = tuple(Mark(float(at), "alarm") for at in x[alarms > 0][-MAX_MARKS:])

    def chart(name: str, column: str, words: str, y: Axis) -> Chart:
        values = ticks[column]
        last = f"{values[-1]:.3g}" if len(values) and np.isfinite(values[-1]) else ""
        title = f"{name} {last}" if last else f"{name}: nothing to draw yet"
        series = Series(words, x, values, role="now")
        return Chart(title, Axis("pairs", format="count"), y, (series,), marks, "", f"{title}. A line over the pairs.")

    return (
        chart("Loss R", "loss", "mean R before a pair is learnt", Axis("R", lo=0)),
        chart("Step τ", "tau", "mean τ per pair", Axis("τ", lo=0)),
        chart("Update rate", "rate", "share of pairs with an update", Axis("share", lo=0, hi=1, format="share")),
    )


def _title(ahead: float, half_width: float) -> str:
    """In words.

    >>> _title(-0.022, 0.04)
    'Codes made now find 2.2 ± 4.0 fewer hits per 100 queries'
    >>> _title(0.0, float("nan"))
    'Too few similar pairs in a batch to compare the codes'
    """
    if not np.isfinite(ahead + half_width):
        return "Too few similar pairs in a batch to compare the codes"
    size = f"{100 * abs(ahead):.1f} ± {100 * half_width:.1f} {'more' if ahead >= 0 else 'fewer'}"
    return f"Codes made now find {size} hits per 100 queries"


def follow_page(title: str, text: str, checks: Mapping[str, Floats]) -> str:
    """One HTML file without scripts."""
    charts = "".join(to_svg(chart, width=170, height=70) for chart in follow_charts(checks) if not chart.empty)
    return PAGE.format(seconds=RELOAD_SECONDS, title=escape(title), text=escape(text), charts=charts, band=BAND)
