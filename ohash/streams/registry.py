"""Datasets are found, not listed: files of `ohash.streams.datasets`, plugins that define DATASET, the data folder."""

from functools import lru_cache
from types import ModuleType

from ohash.models.registry import declared, plugin_modules, scan
from ohash.streams.base import Dataset, DatasetSpec
from ohash.streams.folder import Stamp, folder_specs, stamps

# Groups whose files may lie in the data folder.
FOUND_IN_THE_FOLDER = ("paper", "package")


def named() -> dict[str, DatasetSpec]:
    """Every dataset with a name of its own, by key, whether or not it is installed."""
    return _named(plugin_modules())


@lru_cache(maxsize=4)  # a plugin may come later
def _named(plugins: tuple[ModuleType, ...]) -> dict[str, DatasetSpec]:
    return declared([*scan("ohash.streams.datasets"), *plugins], "DATASET")


def datasets() -> dict[str, DatasetSpec]:
    """Every dataset, by key, with what lies in the data folder now."""
    return {**named(), **folder_specs()}


def find(key: str) -> DatasetSpec:
    """The card of a dataset."""
    known = datasets()
    if key not in known:
        raise ValueError(f"dataset must be one of {', '.join(sorted(known))}, got {key!r}")
    return known[key]


def load(key: str) -> Dataset:
    """The dataset itself, loaded once a process, and again when its file has changed."""
    spec = find(key)
    missing = spec.missing()
    if missing:
        raise ValueError(f"dataset {key!r} {spec.absent}: {missing}")
    return _loaded(spec, stamps() if spec.group in FOUND_IN_THE_FOLDER else ())


@lru_cache(maxsize=16)
def _loaded(spec: DatasetSpec, folder: tuple[Stamp, ...]) -> Dataset:
    return spec.load()
