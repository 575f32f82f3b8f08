"""How far something is, on standard error: a bar that is drawn again, or in a file or a pipe a line now and then.

Progress on standard error while features or radii are computed for the first time, if that takes a while.
"""

import sys
import time
from typing import TextIO

EVERY = 0.2  # seconds between two pictures of a bar
# Between two lines: so many seconds, or this share of the work and at least so many.
EVERY_LINE, LINE_SHARE, LEAST = 10.0, 0.1, 1.0
WIDTH = 24


class Line:
    """One piece of work."""

    def __init__(self, stream: TextIO | None = None) -> None:
        """Nothing is shown yet."""
        self._stream = stream or sys.stderr
        self._terminal = self._stream.isatty()
        self._at, self._share, self._told = float("-inf"), 0.0, ("", False)

    def tell(self, share: float, text: str, *, over: bool) -> None:
        """Show it if it is time; the end is always shown."""
        if (text, over) == self._told or not (over or self._due(share)):
            return
        self._at, self._share, self._told = time.monotonic(), share, (text, over)
        if self._terminal:
            full = round(WIDTH * share)
            bar = "█" * full + "░" * (WIDTH - full)
            print(f"\r{bar} {text:<84}", end="\n" if over else "", file=self._stream, flush=True)
        else:
            print(text, file=self._stream, flush=True)

    def _due(self, share: float) -> bool:
        passed = time.monotonic() - self._at
        if self._terminal:
            return passed >= EVERY
        return passed >= EVERY_LINE or (passed >= LEAST and share - self._share >= LINE_SHARE - 1e-9)


PATIENCE = 1.0


class Bar:
    """Called with rows done and rows in all, as `ohash.streams.feature_cache.report_progress_to` does."""

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
