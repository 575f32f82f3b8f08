"""A file of the data folder or an upload, and how much of it may be read.

In the user's own folder almost everything is allowed; an upload has hard limits. What cannot be memory-mapped must fit
into half of the memory.
"""

import errno
import io
import os
import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np

from ohash.core.arrays import Array

# Memory limits of a container (cgroup v2, v1), in bytes, or "max".
CONTAINER = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
UNKNOWN = 2**62
# How libraries in C report it, where they raise no MemoryError.
OUT_OF_MEMORY = re.compile(r"(allocate|out of) memory|memory allocation failed", re.IGNORECASE)


@lru_cache(maxsize=1)
def available_memory() -> int:
    """Bytes of this machine, or the limit of the container or the process (``ulimit -v``) if that is less."""
    return min(_machine(), _process(), *(_limit(file) for file in CONTAINER))


def out_of_memory(error: BaseException) -> bool:
    """Whether a library ran out of memory, so that the file may be whole.

    >>> [out_of_memory(error) for error in (MemoryError(), OSError(12, "Cannot allocate memory"), ValueError("header"))]
    [True, True, False]
    """
    return isinstance(error, MemoryError) or (
        isinstance(error, OSError) and (error.errno == errno.ENOMEM or OUT_OF_MEMORY.search(str(error)) is not None)
    )


def _machine() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # unknown on this system
        return UNKNOWN


def _process() -> int:
    try:
        import resource  # noqa: PLC0415 (not on Windows)

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    except (ImportError, OSError, ValueError):
        return UNKNOWN
    return UNKNOWN if limit == resource.RLIM_INFINITY else limit


def _limit(file: Path) -> int:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return UNKNOWN


MIB = 2**20
# Characters of a library's message about a file: it may quote a whole line.
LONGEST_MESSAGE = 160


class BadFileError(ValueError):
    """A file that is refused; the message names the file, what was expected, what was found, and what to do."""

    def __init__(self, message: str) -> None:
        """The message on one line, whatever characters the file holds."""
        super().__init__(one_line(message))


def file_error(name: str, error: BaseException, message: str) -> BadFileError:
    """The error to raise where a library fails on a file: `message`, unless memory ran out."""
    if not out_of_memory(error):
        return BadFileError(message)
    return BadFileError(
        f"{name} does not fit in memory ({format_bytes(available_memory())} available): take fewer rows, or "
        "raise the limit of the process (ulimit -v) or of its container"
    )


@dataclass(frozen=True)
class Limits:
    """Most bytes of the file, rows, columns and values (rows x columns); `decoded` is the most memory, in bytes, that
    an array may take that cannot be memory-mapped, and at most half of the memory.
    """

    size: int
    rows: int
    columns: int
    values: int
    decoded: int
    where: str

    def check_size(self, name: str, size: int) -> None:
        """Refuse an empty or too large file."""
        if size == 0:
            raise BadFileError(f"{name} is empty (0 bytes)")
        if size > self.size:
            raise BadFileError(
                f"{name} must have at most {format_bytes(self.size)} {self.where}, got {format_bytes(size)}; "
                f"{self._advice}"
            )

    def check_shape(self, name: str, rows: int, columns: int) -> None:
        """Refuse a declared shape before anything is allocated for it."""
        if rows < 1 or columns < 1:
            raise BadFileError(f"{name} must hold a non-empty matrix (n, d), got {rows} rows and {columns} columns")
        for what, got, most in (
            ("rows", rows, self.rows),
            ("columns", columns, self.columns),
            ("values (rows x columns)", rows * columns, self.values),
        ):
            if got > most:
                advice = "keep fewer columns" if what == "columns" else self._advice
                raise BadFileError(f"{name} must have at most {most:,} {what} {self.where}, got {got:,}; {advice}")

    def check_decoded(self, name: str, size: int) -> None:
        """Refuse what would take too much memory."""
        half = available_memory() // 2
        if size > min(self.decoded, half):
            limit = f"must decode to at most {format_bytes(min(self.decoded, half))}"
            limit = (
                f"{limit} {self.where}"
                if self.decoded <= half
                else f"does not fit in memory: it {limit} here, half of it"
            )
            raise BadFileError(
                f"{name} {limit}, it declares {format_bytes(size)}; save the matrix with np.save(...) and put the .npy "
                "in the data folder, where it is memory-mapped"
            )

    @property
    def _advice(self) -> str:
        if self is UPLOAD:
            return "take fewer rows, or put the file in the data folder (OHASH_DATA), which has no such limit"
        return "split the file"


