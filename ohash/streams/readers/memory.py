"""How much memory there is: what has to be unpacked must fit into it."""

import os
from functools import lru_cache
from pathlib import Path

# Of a container (cgroup v2, v1), in bytes, or "max".
CONTAINER = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
UNKNOWN = 2**62


@lru_cache(maxsize=1)
def memory() -> int:
    """Bytes of this machine, or of the container if that has fewer."""
    return min(_machine(), *(_limit(file) for file in CONTAINER))


def _machine() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not known there
        return UNKNOWN


def _limit(file: Path) -> int:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return UNKNOWN
