"""The live runs of one server: how many there may be, who watches them, and when they end.

A run belongs to a browser session through a lease. When the session goes away (tab closed, reload, lost connection) the
lease is detached; if it is not taken up again within the grace period, the run is stopped. A run that is not polled is
paused, and later stopped. Beyond the limit, runs wait in line, but for those of whoever teaches a class. On a busy
server, sessions that open the same experiment share one run; it is stopped or paused when none of them watches. Nothing
here depends on Streamlit.
"""

import ctypes
import gc
import os
import sys
import threading
import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Generic, Protocol, Self, TypeVar

from ohash.engine.narrative import amount
from ohash.ui.session.limits import MAX_RUNS, MAX_RUNS_OF_VISITOR

GRACE_SECONDS = 10.0
LAST_FRAME_SECONDS = 2.0
PAUSE_UNWATCHED_SECONDS = 120.0
STOP_UNWATCHED_SECONDS = 600.0
FASTEST_SECONDS, SLOWEST_SECONDS = 0.2, 3.0  # between two frames
USUAL_FRAME_SECONDS = 0.01  # before any has been measured
SENDING_SECONDS = 0.005  # CPU time of Streamlit for a frame besides drawing it
SHARE_OF_FRAMES = 0.6  # of one core; the rest is left to the runs
# Runs, or sessions with one: from here on, a newcomer joins a run of the same experiment.
BUSY = 2 * (os.cpu_count() or 1)


def release_memory() -> None:
    """Collect what hangs in circles, and return free pages to the system (glibc keeps them otherwise)."""
    gc.collect()
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)


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
    topic: Hashable = None
    visitor: str = ""
    teaches: bool = False

    @property
    def running(self) -> bool:
        """Whether its run is learning now."""
        return self.runner is not None and self.runner.state == "running"

    def runners(self) -> list[W]:
        """The run and its companions."""
        return [one for one in (self.runner, *self.companions) if one is not None]


@dataclass
class SessionWork(Generic[W]):
    """What a session remembers of the work that one page shows: its latest runner, and whether that rests."""

    runner: W | None = None
    resting: bool = False


