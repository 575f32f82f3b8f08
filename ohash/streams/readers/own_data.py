"""The user's own data: a file of vectors, with labels or pairs from the file itself or from another one.

An optional TOML with the name of the vectors (a sidecar: ``x.toml`` for ``x.npy``) says what they mean. The paths in it
stay inside the folder.

title = "Product photos"
labels = "y.npy"          # or pairs = "clicks.parquet"
metric = "cosine"         # or "dot", "l2"
queries = [100, 500]      # validation, test
kernel = "rbf"            # or "none"
variable = "gist"         # which matrix of an .npz, .mat or .hdf5, which list column of a .parquet
licence = "CC BY 4.0"
cite = "..."
note = "..."
"""

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ohash.core.arrays import Array
from ohash.core.rows import gather, stack_rows
from ohash.streams.annotations import PairList, encode_labels, parse_pairs
from ohash.streams.dataset import METRICS, MIN_ROWS, Dataset, Metric, check_queries, default_queries
from ohash.streams.feature_cache import cached_rows
from ohash.streams.readers import annotation_files, file_formats
from ohash.streams.readers.file_formats import ground_truth_problem, peek_path
from ohash.streams.readers.source import FOLDER, BadFileError, Limits, Source, file_error, one_line, short_message
from ohash.streams.readers.table import Peek, Table

# Vectors and test queries are joined in memory up to this many bytes, beyond that in a mapped file of the cache.
JOINED_IN_MEMORY = 2**26


@dataclass(frozen=True)
class DataOptions:
    """What the user says about the vectors; defaults stand for what is left out."""

    title: str = ""
    metric: Metric | None = None
    queries: tuple[int, int] | None = None
    kernel: Literal["rbf", "none"] = "rbf"
    variable: str | None = None
    licence: str = ""
    cite: str = ""
    note: str = ""


def dataset_from_files(
    features: str | Path,
    labels: str | Path | None = None,
    pairs: str | Path | None = None,
    *,
    key: str = "user",
    options: DataOptions | None = None,
) -> Dataset:
    """A dataset from files of this machine: `python -m ohash run --features x.npy --labels y.npy`."""
    return dataset_from_sources(
        Source.file(features),
        None if labels is None else Source.file(labels),
        None if pairs is None else Source.file(pairs),
        limits=FOLDER,
        key=key,
        options=options,
    )


def dataset_from_sources(
    features: Source,
    labels: Source | None = None,
    pairs: Source | None = None,
    *,
    limits: Limits,
    key: str = "user",
    options: DataOptions | None = None,
) -> Dataset:
    """A dataset from files or uploads."""
    options = options or DataOptions()
    if problem := ground_truth_problem(features.name):
        raise BadFileError(problem)
    table = file_formats.read(features, limits, options.variable)
    classes, names = (
        (table.labels, table.class_names) if labels is None else annotation_files.load_labels(labels, limits)
    )
    if classes is not None and not names and classes.ndim == 1:
        classes, names = annotation_files.encode_labels(table.name, classes)
    if labels is not None and classes is not None:
        annotation_files.check_label_count(labels.name, len(classes), features.name, len(table.X))
    with file_named_in_errors(features.name):
        X, tests = _with_test_queries(features, table)
    if tests and classes is not None:
        X, tests = table.X, 0  # only the vectors have labels
    declared = next((one for one in METRICS if one == table.metric), None)
    with file_named_in_errors(features.name):
        dataset = Dataset.from_arrays(
            X,
            ids=None if tests else table.ids,
            time=None if tests else table.time,
            metric=metric_of(table.metric, options.metric),
            queries=options.queries or _query_counts(len(X), tests),
            title=options.title or features.name,
            key=key,
            kernel=options.kernel,
            captions=() if tests else table.captions,
        )
    return replace(
        dataset,
        labels=None if classes is None else _encode_labels(labels or features, classes),
        class_names=names,
        pairs=None if pairs is None else _parse_pairs(pairs, limits, features, dataset),
        licence=options.licence,
        cite=options.cite,
        note="; ".join(
            text for text in (options.note, table.note, _distance_note(features, declared, options.metric)) if text
        ),
        fixed_test=np.arange(len(X) - tests, len(X)) if tests else None,
    )


