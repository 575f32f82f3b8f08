"""Files of ours: in which folders, how they are written, and how arrays are kept in them.

Folders: in OHASH_HOME, else where this system keeps a user's data and cache. A file is written whole or not at all: on
a full disk, or after a kill, the file of before is still there. An archive is one .npz without pickle, plain values as
JSON inside.
"""

import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import numpy as np
import platformdirs

from ohash.runtime.frames import Arrays, Frame, JsonObject

HOME = "OHASH_HOME"
APP = "ohash"


def home() -> Path:
    """The folder of runs, sweeps and models; it need not exist yet.

    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, {HOME: "/data/lab"}):
    ...     home().as_posix(), cache_folder().as_posix()
    ('/data/lab', '/data/lab/cache')
    """
    return folder_named_by(HOME) or platformdirs.user_data_path(APP, appauthor=False)


def cache_folder() -> Path:
    """The folder of features and radii that were computed once; it need not exist yet."""
    chosen = folder_named_by(HOME)
    return chosen / "cache" if chosen else platformdirs.user_cache_path(APP, appauthor=False)


def folder_named_by(variable: str) -> Path | None:
    """The folder that an environment variable names, or None."""
    name = os.environ.get(variable, "").strip()
    return Path(name).expanduser() if name else None


@contextmanager
def atomic_file(path: str | Path) -> Iterator[BinaryIO]:
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


def describe_error(error: Exception) -> str:
    """What went wrong with which file, without the number that the system gives to the error.

    >>> describe_error(FileNotFoundError(2, "No such file or directory", "x.npy"))
    'x.npy: No such file or directory'
    >>> describe_error(NotADirectoryError(20, "Cannot list directory 'x'. Detail: [errno 20] Not a directory"))
    "Cannot list directory 'x': Not a directory"
    """
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    reason = re.sub(r"\. Detail: (\[errno \d+\] )?", ": ", error.strerror)  # as pyarrow writes it
    return reason if error.filename is None else f"{error.filename}: {reason}"


def write_file(path: str | Path, content: str | bytes | memoryview) -> None:
    """Write a file whole or not at all; text as UTF-8."""
    with atomic_file(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def save_arrays(file: BinaryIO, arrays: Arrays) -> None:
    """Arrays as .npz. Objects, which would be pickled, are refused; NumPy 2.1 cannot be told to."""
    objects = [name for name, array in arrays.items() if np.asarray(array).dtype.hasobject]
    if objects:
        raise ValueError(f"arrays must hold numbers, truth values or text, got objects in {', '.join(objects)}")
    np.savez(file, **arrays)  # type: ignore[arg-type]


def write_archive(path: str | Path, header: JsonObject, arrays: Arrays) -> None:
    """Write header and arrays; an interrupted write leaves the old file."""
    with atomic_file(path) as file:
        save_arrays(file, {"header": np.array(json.dumps(header)), **arrays})


def read_archive(path: str | Path, what: str, version: int) -> Frame:
    """Header and arrays of a `what` ("model", "run") of this format version; anything else is a ValueError."""
    with Path(path).open("rb") as file:
        try:
            with np.load(file, allow_pickle=False) as archive:
                header = json.loads(str(archive["header"]))
                arrays = {name: archive[name] for name in archive.files if name != "header"}
            format_ = header["format"]
        except Exception as error:  # a damaged archive fails in a dozen ways, and numpy's advice is to allow pickle
            raise ValueError(
                f"path must be {_a(what)} saved by ohash, got {path}, which is foreign or damaged "
                f"({type(error).__name__}); save it again with .save(path)"
            ) from error
    kind = header.get("what", "model")
    if kind != what:
        raise ValueError(
            f"path must be {_a(what)} saved by ohash, got {path}, which holds {_a(kind)}; name another file"
        )
    if format_ != version:
        raise ValueError(
            f"path must be {_a(what)} of format {version}, got {path}, of format {format_}; use the ohash it is from"
        )
    return header, arrays


def _a(noun: str) -> str:
    return f"{'an' if noun[:1] in 'aeio' else 'a'} {noun}"
