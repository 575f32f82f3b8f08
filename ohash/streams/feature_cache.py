"""Arrays computed once and kept in the user's cache as memory-mapped .npy, written atomically, with a checksum.

They lie in `ohash.runtime.files.cache_folder`. A damaged file is built again.
"""

import hashlib
import re
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Array
from ohash.runtime.files import HOME, cache_folder

BYTES_PER_READ = 2**24
# Images between two reports of progress.
GIST_BLOCK = 512

Progress = Callable[[int, int], None]

_progress: ContextVar[Progress | None] = ContextVar("progress", default=None)


@contextmanager
def report_progress_to(progress: Progress) -> Iterator[None]:
    """A context in which every build calls ``progress(rows done, rows total)``."""
    token = _progress.set(progress)
    try:
        yield
    finally:
        _progress.reset(token)


def cached_rows(
    name: str,
    version: str,
    shape: tuple[int, ...],
    dtype: npt.DTypeLike,
    blocks: Callable[[], Iterable[Array]],
) -> Array:
    """The array of `shape` that `blocks` yields row by row, built on the first call and read-only from then on.

    `version` names source and recipe: another version is another file.
    """
    dtype = np.dtype(dtype)
    file = _file(name, version, shape, dtype)
    array = _load(file, shape, dtype)
    if array is None:
        _build(file, shape, dtype, blocks)
        array = _load(file, shape, dtype)
    if array is None:
        raise ValueError(f"{file.name} cannot be read back from the cache after it was written; is the disk faulty?")
    return array


def find_cached_rows(name: str, version: str, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Array | None:
    """The array that `cached_rows` has built before, or None."""
    dtype = np.dtype(dtype)
    return _load(_file(name, version, shape, dtype), shape, dtype)


def cached_gist(name: str, version: str, count: int, images: Callable[[int, int], Array]) -> npt.NDArray[np.float32]:
    """GIST-512 of `count` images, computed once; ``images(start, stop)`` gives a block of them."""
    from ohash.core.gist import DIMENSIONS, gist512  # noqa: PLC0415

    def blocks() -> Iterator[Array]:
        for start in range(0, count, GIST_BLOCK):
            yield gist512(images(start, min(count, start + GIST_BLOCK)))

    return cached_rows(f"{name}-gist512", f"{version} gist512 1", (count, DIMENSIONS), np.float32, blocks)


def _file(name: str, version: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Path:
    tag = hashlib.sha256(f"{version} {shape} {dtype}".encode()).hexdigest()[:12]
    return cache_folder() / f"{re.sub(r'[^A-Za-z0-9._-]', '_', name)[:80]}-{tag}.npy"


def _load(file: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array | None:
    """The file if it is whole, else None."""
    try:
        array: Array = np.load(file, mmap_mode="r", allow_pickle=False)
        expected = _checksum_file(file).read_text().strip()
    except (OSError, ValueError, EOFError):
        return None
    whole = array.shape == shape and array.dtype == dtype and _digest(file) == expected
    return array if whole else None


def _build(file: Path, shape: tuple[int, ...], dtype: np.dtype[Any], blocks: Callable[[], Iterable[Array]]) -> None:
    progress = _progress.get()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f".{file.stem}-{uuid.uuid4().hex[:8]}.part.npy")
        try:
            at = 0
            with part.open("wb") as target:  # not through a map, where a full disk would kill this process (SIGBUS)
                header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(target, header)
                for block in blocks():
                    rows = np.ascontiguousarray(block, dtype)
                    target.write(rows.reshape(len(rows), *shape[1:]).data)
                    at += len(rows)
                    if progress is not None:
                        progress(at, shape[0])
            if at != shape[0]:
                raise ValueError(f"{file.name} must get {shape[0]:,} rows, its source gave {at:,}")
            digest = part.with_suffix(".sha256")
            digest.write_text(_digest(part) + "\n")
            digest.replace(_checksum_file(file))
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)
            part.with_suffix(".sha256").unlink(missing_ok=True)
    except OSError as error:
        raise ValueError(
            f"{file.name} cannot be kept in the cache ({error.strerror or error}); free some disk, or set {HOME} to a "
            "folder you may write to"
        ) from None


def _checksum_file(file: Path) -> Path:
    return file.with_suffix(".sha256")


def _digest(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(BYTES_PER_READ):
            digest.update(block)
    return digest.hexdigest()
