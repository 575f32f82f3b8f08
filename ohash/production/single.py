"""Exactly one learner per file: a lock that ends with the process, however it ends."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def only_one(path: str | Path) -> Iterator[None]:
    """Hold the lock of `path`; a ValueError if another process has it."""
    lock = Path(path).with_name(f".{Path(path).name}.lock")
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise ValueError(f"another process learns into {path}; one model has exactly one learner") from error
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
