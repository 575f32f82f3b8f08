"""How long this thread has worked: its CPU seconds without those of compiling kernels.

A kernel is compiled when it is first called with new types, in the middle of what is being timed.

Where the CPU time of a run goes.
"""

import threading
import time
from dataclasses import dataclass, field

from numba.core import event


class _Compiling(event.Listener):
    """CPU seconds spent compiling, by thread."""

    def __init__(self) -> None:
        self.spent = threading.local()

    def on_start(self, _event: object) -> None:
        depth = getattr(self.spent, "depth", 0)
        if depth == 0:
            self.spent.since = time.thread_time()
        self.spent.depth = depth + 1

    def on_end(self, _event: object) -> None:
        self.spent.depth -= 1
        if self.spent.depth == 0:
            self.spent.seconds = self.seconds() + time.thread_time() - self.spent.since

    def seconds(self) -> float:
        """CPU seconds that this thread has spent compiling so far."""
        return float(getattr(self.spent, "seconds", 0.0))


_compiling = _Compiling()
_others = threading.local()  # seconds that other threads worked for this one
event.register("numba:compile", _compiling)  # type: ignore[no-untyped-call]


def working_seconds() -> float:
    """CPU seconds of this thread so far, and of others for it, without compiling; differences are the cost of work."""
    return time.thread_time() - _compiling.seconds() + float(getattr(_others, "seconds", 0.0))


def add_working_seconds(seconds: float) -> None:
    """Count what other threads have worked for this one."""
    _others.seconds = float(getattr(_others, "seconds", 0.0)) + seconds


CPU_COLUMNS = ("cpu_learn", "cpu_encode", "cpu_evaluate")


@dataclass
class Clock:
    """CPU seconds of this thread, by what they were spent on."""

    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(CPU_COLUMNS, 0.0))

    def add(self, name: str, since: float) -> None:
        """Book the time since `since` (from `working_seconds`)."""
        self.seconds[name] += working_seconds() - since
