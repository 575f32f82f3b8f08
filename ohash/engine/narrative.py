"""Sentences about a run, with its own numbers: what is happening and what differs."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from ohash.core.parameters import Parameter
from ohash.engine.judge import CLICKS, TRUTH_SCORES, truth_column
from ohash.engine.params import ExperimentParams, flat, rows_of
from ohash.engine.snapshot import Snapshot
from ohash.models import registry as methods
from ohash.models.base import HasherSpec
from ohash.streams import registry as datasets

NAMED = ("dataset", "method")
# What is searched, and by whom it is asked; the truth is told apart from them.
JUDGING = ("train", "later_items", "drift", "drift_at", "drift_size", "database", "judged_by")


def headline(now: Snapshot | None, params: ExperimentParams, state: str) -> str:
    """One sentence: what is happening."""
    spec, data = methods.find(params.method), title_of(params)
    if state == "error":
        when = "after " + amount(now.t, "pair") if now is not None and now.t else "at the first pairs"
        return f"{spec.title} could not start." if now is None else f"{spec.title} failed {when} of {data}."
    if now is None or now.t == 0:
        return f"{spec.title} {_phrase_before_start(spec)} {data}."
    n = now.numbers
    sentence = f"{spec.title} {learning_phrase(spec, now.state)} {amount(now.t, 'pair')} of {data}"
    if len(now.checkpoints["pairs"]) < 2:  # before the first pair
        return sentence + "; not evaluated since the start."
    if "map" in n and math.isfinite(n["map"]):
        clicks, column = now.similar_by in CLICKS, truth_column(now.similar_by)
        remark = (
            f" (hit@10; pair AUC {n['auc']:.2f}, few pairs are labelled)" if clicks and math.isfinite(n["auc"]) else ""
        )
        sentence += (
            f": agreement with {truth_of(now)} {_from_to(n, column)}{remark}, "
            f"with the original distance it {_from_to(n, 'recall_10')}"
        )
    flat = now.state == "done" and now.params.run.stop_when_flat and now.t < n.get("end", 0)
    return sentence + (f"; {TRUTH_SCORES[truth_column(now.similar_by)]} is flat, so it stopped." if flat else ".")


def amount(n: float, noun: str) -> str:
    """A count with its noun.

    >>> amount(1, "byte"), amount(2048, "byte"), amount(2, "query")
    ('1 byte', '2,048 bytes', '2 queries')
    """
    many = f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"
    return f"{n:,.0f} {noun if n == 1 else many}"


def join_names(names: Sequence[str]) -> str:
    """Names as part of a sentence.

    >>> join_names(["OH"]), join_names(["OH", "ITQ"]), join_names(["OH", "ITQ", "PQ"])
    ('OH', 'OH and ITQ', 'OH, ITQ and PQ')
    """
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def change_since_start(numbers: Mapping[str, float], column: str) -> Literal["better", "worse", "about as well"]:
    """Better or worse only where the change is larger than its own uncertainty, and can be read on the chart.

    >>> change_since_start({"map_start": 0.24, "map": 0.25, "map_change_error": 0.03}, "map")
    'about as well'
    """
    start, end = numbers[f"{column}_start"], numbers[column]
    if f"{start:.2f}" == f"{end:.2f}" or abs(end - start) <= change_error(numbers, column):
        return "about as well"
    return "better" if end > start else "worse"


def change_error(numbers: Mapping[str, float], column: str) -> float:
    """How uncertain the change of a score since the start is; kept runs of earlier versions know that of the score."""
    errors = (numbers.get(f"{column}{of}", math.nan) for of in ("_change_error", "_error"))
    return next((error for error in errors if math.isfinite(error)), 0.0)


def change_text(numbers: Mapping[str, float], column: str) -> str:
    """The change of a score since the start with its uncertainty, wherever it stands; 0 is not negative.

    >>> change_text({"map_start": 0.66, "map": 0.6599, "map_change_error": 0.03}, "map")
    '+0.000 ± 0.030'
    """
    change = round(numbers[column] - numbers[f"{column}_start"], 3) + 0.0
    return f"{change:+.3f} ± {change_error(numbers, column):.3f}"


def truth_of(now: Snapshot) -> str:
    """What the labels of this run are called."""
    return _truth(now.similar_by, now.params)


def _truth(similar_by: str, params: ExperimentParams) -> str:
    names = {"label": "labels", "track": "tracks", "metric": "near neighbours", "topk": "near neighbours"}
    return names.get(similar_by, "your pairs" if params.content else "the given pairs")


def judged_on(params: ExperimentParams, similar_by: str) -> str:
    """What a score of a run is measured on beside its data: only scores on the same can be ranked.

    >>> from ohash.engine.params import experiment
    >>> judged_on(experiment("digits", r=8), "label"), judged_on(experiment("digits", database="seen"), "topk")
    ('labels', '10 near neighbours, database = seen')
    """
    values, rows = flat(params), rows_of(params)
    others = [key for key in JUDGING if rows[key].is_active(values) and values[key] != rows[key].default]
    truth = _truth(similar_by, params)
    parts = [f"{params.stream.top_k} {truth}" if similar_by == "topk" else truth]
    return ", ".join(parts + [f"{rows[key].title} = {_value(rows, key, values[key])}" for key in others])


def title_of(params: ExperimentParams) -> str:
    """The dataset's title."""
    return _title(params.dataset)


