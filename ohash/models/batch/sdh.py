"""SDH: supervised discrete hashing; bits from which a linear classifier predicts the labels, without relaxation.

minimise ||Y - BW||² + λ||W||² + ν (||B - ΦP||² + ρ||P||²) over bits B, classifier W and hash P, in turn:

- W = (BᵀB + λI)⁻¹BᵀY
- P = (ΦᵀΦ + ρI)⁻¹ΦᵀB
- every bit of B by cyclic coordinate descent, row by row.

Each step can only lower the objective. Φ is the mapped data, centred, with a constant; h(x) = sgn(Pᵀφ(x)).
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Floats
from ohash.core.parameters import Parameters, bits_param, param, precision_param, seed_param
from ohash.models import supervision as labels
from ohash.models.base import Check, HasherSpec
from ohash.models.linear import FittedHalfSpaces
from ohash.runtime import progress
from ohash.runtime.compile import kernel


@kernel
def update_bits(B: npt.NDArray[np.float64], Q: npt.NDArray[np.float64], A: npt.NDArray[np.float64], sweeps: int) -> int:
    """Minimise bᵀAb - 2 qᵀb over b in {-1, +1}^r for every row, in place; returns how many bits were flipped.

    Bit k becomes sgn(q_k - Σ_{j≠k} A_kj b_j), and stays where that is 0; at most `sweeps` rounds, or until none moves.
    """
    n, r = B.shape
    field = np.empty(r)
    flips = 0
    for i in range(n):
        b = B[i]
        for k in range(r):
            total = Q[i, k]
            for j in range(r):
                total -= A[k, j] * b[j]
            field[k] = total + A[k, k] * b[k]
        for _ in range(sweeps):
            moved = False
            for k in range(r):
                if field[k] * b[k] < 0:
                    b[k] = -b[k]
                    flips += 1
                    moved = True
                    change = 2.0 * b[k]
                    for j in range(r):
                        field[j] -= change * A[j, k]
                    field[k] += change * A[k, k]
            if not moved:
                break
    return flips


RIDGE = 1e-2  # ρ: keeps the hash defined where features repeat


@dataclass(frozen=True)
class SDHParams(Parameters):
    """Bits, weights, iterations, seed, precision."""

    r: int = bits_param()
    lambda_: float = param(
        1.0, symbol="λ", title="ridge of the classifier", lo=0, lo_open=True, hi=1e6, slider=(0.01, 100), scale="log",
        help="Weight of ||W||²; the paper uses 1.",
    )  # fmt: skip
    nu: float = param(
        1e-5, symbol="ν", title="weight of the hash", lo=0, hi=1e6, slider=(1e-7, 1), scale="log",
        help="How much the bits are kept predictable from x during the updates; the paper uses 1e-5.",
    )  # fmt: skip
    iterations: int = param(
        5, symbol="", title="iterations", lo=1, hi=1000, slider=(1, 20), step=1,
        help="Rounds of classifier, hash and bits; the paper uses 5.",
    )  # fmt: skip
    sweeps: int = param(
        10, symbol="", title="sweeps", lo=1, hi=1000, slider=(1, 20), step=1,
        help="Maximum number of passes over the bits of a point in one round.",
    )  # fmt: skip
    dtype: str = precision_param()
    seed: int = seed_param("Draws the first bits.")


def indicator(y: npt.ArrayLike | None, n: int, title: str) -> Floats:
    """Labels as a 0/1 matrix (n, classes).

    >>> indicator([7, 3, 7], 3, "SDH")
    array([[0., 1.],
           [1., 0.],
           [0., 1.]])
    """
    known, form = labels.check(y, n, labels.UNKNOWN, title)
    if form == labels.SINGLE:
        classes, at = np.unique(known, return_inverse=True)
        return np.asarray(np.eye(len(classes))[at])
    return known.astype(np.float64)


def objective(Y: Floats, B: Floats, W: Floats, hashed: Floats, P: Floats, lambda_: float, nu: float) -> float:
    """The objective of SDH; `hashed` is ΦP."""
    fit = np.square(Y - B @ W).sum() + lambda_ * np.square(W).sum()
    return float(fit + nu * (np.square(B - hashed).sum() + RIDGE * np.square(P).sum()))


class SDH(FittedHalfSpaces):
    """h = sgn(Pᵀ(x - mean) + p_0)."""

    key = "sdh"
    Params = SDHParams
    params: SDHParams

    def _setup(self) -> None:
        super()._setup()
        self.objective: Floats = np.empty(0)

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike | None) -> Self:
        """Fit from scratch; `objective` then holds its value after every step: W, P, B, W, P, B, ..."""
        p = self.params
        X = self._rows(X, "float64")
        Y = indicator(y, len(X), "SDH")
        mean = X.mean(axis=0)
        Phi = np.concatenate([X - mean, np.ones((len(X), 1))], axis=1)
        gram = Phi.T @ Phi + RIDGE * np.eye(Phi.shape[1])
        rng = np.random.default_rng(p.seed)
        B = rng.choice([-1.0, 1.0], size=(len(X), self.r))
        P = np.zeros((Phi.shape[1], self.r))
        hashed = np.zeros_like(B)
        values = []
        for step in range(p.iterations):
            W = np.linalg.solve(B.T @ B + p.lambda_ * np.eye(self.r), B.T @ Y)
            values.append(objective(Y, B, W, hashed, P, p.lambda_, p.nu))
            P = np.linalg.solve(gram, Phi.T @ B)
            hashed = Phi @ P
            values.append(objective(Y, B, W, hashed, P, p.lambda_, p.nu))
            flips = update_bits(B, Y @ W.T + p.nu * hashed, W @ W.T, p.sweeps)
            values.append(objective(Y, B, W, hashed, P, p.lambda_, p.nu))
            progress.report_step(step + 1, p.iterations)
            if not flips:
                break
        P = np.linalg.solve(gram, Phi.T @ B)
        self.objective = np.array(values)
        self._set_hash(P[:-1], mean, P[-1])
        return self


HASHER = HasherSpec(
    hasher=SDH,
    title="SDH",
    aliases=("supervised discrete hashing",),
    cite="Shen, Shen, Liu, Shen: Supervised discrete hashing, CVPR 2015",
    bibtex="""@inproceedings{shen2015supervised,
  title     = {Supervised Discrete Hashing},
  author    = {Shen, Fumin and Shen, Chunhua and Liu, Wei and Shen, Heng Tao},
  booktitle = {IEEE Conference on Computer Vision and Pattern Recognition},
  year      = {2015}
}""",
    supervision="labels",
    features="kernel",
    features_source="its non-linear embedding, an RBF map",
    features_place="the authors' program: bd622/DiscretHashing, demo_SDH.m, on 1,000 anchors of data of unit length",
    consumes="batch",
    differs="The anchors of the RBF kernel are those of the experiment's feature map, the same for every method "
    "(the paper: 1,000 anchors, sigma 0.4); without a kernel SDH is linear. Squared loss only, not the hinge variant. "
    "A bit whose two values have equal cost keeps its value.",
    checked=Check("the paper's three steps, bit by bit, in plain NumPy", "one fit", 1e-12),
)
