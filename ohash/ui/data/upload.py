"""Read uploaded files, within hard limits."""

from typing import Protocol

import streamlit as st

from ohash.engine.export import Files
from ohash.streams.dataset import Dataset, Metric
from ohash.streams.readers.own_data import DataOptions, dataset_from_sources
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


def read(vectors: File, labels: File | None, pairs: File | None, metric: Metric | None) -> tuple[Dataset, Summary]:
    """A dataset from uploads, checked; ValueError says what is wrong. Without a metric, the file decides."""
    files = [vectors, labels, pairs]
    sources = [None if file is None else Source.upload(file.name, file.getvalue()) for file in files]
    extras = [word for word, file in (("labels", labels), ("pairs", pairs)) if file is not None]
    assert sources[0] is not None
    title = " with ".join([sources[0].name, *([" and ".join(extras)] if extras else [])])
    ids = tuple("" if file is None else file.file_id for file in files)
    try:
        return _read(ids, title, metric, sources)
    except MemoryError:
        raise ValueError(f"{sources[0].name} does not fit into the memory of this server; take fewer rows") from None


def names_of(vectors: File, labels: File | None, pairs: File | None, metric: Metric | None) -> Files:
    """The files, as generated code opens them."""
    return vectors.name, None if labels is None else labels.name, None if pairs is None else pairs.name, metric


@st.cache_resource(scope="session", max_entries=3, show_spinner="Reading and checking the file …")
def _read(
    ids: tuple[str, ...], title: str, metric: Metric | None, _sources: list[Source | None]
) -> tuple[Dataset, Summary]:
    vectors, labels, pairs = _sources
    assert vectors is not None
    options = DataOptions(title=title, metric=metric)
    dataset = dataset_from_sources(vectors, labels, pairs, limits=UPLOAD, key="own", options=options)
    return dataset, check_data(dataset)
