"""From measurements to a verdict: holds, does not hold, or cannot tell.

The effect is a difference of mAP on the test queries. Its interval is that of a paired bootstrap over queries, widened
to what the seeds say: with three seeds or more the t interval of their mean, with fewer by SWING, as one run swings
that much between two moments. A verdict is given only if the whole interval lies on one side.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ohash.evaluation.significance import paired_bootstrap
from ohash.experiment.paper.figures import FULL
from ohash.experiment.paper.measured import Floats

Verdict = Literal["holds", "does not hold", "cannot tell"]
SWING = 0.02
EQUAL = 0.03  # differences of mAP under this mean nothing
NOISE = 0.2  # of a ratio of times of one run each
ENOUGH = 3  # seeds whose own spread says how sure a number is


@dataclass(frozen=True)
class Effect:
    """A measured number with its interval; `unit` says how it is written, `seeds` on how many runs it rests."""

    value: float
    low: float
    high: float
    unit: str = "mAP"
    seeds: int = 0

    def __str__(self) -> str:
        """As a table shows it.

        >>> str(Effect(0.1, 0.05, 0.151)), str(Effect(2.0, 1.6, 2.4, "x")), str(Effect(0.25, 0.2, 0.3, "share"))
        ('+0.100 [+0.050, +0.151]', '2 x [1.6, 2.4]', '25 % [20 %, 30 %]')
        """
        if self.unit == "mAP":
            return f"{self.value:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"
        if self.unit == "share":
            return f"{self.value:.0%} [{self.low:.0%}, {self.high:.0%}]".replace("%", " %")
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.value:.3g}{unit} [{self.low:.3g}, {self.high:.3g}]"


@dataclass(frozen=True)
class Part:
    """A claim on one dataset: what was compared, how large the effect is, the verdict."""

    setting: str
    what: str
    effect: Effect | None
    verdict: Verdict
    note: str = ""

    @property
    def why(self) -> str:
        """Why it cannot be told: not run or not testable, too few seeds, or too small beside the noise.

        >>> Part("", "", Effect(0.01, -0.02, 0.04, seeds=1), "cannot tell").why
        'one seed is too few to decide: the full profile has 5'
        """
        if self.verdict != "cannot tell" or self.effect is None:
            return self.note
        seeds = self.effect.seeds
        if 0 < seeds < ENOUGH:
            few = "one seed is" if seeds == 1 else f"{seeds} seeds are"
            return f"{few} too few to decide: the full profile has {FULL.seeds}"
        return (
            f"{seeds} seeds, and the interval still lies on both sides" if seeds else "the interval lies on both sides"
        )


def difference(a: Sequence[Floats], b: Sequence[Floats]) -> Effect:
    """MAP of a less that of b; one array of average precisions a seed, the same queries on both sides."""
    found = paired_bootstrap(np.concatenate(a), np.concatenate(b))
    low, high = found.low, found.high
    gains = np.array([float(np.nanmean(one - other)) for one, other in zip(a, b, strict=True)])
    if len(gains) >= ENOUGH:
        from scipy.stats import t  # noqa: PLC0415

        half = float(t.ppf(0.975, len(gains) - 1) * gains.std(ddof=1) / np.sqrt(len(gains)))
        low, high = min(low, gains.mean() - half), max(high, gains.mean() + half)
    else:
        low, high = low - SWING, high + SWING
    return Effect(found.difference, float(low), float(high), seeds=len(gains))


def ratio(a: Sequence[float], b: Sequence[float], unit: str = "x") -> Effect:
    """How many times b goes into a: the mean over seeds, the range of the seeds, at least NOISE wide for one."""
    each = np.asarray(a, float) / np.asarray(b, float)
    value = float(each.mean())
    if len(each) >= ENOUGH:
        return Effect(value, float(each.min()), float(each.max()), unit, len(each))
    return Effect(value, value / (1 + NOISE), value * (1 + NOISE), unit, len(each))


def share(values: Sequence[float]) -> Effect:
    """A share, with the range of the seeds."""
    found = np.asarray(values, float)
    return Effect(float(found.mean()), float(found.min()), float(found.max()), "share", len(found))


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
