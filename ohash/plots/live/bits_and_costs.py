"""What the learning moved and what it took: bits, models, CPU seconds, and the certificate that the sums are right."""

import math

import numpy as np

from ohash import number_formats as formats
from ohash.core.arrays import Numbers
from ohash.engine.snapshot import Snapshot
from ohash.plots import theme
from ohash.plots.chart import Axis, Chart, Mark, Series
from ohash.plots.live.axes import (
    decades,
    empty_chart,
    first,
    last,
    marks,
    pairs_axis,
    round_up,
    title_of,
    unavailable_chart,
    x_of,
)

MAX_BARS = 256


def bits(now: Snapshot, *, log: bool = False) -> Chart:
    """Bits of the code table computed again, and those that really changed."""
    x_axis, judged = pairs_axis(now, log=log), now.checkpoints
    y_axis = Axis("bits so far", lo=0, format="count")
    if not len(judged["pairs"]):
        return empty_chart("No code has been recomputed yet", x_axis, y_axis)
    recomputed, flipped = judged["recomputed"], judged["flipped"]
    of = f", {formats.percent(last(flipped) / last(recomputed))} of those" if last(recomputed) > 0 else ""
    totals = [formats.approximate(last(column)) for column in (recomputed, flipped)]
    title = f"{totals[0]} bits were recomputed and {totals[1]} changed{of}"
    if last(recomputed) == 0:
        title = "No bit of the code table was recomputed"
    curves = (
        Series("recomputed", x_of(judged), recomputed, role="recomputed", dash="dashed"),
        Series("changed", x_of(judged), flipped, role="flipped", width=theme.THICK),
    )
    caption = "When a column of W moves, one bit of every item must be recomputed; few of them change."
    return Chart(title, x_axis, y_axis, curves, marks(now), caption, f"{title}. Two lines over pairs.")


def per_bit(now: Snapshot) -> Chart:
    """How often each bit was updated; the models of MMOH follow one another."""
    x_axis = _bits_axis(*now.bit_updates.shape)
    y_axis = Axis("updates", lo=0, format="count")
    counts = now.bit_updates.ravel()
    if not counts.any():
        return unavailable_chart(now, "updates per bit", x_axis, y_axis)
    curve, width = _bars("updates", counts)
    mean = float(counts.mean())
    lines = [Mark(mean, "", "y", "reference", "dashed"), *_models(*now.bit_updates.shape)]
    largest, least = int(counts.max()), int(counts.min())
    title = f"The busiest bit was updated {formats.count(largest)} times, the least busy {formats.count(least)}"
    caption = f"Dashed: the mean, {formats.approximate(mean)}. A bit that is never updated stays as it was drawn."
    caption += f" Each step is the mean of {width} bits." if width > 1 else ""
    y_axis = Axis("updates", lo=0, hi=round_up(float(curve.y.max())), format="count")
    return Chart(title, x_axis, y_axis, (curve,), tuple(lines), caption, f"{title}. One bar per bit.")


def bit_balance(now: Snapshot) -> Chart:
    """The share of ones of each bit: a bit that halves the data carries most, a constant one nothing."""
    y_axis = Axis("ones", unit="%", lo=0, hi=100, format="percent")
    if not now.bit_ones.size:
        return empty_chart(
            "The balance of the bits has not been measured yet", _bits_axis(*now.bit_updates.shape), y_axis
        )
    shares = now.bit_ones.ravel()
    curve, width = _bars("ones", 100 * shares)
    lines = (Mark(50, "half", "y", "reference", "dashed"), *_models(*now.bit_ones.shape))
    balance = float((1 - np.abs(2 * shares - 1)).mean())
    constant = int(((shares == 0) | (shares == 1)).sum())
    vary = f"all {len(shares)} change from item to item"
    if constant:
        vary = f"{constant} of {len(shares)} {'is' if constant == 1 else 'are'} the same for every item"
    title = f"The bits are {formats.percent(balance)} balanced; {vary}"
    caption = "A bit is balanced when half of the items have it. Measured on the latest evaluated codes."
    caption += f" Each step is the mean of {width} bits." if width > 1 else ""
    x_axis = _bits_axis(*now.bit_ones.shape)
    return Chart(title, x_axis, y_axis, (curve,), lines, caption, f"{title}. One bar per bit.")


