"""Folders here or elsewhere: a path on this machine, or any URL that fsspec knows, such as s3://bucket/folder."""

import importlib
from typing import Any


def open_place(place: str) -> tuple[Any, str]:
    """(a file system of pyarrow, the path in it)."""
    from pyarrow import fs  # noqa: PLC0415

    if "://" not in place:
        return fs.LocalFileSystem(), place
    try:
        fsspec: Any = importlib.import_module("fsspec")
        system, path = fsspec.core.url_to_fs(place)
    except ImportError as error:
        raise ValueError(f'{place} needs fsspec: python3 -m pip install "ohash[object-storage]" ({error})') from error
    except ValueError as error:
        raise ValueError(f"{place} is no place that fsspec knows: {error}") from error
    return fs.PyFileSystem(fs.FSSpecHandler(system)), path


def list_files(system: Any, folder: str) -> dict[str, int]:
    """Sizes in bytes of all files under a folder, by their path within it; nothing if it is not there."""
    from pyarrow import fs  # noqa: PLC0415

    entries = system.get_file_info(fs.FileSelector(folder, recursive=True, allow_not_found=True))
    start = len(folder.rstrip("/")) + 1
    return {info.path[start:]: info.size for info in sorted(entries, key=lambda one: one.path) if info.is_file}


def read_bytes(system: Any, path: str) -> bytes:
    """A whole file."""
    with system.open_input_stream(path) as stream:
        return bytes(stream.read())


def write_bytes(system: Any, path: str, content: bytes) -> None:
    """A whole file; the folder is made."""
    system.create_dir(path.rpartition("/")[0] or ".", recursive=True)
    with system.open_output_stream(path) as stream:
        stream.write(content)
