"""Data of the user's own: uploads, within hard limits, and the file ``ohash-lab x.npy`` was started with."""

import os
from pathlib import Path
from typing import Protocol

import streamlit as st

from ohash.engine.export import Files
from ohash.streams.dataset import METRICS, Dataset, Metric
from ohash.streams.readers.own_data import DataOptions, dataset_from_sources, open_files
from ohash.streams.readers.source import UPLOAD, Source
from ohash.streams.summary import Summary, summarize

# Set by ohash-lab: vectors, their labels, pairs among them.
FILES = ("OHASH_FILE", "OHASH_LABELS", "OHASH_PAIRS")
METRIC = "OHASH_METRIC"


class File(Protocol):
    """What a browser sent."""

    @property
    def name(self) -> str:
        """As the user's machine calls it."""

    @property
    def file_id(self) -> str:
        """Another upload, another id."""

    def getvalue(self) -> bytes:
        """All of it."""


def read(vectors: File, labels: File | None, pairs: File | None, metric: Metric | None) -> tuple[Dataset, Summary]:
    """A dataset from uploads, checked; ValueError says what is wrong. Without a metric the file's own counts."""
    files = [vectors, labels, pairs]
    sources = [None if file is None else Source.upload(file.name, file.getvalue()) for file in files]
    with_what = [word for word, file in (("labels", labels), ("pairs", pairs)) if file is not None]
    assert sources[0] is not None
    title = " with ".join([sources[0].name, *([" and ".join(with_what)] if with_what else [])])
    ids = tuple("" if file is None else file.file_id for file in files)
    try:
        return _read(ids, title, metric, sources)
    except MemoryError:
        raise ValueError(f"{sources[0].name} does not fit into the memory of this server; take fewer rows") from None


def names_of(vectors: File, labels: File | None, pairs: File | None, metric: Metric | None) -> Files:
    """The files as code would open them."""
    return vectors.name, None if labels is None else labels.name, None if pairs is None else pairs.name, metric


def checked(dataset: Dataset) -> tuple[Dataset, Summary]:
    """The dataset with its summary, if a run can start on it."""
    found = summarize(dataset)
    if not found.good:
        raise ValueError(f"{dataset.title} can be read, but no run can start on it: {found.problem}")
    return dataset, found


def named_on_the_command_line() -> Files:
    """The files this server was started with; the first is "" if there are none."""
    vectors, labels, pairs, metric = (os.environ.get(variable, "").strip() for variable in (*FILES, METRIC))
    return vectors, labels or None, pairs or None, metric or None


def of_command_line() -> tuple[Dataset | None, str]:
    """The dataset this server was started with, or None; and what is wrong with it."""
    *names, metric = named_on_the_command_line()
    if not names[0]:
        return None, ""
    try:
        files = [*(Path(name) for name in names if name), Path(names[0]).with_suffix(".toml")]
        stamps = tuple(file.stat().st_mtime_ns if file.exists() else 0 for file in files)
        return _open(tuple(names), stamps, metric), ""
    except (ValueError, OSError) as error:
        return None, str(error)


@st.cache_resource(scope="session", max_entries=3, show_spinner="Reading and checking the file …")
def _read(
    ids: tuple[str, ...], title: str, metric: Metric | None, _sources: list[Source | None]
) -> tuple[Dataset, Summary]:
    vectors, labels, pairs = _sources
    assert vectors is not None
    wishes = DataOptions(title=title, metric=metric)
    return checked(dataset_from_sources(vectors, labels, pairs, limits=UPLOAD, key="own", options=wishes))


@st.cache_resource(max_entries=1, show_spinner="Opening your file …")
def _open(names: tuple[str | None, ...], stamps: tuple[int, ...], metric: str | None) -> Dataset:
    vectors, labels, pairs = names
    assert vectors is not None
    wanted = next((known for known in METRICS if known == metric), None)
    return checked(open_files(vectors, labels, pairs, wanted, key="own"))[0]
