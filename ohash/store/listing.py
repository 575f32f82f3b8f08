"""Runs that were made: what a list of them shows, and the small interface behind which they are kept.

A session keeps its runs in memory; the store on disk (`store`) has the same three methods. `RunRow` is what a list
needs, without curves; `get` brings the whole picture.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ohash import tables
from ohash.engine.export import summary
from ohash.engine.narrative import title_of
from ohash.engine.params import QUERIES, ExperimentParams, experiment, flat, rows_of
from ohash.engine.snapshot import Snapshot
from ohash.models import registry as methods

LIVE = "live"
ENDED = ("done", "error")
COLUMNS = ("pairs", "map", "map_low", "map_high", "precision_10", "recall_10", "recall_100")


@dataclass(frozen=True)
class RunRow:
    """One run as a list shows it; `changed_settings` says which parameters are not the default."""

    key: str
    method: str
    data: str
    changed_settings: str
    pairs: int
    state: str
    map_start: float | None
    map: float | None
    recall_start: float | None
    recall: float | None
    auc: float | None
    bits: int

    @property
    def name(self) -> str:
        """Short, for a legend."""
        return f"{self.method}{', ' if self.changed_settings else ''}{self.changed_settings}"


class RunStore(Protocol):
    """Where runs are kept: a session's memory, or the store on disk."""

    def list(self) -> "list[RunRow]":
        """Every run, the newest last."""

    def get(self, key: str) -> Snapshot:
        """The last picture of a run, with its curves; KeyError if it is not kept."""

    def delete(self, keys: Iterable[str]) -> None:
        """Forget these runs; keys that are not kept are ignored."""


def make_row(key: str, now: Snapshot) -> RunRow:
    """What a list shows of a run."""
    return make_row_from(key, now.params, now.numbers, now.t, now.state)


def make_row_from(key: str, params: ExperimentParams, numbers: dict[str, float], t: int, state: str) -> RunRow:
    """The same without curves."""
    n = {name: value for name, value in numbers.items() if np.isfinite(value)}
    return RunRow(
        key=key,
        method=methods.find(params.method).title,
        data=title_of(params),
        changed_settings=changed_settings(params),
        pairs=t,
        state=state if key == LIVE or state in ENDED else "left",
        map_start=n.get("map_start"),
        map=n.get("map"),
        recall_start=n.get("recall_10_start"),
        recall=n.get("recall_10"),
        auc=n.get("auc"),
        bits=round(n.get("bits", 0)),
    )


def changed_settings(params: ExperimentParams) -> str:
    """What is not the default of the dataset and the method, in a line.

    >>> changed_settings(experiment(r=64, C=1.0))
    'r = 64, C = 1'
    """
    base, rows = flat(experiment(params.dataset, params.method)), rows_of(params)
    parts = [
        f"{_name(params, key)} = {rows[key].format(value)}"
        for key, value in flat(params).items()
        if key in rows and value != base[key]
    ]
    parts += [f"{_name(params, c.name)} = {rows[c.name].format(c.value)} at {c.at:,}" for c in params.changes]
    return ", ".join(parts)


def differences(several: Sequence[ExperimentParams]) -> dict[str, list[str]]:
    """The parameters in which some experiments differ: name -> value of each, "–" where a method has no such one.

    >>> differences([experiment(r=32), experiment(r=64)])
    {'r · bits': ['32', '64']}
    """
    tables = [_shown(params) for params in several]
    keys = list(dict.fromkeys(key for table in tables for key in table))
    found = {key: [table.get(key, "–") for table in tables] for key in keys}
    return {key: values for key, values in found.items() if len(set(values)) > 1}


def to_csv(several: Sequence[tuple[RunRow, Snapshot]]) -> str:
    """The checkpoints of some runs in one long table; an empty cell is "not measured"."""
    columns: dict[str, list[Any]] = {
        name: [] for name in ("run", "method", "dataset", "different", "queries", *COLUMNS)
    }
    for line, now in several:
        n = len(now.checkpoints["pairs"])
        about = (now.params.key(), line.method, now.params.dataset, line.changed_settings, now.params.run.judged_by)
        for name, value in zip(columns, about, strict=False):
            columns[name] += [value] * n
        for name in COLUMNS:
            columns[name] += now.checkpoints.get(name, np.full(n, np.nan)).tolist()
    return tables.to_csv(columns)


def to_json(several: Sequence[tuple[RunRow, Snapshot]], stored: Mapping[str, Mapping[str, Any]] | None = None) -> str:
    """Parameters and final numbers of some runs.

    `stored` is what a store knows of them by key: of a cell of a sweep also its scores on validation and test queries.
    """
    return json.dumps([_described(line, now, (stored or {}).get(line.key, {})) for line, now in several], indent=2)


def _described(line: RunRow, now: Snapshot, stored: Mapping[str, Any]) -> dict[str, Any]:
    scores = {part: _finite(stored[f"scores/{part}"]) for part in QUERIES if f"scores/{part}" in stored}
    return {"run": now.params.key(), **summary(now), **({"scores": scores} if scores else {})}


def _finite(numbers: Mapping[str, float]) -> dict[str, float | None]:
    return {name: value if np.isfinite(value) else None for name, value in numbers.items()}


def _shown(params: ExperimentParams) -> dict[str, str]:
    rows = rows_of(params)
    values: dict[str, Any] = {"data": title_of(params), "method": methods.find(params.method).title}
    for key, value in flat(params).items():
        if key in rows:
            row = rows[key]
            values[f"{row.symbol} · {row.title}" if row.symbol else row.title] = row.format(value)
    if params.content:
        values["content"] = params.content
    if params.changes:
        values["live changes"] = ", ".join(f"{c.name} = {c.value:g} at {c.at:,}" for c in params.changes)
    return values


def _name(params: ExperimentParams, key: str) -> str:
    row = rows_of(params)[key]
    return row.symbol or row.title
