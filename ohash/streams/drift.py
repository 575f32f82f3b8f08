"""Drift: what changes in the world of a stream, when, and how features and similarity look afterwards.

A drift divides the run into stages. Within a stage nothing changes; a gradual drift is a sequence of many small
stages. Stage k is a function of the seed alone, so a drifting run replays like any other.

- rotate, rotate-slowly: a random rotation of the feature space, at once or in `STEPS` steps that take as long as the
  time before the drift.
- translate, translate-slowly: every vector is shifted by one random vector, in units of the typical distance from the
  mean.
- turn: each two columns, as the two of points in the plane, turn once around, by `drift_size` degrees per pair, in
  `TURN_STEPS` steps; the same for every seed, as in the playground.
- prior: half of the classes become ten times rarer in the stream.
- redefine: similarity by superclass instead of by class (where none are declared, by random pairs of classes).

Where vectors move, the items they describe stay the same: what was similar stays similar. Classes that arrive one
after another are not a drift but an order of the stream (`StreamParams.order`).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Numbers
from ohash.core.parameters import Parameters, param
from ohash.core.rows import gather
from ohash.streams.dataset import Dataset

KINDS = ("none", "rotate", "rotate-slowly", "translate", "translate-slowly", "turn", "prior", "redefine")
# These move the vectors; "prior" and "redefine" change the pairs.
MOVING = ("rotate", "rotate-slowly", "translate", "translate-slowly", "turn")
STEPS = 20
TURN_STEPS = 72
RARER = 10
# Multiplications per slice: about 10 ms, and few rows at a time of what may be a memory map of gigabytes.
SLICE = 2**28
# Rows on which the typical distance from the mean is measured.
SAMPLE = 20_000


@dataclass(frozen=True)
class DriftParams(Parameters):
    """Kind, time and size of a drift."""

    drift: str = param(
        "none", symbol="", title="drift", choices=KINDS, help="What changes in the world while the model learns.",
    )  # fmt: skip
    drift_at: int = param(
        10_000, symbol="t₀", title="start of drift", lo=1, hi=10**9, slider=(100, 1_000_000), scale="log",
        help="The pair at which the world changes (or starts to).", active_if=("drift", *KINDS[1:]),
    )  # fmt: skip
    drift_size: float = param(
        1.0, symbol="", title="drift size", lo=0, hi=1, slider=(0, 1), step=0.05,
        help="1 turns the space by a full random rotation, or shifts it by the typical distance from the mean. With "
        "turn: degrees per pair.",
        active_if=("drift", *MOVING),
    )  # fmt: skip

    @property
    def boundaries(self) -> tuple[int, ...]:
        """The pairs at which the world changes: a new stage begins there.

        >>> DriftParams("rotate", 500).boundaries, DriftParams("rotate-slowly", 500).boundaries[:3]
        ((500,), (500, 525, 550))
        """
        if self.drift == "none":
            return ()
        if self.drift == "turn":
            step = 360 / TURN_STEPS / self.drift_size if self.drift_size else math.inf
            return () if step == math.inf else tuple(self.drift_at + round(k * step) for k in range(TURN_STEPS))
        if self.drift.endswith("-slowly"):
            step = max(1, self.drift_at // STEPS)
            return tuple(self.drift_at + k * step for k in range(STEPS))
        return (self.drift_at,)


@dataclass(frozen=True)
class Drift:
    """The stages of a run under drift."""

    params: DriftParams
    seed: int

    @property
    def boundaries(self) -> tuple[int, ...]:
        """The pairs at which a new stage begins."""
        return self.params.boundaries

    def stage(self, t: int) -> int:
        """The stage pair t lies in; 0 before the drift."""
        return sum(t >= boundary for boundary in self.boundaries)

    def features(self, X: Numbers, stage: int) -> Numbers:
        """X as the world shows it in this stage."""
        if stage == 0 or self.params.drift not in MOVING:
            return X
        moved = np.empty(X.shape, np.float32)
        for _ in self.iter_features(X, stage, moved):
            pass
        return moved

    def iter_features(self, X: Numbers, stage: int, out: npt.NDArray[np.float32]) -> Iterator[None]:
        """Write X, as a stage >= 1 of a moving world shows it, to `out`; yields between slices."""
        kind, d = self.params.drift, X.shape[1]
        share = self.params.drift_size * (stage / STEPS if kind.endswith("-slowly") else 1.0)
        if kind.startswith("translate"):
            direction = np.random.default_rng([self.seed, 0xD21F7]).normal(size=d)
            shift = direction * (_spread(X) * share / np.linalg.norm(direction))
            block = max(1, SLICE // d)
            for start in range(0, len(X), block):
                out[start : start + block] = gather(X, slice(start, start + block)).astype(np.float32) + shift
                yield
            return
        turn = np.empty((d, d), np.float32)
        if kind == "turn":
            yield from _iter_turned(*_columns(d), stage / TURN_STEPS, turn)
        else:
            yield from _iter_turned(*_planes(self.seed, d), share, turn)
        block = max(1, SLICE // d**2)
        for start in range(0, len(X), block):
            out[start : start + block] = gather(X, slice(start, start + block)).astype(np.float32) @ turn
            yield

    def prepare(self, d: int) -> None:
        """Draw the planes of a rotation now: with many columns it takes long, and it cannot be done in slices."""
        if self.params.drift.startswith("rotate"):
            _planes(self.seed, d)

    def labels(self, dataset: Dataset, stage: int) -> Dataset:
        """The dataset with the labels that hold in this stage."""
        if stage == 0 or self.params.drift != "redefine":
            return dataset
        if dataset.labels is None or dataset.multi_label:
            raise ValueError(f"drift='redefine' needs one label per point, and {dataset.title} has none")
        if dataset.superclasses is not None:
            return replace(dataset, labels=dataset.superclasses)
        names, labels = np.unique(dataset.labels, return_inverse=True)
        if len(names) < 3:
            raise ValueError(
                f"drift='redefine' merges classes in pairs and needs 3, and {dataset.title} has {len(names)}"
            )
        merged = np.random.default_rng([self.seed, 0xD21F7]).permutation(len(names)) // 2
        return replace(dataset, labels=merged[labels])

    def pool(self, dataset: Dataset, rows: npt.NDArray[np.int64], stage: int) -> npt.NDArray[np.int64]:
        """The rows from which the stream draws in this stage; a prior shift makes half of the classes rare."""
        if stage == 0 or self.params.drift != "prior":
            return rows
        if dataset.labels is None or dataset.multi_label:
            raise ValueError(f"drift='prior' needs one label per point, and {dataset.title} has none")
        rng = np.random.default_rng([self.seed, 0xD21F7])
        classes = np.unique(dataset.labels)
        rare = rng.permutation(classes)[: len(classes) // 2]
        keep = ~np.isin(dataset.labels[rows], rare) | (rng.random(len(rows)) < 1 / RARER)
        return rows[keep]


def _draw_planes(rng: np.random.Generator, d: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """An orthonormal basis, whose columns 2k and 2k + 1 span a plane, and the angle each plane turns by."""
    basis, _ = np.linalg.qr(rng.normal(size=(d, d)))
    return basis, rng.uniform(-np.pi, np.pi, d // 2)


@lru_cache(maxsize=2)
def _planes(seed: int, d: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The planes of a seed, shared by the steps of a slow rotation."""
    return _draw_planes(np.random.default_rng([seed, 0xD21F7]), d)


