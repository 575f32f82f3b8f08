r"""Page-Hinkley (Page, 1954): add up how far values lie above their mean, less a tolerance, never falling below 0.

.. math:: m_t = \max(0,\; m_{t-1} + (x_t - \bar x_{t-1}) / \sigma_{t-1} - \delta), \qquad \text{alarm if } m_t > \lambda

Differs from the textbook: deviations are measured in standard deviations, so that one δ and λ serve a loss of 0.4 as
well as one of 0.01, and mean and variance forget (after `memory` values), so that they follow a model that learns.
After an alarm everything starts again.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Floats, Integers
from ohash.core.parameters import Parameters, param
from ohash.evaluation.drift_detectors.base import check_losses
from ohash.runtime.compile import strict_kernel
from ohash.runtime.frames import Arrays

# State: values since the last alarm, their mean and variance, and the excess m.
COUNT, MEAN, VARIANCE, EXCESS = range(4)


@strict_kernel
def page_hinkley(
    start: int,
    values: Floats,
    state: Floats,
    delta: float,
    threshold: float,
    memory: int,
    warm_up: int,
    floor: float,
    positions: Integers,
) -> int:
    """Process values start, start + 1, ...; write the positions of alarms and return their number."""
    n, mean, variance, excess = state[COUNT], state[MEAN], state[VARIANCE], state[EXCESS]
    alarms = 0
    for t in range(values.shape[0]):
        gap = values[t] - mean
        if n >= warm_up:
            excess = max(0.0, excess + gap / max(floor, np.sqrt(variance)) - delta)
        n += 1.0
        weight = 1.0 / min(n, memory)
        mean += weight * gap
        variance = (1.0 - weight) * (variance + weight * gap * gap)
        if excess > threshold:
            positions[alarms] = start + t
            alarms += 1
            n = mean = variance = excess = 0.0
    state[COUNT], state[MEAN], state[VARIANCE], state[EXCESS] = n, mean, variance, excess
    return alarms


@dataclass(frozen=True)
class PageHinkleyParams(Parameters):
    """How large a rise matters, and how sure the alarm must be."""

    delta: float = param(
        0.05, symbol="δ", title="tolerance", lo=0, hi=10, slider=(0, 1), step=0.01,
        help="A rise of the mean by fewer standard deviations than this is no drift.",
    )  # fmt: skip
    threshold: float = param(
        100.0, symbol="λ", title="threshold", lo=0, hi=1e9, lo_open=True, slider=(10, 1000), scale="log",
        help="Excess, in standard deviations, that sets the alarm off: a larger one means later and rarer alarms.",
    )  # fmt: skip
    memory: int = param(
        2048, symbol="", title="memory", lo=1, hi=10**9, slider=(100, 100_000), scale="log",
        help="How many recent values the running mean and variance remember.",
    )  # fmt: skip
    warm_up: int = param(
        256, symbol="", title="warm-up", lo=1, hi=10**9, slider=(10, 10_000), scale="log",
        help="Values, at the start and after an alarm, that only serve to estimate mean and variance.",
    )  # fmt: skip
    floor: float = param(
        0.05, symbol="", title="minimum deviation", lo=0, hi=1, lo_open=True, slider=(0.001, 0.5), scale="log",
        help="The standard deviation counts as at least this, or one rare loss would be an alarm.",
    )  # fmt: skip


class PageHinkley:
    """The Page-Hinkley test for a rising mean; keywords are the fields of `PageHinkleyParams`.

    After two zeros the mean is 0 and sigma its floor, 0.5: a one adds 1 / 0.5 - 0.05 to the excess; two exceed 3.

    >>> detector = PageHinkley(threshold=3, warm_up=2, floor=0.5)
    >>> detector.update([0, 0, 1]), detector.update([1, 1])
    ([], [3])
    """

    def __init__(self, **params: Any) -> None:
        """Start before the first value."""
        self.params = PageHinkleyParams(**params)
        self._state = np.zeros(4)
        self._seen = 0

    def update(self, values: npt.ArrayLike) -> list[int]:
        """Process values in order; return the positions of alarms among them."""
        return self.update_unchecked(check_losses(values))

    def update_unchecked(self, values: Floats) -> list[int]:
        """`update` for values known to be losses in [0, 1]."""
        p = self.params
        positions = np.empty(len(values) // (p.warm_up + 1) + 1, np.int64)
        count = page_hinkley(
            self._seen, values, self._state, p.delta, p.threshold, p.memory, p.warm_up, p.floor, positions
        )
        self._seen += len(values)
        return list(map(int, positions[:count]))

    def reset(self) -> None:
        """Forget the values, but not the position."""
        self._state[:] = 0

    def state(self) -> Arrays:
        """Arrays for a saved run."""
        return {"state": self._state.copy(), "seen": np.array(self._seen)}

    def restore(self, state: Arrays) -> None:
        """The inverse of `state`."""
        self._state[:] = state["state"]
        self._seen = int(state["seen"])
