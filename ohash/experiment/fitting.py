"""Fitting a batch method to what has arrived: here, or in a worker process where it does not hold up a live run.

Where it happens changes nothing in the result: both sides use one BLAS thread and the same state.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, wait
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from ohash.core.compiling import working_seconds
from ohash.core.frames import Arrays, Frame
from ohash.core.threads import one_blas_thread
from ohash.experiment.arrivals import fit_to

if TYPE_CHECKING:
    from ohash.experiment.pool import WorkerPool
    from ohash.experiment.run import Run

# A fit that is expected to take longer than this happens elsewhere.
LONG_SECONDS = 0.03


# Called with how far a fit is, {"share": 0.4}, from another thread.
Heard = Callable[[dict[str, Any]], None]


class Fitter(Protocol):
    """Somewhere else."""

    def submit(self, values: dict[str, Any], arrays: Arrays, heard: Heard) -> Future[Frame]:
        """The task `ohash.experiment.tasks.fit`; `heard` is told how far it is."""

    def wait(self, job: Future[Frame]) -> None:
        """Until it is over; while a run is being made."""


class Elsewhere:
    """The worker processes that all live runs of this process share."""

    def __init__(self, room: threading.Semaphore) -> None:
        """Nothing is under way. `room` is what a run holds while it is made; it is given back while it waits."""
        self._room = room
        self._jobs: set[Future[Frame]] = set()
        self._closed = False

    def submit(self, values: dict[str, Any], arrays: Arrays, heard: Heard) -> Future[Frame]:
        """The next free worker does it."""
        from ohash.experiment.tasks import fit  # noqa: PLC0415 (tasks run experiments, and experiments fit)

        job = workers().submit(fit, values, arrays, on_progress=heard)
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)
        if self._closed:
            job.cancel()
        return job

    def wait(self, job: Future[Frame]) -> None:
        """Until it is over; meanwhile others may be made."""
        self._room.release()
        try:
            with suppress(CancelledError):  # `wait` would not see it until a worker does
                job.exception()
        finally:
            self._room.acquire()

    def close(self) -> None:
        """Stop what is under way, also for runs that are still being made."""
        self._closed = True
        for job in list(self._jobs):
            job.cancel()


@cache
def workers() -> "WorkerPool":
    """Started at the first long fit of a live run."""
    from ohash.experiment.pool import WorkerPool  # noqa: PLC0415

    return WorkerPool()


class Fitting:
    """The fits of one run."""

    def __init__(self, run: "Run", fitter: Fitter | None) -> None:
        """Nothing is fitted yet."""
        self._run, self._fitter = run, fitter
        self.fitted: tuple[int, ...] | None = None  # the version of the arrivals at the last fit
        self._seconds_a_row = 0.0
        self._job: Future[Frame] | None = None
        self.share = 0.0  # of the fit under way

    @property
    def waiting(self) -> bool:
        """Whether a fit elsewhere is not over."""
        return self._job is not None and not self._job.done()

    def wait(self, seconds: float) -> None:
        """Sleep until it is over, or some time has passed."""
        if self._job is not None:
            wait([self._job], seconds)

    def cancel(self) -> None:
        """Stop a fit elsewhere."""
        if self._job is not None:
            self._job.cancel()

    def first(self) -> None:
        """Fit to the warm-up; elsewhere, if there is an elsewhere, as nobody knows yet how long it will take."""
        if self._fitter is None:
            self.here()
        else:
            self._fitter.wait(self._begin(self._fitter))
            self._run.hasher = self._fitted()

    def bring_up_to_date(self) -> Iterator[None]:
        """Fit to everything that has arrived, if there is anything new; yields while that happens elsewhere."""
        arrivals = self._run.arrivals
        if self.fitted == arrivals.version():
            return
        if self._fitter is None or self._seconds_a_row * len(arrivals.rows) < LONG_SECONDS:
            self.here()
            return
        self._begin(self._fitter)
        while self.waiting:
            yield
        self._run.replace_hasher(self._fitted())

    def _begin(self, fitter: Fitter) -> Future[Frame]:
        """Fit in another process."""
        run = self._run
        state, learnt = run.hasher.state()
        arrays = {**run.arrivals.data(), **{f"state/{name}": array for name, array in learnt.items()}}
        self.share = 0.0
        self._job = fitter.submit({"method": run.spec.key, "state": state}, arrays, self._heard)
        return self._job

    def _fitted(self) -> Any:
        """The hasher that came out of it."""
        assert self._job is not None
        values, arrays = self._job.result()
        self._job = None
        self._done(values["seconds"])
        return self._run.spec.restore(
            values["state"], {name.partition("/")[2]: array for name, array in arrays.items()}
        )

    def _heard(self, told: dict[str, Any]) -> None:
        self.share = float(told.get("share", self.share))

    def here(self) -> None:
        """Fit in this thread."""
        found = self._run.arrivals.data()
        since = working_seconds()
        with one_blas_thread():
            fit_to(self._run.hasher, found)
        self._done(working_seconds() - since)

    def _done(self, seconds: float) -> None:
        self._run.clock.seconds["cpu_learn"] += seconds
        self.fitted = self._run.arrivals.version()
        self._seconds_a_row = seconds / max(1, self.fitted[0])
