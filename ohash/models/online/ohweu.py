"""OHWEU: hash functions that never change, and projections of their codes that learn (Weng, Zhu, AAAI 2020).

b(x) is a code by ITQ of the first points, stored once. A class has a random target g, and the projection of each bit is
moved so that b predicts it: p_k += t_k g_k b with t_k = min(C, 1 - g_k p_kᵀb / |b|²). The code is h = sgn(Pᵀb(x)): when
P moves, the codes of the database follow from the stored b, without the vectors.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Array, Counts, Floats, Reals
from ohash.core.pair_projection import dot
from ohash.core.parameters import Parameters, bits_param, param, precision_param, seed_param
from ohash.models import supervision as labels
from ohash.models.base import Check, HasherSpec
from ohash.models.batch.itq import principal_axes, quantise
from ohash.models.learners import PointLearner
from ohash.models.linear import Planes, read_only
from ohash.models.online.codewords import class_indices, new_classes
from ohash.models.quantizers.rotated import random_rotation
from ohash.runtime.compile import kernel
from ohash.runtime.threads import one_blas_thread

SALT = 0x0E1


@dataclass(frozen=True)
class OHWEUParams(Parameters):
    """The authors' values."""

    r: int = bits_param(slider=(8, 512), help="Length of a code, and of the fixed code it is made from.")
    C: float = param(
        0.1, symbol="C", title="largest step", lo=0, hi=1, lo_open=True, slider=(1e-3, 1), scale="log",
        help="Cap on a step towards the target.",
    )  # fmt: skip
    iterations: int = param(
        50, symbol="", title="iterations of ITQ", lo=0, hi=1000, slider=(0, 100), step=1,
        help="Rounds of ITQ on the points of the warm-up, whose hash functions stay.",
    )  # fmt: skip
    dtype: str = precision_param()
    seed: int = seed_param("Draws the first projections and the targets.")


@kernel
def learn_codes(Pt: Reals, bit_updates: Counts, clock: Counts, B: Reals, words: npt.NDArray[np.int8], C: float) -> None:
    """Move the projections, Pt (r, r), by codes B (n, r) of ±1 towards target words (n, r), in order."""
    r = Pt.shape[0]
    for t in range(B.shape[0]):
        b = B[t]
        for k in range(r):
            step = min(C, 1.0 - words[t, k] * dot(Pt[k], b) / r) * words[t, k]
            factor = Pt.dtype.type(step)
            for c in range(r):
                Pt[k, c] += factor * b[c]
            bit_updates[k] += 1
        clock[0] += 1
        clock[1] += 1


class OHWEU(PointLearner):
    """h = sgn(Pᵀb(x)), b(x) = sgn(Rᵀ(x - mean)) fixed by the warm-up; not linear in x."""

    key = "ohweu"
    Params = OHWEUParams
    params: OHWEUParams
    ARRAYS: ClassVar[tuple[str, ...]] = (*PointLearner.ARRAYS, "_axes", "_book", "_classes", "_form")

    @property
    def P(self) -> Reals:
        """The projections of fixed codes (r, r), a read-only view: bit k is sgn(p_kᵀb)."""
        self._need_start("P")
        return read_only(self._Wt.T)

    def _begin(self, d: int) -> None:
        first = self._rng.standard_normal((self.r, self.r)).T
        self._Wt = np.array(first / np.linalg.norm(first, axis=1, keepdims=True), self.params.dtype, order="C")
        self._axes = random_rotation(d, self.r, self._rng).astype(self.params.dtype)
        self._mean = np.zeros(d)
        self._bit_updates = np.zeros(self.r, np.int64)
        self._book: Floats = np.zeros((0, self.r))
        self._classes = np.zeros(0, np.int64)
        self._form = np.zeros(1, np.int64)

    def _prepare_centred(self, rows: Reals) -> None:
        """Fit the hash functions to the warm-up by ITQ."""
        rng = np.random.default_rng([SALT, self.params.seed])
        self._mean = np.asarray(rows.mean(axis=0), np.float64)
        centred: Floats = rows.astype(np.float64) - self._mean
        axes = principal_axes(centred, self.r, rng)
        with one_blas_thread():
            R, _ = quantise(centred @ axes, random_rotation(self.r, self.r, rng), self.params.iterations)
        self._axes = np.ascontiguousarray(axes @ R, dtype=self.params.dtype)
        self._clock[-1] += 1

    def _map(self, rows: Reals) -> Reals:
        """The fixed codes, ±1."""
        dtype = self._axes.dtype
        positive = (rows - self._mean.astype(dtype)) @ self._axes >= 0
        return np.asarray(np.where(positive, dtype.type(1), dtype.type(-1)))

    def _planes(self) -> Planes:
        return self._Wt[None], np.zeros((1, self.r))

    def _check_labels(self, y: npt.ArrayLike | None, n: int) -> Array:
        checked, self._form[0] = labels.check(y, n, int(self._form[0]), type(self).__name__)
        fresh = new_classes(self._classes, checked)
        if len(fresh):
            self._book = np.concatenate([self._book, *(self._direction(int(label)) for label in fresh)])
            self._classes = np.concatenate([self._classes, fresh])
        return checked

    def _direction(self, label: int) -> Floats:
        """What a class adds to the direction whose signs are a point's target, (1, r)."""
        return np.random.default_rng([SALT, self.params.seed, label % 2**64]).standard_normal((1, self.r))

    def _learn_block(self, rows: Reals, labels: Any) -> None:
        if labels.ndim == 1:
            directions, has = self._book[class_indices(self._classes, labels)], np.ones(len(labels), bool)
        else:
            directions, has = labels[:, self._classes].astype(np.float64) @ self._book, labels.any(axis=1)
        words = np.where(directions >= 0, 1, -1).astype(np.int8)
        learn_codes(self._Wt, self._bit_updates, self._clock, self._map(rows[has]), words[has], self.params.C)
        self._clock[0] += len(rows) - int(has.sum())  # nothing is learnt from a point without labels


HASHER = HasherSpec(
    hasher=OHWEU,
    title="OHWEU",
    aliases=("online hashing with efficient updating of binary codes",),
    cite="Weng, Zhu: Online Hashing with Efficient Updating of Binary Codes, AAAI 2020",
    bibtex="""@inproceedings{weng2020online,
  title     = {Online Hashing with Efficient Updating of Binary Codes},
  author    = {Weng, Zhenyu and Zhu, Yuesheng},
  booktitle = {AAAI Conference on Artificial Intelligence},
  year      = {2020}
}""",
    supervision="labels",
    features="vectors",
    features_source="ITQ of the centred vectors gives the fixed codes",
    features_place="the authors' program: zyweng2pku/online_hashing_with_effcient_updating, OHWEU.m",
    consumes="points",
    linear=False,
    differs="Written from the abstract and the authors' program; the text of the paper was not at hand. This is the "
    "program's symmetric form: queries and database share one projection. Its asymmetric form, which projects a query "
    "straight from its vector, is not here, because a method has one code per item. A class's target is drawn when it "
    "is first seen, where the program knows all classes from the start.",
    checked=Check("the symmetric steps of the authors' program, entry by entry", "60 points", 1e-12, "P agrees"),
)
