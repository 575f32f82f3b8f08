"""A dataset in the plane: its two principal directions, from a seeded sample of rows."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.core.distance import unit
from ohash.core.rows import gather
from ohash.streams.base import Dataset
from ohash.streams.columns import Rows

MOST = 1_200
# Values looked at: beyond this many columns fewer rows must do.
VALUES = 2_000_000
# Subspace iteration: directions kept, and how often they are turned towards the data.
WIDTH, ITERATIONS = 12, 20

Reals = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Projection:
    """Rows of the dataset, their places (n, 2), and the share of the variance along each axis; `exact` if d <= 2."""

    rows: Rows
    xy: Reals
    explained: tuple[float, float]
    exact: bool


def project(dataset: Dataset, seed: int = 0) -> Projection:
    """Principal components; what has two columns already is shown as it is, and cosine data on the sphere.

    >>> from ohash.streams.registry import load
    >>> found = project(load("moons"))
    >>> found.xy.shape, found.exact
    ((1200, 2), True)
    """
    rows = sample_rows(dataset, min(MOST, max(50, VALUES // dataset.d)), seed)
    X = gather(dataset.X, rows).astype(np.float64)
    if not np.isfinite(X).all():
        raise ValueError(
            f"{dataset.title} must be finite to be drawn, got NaN or infinity; remove or impute those rows"
        )
    if dataset.metric == "cosine":
        X = unit(X).astype(np.float64)
    if dataset.d <= 2:
        spread = X.var(axis=0)
        share = spread / max(float(spread.sum()), 1e-300)
        return Projection(rows, np.pad(X, ((0, 0), (0, 2 - dataset.d))), _two(share), exact=True)
    X -= X.mean(axis=0)
    U, S = leading(X, seed)
    xy = U[:, :2] * S[:2]
    xy *= np.where(np.abs(xy.max(axis=0)) >= np.abs(xy.min(axis=0)), 1, -1)  # a component has no sign of its own
    return Projection(rows, xy, _two(S**2 / max(float((X**2).sum()), 1e-300)), exact=False)


def leading(X: Reals, seed: int = 0) -> tuple[Reals, Reals]:
    """The first left singular vectors and values, by subspace iteration: 20 times faster than a whole SVD.

    >>> X = np.random.default_rng(0).normal(size=(40, 30)) * np.r_[9.0, 5.0, np.ones(28)]
    >>> bool(np.allclose(leading(X)[1][:2], np.linalg.svd(X)[1][:2]))
    True
    """
    Q = np.random.default_rng([seed, 0x5BD]).normal(size=(X.shape[1], min(WIDTH, *X.shape)))
    for _ in range(ITERATIONS):
        Q = np.linalg.qr(X.T @ (X @ Q))[0]
    U, S, _ = np.linalg.svd(X @ Q, full_matrices=False)
    return U, S


def sample_rows(dataset: Dataset, most: int, seed: int = 0) -> Rows:
    """At most so many rows, sorted, the same for the same seed."""
    if dataset.n <= most:
        return np.arange(dataset.n)
    return np.sort(np.random.default_rng([seed, 0x9107]).choice(dataset.n, most, replace=False))


def _two(share: Reals) -> tuple[float, float]:
    first, second = [*share.tolist(), 0.0][:2]
    return first, second
