"""What is made when it is first asked for: names that a package imports, and things that a process has once."""

import importlib
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TypeVar

T = TypeVar("T")


def attach(
    package: str, modules: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package; `modules` says which names come from each of its modules."""
    places = {name: module for module, names in modules.items() for name in names}

    def find(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{package}.{places[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *places})

    return find, names


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
