"""The paper's figures as charts, drawn from the store: mean over seeds, the band is one standard deviation."""

from typing import Any

import numpy as np

from ohash.experiment.paper.claims_of_cost import a_pair
from ohash.experiment.paper.figures import Figure
from ohash.experiment.paper.measured import Measured, Missing, Seed
from ohash.experiment.paper.settings import Setting
from ohash.models import registry as methods
from ohash.plots import theme, words
from ohash.plots.chart import Axis, Chart, Dash, Series
from ohash.plots.over_pairs import share_limits
from ohash.plots.runs import DASHES, ROLES

LOOKS: dict[str, tuple[str, Dash]] = {
    "oh": ("method:oh", "solid"), "mmoh": ("method:mmoh", "solid"), "kernel_lsh": ("method:lsh", "dashed"),
    "lego": ("dissimilar", "dashed"), "mlh": ("fresh", "dotted"), "ssbc": ("reference", "dotted"),
    "sketch_hash": ("threshold", "dashed"), "adapthash": ("dissimilar", "dotted"), "itq": ("fresh", "dashed"),
    "ksh": ("dissimilar", "solid"), "sdh": ("threshold", "solid"), "fasthash": ("reference", "solid"),
}  # fmt: skip
SYMBOLS = {"beta": "β", "T": "T (models)", "C": "C", "r": "r (bits)", "kernel": "kernel (0 = none, 1 = RBF)"}


def charts(measured: Measured, figure: Figure) -> list[Chart]:
    """Everything that is drawn for one figure."""
    if figure.key == "5":
        return [_losses(measured, figure, setting) for setting in figure.settings()]
    if figure.key == "7":
        return [
            chart
            for setting in figure.settings()
            for chart in (_time_of_samples(measured, setting), _time_of_bits(measured, figure, setting))
        ]
    if len(figure.methods) > 1:
        return [_methods(measured, figure, setting) for setting in figure.settings()]
    return [_datasets(measured, figure)]


def _datasets(measured: Measured, figure: Figure) -> Chart:
    """One method, one line a dataset."""
    (method,) = figure.methods
    curves, peaks = [], []
    for at, setting in enumerate(figure.settings()):
        x, y, sd = _points(measured, figure, setting, method)
        look: tuple[str, Dash] = ROLES[at % len(ROLES)], DASHES[at % len(DASHES)]
        curves += _curve(setting.title, x, y, sd, *look)
        if len(y):
            peaks.append(f"{words.number(float(x[int(np.argmax(y))]), 2)} ({setting.title})")
    title = f"mAP against {SYMBOLS[figure.varies]}"
    if peaks and figure.varies != "kernel":
        title += f": highest at {', '.join(peaks)}"
    return _share_chart(title, figure, curves)


def _methods(measured: Measured, figure: Figure, setting: Setting) -> Chart:
    """One dataset, one line a method."""
    curves, ends = [], {}
    for method in figure.methods:
        x, y, sd = _points(measured, figure, setting, method)
        if not len(y):
            continue
        name = methods.find(method).title.partition(" (")[0]
        curves += _curve(name, x, y, sd, *LOOKS[method])
        ends[name] = float(y[-1])
    title = setting.title
    if ends:
        best = max(ends, key=lambda name: ends[name])
        title += f": {best} ends highest, mAP {words.share(ends[best])}; OH {words.share(ends.get('OH', np.nan))}"
    return _share_chart(title, figure, curves)


def _share_chart(title: str, figure: Figure, curves: list[Series]) -> Chart:
    lo, hi = share_limits(*(series.y for series in curves))
    x = _axis(figure.varies)
    caption = "mAP on test queries, exact over ties; mean over seeds, the band is one standard deviation."
    return Chart(
        title, x, Axis("mAP", lo=lo, hi=hi, format="share"), tuple(curves), (), caption, f"{title}. Line chart."
    )


def _losses(measured: Measured, figure: Figure, setting: Setting) -> Chart:
    """Cumulative loss over pairs, one line a C."""
    curves, last = [], {}
    cells = [where.x for where in measured.cells(figure) if where.setting == setting.key]
    for at, C in enumerate(cells):
        try:
            seeds = measured.seeds("5", setting, "oh", C)
        except Missing:
            continue
        arrays = [measured.arrays(seed) for seed in seeds]
        x = arrays[0]["columns/pairs"]
        each = np.array([np.interp(x, one["columns/pairs"], one["columns/cum_R"]) for one in arrays])
        sd = each.std(axis=0, ddof=1) if len(each) > 1 else None
        look = ROLES[at % len(ROLES)], DASHES[at % len(DASHES)]
        curves.append(Series(f"C = {C:g}", x, each.mean(axis=0), role=look[0], dash=look[1], spread=sd))
        last[C] = float(each[:, -1].mean())
    title = f"{setting.title}: cumulative similarity loss"
    if last:
        best = min(last, key=lambda C: last[C])
        title += f" is lowest at C = {best:g}, {words.large(last[best])}"
    x_axis = Axis("pairs", format="count", lo=0)
    return Chart(
        title, x_axis, Axis("cumulative loss ΣR", lo=0, format="count"), tuple(curves), (), "", f"{title}. Lines."
    )


