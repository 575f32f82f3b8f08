"""ExperimentParams: one frozen object is one experiment, one link, one cache key.

The seed and every live change of beta or C are part of it. `to_query` writes what differs from the defaults of the
dataset and the method; `from_query` takes anything a browser may send: unknown keys are ignored, bad values are named
and replaced by their default.
"""

import difflib
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ohash.core.features import FeatureParams
from ohash.core.parameters import Parameter, check, param, started_from, table
from ohash.models import registry as methods
from ohash.streams import registry as datasets
from ohash.streams.base import Dataset
from ohash.streams.drift import DriftParams
from ohash.streams.pairs import StreamParams

MOST_CHANGES = 16
# The dataset key of a user's own data; `content` then says which.
OWN = "own"


# Kinds of queries: tuned on the first, reported on the second.
QUERIES = ("validation", "test")


@dataclass(frozen=True)
class RunParams:
    """When to stop, when to re-encode, what is searched."""

    pairs: int = param(
        100_000, symbol="n", title="pairs", lo=1, hi=10**9, slider=(1_000, 10_000_000), scale="log",
        help="The run stops after this many pairs.",
    )  # fmt: skip
    reencode: str = param(
        "checkpoint", symbol="", title="re-encode", choices=("checkpoint", "every", "never"),
        help="When the code table is brought up to date: at every checkpoint, every N pairs, or never.",
    )  # fmt: skip
    reencode_every: int = param(
        1_000, symbol="N", title="re-encode every", lo=1, hi=10**9, slider=(100, 100_000), scale="log",
        help="With re-encode 'every': pairs between two refreshes of the table.", only=("reencode", "every"),
    )  # fmt: skip
    database: str = param(
        "full", symbol="", title="database", choices=("full", "seen"),
        help="full: everything is searchable from the start. seen: only what has arrived in a pair.",
    )  # fmt: skip
    fit_to: str = param(
        "arrived", symbol="", title="batch methods are fitted to", choices=("arrived", "all"),
        help="What a batch method is fitted to at a checkpoint: what has arrived, or everything at once.",
    )  # fmt: skip
    judged_by: str = param(
        "validation", symbol="", title="judged by", choices=QUERIES,
        help="Which queries the curves are measured on. Tune on validation, report on test.",
    )  # fmt: skip
    judged_at: str = param(
        "curve", symbol="", title="judged at", choices=("curve", "tenths", "ends"),
        help="curve: at some sixty checkpoints. tenths: after every tenth. ends: only before the first and after the "
        "last pair. Fewer are quicker.",
    )  # fmt: skip
    stop_when_flat: bool = param(
        False, symbol="", title="stop when mAP is flat",
        help="Stop when the last five checkpoints lie within 0.005 of each other.",
    )  # fmt: skip

    def __post_init__(self) -> None:
        """Validate."""
        check(self)


@dataclass(frozen=True)
class Change:
    """A live change: `name` gets `value` exactly before pair `at`."""

    at: int
    name: str
    value: float


@dataclass(frozen=True)
class Limits:
    """What a link may ask of this server; a notebook has none."""

    bits: int = 8192  # T · r
    m: int = 4096
    pairs: int = 10**9


