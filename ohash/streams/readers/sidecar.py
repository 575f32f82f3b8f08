"""The optional TOML beside a file of vectors: ``x.toml`` says what ``x.npy`` means. Paths in it stay inside the folder.

title = "Product photos"
labels = "y.npy"          # or pairs = "clicks.parquet"
metric = "cosine"         # or "dot", "l2"
queries = [100, 500]      # validation, test
kernel = "none"           # or "rbf"
variable = "gist"         # which matrix of an .npz, .mat or .hdf5, which list column of a .parquet
licence = "CC BY 4.0"
cite = "..."
note = "..."
"""

import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ohash.streams.dataset import LEAST_ROWS, METRICS, Dataset, Metric, check_queries
from ohash.streams.readers import labels_file, pairs_file
from ohash.streams.readers.formats import peek_path
from ohash.streams.readers.limits import FOLDER, BadFileError, one_line, told
from ohash.streams.readers.own_data import Wishes, dataset_of_files, named
from ohash.streams.readers.source import Source
from ohash.streams.readers.table import Peek

LARGEST = 2**16
SHOWN = ("title", "licence", "cite", "note")
CHOICES = {"metric": METRICS, "kernel": ("none", "rbf")}
FILES = ("labels", "pairs")
KEYS = (*SHOWN, "variable", *CHOICES, *FILES, "queries")
DEFAULTS = Wishes()


@dataclass(frozen=True)
class Beside:
    """What the TOML says, and what it is called."""

    wishes: Wishes = DEFAULTS
    labels: Path | None = None
    pairs: Path | None = None
    name: str = ""


NOTHING = Beside()


def open_files(
    features: str | Path,
    labels: str | Path | None = None,
    pairs: str | Path | None = None,
    metric: Metric | None = None,
    *,
    key: str = "user",
) -> Dataset:
    """Files of this machine, as the TOML beside the vectors says; what is named here comes first.

    Labels or pairs named here stand for both: they say what is similar.
    """
    file = Path(features)
    if not file.is_file():
        raise ValueError(f"{file} must be a file that exists")
    said = _said(file, labels, pairs)
    wishes = replace(said.wishes, metric=metric or said.wishes.metric)
    return dataset_as_said(file, replace(said, wishes=wishes), key=key)


def check_files(features: str | Path, labels: str | Path | None = None, pairs: str | Path | None = None) -> None:
    """Refuse by headers and extensions what `open_files` would refuse after reading."""
    file = Path(features)
    said = _said(file, labels, pairs)
    found = peek_path(file, said.wishes.variable)
    if found.exact and found.rows < LEAST_ROWS:
        raise BadFileError(f"{file.name} must have at least {LEAST_ROWS} rows to be searched, got {found.rows}")
    check_fit(file, found, said)


def check_fit(file: Path, found: Peek, said: Beside) -> None:
    """Refuse by headers labels, pairs and queries that do not go with the vectors of `file`, whose shape is `found`."""
    if said.labels is not None:
        labels = Source.file(said.labels)
        got = labels_file.peek(labels, FOLDER)
        if got is not None and found.exact:
            labels_file.check_length(labels.name, got, file.name, found.rows)
    if said.pairs is not None:
        pairs_file.check(Source.file(said.pairs), FOLDER)
    if said.wishes.queries is not None and found.exact:
        with named(said.name):
            check_queries(said.wishes.queries, rows(found, said))


def rows(found: Peek, said: Beside) -> int:
    """Of the dataset: test queries that come with vectors have no labels, and are left out if the vectors have some."""
    return found.rows + (0 if found.labels or said.labels is not None else found.tests)


def dataset_as_said(file: Path, said: Beside, *, key: str) -> Dataset:
    """The dataset of a file and of what was said about it; its note names the TOML."""
    dataset = dataset_of_files(file, said.labels, said.pairs, key=key, wishes=said.wishes)
    used = f"described by {said.name}" if said.name else ""
    return replace(dataset, note="; ".join(text for text in (dataset.note, used) if text))


def beside(file: Path, root: Path) -> Beside:
    """The TOML beside `file`, or nothing said; files it names must lie within `root`."""
    toml = file.with_suffix(".toml")
    if not toml.is_file():
        return NOTHING
    if not inside(toml, root) or toml.stat().st_size > LARGEST:
        raise BadFileError(f"{toml.name} must lie in the folder of the data and have at most {LARGEST:,} bytes")
    try:
        found = tomllib.loads(toml.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeError, RecursionError) as error:
        raise BadFileError(f"{toml.name} must be TOML ({told(error)})") from None
    for key, value in found.items():
        _check(toml.name, key, value)
    files = {key: _file(toml, str(found[key]), root) for key in FILES if key in found}
    texts: dict[str, Any] = {key: found[key] for key in ("variable", *CHOICES) if key in found}
    texts |= {key: one_line(found[key]) for key in SHOWN if key in found}
    if "queries" in found:
        texts["queries"] = tuple(found["queries"])
    return Beside(Wishes(**texts), **files, name=toml.name)


def _said(file: Path, labels: str | Path | None, pairs: str | Path | None) -> Beside:
    """The TOML beside `file`, with the labels and pairs named elsewhere instead of its own."""
    said = beside(file, file.absolute().parent)
    if labels is None and pairs is None:
        return said
    return replace(said, labels=None if labels is None else Path(labels), pairs=None if pairs is None else Path(pairs))


def inside(file: Path, root: Path) -> bool:
    """Whether a file, all links followed, lies within the folder."""
    return file.resolve().is_relative_to(root.resolve())


def _check(name: str, key: str, value: Any) -> None:
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
        wrong = "lies outside of it" if not inside(file, root) else "" if file.is_file() else "is not there"
    except (OSError, ValueError):
        wrong = "is not there"
    if wrong:
        raise BadFileError(f"{toml.name} must name files in the folder of the data, got {named!r}, which {wrong}")
    return file
