"""The fused kernel: one pass over a batch of pairs, strictly in order, for T models. OH is T = 1.

The same equations as `ohash.core.loss`, without allocation per pair. `Wt` is (T, r, d), W transposed: a projection
vector w_k is then contiguous, so a dot product vectorises, and an update writes only the columns it touches. Two pairs
are projected at a time, so that every w_k is read once for four points; where the first of them changes W, the bits it
changed are projected again for the second. Every floating-point sum is taken in an order that depends on d and r alone,
hence the same bits whatever the chunking.
"""

from collections.abc import Callable
from functools import cache

import numba
import numpy as np

from ohash.core.arrays import Counts, Flags, Floats, Reals, Rows, Signs
from ohash.core.flip_selection import select_flips
from ohash.core.pair_projection import aligned_rows, dot, project_groups, project_pair, settle_zeros
from ohash.runtime.compile import array_type, kernel_for

# Running sums kept per model, Σ over the pairs so far; columns of the float64 array `sums` (T, N_SUMS).
SUM_R = 0  # Eq. (3); for MMOH Eq. (28)
SUM_LOSS = 1  # Eq. (6)
SUM_DECREASE = 2  # tau (2 l - tau n), the left side of Lemma 1 at U = 0
SUM_TAU_SQRT_R = 3
MAX_SQRT_R = 4
F2 = 5  # running maximum of n = norm2
N_UPDATES = 6
N_C_LARGE_ENOUGH = 7  # updates with C >= sqrt(R) / F2 at the time, Eq. (25)
N_CLIPPED = 8  # updates with tau = C < l / n
N_DEGENERATE = 9
SUM_R_DEGENERATE = 10
N_SUMS = 11

# Centring of x before it meets W.
NONE, FROZEN, RUNNING, EMA = range(4)

# `clock` counts pairs, points in the mean, and changes of the hash (W, mean).
N_PAIRS, N_MEAN, VERSION = range(3)

# A projection is checked for being 0 up to rounding if its size is at most NEAR · zero times the mean size.
NEAR = 1e3

# W·mean is updated incrementally and recomputed every so many pairs, against accumulated rounding.
RESYNC = 4096


