"""Every data set by its key: modules of `ohash.streams.datasets`, plugins that define DATASET, and the data folder.

A module may define FAMILY instead: data sets that are found by their keys and not listed.
"""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from ohash.core.parameters import did_you_mean
from ohash.models.registry import collect_specs, plugin_modules, scan
from ohash.streams.data_folder import FileState, folder_specs, folder_state
from ohash.streams.dataset import Dataset, DatasetFamily, DatasetSpec, Metric
from ohash.streams.readers.own_data import open_files
from ohash.streams.readers.two_sides import open_two_sides

# The key of data that a user brought.
OWN = "own"
UNKNOWN_SIZE = "rows are counted when it is first loaded"
# Groups whose files may lie in the data folder.
FOUND_IN_THE_FOLDER = ("paper", "package", "pictures")


def named_datasets() -> dict[str, DatasetSpec]:
    """Every data set except those of the data folder, by key, whether or not it is installed."""
    return _specs(plugin_modules())


@lru_cache(maxsize=4)  # plugins may be loaded later
def _specs(plugins: tuple[ModuleType, ...]) -> dict[str, DatasetSpec]:
    return collect_specs([*scan("ohash.streams.datasets"), *plugins], "DATASET")


def datasets() -> dict[str, DatasetSpec]:
    """Every data set by key, with the actual sizes of those that lie in the data folder."""
    measured = {key: spec for key, spec in named_datasets().items() if spec.measure_size is not None}
    return {**named_datasets(), **_with_actual_sizes(tuple(measured.values()), folder_state()), **folder_specs()}


@lru_cache(maxsize=4)
def _with_actual_sizes(specs: tuple[DatasetSpec, ...], folder: tuple[FileState, ...]) -> dict[str, DatasetSpec]:
    resized = {}
    for spec in specs:
        if folder and spec.measure_size is not None and not spec.missing():
            n, d = spec.measure_size()
            if (n, d) != (spec.n, spec.d):
                partly = f"{n:,} x {d:,} are here, the paper's are {spec.n:,} x {spec.d:,}"
                note = UNKNOWN_SIZE if n == 0 else partly if spec.group == "paper" else ""
                resized[spec.key] = replace(spec, n=n, d=d, size_note=note)
    return resized


@lru_cache(maxsize=4)
def _families(plugins: tuple[ModuleType, ...]) -> dict[str, DatasetFamily]:
    return collect_specs([*scan("ohash.streams.datasets"), *plugins], "FAMILY")


def family_of(key: str) -> DatasetFamily | None:
    """The family of data sets that a key belongs to, whether or not it names one of them."""
    families = _families(plugin_modules()).values()
    return next((family for family in families if key.startswith(family.key)), None)


def lookup(key: str) -> DatasetSpec | None:
    """What is known about a data set, listed or of a family; None if there is none of this key."""
    listed, family = datasets().get(key), family_of(key)
    if listed is not None or family is None:
        return listed
    try:
        return family.spec(key)
    except ValueError:
        return None


def find_dataset(key: str) -> DatasetSpec:
    """What is known about a data set without loading it."""
    known, family = datasets(), family_of(key)
    if key not in known and family is not None:
        return family.spec(key)
    if key not in known:
        hint = did_you_mean(key, known, limit=3)
        raise ValueError(f"dataset must be one of {', '.join(sorted(known))}, got {key!r}{hint}")
    return known[key]


def load_by_key(key: str) -> Dataset:
    """The dataset itself, loaded once per process, and again when its file has changed. Never a file by its path."""
    spec = find_dataset(key)
    missing = spec.missing()
    if missing:
        raise ValueError(f"dataset {key!r} {spec.status()}: {missing}")
    return _load(spec, folder_state() if spec.group in FOUND_IN_THE_FOLDER else ())


def load_dataset(
    name: str | Path,
    *,
    labels: str | Path | None = None,
    pairs: str | Path | None = None,
    metric: Metric | None = None,
    queries: str | Path | None = None,
) -> Dataset:
    """A data set of `ohash.datasets()`, or a file of vectors with labels or pairs from other files.

    With `queries`, another file of vectors, the data are two-sided: `name` holds documents, and pairs are of a query
    and a document.

    >>> load_dataset("digits").X.shape
    (1797, 64)
    """
    for option, value in (("labels", labels), ("pairs", pairs), ("queries", queries)):
        if value is not None and not isinstance(value, str | Path):
            raise ValueError(
                f"{option} must be a file, got {type(value).__name__}; for arrays use ohash.Dataset.from_arrays(...)"
            )
    if queries is not None:
        if labels is not None:
            raise ValueError("labels must be left out for two-sided data, whose truth is pairs or distance")
        return open_two_sides(name, queries, pairs, metric, key=OWN)
    if isinstance(name, str) and labels is pairs is metric is None and lookup(name) is not None:
        return load_by_key(name)
    if isinstance(name, str) and not Path(name).suffix and not Path(name).is_dir():
        return load_by_key(name)  # which says what there is
    return open_files(name, labels, pairs, metric, key=OWN)


@lru_cache(maxsize=16)
def _load(spec: DatasetSpec, folder: tuple[FileState, ...]) -> Dataset:
    dataset = spec.load()
    if not spec.n:
        _with_actual_sizes.cache_clear()  # the rows have been counted
    if not isinstance(dataset, Dataset):
        raise ValueError(f"load of dataset {spec.key!r} must return a Dataset, got {type(dataset).__name__}")
    if spec.metric and spec.metric != dataset.metric:
        raise ValueError(
            f"dataset {spec.key!r} must have the distance that its card declares (metric), {spec.metric!r}, its load "
            f"gave {dataset.metric!r}; correct the DatasetSpec or the load"
        )
    declares_its_size = spec.group != "folder" and spec.measure_size is None
    if declares_its_size and (dataset.n, dataset.d) != (spec.n, spec.d):
        raise ValueError(
            f"dataset {spec.key!r} must have the {spec.n:,} rows of {spec.d:,} values that its card declares (n, d), "
            f"its load gave {dataset.n:,} of {dataset.d:,}; correct the DatasetSpec or the load"
        )
    return dataset
