"""Read uploaded files, within hard limits."""

from collections.abc import Sequence
from typing import Protocol

import streamlit as st

from ohash.engine.export import Files
from ohash.streams.dataset import Dataset, Metric
from ohash.streams.readers import picture_files
from ohash.streams.readers.own_data import DataOptions, dataset_from_sources
from ohash.streams.readers.sides import two_sides_from_sources
from ohash.streams.readers.source import UPLOAD, Source
from ohash.streams.summary import Summary
from ohash.ui.session.own_data import check_data


class File(Protocol):
    """A file sent by a browser."""

    @property
    def name(self) -> str:
        """Its name on the user's machine."""

    @property
    def file_id(self) -> str:
        """Different for every upload."""

    def getvalue(self) -> bytes:
        """Its content."""


def read(
    vectors: File, labels: File | None, pairs: File | None, metric: Metric | None, queries: File | None = None
) -> tuple[Dataset, Summary]:
    """A dataset from uploads, checked; ValueError says what is wrong. Without a metric, the file decides.

    With queries, the vectors are documents, and pairs are of a query and a document.
    """
    if queries is not None and labels is not None:
        raise ValueError(
            f"{labels.name} must be left out: documents and queries are similar by pairs or clicks, or by distance"
        )
    files = [vectors, labels, pairs, queries]
    sources = [None if file is None else Source.upload(file.name, file.getvalue()) for file in files]
    extras = [word for word, file in (("queries", queries), ("labels", labels), ("pairs", pairs)) if file is not None]
    assert sources[0] is not None
    title = " with ".join([sources[0].name, *([" and ".join(extras)] if extras else [])])
    ids = tuple("" if file is None else file.file_id for file in files)
    try:
        return _read(ids, title, metric, sources)
    except MemoryError:
        raise ValueError(f"{sources[0].name} does not fit into the memory of this server; take fewer rows") from None


def read_pictures(files: Sequence[File]) -> tuple[Dataset, Summary]:
    """A dataset of uploaded pictures, with a progress bar while they are described; ValueError says what is wrong."""
    title = files[0].name if len(files) == 1 else f"{len(files):,} files with {files[0].name}"
    read = _place_of(tuple(file.file_id for file in files))
    if not read:
        place = st.empty()

        def progress(done: int, total: int) -> None:
            place.progress(done / total, f"Describing your pictures by GIST-512: {done:,} of {total:,}.")

        try:
            place.progress(0.0, "Reading your pictures.")
            dataset = picture_files.read_pictures([(file.name, file.getvalue()) for file in files], title, progress)
            read.append((dataset, check_data(dataset)))
        finally:
            place.empty()
    return read[0]


@st.cache_resource(scope="session", max_entries=2, show_spinner=False)
def _place_of(ids: tuple[str, ...]) -> list[tuple[Dataset, Summary]]:
    """Where the dataset of some pictures is kept; a cached function cannot show its progress."""
    return []


def names_of(
    vectors: File, labels: File | None, pairs: File | None, metric: Metric | None, queries: File | None = None
) -> Files:
    """The files, as generated code opens them."""
    label_file, pair_file, query_file = (None if file is None else file.name for file in (labels, pairs, queries))
    return Files(vectors.name, label_file, pair_file, metric, query_file)


@st.cache_resource(scope="session", max_entries=3, show_spinner="Reading and checking the file …")
def _read(
    ids: tuple[str, ...], title: str, metric: Metric | None, _sources: list[Source | None]
) -> tuple[Dataset, Summary]:
    vectors, labels, pairs, queries = _sources
    assert vectors is not None
    if queries is not None:
        dataset = two_sides_from_sources(vectors, queries, pairs, limits=UPLOAD, metric=metric, title=title, key="own")
        return dataset, check_data(dataset)
    options = DataOptions(title=title, metric=metric)
    dataset = dataset_from_sources(vectors, labels, pairs, limits=UPLOAD, key="own", options=options)
    return dataset, check_data(dataset)
