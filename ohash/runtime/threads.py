"""One BLAS thread for loops of small products: threads that wait for each other cost more than they bring.

On a busy machine with two cores the 50 rounds of ITQ took 0.2 s with one thread and 4 s with two. And in a server that
multiplies a little every now and then, the second thread of OpenBLAS is never told to sleep: it took half a core.

scipy brings a BLAS of its own. Loaded later it would not be limited, so it is loaded first: 16 eigenvectors of a
300 x 300 matrix took 1.0 s of CPU with two threads, and take 0.1 s.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

_lock = threading.Lock()
_inside: list[Any] = []  # the limit in force, once for every loop inside it


def one_blas_thread_for_ever() -> None:
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
