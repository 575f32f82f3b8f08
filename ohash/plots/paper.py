"""The paper's figures as charts, drawn from the store: mean over seeds, the band is one standard deviation.

Titles speak of what is drawn: the test queries. The claims choose on validation queries, and say so.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ohash import number_formats as formats
from ohash.core.arrays import Floats
from ohash.models.registry import find
from ohash.paper.cost_claims import seconds_per_pair
from ohash.paper.figures import AFTER_NEW, BEFORE_NEW, LONG_AS_VECTORS, ONLINE, ONLINE_INPUTS, TIMED, Figure
from ohash.paper.measurements import Measurements, MissingCellError, SeedResult
from ohash.paper.new_data_claims import new_ap
from ohash.paper.protocol import COMMON_R, learns_from, variant_title
from ohash.paper.settings import Setting
from ohash.plots import theme
from ohash.plots.chart import Axis, Chart, Marker, Series
from ohash.plots.live.axes import share_limits
from ohash.plots.theme import LineStyle, distinct_styles, method_styles

OURS = ("oh", "mmoh")
SYMBOLS = {
    "beta": "β", "T": "T (models)", "C": "C", "r": "r (bits)", "kernel": "kernel (0 = none, 1 = RBF)",
    "center": "centring (0 = none, 1 = mean of the warm-up)", "select": "bits to flip (0 = largest δ, 1 = smallest δ)",
    "rounds": "updates per pair", "pairs": "pairs", "drift_at": "pairs before the change",
}  # fmt: skip
PLACES = {"none": 0.0, "rbf": 1.0, "frozen": 1.0, "largest": 0.0, "smallest": 1.0}
FAINT = 0.45
AS_RECORDED = " Faint and dotted: as recorded, under your own runs; visible where the two differ."
LEARNS = {"pairs": "now", "labels": "dissimilar", "none": "reference"}


def charts(measured: Measurements, figure: Figure) -> list[Chart]:
    """Everything that is drawn for one figure."""
    if figure.key == "5":
        return [_losses(measured, figure, setting) for setting in measured.settings(figure)]
    if figure.key == "7":
        return [
            chart
            for setting in measured.settings(figure)
            for chart in (_time_of_samples(measured, figure, setting), _time_of_bits(measured, figure, setting))
        ]
    if figure.varies == "method":
        return [_every_method(measured, figure, setting) for setting in measured.settings(figure)]
    if figure.key == "arrival":
        return [_arrival(measured, figure, setting) for setting in measured.settings(figure)]
    if len(figure.methods) > 1:
        return [_methods(measured, figure, setting) for setting in measured.settings(figure)]
    return [_datasets(measured, figure)]


def _datasets(measured: Measurements, figure: Figure) -> Chart:
    """One method, one line per data set."""
    (method,) = figure.methods
    curves, peaks, recorded = [], [], list[Series]()
    for setting, look in zip(measured.settings(figure), distinct_styles(len(measured.settings(figure))), strict=True):
        x, y, sd = _points(measured, figure, setting, method)
        curves += _curve(setting.title, x, y, sd, look, end_label=False)
        recorded += _as_recorded(setting.title, *_points(measured, figure, setting, method, replaced=True)[:2], look)
        if len(y) and figure.varies in ("beta", "C", "T"):
            peaks.append(f"{formats.number(float(x[np.argmax(y)]), 2)} ({setting.title})")
    title = f"mAP on test queries against {SYMBOLS[figure.varies]}"
    if peaks:
        title += f": highest at {', '.join(peaks)}"
    return _share_chart(title, figure, curves, recorded=recorded)


def figure_styles(figure: Figure) -> dict[str, LineStyle]:
    """How the methods of a figure are drawn; OH and MMOH as everywhere, the online ones alike in figures 6 and 7.

    Methods of plugins come last, so that they change no other.
    """
    online = dict.fromkeys((*ONLINE, *TIMED))
    among = online if set(figure.methods) <= set(online) else figure.methods
    looks = method_styles([*OURS, *(key for key in among if key not in OURS), *figure.own_methods])
    return {key: look for key, look in looks.items() if key in figure.all_methods}


def _methods(measured: Measurements, figure: Figure, setting: Setting) -> Chart:
    """One data set, one line per method."""
    curves: list[Series] = []
    recorded: list[Series] = []
    scores: dict[tuple[str, float], float] = {}
    for method, look in figure_styles(figure).items():
        x, y, sd = _points(measured, figure, setting, method)
        if not len(y):
            continue
        width = theme.THICK if method in (*OURS, *figure.own_methods) else theme.NORMAL
        curves += _curve(variant_title(method), x, y, sd, look, width=width)
        before = _points(measured, figure, setting, method, replaced=True)
        recorded += _as_recorded(variant_title(method), *before[:2], look)
        scores |= {(method, float(at)): float(value) for at, value in zip(x, y, strict=True)}
    second = _second_protocol(measured, figure, setting)
    title = setting.title
    if scores:
        places = [at for _, at in scores]
        last = max(places, key=lambda at: (places.count(at), at))  # the longest codes that most methods were run with
        best = max((place for place in scores if place[1] == last), key=lambda place: scores[place])
        winner, score = variant_title(best[0]), formats.share(scores[best])
        where = f"r = {last:g}" if figure.varies == "r" else f"{last:,.0f} {SYMBOLS[figure.varies]}"
        title += f": on test queries {winner} has the highest mAP at {where}, {score}"
        if best[0] != "oh" and ("oh", last) in scores:
            title += f"; OH {formats.share(scores['oh', last])}"
    note = f" Faint points at r = {COMMON_R}: the same methods on OH's RBF map; of OH: without the kernel."
    return _share_chart(title, figure, [*curves, *second], note if second else "", recorded=recorded)


def _every_method(measured: Measurements, figure: Figure, setting: Setting) -> Chart:
    """Every method as a point: agreement with the distance and with the truth; named are OH, MMOH and the best.

    Codes as long as the vectors are named with their bytes, and compared with no other.
    """
    scores, recalls, names = {}, {}, {}
    recorded = []
    for method in figure.all_methods:
        try:
            seeds = measured.seeds(figure.key, setting, method, method)
        except MissingCellError:
            continue
        scores[method] = float(np.mean([seed.score(setting.truth) for seed in seeds]))
        recalls[method] = float(np.mean([seed.score("recall_10") for seed in seeds]))
        length = f", {seeds[0].bytes:,} bytes" if method in LONG_AS_VECTORS else ""
        names[method] = variant_title(method) + length
        if replaced := measured.replaced_seeds(figure.key, setting, method, method):
            before = [float(np.mean([seed.score(name) for seed in replaced])) for name in ("recall_10", setting.truth)]
            point = _method_point(method, f"{names[method]}, as recorded", setting, *before, named=False)
            recorded.append(replace(point, opacity=FAINT))
    truth = setting.truth_title
    title, named = f"{setting.title}, 64 bits", {*OURS, *figure.own_methods}
    short = [one for one in scores if one not in LONG_AS_VECTORS]
    if short:
        best = max(short, key=lambda one: scores[one])
        learners = [one for one in short if find(one).consumes in ONLINE_INPUTS]
        online = max(learners, key=lambda one: scores[one], default=best)
        named |= {best, online, max(short, key=lambda one: recalls[one]), *(scores.keys() & set(LONG_AS_VECTORS))}
        title += f": on test queries {variant_title(best)} has the highest {truth}, {formats.share(scores[best])}"
        if online != best:
            title += f"; of those that learn online {variant_title(online)}, {formats.share(scores[online])}"
    drawn = [
        _method_point(method, names[method], setting, recalls[method], scores[method], named=method in named)
        for method in scores
    ]
    shown = [*recorded, *drawn]
    (left, right), (lo, hi) = (share_limits(*(getattr(one, side) for one in shown)) for side in ("x", "y"))
    means = "one seed" if measured.profile.seeds == 1 else "means over seeds"
    caption = (
        f"Scores on test queries, {means}; all numbers are in the table. "
        "Diamonds learn online, circles are fitted at once or learn nothing. Blue learns from pairs, orange from "
        "labels, grey from neither. Squares are codes as long as the vectors."
    )
    if recorded:
        caption += " Faint: as recorded, under your own runs; visible where the two differ."
    x_axis = Axis("recall@10 by the original distance", lo=left, hi=right, format="share")
    y_axis = Axis(truth, lo=lo, hi=hi, format="share")
    return Chart(title, x_axis, y_axis, tuple(shown), (), caption, f"{title}. One point per method.")


def _method_point(method: str, name: str, setting: Setting, recall: float, score: float, *, named: bool) -> Series:
    role = LEARNS[learns_from(method, [setting])]
    marker: Marker = "diamond" if find(method).consumes in ONLINE_INPUTS else "circle"
    if method in LONG_AS_VECTORS:
        marker = "square"
    return Series(
        name, np.array([recall]), np.array([score]), "points", role, label=name if named else "",
        listed=False, marker=marker,
    )  # fmt: skip


def _arrival(measured: Measurements, figure: Figure, setting: Setting) -> Chart:
    """MAP on queries of the new classes, before and after they arrive; one line per method."""
    curves, gains, recorded = [], {}, list[Series]()
    for method, look in figure_styles(figure).items():
        x, y, sd, before = [], [], [], {}
        for pairs in (BEFORE_NEW, AFTER_NEW):
            try:
                seeds = measured.seeds(figure.key, setting, method, pairs)
            except MissingCellError:
                continue
            if replaced := measured.replaced_seeds(figure.key, setting, method, pairs):
                before[pairs] = float(np.mean([np.nanmean(ap) for ap in new_ap(measured, setting, replaced)]))
            each = [float(np.nanmean(ap)) for ap in new_ap(measured, setting, seeds)]
            x.append(pairs)
            y.append(float(np.mean(each)))
            sd.append(float(np.std(each, ddof=1)) if len(each) > 1 else np.nan)
        if x:
            curves += _curve(variant_title(method), np.array(x, float), np.array(y), np.array(sd), look)
        recorded += _as_recorded(variant_title(method), np.array([*before]), np.array([*before.values()]), look)
        if len(x) > 1:
            gains[method] = y[1] - y[0]
    name = "tracks" if setting.kind == "tracks" else "classes"
    title = f"{setting.title}: mAP on test queries of new {name}"
    if gains:
        most_changed = max(gains, key=lambda method: abs(gains[method]))
        title += f"; their arrival changes {variant_title(most_changed)} most, {formats.change(gains[most_changed])}"
    note = f" Only queries of {name} that arrive after {BEFORE_NEW:,} pairs."
    return _share_chart(title, figure, curves, note, recorded=recorded)


def _second_protocol(measured: Measurements, figure: Figure, setting: Setting) -> list[Series]:
    """The methods on features other than their own, as faint points."""
    looks, points = figure_styles(figure), []
    for name in dict.fromkeys(where.method for where in measured.cells(figure) if "@" in where.method):
        x, y, _ = _points(measured, figure, setting, name)
        look = looks[name.partition("@")[0]]
        points.append(
            Series(variant_title(name), x, y, "points", look.role, opacity=FAINT, listed=False, marker=look.marker)
        )
    return [one for one in points if len(one.x)]


def _share_chart(
    title: str, figure: Figure, curves: list[Series], note: str = "", *, recorded: Sequence[Series] = ()
) -> Chart:
    lo, hi = share_limits(*(series.y for series in (*curves, *recorded)))
    x = _axis(figure.varies, curves)
    caption = f"mAP on test queries, exact over ties; {_spread_of(curves)}.{note}{AS_RECORDED if recorded else ''}"
    return Chart(
        title, x, Axis("mAP", lo=lo, hi=hi, format="share"), (*recorded, *curves), (), caption, f"{title}. Line chart."
    )


def _as_recorded(name: str, x: Floats, y: Floats, look: LineStyle) -> list[Series]:
    """The recorded points that the user's own have replaced, so that both are in sight."""
    if not len(x):
        return []
    common: dict[str, Any] = {"role": look.role, "opacity": FAINT, "listed": False}
    line = Series(f"{name}, as recorded", x, y, dash="dotted", width=theme.THIN, **common)
    return [line, replace(line, kind="points", marker=look.marker)]


