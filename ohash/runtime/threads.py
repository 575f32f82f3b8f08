"""Threads of this process: one for BLAS, and all cores for independent pieces of work.

Loops of small products have one BLAS thread: threads that wait for each other cost more than they bring.

On a busy machine with two cores the 50 rounds of ITQ took 0.2 s with one thread and 4 s with two. And in a server that
multiplies a little every now and then, the second thread of OpenBLAS is never told to sleep: it took half a core.

scipy brings a BLAS of its own. Loaded later it would not be limited, so it is loaded first: 16 eigenvectors of a
300 x 300 matrix took 1.0 s of CPU with two threads, and take 0.1 s.

Pieces that run on all cores are products and kernels, which release the interpreter lock. Every one runs with one BLAS
thread, whoever computes it, so that results do not depend on the number of threads. All callers share one pool: a
server with many visitors never has more busy threads of it than cores.
"""

import os
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import Any, TypeVar

from ohash.runtime.clock import add_working_seconds, working_seconds

_lock = threading.Lock()
_inside: list[Any] = []  # the limit in force, once for every loop inside it
_working = threading.local()  # the threads of the pool

Item = TypeVar("Item")
Result = TypeVar("Result")


def use_one_blas_thread() -> None:
    """For a process that serves many at once."""
    import scipy.linalg  # noqa: F401, PLC0415
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 (comes with scikit-learn)

    with _lock:
        threadpool_limits(1, user_api="blas")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS of this process to one thread; the limit ends with the last of the loops that overlap."""
    with _lock:
        _inside.append(_inside[0] if _inside else _libraries(len(sys.modules)).limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            limit = _inside.pop()
            if not _inside:
                limit.restore_original_limits()


@lru_cache(maxsize=1)
def _libraries(modules: int) -> Any:
    """The libraries loaded now, which takes milliseconds to find out; another one comes with a further module only."""
    import scipy.linalg  # noqa: F401, PLC0415
    from threadpoolctl import ThreadpoolController  # noqa: PLC0415 (comes with scikit-learn)

    return ThreadpoolController()


@cache
def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cores(), "ohash-parallel", initializer=_mark)


def _mark() -> None:
    _working.pool = True


def in_parallel(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """The results in the order of the items. CPU seconds of the threads count as those of the caller.

    >>> in_parallel(lambda x: x * x, [3, 4])
    [9, 16]
    """
    pieces = list(items)
    with one_blas_thread():
        if (
            len(pieces) < 2 or cores() == 1 or getattr(_working, "pool", False)
        ):  # a thread of the pool waits for no other
            return [function(item) for item in pieces]

        def timed(item: Item) -> tuple[Result, float]:
            since = working_seconds()
            return function(item), working_seconds() - since

        futures = [_pool().submit(timed, item) for item in pieces]
        try:
            done = [future.result() for future in futures]
        finally:  # after an error, what still runs must not outlive the arrays it writes to
            for future in futures:
                future.cancel()
            for future in futures:
                if not future.cancelled():
                    future.exception()
    add_working_seconds(sum(seconds for _, seconds in done))
    return [result for result, _ in done]


def batches(items: Sequence[Item]) -> list[Sequence[Item]]:
    """As many items at a time as there are cores, for work that pauses in between."""
    return [items[at : at + cores()] for at in range(0, len(items), cores())]


def run_side_by_side(works: Sequence[Generator[float, None, Result]]) -> Generator[float, None, list[Result]]:
    """Work in slices (`runtime.progress`), side by side: a slice of each at a time, then the mean share is told."""
    results: dict[int, Result] = {}
    shares = [0.0] * len(works)

    def advance(at: int) -> None:
        try:
            shares[at] = next(works[at])
        except StopIteration as end:
            results[at], shares[at] = end.value, 1.0

    while len(results) < len(works):
        in_parallel(advance, [at for at in range(len(works)) if at not in results])
        yield sum(shares) / len(shares)
    return [results[at] for at in range(len(works))]
