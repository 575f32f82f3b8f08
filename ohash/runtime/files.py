"""Files that are written whole or not at all: on a full disk, or after a kill, the file of before is still there."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """A new file that takes the place of `path` once all of it is on the disk; a device or a pipe is written as it is.

    An error of the system names `path`, which it does not of its own accord if the disk is full.
    """
    path = Path(path)
    ours = not path.exists() or path.is_file()
    path = path.resolve() if ours else path  # a link stays a link
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        # "+": into other files NumPy writes past Python, and its error does not say what the system said
        with fresh.open("x+b") if ours else path.open("wb") as file:
            yield file
            file.flush()
            if ours:
                os.fsync(file.fileno())
        if ours:
            with suppress(FileNotFoundError):
                shutil.copymode(path, fresh)
            fresh.replace(path)
    except OSError as error:
        if error.filename in (None, str(fresh)):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        if ours:
            fresh.unlink(missing_ok=True)


def write_file(path: str | Path, content: str | bytes | memoryview) -> None:
    """Write a file whole or not at all; text as UTF-8."""
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