def _spread_of(curves: list[Series]) -> str:
    """What a line and its band are."""
    if any(one.spread is not None for one in curves):
        return "mean over seeds, the band is one standard deviation"
    return "one seed, so no band"


def _losses(measured: Measurements, figure: Figure, setting: Setting) -> Chart:
    """Cumulative loss over pairs, one line per C."""
    curves, last = [], {}
    cells = [where.x for where in measured.cells(figure) if where.setting == setting.key]
    for C, look in zip(cells, distinct_styles(len(cells)), strict=True):
        try:
            seeds = measured.seeds("5", setting, "oh", C)
        except MissingCellError:
            continue
        arrays = [measured.arrays(seed) for seed in seeds]
        x = arrays[0]["columns/pairs"]
        each = np.array([np.interp(x, one["columns/pairs"], one["columns/cum_R"]) for one in arrays])
        sd = each.std(axis=0, ddof=1) if len(each) > 1 else None
        if replaced := [measured.arrays(seed) for seed in measured.replaced_seeds("5", setting, "oh", C)]:
            before = np.mean([np.interp(x, one["columns/pairs"], one["columns/cum_R"]) for one in replaced], axis=0)
            curves.append(_as_recorded(f"C = {C:g}", x, before, look)[0])
        curves.append(replace(_curve(f"C = {C:g}", x, each.mean(axis=0), sd, look)[0], marker=None))
        last[C] = float(each[:, -1].mean())
    title = f"{setting.title}: cumulative similarity loss"
    if last:
        best = min(last, key=lambda C: last[C])
        title += f" is lowest at C = {best:g}, {formats.approximate(last[best])}"
    x_axis = Axis("pairs", format="count", lo=0)
    recorded = AS_RECORDED if any(one.opacity == FAINT for one in curves) else ""
    caption = f"Summed over all pairs so far; {_spread_of(curves)}.{recorded}"
    return Chart(
        title, x_axis, Axis("cumulative loss ΣR", lo=0, format="count"), tuple(curves), (), caption, f"{title}. Lines."
    )


