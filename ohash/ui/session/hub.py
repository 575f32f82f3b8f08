"""The live runs of one server: how many there may be, who watches them, and when they end.

A run belongs to a browser session through a lease. When the session goes away (tab closed, reload, lost connection) the
lease is detached; if it is not taken up again within the grace period, the run is stopped. A run that is not polled is
paused, and later stopped. Beyond the limit, runs wait in line. Nothing here depends on Streamlit.
"""

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, Protocol, Self, TypeVar

GRACE_SECONDS = 10.0
LAST_FRAME_SECONDS = 2.0
PAUSE_UNWATCHED_SECONDS = 120.0
STOP_UNWATCHED_SECONDS = 600.0
MAX_RUNS = int(os.environ.get("OHASH_MAX_RUNS", "32"))


class Work(Protocol):
    """What runs in the background: a `Runner` or a `ComparisonRunner`."""

    finished: threading.Event

    @property
    def state(self) -> str:
        """One of the states of a background thread: waiting, running, paused, done, ..."""

    def start(self) -> object:
        """Start."""

    def stop(self, wait: float = ...) -> None:
        """Stop for good."""

    def pause(self) -> None:
        """Pause."""

    def resume(self) -> None:
        """Resume."""


W = TypeVar("W", bound=Work)


@dataclass
class Lease(Generic[W]):
    """One session's claim on one live run."""

    session: str
    runner: W | None = None
    attached: bool = True
    detached_at: float = 0.0
    polled_at: float = 0.0
    started: bool = False
    paused_unwatched: bool = False
    companions: list[W] = field(default_factory=list)

    @property
    def running(self) -> bool:
        """Whether its run is learning now."""
        return self.runner is not None and self.runner.state == "running"

    def runners(self) -> list[W]:
        """The run and its companions."""
        return [one for one in (self.runner, *self.companions) if one is not None]

    def stop(self) -> None:
        """Stop everything of this lease."""
        for runner in self.runners():
            runner.stop(wait=0)
        self.runner, self.companions, self.started = None, [], False


class Hub(Generic[W]):
    """All leases of the server on one kind of work."""

    def __init__(self, limit: int = MAX_RUNS, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` is replaced in tests."""
        self.limit, self._clock = limit, clock
        self._leases: dict[str, Lease[W]] = {}
        self._lock = threading.RLock()

    def lease(self, session: str) -> Lease[W]:
        """The lease of a session; to read it is not to poll: a frame may be under way when the tab is closed."""
        with self._lock:
            return self._leases.setdefault(session, Lease(session, polled_at=self._clock()))

    def attach(self, session: str) -> None:
        """The session is back, if it had a lease."""
        with self._lock:
            if session in self._leases:
                self._leases[session].attached = True

    def detach(self, session: str) -> None:
        """The session is gone, perhaps only for a moment."""
        with self._lock:
            lease = self._leases.get(session)
            if lease is not None:
                lease.attached, lease.detached_at = False, self._clock()

    def run(self, session: str, runner: W, companions: list[W] | None = None) -> None:
        """Give a session a new run in place of its old one; it starts when there is room."""
        with self._lock:
            lease = self.lease(session)
            lease.stop()
            lease.runner, lease.companions = runner, companions or []
            lease.polled_at = self._clock()
            self.tend()

    def replace_companions(self, session: str, old: list[W], new: list[W]) -> None:
        """Stop some companions of a session's run and start others."""
        with self._lock:
            lease = self.lease(session)
            for runner in old:
                runner.stop(wait=0)
            lease.companions = [*(one for one in lease.companions if one not in old), *new]
            for runner in new if lease.started else ():
                runner.start()

    def poll(self, session: str) -> None:
        """The viewer has asked for a frame."""
        with self._lock:
            lease = self._leases.get(session)
            if lease is None:
                return
            lease.polled_at = self._clock()
            # a frame under way when the tab is closed proves nothing; a later one proves that the tab is open
            lease.attached |= lease.polled_at - lease.detached_at > LAST_FRAME_SECONDS
            if lease.paused_unwatched and lease.runner is not None:
                lease.paused_unwatched = False
                for runner in lease.runners():
                    runner.resume()

    def place_in_line(self, session: str) -> int:
        """0 if the session's run has started, else its place in line, counted from 1."""
        with self._lock:
            waiting = [s for s, lease in self._leases.items() if lease.runner is not None and not lease.started]
            return waiting.index(session) + 1 if session in waiting else 0

    @property
    def active(self) -> int:
        """Runs that are neither finished nor waiting."""
        with self._lock:
            return sum(
                not runner.finished.is_set()
                for lease in self._leases.values()
                if lease.started
                for runner in lease.runners()
            )

    @property
    def viewers(self) -> int:
        """Sessions attached now."""
        with self._lock:
            return sum(lease.attached and lease.runner is not None for lease in self._leases.values())

    def interval(self) -> float:
        """Seconds between two frames: 5 Hz for a few viewers, 1 Hz for many."""
        return 0.2 * min(5.0, max(1.0, self.viewers / 2))

    def tend(self) -> None:
        """Stop, pause and start what is due; called with every poll, and by a watchdog."""
        now = self._clock()
        with self._lock:
            waiting = any(lease.runner is not None and not lease.started for lease in self._leases.values())
            crowded = waiting or len(self._leases) > self.limit
            for session, lease in list(self._leases.items()):
                gone = not lease.attached and now - lease.detached_at > GRACE_SECONDS
                unwatched = now - lease.polled_at > STOP_UNWATCHED_SECONDS
                if gone or (unwatched and (crowded or not lease.attached)):  # a run at rest in an open tab is kept
                    lease.stop()
                    del self._leases[session]
                elif now - lease.polled_at > PAUSE_UNWATCHED_SECONDS and lease.running:
                    lease.paused_unwatched = True
                    for runner in lease.runners():
                        runner.pause()
            for lease in self._leases.values():
                if lease.runner is not None and not lease.started and self.active < self.limit:
                    lease.started = True
                    for runner in lease.runners():
                        runner.start()

    def watch(self) -> Self:
        """Tend every two seconds in a background thread."""

        def forever() -> None:
            while True:
                time.sleep(2.0)
                self.tend()

        threading.Thread(target=forever, name="ohash-hub", daemon=True).start()
        return self
