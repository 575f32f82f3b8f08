"""Progress on standard error while features or radii are computed for the first time, if that takes a while."""

import time
from typing import TextIO

from ohash.cli.progress import Line

PATIENCE = 1.0


class Bar:
    """Called with rows done and rows in all, as `ohash.streams.cached.reporting` does."""

    def __init__(self, stream: TextIO | None = None) -> None:
        """Begin the clock."""
        self._stream = stream
        self._again()

    def _again(self) -> None:
        self._begun, self._last, self._line = time.monotonic(), 0, Line(self._stream)

    def __call__(self, done: int, total: int) -> None:
        """Draw."""
        if done < self._last:  # something else is being built
            self._again()
        self._last = done
        passed = time.monotonic() - self._begun
        if passed >= PATIENCE:
            left = passed / max(1, done) * (total - done)
            told = f"{done:,} / {total:,} rows, {left:,.0f} s left"
            self._line.tell(done / max(1, total), f"computing, once: {told}", over=done >= total)
