"""Files and uploads become arrays. Each format has a module; `file_formats.READERS` has the extensions of each.

Two entrances share every reader: a path in the data folder (`read_path`, memory-mapped where the format allows) and
uploaded bytes (`read_upload`, within hard limits). `open_files` makes a data set of vectors with labels or pairs. What
a header declares is checked before memory is allocated. Nothing is ever unpickled, because a pickle runs code.
"""

from typing import TYPE_CHECKING

from ohash.runtime import lazy

if TYPE_CHECKING:
    from ohash.streams.readers.file_formats import READERS, peek_path, read_path, read_upload
    from ohash.streams.readers.own_data import DataOptions, dataset_from_sources, open_files
    from ohash.streams.readers.source import FOLDER, UPLOAD, BadFileError, Limits, Source
    from ohash.streams.readers.two_sides import open_two_sides

__all__ = [
    "FOLDER", "READERS", "UPLOAD", "BadFileError", "DataOptions", "Limits", "Source", "dataset_from_sources",
    "open_files", "open_two_sides", "peek_path", "read_path", "read_upload",
]  # fmt: skip

__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "file_formats": ("READERS", "peek_path", "read_path", "read_upload"),
        "own_data": ("DataOptions", "dataset_from_sources", "open_files"),
        "source": ("FOLDER", "UPLOAD", "BadFileError", "Limits", "Source"),
        "two_sides": ("open_two_sides",),
    },
)