class Hub(Generic[W]):
    """All leases of the server on one kind of work."""

    def __init__(
        self,
        limit: int = MAX_RUNS,
        limit_of_visitor: int = MAX_RUNS_OF_VISITOR,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`clock` is replaced in tests."""
        self.limit, self.limit_of_visitor, self._clock = limit, limit_of_visitor, clock
        self._frame_seconds = USUAL_FRAME_SECONDS
        self._leases: dict[str, Lease[W]] = {}
        self._lock = threading.RLock()

    def lease(self, session: str) -> Lease[W]:
        """The lease of a session; to read it is not to poll: a frame may be under way when the tab is closed."""
        with self._lock:
            return self._leases.setdefault(session, Lease(session, polled_at=self._clock()))

    def assign(self, session: str, visitor: str, *, teaches: bool = False) -> None:
        """Say who is behind a session; the runs of one visitor are counted, those of "" are not.

        The runs of a session that `teaches` start at once, since a class looks at them.
        """
        with self._lock:
            lease = self.lease(session)
            lease.visitor, lease.teaches = visitor, teaches

    def _has_too_many(self, lease: Lease[W]) -> bool:
        """Whether the visitor behind a lease runs as much as one may."""
        own = [other for other in self._leases.values() if other.visitor == lease.visitor and other.started]
        running = {id(one) for other in own for one in other.runners() if not one.finished.is_set()}
        return bool(lease.visitor) and len(running) >= self.limit_of_visitor

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

    def run(self, session: str, runner: W, companions: list[W] | None = None, topic: Hashable = None) -> None:
        """Give a session a new run in place of its old one; it starts when there is room.

        A `topic` says what the run shows, and lets other sessions `join` it.
        """
        with self._lock:
            lease = self.lease(session)
            self._release(lease)
            lease.runner, lease.companions, lease.topic = runner, companions or [], topic
            lease.polled_at = self._clock()
            self.supervise()

    def run_unless(self, session: str, work: SessionWork[W], wanted: Callable[[W], bool], make: Callable[[], W]) -> W:
        """The run that a session wants: its latest if that is done, or the one under way, or what `make` makes."""
        latest = work.runner
        if latest is not None and wanted(latest) and latest.state == "done":
            return latest
        with self._lock:
            current = self.lease(session).runner
        if current is None or not wanted(current):
            current = make()
            self.run(session, current)
        if current is not latest:
            work.runner, work.resting = current, False
        return current

    def join(self, session: str, topic: Hashable) -> bool:
        """On a busy server, watch the unfinished run on the topic that most watch; returns whether there is one.

        The newest of equals: somebody who reloads her page so comes to the others, not back to the run she left.
        """
        with self._lock:
            if max(self.active, self._watching) < BUSY:
                return False
            lease, best, most_watchers = self.lease(session), None, 0
            for other in reversed(self._leases.values()):
                runner = other.runner
                if other is lease or other.topic != topic or runner is None or runner.finished.is_set():
                    continue
                watchers = len(self._watchers(runner))
                best, most_watchers = (other, watchers) if watchers > most_watchers else (best, most_watchers)
            if best is None:
                return False
            self._release(lease)
            lease.runner, lease.topic, lease.started = best.runner, topic, best.started
            lease.polled_at = self._clock()
            return True

    def join_or_run(self, session: str, topic: Hashable, make: Callable[[], W]) -> None:
        """Join a run on the topic, or start what `make` makes: at once, as a class opens a link within a second."""
        with self._lock:
            if not self.join(session, topic):
                self.run(session, make(), topic=topic)

    def withdraw(self, session: str) -> bool:
        """Let nobody else join the session's run; returns whether somebody has."""
        with self._lock:
            if self.is_shared(session):
                return True
            self.lease(session).topic = None
            return False

    def is_shared(self, session: str) -> bool:
        """Whether others watch the session's run, too."""
        return self.watchers(session) > 1

    def watchers(self, session: str) -> int:
        """How many sessions watch the session's run, this one included."""
        with self._lock:
            lease = self._leases.get(session)
            return 0 if lease is None or lease.runner is None else len(self._watchers(lease.runner))

    def end(self, session: str) -> None:
        """Take its run from a session."""
        with self._lock:
            self._release(self.lease(session))

    def _watchers(self, runner: W) -> list[Lease[W]]:
        return [lease for lease in self._leases.values() if runner in lease.runners()]

    def _release(self, lease: Lease[W]) -> None:
        """Take everything from a lease, and stop what nobody else watches."""
        for runner in lease.runners():
            if len(self._watchers(runner)) == 1:
                runner.stop(wait=0)
        lease.runner, lease.companions, lease.started, lease.topic = None, [], False, None

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
                for watcher in self._watchers(lease.runner):
                    watcher.paused_unwatched = False
                for runner in lease.runners():
                    runner.resume()

    def place_in_line(self, session: str) -> int:
        """0 if the session's run has started, else its place in line, counted from 1."""
        with self._lock:
            waiting = [s for s, lease in self._leases.items() if lease.runner is not None and not lease.started]
            return waiting.index(session) + 1 if session in waiting else 0

    def why_waiting(self, session: str, noun: str) -> str:
        """Why a session's run has not started, in a sentence; "" if it has."""
        with self._lock:
            place = self.place_in_line(session)
            if place and self._has_too_many(self.lease(session)):
                limit = amount(self.limit_of_visitor, noun)
                return f"You may run {limit} at a time; this one starts when another one ends or its tab is closed."
            runs = f"This server runs {amount(self.limit, noun)} at a time"
            return f"{runs}; yours is number {place} in line and starts automatically." if place else ""

    @property
    def active(self) -> int:
        """Runs that are neither finished nor waiting."""
        with self._lock:
            runners = {id(one): one for lease in self._leases.values() if lease.started for one in lease.runners()}
            return sum(not runner.finished.is_set() for runner in runners.values())

    @property
    def _watching(self) -> int:
        """Sessions whose run is active: each counts, or a class that shares one run would look idle."""
        return sum(
            lease.started and lease.runner is not None and not lease.runner.finished.is_set()
            for lease in self._leases.values()
        )

    @property
    def viewers(self) -> int:
        """Sessions attached now."""
        with self._lock:
            return sum(lease.attached and lease.runner is not None for lease in self._leases.values())

    def measure_frame(self, seconds: float) -> None:
        """A frame has cost so much CPU time."""
        self._frame_seconds += 0.05 * (seconds - self._frame_seconds)

    def interval(self, fastest: float = FASTEST_SECONDS) -> float:
        """Seconds between two frames, such that all viewers together use a fixed share of one core."""
        seconds = self._frame_seconds + SENDING_SECONDS
        return min(SLOWEST_SECONDS, max(fastest, self.viewers * seconds / SHARE_OF_FRAMES))

    def supervise(self) -> None:
        """Stop, pause and start what is due; called by a watchdog, and where something has changed."""
        now = self._clock()
        with self._lock:
            waiting = any(lease.runner is not None and not lease.started for lease in self._leases.values())
            crowded = waiting or len(self._leases) > self.limit
            for session, lease in list(self._leases.items()):
                gone = not lease.attached and now - lease.detached_at > GRACE_SECONDS
                unwatched = now - lease.polled_at > STOP_UNWATCHED_SECONDS
                if gone or (unwatched and (crowded or not lease.attached)):  # a run at rest in an open tab is kept
                    self._release(lease)
                    del self._leases[session]
                elif self._unwatched(lease, now) and lease.running:
                    for watcher in self._watchers(lease.runners()[0]):
                        watcher.paused_unwatched = True
                    for runner in lease.runners():
                        runner.pause()
            for lease in self._leases.values():
                if lease.runner is None or lease.started or self._has_too_many(lease):
                    continue
                if lease.teaches or self.active < self.limit:
                    for watcher in self._watchers(lease.runner):
                        watcher.started = True
                    for runner in lease.runners():
                        runner.start()

    def _unwatched(self, lease: Lease[W], now: float) -> bool:
        """Whether nobody has polled for a while what this lease runs."""
        watchers = [] if lease.runner is None else self._watchers(lease.runner)
        return all(now - watcher.polled_at > PAUSE_UNWATCHED_SECONDS for watcher in watchers)

    def watch(self) -> Self:
        """Tend every two seconds in a background thread, and sweep up after sessions that have gone."""

        def forever() -> None:
            while True:
                time.sleep(2.0)
                before = len(self._leases)
                self.supervise()
                if len(self._leases) < before:  # a session holds an event loop, in a circle, with three descriptors
                    release_memory()

        threading.Thread(target=forever, name="ohash-hub", daemon=True).start()
        return self
