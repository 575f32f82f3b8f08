"""Two-sided data from files: vectors of documents, vectors of queries, and which documents were clicked for a query.

The third file is a click log (query, item, label, time) or relevance judgements (query-id, corpus-id, score). It names
ids as texts, or row numbers of a side that has no ids. Labels of both sides, if they are of the same kind, are
a second meaning of similar; otherwise a sentence says why they are not used.
"""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ohash.core.arrays import Array, Labels
from ohash.streams.dataset import Dataset, Metric
from ohash.streams.readers import annotation_files, file_formats
from ohash.streams.readers.arrow_columns import class_order
from ohash.streams.readers.own_data import file_named_in_errors, metric_of
from ohash.streams.readers.source import FOLDER, BadFileError, Limits, Source
from ohash.streams.readers.table import Table


def open_two_sides(
    docs: str | Path,
    queries: str | Path,
    clicks: str | Path | None = None,
    metric: Metric | None = None,
    *,
    title: str = "",
    key: str = "user",
) -> Dataset:
    """A data set from files of this machine; docs and queries may be folders of Parquet files."""
    return two_sides_from_sources(
        Source.file(docs),
        Source.file(queries),
        None if clicks is None else Source.file(clicks),
        limits=FOLDER,
        metric=metric,
        title=title,
        key=key,
    )


def check_widths(docs: str, d: int, queries: str, of_queries: int) -> None:
    """Refuse queries that are not as long as the documents."""
    if d != of_queries:
        raise BadFileError(
            f"{queries} must have vectors as long as those of {docs}, {d}, got {of_queries}; encode documents and "
            "queries with one model"
        )


def check_sides(docs: Path, queries: Path) -> None:
    """Refuse, by headers alone, queries that do not fit the documents."""
    check_widths(docs.name, file_formats.peek_path(docs).columns, queries.name, file_formats.peek_path(queries).columns)


def two_sides_from_sources(
    docs: Source,
    queries: Source,
    clicks: Source | None,
    *,
    limits: Limits,
    metric: Metric | None = None,
    title: str = "",
    key: str = "user",
) -> Dataset:
    """A data set from files or uploads."""
    D, Q = file_formats.read(docs, limits), file_formats.read(queries, limits)
    check_widths(docs.name, D.X.shape[1], queries.name, Q.X.shape[1])
    pairs = None if clicks is None else _read_clicks(clicks, limits, (queries, Q), (docs, D))
    with file_named_in_errors(docs.name if clicks is None else clicks.name):
        dataset = Dataset.from_two_sides(
            D.X,
            Q.X,
            pairs,
            doc_ids=D.ids,
            query_ids=Q.ids,
            doc_captions=D.captions,
            query_captions=Q.captions,
            metric=metric_of(D.metric, metric),
            title=title or docs.name,
            key=key,
        )
    return replace(dataset, **join_labels(D, Q)._asdict())


def _read_clicks(
    clicks: Source, limits: Limits, queries: tuple[Source, Table], docs: tuple[Source, Table]
) -> tuple[Array, ...]:
    """Columns i, j, s, time; i and j are row numbers of their sides or known ids."""
    i, j, *rest = annotation_files.load_pairs(clicks, limits, texts=True)
    sides = []
    for column, (source, table), kind in ((i, queries, "query"), (j, docs, "document")):
        if table.ids is None:
            named = annotation_files.as_row_numbers(clicks.name, (column, column), source.name)[0]
            _refuse_unknown(clicks, source, kind, named, (named < 0) | (named >= len(table.X)), "row numbers from 0")
        else:
            named = column.astype(np.str_)
            example = f"ids such as {str(table.ids[0])!r}"
            _refuse_unknown(clicks, source, kind, named, ~np.isin(named, table.ids), example)
        sides.append(named)
    return *sides, *rest


def _refuse_unknown(clicks: Source, source: Source, kind: str, named: Array, unknown: Array, example: str) -> None:
    """Refuse rows that name what is not there; say how many, and which comes first."""
    if not unknown.any():
        return
    first = str(named[unknown][0])
    if unknown.all():
        raise BadFileError(
            f"{clicks.name} must name {example} of {source.name} as {kind}, and no row does: the first names "
            f"{first!r}; are these files of one data set?"
        )
    rows, different = int(unknown.sum()), len(np.unique(named[unknown]))
    what = f"{first!r}, which is not there" if different == 1 else f"{different:,} that are not there, first {first!r}"
    leave = "that row" if rows == 1 else "those rows"
    raise BadFileError(
        f"{clicks.name} must name {example} of {source.name} as {kind}: {rows:,} of {len(named):,} rows "
        f"name{'s' * (rows == 1)} {what}; leave {leave} out"
    )


class SideLabels(NamedTuple):
    """Labels of the documents, then the queries, with the names of the classes; or None, and a note on why."""

    labels: Labels | None = None
    class_names: tuple[str, ...] = ()
    note: str = ""


def join_labels(docs: Table, queries: Table) -> SideLabels:
    """The labels of both sides as one column."""
    if docs.labels is None and queries.labels is None:
        return SideLabels()
    if docs.labels is None or queries.labels is None:
        has, lacks = (queries, docs) if docs.labels is None else (docs, queries)
        return SideLabels(note=f"the labels of {has.name} are not used, because {lacks.name} has none")
    both = f"the labels of {docs.name} and {queries.name} are not used, because"
    sides = [_class_labels(side) for side in (docs, queries)]
    flags = [labels.shape[1] if labels.ndim == 2 else 0 for labels, _ in sides]
    if flags[0] != flags[1]:
        kinds = [f"{width} flags" if width else "one class" for width in flags]
        return SideLabels(note=f"{both} a row of the first has {kinds[0]} and one of the second {kinds[1]}")
    if flags[0]:
        return SideLabels(np.concatenate([labels for labels, _ in sides]).astype(bool))
    names = sorted({*sides[0][1], *sides[1][1]}, key=class_order)
    if not set(sides[0][1]) & set(sides[1][1]):
        first = [str(classes[0]) for _, classes in sides]
        return SideLabels(note=f"{both} they share no class: the first are {first[0]!r} and {first[1]!r}")
    if len(names) == 1:
        return SideLabels(note=f"{both} every row has the class {names[0]!r}")
    place = {name: at for at, name in enumerate(names)}
    codes = [np.array([place[name] for name in classes], np.int64)[labels] for labels, classes in sides]
    return SideLabels(np.concatenate(codes), tuple(names))


def _class_labels(side: Table) -> tuple[Labels, tuple[str, ...]]:
    """Class numbers with their names, or flags."""
    assert side.labels is not None
    return (
        (side.labels, side.class_names) if side.class_names else annotation_files.encode_labels(side.name, side.labels)
    )
