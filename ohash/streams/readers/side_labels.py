"""Labels of two-sided files: used where both sides have labels of the same kind, otherwise a sentence says why not."""

from typing import NamedTuple

import numpy as np

from ohash.core.arrays import Labels
from ohash.streams.readers import annotation_files
from ohash.streams.readers.arrow_columns import class_order
from ohash.streams.readers.table import Table


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
    sides = [_named(side) for side in (docs, queries)]
    flags = [labels.shape[1] if labels.ndim == 2 else 0 for labels, _ in sides]
    if flags[0] != flags[1]:
        kinds = [f"{width} flags" if width else "one class" for width in flags]
        return SideLabels(note=f"{both} a row of the first has {kinds[0]} and one of the second {kinds[1]}")
    if flags[0]:
        return SideLabels(np.concatenate([labels for labels, _ in sides]).astype(bool))
    names = sorted({*sides[0][1], *sides[1][1]}, key=class_order)
    if not set(sides[0][1]) & set(sides[1][1]):
        first = [str(known[0]) for _, known in sides]
        return SideLabels(note=f"{both} they share no class: the first are {first[0]!r} and {first[1]!r}")
    if len(names) == 1:
        return SideLabels(note=f"{both} every row has the class {names[0]!r}")
    place = {name: at for at, name in enumerate(names)}
    codes = [np.array([place[name] for name in known], np.int64)[labels] for labels, known in sides]
    return SideLabels(np.concatenate(codes), tuple(names))


def _named(side: Table) -> tuple[Labels, tuple[str, ...]]:
    """Class numbers with their names, or flags."""
    assert side.labels is not None
    return (
        (side.labels, side.class_names) if side.class_names else annotation_files.encode_labels(side.name, side.labels)
    )
