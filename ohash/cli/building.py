"""A bar on standard error while features or radii are computed for the first time, if that takes a while."""

import sys
import time
from typing import TextIO

PATIENCE = 1.0
EVERY = 0.25
EVERY_LINE = 10.0  # where it goes to a file or a pipe
WIDTH = 24


class Bar:
    """Called with rows done and rows in all, as `ohash.streams.cached.reporting` does."""

    def __init__(self, stream: TextIO | None = None) -> None:
        """Begin the clock."""
        self._stream = stream or sys.stderr
        self._terminal = self._stream.isatty()
        self._begun = self._shown = time.monotonic()
        self._last = 0

    def __call__(self, done: int, total: int) -> None:
        """Draw."""
        now = time.monotonic()
        if done < self._last:  # something else is being built
            self._begun = now
        self._last = done
        finished = done >= total
        every = EVERY if self._terminal else EVERY_LINE
        if now - self._begun < PATIENCE or (now - self._shown < every and not finished):
            return
        self._shown = now
        left = (now - self._begun) / max(1, done) * (total - done)
        told = f"{done:,} / {total:,} rows, {left:,.0f} s left"
        if self._terminal:
            full = round(WIDTH * done / max(1, total))
            bar = "█" * full + "░" * (WIDTH - full)
            print(f"\rcomputing, once: {bar} {told} ", end="\n" if finished else "", file=self._stream, flush=True)
        else:
            print(f"computing, once: {told}", file=self._stream, flush=True)
