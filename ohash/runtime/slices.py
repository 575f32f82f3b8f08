"""Work that is done in slices of a few milliseconds: a generator yields after each and returns the result."""

from collections.abc import Generator
from typing import TypeVar

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
