"""Snapshot: all a viewer needs to draw a run at one moment, whole and immutable.

As a frame, plain values and arrays, it travels between processes and is stored. Values hold the parameters, the final
numbers and the environment; arrays hold the curves ("columns/...", "checkpoints/..."), the histograms ("recent/...",
"totals/...") and what else a picture of the run needs.
"""

from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Floats
from ohash.core.parameters import Parameters
from ohash.engine.checkpoints import Checkpoints
from ohash.engine.history import moving_mean
from ohash.engine.judge import TRUTH_SCORES, truth_column
from ohash.engine.observer import CLIPPED, TOTALS, UPDATED, Observer
from ohash.engine.params import ExperimentParams, from_json
from ohash.engine.state import RunState
from ohash.models import registry
from ohash.models.base import LinearHasher, OnlineHasher
from ohash.models.online.oh_params import OHParams
from ohash.repr_html import card_html, curves_html
from ohash.runtime.environment import environment
from ohash.runtime.frames import Arrays, Frame, JsonObject


def bits_of(hasher: OnlineHasher) -> int:
    """Total bits: T · r, plus what is stored with the code."""
    return int(getattr(hasher, "T", 1)) * int(hasher.r) + 8 * _extra_bytes(hasher)


def bytes_of(hasher: OnlineHasher) -> int:
    """Bytes: every code fills whole ones."""
    return int(getattr(hasher, "T", 1)) * -(-int(hasher.r) // 8) + _extra_bytes(hasher)


def _extra_bytes(hasher: OnlineHasher) -> int:
    return int(getattr(hasher, "extra_bytes", 0))


@dataclass(frozen=True, eq=False, repr=False)
class Snapshot:
    """Pair count, state, columns of the history, checkpoints, histograms of the recent pairs, and single numbers.

    `database_seen` says whether the searched items were trained on; `notes` are what a reader of the numbers must know.
    `alarms` are the pairs at which each drift alarm went off, `class_map` is mAP by checkpoint and class,
    `bit_ones` the share of ones by model and bit in the codes judged last (empty before that).
    """

    t: int
    state: str
    params: ExperimentParams
    columns: dict[str, Floats]
    checkpoints: dict[str, Floats]
    recent: dict[str, npt.NDArray[np.int64]]
    totals: dict[str, npt.NDArray[np.int64]]
    bit_updates: npt.NDArray[np.int64]
    selections: npt.NDArray[np.int64]
    numbers: dict[str, float]
    similar_by: str
    database_seen: bool
    notes: tuple[str, ...] = ()
    seq: int = 0
    error: str = ""
    extra: JsonObject = field(default_factory=dict)
    alarms: dict[str, tuple[int, ...]] = field(default_factory=dict)
    class_map: Floats = field(default_factory=lambda: np.empty((0, 0)))
    bit_ones: Floats = field(default_factory=lambda: np.empty((0, 0)))

    def model_at(self, t: int) -> Parameters:
        """The model's parameters in force for pair t, with C as a number where the warm-up chose it."""
        model = self.params.model_at(t)
        chosen = self.numbers.get("auto_C")
        return replace(model, C=chosen) if chosen is not None and not cast(OHParams, model).C else model

    def __repr__(self) -> str:
        """One line, without the columns."""
        truth = truth_column(self.similar_by)
        score = f"{TRUTH_SCORES[truth]} {self.numbers.get(truth, float('nan')):.3f}"
        where = f"{self.params.method} on {self.params.dataset}"
        return f"Snapshot({where}, {self.t:,} pairs, {self.state}, {score})"

    def _repr_html_(self) -> str:
        """Both truths over the pairs, and the final numbers."""
        n, x, truth = self.numbers, self.checkpoints["pairs"], truth_column(self.similar_by)
        names = {
            truth: f"{TRUTH_SCORES[truth]} (agreement with labels or pairs)",
            "recall_10": "recall@10 (agreement with the original distance)",
        }
        curves = {name: (x, self.checkpoints[key]) for key, name in names.items() if key in self.checkpoints}
        headline = {TRUTH_SCORES[truth]: n.get(truth), "recall@10": n.get("recall_10"), "pair AUC": n.get("auc")}
        scores = " · ".join(f"{name} {value:.3f}" for name, value in headline.items() if value and np.isfinite(value))
        title = f"{registry.find(self.params.method).title} on {self.params.dataset}"
        facts = [f"{self.t:,} pairs, {self.state}", scores, *self.notes]
        return card_html(title, facts, curves_html(f"scores over {self.t:,} pairs", curves))


def snapshot_of(
    run: RunState,
    evaluated: Checkpoints,
    observer: Observer,
    state: str,
    *,
    done: bool,
    notes: list[str],
    seq: int = 0,
    error: str = "",
    extra: JsonObject | None = None,
) -> Snapshot:
    """The run as it is now."""
    checkpoints = evaluated.scores.snapshot()
    checkpoints |= {f"{name}_mean": moving_mean(checkpoints[name]) for name in ("map", "recall_10")}
    numbers = {name: float(column[-1]) for name, column in checkpoints.items() if len(column) and name != "pairs"}
    for name in ("map", "recall_10", "hit_10"):
        if len(checkpoints[name]):
            numbers[f"{name}_start"] = float(checkpoints[name][0])
    recent = observer.recent
    outcome = recent["outcome"]
    moved = int(outcome[UPDATED] + outcome[CLIPPED])
    again = run.world.repetition
    numbers |= {
        **{name: observer.total(name) for name in TOTALS},
        **run.clock.seconds,
        "auc": observer.auc,
        "end": float(run.end),
        "update_rate": moved / max(1, int(outcome.sum())),
        "clipped_rate": int(outcome[CLIPPED]) / max(1, moved),
        "bits": float(bits_of(run.hasher)),
        "bytes": float(bytes_of(run.hasher)),
        "warm_up_pairs": float(run.world.consumed),
        "similar_share": run.world.stream(run.stage).similar_share,
        "mean_kernel": run.world.feature_map.mean_kernel,
        "sigma": run.world.feature_map.sigma,
        "same_vector": again.most_frequent,
        "zero_vectors": again.zero,
        "repeated_vectors": again.repeated,
        "queries": float(len(evaluated.judge.queries)),
    }
    if run.auto_C is not None:
        numbers["auto_C"] = run.auto_C
    if done:
        numbers |= evaluated.code_numbers() | evaluated.test_scores
    if evaluated.last_record is not None:
        numbers["map_chance"] = float(np.mean(evaluated.last_record.n_relevant)) / len(evaluated.judge.database)
        numbers |= {
            f"{name}_chance": value for name, value in evaluated.judge.chance_of_clicks.items() if name != "map"
        }
    if evaluated.map_float is not None:
        numbers["map_float"] = evaluated.map_float
    learns = hasattr(run.hasher, "bit_updates")
    T, r = getattr(run.hasher, "T", 1), run.hasher.r
    updates = np.array(cast(LinearHasher, run.hasher).bit_updates) if learns else np.zeros((T, r), np.int64)
    certificates = getattr(run.hasher, "certificates", [])
    return Snapshot(
        t=run.t,
        state=state,
        params=run.params,
        columns=observer.columns.snapshot(),
        checkpoints=checkpoints,
        recent=recent,
        totals={"ratio": observer.all_ratio.copy(), "tau": observer.all_tau.copy()},
        bit_updates=updates,
        selections=np.array([c.updates for c in certificates], np.int64),
        numbers=numbers,
        similar_by=evaluated.judge.name,
        database_seen=run.world.parts.database_seen,
        notes=tuple(notes),
        seq=seq,
        error=error,
        extra=extra or {},
        alarms=observer.drift_monitor.alarms,
        class_map=evaluated.class_map,
        bit_ones=evaluated.bit_ones,
    )


GROUPS = ("columns", "checkpoints", "recent", "totals")
SINGLE = ("bit_updates", "selections", "class_map")
PLAIN = ("t", "state", "similar_by", "database_seen", "error")


def to_frame(now: Snapshot, more: JsonObject | None = None, arrays: Arrays | None = None) -> Frame:
    """A picture as values and arrays; `more` values and arrays go with it."""
    values: JsonObject = {name: getattr(now, name) for name in PLAIN}
    values |= {
        "params": now.params.to_json(),
        "numbers": {name: float(value) for name, value in now.numbers.items()},
        "notes": list(now.notes),
        "alarms": {name: list(pairs) for name, pairs in now.alarms.items()},
        "environment": environment(),
        **plugin_values(now.params),
        **(more or {}),
    }
    columns: Arrays = {f"{group}/{name}": column for group in GROUPS for name, column in getattr(now, group).items()}
    columns |= {name: getattr(now, name) for name in SINGLE}
    return values, columns | (arrays or {})


def plugin_values(params: ExperimentParams) -> dict[str, dict[str, str]]:
    """Which version of which file the method and the data set come from, if they come from plugins."""
    versions = {
        "plugin": registry.plugin_version(params.method), "data_plugin": registry.data_plugin_version(params.dataset)
    }  # fmt: skip
    return {name: {"file": one.file, "fingerprint": one.fingerprint} for name, one in versions.items() if one}


def to_snapshot(values: JsonObject, arrays: Arrays) -> Snapshot:
    """The inverse of `to_frame`; what is not there is empty."""
    groups: JsonObject = {group: {} for group in GROUPS}
    for name, array in arrays.items():
        group, _, key = name.partition("/")
        if group in groups:
            groups[group][key] = array
    empty = {"bit_updates": (1, 0), "selections": (0,), "class_map": (0, 0)}
    single: JsonObject = {name: arrays.get(name, np.zeros(shape, np.int64)) for name, shape in empty.items()}
    for group in ("columns", "checkpoints"):
        groups[group].setdefault("pairs", np.empty(0))
    return Snapshot(
        params=from_json(values["params"]),
        numbers=dict(values["numbers"]),
        notes=tuple(values["notes"]),
        alarms={name: tuple(pairs) for name, pairs in values.get("alarms", {}).items()},
        **{name: values[name] for name in PLAIN},
        **groups,
        **single,
    )
