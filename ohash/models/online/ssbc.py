"""SSBC, streaming spectral binary coding: spectral hashing by random Fourier features and a sketch of them.

The Gaussian affinity is approximated by z(x)ᵀz(y), z(x) = sqrt(2/M) cos(Ωᵀx + b); the top right singular vectors of a
Frequent Directions sketch of all z are the projections (Ghashami and Abdullah, 2015).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Reals
from ohash.core.parameters import Parameters, bits_param, param, precision_param, seed_param
from ohash.models.base import HasherSpec
from ohash.models.online.sketching import SketchLearner


@dataclass(frozen=True)
class SSBCParams(Parameters):
    """The paper's values are not known; these are ours: M = 1024, 4 r rows, the mean distance of the warm-up."""

    r: int = bits_param()
    features: int = param(
        1024, symbol="M", title="Fourier features", lo=1, hi=65536, slider=(64, 4096), scale="log",
        help="Random Fourier features that approximate the Gaussian kernel: the error falls as 1/sqrt(M).",
    )  # fmt: skip
    width: float = param(
        0.0, symbol="σ", title="affinity width", lo=0, hi=1e6, slider=(0, 5), step=0.05,
        help="Width of the Gaussian affinity; 0 = the mean distance of the warm-up's points.",
    )  # fmt: skip
    rows: int = param(
        0, symbol="ℓ", title="rows of the sketch", lo=0, hi=16384, slider=(0, 1024), step=2,
        help="Rows the sketch keeps; 0 = 4 r. At least 2 r, at most 2 M are used.",
    )  # fmt: skip
    chunk: int = param(
        200, symbol="", title="points per chunk", lo=1, hi=100_000, slider=(10, 1000), scale="log",
        help="W is recomputed after this many points.",
    )  # fmt: skip
    centre: bool = param(
        True, symbol="", title="centre the features",
        help="Sketch the features about their running mean; otherwise the first bit is nearly constant.",
    )  # fmt: skip
    rotate: bool = param(
        False, symbol="", title="rotate", help="Rotate the directions at random, as OSH does. Not in the paper.",
    )  # fmt: skip
    dtype: str = precision_param()
    seed: int = seed_param("Draws the Fourier features.")


class SSBC(SketchLearner):
    """h = sgn(Vᵀ(z(x) - mean)); not linear in x."""

    key = "ssbc"
    Params = SSBCParams
    params: SSBCParams
    ARRAYS: ClassVar[tuple[str, ...]] = (*SketchLearner.ARRAYS, "_omega", "_phase", "_scale")

    def _sizes(self, d: int) -> tuple[int, int, int]:
        p = self.params
        rows = min(max(p.rows or 4 * p.r, 2 * p.r), 2 * p.features)
        return p.features, p.chunk, rows + rows % 2

    def _begin(self, d: int) -> None:
        M = self.params.features
        self._omega = self._rng.standard_normal((d, M)).astype(self.params.dtype)
        self._phase = self._rng.uniform(0, 2 * np.pi, M).astype(self.params.dtype)
        self._scale = np.array([self.params.width])
        super()._begin(d)

    def _prepare_centred(self, rows: Reals) -> None:
        if self.params.width == 0:
            squares = np.einsum("nd,nd->n", rows, rows)
            distances = np.sqrt(np.maximum(squares[:, None] + squares - 2 * rows @ rows.T, 0))
            self._scale[0] = distances.sum() / max(1, len(rows) * (len(rows) - 1)) or 1.0
        if self._centres:
            Z = self._map(rows.astype(self.params.dtype))
            self._middle = np.asarray(Z.mean(axis=0), np.float64)
        self._clock[-1] += 1

    def _check_labels(self, y: npt.ArrayLike | None, n: int) -> None:
        if self._scale[0] == 0:
            raise ValueError("width must be > 0, or call warm_up(X) with the first points to take it from them, got 0")

    @property
    def _centres(self) -> bool:
        return bool(self.params.centre)

    def _map(self, rows: Reals) -> Reals:
        """Random Fourier features; before the warm-up the width is taken as 1."""
        Z: Reals = rows @ self._omega
        Z /= self._scale.astype(Z.dtype)[0] or 1
        Z += self._phase
        np.cos(Z, out=Z)
        Z *= Z.dtype.type(np.sqrt(2 / self.params.features))
        return Z

    def _new_basis(self, V: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        if self.params.rotate:
            return super()._new_basis(V)
        return np.asarray(V * np.where(np.einsum("dq,dq->q", V, self._basis) < 0, -1.0, 1.0))


HASHER = HasherSpec(
    hasher=SSBC,
    title="SSBC",
    aliases=("streaming spectral binary coding", "binary coding in stream"),
    cite="Ghashami, Abdullah: Binary Coding in Stream, arXiv 1503.06271, 2015",
    bibtex="""@article{ghashami2015binary,
  title   = {Binary Coding in Stream},
  author  = {Ghashami, Mina and Abdullah, Amirali},
  journal = {arXiv preprint arXiv:1503.06271},
  year    = {2015}
}""",
    supervision="none",
    features="vectors",
    features_source="its random Fourier features are computed from the vectors",
    features_place="from its idea and abstract; the rest of the paper was not at hand, nor a program of the authors",
    consumes="chunks",
    linear=False,
    differs="Written from the idea of the paper; no program of the authors was found, and its sizes are not known "
    "here. Points are sketched in chunks, not one by one. Features are centred with their running mean: without it "
    "the first direction is nearly constant and its bit wasted. Signs of directions follow those before, so that "
    "flips mean something. Expect little: directions beyond the first few carry noise, and rotating them (an option) "
    "helps.",
)
