"""Both drift detectors on the prequential loss of a run."""

import numpy as np
import numpy.typing as npt

from ohash.evaluation.drift_detectors.adwin import ADWIN
from ohash.evaluation.drift_detectors.base import DriftDetector
from ohash.evaluation.drift_detectors.page_hinkley import PageHinkley
from ohash.runtime.frames import Arrays

# The latest alarms that are kept, per detector and signal.
MAX_ALARMS = 1000
# Least standard deviation of R / r, which is far smaller than 1[R > 0] where codes are nearly right.
R_FLOOR = 0.02


class DriftMonitor:
    """Page-Hinkley and ADWIN on the prequential loss of a run: on 1[R > 0] ("wrong") and on R / r, at most 1 ("R").

    >>> monitor = DriftMonitor(r=8)
    >>> monitor.update(np.zeros(1000)), monitor.update(np.full(1000, 4.0))
    (None, None)
    >>> {name: len(positions) for name, positions in monitor.alarms.items()}
    {'page_hinkley_wrong': 1, 'page_hinkley_R': 1, 'adwin_wrong': 1, 'adwin_R': 1}
    """

    def __init__(self, r: int) -> None:
        """`r` is the number of bits per code."""
        self.r = r
        self.detectors: dict[str, DriftDetector] = {
            "page_hinkley_wrong": PageHinkley(),
            "page_hinkley_R": PageHinkley(floor=R_FLOOR),
            "adwin_wrong": ADWIN(),
            "adwin_R": ADWIN(),
        }
        self._alarms: dict[str, list[int]] = {name: [] for name in self.detectors}

    def update(self, R: npt.ArrayLike) -> None:
        """The loss R >= 0 of each pair, in order, taken before it is learnt."""
        R = np.ascontiguousarray(R, dtype=np.float64)
        if len(R) and not R.min() >= 0:
            raise ValueError(f"R must be a vector of losses >= 0, got {R.min()}; the loss of Eq. (3) is never negative")
        signals = {"wrong": (R > 0).astype(np.float64), "R": np.minimum(R / self.r, 1.0)}
        for name, detector in self.detectors.items():
            positions = detector.update_unchecked(signals[name.rpartition("_")[2]])
            if positions:
                self._alarms[name] = (self._alarms[name] + positions)[-MAX_ALARMS:]

    @property
    def alarms(self) -> dict[str, tuple[int, ...]]:
        """Positions of the latest alarms, by detector and signal."""
        return {name: tuple(positions) for name, positions in self._alarms.items()}

    def reset(self) -> None:
        """Start again because the loss itself was redefined, for example by another beta; alarms so far stay."""
        for detector in self.detectors.values():
            detector.reset()

    def state(self) -> Arrays:
        """Arrays for a saved run."""
        alarms = {f"{name}.found": np.array(positions, np.int64) for name, positions in self._alarms.items()}
        inner = {f"{name}.{key}": value for name, one in self.detectors.items() for key, value in one.state().items()}
        return alarms | inner

    def restore(self, state: Arrays) -> None:
        """The inverse of `state`."""
        for name, detector in self.detectors.items():
            mine = {key.partition(".")[2]: value for key, value in state.items() if key.partition(".")[0] == name}
            self._alarms[name] = [int(position) for position in mine.pop("found")]
            detector.restore(mine)
