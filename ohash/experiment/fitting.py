"""Fitting a batch method to what has arrived: here, or in a worker process where it does not hold up a live run.

Where it happens changes nothing in the result: both sides use one BLAS thread and the same state.
"""

import time
from collections.abc import Iterator
from concurrent.futures import Future, wait
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from ohash.core.frames import Arrays, Frame
from ohash.core.threads import one_blas_thread

if TYPE_CHECKING:
    from ohash.experiment.pool import WorkerPool
    from ohash.experiment.run import Run

# A fit that is expected to take longer than this happens elsewhere.
LONG_SECONDS = 0.03


class Fitter(Protocol):
    """Somewhere else."""

    def submit(self, values: dict[str, Any], arrays: Arrays) -> Future[Frame]:
        """The task `ohash.experiment.tasks.fit`."""


class Elsewhere:
    """The worker processes that all live runs of this process share."""

    def submit(self, values: dict[str, Any], arrays: Arrays) -> Future[Frame]:
        """The next free worker does it."""
        from ohash.experiment.tasks import fit  # noqa: PLC0415 (tasks run experiments, and experiments fit)

        return workers().submit(fit, values, arrays)


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
        self.fitted: tuple[int, int] | None = None  # rows and stage of the last fit; None: not known
        self._seconds_a_row = 0.0
        self._job: Future[Frame] | None = None

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

    def bring_up_to_date(self) -> Iterator[None]:
        """Fit to everything that has arrived, if there is anything new; yields while that happens elsewhere."""
        if self.fitted == self._now():
            return
        if self._fitter is None or self._seconds_a_row * self._now()[0] < LONG_SECONDS:
            self.here()
            return
        run, (X, y) = self._run, self._run.arrived()
        state, learnt = run.hasher.state()
        arrays = {"X": X, **{f"state/{name}": array for name, array in learnt.items()}}
        if y is not None:
            arrays["y"] = y
        self._job = self._fitter.submit({"method": run.spec.key, "state": state}, arrays)
        while self.waiting:
            yield
        values, arrays = self._job.result()
        self._job = None
        found = {name.partition("/")[2]: array for name, array in arrays.items()}
        run.replace_hasher(run.spec.restore(values["state"], found))
        self._done(values["seconds"])

    def here(self) -> None:
        """Fit in this thread."""
        X, y = self._run.arrived()
        since = time.thread_time()
        with one_blas_thread():
            self._run.hasher.fit(X, y)
        self._done(time.thread_time() - since)

    def _done(self, seconds: float) -> None:
        self._run.clock.seconds["cpu_learn"] += seconds
        self.fitted = self._now()
        self._seconds_a_row = seconds / max(1, self.fitted[0])

    def _now(self) -> tuple[int, int]:
        return len(self._run.rows_to_fit()), self._run.stage
