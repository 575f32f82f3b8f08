"""Fitting a batch method to the rows seen so far: here, or in a worker process where it does not hold up a live run.

Where it happens changes nothing in the result: both sides use one BLAS thread and the same state.
"""

import threading
import time
from collections.abc import Generator, Iterator
from concurrent.futures import CancelledError, Future, wait
from contextlib import contextmanager, suppress
from functools import cache
from typing import Protocol, cast

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Labels, Reals, Rows
from ohash.engine.state import RunState
from ohash.models import registry
from ohash.models.base import BatchHasher, OnlineHasher, SimilarityHasher
from ohash.models.hasher import Hasher
from ohash.runtime.clock import working_seconds
from ohash.runtime.frames import Arrays, Frame, JsonObject, Report, group_of
from ohash.runtime.pool import WorkerPool
from ohash.runtime.progress import listen_to_progress
from ohash.runtime.threads import one_blas_thread

# A fit that is expected to take longer than this happens in a worker.
LONG_SECONDS = 0.03
REPORT_SECONDS = 0.1
MAX_SIMILARITIES = 10_000  # rows of which a matrix of similarities is made
# A fit to more numbers than this takes seconds, and is worth it again when a fifth more rows have come.
LARGE, WORTH_A_FIT = 5_000_000, 1.2

# Called with how far a task is, {"share": 0.4}, from another thread.


def is_large(rows: int, columns: int) -> bool:
    """Whether a fit to so many numbers waits until a fifth more rows have come."""
    return rows * columns > LARGE


class TrainingSet:
    """The rows seen by one run, each with its vector and label as it looked when it was seen last.

    Before the first change of the world that is how they look now, and nothing is copied.
    """

    def __init__(self, run: RunState) -> None:
        """The world is as it was at first, and nothing is fitted."""
        self._run = run
        self.stage = np.zeros(run.world.dataset.n, np.int16)  # in which each row was seen last
        self.fitted: tuple[int, ...] | None = None  # the version at the last fit
        self._Z: Reals | None = None
        self._labels: Labels | None = None

    @property
    def rows(self) -> Rows:
        """The rows seen, or all; the first fit is to the warm-up, so that a long one can follow in a worker."""
        run = self._run
        if run.params.run.fit_to == "all" and self.fitted is not None:
            return run.world.stream(run.stage).similarity.pool
        return np.flatnonzero(run.seen)

    def data(self) -> Arrays:
        """What `fit_to` takes: X, the vectors of these rows, and y, their labels; or X of some, and which are similar.

        A matrix of similarities grows with the square of the rows, so it is that of a sample, as large as the method
        says it learns from.
        """
        run, rows = self._run, self.rows
        now = self._Z is None or run.params.run.fit_to == "all"
        if run.uses_similarity_matrix:
            limit = min(MAX_SIMILARITIES, int(getattr(cast(Hasher, run.hasher).params, "labelled", MAX_SIMILARITIES)))
            order = np.random.default_rng([run.params.seed, len(rows)]).permutation(len(rows))
            rows = np.sort(rows[order[:limit]])
        Z = run.Z if now else self._Z
        assert Z is not None
        data: Arrays = {"X": np.ascontiguousarray(Z[rows])}
        if run.uses_similarity_matrix:
            similar = run.world.stream(run.stage).similarity.relevant(rows, rows)
            return {**data, "similar": similar | similar.T}
        labels = run.labels_of(rows, run.stage) if now else None if self._labels is None else self._labels[rows]
        return data if labels is None else {**data, "y": labels}

    def version(self) -> tuple[int, ...]:
        """Changes whenever there is something new to fit to; of all there are, whenever the world changes."""
        run = self._run
        renewed = int(np.count_nonzero(self.stage == run.stage)) if run.stage else 0
        return len(self.rows), run.stage if run.params.run.fit_to == "all" else 0, renewed

    def is_worth_a_fit(self) -> bool:
        """Whether there is something new to fit to: of much data much that is new, but at the end of a run."""
        now, last, run = self.version(), self.fitted, self._run
        if last is None or now == last:
            return now != last
        waits = is_large(now[0], run.Z.shape[1]) and run.t < run.end
        return not waits or now[1:] != last[1:] or now[0] >= WORTH_A_FIT * last[0]

    def freeze(self) -> None:
        """The world is about to change: what has been seen stays as it was."""
        if self._Z is None:
            self._copy(self._run.Z, self._run.stage)

    def add(self, rows: Rows) -> None:
        """Rows as they look now."""
        if self._Z is not None:
            self._renew(rows, self._run.stage, self._run.Z)

    def restore(self, stage: npt.NDArray[np.int16]) -> None:
        """The rows of a saved run, as they were seen."""
        mapped = self._run.world.mapped
        self._copy(mapped(0), 0)
        for one in np.unique(stage[stage > 0]).tolist():
            self._renew(np.flatnonzero(stage == one), one, mapped(one))

    def _copy(self, Z: Reals, stage: int) -> None:
        labels = self._run.labels_of(np.arange(len(Z)), stage)
        self._Z, self._labels = np.array(Z), None if labels is None else np.array(labels)

    def _renew(self, rows: Rows, stage: int, Z: Reals) -> None:
        assert self._Z is not None
        self.stage[rows], self._Z[rows] = stage, Z[rows]
        if self._labels is not None:
            labels = self._run.labels_of(rows, stage)
            assert labels is not None
            self._labels[rows] = labels


