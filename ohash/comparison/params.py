"""Comparison: one frozen object, and one link, for up to twelve methods on the same data, stream and seeds.

Every method sees exactly the same pairs: a pair is two points for a method that learns from points, and a batch method
is fitted to the points so far at each checkpoint (or to all points); if these are many, once there are a fifth
more. `bits` is the length of a whole code, T · r.
Every method works on the features it was made for by default, as its spec declares: the data set's feature map, centred
vectors of unit length, or the vectors as given. All methods wait for as many points as the kernel needs, so that they
start at the same pair.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ohash.core.features import FeatureParams
from ohash.core.parameters import (
    FrozenSettings,
    Parameter,
    Parameters,
    Settings,
    param,
    parameter_table,
    table_with_defaults,
    unknown_parameter,
)
from ohash.engine.judge import CLICKS
from ohash.engine.links import Limits, content_of, dataset_of, parse_values
from ohash.engine.params import (
    FIRST_DATASET,
    SEED,
    ExperimentParams,
    RunParams,
    default_features,
    experiment,
    kernel_for,
    unchecked_experiment,
)
from ohash.models import registry as methods
from ohash.models.base import HasherSpec
from ohash.streams import registry as datasets
from ohash.streams.dataset import Dataset, DatasetSpec
from ohash.streams.drift import DriftParams
from ohash.streams.pairs import StreamParams

MAX_METHODS = 12
SMALL = 5_000_000  # numbers in own data up to which a comparison takes three splits: minutes on two cores
MAX_SEEDS = 5
# Whatever someone needs, a code made for it is among the methods that data are opened with: PQ keeps most of a distance
# in few bytes, HCOH learns online from labels, and click whitening is a closed form that an online learner must beat.
DEFAULT_METHODS = ("oh", "itq", "pq", "sign", "rotated", "lsh")
LABEL_METHODS = ("oh", "hcoh", *DEFAULT_METHODS[1:])
CLICK_METHODS = ("oh", "click_whitening", *DEFAULT_METHODS[1:])
USUAL_BITS = 64


@dataclass(frozen=True)
class ComparisonOptions(Parameters):
    """Settings that all methods share besides data and stream."""

    bits: int = param(
        USUAL_BITS, symbol="T·r", title="bits", lo=1, hi=8192, slider=(8, 1024), scale="log",
        help="Length of a whole code, which T models share. Sign always has one bit per dimension.",
    )  # fmt: skip
    maps: str = param(
        "suits", symbol="κ", title="features", choices=("suits", "same"),
        help="suits: each method works on the features it was made for. same: one feature map for all.",
    )  # fmt: skip
    trials: int = param(
        0, symbol="", title="tuning trials", lo=0, hi=100, slider=(0, 50), step=5,
        help="Parameter settings tried per method on the validation queries, the defaults first and then random ones; "
        "the best are used. 0: the defaults.",
    )  # fmt: skip
    sweep: bool = param(
        True, symbol="", title="other lengths", help="Also learn codes of 16 to 256 bits at the end: mAP against bits.",
    )  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """One method with the parameters that differ from its defaults."""

    method: str
    values: FrozenSettings = ()

    @property
    def spec(self) -> HasherSpec:
        """The registered description of the method."""
        return methods.find(self.method)

    @property
    def T(self) -> int:
        """Number of models that share the bits of a code; 1 for most methods."""
        rows = self.spec.table
        return int(dict(self.values).get("T", rows["T"].default if "T" in rows else 1))

    def text(self) -> str:
        """The entry as it appears in a link.

        >>> Entry("oh", (("C", 1.0), ("select", "largest"))).text()
        'oh:C=1:select=largest'
        """
        rows = self.spec.table
        return ":".join([self.method, *(f"{key}={rows[key].format(value)}" for key, value in self.values)])


@dataclass(frozen=True)
class Comparison:
    """Everything a comparison depends on. Build one with `build_comparison(...)` or `from_query(...)`."""

    dataset: str
    entries: tuple[Entry, ...]
    options: ComparisonOptions
    features: FeatureParams
    stream: StreamParams
    drift: DriftParams
    run: RunParams
    seeds: tuple[int, ...] = (0,)
    content: str = ""

    def __post_init__(self) -> None:
        """Check the number of methods and seeds, and that every experiment is valid."""
        if not 1 <= len(self.entries) <= MAX_METHODS:
            raise ValueError(f"methods must be 1 to {MAX_METHODS}, got {len(self.entries)}; leave some out")
        if len(set(self.entries)) < len(self.entries):
            raise ValueError("methods must differ in name or parameters, got one twice; change or remove one")
        object.__setattr__(self, "seeds", tuple(SEED.convert(seed) for seed in self.seeds))
        if not 1 <= len(set(self.seeds)) == len(self.seeds) <= MAX_SEEDS:
            raise ValueError(f"seeds must be 1 to {MAX_SEEDS} different numbers, got {self.seeds}")
        for entry in self.entries:
            self.experiment(entry)

    def experiment(self, entry: Entry, seed: int | None = None, *, bits: int | None = None) -> ExperimentParams:
        """One method as a single experiment; `bits` replaces the length of the code."""
        spec, model = entry.spec, dict(entry.values)
        if "r" in spec.table and ("r" not in model or bits is not None):
            model["r"] = max(1, (self.options.bits if bits is None else bits) // entry.T)
        shared = {key: getattr(part, key) for part in self._common_settings() for key in parameter_table(part)}
        features = self.features_of(entry)
        shared |= {key: getattr(features, key) for key in parameter_table(features)}
        values = {**shared, **model, "seed": self.seeds[0] if seed is None else seed}
        return unchecked_experiment(self.dataset, spec.key, content=self.content, **values)

    def features_of(self, entry: Entry) -> FeatureParams:
        """The features a method works on in this comparison; all wait for the same warm-up."""
        kernel = kernel_for(entry.spec, self.features.kernel)
        if self.options.maps == "same" or kernel == self.features.kernel:
            return self.features
        warm = self.features.warm_up if self.features.kernel == "rbf" else self.features.warm
        return replace(self.features, kernel=kernel, warm=warm)

    @property
    def names(self) -> tuple[str, ...]:
        """Short names of the methods, all different."""
        titles = [entry.spec.title for entry in self.entries]
        short = [title.partition(" (")[0] for title in titles]
        names = [name if short.count(name) == 1 else title for name, title in zip(short, titles, strict=True)]
        return tuple(
            name if names.count(name) == 1 else f"{name} ({_values_text(entry)})"
            for name, entry in zip(names, self.entries, strict=True)
        )

    def with_values(self, **values: object) -> "Comparison":
        """Another comparison: `values` are keys of the shared table, or dataset, content, methods, seeds."""
        current = {"dataset": self.dataset, "content": self.content, "methods": self.entries, "seeds": self.seeds}
        shared = {
            key: getattr(part, key)
            for part in (self.options, *self._common_settings())
            for key in parameter_table(part)
        }
        return build_comparison(**{**current, **shared, **values})

    def differences(self) -> Settings:
        """The shared settings that differ from their defaults."""
        parts = zip((self.options, *self._common_settings()), _parts(self.dataset), strict=True)
        return {
            key: getattr(part, key)
            for part, default in parts
            for key in parameter_table(part)
            if getattr(part, key) != getattr(default, key)
        }

    def to_query(self) -> dict[str, str]:
        """The link: what differs from the defaults, as text values."""
        rows = rows_of(self)
        query = {"dataset": self.dataset, "methods": ",".join(entry.text() for entry in self.entries)}
        query |= {key: rows[key].format(value) for key, value in self.differences().items()}
        if self.seeds != (0,):
            query["seeds"] = format_seeds(self.seeds)
        if self.content:
            query["content"] = self.content
        return query

    def key(self) -> str:
        """A short name; equal comparisons have equal keys."""
        return hashlib.sha256(json.dumps(self.to_query(), sort_keys=True).encode()).hexdigest()[:16]

    def _common_settings(self) -> tuple[FeatureParams, StreamParams, DriftParams, RunParams]:
        return self.features, self.stream, self.drift, self.run


def build_comparison(
    dataset: str = FIRST_DATASET,
    methods: Iterable[str | Entry] | None = None,
    seeds: int | Iterable[int] = (0,),
    content: str = "",
    **values: object,
) -> Comparison:
    """A comparison from defaults; a method may carry parameters: "oh:C=1"; None are those that suit the data.

    >>> build_comparison("digits", ("oh", "oh:C=1", "itq"), bits=32).to_query()
    {'dataset': 'digits', 'methods': 'oh,oh:C=1,itq', 'bits': '32'}
    """
    parts = []
    for part in _parts(dataset):
        given = {key: values.pop(key) for key in parameter_table(part) if key in values}
        parts.append(replace(part, **given))
    if values:
        known = sorted(key for part in parts for key in parameter_table(part))
        raise ValueError(f"unknown parameter {', '.join(sorted(values))}; a comparison has {', '.join(known)}")
    options, features, stream, drift, run = parts
    chosen = default_methods(datasets.lookup(dataset), options.bits) if methods is None else methods
    entries = tuple(one if isinstance(one, Entry) else parse_entry(one) for one in chosen)
    numbers = tuple(range(seeds) if isinstance(seeds, int) else seeds)  # a number counts them, as in a link
    return Comparison(dataset, entries, options, features, stream, drift, run, numbers, content)


def own_data_spec(dataset: str) -> DatasetSpec | None:
    """What is known of a file in the data folder, or of a plugin's data; None for data that ship or cannot be read."""
    spec = datasets.lookup(dataset)
    return spec if spec is not None and spec.group in ("folder", "plugin") and not spec.missing() else None


