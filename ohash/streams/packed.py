"""A dataset as plain values and arrays, to be sent to another process."""

from typing import Any

import numpy as np

from ohash.core.frames import Arrays, Frame
from ohash.streams.base import Dataset
from ohash.streams.given_pairs import GivenPairs

PLAIN = ("key", "title", "class_names", "metric", "queries", "kernel", "licence", "cite", "note")
COLUMNS = ("labels", "tracks", "ids", "time", "fixed_test", "superclasses")
PAIRS = ("i", "j", "s", "time")


def dataset_to_frame(data: Dataset) -> Frame:
    """Everything a run depends on; pictures stay where they are."""
    values: dict[str, Any] = {name: getattr(data, name) for name in PLAIN}
    arrays: Arrays = {"X": np.asarray(data.X)}
    arrays |= {name: getattr(data, name) for name in COLUMNS if getattr(data, name) is not None}
    if data.pairs is not None:
        columns = {name: getattr(data.pairs, name) for name in PAIRS}
        arrays |= {f"pairs/{name}": column for name, column in columns.items() if column is not None}
    return values, arrays


def dataset_from_frame(values: dict[str, Any], arrays: Arrays) -> Dataset:
    """The inverse of `dataset_to_frame`."""
    plain = {**values, "class_names": tuple(values["class_names"]), "queries": tuple(values["queries"])}
    columns: dict[str, Any] = {name: array for name, array in arrays.items() if "/" not in name}
    pairs: dict[str, Any] = {name: arrays[f"pairs/{name}"] for name in PAIRS if f"pairs/{name}" in arrays}
    return Dataset(**plain, **columns, pairs=GivenPairs(**pairs) if pairs else None)
