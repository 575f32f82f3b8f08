"""Learn or rotate: every contender as a point, what it finds against its bytes per item, and the Pareto front."""

import math

import numpy as np

from ohash.advice.export import kind_words, protocol
from ohash.advice.results import AdviceSnapshot
from ohash.plots import theme
from ohash.plots.chart import Axis, Chart, Marker, Series
from ohash.plots.compare import limits
from ohash.plots.compare_costs import pareto_front
from ohash.plots.live.axes import decades, empty_chart

ROLES = {"reference": "float", "free": "distance", "learnt": "now"}
MARKERS: dict[str, Marker] = {"reference": "square", "free": "circle", "learnt": "diamond"}
SHORT = 2  # names that a title can hold
NAMES = {"truth": "", "recall": "recall@10 of the float vectors", "rescored_truth": ", rescored"}


def found_by_bytes(snapshot: AdviceSnapshot, score: str = "truth") -> Chart:
    """A score of every contender against its bytes; the line joins those that none beats in both."""
    name = NAMES[score] if score == "recall" else f"{snapshot.truth}{NAMES[score]}, on later {snapshot.source}"
    name = name.replace("on later labels", "by label")
    points = [
        (one, snapshot.cost(one.key, "bytes"), value)
        for one in snapshot.contenders
        if math.isfinite(value := snapshot.mean(one.key, score))
    ]
    x = Axis("bytes per item", "log", format="count")
    lo, hi = limits(np.array([value for *_, value in points]))
    y = Axis(name, lo=lo, hi=hi, format="share")
    if not points:
        return empty_chart("Nothing has been measured yet", x, y)
    left, right = decades(*(cost for _, cost, _ in points))
    x = Axis("bytes per item", "log", lo=left, hi=right, format="count")
    drawn = []
    for kind, words in kind_words(snapshot).items():
        mine = [(one.title, cost, value) for one, cost, value in points if one.kind == kind]
        if mine:
            titles, costs, values = zip(*mine, strict=True)
            drawn.append(
                Series(
                    words,
                    np.array(costs),
                    np.array(values),
                    "points",
                    ROLES[kind],
                    marker=MARKERS[kind],
                    notes=tuple(titles),
                )
            )
    front = [points[at] for at in pareto_front([(cost, value) for _, cost, value in points], larger=False)]
    line = Series(
        "Pareto front", np.array([cost for _, cost, _ in front]), np.array([value for *_, value in front]), "line",
        "reference", "dashed", theme.NORMAL,
    )  # fmt: skip
    names = [one.title for one, *_ in front]
    short = "recall@10" if score == "recall" else f"{snapshot.truth}{NAMES[score]}"
    if len(names) <= SHORT:
        title = f"{short}: nothing is both better and smaller than {' or '.join(names)}"
    else:
        title = f"{short}: {len(names)} of {len(points)} lie on the Pareto front, from {names[0]} to {names[-1]}"
    text = f"{title}. One point per contender; nothing is both better and smaller than {'; '.join(names)}."
    return Chart(title, x, y, (line, *drawn), (), protocol(snapshot), text)


CHARTS = {"clicks by bytes": "truth", "recall@10 by bytes": "recall", "clicks by bytes, rescored": "rescored_truth"}
