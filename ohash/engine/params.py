"""ExperimentParams: one frozen object is one experiment, one link, one cache key.

The seed and every live change of beta or C are part of it. `to_query` writes what differs from the defaults of the
dataset and the method; `ohash.engine.links` reads it again.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

from ohash.core.features import FeatureParams
from ohash.core.parameters import (
    FrozenSettings,
    Parameter,
    Parameters,
    Settings,
    did_you_mean,
    param,
    parameter_table,
    table_with_defaults,
)
from ohash.models import registry as methods
from ohash.models.base import HasherSpec
from ohash.models.online.oh_params import OHParams
from ohash.streams import registry as datasets
from ohash.streams.dataset import Dataset
from ohash.streams.datasets.paper_setting import PAPER_WARM, paper_params
from ohash.streams.drift import DriftParams
from ohash.streams.pairs import StreamParams

MAX_CHANGES = 64
# The dataset key of a user's own data; `content` then says which.
OWN = "own"
OWN_KEYS = (OWN, "user")  # "user" is the key of `Dataset.from_arrays`
# What the dashboard opens with, and what a link that names no dataset is about. The seed must not be the luckiest: of
# seeds 0 to 4, 0 has the largest mAP at the end of that run, on its validation queries, and 2 the smallest.
FIRST_DATASET, FIRST_SEED = "fashion", 2


# Kinds of queries: tuned on the first, reported on the second.
QUERIES = ("validation", "test")


@dataclass(frozen=True)
class RunParams(Parameters):
    """When to stop, when to re-encode, what is searched."""

    pairs: int = param(
        100_000, symbol="n", title="pairs", lo=1, hi=10**9, slider=(1_000, 10_000_000), scale="log",
        help="The run stops after this many pairs.",
    )  # fmt: skip
    reencode: str = param(
        "checkpoint", symbol="", title="re-encoding", choices=("checkpoint", "every", "never"),
        help="When the code table is brought up to date: at every checkpoint, every N pairs, or never.",
    )  # fmt: skip
    reencode_every: int = param(
        1_000, symbol="N", title="re-encoding interval", lo=1, hi=10**9, slider=(100, 100_000), scale="log",
        help="With re-encoding 'every': pairs between two refreshes of the table.", active_if=("reencode", "every"),
    )  # fmt: skip
    database: str = param(
        "full", symbol="", title="database", choices=("full", "seen"),
        help="full: everything is searchable from the start. seen: only points that a pair has shown.",
    )  # fmt: skip
    fit_to: str = param(
        "arrived", symbol="", title="training set of batch methods", choices=("arrived", "all"),
        help="What a batch method is fitted to at a checkpoint: the points seen so far (if these are "
        "many, only once their number has grown by a fifth), or all of them.",
    )  # fmt: skip
    judged_by: str = param(
        "validation", symbol="", title="evaluation queries", choices=QUERIES,
        help="Which queries the curves are measured on. Tune on validation, report on test.",
    )  # fmt: skip
    judged_at: str = param(
        "curve", symbol="", title="evaluations", choices=("curve", "tenths", "ends"),
        help="curve: about sixty checkpoints. tenths: after every tenth. ends: only before the first and after the "
        "last pair. Fewer are faster.",
    )  # fmt: skip
    stop_when_flat: bool = param(
        False, symbol="", title="stop when the score is flat",
        help="Stop when mAP (of clicks hit@10) at the last five checkpoints lies within 0.005 of each other.",
    )  # fmt: skip


@dataclass(frozen=True)
class Change:
    """A live change: `name` gets `value` exactly before pair `at`."""

    at: int
    name: str
    value: float


@dataclass(frozen=True)
class ExperimentParams:
    """Everything a run depends on. Build one with `experiment(...)`, `from_query(...)` or `from_json(...)`."""

    dataset: str
    method: str
    model: Parameters
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
            raise ValueError("database='seen' needs train='database': a disjoint training part is not searched")
        object.__setattr__(self, "seed", SEED.convert(self.seed))
        if "seed" in parameter_table(self.model):
            object.__setattr__(self, "model", replace(self.model, seed=self.seed))
        if len(self.changes) > MAX_CHANGES:
            raise ValueError(f"changes must be at most {MAX_CHANGES}, got {len(self.changes)}; start a new run")
        rows = parameter_table(self.model)
        changes = []
        for change in self.changes:
            if change.name not in rows or not rows[change.name].live:
                live = ", ".join(key for key, row in rows.items() if row.live) or "none of its parameters"
                raise ValueError(f"changes may set {live} of {self.method}, got {change.name!r}")
            if isinstance(change.at, bool) or not isinstance(change.at, int) or change.at < 0:
                raise ValueError(f"a change must happen at a pair number >= 0, got {change.at!r}")
            if rows[change.name].alias and change.value in (rows[change.name].alias, rows[change.name].lo):
                raise ValueError(f"a change of {change.name} must be a number, got {rows[change.name].alias!r}")
            changes.append(Change(change.at, change.name, rows[change.name].convert(change.value)))
        object.__setattr__(self, "changes", tuple(sorted(changes, key=lambda change: change.at)))
        model = self.model
        for change in self.changes:
            model = replace(model, **{change.name: change.value})  # validates them together with all others

    def with_changes(self, at: int, **values: float) -> "ExperimentParams":
        """The same experiment with more live changes; a second change at the same pair replaces the first.

        What is in force there already is no change.
        """
        now = self.model_at(at)
        new = {name: value for name, value in values.items() if getattr(now, name, None) != value}
        kept = [c for c in self.changes if c.at != at or c.name not in new]
        return replace(self, changes=(*kept, *(Change(at, name, value) for name, value in new.items())))

    def model_at(self, t: int) -> Parameters:
        """The model's parameters in force for pair t."""
        values = {change.name: change.value for change in self.changes if change.at <= t}
        return replace(self.model, **values) if values else self.model

    def with_current_values(self, t: int | None = None) -> "ExperimentParams":
        """The experiment that begins with the values to which the live changes have led, or will until pair t."""
        last = max((change.at for change in self.changes), default=0)
        return replace(self, model=self.model_at(last if t is None else t), changes=())

    def with_values(self, **values: object) -> "ExperimentParams":
        """Another experiment: `values` are keys of the flat table, or dataset, method, seed."""
        return _build({**flat(self), **values}, self.changes, self.content)

    def to_query(self) -> dict[str, str]:
        """The link: what differs from the defaults, as text."""
        base = unchecked_experiment(self.dataset, self.method)
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
        """A short name of this experiment: equal parameters and, of plugins, equal files: equal key."""
        values = json.loads(self.to_json())
        version = methods.plugin_version(self.method)
        values |= {"plugin": version.fingerprint} if version else {}
        data = methods.data_plugin_version(self.dataset)
        values |= {"data_plugin": data.fingerprint} if data else {}
        kept = {name: value for name, value in values.items() if NOT_IN_OLD_KEYS.get(name, ...) != value}
        return hashlib.sha256(json.dumps(kept, indent=2).encode()).hexdigest()[:16]


