"""The table of formats, and its two entrances: `read_path` for the user's own files, `read_upload` for uploads."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from ohash.streams.readers import binary as vecs
from ohash.streams.readers import delimited, hdf5, mat, npy, npz, parquet
from ohash.streams.readers.limits import FOLDER, UPLOAD, BadFileError, Limits, refusal, told
from ohash.streams.readers.source import Source
from ohash.streams.readers.table import Peek, Table

PICKLES = (".pkl", ".pickle", ".joblib", ".pt", ".pth", ".p", ".dill")

Found = TypeVar("Found")


class PeekFile(Protocol):
    """The shape of a file from its header."""

    def __call__(self, source: Source, limits: Limits, variable: str | None = None) -> Peek:
        """Never allocates by what the header declares."""


class ReadFile(Protocol):
    """The content of a file."""

    def __call__(self, source: Source, limits: Limits, variable: str | None = None) -> Table:
        """Mapped where the format allows."""


@dataclass(frozen=True)
class Reader:
    """One format; `named` says whether a file of it may hold several matrices, by name."""

    title: str
    peek: PeekFile
    read: ReadFile
    named: bool = False


READERS: dict[str, Reader] = {
    ".npy": Reader("a NumPy array", npy.peek, npy.read),
    ".npz": Reader("a NumPy archive", npz.peek, npz.read, named=True),
    ".csv": Reader("a CSV table", delimited.peek, delimited.read),
    ".tsv": Reader("a table with tabs", delimited.peek, delimited.read),
    ".parquet": Reader("a Parquet table", parquet.peek, parquet.read, named=True),
    ".fvecs": Reader("TEXMEX vectors", vecs.peek, vecs.read),
    ".bvecs": Reader("TEXMEX byte vectors", vecs.peek, vecs.read),
    ".ivecs": Reader("TEXMEX integer vectors", vecs.peek, vecs.read),
    ".mat": Reader("a MATLAB file", mat.peek, mat.read, named=True),
    ".hdf5": Reader("an HDF5 file", hdf5.peek, hdf5.read, named=True),
    ".h5": Reader("an HDF5 file", hdf5.peek, hdf5.read, named=True),
}


def read_path(path: str | Path, variable: str | None = None, limits: Limits = FOLDER) -> Table:
    """A file of this machine; a large one is memory-mapped where its format allows."""
    return read(Source.file(path), limits, variable)


def read_upload(name: str, data: bytes, limits: Limits = UPLOAD) -> Table:
    """Bytes a browser sent, within hard limits."""
    return read(Source.upload(name, data), limits)


def peek_path(path: str | Path, variable: str | None = None, limits: Limits = FOLDER) -> Peek:
    """The shape of a file, from its header."""
    source = Source.file(path)
    return guarded(source, limits, lambda: reader(source, variable).peek(source, limits, variable))


def read(source: Source, limits: Limits, variable: str | None = None) -> Table:
    """Find the reader and read."""
    return guarded(source, limits, lambda: reader(source, variable).read(source, limits, variable))


def reader(source: Source, variable: str | None = None) -> Reader:
    """The reader of a source, by the extension of its name; `variable` names one of several matrices."""
    refuse_pickle(source)
    if source.extension not in READERS:
        raise BadFileError(
            f"{source.name} must be one of {', '.join(READERS)}, got {source.extension or 'no extension'}; "
            "np.save('x.npy', X) is the simplest"
        )
    found = READERS[source.extension]
    if variable is not None and not found.named:
        raise BadFileError(
            f"{source.name} is {found.title}, which holds one matrix and no names, got variable = {variable!r} in the "
            "TOML beside it; leave that out"
        )
    return found


def refuse_pickle(source: Source) -> None:
    """Name a pickle as what it is."""
    if source.extension in PICKLES or (source.extension not in READERS and _looks_pickled(source)):
        raise npy.pickled(source.name)


def guarded(source: Source, limits: Limits, work: Callable[[], Found]) -> Found:
    """Do the work; whatever a library raises over a damaged file becomes a ValueError that names the file."""
    limits.check_size(source.name, source.size)
    try:
        return work()
    except BadFileError:
        raise
    except Exception as error:
        raise refusal(
            source.name,
            error,
            f"{source.name} could not be read ({type(error).__name__}: {told(error)}); it is damaged or not "
            f"a {source.extension} file",
        ) from error


def _looks_pickled(source: Source) -> bool:
    start = source.start(2)
    return len(start) == 2 and start[0] == 0x80 and 2 <= start[1] <= 5
