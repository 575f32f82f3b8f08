"""Observer: from the columns of learnt pairs to the rows of the history, at exactly the pair counts that are kept."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.evaluation.online import PairAUC
from ohash.experiment.history import Columns, LogBins, RecentHistogram
from ohash.models.base import Trace

STREAM_COLUMNS = ("cum_R_frozen", "cum_loss_frozen", "auc", "auc_frozen")
LEARNING_COLUMNS = (
    "cum_R", "cum_loss", "updated", "update_rate", "clipped_rate", "ratio_q10", "ratio_q50", "ratio_q90", "p0_mean",
    "degenerate",
)  # fmt: skip
# What a pair did, as a bin of `outcomes`.
PASSIVE, UPDATED, CLIPPED = range(3)
# Pairs that count as recent.
WINDOW = 2048


class Observer:
    """Running totals, windows and rows of one run."""

    def __init__(self, r: int, *, learns: bool) -> None:
        """`learns`: the method reports R, l and tau; otherwise only distances are followed."""
        self.r, self.learns = r, learns
        self.columns = Columns((*STREAM_COLUMNS, *(LEARNING_COLUMNS if learns else ())))
        self.totals = dict.fromkeys(
            ("cum_R", "cum_loss", "cum_R_frozen", "cum_loss_frozen", "updated", "degenerate", "p0"), 0.0
        )
        self.auc, self.auc_frozen = PairAUC(r, WINDOW), PairAUC(r, WINDOW)
        self.windows = {
            "ratio": RecentHistogram(LogBins.count, WINDOW),
            "tau": RecentHistogram(LogBins.count, WINDOW),
            "outcomes": RecentHistogram(3, WINDOW),
        }

    def observe(
        self,
        start: int,
        s: npt.NDArray[np.int8],
        trace: Trace | None,
        D_frozen: npt.NDArray[np.int64],
        R_frozen: npt.NDArray[np.float64],
        loss_frozen: npt.NDArray[np.float64],
    ) -> None:
        """Pairs start, start + 1, ... have been learnt; `trace` is None for a method that does not learn from pairs."""
        sums: dict[str, npt.NDArray[np.float64]] = {}
        for name, values in (("cum_R_frozen", R_frozen), ("cum_loss_frozen", loss_frozen)):
            sums[name] = self._running(name, values)
        D_h = D_frozen
        bins: dict[str, npt.NDArray[np.int64]] = {}
        if trace is not None:
            D_h = _per_pair(trace.D_h, np.min)
            bins = self._learning(trace, s > 0, sums)
        self._rows(start, s, D_h, D_frozen, bins, sums)

    def _learning(self, trace: Any, similar: npt.NDArray[np.bool_], sums: dict[str, Any]) -> dict[str, Any]:
        R = trace.R if trace.R.ndim == 1 else np.where(similar, trace.R.min(axis=1), trace.R.sum(axis=1))  # Eq. (28)
        updated = _per_pair(trace.updated, np.any)
        tau, ratio = _per_pair(trace.tau, np.max), _per_pair(trace.ratio, np.max)
        for name, values in (
            ("cum_R", R),
            ("cum_loss", _per_pair(trace.loss, np.sum)),
            ("updated", updated),
            ("degenerate", _per_pair(trace.degenerate, np.any)),
            ("p0", _per_pair(trace.p0, np.sum)),
        ):
            sums[name] = self._running(name, values)
        clipped = updated & (tau < ratio)
        return {
            "ratio": LogBins.index(ratio),
            "tau": LogBins.index(tau),
            "outcomes": np.where(clipped, CLIPPED, np.where(updated, UPDATED, PASSIVE)),
        }

    def _running(self, name: str, values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Running totals after each pair, added strictly one after another, so that chunking cannot change them."""
        sums = np.add.accumulate(np.concatenate([[self.totals[name]], values.astype(np.float64)]))[1:]
        self.totals[name] = float(sums[-1])
        return sums

    def _rows(
        self, start: int, s: Any, D_h: Any, D_frozen: Any, bins: dict[str, Any], sums: dict[str, Any]
    ) -> None:
        done, stop = start, start + len(s)
        while done < stop:
            at = self.columns.next_after(done)
            until = min(at, stop)
            part = slice(done - start, until - start)
            self.auc.push(D_h[part], s[part])
            self.auc_frozen.push(D_frozen[part], s[part])
            for name, values in bins.items():
                self.windows[name].add(values[part], done)
            done = until
            if done == at:
                self.columns.append(at, self._row({name: float(v[at - start - 1]) for name, v in sums.items()}))

    def _row(self, row: dict[str, float]) -> dict[str, float]:
        row |= {"auc": self.auc.value, "auc_frozen": self.auc_frozen.value}
        if self.learns:
            outcomes = self.windows["outcomes"].recent
            moved = outcomes[UPDATED] + outcomes[CLIPPED]
            row["update_rate"] = moved / max(1, outcomes.sum())
            row["clipped_rate"] = outcomes[CLIPPED] / max(1, moved)
            counts = self.windows["ratio"].recent
            row |= {f"ratio_q{q}": LogBins.quantile(counts, q / 100) for q in (10, 50, 90)}
            row["p0_mean"] = row.pop("p0") / max(1.0, row["updated"])
        return row


def _per_pair(column: npt.NDArray[Any], combine: Any) -> npt.NDArray[Any]:
    """A column (n,) as it is, a column (n, T) combined over the models."""
    return column if column.ndim == 1 else np.asarray(combine(column, axis=1))