# Parameters that experiments stored earlier do not have, with the value that changes nothing.
NOT_IN_OLD_KEYS = {"later_items": "any", "rotation": "none", "dim_bits": 1, "query_bits": 0}
SEED = Parameter("seed", int, 0, "", "seed", "Draws the split, the pairs and the first W.", lo=0, hi=2**32 - 1)


def experiment(dataset: str | Dataset = "digits", method: str = "oh", **values: object) -> ExperimentParams:
    """An experiment from defaults: `values` are any keys of the method's, the map's, the stream's or the run's table.

    `changes` are live changes, (pair index, name, value) each; `similar_share=None` is the natural share. For data of
    your own give the `Dataset`, and give it to `run` too.

    >>> experiment(r=32, beta=0.4, changes=[(500, "C", 0.01)]).to_query()
    {'dataset': 'digits', 'method': 'oh', 'r': '32', 'beta': '0.4', 'changes': '500:C:0.01'}
    """
    if isinstance(dataset, str) and dataset not in OWN_KEYS and not values.get("content"):
        datasets.find_dataset(dataset)
    return unchecked_experiment(dataset, method, **values)


def unchecked_experiment(dataset: str | Dataset = "digits", method: str = "oh", **values: Any) -> ExperimentParams:
    """`experiment` for a data set that may be unknown here, as that of a stored run may be."""
    changes = tuple(map(_change, values.pop("changes", ())))
    content = values.pop("content", "")
    if isinstance(dataset, Dataset):
        values = {"kernel": kernel_for(methods.find(method), dataset.kernel), **values}
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


def flat(params: ExperimentParams) -> Settings:
    """Every value by its key: dataset, method, seed, and the declared rows of all parts."""
    values = {"dataset": params.dataset, "method": params.method}
    for part in _parts(params):
        values |= {key: getattr(part, key) for key in parameter_table(part)}
    return {**values, "seed": params.seed}


def rows_of(params: ExperimentParams) -> dict[str, Parameter]:
    """Every declared row of an experiment by its key, with the default that its dataset and method have."""
    rows: dict[str, Parameter] = {}
    for part in _defaults(params.dataset, params.method):
        rows |= table_with_defaults(part)
    return {**rows, "seed": SEED}


