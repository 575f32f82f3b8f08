"""What the stream of pairs does: the two hills of distances, the loss, the step size, the update rate."""

import math
from dataclasses import replace
from typing import Literal

import numpy as np

from ohash import number_formats as formats
from ohash.core.arrays import Floats, Numbers
from ohash.core.loss import dissimilar_threshold
from ohash.engine.history import LogBins
from ohash.engine.narrative import amount
from ohash.engine.observer import WINDOW
from ohash.engine.snapshot import Snapshot
from ohash.plots import theme
from ohash.plots.chart import Axis, Chart, Mark, Series
from ohash.plots.live.axes import (
    current,
    decades,
    empty_chart,
    first_x,
    last,
    learns_from_pairs,
    marks,
    pairs_axis,
    round_up,
    title_of,
    unavailable_chart,
    x_of,
)

# Bars of a histogram of distances: longer codes have several distances a bar.
MAX_BARS = 128
SYMBOLS = {"R": "R", "loss": "ℓ"}


def hills(now: Snapshot) -> Chart:
    """Hamming distances of the recent similar and dissimilar pairs, each in share of pairs."""
    r = len(now.recent["similar"]) - 1
    similar, dissimilar = now.recent["similar"], now.recent["dissimilar"]
    x_axis = Axis("Hamming distance", unit="bits", lo=-0.5, hi=r + 0.5, format="count")
    y_axis = Axis("share of pairs", unit="%", lo=0, format="percent")
    if not similar.sum() + dissimilar.sum():
        return empty_chart("No pair has arrived yet", x_axis, y_axis)
    width = -(-(r + 1) // MAX_BARS)
    curves = []
    x, *outlines = _outlines((dissimilar, similar), width)
    for kind, counts, outline in zip(("dissimilar", "similar"), (dissimilar, similar), outlines, strict=True):
        if counts.sum():
            y = 100 * outline / counts.sum()
            curves.append(Series(f"{kind} pairs", x, y, "step", kind, width=theme.NORMAL, fill=0.28))
    p = current(now)
    lines = []
    if hasattr(p, "alpha") and hasattr(p, "beta"):
        br = dissimilar_threshold(p.beta, r)
        lines.append(Mark(p.alpha, f"α = {p.alpha}", role="similar", dash="dashed"))
        lines.append(Mark(br, f"β·r = {formats.number(br)}", role="dissimilar", dash="dashed"))
    distances = np.arange(r + 1)
    means = [float(counts @ distances / counts.sum()) if counts.sum() else math.nan for counts in (similar, dissimilar)]
    title = _hills_title(now.numbers.get("auc", math.nan), means[0], means[1], r)
    caption = f"The last {min(now.t, WINDOW):,} pairs, each measured before it is learnt."
    if lines:
        caption += " Similar pairs should lie at α or below, dissimilar ones at β·r or above."
    if now.numbers.get("bits", r) > r:
        caption += " The distance is that of the nearest of the models."
    top = round_up(max(float(series.y.max()) for series in curves))
    y_axis = Axis("share of pairs", unit="%", lo=0, hi=top, format="percent")
    return Chart(title, x_axis, y_axis, tuple(curves), tuple(lines), caption, f"{title}. Two overlaid histograms.")


def loss(
    now: Snapshot,
    *,
    per_pair: bool = False,
    log: bool = False,
    bound: bool = False,
    what: Literal["R", "loss"] = "R",
) -> Chart:
    """Cumulative loss against the same stream with W frozen; on data that are not separable it alone says little."""
    names = {"R": "loss R", "loss": "prediction loss ℓ"}
    if what not in names:
        raise ValueError(f"what must be one of {', '.join(names)}, got {what!r}")
    x_axis = pairs_axis(now, log=log)
    columns, key = now.columns, f"cum_{what}"
    x, reached = x_of(columns), float(now.t)
    if len(x) and reached > x[-1]:
        x = np.append(x, reached)
    parts = x if per_pair else np.ones(len(x))
    label = f"{names[what]} per pair" if per_pair else f"cumulative {names[what]}"
    short = f"{SYMBOLS[what]} per pair" if per_pair else f"cumulative {SYMBOLS[what]}"
    y_axis = Axis(short, "log" if log or bound else "linear", lo=None if log or bound else 0)
    y_axis = replace(y_axis, format="number" if per_pair else "count")
    if not len(x):
        return empty_chart(f"No {names[what]} yet", x_axis, y_axis)
    frozen = _running_totals(now, f"{key}_frozen", len(x)) / parts
    curves = [Series("W frozen", x, frozen, role="frozen", dash="dashed", width=theme.NORMAL)]
    say = formats.number if per_pair else formats.approximate
    if key not in columns:
        learns = "learns from pairs" if learns_from_pairs(now) else "does not learn from pairs"
        joined = "but" if learns_from_pairs(now) else "and"
        title = f"{title_of(now)} {learns} {joined} reports no loss; the {label} of the first W: {say(last(frozen))}"
        caption = "Only the loss of the first W is known."
        return Chart(title, x_axis, y_axis, tuple(curves), marks(now), caption, f"{title}. Line chart.")
    mine = _running_totals(now, key, len(x)) / parts
    role = theme.method_role(now.params.method)
    curves.append(Series("learning", x, mine, role=role, width=theme.THICK))
    less = 1 - last(mine) / last(frozen) if last(frozen) > 0 else 0.0
    verdict = f": {formats.percent(abs(less))} {'less' if less >= 0 else 'more'}" if last(frozen) > 0 else ""
    title = f"{label[0].upper()}{label[1:]} is {say(last(mine))}; with W frozen {say(last(frozen))}{verdict}"
    caption = "Each pair is scored before it is learnt; the dashed line is the same stream scored by the first W."
    if bound and what == "R" and "bound" in now.checkpoints:
        curve, caption = _bound(now, per_pair, caption)
        curves.append(curve)
    return Chart(title, x_axis, y_axis, tuple(curves), marks(now), caption, f"{title}. Lines over pairs.")


def tau(now: Snapshot, *, recent: bool = True) -> Chart:
    """The uncapped step of each pair, l/norm2, and the cap C through it."""
    counts = now.recent["ratio"] if recent else now.totals["ratio"]
    C = float(getattr(current(now), "C", math.nan))
    lo, hi = decades(C)
    x_axis = Axis("uncapped step, ℓ / ‖x(g−h)ᵀ‖²", "log", lo=lo, hi=hi)
    y_axis = Axis("share of updates", unit="%", lo=0, format="percent")
    if "cum_R" in now.columns and not counts.sum() and now.totals["ratio"].sum():
        why = f"None of these pairs had a loss; {amount(int(now.totals['ratio'].sum()), 'update')} came before them."
        return empty_chart(_no_update(now), x_axis, y_axis, why)
    if not counts.sum() or "cum_R" not in now.columns:
        return unavailable_chart(now, "step size τ", x_axis, y_axis)
    edges = LogBins.edges()
    used = np.flatnonzero(counts)
    lo, hi = decades(C, float(edges[used[0]]), float(edges[used[-1] + 1]))
    x_axis = Axis(x_axis.label, "log", lo=lo, hi=hi)
    rows = slice(max(0, used[0] - 1), used[-1] + 2)
    centre, y = np.sqrt(edges[:-1] * edges[1:])[rows], (100 * counts / counts.sum())[rows]
    above = centre > C
    curves = (
        Series("not capped", centre, np.where(above, 0.0, y), "step", "now", width=theme.THIN, fill=0.45),
        Series("capped at C", centre, np.where(above, y, 0.0), "step", "clipped", width=theme.THIN, fill=0.45),
    )
    bars = float(y[above].sum() / 100)
    title = f"τ is capped at C = {formats.number(C)} in {formats.percent(bars)} of the updates"
    if recent and any(change.name == "C" and 0 <= now.t - change.at < WINDOW for change in now.params.changes):
        title = (
            f"C = {formats.number(C)} would cap {formats.percent(bars)} of the recent updates; some used a different C"
        )
    elif recent:
        capped = formats.percent(now.numbers["clipped_rate"])
        title = f"τ is capped at C = {formats.number(C)} in {capped} of the recent updates"
    caption = (
        f"τ = min(C, ℓ / ‖x(g−h)ᵀ‖²); updates among the last {min(now.t, WINDOW):,} pairs."
        if recent
        else "All updates so far."
    )
    if now.numbers.get("bits", 0) > len(now.recent["similar"]) - 1:
        caption += " The largest step of the models."
    line = Mark(C, f"C = {formats.number(C)}", role="cap")
    y_axis = Axis("share of updates", unit="%", lo=0, hi=round_up(float(y.max())), format="percent")
    return Chart(title, x_axis, y_axis, curves, (line,), caption, f"{title}. Histogram on a logarithmic axis.")


def tau_quantiles(now: Snapshot, *, log: bool = True) -> Chart:
    """Quantiles of the uncapped steps over the pairs, and C with its live changes."""
    x_axis = pairs_axis(now, log=log)
    y_axis = Axis("uncapped step", "log")
    columns = now.columns
    if "ratio_q50" not in columns or not np.isfinite(columns["ratio_q50"]).any():
        return unavailable_chart(now, "step size τ", x_axis, y_axis)
    x = x_of(columns)
    curves = [
        Series("90 %", x, columns["ratio_q90"], role="now", width=theme.THIN),
        Series("median", x, columns["ratio_q50"], role="now", width=theme.THICK),
        Series("10 %", x, columns["ratio_q10"], role="now", width=theme.THIN),
        _cap(now, log),
    ]
    every = np.concatenate([series.y for series in curves])
    lo, hi = decades(*every[np.isfinite(every)].tolist())
    low, middle, high = (formats.number(last(columns[f"ratio_q{q}"]), 2) for q in (10, 50, 90))
    title = f"The median uncapped step is {middle}; 80 % lie between {low} and {high}"
    if not now.recent["ratio"].sum():
        title = f"{_no_update(now)}; before, the median uncapped step was {middle}"
    caption = f"Quantiles over the updates of the last {WINDOW:,} pairs; where a line lies above C, the step is capped."
    y_axis = Axis(y_axis.label, "log", lo=lo, hi=hi)
    return Chart(title, x_axis, y_axis, tuple(curves), marks(now), caption, f"{title}. Lines over pairs, log axis.")


def update_rate(now: Snapshot, *, log: bool = True) -> Chart:
    """Share of recent pairs that changed W, and share of those whose step was capped."""
    x_axis = pairs_axis(now, log=log)
    y_axis = Axis("share", unit="%", lo=0, hi=100, format="percent")
    columns = now.columns
    if "update_rate" not in columns or not len(columns["pairs"]):
        return unavailable_chart(now, "update rate", x_axis, y_axis)
    x = x_of(columns)
    curves = (
        Series("pairs that changed W", x, 100 * columns["update_rate"], role="now", width=theme.THICK),
        Series("of these, capped at C", x, 100 * columns["clipped_rate"], role="clipped", width=theme.NORMAL),
    )
    rate, capped = now.numbers["update_rate"], now.numbers["clipped_rate"]
    title = f"{formats.percent(rate)} of recent pairs changed W, {formats.percent(capped)} of them with τ capped at C"
    if rate == 0:
        title = _no_update(now)
    caption = f"Of the last {WINDOW:,} pairs. A pair without loss changes nothing."
    return Chart(title, x_axis, y_axis, curves, marks(now), caption, f"{title}. Two lines over pairs.")


def _no_update(now: Snapshot) -> str:
    return f"No update among the last {formats.count(min(now.t, WINDOW))} pairs"


def _hills_title(auc: float, similar: float, dissimilar: float, r: int) -> str:
    """The mean distances of both kinds; of one, where the other has not come yet."""
    if math.isnan(similar) or math.isnan(dissimilar):
        kind, mean = ("dissimilar", dissimilar) if math.isnan(similar) else ("similar", similar)
        return f"Only {kind} pairs so far: they differ in {formats.number(mean, 2)} of {r} bits"
    head = f"Pair AUC {formats.share(auc)}: similar" if math.isfinite(auc) else "Similar"
    near, far = formats.number(similar, 2), formats.number(dissimilar, 2)
    return f"{head} pairs differ in {near} of {r} bits, dissimilar ones in {far}"


def _outlines(counts: tuple[Numbers, ...], width: int) -> tuple[Numbers, ...]:
    """Where the bars of `width` distances stand, then their heights; an empty one on each side closes the outline."""
    bars = [np.append(some, np.zeros(-len(some) % width)).reshape(-1, width).sum(axis=1) for some in counts]
    used = np.flatnonzero(np.sum(bars, axis=0))
    rows = np.arange(used[0] - 1, used[-1] + 2)
    return rows * width + (width - 1) / 2, *(np.append(np.insert(one, 0, 0.0), 0.0)[rows + 1] for one in bars)


def _running_totals(now: Snapshot, name: str, n: int) -> Floats:
    """A column of running totals, and the total of this moment where the last row is older."""
    column = now.columns[name]
    return column if len(column) == n else np.append(column, now.numbers[name])


def _bound(now: Snapshot, per_pair: bool, caption: str) -> tuple[Series, str]:
    judged = now.checkpoints
    holds = judged["share_C"] >= 1
    parts = np.maximum(1, judged["pairs"]) if per_pair else 1.0
    values = np.where(holds & (judged["bound"] > 0), judged["bound"] / parts, np.nan)
    curve = Series("certified bound", x_of(judged), values, role="bound", dash="dotted", width=theme.NORMAL)
    if not holds.all():
        caption += " C was too small at some update, so the bound is not shown from there on."
    return curve, caption


def _cap(now: Snapshot, log: bool) -> Series:
    """C over the pairs."""
    changes = [change for change in now.params.changes if change.name == "C" and 0 < change.at <= now.t]
    start = first_x(now) if log else 1  # what lies left of the axis is not drawn
    values = {start: float(getattr(now.model_at(0), "C", math.nan))}
    values |= {max(start, change.at): change.value for change in changes}
    at, C = list(values), list(values.values())
    if now.t > at[-1]:
        at, C = [*at, now.t], [*C, C[-1]]
    return Series("C", np.array(at), np.array(C), "hold", "cap", "dashed", theme.NORMAL)
