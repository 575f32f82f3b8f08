"""Projections of some columns of W, such that a column's digits depend on that column and the row alone.

A BLAS product of fewer columns may differ in the last digit, and a bit near its threshold would then depend on which
other columns happened to be dirty. Here columns go four at a time, padded, through one loop whose sums depend on d
alone.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numba

from ohash.core.compile import kernel_for
from ohash.evaluation.hamming_kernels import array_type

GROUP = 4  # columns of one group; the callers pad to a multiple of it


def _project_columns(
    W: Any,  # (c, d) the columns to project on, padded with zeros to a multiple of GROUP
    columns: Any,  # (c,) their rows in P; -1 for padding
    X: Any,  # (b, d)
    start: int,  # the first of these rows in P
    P: Any,  # (T r, n) changed in place
) -> None:
    """P[columns, start : start + b] = W Xᵀ, two rows and four columns at a time."""
    zero = W.dtype.type(0)
    b, d = X.shape
    for g in range(0, W.shape[0], GROUP):
        w0, w1, w2, w3 = W[g], W[g + 1], W[g + 2], W[g + 3]
        for i in range(0, b, 2):
            j = min(i + 1, b - 1)
            x, y = X[i], X[j]
            a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = zero
            for c in range(d):
                u, v = x[c], y[c]
                a0 += w0[c] * u
                b0 += w0[c] * v
                a1 += w1[c] * u
                b1 += w1[c] * v
                a2 += w2[c] * u
                b2 += w2[c] * v
                a3 += w3[c] * u
                b3 += w3[c] * v
            for k, p_i, p_j in ((0, a0, b0), (1, a1, b1), (2, a2, b2), (3, a3, b3)):
                column = columns[g + k]
                if column >= 0:
                    P[column, start + i], P[column, start + j] = p_i, p_j


@cache
def project_columns(dtype: str) -> Callable[..., None]:
    """The kernel for "float32" or "float64"; compiled at the first call on a machine, then read from disk."""
    real, i8 = getattr(numba.types, dtype), numba.types.int64
    rows = array_type(real, 2, readonly=True)
    signature = numba.types.void(rows, array_type(i8, 1, readonly=True), rows, i8, array_type(real, 2))
    return kernel_for(signature, _project_columns)