# The size is `maxUploadSize` of .streamlit/config.toml, which the browser is sent.
UPLOAD = Limits(50 * MIB, rows=2_000_000, columns=16_384, values=50_000_000, decoded=400 * MIB, where="as an upload")
FOLDER = Limits(2**50, rows=2**34, columns=2**16, values=2**44, decoded=2**32, where="in the data folder")


def one_line(text: str) -> str:
    r"""`text` without line breaks and other characters that are not printable.

    >>> one_line("a\n\tb\u202e c")
    'a b c'
    """
    return re.sub(r"\s*\n\s*", " ", "".join(c if c.isprintable() else "\n" for c in text)).strip()


def short_message(error: BaseException) -> str:
    """The message of a library, cut to a length that fits into ours."""
    text = one_line(str(error))
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]}..."


def format_bytes(size: int) -> str:
    """A number of bytes for the reader.

    >>> format_bytes(999), format_bytes(3_844_000_000)
    ('999 bytes', '3.8 GB')
    """
    for unit, scale in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= scale:
            return f"{size / scale:.1f} {unit}"
    return f"{size} bytes"


# Smaller files are read into memory: a process dies if a file is truncated while it is mapped.
MAP_FROM = 16 * 2**20


PARQUET = ".parquet"


def _parquet_files(folder: Path) -> list[Path]:
    """Sorted by name; hidden files and those of other kinds, such as a README, are left out."""
    names = (
        file for file in folder.iterdir() if file.suffix.lower() == PARQUET and not file.name.startswith((".", "_"))
    )
    files = sorted(file for file in names if file.is_file())
    if not files:
        raise BadFileError(f"{folder} must be a file, or a folder of .parquet files, got a folder without any")
    return files


@dataclass(frozen=True)
class Source:
    """A named run of bytes, either `path` or `data`."""

    name: str
    size: int
    path: Path | None = None
    data: bytes = field(default=b"", repr=False)

    @classmethod
    def file(cls, path: str | Path) -> "Source":
        """A file on this machine, or a folder of Parquet files."""
        path = Path(path)
        if path.is_dir():
            return cls(path.name, sum(file.stat().st_size for file in _parquet_files(path)), path=path)
        if not path.is_file():
            raise ValueError(f"{path} must be a file that exists")
        return cls(path.name, path.stat().st_size, path=path)

    @classmethod
    def upload(cls, name: str, data: bytes) -> "Source":
        """Bytes that a browser sent; the name is only shown, never used as a path."""
        last = name.replace("\\", "/").rsplit("/", 1)[-1]
        shown = "".join(c if c.isprintable() else "?" for c in last)[-100:]
        return cls(shown or "upload", len(data), data=data)

    @property
    def extension(self) -> str:
        """Lower case, with the dot; that of its files for a folder."""
        return PARQUET if self.path is not None and self.path.is_dir() else Path(self.name).suffix.lower()

    @property
    def parts(self) -> "list[Source]":
        """The files of a folder, by name; a file has itself only."""
        if self.path is None or not self.path.is_dir():
            return [self]
        return [Source.file(path) for path in _parquet_files(self.path)]

    def open(self) -> BinaryIO:
        """A stream at the first byte."""
        return io.BytesIO(self.data) if self.path is None else self.path.open("rb")

    def start(self, count: int) -> bytes:
        """The first bytes."""
        with self.open() as stream:
            return stream.read(count)

    def end(self, count: int) -> bytes:
        """The last bytes, at most `count`."""
        with self.open() as stream:
            stream.seek(max(0, self.size - count))
            return stream.read(count)

    def array(self, dtype: np.dtype[Any], shape: tuple[int, ...], offset: int = 0, *, fortran: bool = False) -> Array:
        """Bytes from `offset` on as a read-only array, mapped if the file is large; the caller has checked the size."""
        order: Literal["C", "F"] = "F" if fortran else "C"
        count = int(np.prod(shape, dtype=object))
        if self.path is None:
            return np.frombuffer(self.data, dtype, count, offset).reshape(shape, order=order)
        if self.size >= MAP_FROM:
            return np.memmap(self.path, dtype, "r", offset, shape, order)
        with self.path.open("rb") as stream:
            stream.seek(offset)
            return np.frombuffer(stream.read(count * dtype.itemsize), dtype, count).reshape(shape, order=order)