def _time_of_samples(measured: Measurements, figure: Figure, setting: Setting) -> Chart:
    """CPU seconds over pairs at r = 64, both counted from a tenth of the stream on: on two logarithmic axes what is
    linear in the samples is a line of slope 1, as the guide below them is.
    """
    curves: list[Series] = []
    for method, look in figure_styles(figure).items():
        try:
            seeds = measured.seeds("7", setting, method, 64)
        except MissingCellError:
            continue
        each = [_clock(measured, seed) for seed in seeds]
        x = each[0][0]
        y = np.array([np.interp(x, pairs, cpu) for pairs, cpu in each])
        sd = y.std(axis=0, ddof=1) if len(y) > 1 else np.full(len(x), np.nan)
        curves += _curve(variant_title(method), x, y.mean(axis=0), sd, look)
    if curves:
        curves.append(_guide(curves))
    ends = [int(end) for one in curves[:1] for end in (one.x[0], one.x[-1])] or [1, 10]
    title = f"{setting.title}: training time against pairs, r = 64"
    x_axis = Axis("pairs", "log", lo=ends[0] / 1.1, hi=ends[1] * 1.1, format="count", at=_one_two_five(*ends))
    y_axis = Axis("CPU time", "log", unit="s", format="number")
    caption = (
        "CPU time of the method's own update, one thread; time and pairs are counted from a tenth of the stream on. "
        "Both axes are logarithmic: a line parallel to the dotted one is linear in the samples."
    )
    return Chart(title, x_axis, y_axis, tuple(curves), (), caption, f"{title}. Lines on two logarithmic axes.")


