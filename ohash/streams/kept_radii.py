"""Radii of very many points take minutes: they are measured once and kept, as long as the file of the vectors stays."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.streams.base import Dataset
from ohash.streams.cached import cached_rows
from ohash.streams.columns import Rows

STEP = 8_192

Radii = npt.NDArray[np.float64]


def kept_radii(dataset: Dataset, reference: Rows, rank: int, measure: Callable[[Rows], Radii]) -> Radii | None:
    """The radius of every row, from the cache or by `measure`; None if they cannot be kept, for want of a file or disk.

    `reference` are the rows whose `rank`-th nearest is as far as the radius.
    """
    version = _version(dataset, reference, rank)
    if version is None:
        return None

    def blocks() -> Iterator[Radii]:
        for start in range(0, dataset.n, STEP):
            yield measure(np.arange(start, min(dataset.n, start + STEP)))

    try:
        return np.array(cached_rows(f"radii-{dataset.key}", version, (dataset.n,), np.float64, blocks))
    except ValueError:  # not written; what is wrong with the data is found again by whoever measures
        return None


def _version(dataset: Dataset, reference: Rows, rank: int) -> str | None:
    """All that decides the radii; None if the vectors are no file."""
    X = dataset.X
    file = _file(X)
    if file is None or not file.is_file():
        return None
    stat = file.stat()
    digest = hashlib.sha256(np.ascontiguousarray(reference, np.int64).tobytes())
    digest.update(np.ascontiguousarray(X[[0, -1]]).tobytes())  # another part of the same file
    of = f"{file} {stat.st_size} {stat.st_mtime_ns} {X.dtype} {X.strides}"
    return f"{of} {dataset.metric} {rank} {digest.hexdigest()} radii 1"


def _file(X: npt.NDArray[Any]) -> Path | None:
    """The file an array looks into."""
    below: Any = X
    while isinstance(below, np.ndarray):
        if isinstance(below, np.memmap) and below.filename is not None:
            return Path(below.filename)
        below = below.base
    return None
