"""How every fast kernel is compiled: one decorator, one set of flags.

``nogil`` lets the dashboard's threads run while a kernel works, ``cache`` keeps the machine code between processes.
Floating point may be re-associated and contracted (that is what vectorises a dot product), but NaN and infinity stay
meaningful: the kernels detect bad input by them, so ``nnan`` and ``ninf`` must never be added here.

On a CPU with AVX-512 LLVM would use half of each vector register; here it uses all of it. numba chooses once per
process, when its first function is declared, so this holds only if that is one of ours.
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import llvmlite.binding as llvm
import numba
import numpy as np
import numpy.typing as npt

try:
    import fcntl
except ImportError:  # Windows: two processes may compile the same kernel at the same time
    fcntl = None  # type: ignore[assignment]

P = ParamSpec("P")
R = TypeVar("R")
Scalar = TypeVar("Scalar", bound=np.generic)

ALIGNMENT = 64  # bytes of a cache line, and of the widest vector: a load that straddles two lines takes twice as long


def use_whole_registers() -> None:
    """Let LLVM use vectors of 512 bits where the CPU has them, unless the user has chosen a CPU or its features."""
    config: Any = numba.config
    features = llvm.get_host_cpu_features()
    if features.get("avx512f") and config.CPU_NAME is None and config.CPU_FEATURES is None:
        config.CPU_FEATURES = f"{features.flatten()},-prefer-256-bit"


use_whole_registers()


def aligned_copy(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """A contiguous copy that begins on a cache line, for a kernel that reads it again and again."""
    buffer = np.empty(array.nbytes + ALIGNMENT, np.uint8)
    start = -buffer.ctypes.data % ALIGNMENT
    copy = buffer[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


FLAGS: dict[str, Any] = {
    "nogil": True,
    "cache": True,
    "fastmath": {"reassoc", "contract", "nsz"},
    "error_model": "numpy",
    "no_cfunc_wrapper": True,  # nothing calls a kernel from C
}


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` at its first call, once per argument types."""
    compiled: Callable[P, R] = _once(numba.njit(**FLAGS)(function))
    return compiled


def strict_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` without re-association: sums are added exactly as written, however the data are cut."""
    compiled: Callable[P, R] = _once(numba.njit(**{**FLAGS, "fastmath": False})(function))
    return compiled


def inline(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a small function for the kernels that call it, into which LLVM inlines it. Python runs it as Python."""
    flags = {**FLAGS, "cache": False, "no_cpython_wrapper": True}
    compiled: Callable[P, R] = _by_type(_for_kernels_only(numba.njit(**flags)(function)))
    return compiled


def kernel_for(signature: Any, function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` for one explicit signature, so that read-only and writable arrays share one machine code."""
    compiled = _once(numba.njit(**FLAGS)(function))
    compiled.compile(signature)
    compiled.disable_compile()
    return compiled  # type: ignore[no-any-return]


def _for_kernels_only(dispatcher: Any) -> Any:
    """Hide the machine code from Python: without a wrapper, to compile which takes time, Python cannot call it."""

    def add_overload(compiled: Any) -> None:
        dispatcher.overloads[tuple(compiled.signature.args)] = compiled

    def run_as_python(*_args: Any) -> Any:
        return dispatcher.py_func

    dispatcher.add_overload, dispatcher._compile_for_args = add_overload, run_as_python
    return dispatcher


def _by_type(dispatcher: Any) -> Any:
    """Compile for types alone: numba takes the literal 0 that a counter starts from for a type of its own as well."""
    template = dispatcher.get_call_template
    type_of: Callable[[Any], Any] = numba.types.unliteral

    @functools.wraps(template)
    def template_of_types(args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        return template(tuple(map(type_of, args)), {name: type_of(one) for name, one in keywords.items()})

    dispatcher.get_call_template = template_of_types
    return dispatcher


def _once(dispatcher: Any) -> Any:
    """Let the first of several processes compile a kernel, while the others wait and load what it has kept."""
    compile_now = dispatcher.compile

    @functools.wraps(compile_now)
    def compile_once(signature: Any) -> Any:
        with _lock(Path(dispatcher._cache.cache_path), dispatcher.py_func):
            return compile_now(signature)

    dispatcher.compile = compile_once
    return dispatcher


@contextmanager
def _lock(folder: Path, function: Callable[..., object]) -> Iterator[None]:
    """Hold a kernel's lock file in the folder of its cache; a place that takes no lock is no reason not to compile."""
    name = f"{Path(function.__code__.co_filename).stem}.{function.__qualname__}.lock"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / name).open("a")
    except OSError:
        yield
        return
    with lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def array_type(dtype: object, ndim: int, *, readonly: bool = False) -> Any:
    """The type of a contiguous array in a kernel's signature; a read-only one accepts writable arrays too."""
    return numba.types.Array(dtype, ndim, "C", readonly=readonly)