def metric_of(declared: str | None, chosen: Metric | None) -> Metric:
    """The distance that was chosen, or else the one that the file declares, or else L2."""
    return chosen or next((one for one in METRICS if one == declared), None) or "l2"


def _distance_note(features: Source, declared: Metric | None, chosen: Metric | None) -> str:
    """Where the distance comes from, if the format can declare it."""
    if declared is not None:
        but = "" if chosen in (None, declared) else f"; {chosen} was chosen and is used"
        return f"{features.name} declares the distance {declared}{but}"
    if chosen is None and features.path is None and features.extension in (".hdf5", ".h5"):
        return f"the name of {features.name} does not say which distance to use, as -angular.hdf5 would: l2 is used"
    return ""


def _encode_labels(source: Source, labels: Array) -> Array:
    with file_named_in_errors(source.name):
        return encode_labels(labels, len(labels))[0]


def _parse_pairs(source: Source, limits: Limits, features: Source, dataset: Dataset) -> PairList:
    columns = annotation_files.load_pairs(source, limits)
    if dataset.ids is None:
        columns = annotation_files.as_row_numbers(source.name, columns, features.name)
    with file_named_in_errors(source.name):
        return parse_pairs(columns, dataset.ids, dataset.n)


@contextmanager
def file_named_in_errors(name: str) -> Iterator[None]:
    """Errors about a parameter name the file that it comes from."""
    try:
        yield
    except (ValueError, MemoryError) as error:
        raise file_error(name, error, f"{name}: {error}") from None


def _with_test_queries(source: Source, table: Table) -> tuple[Array, int]:
    """The vectors followed by the test queries of the same file, and the number of those."""
    test = table.extra.get("test")
    if test is None:
        return table.X, 0
    rows, d = table.X.shape
    if table.X.nbytes <= JOINED_IN_MEMORY or source.path is None:
        return stack_rows(table.X, test.astype(table.X.dtype)), len(test)
    stat = source.path.stat()

    def blocks() -> Iterator[Array]:
        for start in range(0, rows, 65_536):
            yield gather(table.X, slice(start, start + 65_536))
        yield test.astype(table.X.dtype)

    version = f"{source.path.resolve()} {stat.st_size} {stat.st_mtime_ns}"
    return cached_rows(f"joined-{source.path.stem}", version, (rows + len(test), d), table.X.dtype, blocks), len(test)


def _query_counts(n: int, tests: int) -> tuple[int, int]:
    validation, test = default_queries(n)
    return (validation, min(tests, 1000)) if tests else (validation, test)


LARGEST = 2**16
SHOWN = ("title", "licence", "cite", "note")
CHOICES = {"metric": METRICS, "kernel": ("rbf", "none")}
FILES = ("labels", "pairs")
KEYS = (*SHOWN, "variable", *CHOICES, *FILES, "queries")
DEFAULT_OPTIONS = DataOptions()


@dataclass(frozen=True)
class Sidecar:
    """The content of the TOML, and its name."""

    options: DataOptions = DEFAULT_OPTIONS
    labels: Path | None = None
    pairs: Path | None = None
    name: str = ""


NO_SIDECAR = Sidecar()


def open_files(
    features: str | Path,
    labels: str | Path | None = None,
    pairs: str | Path | None = None,
    metric: Metric | None = None,
    *,
    key: str = "user",
) -> Dataset:
    """A data set from files of this machine and the TOML beside the vectors; arguments override the TOML.

    Labels or pairs given here replace both of the TOML.
    """
    file = Path(features)
    if not file.exists():
        raise ValueError(f"{file} must be a file that exists, or a folder of .parquet files")
    sidecar = _find_sidecar(file, labels, pairs)
    options = replace(sidecar.options, metric=metric or sidecar.options.metric)
    return dataset_from_sidecar(file, replace(sidecar, options=options), key=key)


def check_files(features: str | Path, labels: str | Path | None = None, pairs: str | Path | None = None) -> None:
    """Refuse, by headers and extensions alone, what `open_files` would refuse after reading."""
    file = Path(features)
    sidecar = _find_sidecar(file, labels, pairs)
    peek = peek_path(file, sidecar.options.variable)
    if peek.exact and peek.rows < MIN_ROWS:
        raise BadFileError(f"{file.name} must have at least {MIN_ROWS} rows to be searched, got {peek.rows}")
    check_fit(file, peek, sidecar)