def _guide(curves: list[Series]) -> Series:
    """Slope 1 on logarithmic axes, below all others."""
    lowest = min((one for one in curves if len(one.x)), key=lambda one: float(one.y[-1]))
    x = lowest.x[[0, -1]]
    y = x * float(np.min(lowest.y / lowest.x)) / 2
    return Series("linear", x, y, role="reference", dash="dotted", width=theme.THIN, listed=False, label="linear")


def _one_two_five(lo: float, hi: float) -> tuple[float, ...]:
    """Ticks of an axis that spans little more than a power of ten.

    >>> _one_two_five(4000, 36000)
    (5000.0, 10000.0, 20000.0)
    """
    steps = [float(f"{digit}e{power}") for power in range(0, 13) for digit in (1, 2, 5)]
    return tuple(step for step in steps if lo <= step <= hi)


def _clock(measured: Measurements, seed: SeedResult) -> tuple[Floats, Floats]:
    arrays = measured.arrays(seed)
    pairs, cpu = arrays["checkpoints/pairs"], arrays["checkpoints/cpu_learn"]
    start = int(np.searchsorted(pairs, pairs[-1] / 10))
    return pairs[start + 1 :] - pairs[start], cpu[start + 1 :] - cpu[start]


def _time_of_bits(measured: Measurements, figure: Figure, setting: Setting) -> Chart:
    """Microseconds a pair over r."""
    curves = []
    for method, look in figure_styles(figure).items():
        x, y, sd = [], [], []
        for r in measured.profile.timed_bits:
            try:
                each = [1e6 * value for value in seconds_per_pair(measured, setting, method, r)]
            except MissingCellError:
                continue
            x.append(r)
            y.append(float(np.mean(each)))
            sd.append(float(np.std(each, ddof=1)) if len(each) > 1 else np.nan)
        if x:
            curves += _curve(variant_title(method), np.array(x), np.array(y), np.array(sd), look)
    title = f"{setting.title}: training time per pair against r"
    y_axis = Axis("CPU time per pair", "log", unit="µs", format="number")
    return Chart(
        title, _axis("r", curves), y_axis, tuple(curves), (), figure.ours, f"{title}. Lines on a logarithmic axis."
    )


