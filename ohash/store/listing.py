"""Lists of runs: one row per run, the interface of whatever holds them, their search, and export as CSV and JSON.

A session holds runs in memory, the store on disk (`store`); both have the methods of `RunStore`. A `RunRow` has no
curves; `get` returns the whole snapshot. A search has words, and conditions on any parameter, such as
``C = 0.1, r >= 32``.
"""

import json
import operator
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol

import numpy as np

from ohash import table_files
from ohash.core.parameters import FrozenSettings
from ohash.engine.export import summary
from ohash.engine.judge import CLICK_SCORES, truth_column
from ohash.engine.narrative import title_of
from ohash.engine.params import QUERIES, ExperimentParams, experiment, flat, rows_of
from ohash.engine.snapshot import Snapshot
from ohash.models import registry as methods
from ohash.runtime.frames import JsonObject

LIVE = "live"
ENDED = ("done", "error")
COLUMNS = ("pairs", "map", "map_low", "map_high", "precision_10", "recall_10", "recall_100")

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}  # fmt: skip
CONDITION = re.compile(r"\s*([^=<>!]+?)\s*(!=|<=|>=|=|<|>)\s*([^=<>!]+?)\s*")


@dataclass(frozen=True)
class RunRow:
    """One run in a list; `changed_settings` names the parameters that differ from the defaults.

    A run on clicks has no mAP, but `hits_start` and `hits`, its hit@10.
    """

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
    hits_start: float | None = None
    hits: float | None = None
    map_error: float | None = None  # half widths of the 95 % intervals over the queries
    recall_error: float | None = None
    seed: int = 0
    group: str = ""  # the settings without the seed: equal for runs that differ in nothing else
    created: float = 0.0  # when it was stored; 0 if it is not
    origin: str = "this tab"
    tags: str = ""
    note: str = ""
    settings: FrozenSettings = ()  # every parameter; none of a run that cannot be read here

    def is_younger_than(self, days: float | None) -> bool:
        """Whether it was stored within so many days; always if it is not stored, or without a limit."""
        return days is None or not self.created or self.created > time.time() - 86_400 * days

    @property
    def name(self) -> str:
        """A short name for a legend."""
        return f"{self.method}{', ' if self.changed_settings else ''}{self.changed_settings}"


class RunStore(Protocol):
    """What holds runs: the memory of a session, or the store on disk."""

    def list(self) -> "list[RunRow]":
        """Every run, the newest last."""

    def get(self, key: str) -> Snapshot:
        """The last snapshot of a run, with its curves; KeyError if there is no such run."""

    def delete(self, keys: Iterable[str]) -> None:
        """Delete these runs; unknown keys are ignored."""


def make_row(key: str, now: Snapshot) -> RunRow:
    """The row of a run, from its snapshot."""
    return make_row_from(key, now.params, now.numbers, now.t, now.state, now.similar_by)


def make_row_from(
    key: str, params: ExperimentParams, numbers: dict[str, float], t: int, state: str, similar_by: str
) -> RunRow:
    """The row of a run, from its parameters, its final numbers and what they were judged by."""
    n = {name: value for name, value in numbers.items() if np.isfinite(value)}
    truth = truth_fields(similar_by)
    return RunRow(
        key=key,
        method=methods.find(params.method).title,
        data=title_of(params),
        changed_settings=changed_settings(params),
        pairs=t,
        state=state if key == LIVE or state in ENDED else "left",
        map_start=n.get(truth.get("map_start", "")),
        map=n.get(truth.get("map", "")),
        hits_start=n.get(truth.get("hits_start", "")),
        hits=n.get(truth.get("hits", "")),
        recall_start=n.get("recall_10_start"),
        recall=n.get("recall_10"),
        auc=n.get("auc"),
        bits=round(n.get("bits", 0)),
        map_error=n.get("map_error") if "map" in truth else None,
        recall_error=n.get("recall_10_error"),
        seed=params.seed,
        group=changed_settings(replace(params, seed=0)),
        settings=tuple(flat(params).items()),
    )


def truth_fields(similar_by: str) -> dict[str, str]:
    """The fields of a row that hold its truth score, and the numbers of the run they hold."""
    if truth_column(similar_by) == "hit_10":
        return {"hits_start": "hit_10_start", "hits": "hit_10"}
    return {"map_start": "map_start", "map": "map"}


def truth_titles(lines: Iterable[RunRow]) -> dict[str, str]:
    """The truth scores that these runs have, field and title: mAP, hit@10 of clicks, or both."""
    clicks = [line.hits is not None for line in lines if line.map is not None or line.hits is not None]
    titles = {"map": "mAP"} if not clicks or not all(clicks) else {}
    return titles | ({"hits": "hit@10"} if any(clicks) else {})


