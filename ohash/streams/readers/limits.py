"""How much a file may hold: next to nothing is forbidden in the user's own folder, an upload has hard limits.

How much memory there is: what has to be unpacked must fit into it.
"""

import errno
import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

# Of a container (cgroup v2, v1), in bytes, or "max".
CONTAINER = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
UNKNOWN = 2**62
# How libraries in C say that it ran out, where they raise no MemoryError.
RAN_OUT = re.compile(r"(allocate|out of) memory|memory allocation failed", re.IGNORECASE)


@lru_cache(maxsize=1)
def memory() -> int:
    """Bytes of this machine, or of the container or the process (``ulimit -v``) if that may have fewer."""
    return min(_machine(), _process(), *(_limit(file) for file in CONTAINER))


def ran_out(error: BaseException) -> bool:
    """Whether a library failed for want of memory, and the file may be whole.

    >>> ran_out(MemoryError()), ran_out(OSError(12, "Cannot allocate memory")), ran_out(ValueError("a bad header"))
    (True, True, False)
    """
    return isinstance(error, MemoryError) or (
        isinstance(error, OSError) and (error.errno == errno.ENOMEM or RAN_OUT.search(str(error)) is not None)
    )


def _machine() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not known there
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
# Characters of what a library says about a file: it may quote a whole line of it.
SAID = 160


class BadFileError(ValueError):
    """A file that is refused; the message names the file, what was expected, what was got, and the way out."""

    def __init__(self, message: str) -> None:
        """In one line, whatever names and texts of the file hold."""
        super().__init__(one_line(message))


def refusal(name: str, error: BaseException, message: str) -> BadFileError:
    """What to raise where a library stumbled over a file: `message`, or that memory ran out, if it was that."""
    if not ran_out(error):
        return BadFileError(message)
    return BadFileError(
        f"{name} does not fit in memory ({in_words(memory())} are there or allowed): take fewer rows, or raise the "
        "limit of the process (ulimit -v) or of its container"
    )


@dataclass(frozen=True)
class Limits:
    """Most bytes of the file, rows, columns and values (rows x columns); `decoded` is the most memory, in bytes, that
    an array may take which cannot be memory-mapped, and never more than half of what there is.
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
                f"{name} must have at most {in_words(self.size)} {self.where}, got {in_words(size)}; {self._way_out}"
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
                way_out = "keep fewer columns" if what == "columns" else self._way_out
                raise BadFileError(f"{name} must have at most {most:,} {what} {self.where}, got {got:,}; {way_out}")

    def check_decoded(self, name: str, size: int) -> None:
        """Refuse what would take too much memory."""
        half = memory() // 2
        if size > min(self.decoded, half):
            most = f"must decode to at most {in_words(min(self.decoded, half))}"
            most = (
                f"{most} {self.where}"
                if self.decoded <= half
                else f"does not fit in memory: it {most} here, half of it"
            )
            raise BadFileError(
                f"{name} {most}, it declares {in_words(size)}; save the matrix with np.save(...) and put the .npy in "
                "the data folder, where it is memory-mapped"
            )

    @property
    def _way_out(self) -> str:
        if self is UPLOAD:
            return "take fewer rows, or put the file in the data folder (OHASH_DATA), which has no such limit"
        return "split the file"


# The size is `maxUploadSize` of .streamlit/config.toml, which the browser is told.
UPLOAD = Limits(50 * MIB, rows=2_000_000, columns=16_384, values=50_000_000, decoded=400 * MIB, where="as an upload")
FOLDER = Limits(2**50, rows=2**34, columns=2**16, values=2**44, decoded=2**32, where="in the data folder")


def one_line(text: str) -> str:
    r"""`text` without line breaks and other characters that show nothing or move the cursor.

    >>> one_line("a\n\tb\u202e c")
    'a b c'
    """
    return re.sub(r"\s*\n\s*", " ", "".join(c if c.isprintable() else "\n" for c in text)).strip()


def told(error: BaseException) -> str:
    """What a library says, not more than fits beside our own words."""
    text = one_line(str(error))
    return text if len(text) <= SAID else f"{text[:SAID]}..."


def in_words(size: int) -> str:
    """A number of bytes, readable.

    >>> in_words(999), in_words(3_844_000_000)
    ('999 bytes', '3.8 GB')
    """
    for unit, scale in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= scale:
            return f"{size / scale:.1f} {unit}"
    return f"{size} bytes"
