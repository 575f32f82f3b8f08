"""Snapshot: all a viewer needs to draw a run at one moment, whole and immutable."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ohash.experiment.history import moving_mean
from ohash.experiment.observer import TOTALS
from ohash.experiment.observer_kernels import CLIPPED, UPDATED
from ohash.experiment.params import ExperimentParams
from ohash.experiment.size import bits_of, bytes_of

if TYPE_CHECKING:
    from ohash.experiment.run import Run

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
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
    extra: dict[str, Any] = field(default_factory=dict)
    alarms: dict[str, tuple[int, ...]] = field(default_factory=dict)
    class_map: Floats = field(default_factory=lambda: np.empty((0, 0)))
    bit_ones: Floats = field(default_factory=lambda: np.empty((0, 0)))


def take(run: "Run", state: str, *, seq: int = 0, error: str = "", extra: dict[str, Any] | None = None) -> Snapshot:
    """The run as it is now."""
    checkpoints = run.appraisal.judged.snapshot()
    checkpoints |= {f"{name}_mean": moving_mean(checkpoints[name]) for name in ("map", "recall_10")}
    observer = run.history
    numbers = {name: float(column[-1]) for name, column in checkpoints.items() if len(column) and name != "pairs"}
    for name in ("map", "recall_10"):
        if len(checkpoints[name]):
            numbers[f"{name}_start"] = float(checkpoints[name][0])
    recent = observer.recent
    outcome = recent["outcome"]
    moved = int(outcome[UPDATED] + outcome[CLIPPED])
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
    }
    if run.done:
        numbers |= run.appraisal.code_numbers()
    if run.appraisal.map_float is not None:
        numbers["map_float"] = run.appraisal.map_float
    learns = hasattr(run.hasher, "bit_updates")
    T, r = getattr(run.hasher, "T", 1), run.hasher.r
    updates = np.array(run.hasher.bit_updates) if learns else np.zeros((T, r), np.int64)
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
        similar_by=run.appraisal.judge.name,
        database_seen=run.world.parts.database_seen,
        notes=tuple(run.notes),
        seq=seq,
        error=error,
        extra=extra or {},
        alarms=observer.watch.alarms,
        class_map=run.appraisal.class_map,
        bit_ones=run.appraisal.bit_ones,
    )