def difference(old: ExperimentParams, new: ExperimentParams) -> str:
    """What differs between two experiments, as "r 48 → 64, C 0.1 → 1"; empty if nothing does."""
    before, after = flat(old), flat(new)
    rows = {**rows_of(old), **rows_of(new)}
    parts = [
        f"{_name(rows.get(key), key)} {_old_value(rows, key, before.get(key))}{_value(rows, key, after[key])}".strip()
        for key in after
        if before.get(key) != after[key]
    ]
    if old.changes != new.changes:
        parts.append("live changes differ")
    return ", ".join(parts)


def settings_that_differ(first: ExperimentParams, second: ExperimentParams) -> str:
    """The settings in which another experiment differs from this one, as "r = 48, C = 0.1"; empty if nothing."""
    mine, theirs = flat(first.with_current_values()), flat(second.with_current_values())
    rows = {**rows_of(first), **rows_of(second)}
    parts = [
        _value(rows, key, value) if key in NAMED else f"{_name(rows.get(key), key)} = {_value(rows, key, value)}"
        for key, value in theirs.items()
        if mine.get(key) != value
    ]
    return ", ".join(parts)


def _title(dataset: str) -> str:
    spec = datasets.lookup(dataset)
    return "your data" if spec is None else spec.title


def _phrase_before_start(spec: HasherSpec) -> str:
    if spec.consumes == "nothing":
        return "does not learn; it is about to encode"
    return "is about to be fitted to" if spec.consumes == "batch" else "is about to learn from pairs of"


def learning_phrase(spec: HasherSpec, state: str) -> str:
    """What a method does with pairs: it learns from them, is fitted to their points, or only sees them pass."""
    if spec.consumes == "nothing":
        return "does not learn; it has seen"
    if spec.consumes == "batch":
        return "was fitted to the points of"
    return {"done": "has learnt from", "paused": "has seen", "stopped": "has seen"}.get(state, "is learning from")


def _from_to(numbers: Mapping[str, float], column: str) -> str:
    """How a score went.

    >>> _from_to({"map_start": 0.24, "map": 0.25, "map_change_error": 0.03}, "map")
    'went from 0.24 to 0.25, within error'
    """
    start, end = f"{numbers[f'{column}_start']:.2f}", f"{numbers[column]:.2f}"  # as they are read
    if start == end:
        return f"stayed at {end}"
    change = change_since_start(numbers, column)
    if change == "about as well":
        return f"went from {start} to {end}, within error"
    return f"{'rose' if change == 'better' else 'fell'} from {start} to {end}"


def _name(row: Parameter | None, key: str) -> str:
    """What a reader knows it by; a method and data go by their own names."""
    return "" if key in NAMED else key if row is None else row.symbol or row.title


def _old_value(rows: dict[str, Parameter], key: str, value: object) -> str:
    return "= " if value is None else f"{_value(rows, key, value)} → "


def _value(rows: dict[str, Parameter], key: str, value: object) -> str:
    """A value as a reader knows it: "auto" or "natural" where that is what the number stands for."""
    row = rows.get(key)
    if row is not None and row.alias and value == row.lo:
        return row.alias
    if isinstance(value, bool):
        return "on" if value else "off"
    if key == "method":
        return methods.find(str(value)).title
    if key == "dataset":
        return _title(str(value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def duration(seconds: float) -> str:
    """A duration as a person says it.

    >>> duration(42), duration(200), duration(8000), duration(200_000), duration(float("nan"))
    ('42 s', '3 min', '2.2 h', '2.3 days', 'unknown')
    """
    if not math.isfinite(seconds):
        return "unknown"
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 2 * 86_400 else f"{seconds / 86_400:.1f} days"
