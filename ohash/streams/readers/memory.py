"""How much memory there is: what has to be unpacked must fit into it."""

import errno
import os
import re
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
