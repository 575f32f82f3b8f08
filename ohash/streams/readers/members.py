"""Which array of a file of several (.npz, .mat, HDF5) is the matrix, which the labels, which the ids."""

from collections.abc import Mapping

from ohash.streams.readers.limits import BadFileError

FEATURES = ("x", "features", "embeddings", "embedding", "vectors", "data", "train", "gist", "fea", "base")
LABELS = ("labels", "label", "y", "class", "classes", "target", "targets", "gnd")
IDS = ("ids", "id")
TIMES = ("time", "timestamp")
# What pandas calls the row numbers that it writes beside a table: no feature.
INDEX = ("", "unnamed: 0", "__index_level_0__")

Shapes = Mapping[str, tuple[int, ...]]


def features(name: str, shapes: Shapes, variable: str | None = None) -> str:
    """The member that holds the matrix: the one asked for, the one with a usual name, or the only matrix there is.

    >>> features("a.npz", {"y": (9,), "X": (9, 4)})
    'X'
    """
    held = ", ".join(f"{key} {tuple(shape)}" for key, shape in list(shapes.items())[:8]) or "nothing that can be read"
    if variable is not None:
        if variable not in shapes or len(shapes[variable]) != 2:
            raise BadFileError(f"{name} must hold a matrix {variable!r}, as the TOML beside it says; it holds {held}")
        return variable
    matrices = [key for key, shape in shapes.items() if len(shape) == 2 and min(shape) > 0]
    for wanted in FEATURES:
        for key in matrices:
            if key.lower() == wanted:
                return key
    others = [key for key in matrices if 1 not in shapes[key] and key.lower() not in LABELS]
    matrices = others or matrices
    if len(matrices) != 1:
        way_out = (
            'name one with variable = "..." in a TOML beside the file, or call it X'
            if matrices
            else "save the vectors as a matrix (n, d) of real numbers called X"
        )
        raise BadFileError(f"{name} must hold one matrix of vectors, it holds {held}; {way_out}")
    return matrices[0]


def companion(names: tuple[str, ...], shapes: Shapes, rows: int) -> str | None:
    """The member of a usual name with one entry a row, or None."""
    for wanted in names:
        for key, shape in shapes.items():
            if key.lower() == wanted and shape in ((rows,), (1, rows), (rows, 1)):
                return key
    return None
