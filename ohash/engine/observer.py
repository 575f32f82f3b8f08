"""Observer: from the columns of learnt pairs to the rows of the history, at exactly the pair counts that are kept.

Windows slide over the recent pairs one by one, and totals run along.
"""

from collections.abc import Callable
from typing import cast

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Array, Counts, Floats, Integers
from ohash.engine.history import History, LogBins
from ohash.evaluation.drift_detectors import DriftMonitor
from ohash.models.base import Trace
from ohash.models.online.oh_params import PairTrace
from ohash.runtime.compile import inline, kernel
from ohash.runtime.frames import Arrays

# What a pair did.
PASSIVE, UPDATED, CLIPPED = range(3)

# Running totals, and rows of `values` (N_TOTALS, pairs).
CUM_R, CUM_LOSS, CUM_R_FROZEN, CUM_LOSS_FROZEN, N_UPDATED, N_DEGENERATE, SUM_P0 = range(7)
N_TOTALS = 7

# Rows of `bins` (N_BINS, pairs), columns of the ring buffer: distances now and frozen, similar?, ratio, tau, outcome.
D_NOW, D_FROZEN, SIMILAR, RATIO, TAU, OUTCOME = range(6)
N_BINS = 6

# Columns of a row, after the totals.
AUC, AUC_FROZEN, UPDATE_RATE, CLIPPED_RATE, Q10, Q50, Q90 = range(N_TOTALS, N_TOTALS + 7)
N_ROW = N_TOTALS + 7


@kernel
def auc(similar: Integers, dissimilar: Integers) -> float:
    """P(a similar pair lies nearer than a dissimilar one), ties counting half."""
    nearer = 0
    twice = 0
    n_dissimilar = 0
    for D in range(similar.shape[0]):
        twice += dissimilar[D] * (2 * nearer + similar[D])
        nearer += similar[D]
        n_dissimilar += dissimilar[D]
    if nearer == 0 or n_dissimilar == 0:
        return np.nan
    return twice / (2.0 * nearer * n_dissimilar)


@inline
def quantile_bin(counts: Integers, total: int, q: float) -> float:
    """The bin that holds quantile q; NaN if there is nothing."""
    if total == 0:
        return np.nan
    reached = 0
    for b in range(counts.shape[0]):
        reached += counts[b]
        if reached >= q * total:
            return float(b)
    return float(counts.shape[0] - 1)


@kernel
def follow(
    start: int,
    bins: Integers,
    values: Floats,
    wanted: Integers,
    ring: Integers,
    totals: Floats,
    D: Integers,
    ratio: Integers,
    tau: Integers,
    outcome: Integers,
    all_ratio: Integers,
    all_tau: Integers,
    rows: Floats,
) -> None:
    """Take pairs start, start + 1, ... in; fill rows[k] when the pair count reaches wanted[k].

    D counts distances, (now and frozen, dissimilar and similar, r + 1); the other windows count bins. Totals are added
    strictly one after another, so that chunking cannot change them. Written without calls: one with five arrays costs
    more than all the rest.
    """
    window = ring.shape[0]
    k = 0
    place = start % window - 1
    for t in range(bins.shape[1]):
        place = place + 1 if place + 1 < window else 0
        for by in (-1, 1):  # the pair that leaves the window, then the one that enters it
            if by < 0:
                if start + t < window:
                    continue
            else:
                for c in range(N_BINS):
                    ring[place, c] = bins[c, t]
            # indices are made unsigned: numba then need not ask whether they count from the end
            similar = np.uint32(ring[place, SIMILAR])
            D[0, similar, np.uint32(ring[place, D_NOW])] += by
            D[1, similar, np.uint32(ring[place, D_FROZEN])] += by
            if ring[place, RATIO] >= 0:
                ratio[np.uint32(ring[place, RATIO])] += by
                tau[np.uint32(ring[place, TAU])] += by
            outcome[np.uint32(ring[place, OUTCOME])] += by
        if bins[RATIO, t] >= 0:
            all_ratio[np.uint32(bins[RATIO, t])] += 1
            all_tau[np.uint32(bins[TAU, t])] += 1
        for c in range(N_TOTALS):
            totals[c] += values[c, t]
        if k < wanted.shape[0] and start + t + 1 == wanted[k]:
            for c in range(N_TOTALS):
                rows[k, c] = totals[c]
            rows[k, AUC] = auc(D[0, 1], D[0, 0])
            rows[k, AUC_FROZEN] = auc(D[1, 1], D[1, 0])
            moved = outcome[UPDATED] + outcome[CLIPPED]
            rows[k, UPDATE_RATE] = moved / max(1, moved + outcome[PASSIVE])
            rows[k, CLIPPED_RATE] = outcome[CLIPPED] / max(1, moved)
            for column, q in ((Q10, 0.1), (Q50, 0.5), (Q90, 0.9)):
                rows[k, column] = quantile_bin(ratio, moved, q)
            k += 1


