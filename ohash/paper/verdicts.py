"""From measurements to a verdict: holds, does not hold, or cannot tell.

A difference of mAP on the test queries has the interval of `evaluation.significance`: a paired bootstrap over queries,
with three seeds or more at least the t interval of their mean, with fewer widened by three times what seeds were seen
to change. Other numbers have the range of the seeds as their interval, or, with fewer than three, a stated allowance.
`Effect.interval` says which. There is a verdict only if the whole interval lies on one side.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ohash.evaluation.significance import ENOUGH_SEEDS, difference_over_seeds, few_seeds_margin, seeds_text
from ohash.paper.figures import FULL
from ohash.paper.measurements import Floats

Verdict = Literal["holds", "does not hold", "cannot tell"]
EQUAL = 0.03  # smaller differences of mAP count as none
TIMING_NOISE = 0.2  # of a ratio of times, one run each
SHARE_NOISE = 0.1  # of a share, one run


@dataclass(frozen=True)
class Effect:
    """A measured number with its interval; `unit` decides its format, `seeds` is the number of runs.

    `interval` describes the kind of interval. An interval without width is not shown.
    """

    value: float
    low: float
    high: float
    unit: str = "mAP"
    seeds: int = 0
    interval: str = ""

    def __str__(self) -> str:
        """As a table shows it.

        >>> str(Effect(0.1, 0.05, 0.151)), str(Effect(2.0, 1.6, 2.4, "x")), str(Effect(0.25, 0.2, 0.3, "share"))
        ('+0.100 [+0.050, +0.151]', '2 x [1.6, 2.4]', '25 % [20 %, 30 %]')
        >>> str(Effect(1.0, 1.0, 1.0, "x"))
        '1 x'
        """
        form = {"mAP": "+.3f", "share": ".0%"}.get(self.unit, ".3g")
        unit = f" {self.unit}" if self.unit not in ("mAP", "share", "") else ""
        ends = f" [{self.low:{form}}, {self.high:{form}}]" if self.low < self.high else ""
        return f"{self.value:{form}}{unit}{ends}".replace("%", " %")


@dataclass(frozen=True)
class Part:
    """A claim on one data set: what was compared, the size of the effect, the verdict."""

    setting: str
    what: str
    effect: Effect | None
    verdict: Verdict
    note: str = ""

    @property
    def reason(self) -> str:
        """Why there is no verdict: not run or not testable, too few seeds, or too small against the noise.

        >>> Part("", "", Effect(0.01, -0.02, 0.04, seeds=1), "cannot tell").reason
        'one seed is too few: the full profile has 5'
        """
        if self.verdict != "cannot tell" or self.effect is None:
            return self.note
        seeds = self.effect.seeds
        if 0 < seeds < ENOUGH_SEEDS:
            few = "one seed is" if seeds == 1 else f"{seeds} seeds are"
            return f"{few} too few: the full profile has {FULL.seeds}"
        return f"the interval of {seeds} seeds still lies on both sides" if seeds else "the interval lies on both sides"


def difference(a: Sequence[Floats], b: Sequence[Floats]) -> Effect:
    """MAP of a minus that of b; one array of average precisions per seed, the same queries on both sides."""
    pooled, seeds = difference_over_seeds(a, b), len(a)
    margin = few_seeds_margin(seeds)
    kind = (
        f"95 %, bootstrap over queries, widened by {margin:.3f} for {seeds_text(seeds)}"
        if margin
        else f"95 %, the wider of bootstrap over queries and t over {seeds} seeds"
    )
    return Effect(pooled.difference, pooled.low, pooled.high, seeds=seeds, interval=kind)


def ratio(a: Sequence[float], b: Sequence[float], unit: str = "x") -> Effect:
    """The ratio a / b: mean and range over seeds, wider by TIMING_NOISE for too few of them."""
    ratios = np.asarray(a, float) / np.asarray(b, float)
    few = len(ratios) < ENOUGH_SEEDS
    wider = 1 + TIMING_NOISE if few else 1.0
    low, high = ratios.min() / wider, ratios.max() * wider
    kind = (
        f"{_count(len(ratios), 'run')}, timings ± {100 * TIMING_NOISE:g} % assumed" if few else range_text(len(ratios))
    )
    return Effect(float(ratios.mean()), float(low), float(high), unit, len(ratios), kind)


def share(values: Sequence[float]) -> Effect:
    """A share, with the range of the seeds, wider by SHARE_NOISE for too few of them."""
    kind = f"± {100 * SHARE_NOISE:g} points assumed"
    effect = ranged(values, SHARE_NOISE, kind, "share")
    return replace(effect, low=max(0.0, effect.low), high=min(1.0, effect.high))


def ranged(values: Sequence[float], allowance: float, kind: str, unit: str) -> Effect:
    """Mean and range of the seeds; wider by `allowance`, described by `kind`, for too few of them."""
    array = np.asarray(values, float)
    n, few = len(array), len(array) < ENOUGH_SEEDS
    wider = allowance if few else 0.0
    interval = f"{_count(n, 'run')}, {kind}" if few else range_text(n)
    return Effect(float(array.mean()), float(array.min()) - wider, float(array.max()) + wider, unit, n, interval)


def range_text(seeds: int, what: str = "seed") -> str:
    """The description of an interval that is the plain range."""
    return f"range of {seeds} {what}s" if seeds > 1 else f"one {what}, no interval"


def _count(n: int, what: str) -> str:
    return f"one {what}" if n == 1 else f"{n} {what}s"


def above(effect: Effect, than: float = 0.0) -> Verdict:
    """Whether it is more than `than`."""
    return "holds" if effect.low > than else "does not hold" if effect.high <= than else "cannot tell"


def below(effect: Effect, than: float) -> Verdict:
    """Whether it is less than `than`."""
    return "holds" if effect.high < than else "does not hold" if effect.low >= than else "cannot tell"


def within(effect: Effect, low: float, high: float) -> Verdict:
    """Whether it lies between two numbers."""
    if low < effect.low and effect.high < high:
        return "holds"
    return "does not hold" if effect.high <= low or effect.low >= high else "cannot tell"


def equal(effect: Effect, than: float = EQUAL) -> Verdict:
    """Whether it is practically zero."""
    return within(effect, -than, than)


def all_of(verdicts: Sequence[Verdict]) -> Verdict:
    """One that does not hold decides; else one that cannot be told; else all hold."""
    if not verdicts or "does not hold" in verdicts:
        return "does not hold" if verdicts else "cannot tell"
    return "cannot tell" if "cannot tell" in verdicts else "holds"
