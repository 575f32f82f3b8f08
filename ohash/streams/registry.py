"""Datasets are found, not listed: files of `ohash.streams.datasets`, plugins that define DATASET, the data folder."""

from dataclasses import replace
from functools import lru_cache
from types import ModuleType

from ohash.models.registry import declared, plugin_modules, scan
from ohash.streams.dataset import Dataset, DatasetSpec
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
    """Every dataset, by key, with what lies in the data folder now, and in the size in which it does."""
    measured = {key: spec for key, spec in named().items() if spec.held is not None}
    return {**named(), **_as_held(tuple(measured.values()), stamps()), **folder_specs()}


@lru_cache(maxsize=4)
def _as_held(specs: tuple[DatasetSpec, ...], folder: tuple[Stamp, ...]) -> dict[str, DatasetSpec]:
    found = {}
    for spec in specs:
        if folder and spec.held is not None and not spec.missing():
            n, d = spec.held()
            if (n, d) != (spec.n, spec.d):
                partly = f"{n:,} x {d:,} are here, the paper's are {spec.n:,} x {spec.d:,}"
                found[spec.key] = replace(spec, n=n, d=d, partly=partly)
    return found


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
        raise ValueError(f"dataset {key!r} {spec.absent()}: {missing}")
    return _loaded(spec, stamps() if spec.group in FOUND_IN_THE_FOLDER else ())


@lru_cache(maxsize=16)
def _loaded(spec: DatasetSpec, folder: tuple[Stamp, ...]) -> Dataset:
    dataset = spec.load()
    if not isinstance(dataset, Dataset):
        raise ValueError(f"load of dataset {spec.key!r} must return a Dataset, got {type(dataset).__name__}")
    declares_its_size = spec.group != "folder" and spec.held is None
    if declares_its_size and (dataset.n, dataset.d) != (spec.n, spec.d):
        raise ValueError(
            f"dataset {spec.key!r} must have the {spec.n:,} rows of {spec.d:,} values that its card declares (n, d), "
            f"its load gave {dataset.n:,} of {dataset.d:,}; correct the DatasetSpec or the load"
        )
    return dataset
