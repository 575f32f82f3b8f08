"""`load_dataset`: a data set by its key, or your own files as one."""

from pathlib import Path

from ohash.streams import registry
from ohash.streams.dataset import Dataset, Metric
from ohash.streams.readers.sidecar import open_files

OWN = "own"


def load_dataset(
    name: str | Path,
    *,
    labels: str | Path | None = None,
    pairs: str | Path | None = None,
    metric: Metric | None = None,
) -> Dataset:
    """A data set of `ohash.datasets()`, or a file of vectors with labels or pairs beside it.

    >>> load_dataset("digits").X.shape
    (1797, 64)
    """
    if isinstance(name, str) and not (labels or pairs or metric) and name in registry.datasets():
        return registry.load(name)
    if isinstance(name, str) and not Path(name).suffix:
        return registry.load(name)  # which says what there is
    return open_files(name, labels, pairs, metric, key=OWN)
