"""Streams that move: what changes, when, and how the features or the meaning of "similar" look afterwards.

A drift divides the run into stages. Within a stage the world stands still; a gradual drift is a staircase of many small
stages. Stage k is a function of the seed alone, so a drifting run replays like any other.

- rotate, rotate-slowly: a random rotation of the feature space, at once or in `STEPS` steps.
- translate: every vector is shifted by one random vector, in units of the typical distance from the mean.
- prior: half of the classes become ten times rarer in the stream.
- redefine: similarity by superclass instead of by class (or by shuffled classes where none are declared).
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core.parameters import check, param
from ohash.streams.base import Dataset

KINDS = ("none", "rotate", "rotate-slowly", "translate", "prior", "redefine")
STEPS = 20
RARER = 10


@dataclass(frozen=True)
class DriftParams:
    """Which drift, when, how strong."""

    drift: str = param(
        "none", symbol="", title="drift", choices=KINDS, help="What changes in the world while the model learns.",
    )  # fmt: skip
    drift_at: int = param(
        10_000, symbol="t₀", title="drift at", lo=1, hi=10**9, slider=(100, 1_000_000), scale="log",
        help="The pair at which the world changes (or starts to).",
    )  # fmt: skip
    drift_size: float = param(
        1.0, symbol="", title="drift size", lo=0, hi=1, slider=(0, 1), step=0.05,
        help="1 turns the space by a full random rotation, or shifts it by the typical distance from the mean.",
    )  # fmt: skip

    def __post_init__(self) -> None:
        """Validate."""
        check(self)


@dataclass(frozen=True)
class Drift:
    """The stages of one drifting run on one dataset."""

    params: DriftParams
    seed: int

    @property
    def boundaries(self) -> tuple[int, ...]:
        """The pairs at which a new stage begins."""
        if self.params.drift == "none":
            return ()
        if self.params.drift == "rotate-slowly":
            step = max(1, self.params.drift_at // STEPS)
            return tuple(self.params.drift_at + k * step for k in range(STEPS))
        return (self.params.drift_at,)

    def stage(self, t: int) -> int:
        """The stage pair t lies in; 0 before the drift."""
        return sum(t >= boundary for boundary in self.boundaries)

    def features(self, X: npt.NDArray[Any], stage: int) -> npt.NDArray[Any]:
        """X as the world shows it in this stage."""
        kind = self.params.drift
        if stage == 0 or kind not in ("rotate", "rotate-slowly", "translate"):
            return X
        rng = np.random.default_rng([self.seed, 0xD21F7])
        d = X.shape[1]
        if kind == "translate":
            direction = rng.normal(size=d)
            spread = float(np.sqrt(X.astype(np.float64).var(axis=0).sum()))
            shift = direction / np.linalg.norm(direction) * spread * self.params.drift_size
            return np.asarray(X + shift, dtype=np.float32)
        share = self.params.drift_size * (stage / STEPS if kind == "rotate-slowly" else 1.0)
        return np.asarray(X.astype(np.float32) @ rotation(rng, d, share), dtype=np.float32)

    def labels(self, dataset: Dataset, stage: int) -> Dataset:
        """The dataset with the labels that count in this stage."""
        if stage == 0 or self.params.drift != "redefine":
            return dataset
        if dataset.labels is None or dataset.multi_label:
            raise ValueError(f"drift='redefine' needs one label a point, and {dataset.title} has none")
        if dataset.superclasses is not None:
            return replace(dataset, labels=dataset.superclasses)
        classes = int(dataset.labels.max()) + 1
        if classes < 3:
            raise ValueError(f"drift='redefine' joins classes in twos and needs 3, and {dataset.title} has {classes}")
        merged = np.random.default_rng([self.seed, 0xD21F7]).permutation(classes) // 2
        return replace(dataset, labels=merged[dataset.labels])

    def pool(self, dataset: Dataset, rows: npt.NDArray[np.int64], stage: int) -> npt.NDArray[np.int64]:
        """The rows the stream draws from in this stage; a prior shift thins out half of the classes."""
        if stage == 0 or self.params.drift != "prior":
            return rows
        if dataset.labels is None or dataset.multi_label:
            raise ValueError(f"drift='prior' needs one label a point, and {dataset.title} has none")
        rng = np.random.default_rng([self.seed, 0xD21F7])
        classes = np.unique(dataset.labels)
        rare = rng.permutation(classes)[: len(classes) // 2]
        keep = ~np.isin(dataset.labels[rows], rare) | (rng.random(len(rows)) < 1 / RARER)
        return rows[keep]


def rotation(rng: np.random.Generator, d: int, share: float) -> npt.NDArray[np.float32]:
    """A random rotation, `share` of the way from the identity: planes turned by share times their angle.

    >>> Q = rotation(np.random.default_rng(0), 6, 0.5)
    >>> bool(np.allclose(Q @ Q.T, np.eye(6), atol=1e-5))
    True
    """
    basis, _ = np.linalg.qr(rng.normal(size=(d, d)))
    angles = rng.uniform(-np.pi, np.pi, d // 2) * share
    turned = np.eye(d)
    for plane, angle in enumerate(angles):
        a, b = 2 * plane, 2 * plane + 1
        turned[a, a] = turned[b, b] = np.cos(angle)
        turned[a, b], turned[b, a] = -np.sin(angle), np.sin(angle)
    rotated: npt.NDArray[np.float32] = (basis @ turned @ basis.T).astype(np.float32)
    return rotated