def changed_settings(params: ExperimentParams) -> str:
    """The settings that differ from the defaults of the data set and the method, on one line.

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
    """The parameters in which experiments differ: name -> one value per experiment, "–" where a method lacks it.

    >>> differences([experiment(r=32), experiment(r=64)])
    {'r · bits': ['32', '64']}
    """
    settings = [_settings(params) for params in several]
    keys = list(dict.fromkeys(key for one in settings for key in one))
    table = {key: [one.get(key, "–") for one in settings] for key in keys}
    return {key: values for key, values in table.items() if len(set(values)) > 1}


def to_csv(several: Sequence[tuple[RunRow, Snapshot]]) -> str:
    """The checkpoints of several runs in one long table; an empty cell means "not measured".

    With a run on clicks hit@10 and the like come first; mAP stays for who reads it by name.
    """
    clicks = any(truth_column(now.similar_by) == "hit_10" for _, now in several)
    scores = (COLUMNS[0], *CLICK_SCORES, *COLUMNS[1:]) if clicks else COLUMNS
    columns: dict[str, list[object]] = {
        name: [] for name in ("run", "method", "dataset", "different", "queries", *scores)
    }
    for row, now in several:
        n = len(now.checkpoints["pairs"])
        about = (now.params.key(), row.method, now.params.dataset, row.changed_settings, now.params.run.judged_by)
        for name, value in zip(columns, about, strict=False):
            columns[name] += [value] * n
        for name in scores:
            columns[name] += now.checkpoints.get(name, np.full(n, np.nan)).tolist()
    return table_files.to_csv(columns)


def to_json(several: Sequence[tuple[RunRow, Snapshot]], stored: Mapping[str, Mapping[str, Any]] | None = None) -> str:
    """Parameters and final numbers of several runs, as JSON.

    `stored` holds the stored values by key; those of a sweep cell include scores on validation and test queries.
    """
    return json.dumps([_describe(now, (stored or {}).get(row.key, {})) for row, now in several], indent=2)


def _describe(now: Snapshot, stored: Mapping[str, Any]) -> JsonObject:
    scores = {part: _finite(stored[f"scores/{part}"]) for part in QUERIES if f"scores/{part}" in stored}
    return {"run": now.params.key(), **summary(now), **({"scores": scores} if scores else {})}


def _finite(numbers: Mapping[str, float]) -> dict[str, float | None]:
    return {name: value if np.isfinite(value) else None for name, value in numbers.items()}


def _settings(params: ExperimentParams) -> dict[str, str]:
    rows = rows_of(params)
    values: JsonObject = {"data": title_of(params), "method": methods.find(params.method).title}
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


def matches(row: RunRow, words: str) -> bool:
    """Whether a run meets every part between commas.

    A part is a condition on a parameter, by key or symbol, changed or at its default; or text that the run's settings,
    tags, note, key, method or data contain. A run without the parameter does not meet the condition.

    >>> row = RunRow("1f", "OH", "Digits", "r = 32", 100, "done", *[None] * 5, 32, settings=(("r", 32), ("beta", 0.5)))
    >>> [matches(row, words) for words in ("", "digits, r=32", "β = 0.5", "beta < .5", "r = 3", "C = 1")]
    [True, True, True, False, False, False]
    """
    return all(_meets_condition(row, part) for part in words.split(","))


def _meets_condition(row: RunRow, part: str) -> bool:
    condition = CONDITION.fullmatch(part)
    if condition is not None:
        name, sign, wanted = condition.groups()
        key, settings = _key(name, row), dict(row.settings)
        if key in settings:
            return _compare(settings[key], sign, wanted) or _contains((row.tags, row.note), part)
        if key:
            return _contains((row.tags, row.note), part)
    return _contains((row.changed_settings, row.tags, row.note, row.key, row.method, row.data), part)


def _key(name: str, row: RunRow) -> str:
    """The key of a parameter by its key or symbol, else in any case; "" if there is none."""
    names = {**_symbols(), **{key: key for key, _ in row.settings}}
    return names.get(name) or {other.lower(): key for other, key in names.items()}.get(name.lower(), "")


def _contains(texts: tuple[str, ...], part: str) -> bool:
    return part.strip().lower() in " ".join(texts).lower()


def _compare(value: object, sign: str, limit: str) -> bool:
    if not isinstance(value, bool) and isinstance(value, int | float):
        try:
            return OPERATORS[sign](float(value), float(limit))
        except ValueError:
            return False
    return sign in ("=", "!=") and OPERATORS[sign](str(value).lower(), limit.lower())


@cache
def _symbols() -> dict[str, str]:
    """The keys of common parameters, by symbol and by key."""
    rows = rows_of(experiment())
    return {row.symbol: key for key, row in rows.items() if row.symbol} | {key: key for key in rows}
