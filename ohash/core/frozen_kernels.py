"""The same pairs seen by a model that never learns: R and l of W frozen at its start.

Its projections do not change, so they are computed once for all rows; a pair then costs O(r) instead of O(d r).
"""

from typing import Any

import numpy as np

from ohash.core.compile import kernel
from ohash.core.kernels import choose


@kernel
def score_pairs(
    P: Any, i: Any, j: Any, s: Any, alpha: int, br: float, largest: bool, D_h: Any, R: Any, loss: Any
) -> None:
    """Fill D_h (the nearest model's), R (Eq. (28) over the T models) and l for projections P (n, T, r) less threshold.

    A similar pair counts its best model only, a dissimilar one counts all, as MMOH would update them.
    """
    T, r = P.shape[1], P.shape[2]
    delta, pool, on_i = np.empty(r, P.dtype), np.empty(r, np.int64), np.empty(r, np.bool_)
    ceil_br = int(np.ceil(br))
    for t in range(i.shape[0]):
        similar = s[t] > 0
        best, best_R, nearest = 0, np.inf, r
        total_R = total_loss = 0.0
        for m in range(T):
            p_i, p_j = P[i[t], m], P[j[t], m]
            D = 0
            for k in range(r):
                D += (p_i[k] >= 0) != (p_j[k] >= 0)
            nearest = min(nearest, D)
            R_m = max(0.0, D - alpha) if similar else max(0.0, br - D)  # Eq. (3)
            if similar:
                if R_m < best_R:
                    best, best_R = m, R_m
            elif R_m > 0:
                margin, _ = choose(p_i, p_j, s[t], ceil_br - D, largest, delta, pool, on_i)
                total_R += R_m
                total_loss += 2.0 * margin + np.sqrt(R_m)  # Eq. (6)
        if similar and best_R > 0:
            p_i, p_j = P[i[t], best], P[j[t], best]
            margin, _ = choose(p_i, p_j, s[t], int(best_R), largest, delta, pool, on_i)
            total_R, total_loss = best_R, 2.0 * margin + np.sqrt(best_R)
        D_h[t], R[t], loss[t] = nearest, total_R, total_loss