def selections(now: Snapshot) -> Chart:
    """How often each model of MMOH was updated."""
    T = max(1, len(now.selections))
    x_axis = Axis("model", lo=0.5, hi=T + 0.5, format="count")
    y_axis = Axis("updates", lo=0, format="count")
    if len(now.selections) < 2:
        name = title_of(now)
        return empty_chart(f"{name} has one model", x_axis, y_axis, f"{name} has no models to choose from; MMOH has.")
    total = int(now.selections.sum())
    if total == 0:
        return empty_chart("No model has been updated yet", x_axis, y_axis)
    busiest = int(now.selections.argmax())
    curve = Series("updates", np.arange(1, T + 1), now.selections, "bar", theme.method_role(now.params.method))
    share = formats.percent(now.selections[busiest] / total)
    title = f"Model {busiest + 1} learnt most: {share} of {formats.approximate(total)} updates"
    line = Mark(total / T, "equal shares", "y", "reference", "dashed")
    caption = "A similar pair updates only the model that is nearest to it, a dissimilar one every model that needs it."
    y_axis = Axis("updates", lo=0, hi=round_up(float(now.selections.max())), format="count")
    return Chart(title, x_axis, y_axis, (curve,), (line,), caption, f"{title}. One bar per model.")


def cost(now: Snapshot, *, log: bool = False) -> Chart:
    """CPU seconds of learning, encoding and evaluating."""
    x_axis, judged = pairs_axis(now, log=log), now.checkpoints
    y_axis = Axis("CPU time", unit="s", lo=0)
    if not len(judged["pairs"]):
        return empty_chart("No CPU time has been recorded yet", x_axis, y_axis)
    parts = (("learning", "learn"), ("encoding", "encode"), ("evaluation", "evaluate"))
    x = x_of(judged)
    curves = tuple(Series(name, x, judged[f"cpu_{key}"], role=key) for name, key in parts)
    spent = [f"{formats.number(last(judged[f'cpu_{key}']), 2)} s {name}" for name, key in parts]
    title = f"CPU time: {', '.join(spent)}"
    learnt = formats.approximate(now.t / last(judged["cpu_learn"])) if last(judged["cpu_learn"]) > 0 else formats.NONE
    caption = f"{learnt} pairs learnt per second. Encoding and evaluation happen at checkpoints."
    return Chart(title, x_axis, y_axis, curves, marks(now), caption, f"{title}. Three lines over pairs.")


def certificate(now: Snapshot, *, log: bool = True) -> Chart:
    """The relative gap of an identity that holds exactly on paper: the numerical health of the run."""
    x_axis, judged = pairs_axis(now, log=log), now.checkpoints
    gap = judged["gap"]
    y_axis = Axis("relative gap", "log", lo=1e-17, hi=1, format="power")
    positive = gap[gap > 0]
    if not np.isfinite(gap).any():
        return unavailable_chart(now, "certificate", x_axis, y_axis)
    lo, hi = decades(*positive.tolist()) if len(positive) else (1e-17, 1e-15)
    curves = (Series("gap", x_of(judged), gap, role="now", width=theme.THICK),)
    title = f"Both sides of the identity agree up to {formats.number(last(gap), 2)} of their size"
    if last(gap) == 0:
        title = "Both sides of the identity agree to the last digit"
    need = last(judged["required_C"])
    enough = last(judged["share_C"])
    caption = "About 10⁻¹⁵ in float64; float32 shows its rounding."
    if math.isfinite(need) and math.isfinite(first(judged["share_C"])):
        caption += (
            f" The bound requires C ≥ {formats.number(need)}: satisfied at {formats.percent(enough)} of the updates."
        )
    y_axis = Axis("relative gap", "log", lo=lo, hi=hi, format="power")
    return Chart(title, x_axis, y_axis, curves, marks(now), caption, f"{title}. Line over pairs, logarithmic axis.")


def _bits_axis(T: int, r: int) -> Axis:
    return Axis("bit", lo=0.5, hi=T * r + 0.5, format="count")


def _models(T: int, r: int) -> list[Mark]:
    """Where each of several models begins."""
    return [Mark(r * m + 0.5, f"model {m + 1}", role="reference", dash="dotted") for m in range(T) if T > 1]


def _bars(name: str, values: Numbers) -> tuple[Series, int]:
    """One step a bit, or the mean of as many bits as are needed to keep the steps visible."""
    width = -(-len(values) // MAX_BARS)
    whole = np.append(values, np.full(-len(values) % width, np.nan))
    y = np.nanmean(whole.reshape(-1, width), axis=1)
    x = 1 + np.arange(len(y)) * width + (width - 1) / 2
    steps = Series(name, np.r_[0, x, x[-1] + width], np.r_[0, y, 0], "step", "now", width=theme.THIN, fill=0.45)
    return steps, width
