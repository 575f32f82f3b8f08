"""From measurements to a verdict: holds, does not hold, cannot tell, or not run yet.

A difference of mAP on the test queries has the interval of `evaluation.significance`: a paired bootstrap over queries,
with three seeds or more at least the t interval of their mean, with fewer widened by three times what seeds were seen
to change. Other numbers have the range of the seeds as their interval, or, with fewer than three, a stated allowance.
`Effect.interval` says which. There is a verdict only if the whole interval lies on one side.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ohash.core.arrays import Floats
from ohash.evaluation.significance import ENOUGH_SEEDS, Intervals, difference_over_seeds, few_seeds_margin, seeds_text
from ohash.paper.protocol import FULL

Verdict = Literal["holds", "does not hold", "cannot tell", "not run yet"]
NEAR = 2.0  # a ratio within this factor of the paper's is about the same
EQUAL = 0.03  # smaller differences of mAP count as none
TIMING_NOISE = 0.2  # of a ratio of times, one run each
SHARE_NOISE = 0.1  # of a share, one run
CORRECTED = "clear alone, but not among so many comparisons: Holm"


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

    def widen(self, factor: float) -> "Effect":
        """The same effect with a wider interval."""
        low, high = (self.value + factor * (end - self.value) for end in (self.low, self.high))
        return replace(self, low=low, high=high)

    def __str__(self) -> str:
        """As a table shows it.

        >>> str(Effect(0.1, 0.05, 0.151)), str(Effect(2.0, 1.6, 2.4, "x")), str(Effect(0.25, 0.2, 0.3, "share"))
        ('+0.100 [+0.050, +0.151]', '2 x [1.6, 2.4]', '25 % [20 %, 30 %]')
        >>> str(Effect(1.0, 1.0, 1.0, "x")), str(Effect(1.00054, 1.0001, 1.0009, "x"))
        ('1 x', '1.0005 x [1.0001, 1.0009]')
        """
        form = {"mAP": "+.3f", "share": ".0%"}.get(self.unit, f".{self._digits}g")
        unit = f" {self.unit}" if self.unit not in ("mAP", "share", "") else ""
        ends = f" [{self.low:{form}}, {self.high:{form}}]" if self.low < self.high else ""
        return f"{self.value:{form}}{unit}{ends}".replace("%", " %")

    @property
    def _digits(self) -> int:
        """How many digits the numbers have, so that none reads as 1 which is not: a ratio is judged by that."""
        numbers = [number for number in (self.value, self.low, self.high) if abs(number - 1) > 1e-6]
        return next((n for n in range(3, 7) if all(float(f"{number:.{n}g}") != 1 for number in numbers)), 7)


Test = Callable[[Effect], Verdict]


@dataclass(frozen=True)
class Part:
    """A claim on one data set: what was compared, the size of the effect, the verdict.

    `test` gives the verdict of an effect, so that it can be put to a stricter test among several parts. A part that is
    not `decisive` is shown beside the others, and does not count.
    """

    setting: str
    what: str
    effect: Effect | None
    verdict: Verdict
    note: str = ""
    test: Test | None = None
    decisive: bool = True

    @classmethod
    def from_test(cls, setting: str, what: str, effect: Effect, test: Test, *, decisive: bool = True) -> "Part":
        """A part whose verdict is that of a test."""
        return cls(setting, what, effect, test(effect), "", test, decisive)

    @property
    def verdict_text(self) -> str:
        """The verdict, and whether it counts, or would be another alone."""
        if not self.decisive:
            return f"{self.verdict} (does not count)"
        return f"{self.verdict} ({CORRECTED})" if self.corrected else self.verdict

    @property
    def corrected(self) -> bool:
        """Whether it was clear alone, and only the correction for several comparisons (`holm`) leaves it open.

        >>> clear = Part.from_test("", "", Effect(0.03, 0.01, 0.05, seeds=5, interval="95 %"), above)
        >>> clear.corrected, replace(clear, verdict="cannot tell").verdict_text
        (False, 'cannot tell (clear alone, but not among so many comparisons: Holm)')
        """
        clear = self.effect is not None and self.test is not None and self.test(self.effect) != "cannot tell"
        return self.verdict == "cannot tell" and clear

    @property
    def reason(self) -> str:
        """Why there is no verdict: not run or not testable, too few seeds, or too small against the noise.

        >>> Part("", "", Effect(0.01, -0.02, 0.04, seeds=1), "cannot tell").reason
        'one seed is too few: the full profile has 5'
        >>> Part("", "", Effect(0.1, 0.05, 0.2, seeds=5, interval=range_text(5, "stream")), "cannot tell").reason
        'the range of 5 streams lies on both sides'
        """
        if self.verdict in ("holds", "does not hold") or self.effect is None:
            return self.note
        seeds = self.effect.seeds
        if 0 < seeds < ENOUGH_SEEDS:
            few = "one seed is" if seeds == 1 else f"{seeds} seeds are"
            return f"{few} too few: the full profile has {FULL.seeds}"
        if self.corrected:
            return CORRECTED
        if self.effect.interval.startswith("range"):
            return f"the {self.effect.interval} lies on both sides"
        return f"the interval of {seeds} seeds still lies on both sides" if seeds else "the interval lies on both sides"


def difference(
    a: Sequence[Floats], b: Sequence[Floats], known: Intervals | None = None, *, same_queries: bool = False
) -> Effect:
    """MAP of a minus that of b; one array of average precisions per seed, the same queries on both sides.

    `known` are bootstrap intervals that need not be computed again; `same_queries` is that of `difference_over_seeds`.
    """
    pooled, seeds = difference_over_seeds(a, b, known=known, same_queries=same_queries), len(a)
    margin = few_seeds_margin(seeds)
    if margin:
        kind = f"95 %, bootstrap over queries, widened by {margin:.3f} for {seeds_text(seeds)}"
    elif same_queries:
        kind = f"95 %, bootstrap over queries, which all {seeds} seeds share, added to t over the seeds"
    else:
        kind = f"95 %, the wider of bootstrap over queries and t over {seeds} seeds"
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
    effect = range_over_seeds(values, SHARE_NOISE, kind, "share")
    return replace(effect, low=max(0.0, effect.low), high=min(1.0, effect.high))


def range_over_seeds(values: Sequence[float], allowance: float, kind: str, unit: str) -> Effect:
    """Mean and range of the seeds; wider by `allowance`, described by `kind`, for too few of them."""
    array = np.asarray(values, float)
    n, few = len(array), len(array) < ENOUGH_SEEDS
    wider = allowance if few else 0.0
    interval = f"{_count(n, 'run')}, {kind}" if few else range_text(n)
    return Effect(float(array.mean()), float(array.min()) - wider, float(array.max()) + wider, unit, n, interval)


def spread_ratio(a: Sequence[float], b: Sequence[float]) -> Effect | None:
    """The ratio of two standard deviations over seeds, with the interval of the F distribution; None with too few."""
    if min(len(a), len(b)) < ENOUGH_SEEDS:
        return None
    from scipy.special import fdtri  # noqa: PLC0415 (slow to import)

    spreads = float(np.std(a, ddof=1)), float(np.std(b, ddof=1))
    value = spreads[0] / max(spreads[1], 1e-12)
    low, high = (value / float(fdtri(len(a) - 1, len(b) - 1, q)) ** 0.5 for q in (0.975, 0.025))
    return Effect(value, low, high, "x", len(a), f"95 %, F distribution of {len(a)} seeds")


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


def about(effect: Effect, times: float) -> Verdict:
    """Whether a ratio is about what the paper says: within a factor of 2 of it."""
    return within(effect, times / NEAR, times * NEAR)


def equal(effect: Effect, than: float = EQUAL) -> Verdict:
    """Whether it is practically zero."""
    return within(effect, -than, than)


def holm(parts: Sequence[Part], level: float = 0.95) -> list[Part]:
    """The parts after Holm's correction: together, not each, they are wrong in at most 5 % of cases.

    The clearest part must be clear at 1 - 0.05 / n, the next at 1 - 0.05 / (n - 1), and so on; after the first that is
    not, nothing else is. Only 95 % intervals are corrected: a range over seeds has no level.
    """
    numbered = [
        at for at, part in enumerate(parts)
        if part.decisive and part.test is not None and part.effect is not None and part.effect.interval.startswith("95")
    ]  # fmt: skip
    numbered.sort(key=lambda at: -_clearest(parts[at]))
    corrected, failed = list(parts), False
    for rank, at in enumerate(numbered):
        part = parts[at]
        assert part.effect is not None and part.test is not None
        needed = _widening(part.effect.seeds, 1 - (1 - level) / (len(numbered) - rank)) / _widening(
            part.effect.seeds, level
        )
        verdict = part.test(part.effect.widen(needed))
        failed = failed or verdict == "cannot tell"
        corrected[at] = replace(part, verdict="cannot tell" if failed else verdict)
    return corrected


def _clearest(part: Part) -> float:
    """The factor by which the interval may be widened before the verdict is lost."""
    assert part.effect is not None and part.test is not None
    factors = [factor for factor in np.geomspace(0.1, 100, 61) if part.test(part.effect.widen(factor)) != "cannot tell"]
    return float(max(factors, default=0.0))


def _widening(seeds: int, level: float) -> float:
    """Standard errors on either side of an interval: of t with enough seeds, else of the normal distribution."""
    from scipy.special import ndtri, stdtrit  # noqa: PLC0415 (slow to import)

    quantile = (1 + level) / 2
    return float(stdtrit(seeds - 1, quantile) if seeds >= ENOUGH_SEEDS else ndtri(quantile))


def all_of(verdicts: Sequence[Verdict]) -> Verdict:
    """One that does not hold decides; else one that cannot be told or was not run; else all hold.

    >>> all_of(["not run yet", "not run yet"]), all_of(["holds", "not run yet"])
    ('not run yet', 'cannot tell')
    """
    if verdicts and all(verdict == "not run yet" for verdict in verdicts):
        return "not run yet"
    if not verdicts or "does not hold" in verdicts:
        return "does not hold" if verdicts else "cannot tell"
    return "holds" if all(verdict == "holds" for verdict in verdicts) else "cannot tell"