def _learn_pairs(
    Wt: Reals,  # (T, r, d) changed in place
    mean: Floats,  # (d,) float64, changed in place
    W_mean: Floats,  # (T, r) float64 = Wᵀ mean, kept in step
    clock: Counts,  # (3,) int64
    sums: Floats,  # (T, N_SUMS) float64
    bit_updates: Counts,  # (T, r) int64
    X: Reals,  # (n, d)
    i: Rows,
    j: Rows,
    s: Signs,
    alpha: int,
    br: float,
    C: float,
    largest: bool,
    rounds: int,
    centring: int,
    ema: float,
    tie: float,
    zero: float,
    D_h: Counts,  # from here on: (pairs, T) columns to fill
    R: Floats,
    loss: Floats,
    ratio: Floats,
    tau: Floats,
    norm2: Floats,
    p0: Counts,
    degenerate: Flags,
) -> int:
    """Learn every pair; return -1, or the position of the first pair whose projections or norms are not finite."""
    T, r, d = Wt.shape
    dtype = Wt.dtype
    n = i.shape[0]
    offset = centring >= RUNNING  # the mean moves after every pair: Wᵀx - Wᵀmean instead of Wᵀ(x - mean)
    x = aligned_rows(Wt, 4)  # i and j of two pairs
    P = np.empty((T, 4, r), dtype)
    wanted = np.empty((T, (r + 3) // 4), np.bool_)
    centred_i, centred_j = np.empty(d, dtype), np.empty(d, dtype)
    P_i, P_j = np.empty((T, r), dtype), np.empty((T, r), dtype)
    delta = np.empty(r, dtype)
    pool = np.empty(r, np.int64)
    on_i = np.empty(r, np.bool_)
    ceil_br = int(np.ceil(br))
    near_share = NEAR * zero / (2 * r)

    for t in range(n):
        similar = s[t] > 0
        if t % 2 == 0:
            after = min(t + 1, n - 1)
            row0, row1, row2, row3 = X[i[t]], X[j[t]], X[i[after]], X[j[after]]
            if centring == FROZEN:
                for c in range(d):
                    x[0, c] = row0[c] - mean[c]
                    x[1, c] = row1[c] - mean[c]
                    x[2, c] = row2[c] - mean[c]
                    x[3, c] = row3[c] - mean[c]
            else:
                for c in range(d):
                    x[0, c] = row0[c]
                    x[1, c] = row1[c]
                    x[2, c] = row2[c]
                    x[3, c] = row3[c]
            wanted[:] = True
        first = t % 2 * 2
        x_i, x_j = x[first], x[first + 1]

        best = 0
        for m in range(T):
            project_groups(Wt[m], x, wanted[m], P[m])
            wanted[m, :] = False
            p_i, p_j = P_i[m], P_j[m]
            raw_i, raw_j, shift = P[m, first], P[m, first + 1], W_mean[m]
            size = 0.0
            if offset:
                for k in range(r):
                    size += abs(raw_i[k]) + abs(raw_j[k])
                    p_i[k] = raw_i[k] - shift[k]
                    p_j[k] = raw_j[k] - shift[k]
            else:
                for k in range(r):
                    size += abs(raw_i[k]) + abs(raw_j[k])
                    p_i[k] = raw_i[k]
                    p_j[k] = raw_j[k]
            D = 0
            for k in range(r):
                D += (p_i[k] >= 0) != (p_j[k] >= 0)
            if not size < np.inf:
                return t
            near = dtype.type(size * near_share)
            n_near = 0
            for k in range(r):
                n_near += min(abs(p_i[k]), abs(p_j[k])) <= near
            if n_near > 0:
                D = settle_zeros(Wt[m], x_i, x_j, mean, offset, p_i, p_j, np.float64(near), zero)
            D_h[t, m] = D
            R[t, m] = max(0.0, D - alpha) if similar else max(0.0, br - D)  # Eq. (3)
            if R[t, m] < R[t, best]:
                best = m

        moved = False
        square_i = square_j = i_mean = j_mean = i_j = -1.0
        for m in range(T):
            if R[t, m] == 0 or (similar and m != best):
                continue
            sums[m, SUM_R] += R[t, m]  # Eq. (28)
            if square_i < 0:  # the first model that is updated
                if offset:
                    for c in range(d):
                        centred_i[c] = x_i[c] - mean[c]
                        centred_j[c] = x_j[c] - mean[c]
                    x_i, x_j = centred_i, centred_j
                square_i, square_j = dot(x_i, x_i), dot(x_j, x_j)
                if centring != NONE:
                    i_mean, j_mean, i_j = dot(x_i, mean), dot(x_j, mean), dot(x_i, x_j)
            D = D_h[t, m]
            R_now = R[t, m]
            for turn in range(rounds):
                bits = D - alpha if similar else ceil_br - D  # Eq. (17)
                total, n_i = select_flips(P_i[m], P_j[m], s[t], bits, largest, tie, delta, pool, on_i)
                n2 = 4.0 * (n_i * square_i + (bits - n_i) * square_j)
                root = np.sqrt(R_now)
                if n2 == 0.0:
                    if turn == 0:
                        degenerate[t, m] = True
                        sums[m, N_DEGENERATE] += 1
                        sums[m, SUM_R_DEGENERATE] += R_now
                    break
                if not n2 < np.inf:
                    return t
                ell = 2.0 * total + root  # Eq. (6)
                step = min(C, ell / n2)  # Eq. (16)
                if turn == 0:
                    loss[t, m], ratio[t, m], tau[t, m], norm2[t, m], p0[t, m] = ell, ell / n2, step, n2, bits
                    sums[m, SUM_LOSS] += ell
                    sums[m, N_UPDATES] += 1
                    sums[m, N_CLIPPED] += step < ell / n2
                sums[m, SUM_DECREASE] += step * (2.0 * ell - step * n2)
                sums[m, SUM_TAU_SQRT_R] += step * root
                sums[m, MAX_SQRT_R] = max(sums[m, MAX_SQRT_R], root)
                sums[m, F2] = max(sums[m, F2], n2)
                if turn == 0:
                    sums[m, N_C_LARGE_ENOUGH] += C * sums[m, F2] >= root  # Eq. (25)
                moved = True
                for q in range(bits):
                    k = pool[q]
                    bit_updates[m, k] += 1
                    wanted[m, k // 4] = True
                    h = 1.0 if (P_i[m, k] if on_i[k] else P_j[m, k]) >= 0 else -1.0
                    change = -2.0 * step * h  # Eq. (18)
                    factor = dtype.type(change)
                    w = Wt[m, k]
                    flipped = x_i if on_i[k] else x_j
                    for c in range(d):
                        w[c] += factor * flipped[c]
                    if centring != NONE:
                        W_mean[m, k] += change * (i_mean if on_i[k] else j_mean)
                        P_i[m, k] += change * (square_i if on_i[k] else i_j)
                        P_j[m, k] += change * (i_j if on_i[k] else square_j)
                if turn + 1 < rounds:
                    project_pair(Wt[m], x_i, x_j, P_i[m], P_j[m])
                    D = settle_zeros(Wt[m], x_i, x_j, mean, False, P_i[m], P_j[m], np.inf, zero)
                    R_now = max(0.0, D - alpha) if similar else max(0.0, br - D)
                    if R_now == 0:
                        break

        clock[N_PAIRS] += 1
        if centring >= RUNNING:
            n_mean = clock[N_MEAN]
            gain_i = ema if centring == EMA else 1.0 / (n_mean + 1)
            gain_j = ema if centring == EMA else 1.0 / (n_mean + 2)
            share_i = gain_i - gain_i * gain_j  # x_i, then x_j seen from the moved mean
            for c in range(d):
                mean[c] += share_i * (x[first, c] - mean[c]) + gain_j * (x[first + 1, c] - mean[c])
            for m in range(T):
                for k in range(r):
                    W_mean[m, k] += share_i * P_i[m, k] + gain_j * P_j[m, k]
            clock[N_MEAN] += 2
            moved = True
        clock[VERSION] += moved
        if centring != NONE and clock[N_PAIRS] % RESYNC == 0:
            for m in range(T):
                for k in range(r):
                    W_mean[m, k] = dot(Wt[m, k], mean)
    return -1


def _project(Wt: Reals, x: Reals, mean: Floats, W_mean: Floats, offset: bool, zero: float, p: Reals) -> None:
    project_groups(Wt, x, np.ones((Wt.shape[0] + 3) // 4, np.bool_), p)
    if offset:
        for point in range(4):
            for k in range(Wt.shape[0]):
                p[point, k] -= W_mean[k]
    settle_zeros(Wt, x[0], x[1], mean, offset, p[0], p[1], np.inf, zero)


@cache
def learn_pairs(dtype: str) -> Callable[..., int]:
    """The learning kernel for "float32" or "float64"; compiled at the first call on a machine, then read from disk."""
    real, f8, i8 = getattr(numba.types, dtype), numba.types.float64, numba.types.int64
    index = array_type(i8, 1, readonly=True)
    flag = numba.types.boolean
    signature = numba.types.int64(
        array_type(real, 3), array_type(f8, 1), array_type(f8, 2), array_type(i8, 1), array_type(f8, 2),
        array_type(i8, 2),
        array_type(real, 2, readonly=True), index, index, array_type(numba.types.int8, 1, readonly=True),
        i8, f8, f8, flag, i8, i8, f8, f8, f8,
        array_type(i8, 2), *[array_type(f8, 2)] * 5, array_type(i8, 2), array_type(flag, 2),
    )  # fmt: skip
    return kernel_for(signature, _learn_pairs)


@cache
def project(dtype: str) -> Callable[..., None]:
    """The projections of one pair, the first two of four points, exactly as the learning kernel computes them."""
    real, f8 = getattr(numba.types, dtype), numba.types.float64
    points = array_type(real, 2)
    mean = array_type(f8, 1)
    return kernel_for(numba.types.void(points, points, mean, mean, numba.types.boolean, f8, points), _project)
