"""Observer: from the columns of learnt pairs to the rows of the history, at exactly the pair counts that are kept."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.evaluation.alarms import Watch
from ohash.experiment import observer_kernels as kernels
from ohash.experiment.history import History, LogBins
from ohash.models.base import Trace

# Pairs that count as recent, in the AUC, the histograms and the rates.
WINDOW = 2048

TOTALS = ("cum_R", "cum_loss", "cum_R_frozen", "cum_loss_frozen", "updated", "degenerate", "p0")
RECENT = ("auc", "auc_frozen", "update_rate", "clipped_rate", "ratio_q10", "ratio_q50", "ratio_q90")
# A method that does not learn from pairs has no such column rather than zeros.
OF_LEARNERS = (
    "cum_R", "cum_loss", "updated", "degenerate", "p0", "update_rate", "clipped_rate", "ratio_q10", "ratio_q50",
    "ratio_q90",
)  # fmt: skip
STATE = ("ring", "totals", "D", "ratio", "tau", "outcome", "all_ratio", "all_tau")

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


class Observer:
    """Running totals, sliding windows and rows of one run."""

    def __init__(self, r: int, *, learns: bool) -> None:
        """`learns`: the method reports R, l and tau; otherwise only distances are followed."""
        self.learns = learns
        every = (*TOTALS, *RECENT)
        self._kept = [at for at, name in enumerate(every) if learns or name not in OF_LEARNERS]
        self.columns = History(every[at] for at in self._kept)
        self.ring = np.zeros((WINDOW, kernels.N_BINS), np.int32)
        self.totals = np.zeros(kernels.N_TOTALS)
        self.D = np.zeros((2, 2, r + 1), np.int64)
        self.ratio, self.tau = np.zeros(LogBins.count, np.int64), np.zeros(LogBins.count, np.int64)
        self.all_ratio, self.all_tau = np.zeros(LogBins.count, np.int64), np.zeros(LogBins.count, np.int64)
        self.outcome = np.zeros(3, np.int64)
        self.watch = Watch(r)

    def observe(
        self,
        start: int,
        s: npt.NDArray[np.int8],
        trace: Trace | None,
        D_frozen: Counts,
        R_frozen: Floats,
        loss_frozen: Floats,
    ) -> None:
        """Pairs start, start + 1, ... have been learnt; `trace` is None for a method that does not learn from pairs."""
        n = len(s)
        bins = np.zeros((kernels.N_BINS, n), np.int32)
        values = np.zeros((kernels.N_TOTALS, n))
        bins[kernels.D_FROZEN], bins[kernels.SIMILAR] = D_frozen, s > 0
        bins[kernels.D_NOW] = D_frozen if trace is None else _per_pair(trace.D_h, np.min)
        bins[kernels.RATIO] = bins[kernels.TAU] = -1
        values[kernels.CUM_R_FROZEN], values[kernels.CUM_LOSS_FROZEN] = R_frozen, loss_frozen
        if trace is not None and self.learns:
            _learning(trace, s > 0, bins, values)
        self.watch.push(values[kernels.CUM_R if self.learns else kernels.CUM_R_FROZEN])
        wanted = self.columns.wanted(start, start + n)
        rows = np.empty((len(wanted), kernels.N_ROW))
        kernels.follow(
            start, bins, values, wanted, self.ring, self.totals, self.D, self.ratio, self.tau, self.outcome,
            self.all_ratio, self.all_tau, rows,
        )  # fmt: skip
        rows[:, kernels.Q10 :] = LogBins.centre(rows[:, kernels.Q10 :])
        self.columns.extend(wanted, rows[:, self._kept])

    @property
    def recent(self) -> dict[str, Counts]:
        """Histograms of the last pairs: distances of similar and dissimilar ones, l/norm2, tau, and what pairs did."""
        return {
            "similar": self.D[0, 1].copy(),
            "dissimilar": self.D[0, 0].copy(),
            "similar_frozen": self.D[1, 1].copy(),
            "dissimilar_frozen": self.D[1, 0].copy(),
            "ratio": self.ratio.copy(),
            "tau": self.tau.copy(),
            "outcome": self.outcome.copy(),
        }

    @property
    def auc(self) -> float:
        """Pair-AUC of the window."""
        return float(kernels.auc(self.D[0, 1], self.D[0, 0]))

    def total(self, name: str) -> float:
        """A running total by its column's name."""
        return float(self.totals[TOTALS.index(name)])

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """For a saved run; the columns are saved apart."""
        return {name: getattr(self, name).copy() for name in STATE}

    def restore(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """The inverse of `state`."""
        for name in STATE:
            getattr(self, name)[...] = state[name]


def _learning(trace: Any, similar: npt.NDArray[np.bool_], bins: npt.NDArray[np.int32], values: Floats) -> None:
    R = trace.R if trace.R.ndim == 1 else np.where(similar, trace.R.min(axis=1), trace.R.sum(axis=1))  # Eq. (28)
    updated = _per_pair(trace.updated, np.any)
    tau, ratio = _per_pair(trace.tau, np.max), _per_pair(trace.ratio, np.max)
    clipped = updated & (tau < ratio)
    bins[kernels.RATIO] = bins[kernels.TAU] = LogBins.index(ratio)
    bins[kernels.TAU, clipped] = LogBins.index(tau[clipped])
    bins[kernels.OUTCOME] = kernels.UPDATED * updated + (kernels.CLIPPED - kernels.UPDATED) * clipped
    values[kernels.CUM_R] = R
    values[kernels.CUM_LOSS] = _per_pair(trace.loss, np.sum)
    values[kernels.N_UPDATED] = updated
    values[kernels.N_DEGENERATE] = _per_pair(trace.degenerate, np.any)
    values[kernels.SUM_P0] = _per_pair(trace.p0, np.sum)


def _per_pair(column: npt.NDArray[Any], combine: Any) -> npt.NDArray[Any]:
    """A column (n,) as it is, a column (n, T) combined over the models."""
    return column if column.ndim == 1 else np.asarray(combine(column, axis=1))
