"""Where the cells of a sweep run: in this thread, in processes on this machine, or on a Dask cluster.

All three are `concurrent.futures.Executor`s for the task `ohash.engine.tasks.run`, and give the same results.
"""

import importlib
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

from ohash.engine.params import OWN, ExperimentParams
from ohash.engine.tasks import run_with_data
from ohash.runtime.frames import Arrays, Frame, JsonObject
from ohash.runtime.pool import WorkerPool
from ohash.streams import registry
from ohash.streams.dataset import Dataset, dataset_to_frame

P = ParamSpec("P")
Result = TypeVar("Result")


class InlineExecutor(Executor):
    """Runs each task in the calling thread, when it is submitted."""

    def submit(self, task: Callable[P, Result], /, *args: P.args, **kwargs: P.kwargs) -> Future[Result]:
        """Run the task; returns a finished future."""
        future: Future[Result] = Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(task(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class DaskExecutor(Executor):
    """A Dask cluster. Data are sent once per worker; if a worker is lost, another runs its cells."""

    def __init__(self, address: str) -> None:
        """Connect to the scheduler, "tcp://host:8786"."""
        try:
            distributed = importlib.import_module("distributed")
        except ImportError as error:
            raise ValueError('a cluster needs Dask: python3 -m pip install "ohash[cluster]"') from error
        try:
            self._client: Any = distributed.Client(address, timeout=20, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise ValueError(f"cluster must be the address of a Dask scheduler, got {address!r}: {error}") from error
        self._executor = self._client.get_executor(pure=False)
        self._sent: JsonObject = {}

    @property
    def threads(self) -> int:
        """Total threads of all workers now."""
        return sum(self._client.nthreads().values())

    def submit(self, task: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a cell on any worker, with its data set."""
        values = dict(args[0])
        dataset, own = kwargs.pop("dataset"), kwargs.pop("own", None)
        name = dataset if own is None else own.fingerprint()
        if name not in self._sent:
            data = registry.load_by_key(dataset) if own is None else own
            self._sent[name] = (
                data.fingerprint(),
                self._client.scatter(dataset_to_frame(data), broadcast=True, hash=False),
            )
        fingerprint, sent = self._sent[name]
        future: Future[Frame] = self._executor.submit(run_with_data, {**values, "data": fingerprint}, sent)
        return future

    def submit_task(self, task: Callable[..., Frame], values: JsonObject, arrays: Arrays) -> Future[Frame]:
        """Run any task on any worker."""
        future: Future[Frame] = self._executor.submit(task, values, arrays)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Disconnect; the cluster keeps running."""
        self._executor.shutdown(wait=wait and not cancel_futures)  # without waiting Dask cancels
        self._client.close()


def capacity(executor: Executor) -> int:
    """How many cells to submit at once: a few more than the executor runs in parallel."""
    if isinstance(executor, WorkerPool):
        return executor.max_workers + 1
    return max(1, 2 * executor.threads) if isinstance(executor, DaskExecutor) else 1


def submit_cell(
    executor: Executor, task: Callable[..., Frame], params: ExperimentParams, own: Mapping[str, Dataset]
) -> Future[Frame]:
    """Submit a cell; `own` is the user's own data by fingerprint."""
    values, data = {"params": params.to_json()}, own.get(params.content) if params.dataset == OWN else None
    if isinstance(executor, DaskExecutor):
        return executor.submit(task, values, dataset=params.dataset, own=data)
    if data is None:
        return executor.submit(task, values, {})
    values["data"] = params.content
    if isinstance(executor, WorkerPool):
        return executor.submit(task, values, {}, data={params.content: dataset_to_frame(data)})
    return executor.submit(run_with_data, values, dataset_to_frame(data))


def cancel_all(futures: Iterable[Future[Frame]]) -> None:
    """Cancel every future that has not started."""
    for future in futures:
        future.cancel()