class Fitter(Protocol):
    """Where long fits happen if not in this thread."""

    def submit(self, values: JsonObject, arrays: Arrays, on_progress: Report) -> Future[Frame]:
        """Start the task `fit`; `on_progress` receives how far it is."""

    def wait(self, job: Future[Frame]) -> None:
        """Until it is over; while a run is being made."""


class WorkerFitter:
    """The worker processes that all live runs of this process share."""

    def __init__(self, room: threading.Semaphore) -> None:
        """Nothing is under way. `room` is what a run holds while it is made; it is given back while it waits."""
        self._room = room
        self._jobs: set[Future[Frame]] = set()
        self._closed = False

    def submit(self, values: JsonObject, arrays: Arrays, on_progress: Report) -> Future[Frame]:
        """The next free worker does it."""
        job = workers().submit(fit, values, arrays, on_progress=on_progress)
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
def workers() -> WorkerPool:
    """Started at the first long fit of a live run."""
    return WorkerPool()


class Fitting:
    """The fits of one run to its training set."""

    def __init__(self, run: RunState, training_set: TrainingSet, fitter: Fitter | None) -> None:
        """Nothing is fitted yet."""
        self._run, self._training_set, self._fitter = run, training_set, fitter
        self._seconds_per_row = 0.0
        self._job: Future[Frame] | None = None
        self.share = 0.0  # of the fit under way

    @property
    def waiting(self) -> bool:
        """Whether a fit in a worker is not over."""
        return self._job is not None and not self._job.done()

    def wait(self, seconds: float) -> None:
        """Sleep until it is over, or some time has passed."""
        if self._job is not None:
            wait([self._job], seconds)

    def cancel(self) -> None:
        """Stop a fit in a worker."""
        if self._job is not None:
            self._job.cancel()

    def fit_first(self) -> None:
        """Fit to the warm-up; in a worker, if there is one, as the time it takes is not known yet."""
        if self._fitter is None:
            self.fit_here()
        else:
            self._fitter.wait(self._submit(self._fitter))
            self._run.hasher = self._result()

    def refit(self) -> Generator[None, None, OnlineHasher | None]:
        """Fit to the training set if it is new; yields while that happens in a worker, and returns the new hasher."""
        rows = self._training_set.rows
        if not self._training_set.is_worth_a_fit():
            return None
        if self._fitter is None or self._seconds_per_row * len(rows) < LONG_SECONDS:
            self.fit_here()
            return None
        self._submit(self._fitter)
        while self.waiting:
            yield
        return self._result()

    def fit_here(self) -> None:
        """Fit in this thread."""
        data = self._training_set.data()
        since = working_seconds()
        with one_blas_thread():
            fit_to(cast(BatchHasher, self._run.hasher), data)
        self._note(working_seconds() - since)

    def _submit(self, fitter: Fitter) -> Future[Frame]:
        state, learnt = self._run.hasher.state()
        arrays = {**self._training_set.data(), **{f"state/{name}": array for name, array in learnt.items()}}
        self.share = 0.0
        self._job = fitter.submit({"method": self._run.spec.key, "state": state}, arrays, self._on_progress)
        return self._job

    def _result(self) -> OnlineHasher:
        """The hasher that came out of a worker."""
        assert self._job is not None
        values, arrays = self._job.result()
        self._job = None
        self._note(values["seconds"])
        return self._run.spec.restore(values["state"], group_of(arrays, "state"))

    def _on_progress(self, values: JsonObject) -> None:
        self.share = float(values.get("share", self.share))

    def _note(self, seconds: float) -> None:
        self._run.clock.seconds["cpu_learn"] += seconds
        self._training_set.fitted = version = self._training_set.version()
        self._seconds_per_row = seconds / max(1, version[0])


def fit_to(hasher: BatchHasher, data: Arrays) -> None:
    """Fit a batch method to what `TrainingSet.data` gives."""
    if "similar" in data:
        cast(SimilarityHasher, hasher).fit_similar(data["X"], data["similar"])
    else:
        hasher.fit(data["X"], data.get("y"))


def fit(values: JsonObject, arrays: Arrays, report: Report | None = None) -> Frame:
    """A worker's task: fit a batch method from its parameters, or on from a saved state. Gives state and CPU seconds.

    values: method, and params (a dict) or state (the plain values of `hasher.state()`); arrays: those of `fit_to`, and
    those of the state as "state/...".
    """
    spec = registry.find(values["method"])
    if "state" in values:
        hasher = spec.restore(values["state"], group_of(arrays, "state"))
    else:
        hasher = spec.build(spec.params(**values.get("params", {})))
    if not hasattr(hasher, "fit"):
        raise ValueError(
            f"method must be one that is fitted at once (batch), got {spec.key}, which takes {spec.consumes}"
        )
    since = working_seconds()
    with registry.locate_plugin_errors(spec), one_blas_thread(), _reporting(report):
        fit_to(cast(BatchHasher, hasher), arrays)
    state, learnt = hasher.state()
    return {"state": state, "seconds": working_seconds() - since}, {f"state/{k}": v for k, v in learnt.items()}


@contextmanager
def _reporting(report: Report | None) -> Iterator[None]:
    """Report how far the loops inside are, a few times a second."""
    last = time.monotonic()

    def listen(share: float) -> None:
        nonlocal last
        if report is not None and time.monotonic() - last >= REPORT_SECONDS:
            last = time.monotonic()
            report({"share": share})

    with listen_to_progress(listen):
        yield
