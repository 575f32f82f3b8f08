r"""Online Hashing in readable NumPy: Algorithm 1 is `update`, Algorithms 2 and 3 are `zero_loss_codes`.

Each line names its equation in the paper. `ohash.core.kernels` is the fast form of the same equations; what the paper
leaves open is decided in one place, the docstring of `ohash.core.codes`. `explain` takes one update apart.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Reals, Signs
from ohash.core.codes import TIE, ZERO, sgn

Vector = Reals
Matrix = Reals


def update(W: Matrix, x_i: Vector, x_j: Vector, s: int, *, alpha: int = 0, beta: float = 0.5, C: float = 0.1) -> Matrix:
    """Algorithm 1, one round: W (d, r) after learning the pair (x_i, x_j) with s = +1 (similar) or -1 (dissimilar).

    By hand: the codes of a dissimilar pair agree in all three bits, and should differ in β r = 1 of them, so R = 1. The
    smallest margin is 0.5, that of x_j in the second bit, so x_j is flipped there: ℓ = 2 · 0.5 + √1 = 2,
    ‖x (g - h)ᵀ‖² = 4 ‖x_j‖² = 16, τ = 2/16, and w_2 moves by -2 τ x_j = (-0.5, 0).

    >>> W = np.array([[1.0, 0.25, 1.0], [1.0, 0.0, 2.0]])
    >>> x_i, x_j = np.array([4.0, 1.0]), np.array([2.0, 0.0])
    >>> x_i @ W, x_j @ W
    (array([5., 1., 6.]), array([2. , 0.5, 2. ]))
    >>> update(W, x_i, x_j, -1, beta=1 / 3, C=1.0)
    array([[ 1.  , -0.25,  1.  ],
           [ 1.  ,  0.  ,  2.  ]])
    """
    br = dissimilar_threshold(beta, W.shape[1])
    p_i, p_j = project(W, x_i), project(W, x_j)
    h_i, h_j = sgn(p_i), sgn(p_j)  # Eq. (1)
    R = similarity_loss(int((h_i != h_j).sum()), s, alpha, br)  # Eq. (3)
    if R == 0:
        return W
    flips = zero_loss_codes(p_i, p_j, s, alpha, br)  # Algorithm 2 (s = -1) or 3 (s = +1)
    g_i, g_j = flips.g_i, flips.g_j
    loss = code_score(h_i, h_j, p_i, p_j) - code_score(g_i, g_j, p_i, p_j) + math.sqrt(R)  # Eq. (6)
    direction = np.outer(x_i, g_i - h_i) + np.outer(x_j, g_j - h_j)  # x (g - h)ᵀ
    norm2 = float((direction**2).sum())
    if norm2 == 0:  # degenerate: the flipped points are zero vectors
        return W
    tau = min(C, loss / norm2)  # Eq. (16)
    return W + tau * direction  # Eq. (10)


def project(W: Matrix, x: Vector) -> Vector:
    """Wᵀx, and exactly 0 where it is 0 up to rounding.

    >>> W, x = np.array([[0.1], [0.2], [-0.3]]), np.ones(3)
    >>> x @ W, project(W, x)
    (array([5.55111512e-17]), array([0.]))
    """
    p = W.T @ x
    return np.where(np.abs(p) <= _share(ZERO, p) * (np.abs(W).T @ np.abs(x)), p.dtype.type(0), p)


def _share(tolerance: dict[str, float], p: Vector) -> float:
    return tolerance["float32" if p.dtype == np.float32 else "float64"]


def dissimilar_threshold(beta: float, r: int) -> float:
    """``beta * r``, an exact integer when it is one up to rounding.

    >>> 0.55 * 100
    55.00000000000001
    >>> dissimilar_threshold(0.55, 100)
    55.0
    """
    br = beta * r
    return float(round(br)) if abs(br - round(br)) < 1e-9 else br


def similarity_loss(D_h: float, s: int, alpha: int, br: float) -> float:
    """R = max(0, D_h - alpha) for a similar pair, max(0, beta r - D_h) for a dissimilar one, Eq. (3).

    >>> similarity_loss(5, +1, alpha=2, br=4.0), similarity_loss(1, -1, alpha=0, br=2.5)
    (3.0, 1.5)
    """
    return float(max(0.0, D_h - alpha if s == 1 else br - D_h))


def code_score(c_i: Signs, c_j: Signs, p_i: Vector, p_j: Vector) -> float:
    """Fit of a code pair to the projections, c_i·p_i + c_j·p_j: H with c = h, Eq. (4), and G with c = g, Eq. (5)."""
    return float(c_i @ p_i.astype(np.float64) + c_j @ p_j.astype(np.float64))


@dataclass(frozen=True)
class Flips:
    """What Algorithms 2 and 3 flip to reach zero loss; `pool` is K_0 or K_1, `delta` its margins, Eq. (19)."""

    pool: npt.NDArray[np.int64]
    delta: npt.NDArray[np.float64]
    bits: npt.NDArray[np.int64]
    sides: tuple[str, ...]
    g_i: Signs
    g_j: Signs


def zero_loss_codes(p_i: Vector, p_j: Vector, s: int, alpha: int, br: float, *, largest: bool = False) -> Flips:
    """Algorithms 2 and 3: the code pair g with R(g) = 0 that is cheapest to reach, Eq. (17) to (20).

    `p_i`, `p_j` are the projections Wᵀx. `largest` takes the largest margins instead: an experiment, not the paper.

    >>> flips = zero_loss_codes(np.array([.5, 2., -1.]), np.array([-3., 1., .2]), +1, alpha=1, br=2.0)
    >>> flips.pool.tolist(), flips.delta.tolist(), flips.bits.tolist(), flips.sides
    ([0, 2], [0.5, 0.2], [2], ('j',))
    """
    h_i, h_j = sgn(p_i), sgn(p_j)
    differ = h_i != h_j
    D_h = int(differ.sum())
    pool = np.flatnonzero(differ if s == 1 else ~differ)  # K_1, K_0
    p0 = max(0, D_h - alpha if s == 1 else math.ceil(br) - D_h)  # Eq. (17)
    margin_i, margin_j = np.abs(p_i[pool]).astype(np.float64), np.abs(p_j[pool]).astype(np.float64)
    tie = _share(TIE, p_i)
    first = margin_i <= margin_j + tie * margin_j  # Eq. (20)
    delta = np.where(first, margin_i, margin_j)  # Eq. (19): h·p is |p|
    chosen = _smallest(-delta if largest else delta, p0, tie)
    bits, on_i = pool[chosen], first[chosen]
    g_i, g_j = h_i.copy(), h_j.copy()
    g_i[bits[on_i]] *= -1
    g_j[bits[~on_i]] *= -1
    return Flips(pool, delta, bits, tuple("i" if side else "j" for side in on_i), g_i, g_j)


def _smallest(delta: npt.NDArray[np.float64], p0: int, tie: float) -> npt.NDArray[np.int64]:
    """Positions of the p0 smallest; of those within a share `tie` of the p0-th smallest, the first.

    >>> _smallest(np.array([3.0, 1 + 1e-12, 0.5, 1.0]), 2, tie=1e-9)
    array([1, 2])
    """
    if p0 == 0:
        return np.arange(0)
    cut = np.sort(delta)[p0 - 1]
    margin = tie * abs(cut)
    chosen = delta < cut - margin
    level = np.flatnonzero(~chosen & (delta <= cut + margin))
    chosen[level[: p0 - chosen.sum()]] = True
    return np.flatnonzero(chosen)


@dataclass(frozen=True)
class PairStep:
    """Every quantity of one update of one model; vectors are per bit."""

    s: int
    alpha: int
    beta: float
    C: float
    p_i: Vector
    p_j: Vector
    h_i: Signs
    h_j: Signs
    D_h: int
    R: float
    flips: Flips
    H: float
    G: float
    sqrt_R: float
    loss: float
    norm2: float
    ratio: float
    tau: float
    updated: bool
    degenerate: bool
    columns: npt.NDArray[np.int64]
    h_i_after: Signs
    h_j_after: Signs
    R_after: float
    largest: bool  # whether the largest margins are flipped, in place of the smallest

    @property
    def g_i(self) -> Signs:
        """Zero-loss code of x_i."""
        return self.flips.g_i

    @property
    def g_j(self) -> Signs:
        """Zero-loss code of x_j."""
        return self.flips.g_j

    @property
    def p0(self) -> int:
        """Number of flipped bits."""
        return len(self.flips.bits)

    @property
    def tau_candidates(self) -> tuple[float, float]:
        """Both arguments of the minimum in Eq. (16): C and l/norm2."""
        return self.C, self.ratio


def explain(
    p_i: Vector,
    p_j: Vector,
    square_i: float,
    square_j: float,
    s: int,
    *,
    alpha: int,
    beta: float,
    C: float,
    selected: bool = True,
    largest: bool = False,
) -> PairStep:
    """Every quantity of one update, from the projections and the squared norms of x_i and x_j.

    `selected` is False for a model that MMOH does not update for this pair. `R_after` and the codes after the update
    are filled in by the model, which projects the same vectors again.
    """
    r = len(p_i)
    br = dissimilar_threshold(beta, r)
    h_i, h_j = sgn(p_i), sgn(p_j)
    D_h = int((h_i != h_j).sum())
    R = similarity_loss(D_h, s, alpha, br)  # Eq. (3)
    flips = zero_loss_codes(p_i, p_j, s, alpha, br, largest=largest)
    H = code_score(h_i, h_j, p_i, p_j)  # Eq. (4)
    G = code_score(flips.g_i, flips.g_j, p_i, p_j)  # Eq. (5)
    sqrt_R = math.sqrt(R)
    loss = H - G + sqrt_R  # Eq. (6)
    n_i = flips.sides.count("i")
    norm2 = 4 * (n_i * square_i + (len(flips.sides) - n_i) * square_j)  # ‖x (g - h)ᵀ‖²
    moves = selected and R > 0
    degenerate = moves and norm2 == 0
    updated = moves and not degenerate
    ratio = loss / norm2 if norm2 > 0 else math.inf if R > 0 else 0.0
    return PairStep(
        s=s, alpha=alpha, beta=beta, C=C, p_i=p_i, p_j=p_j, h_i=h_i, h_j=h_j, D_h=D_h, R=R, flips=flips, H=H, G=G,
        sqrt_R=sqrt_R, loss=loss, norm2=norm2, ratio=ratio, tau=min(C, ratio) if updated else 0.0,  # Eq. (16)
        updated=updated, degenerate=degenerate, columns=flips.bits if updated else flips.bits[:0],
        h_i_after=h_i, h_j_after=h_j, R_after=R, largest=largest,
    )  # fmt: skip
