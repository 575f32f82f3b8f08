"""What a process makes once, however many threads ask for it first."""

import threading
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

T = TypeVar("T")


def once_per_process(make: Callable[[], T]) -> Callable[[], T]:
    """`make`, called at the first call only; later ones cost nothing.

    >>> count = iter(range(9))
    >>> first = once_per_process(lambda: next(count))
    >>> first(), first()
    (0, 0)
    """
    made: list[T] = []
    lock = threading.Lock()

    @wraps(make)
    def get() -> T:
        if not made:
            with lock:
                if not made:
                    made.append(make())
        return made[0]

    return get
