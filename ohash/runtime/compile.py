"""How every fast kernel is compiled: one decorator, one set of flags.

``nogil`` lets the dashboard's threads run while a kernel works, ``cache`` keeps the machine code between processes.
Floating point may be re-associated and contracted (that is what vectorises a dot product), but NaN and infinity stay
meaningful: the kernels detect bad input by them, so ``nnan`` and ``ninf`` must never be added here.
"""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numba

P = ParamSpec("P")
R = TypeVar("R")

FLAGS: dict[str, Any] = {
    "nogil": True,
    "cache": True,
    "fastmath": {"reassoc", "contract", "nsz"},
    "error_model": "numpy",
}


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` at its first call, once per argument types."""
    compiled: Callable[P, R] = numba.njit(**FLAGS)(function)
    return compiled


def in_order(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` without re-association: sums are added exactly as written, however the data are cut."""
    compiled: Callable[P, R] = numba.njit(**{**FLAGS, "fastmath": False})(function)
    return compiled


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a small function that other kernels call; LLVM inlines it."""
    compiled: Callable[P, R] = numba.njit(**{**FLAGS, "cache": False})(function)
    return compiled


def kernel_for(signature: Any, function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` for one explicit signature, so that read-only and writable arrays share one machine code."""
    compiled: Callable[P, R] = numba.njit(signature, **FLAGS)(function)
    return compiled
