"""What changes in a chart from one picture to the next: an option that ECharts merges into the one it shows.

Streamlit turns formats of an option into functions before ECharts sees it. They stay what they are, as only what has
changed is merged.
"""

import math

import pyarrow as pa

from ohash.plots.renderers.echarts_frame import Option

COMPONENTS = ("series", "dataset", "title")  # lists whose entries are merged one by one


def changes(before: Option, now: Option) -> Option | None:
    """What to merge, as plain JSON; None if the parts are others, so that the chart has to be drawn anew.

    >>> changes({"title": [{"text": "a"}], "animation": False}, {"title": [{"text": "b"}], "animation": False})
    {'title': [{'text': 'b'}]}
    >>> changes({"series": [{"name": "a"}]}, {"series": []}) is None
    True
    """
    merged: Option = {}
    if before.keys() != now.keys():
        return None
    for key, value in now.items():
        if key in COMPONENTS:
            entries = _entries(before[key], value)
            if entries is None:
                return None
            if any(entries):
                merged[key] = entries
        elif isinstance(value, dict):
            inner = _inner(before[key], value)
            if inner is None:
                return None
            if inner:
                merged[key] = inner
        elif before[key] != value:
            merged[key] = value
    return merged


def _entries(before: list[Option], now: list[Option]) -> list[Option] | None:
    """For every entry what to merge into it; ECharts finds entries by their place unless they have a name."""
    if len(before) != len(now) or any(old.get("name") != new.get("name") for old, new in zip(before, now, strict=True)):
        return None
    entries = [_inner(old, new) for old, new in zip(before, now, strict=True)]
    return None if None in entries else [entry for entry in entries if entry is not None]


def _inner(before: object, now: Option) -> Option | None:
    """Merged values cannot go away again: None if one does."""
    if not isinstance(before, dict) or not before.keys() <= now.keys():
        return None
    merged: Option = {}
    for key, value in now.items():
        old = before.get(key)
        if isinstance(value, pa.Table):
            if not isinstance(old, pa.Table) or not value.equals(old):
                merged |= {"dimensions": value.column_names, "source": columns(value)}
        elif isinstance(value, dict) and isinstance(old, dict):
            inner = _inner(old, value)
            if inner is None:
                return None
            if inner:
                merged[key] = inner
        elif key not in before or value != old:
            merged[key] = value
    return merged


def columns(table: pa.Table) -> dict[str, list[float | None]]:
    """The numbers of a table by their column; what is not finite is None, and no number has more digits than it has.

    >>> columns(pa.table({"x": pa.array([1, 2], pa.int32()), "y": pa.array([0.1, math.nan], pa.float32())}))
    {'x': [1, 2], 'y': [0.1, None]}
    """
    return {name: _numbers(table.column(name)) for name in table.column_names}


def _numbers(column: pa.ChunkedArray) -> list[float | None]:
    values = column.to_numpy()
    if values.dtype.kind != "f":
        return list(values.tolist())
    shortest = map(float, values.astype(str))
    return [value if math.isfinite(value) else None for value in shortest]
