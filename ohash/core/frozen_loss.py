"""R and ℓ of a stream of pairs under the first W of a run, which never learns.

Its projections do not change, so they are computed once for all rows; a pair then costs O(r) instead of O(d r).
"""

import numpy as np

from ohash.core.arrays import Array, Counts, Floats, Rows, Signs
from ohash.core.flip_selection import MAX_SORTED
from ohash.runtime.compile import kernel


@kernel
def score_pairs(
    P: Array, i: Rows, j: Rows, s: Signs, alpha: int, br: float, largest: bool, D_h: Counts, R: Floats, loss: Floats
) -> None:
    """Fill D_h (the nearest model's), R (Eq. (28) over the T models) and l for projections P (n, T, r) less threshold.

    A similar pair counts its best model only, a dissimilar one counts all, as MMOH would update them. Algorithms 2 and
    3 are those of `flip_selection.select_flips`, but only the sum of the margins is needed here; they are written out,
    because a call with array arguments costs as much as the sum. Which of two tied bits is taken does not matter to it.
    """
    T, r = P.shape[1], P.shape[2]
    margins = np.empty(r + 1, P.dtype)
    ceil_br = int(np.ceil(br))
    sign = -1 if largest else 1
    zero = P.dtype.type(0)
    for t in range(i.shape[0]):
        similar = s[t] > 0
        row_i, row_j = P[np.uint64(i[t])], P[np.uint64(j[t])]
        nearest = r + 1
        total_R = total_loss = 0.0
        for m in range(T):
            D = 0
            for k in range(r):
                D += (row_i[m, k] >= 0) != (row_j[m, k] >= 0)
            if similar and D >= nearest:
                continue
            nearest = min(nearest, D)
            if similar:
                total_R = total_loss = 0.0  # this model is nearer than those before
            size = D if similar else r - D
            p0 = D - alpha if similar else ceil_br - D  # Eq. (17)
            R_m = float(p0) if similar else br - D  # Eq. (3)
            if R_m <= 0:
                continue
            if p0 == size:  # the whole pool: nothing to choose
                whole = 0.0
                for k in range(r):
                    u, v = row_i[m, k], row_j[m, k]
                    whole += min(abs(u), abs(v)) if ((u >= 0) != (v >= 0)) == similar else zero
                total_R += R_m
                total_loss += 2.0 * whole + np.sqrt(R_m)  # Eq. (6)
                continue
            place = 0
            for k in range(r):  # branch-free: which bits are in the pool is unpredictable
                u, v = row_i[m, k], row_j[m, k]
                margins[place] = sign * min(abs(u), abs(v))  # Eq. (19)
                place += ((u >= 0) != (v >= 0)) == similar
            if p0 > MAX_SORTED:
                lo, hi = 0, size - 1
                while lo < hi:  # quickselect: the p0 smallest to the front
                    value = margins[(lo + hi) // 2]
                    left, right = lo, hi
                    while left <= right:
                        while margins[left] < value:
                            left += 1
                        while margins[right] > value:
                            right -= 1
                        if left <= right:
                            margins[left], margins[right] = margins[right], margins[left]
                            left += 1
                            right -= 1
                    if p0 <= right:
                        hi = right
                    elif p0 > left:
                        lo = left
                    else:
                        break
            else:
                for q in range(size):  # a sorted list of the best so far
                    value = margins[q]
                    if q >= p0 and value >= margins[p0 - 1]:
                        continue
                    at = min(q, p0 - 1)
                    while at > 0 and margins[at - 1] > value:
                        margins[at] = margins[at - 1]
                        at -= 1
                    margins[at] = value
            margin = 0.0
            for q in range(p0):
                margin += margins[q]
            total_R += R_m
            total_loss += 2.0 * sign * margin + np.sqrt(R_m)  # Eq. (6)
        D_h[t], R[t], loss[t] = nearest, total_R, total_loss
