r"""The live certificate of the loss.

Lemma 1 is algebra and holds for every U. At U = 0 the prediction loss is √R, and the inequality becomes an identity:

.. math:: \sum_t \tau_t (2 \ell_t - \tau_t n_t)
          = \|W^1\|_F^2 - \|W^{t+1}\|_F^2 + 2 \sum_t \tau_t \sqrt{R_t}, \qquad n_t = \|x_t (g_t - h_t)^T\|_F^2

The left side is accumulated from the steps, the right side is computed from the matrix, so their relative gap measures
the numerical health of a run. With F² the largest n_t so far, and where C ≥ √R_t / F² at every update, Eq. (25),
R_t ≤ F² τ_t ℓ_t, hence Σ R ≤ F² (right side): a bound of the loss that needs no U and no future.

Differs from the paper: Theorem 2 as printed is false, because its ℓ_U is not clipped at 0; `clipped_bound` is the
corrected form. Theorem 3 uses one U for all T models; corrected, the right sides of the models are added up.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.core import kernels
from ohash.core.arrays import Reals


@dataclass(frozen=True)
class Certificate:
    """Running sums of one model, or of T models added up; `W1_norm2` and `W_norm2` are read from the matrices."""

    sum_R: float
    sum_loss: float
    sum_decrease: float
    sum_tau_sqrt_R: float
    max_sqrt_R: float
    F2: float
    updates: int
    C_large_enough: int
    clipped: int
    degenerate: int
    sum_R_degenerate: float
    W1_norm2: float
    W_norm2: float

    @property
    def right_side(self) -> float:
        """‖W¹‖² - ‖W‖² + 2 Σ τ √R."""
        return self.W1_norm2 - self.W_norm2 + 2 * self.sum_tau_sqrt_R

    @property
    def gap(self) -> float:
        """Relative gap of the identity: about 1e-15 in float64; a float32 run shows its drift."""
        scale = max(self.W1_norm2, self.W_norm2, abs(self.sum_decrease))
        return abs(self.sum_decrease - self.right_side) / scale if scale > 0 else 0.0

    @property
    def required_C(self) -> float:
        """Largest √R so far over F²: the smallest C that Eq. (25) requires."""
        return self.max_sqrt_R / self.F2 if self.F2 > 0 else 0.0

    @property
    def share_C_large_enough(self) -> float:
        """Share of updates with C ≥ √R / F² at the time, for the C of that time."""
        return self.C_large_enough / self.updates if self.updates else 1.0

    @property
    def bound(self) -> float:
        """F² (right side): bounds `sum_R` less that of degenerate pairs, if `share_C_large_enough` is 1."""
        return self.F2 * self.right_side


def squared_norms(Wt: Reals) -> npt.NDArray[np.float64]:
    """‖W‖²_F of every model (T, r, d), summed in float64."""
    return np.array([np.vdot(W, W) for W in Wt.astype(np.float64)])


def certificates(sums: npt.NDArray[np.float64], W1_norm2: npt.NDArray[np.float64], Wt: Reals) -> list[Certificate]:
    """One certificate per model; ‖W‖² is computed from the matrix, or the check would be empty."""
    parts = []
    W_norm2 = squared_norms(Wt)
    for m in range(len(sums)):
        row = sums[m]
        parts.append(
            Certificate(
                sum_R=float(row[kernels.SUM_R]),
                sum_loss=float(row[kernels.SUM_LOSS]),
                sum_decrease=float(row[kernels.SUM_DECREASE]),
                sum_tau_sqrt_R=float(row[kernels.SUM_TAU_SQRT_R]),
                max_sqrt_R=float(row[kernels.MAX_SQRT_R]),
                F2=float(row[kernels.F2]),
                updates=int(row[kernels.N_UPDATES]),
                C_large_enough=int(row[kernels.N_C_LARGE_ENOUGH]),
                clipped=int(row[kernels.N_CLIPPED]),
                degenerate=int(row[kernels.N_DEGENERATE]),
                sum_R_degenerate=float(row[kernels.SUM_R_DEGENERATE]),
                W1_norm2=float(W1_norm2[m]),
                W_norm2=float(W_norm2[m]),
            )
        )
    return parts


def total(parts: list[Certificate]) -> Certificate:
    """The corrected Theorem 3: sums are added over the models, F² and √R are maxima."""
    return Certificate(
        sum_R=sum(p.sum_R for p in parts),
        sum_loss=sum(p.sum_loss for p in parts),
        sum_decrease=sum(p.sum_decrease for p in parts),
        sum_tau_sqrt_R=sum(p.sum_tau_sqrt_R for p in parts),
        max_sqrt_R=max(p.max_sqrt_R for p in parts),
        F2=max(p.F2 for p in parts),
        updates=sum(p.updates for p in parts),
        C_large_enough=sum(p.C_large_enough for p in parts),
        clipped=sum(p.clipped for p in parts),
        degenerate=sum(p.degenerate for p in parts),
        sum_R_degenerate=sum(p.sum_R_degenerate for p in parts),
        W1_norm2=sum(p.W1_norm2 for p in parts),
        W_norm2=sum(p.W_norm2 for p in parts),
    )


def clipped_bound(F2: float, C: float, distance2: float, losses_U: npt.ArrayLike) -> float:
    """Right side of Theorem 2 as corrected: F² (‖U - W¹‖² + 2 C Σ max(0, ℓ_U)), Eq. (27).

    >>> clipped_bound(2.0, 0.5, 3.0, [1.0, -4.0])
    8.0
    """
    return float(F2 * (distance2 + 2 * C * np.maximum(0.0, losses_U).sum()))
