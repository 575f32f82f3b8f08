"""Give memory back to the system."""

import ctypes
import gc
import sys
from contextlib import suppress


def release_memory() -> None:
    """Collect what hangs in circles, and return free pages to the system (glibc keeps them otherwise)."""
    gc.collect()
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)