# Pairs that count as recent, in the AUC, the histograms and the rates.
WINDOW = 2048

TOTALS = ("cum_R", "cum_loss", "cum_R_frozen", "cum_loss_frozen", "updated", "degenerate", "p0")
RECENT = ("auc", "auc_frozen", "update_rate", "clipped_rate", "ratio_q10", "ratio_q50", "ratio_q90")
# A method that does not learn from pairs has no such column rather than zeros.
LEARNER_COLUMNS = (
    "cum_R", "cum_loss", "updated", "degenerate", "p0", "update_rate", "clipped_rate", "ratio_q10", "ratio_q50",
    "ratio_q90",
)  # fmt: skip
STATE = ("ring", "totals", "D", "ratio", "tau", "outcome", "all_ratio", "all_tau")


class Observer:
    """Running totals, sliding windows and rows of one run."""

    def __init__(self, r: int, *, learns: bool) -> None:
        """`learns`: the method reports R, l and tau; otherwise only distances are followed."""
        self.learns = learns
        every = (*TOTALS, *RECENT)
        self._kept = [at for at, name in enumerate(every) if learns or name not in LEARNER_COLUMNS]
        self.columns = History(every[at] for at in self._kept)
        self.ring = np.zeros((WINDOW, N_BINS), np.int32)
        self.totals = np.zeros(N_TOTALS)
        self.D = np.zeros((2, 2, r + 1), np.int64)
        self.ratio, self.tau = np.zeros(LogBins.count, np.int64), np.zeros(LogBins.count, np.int64)
        self.all_ratio, self.all_tau = np.zeros(LogBins.count, np.int64), np.zeros(LogBins.count, np.int64)
        self.outcome = np.zeros(3, np.int64)
        self.drift_monitor = DriftMonitor(r)

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
        bins = np.zeros((N_BINS, n), np.int32)
        values = np.zeros((N_TOTALS, n))
        bins[D_FROZEN], bins[SIMILAR] = D_frozen, s > 0
        bins[D_NOW] = D_frozen if trace is None else _per_pair(trace.D_h, np.min)
        bins[RATIO] = bins[TAU] = -1
        values[CUM_R_FROZEN], values[CUM_LOSS_FROZEN] = R_frozen, loss_frozen
        if trace is not None and self.learns:
            _learning(cast(PairTrace, trace), s > 0, bins, values)
        self.drift_monitor.update(values[CUM_R if self.learns else CUM_R_FROZEN])
        wanted = self.columns.counts_to_keep(start, start + n)
        rows = np.empty((len(wanted), N_ROW))
        follow(
            start, bins, values, wanted, self.ring, self.totals, self.D, self.ratio, self.tau, self.outcome,
            self.all_ratio, self.all_tau, rows,
        )  # fmt: skip
        rows[:, Q10:] = LogBins.centre(rows[:, Q10:])
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
        return float(auc(self.D[0, 1], self.D[0, 0]))

    def total(self, name: str) -> float:
        """A running total by its column's name."""
        return float(self.totals[TOTALS.index(name)])

    def state(self) -> Arrays:
        """For a saved run; the columns are saved apart."""
        return {name: getattr(self, name).copy() for name in STATE}

    def restore(self, state: Arrays) -> None:
        """The inverse of `state`."""
        for name in STATE:
            getattr(self, name)[...] = state[name]


def _learning(trace: PairTrace, similar: npt.NDArray[np.bool_], bins: npt.NDArray[np.int32], values: Floats) -> None:
    R = trace.R if trace.R.ndim == 1 else np.where(similar, trace.R.min(axis=1), trace.R.sum(axis=1))  # Eq. (28)
    updated = _per_pair(trace.updated, np.any)
    tau, ratio = _per_pair(trace.tau, np.max), _per_pair(trace.ratio, np.max)
    clipped = updated & (tau < ratio)
    bins[RATIO] = bins[TAU] = LogBins.index(ratio)
    bins[TAU, clipped] = LogBins.index(tau[clipped])
    bins[OUTCOME] = UPDATED * updated + (CLIPPED - UPDATED) * clipped
    values[CUM_R] = R
    values[CUM_LOSS] = _per_pair(trace.loss, np.sum)
    values[N_UPDATED] = updated
    values[N_DEGENERATE] = _per_pair(trace.degenerate, np.any)
    values[SUM_P0] = _per_pair(trace.p0, np.sum)


def _per_pair(column: Array, combine: Callable[..., Array]) -> Array:
    """A column (n,) as it is, a column (n, T) combined over the models."""
    return column if column.ndim == 1 else np.asarray(combine(column, axis=1))
