"""Files of our own: one .npz without pickle, plain values as JSON inside, written atomically."""

import json
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ohash.runtime.files import replacing
from ohash.runtime.frames import Arrays


def save_arrays(file: BinaryIO, arrays: Arrays) -> None:
    """Arrays as .npz. Objects, which would be pickled, are refused; NumPy 2.1 cannot be told to."""
    objects = [name for name, array in arrays.items() if np.asarray(array).dtype.hasobject]
    if objects:
        raise ValueError(f"arrays must hold numbers, truth values or text, got objects in {', '.join(objects)}")
    np.savez(file, **arrays)  # type: ignore[arg-type]


def write_archive(path: str | Path, header: dict[str, Any], arrays: Arrays) -> None:
    """Write header and arrays; an interrupted write leaves the old file."""
    with replacing(path) as file:
        save_arrays(file, {"header": np.array(json.dumps(header)), **arrays})


def read_archive(path: str | Path, what: str, version: int) -> tuple[dict[str, Any], Arrays]:
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
