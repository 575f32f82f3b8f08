"""Datasets are found, not listed: every file in `ohash.streams.datasets` and every plugin that defines DATASET."""

from functools import cache

from ohash.models.registry import declared, plugin_modules, scan
from ohash.streams.base import Dataset, DatasetSpec


@cache
def datasets() -> dict[str, DatasetSpec]:
    """Every dataset, by key, whether or not it is installed."""
    return declared([*scan("ohash.streams.datasets"), *plugin_modules()], "DATASET")


def find(key: str) -> DatasetSpec:
    """The card of a dataset."""
    if key not in datasets():
        raise ValueError(f"dataset must be one of {', '.join(sorted(datasets()))}, got {key!r}")
    return datasets()[key]


@cache
def load(key: str) -> Dataset:
    """The dataset itself, loaded once a process."""
    spec = find(key)
    if spec.missing():
        raise ValueError(f"dataset {key!r} is not installed: {spec.missing()}")
    return spec.load()