def default_methods(data: Dataset | DatasetSpec | None, bits: int = USUAL_BITS) -> tuple[str, ...]:
    """The methods that data are opened with, by what is similar in them; only those that have such codes of them.

    >>> "hcoh" in default_methods(datasets.lookup("digits")), "hcoh" in default_methods(None)
    (True, False)
    """
    similar_by = "" if data is None else data.similarities[0] if isinstance(data, Dataset) else data.similar_by
    usual = CLICK_METHODS if similar_by in CLICKS else LABEL_METHODS if similar_by == "label" else DEFAULT_METHODS
    return usual if data is None else _with_codes(usual, bits, data.d, data.metric)


def has_default_methods(comparison: Comparison) -> bool:
    """Whether the methods are those that some data are opened with: a usual list, or what of it suits all data."""
    texts = tuple(entry.text() for entry in comparison.entries)
    lists = DEFAULT_METHODS, LABEL_METHODS, CLICK_METHODS
    return any(texts in (usual, _with_codes(usual, comparison.options.bits, 1, "dot")) for usual in lists)


def has_codes(method: str, bits: int, d: int, metric: str) -> bool:
    """Whether a method has codes of so many bits for vectors with d columns in this distance; d = 0 is not known yet.

    >>> has_codes("pq", 64, 64, "l2"), has_codes("pq", 64, 2, "l2"), has_codes("pq", 64, 64, "dot")
    (True, False, False)
    """
    entry = Entry(method)
    model = entry.spec.params()
    try:
        if "r" in entry.spec.table:
            model = replace(model, r=max(1, bits // entry.T))
        entry.spec.check_data(model, d or bits, metric)
    except ValueError:
        return False
    return True


def _with_codes(methods: tuple[str, ...], bits: int, d: int, metric: str) -> tuple[str, ...]:
    return tuple(method for method in methods if has_codes(method, bits, d, metric))


def default_seeds(own: Dataset | DatasetSpec | None) -> tuple[int, ...]:
    """Three splits of own data unless they are large, because one seed decides little; one of the others.

    Of clicks it is three starts: later clicks judge, whatever the seed.
    """
    return (0, 1, 2) if own is not None and 0 < own.n * own.d <= SMALL else (0,)


def parse_entry(text: str) -> Entry:
    """An entry from "oh" or "oh:C=1:beta=0.4"; default values are dropped."""
    name, *pairs = text.split(":")
    spec = methods.find(name.strip())
    defaults = experiment("digits", spec.key).model
    values = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        if key not in spec.table or key == "seed":
            known = [key for key in spec.table if key != "seed"]
            raise unknown_parameter(spec.title, key, known)
        values[key] = replace(spec.table[key], default=None).parse(value[:60])
    kept = ((key, values[key]) for key in spec.table if key in values)
    return Entry(spec.key, tuple((key, value) for key, value in kept if key == "r" or value != getattr(defaults, key)))


def from_query(query: Mapping[str, str], limits: Limits | None = None) -> tuple[Comparison, list[str]]:
    """A comparison from a link, and messages about what was ignored or replaced."""
    problems: list[str] = []
    dataset = dataset_of(query, FIRST_DATASET, problems)
    values: Settings = {"content": content_of(query, dataset, problems)}
    values |= parse_values(_rows(dataset), query, problems)
    for key, most in _bounds(limits).items():
        if values.get(key, 0) > most:
            problems.append(f"{key} must be at most {most} on this server, got {values[key]}; using {most}")
            values[key] = most
    values["seeds"] = _parse_seeds(query.get("seeds", "1"), problems)
    usual = default_methods(datasets.lookup(dataset), values.get("bits", USUAL_BITS))
    entries = _parse_entries(query.get("methods", ""), limits, usual, problems)
    first_error = ""
    unshared = {key: values[key] for key in ("content", "seeds")}
    for kept, replacement in ((values, ""), (unshared, "the default shared settings")):
        try:
            comparison = build_comparison(dataset, entries, **kept)
        except ValueError as error:  # each value is valid, the combination is not
            first_error = first_error or str(error)
        else:
            return comparison, problems + ([f"{first_error}; using {replacement}"] if first_error else [])
    problems.append(f"{first_error}; using the defaults of everything")
    return build_comparison(dataset, content=values["content"]), problems


def rows_of(comparison: Comparison) -> dict[str, Parameter]:
    """The declared parameters that all methods share, by key, with the defaults of a comparison."""
    return _rows(comparison.dataset)


def _rows(dataset: str) -> dict[str, Parameter]:
    return {key: row for part in _parts(dataset) for key, row in table_with_defaults(part).items()}


def _parts(dataset: str) -> tuple[Any, ...]:
    run = RunParams(pairs=20_000, judged_by="test")
    return ComparisonOptions(), default_features(dataset), StreamParams(), DriftParams(), run


def _bounds(limits: Limits | None) -> dict[str, int]:
    return {} if limits is None else {"bits": limits.bits, "m": limits.m, "pairs": limits.pairs, "warm": limits.m}


def format_seeds(seeds: tuple[int, ...]) -> str:
    """Seeds in a link, as in TOML: a number is how many, from 0 on; a list names them, one of them with a comma.

    >>> format_seeds((0, 1, 2)), format_seeds((5,)), format_seeds((3, 1))
    ('3', '5,', '3,1')
    """
    if seeds == tuple(range(len(seeds))):
        return str(len(seeds))
    return ",".join(map(str, seeds)) + "," * (len(seeds) == 1)


def _parse_seeds(text: str, problems: list[str]) -> tuple[int, ...]:
    if text.strip().isdecimal():  # how many
        many = int(text.strip()[:6])
        if not 1 <= many <= MAX_SEEDS:
            problems.append(f"seeds must be 1 to {MAX_SEEDS}, or a list of them as 3,5, got {text[:20]}; using 1")
        return tuple(range(many)) if 1 <= many <= MAX_SEEDS else (0,)
    seeds: list[int] = []
    for part in text.removesuffix(",").split(",", MAX_SEEDS + 1):
        try:
            seed = replace(SEED, default=None).parse(part[:20])
        except ValueError as error:
            problems.append(f"{error}; left out")
            continue
        if seed not in seeds:
            seeds.append(seed)
    if len(seeds) > MAX_SEEDS:
        problems.append(f"seeds must be at most {MAX_SEEDS}, got more; using the first {MAX_SEEDS}")
    if not seeds:
        problems.append("no seed is left; using 0")
    return tuple(seeds[:MAX_SEEDS]) or (0,)


def _parse_entries(text: str, limits: Limits | None, usual: tuple[str, ...], problems: list[str]) -> tuple[Entry, ...]:
    entries: list[Entry] = []
    for part in text.split(",", 4 * MAX_METHODS)[: 4 * MAX_METHODS] if text else []:
        try:
            entry = parse_entry(part[:400])
        except ValueError as error:
            problems.append(f"method {part[:60]!r} is left out: {error}")
            continue
        bits = dict(entry.values).get("r", 1) * entry.T
        if limits is not None and bits > limits.bits:
            problem = f"T · r must be at most {limits.bits} bits on this server, got {bits}"
            problems.append(f"{problem} for {entry.method}; using its defaults")
            entry = Entry(entry.method)
        if entry in entries:
            problems.append(f"method {part[:60]!r} is listed twice; using it once")
        else:
            entries.append(entry)
    if len(entries) > MAX_METHODS:
        problems.append(f"methods must be at most {MAX_METHODS}, got {len(entries)}; using the first {MAX_METHODS}")
    if text and not entries:
        problems.append(f"no method is left; using {', '.join(usual)}")
    return tuple(entries[:MAX_METHODS]) or tuple(map(Entry, usual))


def _values_text(entry: Entry) -> str:
    rows = entry.spec.table
    texts = [f"{rows[key].symbol or rows[key].title} = {rows[key].format(value)}" for key, value in entry.values]
    return ", ".join(texts) or "default"
