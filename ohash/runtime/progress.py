"""Long work: how far it is, which loops report and a caller may hear, and how to do all slices of it at once.

Work in slices of a few milliseconds is a generator that yields after each and returns the result.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Listener = Callable[[float], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def report_step(done: int, total: int) -> None:
    """`done` of `total` equal steps are over."""
    listener = _listener.get()
    if listener is not None:
        listener(done / max(1, total))


@contextmanager
def listen_to_progress(listener: Listener) -> Iterator[None]:
    """Hear the share done (0 to 1) from every loop inside.

    >>> shares = []
    >>> with listen_to_progress(shares.append):
    ...     report_step(1, 4)
    >>> report_step(2, 4)
    >>> shares
    [0.25]
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


Result = TypeVar("Result")


def drain(work: Generator[object, None, Result]) -> Result:
    """Do all slices at once, and give the result.

    >>> def work():
    ...     yield
    ...     return 3
    >>> drain(work())
    3
    """
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