def opening_seed(dataset: str) -> int:
    """The seed with which the dashboard opens a data set."""
    return FIRST_SEED if dataset == FIRST_DATASET else int(SEED.default)


def default_features(dataset: str) -> FeatureParams:
    """The features that suit the vectors of a data set."""
    spec = datasets.lookup(dataset)
    if spec is None:
        return FeatureParams()
    features = FeatureParams(kernel=spec.kernel, normalize=spec.normalize)
    return replace(features, **{key: spec.defaults[key] for key in spec.defaults if key in parameter_table(features)})


def _chosen_model(dataset: str) -> Mapping[str, Any]:
    """What suits a data set among the parameters of OH and MMOH; for data that nobody has tried, the warm-up's C."""
    spec = datasets.lookup(dataset)
    return spec.defaults if spec is not None and spec.group not in ("folder", "plugin") else {"C": "auto"}


def kernel_for(spec: HasherSpec, data_kernel: str) -> str:
    """The kernel of a method's features: `data_kernel`, if the method was made for a kernel, or else none."""
    return {"kernel": data_kernel, "vectors": "none", "given": "raw", "distance": "given"}[spec.features]


def _parts(params: ExperimentParams) -> tuple[object, ...]:
    return (params.model, params.features, params.stream, params.drift, params.run)


def _defaults(dataset: str, method: str) -> tuple[Any, ...]:
    """What a run starts from: the classes' own defaults, frozen centring, the map and the judging that suit them."""
    return _defaults_of(methods.find(method), default_features(dataset), tuple(_chosen_model(dataset).items()))


@lru_cache(maxsize=256)
def _defaults_of(spec: HasherSpec, features: FeatureParams, chosen: FrozenSettings) -> tuple[Any, ...]:
    model = spec.params()
    if "center" in spec.table and "frozen" in spec.table["center"].choices:
        model = replace(model, center="frozen")
    if isinstance(model, OHParams):
        values: Settings = {key: value for key, value in chosen if key in spec.table}
        model = replace(model, **values)
    features = replace(features, kernel=kernel_for(spec, features.kernel))
    run = RunParams(judged_at="tenths") if spec.consumes == "batch" else RunParams()  # every judgement needs a fit
    return model, features, StreamParams(), DriftParams(), run


def _build(values: Settings, changes: tuple[Change, ...], content: str) -> ExperimentParams:
    values = dict(values)
    dataset, method = str(values.pop("dataset")), methods.find(values.pop("method")).key
    seed = values.pop("seed", 0)
    parts = []
    for part in _defaults(dataset, method):
        mine = {key: values.pop(key) for key in parameter_table(part) if key in values}
        parts.append(replace(part, **mine))
    if values:
        known = sorted(key for part in _defaults(dataset, method) for key in parameter_table(part))
        hint = did_you_mean(min(values), known)
        raise ValueError(f"unknown parameter {', '.join(sorted(values))}{hint}; {method} knows {', '.join(known)}")
    model, features, stream, drift, run = parts
    return ExperimentParams(dataset, method, model, features, stream, drift, run, seed, content, changes)


# The paper's protocol, for a dataset it does not know.
DEFAULTS_FOR_OTHER_DATA = paper_params(beta=0.5, similar_by="auto")


def paper_key(dataset: str) -> str:
    """The dataset with the features that the paper's protocol wants.

    >>> paper_key("cifar10"), paper_key("labelme")
    ('cifar10-gist', 'labelme')
    """
    spec = datasets.lookup(dataset)
    return dataset if spec is None else spec.paper_key or dataset


def protocol(dataset: str, method: str = "oh", **values: object) -> ExperimentParams:
    """An experiment by the paper's protocol, as in its figures; `values` are set on top.

    A method gets the parameters it knows. Differs from the paper: of its four datasets CIFAR-10 has GIST-512 here
    instead of deep features that were never published, and is searched itself instead of Tiny Images; beside the
    paper's test queries there are validation queries.

    >>> params = protocol("cifar10", pairs=5000)
    >>> params.dataset, params.model.r, params.model.beta, params.features.sigma, params.run.pairs
    ('cifar10-gist', 64, 0.4, 1.0, 5000)
    """
    key = paper_key(dataset)
    base = experiment(key, method)
    rows = rows_of(base)
    spec = datasets.lookup(key)
    presets = spec.presets if spec is not None else {}
    wanted = {name: value for name, value in (presets or DEFAULTS_FOR_OTHER_DATA).items() if name in rows}
    if methods.find(method).features != "kernel":
        wanted.pop("kernel", None)  # the paper names the kernel for its own models
        wanted["warm"] = PAPER_WARM  # with a kernel the anchors ask for as many
    return base.with_values(**{**wanted, **values})
