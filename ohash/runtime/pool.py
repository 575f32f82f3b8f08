"""WorkerPool: a `concurrent.futures.Executor` whose workers are processes of their own, and whose tasks can be stopped.

A worker that dies takes nothing with it: its task is given to a new worker once, then fails with what is known. Workers
start when they are needed and stay, with their data and compiled kernels loaded.
"""

import logging
import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future

from ohash.runtime.frames import Arrays, Frame, JsonObject, Report
from ohash.runtime.worker import Worker, WorkerDiedError

LOG = logging.getLogger(__name__)
TRIES = 2


class Job(Future[Frame]):
    """A task that was given to the pool; `cancel` works also while it runs, by ending its worker."""

    def __init__(self, task: str, values: JsonObject, arrays: Arrays | None, options: JsonObject) -> None:
        """Waiting."""
        super().__init__()
        self.request = (task, values, arrays, options)
        self._guard = threading.Lock()
        self._worker: Worker | None = None
        self.unwanted = False

    def cancel(self) -> bool:
        """Never start it, or end the process that does it; a job that is done stays done."""
        if super().cancel():
            return True
        with self._guard:
            if self.done():
                return False
            self.unwanted = True
            if self._worker is not None:
                self._worker.kill()
        return True

    def work(self, worker: Worker) -> Frame:
        """Do it on this worker and wait."""
        with self._guard:
            if self.unwanted:
                raise CancelledError
            self._worker = worker
        try:
            task, values, arrays, options = self.request
            return worker.call(task, values, arrays, **options)
        finally:
            with self._guard:
                self._worker = None


def name_of(task: Callable[..., Frame]) -> str:
    """A task by name, as a worker finds it.

    >>> from ohash.engine.fitting import fit
    >>> name_of(fit)
    'ohash.engine.fitting:fit'
    """
    if not task.__module__.startswith("ohash."):
        raise ValueError(f"a worker runs only functions of ohash, got {task!r}")
    return f"{task.__module__}:{task.__qualname__}"


class WorkerPool(Executor):
    """Up to `max_workers` processes (all cores by default) with one thread each."""

    def __init__(self, max_workers: int | None = None) -> None:
        """No process is started before the first task."""
        self.max_workers = max_workers or os.cpu_count() or 1
        if self.max_workers < 1:
            raise ValueError(f"max_workers must be an integer >= 1, got {max_workers}")
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._current: set[Job] = set()  # jobs that are not done
        self._idle = 0
        self._closed = False
        self.deaths = 0  # of workers whose task was given to another

    def submit(  # type: ignore[override]
        self,
        task: Callable[..., Frame],
        /,
        values: JsonObject,
        arrays: Arrays | None = None,
        *,
        data: dict[str, Frame] | None = None,
        on_progress: Report | None = None,
    ) -> Job:
        """Give a task to the next free worker.

        A task is a function of this package that takes (values, arrays, report) and gives a frame. `data` are frames
        by key, sent to each worker once (`ohash.runtime.frames.shared`); a thread of the pool calls `on_progress`.
        """
        job = Job(name_of(task), values, arrays, {"data": data, "on_progress": on_progress})
        with self._lock:
            if self._closed:
                raise RuntimeError("the pool is shut down: no new tasks")
            self._current.add(job)
            job.add_done_callback(self._forget)
            self._jobs.put(job)
            if self._idle >= self._jobs.qsize() or len(self._threads) >= self.max_workers:
                return job
            thread = threading.Thread(target=self._serve, name=f"ohash-worker-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
        thread.start()
        return job

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """No more tasks; with `cancel_futures` also the running ones are stopped."""
        with self._lock:
            self._closed = True
            jobs, threads = list(self._current), list(self._threads)
        if cancel_futures:
            for job in jobs:
                job.cancel()
        for _ in threads:
            self._jobs.put(None)
        if wait:
            for thread in threads:
                thread.join()

    def _forget(self, job: Future[Frame]) -> None:
        with self._lock:
            self._current.discard(job)

    def _serve(self) -> None:
        """One thread of the pool, with one worker at a time."""
        worker: Worker | None = None
        try:
            while True:
                with self._lock:
                    self._idle += 1
                job = self._jobs.get()
                with self._lock:
                    self._idle -= 1
                if job is None:
                    return
                if job.set_running_or_notify_cancel():
                    worker = self._do(job, worker)
                del job
        finally:
            if worker is not None:
                worker.close()

    def _do(self, job: Job, worker: Worker | None) -> Worker | None:
        """Do a job, on a new worker if there is none alive; gives the worker to go on with."""
        for left in range(TRIES, 0, -1):
            if worker is not None and not worker.alive:
                worker.close()
                worker = None
            try:
                worker = worker or Worker()
                job.set_result(job.work(worker))
            except WorkerDiedError as error:
                if job.unwanted:
                    job.set_exception(CancelledError())
                elif left == 1:
                    job.set_exception(WorkerDiedError(f"{error}; it was tried {TRIES} times"))
                else:
                    LOG.warning("%s; a new process does it again", error)
                    with self._lock:
                        self.deaths += 1
                    continue
            except BaseException as error:  # whatever it is, it belongs to who waits
                job.set_exception(error)
            break
        return worker