def check_fit(file: Path, peek: Peek, sidecar: Sidecar) -> None:
    """Refuse, by headers alone, labels, pairs and queries that do not fit the vectors of `file`."""
    if sidecar.labels is not None:
        labels = Source.file(sidecar.labels)
        got = annotation_files.count_labels(labels, FOLDER)
        if got is not None and peek.exact:
            annotation_files.check_label_count(labels.name, got, file.name, peek.rows)
    if sidecar.pairs is not None:
        annotation_files.check_pairs(Source.file(sidecar.pairs), FOLDER)
    if sidecar.options.queries is not None and peek.exact:
        with file_named_in_errors(sidecar.name):
            check_queries(sidecar.options.queries, count_rows(peek, sidecar))


def count_rows(peek: Peek, sidecar: Sidecar) -> int:
    """Rows of the data set: test queries of the file count only if the vectors have no labels, as they have none."""
    return peek.rows + (0 if peek.labels or sidecar.labels is not None else peek.tests)


def dataset_from_sidecar(file: Path, sidecar: Sidecar, *, key: str) -> Dataset:
    """The dataset of a file and its sidecar, which the note names."""
    dataset = dataset_from_files(file, sidecar.labels, sidecar.pairs, key=key, options=sidecar.options)
    used = f"described by {sidecar.name}" if sidecar.name else ""
    return replace(dataset, note="; ".join(text for text in (dataset.note, used) if text))


def read_sidecar(file: Path, root: Path) -> Sidecar:
    """The TOML beside `file`, or NO_SIDECAR; the files it names must lie within `root`."""
    toml = file.with_suffix(".toml")
    if not toml.is_file():
        return NO_SIDECAR
    if not lies_inside(toml, root) or toml.stat().st_size > LARGEST:
        raise BadFileError(f"{toml.name} must lie in the folder of the data and have at most {LARGEST:,} bytes")
    try:
        content = tomllib.loads(toml.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeError, RecursionError) as error:
        raise BadFileError(f"{toml.name} must be TOML ({short_message(error)})") from None
    for key, value in content.items():
        _check(toml.name, key, value)
    files = {key: _file(toml, str(content[key]), root) for key in FILES if key in content}
    texts: dict[str, Any] = {key: content[key] for key in ("variable", *CHOICES) if key in content}
    texts |= {key: one_line(content[key]) for key in SHOWN if key in content}
    if "queries" in content:
        texts["queries"] = tuple(content["queries"])
    return Sidecar(DataOptions(**texts), **files, name=toml.name)


def _find_sidecar(file: Path, labels: str | Path | None, pairs: str | Path | None) -> Sidecar:
    """The sidecar of `file`, with these labels and pairs instead of its own."""
    sidecar = read_sidecar(file, file.absolute().parent)
    if labels is None and pairs is None:
        return sidecar
    return replace(
        sidecar, labels=None if labels is None else Path(labels), pairs=None if pairs is None else Path(pairs)
    )


def lies_inside(file: Path, root: Path) -> bool:
    """Whether a file lies within the folder after all links are followed."""
    return file.resolve().is_relative_to(root.resolve())


def _check(name: str, key: str, value: object) -> None:
    if key not in KEYS:
        raise BadFileError(f"{name} must use the keys {', '.join(KEYS)}, got {key!r}")
    if key in CHOICES and value not in CHOICES[key]:
        raise BadFileError(f"{key} in {name} must be one of {', '.join(CHOICES[key])}, got {value!r}")
    if key == "queries":
        if not (isinstance(value, list) and len(value) == 2 and all(type(v) is int and v >= 1 for v in value)):
            raise BadFileError(f"queries in {name} must be two counts >= 1, [validation, test], got {value!r}")
    elif not isinstance(value, str):
        raise BadFileError(f"{key} in {name} must be a text, got {value!r}")


def _file(toml: Path, named: str, root: Path) -> Path:
    file = toml.parent / named
    try:
        wrong = "lies outside of it" if not lies_inside(file, root) else "" if file.is_file() else "is not there"
    except (OSError, ValueError):
        wrong = "is not there"
    if wrong:
        raise BadFileError(f"{toml.name} must name files in the folder of the data, got {named!r}, which {wrong}")
    return file