def _time_of_samples(measured: Measured, setting: Setting) -> Chart:
    """CPU seconds over pairs at r = 64, from a tenth of the stream on."""
    curves = []
    for method, (role, dash) in LOOKS.items():
        try:
            seeds = measured.seeds("7", setting, method, 64)
        except Missing:
            continue
        each = [_clock(measured, seed) for seed in seeds]
        x = each[0][0]
        y = np.array([np.interp(x, pairs, cpu) for pairs, cpu in each])
        sd = y.std(axis=0, ddof=1) if len(y) > 1 else None
        curves.append(Series(methods.find(method).title, x, y.mean(axis=0), role=role, dash=dash, spread=sd))
    title = f"{setting.title}: training time against pairs, r = 64"
    x_axis, y_axis = Axis("pairs", format="count"), Axis("CPU time", "log", unit="s", format="number")
    caption = "CPU time of the method's own update, one thread, since a tenth of the stream."
    return Chart(title, x_axis, y_axis, tuple(curves), (), caption, f"{title}. Lines on a logarithmic axis.")


def _clock(measured: Measured, seed: Seed) -> tuple[Any, Any]:
    arrays = measured.arrays(seed)
    pairs, cpu = arrays["checkpoints/pairs"], arrays["checkpoints/cpu_learn"]
    start = int(np.searchsorted(pairs, pairs[-1] / 10))
    return pairs[start + 1 :], cpu[start + 1 :] - cpu[start]


def _time_of_bits(measured: Measured, figure: Figure, setting: Setting) -> Chart:
    """Microseconds a pair over r."""
    curves = []
    for method, look in LOOKS.items():
        x, y, sd = [], [], []
        for r in measured.profile.timed_bits:
            try:
                each = [1e6 * value for value in a_pair(measured, setting, method, r)]
            except Missing:
                continue
            x.append(r)
            y.append(float(np.mean(each)))
            sd.append(float(np.std(each, ddof=1)) if len(each) > 1 else np.nan)
        if x:
            curves += _curve(methods.find(method).title, np.array(x), np.array(y), np.array(sd), *look)
    title = f"{setting.title}: training time of a pair against r"
    y_axis = Axis("CPU time of a pair", "log", unit="µs", format="number")
    return Chart(title, _axis("r"), y_axis, tuple(curves), (), figure.ours, f"{title}. Lines on a logarithmic axis.")


def _points(measured: Measured, figure: Figure, setting: Setting, method: str) -> tuple[Any, Any, Any]:
    """x, mean and sd of test mAP."""
    x, y, sd = [], [], []
    for where in measured.cells(figure):
        if (where.setting, where.method) != (setting.key, method):
            continue
        try:
            scores = [seed.score() for seed in measured.seeds(figure.key, setting, method, where.x)]
        except Missing:
            continue
        x.append({"none": 0.0, "rbf": 1.0}.get(where.x, where.x))
        y.append(float(np.mean(scores)))
        sd.append(float(np.std(scores, ddof=1)) if len(scores) > 1 else np.nan)
    order = np.argsort(np.array(x, np.float64))
    return tuple(np.array(column, np.float64)[order] for column in (x, y, sd))  # type: ignore[return-value]


def _curve(name: str, x: Any, y: Any, sd: Any, role: str, dash: Dash) -> list[Series]:
    band = sd if len(sd) and np.isfinite(sd).any() else None
    line = Series(name, x, y, role=role, dash=dash, width=theme.NORMAL, spread=band)
    return [line, Series(name, x, y, kind="points", role=role, listed=False)]


def _axis(varies: str) -> Axis:
    label = SYMBOLS[varies]
    if varies == "C":
        return Axis(label, "log", lo=1e-5, hi=10, format="power")
    if varies == "beta":
        return Axis(label, lo=0.1, hi=0.9)
    if varies == "kernel":
        return Axis(label, lo=0, hi=1, format="count")
    return Axis(label, lo=1, hi=4, format="count") if varies == "T" else Axis(label, lo=0, hi=128, format="count")
