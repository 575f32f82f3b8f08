"""Streams that move: what changes, when, and how the features or the meaning of "similar" look afterwards.

A drift divides the run into stages. Within a stage the world stands still; a gradual drift is a staircase of many small
stages. Stage k is a function of the seed alone, so a drifting run replays like any other.

- rotate, rotate-slowly: a random rotation of the feature space, at once or in `STEPS` steps that take as long as the
  time before the drift.
- translate, translate-slowly: every vector is shifted by one random vector, in units of the typical distance from the
  mean.
- prior: half of the classes become ten times rarer in the stream.
- redefine: similarity by superclass instead of by class (where none are declared, by classes joined at random in twos).

Where vectors move, the things they describe stay the same: what was similar stays similar. Classes that arrive one
after another are an order of the stream (`StreamParams.order`), whatever the drift.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core.parameters import check, param
from ohash.streams.base import Dataset

KINDS = ("none", "rotate", "rotate-slowly", "translate", "translate-slowly", "prior", "redefine")
# Those that move the vectors; "prior" and "redefine" change the pairs.
MOVING = ("rotate", "rotate-slowly", "translate", "translate-slowly")
STEPS = 20
RARER = 10
# Rows moved at once: the vectors may be a memory map of gigabytes.
BLOCK = 65_536


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
        if self.params.drift.endswith("-slowly"):
            step = max(1, self.params.drift_at // STEPS)
            return tuple(self.params.drift_at + k * step for k in range(STEPS))
        return (self.params.drift_at,)

    def stage(self, t: int) -> int:
        """The stage pair t lies in; 0 before the drift."""
        return sum(t >= boundary for boundary in self.boundaries)

    def features(self, X: npt.NDArray[Any], stage: int, out: npt.NDArray[np.float32] | None = None) -> npt.NDArray[Any]:
        """X as the world shows it in this stage; what has moved is written to `out`, if given."""
        kind = self.params.drift
        if stage == 0 or kind not in MOVING:
            return X
        share = self.params.drift_size * (stage / STEPS if kind.endswith("-slowly") else 1.0)
        move = self._shift(X, share) if kind.startswith("translate") else self._turn(X.shape[1], share)
        moved = np.empty(X.shape, np.float32) if out is None else out
        for start in range(0, len(X), BLOCK):
            moved[start : start + BLOCK] = move(X[start : start + BLOCK].astype(np.float32))
        return moved

    def _turn(self, d: int, share: float) -> Callable[[npt.NDArray[np.float32]], npt.NDArray[Any]]:
        turned = _turned(*_planes(self.seed, d), share)
        return lambda rows: rows @ turned

    def _shift(self, X: npt.NDArray[Any], share: float) -> Callable[[npt.NDArray[np.float32]], npt.NDArray[Any]]:
        direction = np.random.default_rng([self.seed, 0xD21F7]).normal(size=(X.shape[1],))
        shift = direction * (_spread(X) * share / np.linalg.norm(direction))
        return lambda rows: rows + shift

    def labels(self, dataset: Dataset, stage: int) -> Dataset:
        """The dataset with the labels that count in this stage."""
        if stage == 0 or self.params.drift != "redefine":
            return dataset
        if dataset.labels is None or dataset.multi_label:
            raise ValueError(f"drift='redefine' needs one label a point, and {dataset.title} has none")
        if dataset.superclasses is not None:
            return replace(dataset, labels=dataset.superclasses)
        names, labels = np.unique(dataset.labels, return_inverse=True)
        if len(names) < 3:
            raise ValueError(
                f"drift='redefine' joins classes in twos and needs 3, and {dataset.title} has {len(names)}"
            )
        merged = np.random.default_rng([self.seed, 0xD21F7]).permutation(len(names)) // 2
        return replace(dataset, labels=merged[labels])

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
    return _turned(*_draw_planes(rng, d), share)


def _draw_planes(rng: np.random.Generator, d: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """An orthonormal basis, whose columns 2k and 2k + 1 span a plane, and the angle each plane turns by."""
    basis, _ = np.linalg.qr(rng.normal(size=(d, d)))
    return basis, rng.uniform(-np.pi, np.pi, d // 2)


@lru_cache(maxsize=2)
def _planes(seed: int, d: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The planes of a seed; the steps of a slow rotation share them."""
    return _draw_planes(np.random.default_rng([seed, 0xD21F7]), d)


def _turned(basis: npt.NDArray[np.float64], angles: npt.NDArray[np.float64], share: float) -> npt.NDArray[np.float32]:
    turned = basis.copy()
    even, odd = basis[:, : 2 * len(angles) : 2], basis[:, 1 : 2 * len(angles) : 2]
    cos, sin = np.cos(share * angles), np.sin(share * angles)
    turned[:, : 2 * len(angles) : 2] = even * cos + odd * sin
    turned[:, 1 : 2 * len(angles) : 2] = odd * cos - even * sin
    rotated: npt.NDArray[np.float32] = (turned @ basis.T).astype(np.float32)
    return rotated


def _spread(X: npt.NDArray[Any]) -> float:
    """Root mean squared distance from the mean, in two passes over blocks of rows."""
    blocks = [slice(start, start + BLOCK) for start in range(0, len(X), BLOCK)]
    mean = np.sum([X[block].sum(axis=0, dtype=np.float64) for block in blocks], axis=0) / len(X)
    squares = sum(float(((X[block] - mean) ** 2).sum()) for block in blocks)
    return float(np.sqrt(squares / len(X)))
