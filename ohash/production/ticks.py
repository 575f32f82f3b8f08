"""What a follower does between two checks, for whoever watches it: loss, τ, update rate and alarms over the stream.

Sums are kept rather than means, so that two neighbouring rows are merged exactly when the table is full. Rows end where
batches end, which depends on the stream alone: a killed follower has the same rows as an undisturbed one.
"""

from typing import Any

import numpy as np

from ohash.core.arrays import Floats
from ohash.runtime.frames import Frame

CAPACITY = 512  # rows; then neighbours are merged
SUMS = slice(1, 5)  # learnt pairs, loss, tau, moved
WIDTH = 6  # with the pair count at the end of a row, and the alarms until then


class Ticks:
    """Rows (pairs, learnt, sums of loss, tau and updates, alarms), each of `batches` batches."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.batches = 1
        self._rows = np.zeros((0, WIDTH))
        self._open, self._count = np.zeros(WIDTH), 0

    def add(self, t: int, sums: Floats, alarms: int) -> None:
        """One batch, until pair t: how many pairs were learnt, and the sums of their loss, tau and updates."""
        self._open[SUMS] += sums
        self._open[0], self._open[-1] = t, alarms
        self._count += 1
        if self._count < self.batches:
            return
        self._rows = np.concatenate([self._rows, self._open[None]])
        self._open, self._count = np.zeros(WIDTH), 0
        if len(self._rows) == CAPACITY:
            merged = self._rows[1::2].copy()
            merged[:, SUMS] += self._rows[::2, SUMS]
            self._rows, self.batches = merged, 2 * self.batches

    def columns(self) -> dict[str, Floats]:
        """Means per pair, up to the latest batch; `rate` is the share of pairs with an update."""
        rows = np.concatenate([self._rows, self._open[None]]) if self._count else self._rows
        learnt = np.where(rows[:, 1] > 0, rows[:, 1], np.nan)
        means = rows[:, 2:5] / learnt[:, None]
        return {
            "pairs": rows[:, 0].copy(), "loss": means[:, 0], "tau": means[:, 1], "rate": means[:, 2],
            "alarms": rows[:, -1].copy(),
        }  # fmt: skip

    def state(self) -> Frame:
        """For the file of a follower."""
        return {"batches": self.batches, "count": self._count}, {"rows": self._rows, "open": self._open}

    def restore(self, values: dict[str, Any], rows: Floats, open_: Floats) -> None:
        """Go on from a state."""
        self.batches, self._count = int(values["batches"]), int(values["count"])
        self._rows, self._open = rows.copy(), open_.copy()
