"""What a file of the data folder is for: vectors, or pairs or labels that belong to vectors in another file.

Looked at are headers and the first line only. Names of columns decide, not values, and where they say nothing the file
holds vectors: two columns of numbers without names may well be points in the plane.
"""

from typing import Literal

from ohash.streams.readers import delimited, npy, npz, parquet
from ohash.streams.readers import table as members
from ohash.streams.readers.limits import Limits
from ohash.streams.readers.source import Source

Role = Literal["vectors", "pairs", "labels"]

# Names that a column of vectors would hardly have, each with the one beside it.
COUPLES = (
    ("i", "j"), ("query", "item"), ("query_id", "item_id"), ("left", "right"), ("id1", "id2"), ("item1", "item2"),
    ("source", "target"),
)  # fmt: skip
# How the TEXMEX site names row numbers of neighbours.
TRUTH = "_groundtruth.ivecs"
BESIDE = ("s", "similar", "label", "clicked", "match", "time", "timestamp", "t")


def role(source: Source, limits: Limits) -> Role:
    """By the form of the file; a damaged one counts as vectors, whose reader then says what is wrong."""
    try:
        if source.extension == ".npy":
            return _of_array(source)
        if source.extension in (".csv", ".tsv"):
            first = delimited.first_line(source, limits)
            return of_names(list(first.names)) if first.has_names else "vectors"
        if source.extension == ".parquet":
            return of_names(parquet.names(source))
        if source.extension == ".npz":
            return of_names(npz.names(source))
    except Exception:  # whatever it is, the reader will say it
        return "vectors"
    return "vectors"


def ground_truth(name: str) -> str:
    """What to say about a file that lists neighbours by its name; empty if it does not."""
    if not name.lower().endswith(TRUTH):
        return ""
    return f"{name} lists the neighbours of queries, which are computed here; rename it if it is vectors"


def of_names(names: list[str]) -> Role:
    """By the names of columns.

    >>> of_names(["query", "item", "time"]), of_names(["class"]), of_names(["i", "j", "k", "l"])
    ('pairs', 'labels', 'vectors')
    """
    found = [name.strip().lower() for name in names]
    for couple in COUPLES:
        if set(couple) <= set(found) and set(found) - set(couple) <= set(BESIDE):
            return "pairs"
    known = set(found) <= {*members.LABELS, *members.IDS}
    return "labels" if known and set(found) & set(members.LABELS) else "vectors"


def _of_array(source: Source) -> Role:
    """One label a row; or whole numbers in two to four columns, which are row numbers."""
    with source.open() as stream:
        head = npy.header(source.name, stream, npy.NUMBERS + npy.TEXT)
    if len(head.shape) == 1 or (len(head.shape) == 2 and head.shape[1] == 1):
        return "labels"
    whole = head.dtype.kind in "iu" and head.dtype.itemsize > 1
    return "pairs" if len(head.shape) == 2 and 2 <= head.shape[1] <= 4 and whole else "vectors"