@dataclass(frozen=True)
class ExperimentParams:
    """Everything a run depends on. Build one with `experiment(...)`, `from_query(...)` or `from_json(...)`."""

    dataset: str
    method: str
    model: Any
    features: FeatureParams
    stream: StreamParams
    drift: DriftParams
    run: RunParams
    seed: int = 0
    content: str = ""
    changes: tuple[Change, ...] = ()

    def __post_init__(self) -> None:
        """Check what no single part can check: the seed, and the changes against the method's live parameters."""
        if self.run.database == "seen" and self.stream.train == "disjoint":
            raise ValueError("database='seen' needs train='database': of a disjoint training part nothing is searched")
        object.__setattr__(self, "seed", SEED.convert(self.seed))
        if "seed" in table(self.model):
            object.__setattr__(self, "model", replace(self.model, seed=self.seed))
        if len(self.changes) > MOST_CHANGES:
            raise ValueError(f"changes must be at most {MOST_CHANGES}, got {len(self.changes)}; start a new run")
        rows = table(self.model)
        changes = []
        for change in self.changes:
            if change.name not in rows or not rows[change.name].live:
                live = ", ".join(key for key, row in rows.items() if row.live) or "none of its parameters"
                raise ValueError(f"changes may set {live} of {self.method}, got {change.name!r}")
            if isinstance(change.at, bool) or not isinstance(change.at, int) or change.at < 0:
                raise ValueError(f"a change must happen at a pair number >= 0, got {change.at!r}")
            changes.append(Change(change.at, change.name, rows[change.name].convert(change.value)))
        object.__setattr__(self, "changes", tuple(sorted(changes, key=lambda change: change.at)))
        model = self.model
        for change in self.changes:
            model = replace(model, **{change.name: change.value})  # validates them together with all others

    def changed(self, at: int, **values: float) -> "ExperimentParams":
        """The same experiment with more live changes; a second change at the same pair replaces the first.

        What is in force there already is no change.
        """
        now = self.model_at(at)
        new = {name: value for name, value in values.items() if getattr(now, name, None) != value}
        kept = [c for c in self.changes if c.at != at or c.name not in new]
        return replace(self, changes=(*kept, *(Change(at, name, value) for name, value in new.items())))

    def model_at(self, t: int) -> Any:
        """The model's parameters in force for pair t."""
        values = {change.name: change.value for change in self.changes if change.at <= t}
        return replace(self.model, **values) if values else self.model

    def in_force(self) -> "ExperimentParams":
        """The experiment that begins with the values to which the live changes have led."""
        return replace(self, model=self.model_at(max((change.at for change in self.changes), default=0)), changes=())

    def with_values(self, **values: Any) -> "ExperimentParams":
        """Another experiment: `values` are keys of the flat table, or dataset, method, seed."""
        return _build({**flat(self), **values}, self.changes, self.content)

    def to_query(self) -> dict[str, str]:
        """The link: what differs from the defaults, as text."""
        base = experiment(dataset=self.dataset, method=self.method)
        rows = rows_of(self)
        mine, theirs = flat(self), flat(base)
        query = {"dataset": self.dataset, "method": self.method}
        query |= {key: rows[key].format(value) for key, value in mine.items() if key in rows and value != theirs[key]}
        if self.content:
            query["content"] = self.content
        if self.changes:
            query["changes"] = ",".join(f"{c.at}:{c.name}:{rows[c.name].format(c.value)}" for c in self.changes)
        return query

    def to_json(self) -> str:
        """All values, for an export."""
        values = {**flat(self), "content": self.content, "changes": [asdict(change) for change in self.changes]}
        return json.dumps(values, indent=2)

    def key(self) -> str:
        """A short name of this experiment: equal parameters, equal key."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:16]


SEED = Parameter("seed", int, 0, "", "seed", "Draws the split, the pairs and the first W.", lo=0, hi=2**32 - 1)


def experiment(dataset: str | Dataset = "digits", method: str = "oh", **values: Any) -> ExperimentParams:
    """An experiment from defaults: `values` are any keys of the method's, the map's, the stream's or the run's table.

    `changes` are live changes, (pair index, name, value) each; `similar_share=None` is the natural share. For data of
    your own give the `Dataset`, and give it to `run` too.

    >>> experiment(r=32, beta=0.4, changes=[(500, "C", 0.01)]).to_query()
    {'dataset': 'digits', 'method': 'oh', 'r': '32', 'beta': '0.4', 'changes': '500:C:0.01'}
    """
    changes = tuple(map(_change, values.pop("changes", ())))
    content = values.pop("content", "")
    if isinstance(dataset, Dataset):
        values = {"kernel": "none" if methods.find(method).raw else dataset.kernel, **values}
        content, dataset = dataset.fingerprint(), OWN
    if values.get("similar_share", 0) is None:
        values["similar_share"] = "natural"
    return _build({"dataset": dataset, "method": method, **values}, changes, content)


def _change(given: Any) -> Change:
    try:
        return given if isinstance(given, Change) else Change(*given)
    except TypeError:
        raise ValueError(f"a change must be (pair index, name, value), got {given!r}") from None


def from_json(text: str) -> ExperimentParams:
    """The inverse of `to_json`."""
    values = json.loads(text)
    changes = tuple(Change(**change) for change in values.pop("changes", []))
    return _build({k: v for k, v in values.items() if k != "content"}, changes, values.get("content", ""))


def from_query(query: Mapping[str, str], limits: Limits | None = None) -> tuple[ExperimentParams, list[str]]:
    """An experiment from a link, and what had to be ignored or replaced, in words."""
    problems: list[str] = []
    values: dict[str, Any] = {}
    for key, known, fallback in (
        ("dataset", {*datasets.datasets(), OWN}, "digits"),
        ("method", set(methods.hashers()), "oh"),
    ):
        text = query.get(key, fallback)
        if text not in known:
            problems.append(f"{key} must be one of {', '.join(sorted(known))}, got {text[:60]!r}; using {fallback!r}")
            text = fallback
        values[key] = text
    rows = rows_of(experiment(**values))
    for key, row in rows.items():
        if key in query:
            try:
                values[key] = row.parse(query[key][:60])
            except ValueError as error:
                problems.append(str(error))
    others = {key for spec in methods.hashers().values() for key in spec.table} - set(rows)
    problems += [f"{key} is no parameter of {values['method']}; left out" for key in query if key in others]
    unknown = [key for key in query if key not in {*rows, *others, "dataset", "method", "content", "changes"}]
    meant = [(key, _meant(key, rows)) for key in unknown]  # who brings a key of his own, utm_source say, meant nothing
    problems += [f"{key[:40]!r} is no parameter; left out (did you mean {near}?)" for key, near in meant if near]
    content = query.get("content", "")[:64]
    if content and values["dataset"] != OWN:
        problems.append(
            f"content belongs to dataset={OWN!r}, data of one's own, got dataset={values['dataset']!r}; left out"
        )
        content = ""
    params = _settle(values, problems, content)
    if limits is not None:
        params = _within(params, limits, problems)
    for item in _items(query.get("changes", "")):
        try:
            params = replace(params, changes=(*params.changes, _parse_change(item, rows)))
        except ValueError as error:
            problems.append(f"change {item[:60]!r} ignored: {error}")
    return params, problems


def _meant(key: str, rows: Mapping[str, Parameter]) -> str:
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


def flat(params: ExperimentParams) -> dict[str, Any]:
    """Every value by its key: dataset, method, seed, and the declared rows of all parts."""
    values = {"dataset": params.dataset, "method": params.method}
    for part in _parts(params):
        values |= {key: getattr(part, key) for key in table(part)}
    return {**values, "seed": params.seed}


def rows_of(params: ExperimentParams) -> dict[str, Parameter]:
    """Every declared row of an experiment by its key, with the default that its dataset and method have."""
    rows: dict[str, Parameter] = {}
    for part in _defaults(params.dataset, params.method):
        rows |= started_from(part)
    return {**rows, "seed": SEED}


def _parts(params: ExperimentParams) -> tuple[Any, ...]:
    return (params.model, params.features, params.stream, params.drift, params.run)


def _defaults(dataset: str, method: str) -> tuple[Any, ...]:
    """What a run starts from: the classes' own defaults, frozen centring, the map and the judging that suit them."""
    spec = methods.find(method)
    model = spec.params()
    if "center" in spec.table and "frozen" in spec.table["center"].choices:
        model = replace(model, center="frozen")
    kernel = "none" if spec.raw or dataset not in datasets.datasets() else datasets.find(dataset).kernel
    run = RunParams(judged_at="tenths") if spec.consumes == "batch" else RunParams()  # every judgement needs a fit
    return model, FeatureParams(kernel=kernel), StreamParams(), DriftParams(), run


