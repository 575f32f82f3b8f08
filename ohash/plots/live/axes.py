"""What every chart of a run shares: the pair axis, the marks upon it, the parameters in force, the empty state.

`AxisRanges` keeps the ends of axes during a run: they grow and do not snap back.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np

from ohash import number_formats as formats
from ohash.core.arrays import Numbers
from ohash.core.parameters import Parameters
from ohash.engine.checkpoints import EARLY, FIRST_CHECKPOINT
from ohash.engine.params import rows_of
from ohash.engine.snapshot import Snapshot
from ohash.models import registry
from ohash.plots.chart import Axis, Chart, Mark
from ohash.plots.layout import limits

Which = Literal["x", "y"]
NOTHING_YET = "Nothing measured yet."
NO_UPDATE_YET = "No pair has needed an update so far."
COARSE = (1.0, 2.0, 5.0, 10.0)
FINE = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)


def pairs_axis(now: Snapshot, *, log: bool = True) -> Axis:
    """Pairs learnt: from the first checkpoint to the known end if logarithmic, or else growing in steps."""
    if not log:
        return Axis("pairs", lo=0, hi=round_up(max(100, now.t), FINE), format="count")
    return Axis("pairs", "log", lo=first_x(now), hi=_end(now), format="count")


def first_x(now: Snapshot) -> int:
    """Where a logarithmic axis begins: at the first checkpoint after the start, or at pair 1 of a short run."""
    return EARLY[0] if _end(now) > FIRST_CHECKPOINT else 1


def _end(now: Snapshot) -> float:
    return max(now.t, now.numbers.get("end", 0.0), 2.0)


def round_up(value: float, steps: tuple[float, ...] = FINE) -> float:
    """The next of some steps times a power of ten.

    >>> round_up(12_400, COARSE), round_up(20_000, COARSE), round_up(0.031)
    (20000.0, 20000.0, 0.04)
    """
    unit = 10.0 ** math.floor(math.log10(value))
    return float(f"{next(step for step in steps if step * unit >= value * (1 - 1e-9)) * unit:.6g}")


def decades(*values: float) -> tuple[float, float]:
    """Powers of ten around some positive numbers, two apart at least.

    >>> decades(0.03, 0.4), decades(0.1)
    ((0.01, 1.0), (0.01, 1.0))
    """
    logs = [math.log10(value) for value in values if value > 0 and math.isfinite(value)] or [0.0]
    low, high = math.floor(min(logs) + 1e-9), math.ceil(max(logs) - 1e-9)
    while high - low < 2:
        if min(logs) - low < high - max(logs):
            low -= 1
        else:
            high += 1
    return float(f"1e{low}"), float(f"1e{high}")


def x_of(columns: Mapping[str, Numbers]) -> Numbers:
    """The pair counts; a logarithmic axis leaves out pair 0, whose value a dashed line shows."""
    return np.asarray(columns["pairs"])


def share_limits(*parts: Numbers) -> tuple[float, float]:
    """Tenths around some shares, within 0 and 1."""
    values = np.concatenate([np.asarray(part, np.float64) for part in parts]) if parts else np.empty(0)
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    low, high = max(0, math.floor(values.min() * 10 - 0.1)), min(10, math.ceil(values.max() * 10 + 0.1))
    return (low - (low > 0 and high - low < 2)) / 10, high / 10


def marks(now: Snapshot) -> tuple[Mark, ...]:
    """Live changes and drift so far, one mark per pair count."""
    rows = rows_of(now.params) if now.params.changes else {}
    values_at: dict[int, list[str]] = {}
    for change in now.params.changes:
        if change.at <= now.t:
            values_at.setdefault(change.at, []).append(f"{rows[change.name].symbol} = {formats.number(change.value)}")
    changes = [
        Mark(max(first_x(now), at), ", ".join(parts), role="change", dash="dotted") for at, parts in values_at.items()
    ]
    return (*changes, *_drift_marks(now))


def _drift_marks(now: Snapshot) -> list[Mark]:
    edges = now.params.drift.boundaries
    reached = [at for at in (edges[:1] if len(edges) < 2 else (edges[0], edges[-1])) if at <= now.t]
    names = ["drift"] if len(edges) < 2 else ["drift begins", "drift ends"]
    return [Mark(at, name, role="drift", dash="dashed") for at, name in zip(reached, names, strict=False)]


def current(now: Snapshot) -> Parameters:
    """The model's parameters after the changes so far."""
    return now.model_at(now.t)


def title_of(now: Snapshot) -> str:
    """The method's name; its key where the method is unknown here."""
    hashers = registry.hashers()
    return hashers[now.params.method].title if now.params.method in hashers else now.params.method


def empty_chart(title: str, x: Axis, y: Axis, caption: str = NOTHING_YET) -> Chart:
    """A chart without series that says why."""
    return Chart(title, x, y, caption=caption, alt=f"{title}. {caption}")


def unavailable_chart(now: Snapshot, what: str, x: Axis, y: Axis) -> Chart:
    """A chart that this method does not have, or not yet."""
    if "cum_R" in now.columns:
        return empty_chart(f"No {what} yet", x, y, NO_UPDATE_YET if now.t else NOTHING_YET)
    if learns_from_pairs(now):
        why = f"{title_of(now)} learns from pairs, but reports neither a loss nor a step size."
    else:
        why = f"{title_of(now)} does not learn from pairs, so it has no {what}."
    return empty_chart(f"{title_of(now)} has no {what}", x, y, why)


def learns_from_pairs(now: Snapshot) -> bool:
    """Whether the method consumes pairs; False where the method is unknown here."""
    spec = registry.hashers().get(now.params.method)
    return spec is not None and spec.consumes == "pairs"


def last(column: Numbers) -> float:
    """The last finite value; NaN if there is none."""
    finite = column[np.isfinite(column)]
    return float(finite[-1]) if len(finite) else math.nan


def first(column: Numbers) -> float:
    """The first finite value; NaN if there is none."""
    finite = column[np.isfinite(column)]
    return float(finite[0]) if len(finite) else math.nan


class AxisRanges:
    """The widest range that each axis of a run has had."""

    def __init__(self) -> None:
        """No axis has been drawn yet."""
        self._widest: dict[tuple[str, Which, str, str], tuple[float, float]] = {}

    def widen(self, key: str, chart: Chart, *, remember: bool = True) -> Chart:
        """The chart on axes that are at least as wide as before.

        Without `remember` its range does not count later: the shares of the first few pairs reach 100 %.
        """
        if chart.empty:
            return chart
        return replace(chart, x=self._axis(key, "x", chart, remember), y=self._axis(key, "y", chart, remember))

    def _axis(self, key: str, which: Which, chart: Chart, remember: bool) -> Axis:
        axis: Axis = getattr(chart, which)
        name = key, which, axis.label, axis.scale  # another score or scale has its own
        lo, hi = limits(chart, which)
        low, high = self._widest.get(name, (lo, hi))
        ends = min(lo, low), max(hi, high)
        if remember:
            self._widest[name] = ends
        return replace(axis, lo=ends[0], hi=ends[1])
