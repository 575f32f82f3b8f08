"""Wᵀx within a kernel: of two points or of four at a time, in an order of sums that depends on d and r alone."""

import numpy as np

from ohash.core.arrays import Flags, Floats, Reals
from ohash.runtime.compile import ALIGNMENT, inline


@inline
def project_pair(Wt: Reals, x_i: Reals, x_j: Reals, p_i: Reals, p_j: Reals) -> None:
    """Wᵀx of both points, four bits at a time: eight accumulators share the loads of x_i and x_j."""
    r, d = Wt.shape
    zero = Wt.dtype.type(0)
    k = 0
    while k + 4 <= r:
        w0, w1, w2, w3 = Wt[k], Wt[k + 1], Wt[k + 2], Wt[k + 3]
        a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = zero
        for c in range(d):
            u, v = x_i[c], x_j[c]
            a0 += w0[c] * u
            b0 += w0[c] * v
            a1 += w1[c] * u
            b1 += w1[c] * v
            a2 += w2[c] * u
            b2 += w2[c] * v
            a3 += w3[c] * u
            b3 += w3[c] * v
        p_i[k], p_i[k + 1], p_i[k + 2], p_i[k + 3] = a0, a1, a2, a3
        p_j[k], p_j[k + 1], p_j[k + 2], p_j[k + 3] = b0, b1, b2, b3
        k += 4
    while k < r:
        w0 = Wt[k]
        a0 = b0 = zero
        for c in range(d):
            a0 += w0[c] * x_i[c]
            b0 += w0[c] * x_j[c]
        p_i[k], p_j[k] = a0, b0
        k += 1


@inline
def aligned_rows(like: Reals, n: int) -> Reals:
    """An empty (n, d) array of the dtype of (T, r, d), on a cache line."""
    d, itemsize = like.shape[2], like.itemsize
    buffer = np.empty(n * d + ALIGNMENT // itemsize, like.dtype)
    start = -buffer.ctypes.data % ALIGNMENT // itemsize
    return buffer[start : start + n * d].reshape(n, d)


@inline
def project_groups(Wt: Reals, x: Reals, wanted: Flags, p: Reals) -> None:
    """Wᵀx of four points (4, d) into p (4, r), for every `wanted` group of four bits: sixteen accumulators."""
    r, d = Wt.shape
    zero = Wt.dtype.type(0)
    x0, x1, x2, x3 = x[0], x[1], x[2], x[3]
    p0, p1, p2, p3 = p[0], p[1], p[2], p[3]
    for group in range(wanted.shape[0]):
        if not wanted[group]:
            continue
        k = 4 * group
        if k + 4 <= r:
            w0, w1, w2, w3 = Wt[k], Wt[k + 1], Wt[k + 2], Wt[k + 3]
            a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = zero
            e0 = e1 = e2 = e3 = f0 = f1 = f2 = f3 = zero
            for c in range(d):
                u0, u1, u2, u3 = x0[c], x1[c], x2[c], x3[c]
                v0, v1, v2, v3 = w0[c], w1[c], w2[c], w3[c]
                a0 += v0 * u0
                a1 += v0 * u1
                a2 += v0 * u2
                a3 += v0 * u3
                b0 += v1 * u0
                b1 += v1 * u1
                b2 += v1 * u2
                b3 += v1 * u3
                e0 += v2 * u0
                e1 += v2 * u1
                e2 += v2 * u2
                e3 += v2 * u3
                f0 += v3 * u0
                f1 += v3 * u1
                f2 += v3 * u2
                f3 += v3 * u3
            p0[k], p0[k + 1], p0[k + 2], p0[k + 3] = a0, b0, e0, f0
            p1[k], p1[k + 1], p1[k + 2], p1[k + 3] = a1, b1, e1, f1
            p2[k], p2[k + 1], p2[k + 2], p2[k + 3] = a2, b2, e2, f2
            p3[k], p3[k + 1], p3[k + 2], p3[k + 3] = a3, b3, e3, f3
            continue
        while k < r:
            w0 = Wt[k]
            a0 = a1 = a2 = a3 = zero
            for c in range(d):
                a0 += w0[c] * x0[c]
                a1 += w0[c] * x1[c]
                a2 += w0[c] * x2[c]
                a3 += w0[c] * x3[c]
            p0[k], p1[k], p2[k], p3[k] = a0, a1, a2, a3
            k += 1


@inline
def settle_zeros(
    Wt: Reals, x_i: Reals, x_j: Reals, mean: Floats, offset: bool, p_i: Reals, p_j: Reals, near: float, zero: float
) -> int:
    """Set projections that are 0 up to rounding to 0, looking only at those within `near` of it; return D_h.

    With an `offset` the projections are Wᵀx - Wᵀmean, so that both parts were rounded.
    """
    for x, p in ((x_i, p_i), (x_j, p_j)):
        for k in range(p.shape[0]):
            if abs(p[k]) <= near:
                scale = 0.0
                for c in range(x.shape[0]):
                    scale += abs(np.float64(Wt[k, c]) * np.float64(x[c]))
                if offset:
                    for c in range(x.shape[0]):
                        scale += abs(np.float64(Wt[k, c]) * mean[c])
                if abs(p[k]) <= zero * scale:
                    p[k] = 0
    D = 0
    for k in range(p_i.shape[0]):
        D += (p_i[k] >= 0) != (p_j[k] >= 0)
    return D


@inline
def dot(a: Reals, b: Reals) -> float:
    """Σ a b in float64."""
    total = 0.0
    for c in range(a.shape[0]):
        total += np.float64(a[c]) * np.float64(b[c])
    return total
