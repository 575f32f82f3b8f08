"""Progress on standard error: a tqdm bar on a terminal, a line now and then in a file or a pipe.

tqdm redraws its bar with carriage returns and has one interval between updates; a log needs whole lines, few of them
when work is slow and one per tenth when it is quick. So those lines are printed here.
"""

import sys
import time
from typing import TextIO

from tqdm import tqdm

BAR_SECONDS, BAR_WIDTH = 0.2, 24
# A line is due after so many seconds, or after this share of the work and at least so many seconds.
LINE_SECONDS, LINE_SHARE, MIN_SECONDS = 10.0, 0.1, 1.0
PATIENCE = 1.0  # work that is over sooner shows no progress


class _Bar(tqdm):  # type: ignore[misc]
    monitor_interval = 0  # no extra thread


class ProgressBar:
    """The progress of one task: a share of it, and a text that says how far it is."""

    def __init__(self, stream: TextIO | None = None) -> None:
        """Nothing is shown before the first `show`."""
        self._stream = stream or sys.stderr
        self._bar: _Bar | None = None
        self._finished = False
        self._time, self._share = float("-inf"), 0.0

    def show(self, share: float, text: str, *, finished: bool) -> None:
        """Show the text if an update is due; the end is always shown, once."""
        if self._finished:
            return
        self._finished = finished
        if self._stream.isatty():
            self._draw(share, text)
        elif finished or self._line_due(share):
            self._time, self._share = time.monotonic(), share
            print(text, file=self._stream, flush=True)

    def _draw(self, share: float, text: str) -> None:
        if self._bar is None:
            self._bar = _Bar(
                total=1.0, initial=share, desc=text, file=self._stream, bar_format=f"{{bar:{BAR_WIDTH}}} {{desc}}",
                mininterval=BAR_SECONDS, miniters=0, dynamic_ncols=True,
            )  # fmt: skip
        self._bar.set_description_str(text, refresh=False)
        self._bar.update(share - self._bar.n)
        if self._finished:
            self._bar.close()

    def _line_due(self, share: float) -> bool:
        seconds = time.monotonic() - self._time
        return seconds >= LINE_SECONDS or (seconds >= MIN_SECONDS and share - self._share >= LINE_SHARE - 1e-9)


class RowProgress:
    """Progress of features or radii that are computed once; called by `feature_cache.report_progress_to`."""

    def __init__(self, stream: TextIO | None = None) -> None:
        """Start the clock."""
        self._stream = stream
        self._restart()

    def _restart(self) -> None:
        self._started, self._rows, self._bar = time.monotonic(), 0, ProgressBar(self._stream)

    def __call__(self, done: int, total: int) -> None:
        """Show rows done of the total, if the work takes a while."""
        if done < self._rows:  # the next thing is being computed
            self._restart()
        self._rows = done
        seconds = time.monotonic() - self._started
        if seconds >= PATIENCE:
            left = seconds / max(1, done) * (total - done)
            text = f"computing, once: {done:,} / {total:,} rows, {left:,.0f} s left"
            self._bar.show(done / max(1, total), text, finished=done >= total)
