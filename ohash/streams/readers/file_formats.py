"""The table of formats, and its two entrances: `read_path` for the user's own files, `read_upload` for uploads.

`guess_role` tells from headers and the first line whether a file holds vectors, or pairs or labels that belong to
vectors in another file. Names of columns decide, not values; where they say nothing the file holds vectors: two columns
of numbers without names may well be points in the plane.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from ohash.streams.readers import binary as vecs
from ohash.streams.readers import delimited, hdf5, mat, numpy_files, parquet
from ohash.streams.readers.source import FOLDER, UPLOAD, BadFileError, Limits, Source, file_error, short_message
from ohash.streams.readers.table import ID_NAMES, LABEL_NAMES, Peek, Table

PICKLES = (".pkl", ".pickle", ".joblib", ".pt", ".pth", ".p", ".dill")

Result = TypeVar("Result")


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
    ".npy": Reader("a NumPy array", numpy_files.peek_npy, numpy_files.read_npy),
    ".npz": Reader("a NumPy archive", numpy_files.peek_npz, numpy_files.read_npz, named=True),
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
    """Bytes that a browser sent, within hard limits."""
    return read(Source.upload(name, data), limits)


def peek_path(path: str | Path, variable: str | None = None, limits: Limits = FOLDER) -> Peek:
    """The shape of a file, from its header."""
    source = Source.file(path)
    return read_safely(source, limits, lambda: find_reader(source, variable).peek(source, limits, variable))


def read(source: Source, limits: Limits, variable: str | None = None) -> Table:
    """Find the reader and read."""
    return read_safely(source, limits, lambda: find_reader(source, variable).read(source, limits, variable))


def find_reader(source: Source, variable: str | None = None) -> Reader:
    """The reader of a source, by the extension of its name; `variable` names one of several matrices."""
    refuse_pickle(source)
    if source.extension not in READERS:
        pictures = source.extension in (".zip", ".png", ".jpg", ".jpeg")
        raise BadFileError(
            f"{source.name} must be one of {', '.join(READERS)}, got {source.extension or 'no extension'}; "
            + ("pictures belong into “Or pictures”" if pictures else "np.save('x.npy', X) is the simplest")
        )
    chosen = READERS[source.extension]
    if variable is not None and not chosen.named:
        raise BadFileError(
            f"{source.name} is {chosen.title}, which holds one matrix and no names, got variable = {variable!r} in the "
            "TOML file next to it; leave that out"
        )
    return chosen


def refuse_pickle(source: Source) -> None:
    """Refuse a pickle with the reason."""
    if source.extension in PICKLES or (source.extension not in READERS and _looks_pickled(source)):
        raise numpy_files.pickle_error(source.name)


def read_safely(source: Source, limits: Limits, work: Callable[[], Result]) -> Result:
    """Do the work; whatever a library raises over a damaged file becomes a ValueError that names the file."""
    limits.check_size(source.name, source.size)
    try:
        return work()
    except BadFileError:
        raise
    except Exception as error:
        raise file_error(
            source.name,
            error,
            f"{source.name} could not be read ({type(error).__name__}: {short_message(error)}); it is damaged or not "
            f"a {source.extension} file",
        ) from error


def _looks_pickled(source: Source) -> bool:
    start = source.start(2)
    return len(start) == 2 and start[0] == 0x80 and 2 <= start[1] <= 5


Role = Literal["vectors", "pairs", "labels"]

# Names of the two columns of a pair, which columns of vectors are unlikely to have.
PAIR_COLUMNS = (
    ("i", "j"), ("query", "item"), ("query_id", "item_id"), ("left", "right"), ("id1", "id2"), ("item1", "item2"),
    ("source", "target"), ("query-id", "corpus-id"), ("query_id", "corpus_id"), ("query_id", "doc_id"),
    ("qid", "docid"),
)  # fmt: skip
# How the TEXMEX site names files of neighbours.
GROUND_TRUTH_SUFFIX = "_groundtruth.ivecs"
OTHER_PAIR_COLUMNS = ("s", "similar", "label", "clicked", "match", "time", "timestamp", "t", "score")


def guess_role(source: Source, limits: Limits) -> Role:
    """What a file holds, by its header; a damaged file counts as vectors, and its reader says what is wrong."""
    try:
        if source.extension == ".npy":
            return _role_of_array(source)
        if source.extension in (".csv", ".tsv"):
            first = delimited.first_line(source, limits)
            return role_by_names(list(first.names)) if first.has_names else "vectors"
        if source.extension == ".parquet":
            return role_by_names(parquet.names(source))
        if source.extension == ".npz":
            return role_by_names(numpy_files.array_names(source))
    except Exception:  # the reader will report it
        return "vectors"
    return "vectors"


def ground_truth_problem(name: str) -> str:
    """Why a file is refused whose name says that it lists neighbours; empty for other files."""
    if not name.lower().endswith(GROUND_TRUTH_SUFFIX):
        return ""
    return f"{name} lists the neighbours of queries, which are computed here; rename it if it holds vectors"


def role_by_names(names: list[str]) -> Role:
    """By the names of columns.

    >>> role_by_names(["query", "item", "time"]), role_by_names(["class"]), role_by_names(["i", "j", "k", "l"])
    ('pairs', 'labels', 'vectors')
    """
    lower = [name.strip().lower() for name in names]
    for names_of_rows in PAIR_COLUMNS:
        if set(names_of_rows) <= set(lower) and set(lower) - set(names_of_rows) <= set(OTHER_PAIR_COLUMNS):
            return "pairs"
    only_labels = set(lower) <= {*LABEL_NAMES, *ID_NAMES}
    return "labels" if only_labels and set(lower) & set(LABEL_NAMES) else "vectors"


def _role_of_array(source: Source) -> Role:
    """One label per row; or whole numbers in two to four columns, which are row numbers."""
    with source.open() as stream:
        head = numpy_files.parse_header(source.name, stream, numpy_files.NUMBERS + numpy_files.TEXT)
    if len(head.shape) == 1 or (len(head.shape) == 2 and head.shape[1] == 1):
        return "labels"
    whole = head.dtype.kind in "iu" and head.dtype.itemsize > 1
    return "pairs" if len(head.shape) == 2 and 2 <= head.shape[1] <= 4 and whole else "vectors"