def _points(
    measured: Measurements, figure: Figure, setting: Setting, method: str, *, replaced: bool = False
) -> tuple[Floats, Floats, Floats]:
    """x, mean and sd of test mAP; with `replaced`, of the recorded cells that the user's own replace."""
    seeds = measured.replaced_seeds if replaced else measured.seeds
    x, y, sd = [], [], []
    for where in measured.cells(figure):
        if (where.setting, where.method) != (setting.key, method):
            continue
        try:
            scores = [seed.score() for seed in seeds(figure.key, setting, method, where.x)]
        except MissingCellError:
            continue
        if not scores:
            continue
        x.append(PLACES[where.x] if isinstance(where.x, str) else where.x)
        y.append(float(np.mean(scores)))
        sd.append(float(np.std(scores, ddof=1)) if len(scores) > 1 else np.nan)
    order = np.argsort(np.array(x, np.float64))
    return tuple(np.array(column, np.float64)[order] for column in (x, y, sd))  # type: ignore[return-value]


def _curve(
    name: str,
    x: Floats,
    y: Floats,
    sd: Floats | None,
    look: LineStyle,
    *,
    width: float = theme.NORMAL,
    end_label: bool = True,
) -> list[Series]:
    """A line and its points; named beside its end, or in the legend."""
    band = sd if sd is not None and len(sd) and np.isfinite(sd).any() else None
    common: dict[str, Any] = {"role": look.role, "marker": look.marker}
    label = name if end_label else ""
    line = Series(name, x, y, dash=look.dash, width=width, spread=band, listed=not end_label, label=label, **common)
    return [line, Series(name, x, y, kind="points", listed=False, **common)]


def _axis(varies: str, curves: list[Series]) -> Axis:
    """Ticks where something was run."""
    label, at = SYMBOLS[varies], tuple(sorted({float(x) for one in curves for x in one.x}))
    if varies == "C":
        return Axis(label, "log", lo=0.8e-5, hi=12.5, format="power")
    if varies in ("kernel", "center", "select"):
        return Axis(label, lo=-0.05, hi=1.05, format="count", at=(0, 1))
    if not at:
        return Axis(label, lo=0, hi=1)
    room = 0.03 * (at[-1] - at[0])
    return Axis(label, lo=at[0] - room, hi=at[-1] + room, format="number" if varies == "beta" else "count", at=at)
