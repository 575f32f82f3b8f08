"""The user's own data: a file of vectors, with labels or pairs from the file itself or from one beside it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ohash.streams.annotations import GivenPairs, class_labels, given_pairs
from ohash.streams.dataset import METRICS, Dataset, Metric, default_queries
from ohash.streams.feature_cache import cached_rows
from ohash.streams.readers import formats, labels_file, pairs_file
from ohash.streams.readers.file_role import ground_truth
from ohash.streams.readers.limits import FOLDER, BadFileError, Limits, refusal
from ohash.streams.readers.source import Source
from ohash.streams.readers.table import Table

# Vectors and test queries are joined in memory up to this many bytes, beyond in a mapped file of the cache.
JOINED = 2**26


@dataclass(frozen=True)
class Wishes:
    """What the user says about the vectors; what is left out is guessed."""

    title: str = ""
    metric: Metric | None = None
    queries: tuple[int, int] | None = None
    kernel: Literal["rbf", "none"] = "none"
    variable: str | None = None
    licence: str = ""
    cite: str = ""
    note: str = ""


def dataset_of_files(
    features: str | Path,
    labels: str | Path | None = None,
    pairs: str | Path | None = None,
    *,
    key: str = "user",
    wishes: Wishes | None = None,
) -> Dataset:
    """A dataset from files of this machine: `python -m ohash run --features x.npy --labels y.npy`."""
    return dataset_of(
        Source.file(features),
        None if labels is None else Source.file(labels),
        None if pairs is None else Source.file(pairs),
        limits=FOLDER,
        key=key,
        wishes=wishes,
    )


def dataset_of(
    features: Source,
    labels: Source | None = None,
    pairs: Source | None = None,
    *,
    limits: Limits,
    key: str = "user",
    wishes: Wishes | None = None,
) -> Dataset:
    """A dataset from files or uploads."""
    wishes = wishes or Wishes()
    if told := ground_truth(features.name):
        raise BadFileError(told)
    table = formats.read(features, limits, wishes.variable)
    found, names = (table.labels, table.class_names) if labels is None else labels_file.labels(labels, limits)
    if found is not None and not names and found.ndim == 1:
        found, names = labels_file.coded(table.name, found)
    if labels is not None and found is not None:
        labels_file.check_length(labels.name, len(found), features.name, len(table.X))
    with named(features.name):
        X, tests = _joined(features, table)
    if tests and found is not None:
        X, tests = table.X, 0  # labels are known for the vectors only
    declared = next((one for one in METRICS if one == table.metric), None)
    metric: Metric = wishes.metric or declared or "l2"
    with named(features.name):
        dataset = Dataset.from_arrays(
            X,
            ids=None if tests else table.ids,
            time=None if tests else table.time,
            metric=metric,
            queries=wishes.queries or _queries(len(X), tests),
            title=wishes.title or features.name,
            key=key,
            kernel=wishes.kernel,
        )
    return replace(
        dataset,
        labels=None if found is None else _classes(labels or features, found),
        class_names=names,
        pairs=None if pairs is None else _pairs(pairs, limits, features, dataset),
        licence=wishes.licence,
        cite=wishes.cite,
        note="; ".join(
            text for text in (wishes.note, table.note, _distance_note(features, declared, wishes.metric)) if text
        ),
        fixed_test=np.arange(len(X) - tests, len(X)) if tests else None,
    )


def _distance_note(features: Source, declared: Metric | None, wished: Metric | None) -> str:
    """Where the distance comes from, if the file could tell."""
    if declared is not None:
        but = "" if wished in (None, declared) else f"; {wished} was asked for and is used"
        return f"{features.name} declares the distance {declared}{but}"
    if wished is None and features.path is None and features.extension in (".hdf5", ".h5"):
        return f"the name of {features.name} tells no distance, as -angular.hdf5 would: l2 is used"
    return ""


def _classes(source: Source, found: npt.NDArray[Any]) -> npt.NDArray[Any]:
    with named(source.name):
        return class_labels(found, len(found))[0]


def _pairs(source: Source, limits: Limits, features: Source, dataset: Dataset) -> GivenPairs:
    found = pairs_file.pairs(source, limits)
    if dataset.ids is None:
        found = pairs_file.as_row_numbers(source.name, found, features.name)
    with named(source.name):
        return given_pairs(found, dataset.ids, dataset.n)


@contextmanager
def named(name: str) -> Iterator[None]:
    """What is wrong with a parameter is told of the file it comes from."""
    try:
        yield
    except (ValueError, MemoryError) as error:
        raise refusal(name, error, f"{name}: {error}") from None


def _joined(source: Source, table: Table) -> tuple[npt.NDArray[Any], int]:
    """The vectors followed by the test queries that came with them, and how many those are."""
    test = table.extra.get("test")
    if test is None:
        return table.X, 0
    rows, d = table.X.shape
    if table.X.nbytes <= JOINED or source.path is None:
        return np.concatenate([table.X, test.astype(table.X.dtype)]), len(test)
    stat = source.path.stat()

    def blocks() -> Any:
        for start in range(0, rows, 65_536):
            yield table.X[start : start + 65_536]
        yield test.astype(table.X.dtype)

    version = f"{source.path.resolve()} {stat.st_size} {stat.st_mtime_ns}"
    return cached_rows(f"joined-{source.path.stem}", version, (rows + len(test), d), table.X.dtype, blocks), len(test)


def _queries(n: int, tests: int) -> tuple[int, int]:
    validation, test = default_queries(n)
    return (validation, min(tests, 1000)) if tests else (validation, test)