def _columns(d: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The planes of each two columns, which all turn once around, from the first column to the second."""
    return np.eye(d), np.full(d // 2, -2 * np.pi)


def _iter_turned(
    basis: npt.NDArray[np.float64], angles: npt.NDArray[np.float64], share: float, out: npt.NDArray[np.float32]
) -> Iterator[None]:
    """Write the rotation by share times the angles to `out`; yields between slices."""
    turned = basis.copy()
    even, odd = basis[:, : 2 * len(angles) : 2], basis[:, 1 : 2 * len(angles) : 2]
    cos, sin = np.cos(share * angles), np.sin(share * angles)
    turned[:, : 2 * len(angles) : 2] = even * cos + odd * sin
    turned[:, 1 : 2 * len(angles) : 2] = odd * cos - even * sin
    block = max(1, SLICE // len(basis) ** 2)
    for start in range(0, len(basis), block):
        out[start : start + block] = turned[start : start + block] @ basis.T
        yield


def _spread(X: Numbers) -> float:
    """Root mean squared distance from the mean; of a large set, of a fixed sample of rows."""
    if len(X) > SAMPLE:
        X = gather(X, np.sort(np.random.default_rng(0).choice(len(X), SAMPLE, replace=False)))
    mean = X.mean(axis=0, dtype=np.float64)
    return float(np.sqrt(((X - mean) ** 2).sum() / len(X)))
