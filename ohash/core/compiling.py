"""How long this thread has worked: its CPU seconds without those of compiling kernels.

A kernel is compiled when it is first called with new types, in the middle of what is being timed.
"""

import threading
import time
from typing import Any

from numba.core import event


class _Compiling(event.Listener):
    """CPU seconds spent compiling, by thread."""

    def __init__(self) -> None:
        self.spent = threading.local()

    def on_start(self, _event: Any) -> None:
        depth = getattr(self.spent, "depth", 0)
        if depth == 0:
            self.spent.since = time.thread_time()
        self.spent.depth = depth + 1

    def on_end(self, _event: Any) -> None:
        self.spent.depth -= 1
        if self.spent.depth == 0:
            self.spent.seconds = self.seconds() + time.thread_time() - self.spent.since

    def seconds(self) -> float:
        """Of this thread, so far."""
        return float(getattr(self.spent, "seconds", 0.0))


_compiling = _Compiling()
event.register("numba:compile", _compiling)  # type: ignore[no-untyped-call]


def working_seconds() -> float:
    """CPU seconds of this thread so far, without compiling; differences of it are the cost of work."""
    return time.thread_time() - _compiling.seconds()
