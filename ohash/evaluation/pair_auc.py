"""Quality from the stream of pairs itself: each pair is scored before it is learnt (prequential).

Similar pairs should be nearer than dissimilar ones. The AUC is the probability that they are, ties counting half; it
needs no labels and no database. A pair's distance under T models is the least of the T, as in the ranking.
"""

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.arrays import Floats
from ohash.runtime.frames import Arrays


class PairAUC:
    """AUC of D_h as a detector of dissimilar pairs, over the last `window` pairs.

    >>> auc = PairAUC(r_max=8, window=4)
    >>> auc.update([1, 3, 3, 5], [+1, +1, -1, -1])
    >>> auc.value
    0.875
    >>> auc.update([2, 2], [-1, -1])
    >>> auc.value  # left: a dissimilar pair at 3, one at 5, two at 2; no similar one
    nan
    """

    def __init__(self, r_max: int, window: int = 2000) -> None:
        """Distances go from 0 to `r_max`."""
        self.r_max = validation.integer("r_max", r_max, 1)
        self.window = validation.integer("window", window, 1)
        self._D_h = np.zeros(self.window, np.int64)
        self._similar = np.zeros(self.window, np.bool_)
        self._counts = np.zeros((2, self.r_max + 1), np.int64)  # dissimilar, similar
        self._pairs = 0

    def __len__(self) -> int:
        """Pairs in the window."""
        return min(self._pairs, self.window)

    def update(self, D_h: npt.ArrayLike, s: npt.ArrayLike) -> None:
        """Add pairs in order: distances (n,), or (n, T) of T models, and s = +1 or -1."""
        distances, similar = self._checked(D_h, s)
        last = self._pairs + len(distances)
        distances, similar = distances[-self.window :], similar[-self.window :]
        order = np.arange(last - len(distances), last)  # position of each pair in the whole stream
        at = order % self.window
        leaving = at[order >= self.window]
        if last - self._pairs > self.window:  # more new pairs than the window holds: all old ones leave
            self._counts[:] = 0
        else:
            self._count(self._D_h[leaving], self._similar[leaving], -1)
        self._D_h[at], self._similar[at] = distances, similar
        self._count(distances, similar, +1)
        self._pairs = last

    @property
    def value(self) -> float:
        """P(D_h of a similar pair < D_h of a dissimilar one) + half of P(=); NaN while one kind is missing."""
        dissimilar, similar = self._counts
        n_similar, n_dissimilar = int(similar.sum()), int(dissimilar.sum())
        if not n_similar or not n_dissimilar:
            return float("nan")
        nearer = np.cumsum(similar) - similar
        return float(dissimilar @ (2 * nearer + similar)) / (2 * n_similar * n_dissimilar)

    @property
    def counts(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """How many similar, and dissimilar, pairs of the window lie at each distance 0, ..., r_max."""
        return self._counts[1].copy(), self._counts[0].copy()

    def state(self) -> Arrays:
        """Arrays for a saved run."""
        return {
            "D_h": self._D_h.copy(),
            "similar": self._similar.copy(),
            "size": np.array([self.r_max, self.window, self._pairs]),
        }

    @classmethod
    def from_state(cls, state: Arrays) -> "PairAUC":
        """The inverse of `state`."""
        r_max, window, pairs = (int(v) for v in state["size"])
        auc = cls(r_max, window)
        auc._D_h[:], auc._similar[:], auc._pairs = state["D_h"], state["similar"], pairs
        auc._count(auc._D_h[: len(auc)], auc._similar[: len(auc)], +1)
        return auc

    def _count(self, D_h: npt.NDArray[np.int64], similar: npt.NDArray[np.bool_], sign: int) -> None:
        for kind in (0, 1):
            self._counts[kind] += sign * np.bincount(D_h[similar == kind], minlength=self.r_max + 1)

    def _checked(self, D_h: npt.ArrayLike, s: npt.ArrayLike) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        distances, labels = np.asarray(D_h), np.asarray(s)
        if distances.ndim == 2 and distances.shape[1]:
            distances = distances.min(axis=1)
        if distances.ndim != 1 or (distances.size and distances.dtype.kind not in "iu"):
            raise ValueError(
                f"D_h must be integers, (n,) or (n, T), got dtype {distances.dtype} and shape {np.shape(D_h)}"
            )
        if distances.size and (distances.min() < 0 or distances.max() > self.r_max):
            bad = distances[(distances < 0) | (distances > self.r_max)][0]
            raise ValueError(f"D_h must lie in 0 to r_max = {self.r_max}, got {bad}; set r_max to the bits per code")
        if labels.shape != distances.shape or not np.isin(labels, (-1, 1)).all():
            raise ValueError(
                f"s must hold +1 (similar) or -1 (dissimilar) for each of the {distances.size} pairs, got {s!r:.60}"
            )
        return distances.astype(np.int64), labels > 0


def area_under(pairs: npt.ArrayLike, values: npt.ArrayLike) -> float:
    """Trapezoid area under a metric over the pairs, divided by their span: a mean that uneven checkpoints do not bias.

    >>> area_under([0, 100, 400], [0.0, 1.0, 1.0])
    0.875
    """
    x, y = _checkpoints(pairs, values)
    if len(x) == 1:
        return float(y[0])
    return float(np.trapezoid(y, x) / (x[-1] - x[0]))


def checkpoint_mean(values: npt.ArrayLike) -> float:
    """The plain mean over checkpoints, which the MIHash benchmark calls AUC.

    >>> checkpoint_mean([0.0, 1.0, 1.0])  # doctest: +ELLIPSIS
    0.666...
    """
    y = np.asarray(values, dtype=np.float64)
    return float(_checkpoints(np.arange(y.size), y)[1].mean())


def _checkpoints(pairs: npt.ArrayLike, values: npt.ArrayLike) -> tuple[Floats, Floats]:
    x, y = np.asarray(pairs, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if y.ndim != 1 or not y.size or x.shape != y.shape:
        raise ValueError(f"values must be a non-empty vector as long as pairs, got shapes {y.shape} and {x.shape}")
    if (np.diff(x) <= 0).any():
        raise ValueError("pairs must rise from checkpoint to checkpoint; sort them and drop repeated ones")
    return x, y
