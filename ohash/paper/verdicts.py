"""From measurements to a verdict: holds, does not hold, or cannot tell.

A difference of mAP on the test queries has the interval of a paired bootstrap over queries, widened to what the seeds
say: with three seeds or more the t interval of their mean, with fewer by SWING, as one run swings that much between two
moments. Of other numbers the interval is the least and the most of the seeds, or, with fewer than three, a stated
allowance around what was measured. `Effect.interval` says which. A verdict is given only if the whole interval lies on
one side.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ohash.evaluation.significance import ENOUGH_SEEDS, difference_over_seeds
from ohash.paper.figures import FULL
from ohash.paper.measurements import Floats

Verdict = Literal["holds", "does not hold", "cannot tell"]
SWING = 0.02
EQUAL = 0.03  # differences of mAP under this mean nothing
NOISE = 0.2  # of a ratio of times of one run each
POINTS = 0.1  # of a share in one run


@dataclass(frozen=True)
class Effect:
    """A measured number with its interval; `unit` says how it is written, `seeds` on how many runs it rests.

    `interval` says what kind of interval it is. One without width is none, and is not shown.
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
    """A claim on one dataset: what was compared, how large the effect is, the verdict."""

    setting: str
    what: str
    effect: Effect | None
    verdict: Verdict
    note: str = ""

    @property
    def reason(self) -> str:
        """Why it cannot be told: not run or not testable, too few seeds, or too small beside the noise.

        >>> Part("", "", Effect(0.01, -0.02, 0.04, seeds=1), "cannot tell").reason
        'one seed is too few to decide: the full profile has 5'
        """
        if self.verdict != "cannot tell" or self.effect is None:
            return self.note
        seeds = self.effect.seeds
        if 0 < seeds < ENOUGH_SEEDS:
            few = "one seed is" if seeds == 1 else f"{seeds} seeds are"
            return f"{few} too few to decide: the full profile has {FULL.seeds}"
        return (
            f"{seeds} seeds, and the interval still lies on both sides" if seeds else "the interval lies on both sides"
        )


def difference(a: Sequence[Floats], b: Sequence[Floats]) -> Effect:
    """MAP of a less that of b; one array of average precisions a seed, the same queries on both sides."""
    found, seeds = difference_over_seeds(a, b), len(a)
    few = seeds < ENOUGH_SEEDS
    swing = SWING if few else 0.0
    kind = (
        f"95 %, bootstrap over queries, ± {SWING:g} more as {_runs(seeds, 'seed')}"
        if few
        else f"95 %, the wider of bootstrap over queries and t over {seeds} seeds"
    )
    return Effect(found.difference, found.low - swing, found.high + swing, seeds=seeds, interval=kind)


def ratio(a: Sequence[float], b: Sequence[float], unit: str = "x") -> Effect:
    """How many times b goes into a: the mean over seeds and their range, for too few of them NOISE wider."""
    each = np.asarray(a, float) / np.asarray(b, float)
    few = len(each) < ENOUGH_SEEDS
    low, high = (each.min() / (1 + NOISE), each.max() * (1 + NOISE)) if few else (each.min(), each.max())
    kind = f"{_runs(len(each), 'run')}, timings taken to ± {100 * NOISE:g} %" if few else least_to_most(len(each))
    return Effect(float(each.mean()), float(low), float(high), unit, len(each), kind)


def share(values: Sequence[float]) -> Effect:
    """A share, with the range of the seeds, for too few of them POINTS wider."""
    kind = f"taken to ± {100 * POINTS:g} points"
    found = ranged(values, POINTS, kind, "share")
    return replace(found, low=max(0.0, found.low), high=min(1.0, found.high))


def ranged(values: Sequence[float], allowance: float, kind: str, unit: str) -> Effect:
    """The mean of the seeds and their range; with too few of them wider by `allowance`, which `kind` says in words."""
    found = np.asarray(values, float)
    n, few = len(found), len(found) < ENOUGH_SEEDS
    wider = allowance if few else 0.0
    words = f"{_runs(n, 'run')}, {kind}" if few else least_to_most(n)
    return Effect(float(found.mean()), float(found.min()) - wider, float(found.max()) + wider, unit, n, words)


def least_to_most(seeds: int, what: str = "seed") -> str:
    """The interval that is no more than the range, in words."""
    return f"least to most of {seeds} {what}s" if seeds > 1 else f"one {what}, no interval"


def _runs(n: int, what: str) -> str:
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
    """Whether it is as good as nothing."""
    return within(effect, -than, than)


def all_of(verdicts: Sequence[Verdict]) -> Verdict:
    """One that fails is enough; otherwise one that cannot be told is."""
    if not verdicts or "does not hold" in verdicts:
        return "does not hold" if verdicts else "cannot tell"
    return "cannot tell" if "cannot tell" in verdicts else "holds"
