"""Experiments from links, which may hold anything: unknown keys are ignored, bad values named and replaced.

What is near to a parameter, and meant nothing else, is named too; no link exceeds the limits of the server.
"""

import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl

from ohash.core.parameters import Parameter, Settings
from ohash.engine.params import (
    FIRST_DATASET,
    MAX_CHANGES,
    OWN,
    Change,
    ExperimentParams,
    experiment,
    flat,
    opening_seed,
    rows_of,
)
from ohash.models import registry as methods
from ohash.streams import registry as datasets

# Where a dashboard on this machine answers.
DEFAULT_ADDRESS = "http://localhost:8501/"


@dataclass(frozen=True)
class Limits:
    """What a link may ask of this server; a notebook has none."""

    bits: int = 8192  # T · r
    m: int = 4096
    pairs: int = 10**9


def query_of(address: str) -> dict[str, str]:
    """The settings in an address or in what follows its question mark; a fragment is not part of them.

    >>> query_of("http://localhost:8501/compare?r=16&C=0.1#top"), query_of("r=16")
    ({'r': '16', 'C': '0.1'}, {'r': '16'})
    """
    address = address.partition("#")[0]
    return dict(parse_qsl(address.partition("?")[2] or address))


def from_query(query: Mapping[str, str], limits: Limits | None = None) -> tuple[ExperimentParams, list[str]]:
    """An experiment from a link, and what had to be ignored or replaced, in words."""
    problems: list[str] = []
    values: Settings = {}
    values["dataset"] = dataset_of(query, FIRST_DATASET, problems)
    usual = "oh" if query.get("T", "1") == "1" else "mmoh"  # several models are MMOH
    values["method"] = _one_of("method", methods.hashers(), query, usual, problems)
    if not {"dataset", "method"} <= query.keys():  # typed by hand: links that are written name both, and no seed is 0
        values["seed"] = opening_seed(values["dataset"])
    rows = rows_of(experiment(**values))
    values |= parse_values(rows, query, problems)
    others = {key for spec in methods.hashers().values() for key in spec.table} - set(rows)
    problems += [f"{key} is not a parameter of {values['method']}; left out" for key in query if key in others]
    unknown = [key for key in query if key not in {*rows, *others, "dataset", "method", "content", "changes"}]
    # A tracker's own key such as utm_source resembles none.
    meant = [(key, _closest_parameter(key, rows)) for key in unknown]
    problems += [f"{key[:40]!r} is not a parameter; left out (did you mean {near}?)" for key, near in meant if near]
    params = _resolve_conflicts(values, problems, content_of(query, values["dataset"], problems))
    if limits is not None:
        params = _clip_to_limits(params, limits, problems)
    for item in _items(query.get("changes", "")):
        try:
            params = replace(params, changes=(*params.changes, _parse_change(item, rows)))
        except ValueError as error:
            problems.append(f"change {item[:60]!r} ignored: {error}")
    return params, problems


def dataset_of(query: Mapping[str, str], usual: str, problems: list[str]) -> str:
    """The dataset that a link names, or the usual one."""
    family = datasets.family_of(query.get("dataset", usual))
    if family is not None:
        try:
            return family.spec(query["dataset"]).key
        except ValueError as error:
            problems.append(f"{error}; using {usual!r}")
            return usual
    return _one_of("dataset", {*datasets.datasets(), OWN}, query, usual, problems)


def content_of(query: Mapping[str, str], dataset: str, problems: list[str]) -> str:
    """The fingerprint of the user's own data that a link is about; "" if it is about others."""
    content = query.get("content", "")[:64]
    if content and dataset != OWN:
        problems.append(f"content belongs to dataset={OWN!r}, your own data, got dataset={dataset!r}; left out")
        return ""
    return content


def parse_values(rows: Mapping[str, Parameter], query: Mapping[str, str], problems: list[str]) -> Settings:
    """What a link says of declared rows; a bad value is left to its default."""
    values = {}
    for key, row in rows.items():
        if key in query:
            try:
                values[key] = row.parse(query[key][:60])
            except ValueError as error:
                problems.append(str(error))
    return values


def _one_of(key: str, known: Collection[str], query: Mapping[str, str], usual: str, problems: list[str]) -> str:
    text = query.get(key, usual)
    if text in known:
        return text
    problems.append(f"{key} must be one of {', '.join(sorted(known))}, got {text[:60]!r}; using {usual!r}")
    return usual


def _closest_parameter(key: str, rows: Mapping[str, Parameter]) -> str:
    """The parameter that has this title or symbol, or nearly this key."""
    named = [one for one, row in rows.items() if key.lower() in (row.title.lower(), row.symbol.lower())]
    return next(iter(named or difflib.get_close_matches(key, rows, 1)), "")


def with_changes(params: ExperimentParams, text: str) -> ExperimentParams:
    """The same experiment with live changes written as in a link.

    >>> with_changes(experiment(), "500:C:0.01,900:beta:0.4").model_at(600).C
    0.01
    """
    rows = rows_of(params)
    return replace(params, changes=(*params.changes, *(_parse_change(item, rows) for item in _items(text))))


def _resolve_conflicts(values: Settings, problems: list[str], content: str) -> ExperimentParams:
    """Values that are fine one by one may not be fine together: then the thresholds, one, or all are the defaults."""
    last: ValueError | None = None
    loose = [key for key in values if key not in ("dataset", "method", "seed", "r", "T", "m", "pairs")]
    for dropped in ((), ("alpha", "beta"), *((key,) for key in reversed(loose)), loose):
        try:
            params = experiment(**{k: v for k, v in values.items() if k not in dropped}, content=content)
        except ValueError as error:
            last = last or error
        else:
            problems += [] if last is None else [str(last)]
            return params
    raise last or ValueError("unreachable")


def _clip_to_limits(params: ExperimentParams, limits: Limits, problems: list[str]) -> ExperimentParams:
    """As near as `limits` allow."""
    smaller: Settings = {}
    r, T = getattr(params.model, "r", 1), getattr(params.model, "T", 1)
    if r * T > limits.bits:
        models = min(T, limits.bits)
        largest = {"T": models, "r": limits.bits // models}
        smaller |= {key: value for key, value in largest.items() if hasattr(params.model, key)}
        using = ", ".join(f"{key}={value}" for key, value in smaller.items())
        problems.append(f"T · r must be at most {limits.bits} bits on this server, got {r * T}; using {using}")
    for key, most, value in (("m", limits.m, params.features.m), ("pairs", limits.pairs, params.run.pairs)):
        if value > most:
            smaller[key] = most
            problems.append(f"{key} must be at most {most} on this server, got {value}; using {most}")
    return _resolve_conflicts({**flat(params), **smaller}, problems, params.content) if smaller else params


def _items(text: str) -> list[str]:
    """One more than the limit, so that too many are reported instead of silently cut off."""
    return text.split(",", MAX_CHANGES + 1)[: MAX_CHANGES + 1] if text else []


def _parse_change(item: str, rows: dict[str, Parameter]) -> Change:
    at, _, rest = item.partition(":")
    name, _, value = rest.partition(":")
    if not (at.isascii() and at.isdigit()) or name not in rows or len(at) > 12:
        raise ValueError(f"a change is pair:name:value, as 500:C:0.01, got {item[:60]!r}")
    return Change(int(at), name, rows[name].parse(value[:60]))
