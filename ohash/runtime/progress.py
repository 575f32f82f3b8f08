"""How far a long fit is: loops report, and a caller may listen."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[float], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def tell(done: int, of: int) -> None:
    """`done` of `of` equal steps are over."""
    listener = _listener.get()
    if listener is not None:
        listener(done / max(1, of))


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Hear the share done (0 to 1) from every loop inside.

    >>> shares = []
    >>> with listening(shares.append):
    ...     tell(1, 4)
    >>> tell(2, 4)
    >>> shares
    [0.25]
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
