"""Quality against cost, as ann-benchmarks draws it: every method of a comparison as a point, and the Pareto front.

Queries per second are those of one thread that encodes a query and scans the codes, measured in the comparison itself.
"""

import math
from functools import partial
from typing import Literal

import numpy as np

from ohash.comparison.costs import SCANNED_ITEMS, Cost
from ohash.comparison.fairness import fairness
from ohash.comparison.results import ComparisonSnapshot
from ohash.plots import theme
from ohash.plots.chart import Axis, Chart, Series
from ohash.plots.compare import limits, name_few, points, roles
from ohash.plots.live.axes import decades, empty_chart
from ohash.plots.live.scores import SCORES

Over = Literal["queries", "bytes"]
AXES: dict[Over, str] = {"queries": "queries per second, one thread", "bytes": "bytes per item"}


def quality_against_cost(snapshot: ComparisonSnapshot, score: str, over: Over) -> Chart:
    """A score of every method against its speed or its size; the line joins the methods that none beats in both."""
    column = score or snapshot.truth_column
    names = [*snapshot.names, "float vectors"]
    hues = [*roles(snapshot), "float"]
    floats = snapshot.floats if column == snapshot.truth_column else 1.0
    scores = [*(snapshot.score(at, column) for at in range(len(snapshot.names))), floats]
    costs = snapshot.costs or (None,) * len(names)
    entries = [
        (name, hue, cost_of(cost, over), value)
        for name, hue, cost, value in zip(names, hues, costs, scores, strict=True)
        if cost is not None and math.isfinite(value)
    ]
    x = Axis(AXES[over], "log", format="count")
    lo, hi = limits(np.array([value for *_, value in entries]))
    y = Axis(SCORES[column].name, lo=lo, hi=hi, format="share")
    if not entries:
        return empty_chart("Costs are measured after the first curves", x, y)
    left, right = decades(*(cost for _, _, cost, _ in entries))
    x = Axis(AXES[over], "log", lo=left, hi=right, format="count")
    front = pareto_front([(cost, value) for _, _, cost, value in entries], larger=over == "queries")
    line = Series(
        "Pareto front", np.array([entries[at][2] for at in front]), np.array([entries[at][3] for at in front]),
        "line", "reference", "dashed", theme.NORMAL,
    )  # fmt: skip
    drawn = [points(name, np.array([cost]), np.array([value]), hue) for name, hue, cost, value in entries]
    drawn, note = name_few(drawn, [names[0], names[-1], *(entries[at][0] for at in front)])
    *others, last = [entries[at][0] for at in front]
    unbeaten = f"{', '.join(others)} or {last}" if others else last
    more = "faster" if over == "queries" else "smaller"
    title = f"{SCORES[column].short}: nothing is both better and {more} than {unbeaten}"
    how = f"Encoding one query and scanning {SCANNED_ITEMS:,} codes" if over == "queries" else "Stored bytes"
    caption = f"{note}{how}, measured in this comparison, first seed; {fairness(snapshot)}"
    return Chart(
        title, x, y, (line, *drawn), (), caption, f"{title}. One point per method, and a line that joins them."
    )


def cost_of(cost: Cost, over: Over) -> float:
    """Queries per second (encode and scan, medians), or bytes per item."""
    return 1 / (cost.encode[0] + cost.scan[0]) if over == "queries" else cost.bytes


def pareto_front(points: list[tuple[float, float]], *, larger: bool) -> list[int]:
    """Points (cost, score) that no other beats in one of the two and equals in the other, by rising cost.

    >>> pareto_front([(8, 0.5), (16, 0.4), (2048, 0.9)], larger=False)
    [0, 2]
    >>> pareto_front([(900, 0.5), (1000, 0.6), (10, 0.9)], larger=True)
    [2, 1]
    """
    sign = 1 if larger else -1

    def is_dominated(at: int) -> bool:
        gain, score = sign * points[at][0], points[at][1]
        others = ((sign * cost, value) for cost, value in points)
        return any(g >= gain and v >= score and (g > gain or v > score) for g, v in others)

    return sorted((at for at in range(len(points)) if not is_dominated(at)), key=lambda at: points[at][0])


COST_CHARTS = {
    "agreement by queries per second": partial(quality_against_cost, score="", over="queries"),
    "agreement by bytes": partial(quality_against_cost, score="", over="bytes"),
    "recall@10 by queries per second": partial(quality_against_cost, score="recall_10", over="queries"),
    "recall@10 by bytes": partial(quality_against_cost, score="recall_10", over="bytes"),
}