def _build(values: dict[str, Any], changes: tuple[Change, ...], content: str) -> ExperimentParams:
    values = dict(values)
    dataset, method = str(values.pop("dataset")), methods.find(values.pop("method")).key
    seed = values.pop("seed", 0)
    parts = []
    for part in _defaults(dataset, method):
        mine = {key: values.pop(key) for key in table(part) if key in values}
        parts.append(replace(part, **mine))
    if values:
        known = sorted(key for part in _defaults(dataset, method) for key in table(part))
        raise ValueError(f"unknown parameter {', '.join(sorted(values))}; {method} knows {', '.join(known)}")
    model, features, stream, drift, run = parts
    return ExperimentParams(dataset, method, model, features, stream, drift, run, seed, content, changes)


def _settle(values: dict[str, Any], problems: list[str], content: str) -> ExperimentParams:
    """Values that are fine one by one may not be fine together: then the thresholds, one, or all are the defaults."""
    last: ValueError | None = None
    loose = [key for key in values if key not in ("dataset", "method", "seed", "r", "T", "m", "pairs")]
    for dropped in ((), ("alpha", "beta"), *((key,) for key in reversed(loose)), loose):
        try:
            params = _build({k: v for k, v in values.items() if k not in dropped}, (), content)
        except ValueError as error:
            last = last or error
        else:
            problems += [] if last is None else [str(last)]
            return params
    raise last or ValueError("unreachable")


def _within(params: ExperimentParams, limits: Limits, problems: list[str]) -> ExperimentParams:
    """As near as `limits` allow."""
    smaller: dict[str, Any] = {}
    r, T = getattr(params.model, "r", 1), getattr(params.model, "T", 1)
    if r * T > limits.bits:
        models = min(T, limits.bits)
        found = {"T": models, "r": limits.bits // models}
        smaller |= {key: value for key, value in found.items() if hasattr(params.model, key)}
        using = ", ".join(f"{key}={value}" for key, value in smaller.items())
        problems.append(f"T · r must be at most {limits.bits} bits on this server, got {r * T}; using {using}")
    for key, most, value in (("m", limits.m, params.features.m), ("pairs", limits.pairs, params.run.pairs)):
        if value > most:
            smaller[key] = most
            problems.append(f"{key} must be at most {most} on this server, got {value}; using {most}")
    return _settle({**flat(params), **smaller}, problems, params.content) if smaller else params


def _items(text: str) -> list[str]:
    """One more than there may be, so that too many are said and not cut off in silence."""
    return text.split(",", MOST_CHANGES + 1)[: MOST_CHANGES + 1] if text else []


def _parse_change(item: str, rows: dict[str, Parameter]) -> Change:
    at, _, rest = item.partition(":")
    name, _, value = rest.partition(":")
    if not (at.isascii() and at.isdigit()) or name not in rows or len(at) > 12:
        raise ValueError(f"a change is pair:name:value, as 500:C:0.01, got {item[:60]!r}")
    return Change(int(at), name, rows[name].parse(value[:60]))
