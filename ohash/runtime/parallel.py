"""Independent pieces of work on all cores, in threads: for products and kernels, which release the interpreter lock.

Every piece runs with one BLAS thread, whoever computes it, so that results do not depend on the number of threads. All
callers share one pool: a server with many visitors never has more busy threads of it than cores.
"""

import os
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

from ohash.runtime.clock import add_working_seconds, working_seconds
from ohash.runtime.threads import one_blas_thread

Item = TypeVar("Item")
Result = TypeVar("Result")
_inside = threading.local()


@cache
def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cores(), "ohash-parallel", initializer=_mark)


def _mark() -> None:
    _inside.pool = True


def in_parallel(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """The results in the order of the items. CPU seconds of the threads count as those of the caller.

    >>> in_parallel(lambda x: x * x, [3, 4])
    [9, 16]
    """
    pieces = list(items)
    with one_blas_thread():
        if (
            len(pieces) < 2 or cores() == 1 or getattr(_inside, "pool", False)
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


def together(works: Sequence[Generator[float, None, Result]]) -> Generator[float, None, list[Result]]:
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
