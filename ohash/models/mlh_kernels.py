"""MLH: exact loss-augmented inference of a pair, and minibatches of its gradient."""

from typing import Any

import numpy as np

from ohash.core.compile import inlined, kernel
from ohash.core.kernels import project_pair


@inlined
def hinge(D: int, similar: bool, rho: int, weight: float, r: int) -> float:
    """Loss of a Hamming distance: similar pairs should come below rho, dissimilar ones above; at most 1 (or weight)."""
    if similar:
        return max(D - rho + 1.0, 0.0) / (r - rho + 1.0)
    return weight * max(rho - D + 1.0, 0.0) / (rho + 1.0)


@kernel
def infer(a: Any, b: Any, similar: bool, rho: int, weight: float, g_i: Any, g_j: Any) -> float:
    """The codes (g_i, g_j) that maximise loss(g_i, g_j) + g_iᵀa + g_jᵀb, among all 4^r, in O(r log r); and that value.

    A bit that differs is worth |a_k - b_k|, one that agrees |a_k + b_k|: sort by the gain of differing and try them.
    """
    r = a.shape[0]
    gain = np.empty(r)
    value = 0.0
    for k in range(r):
        gain[k] = abs(a[k] - b[k]) - abs(a[k] + b[k])
        value += abs(a[k] + b[k])
    order = np.argsort(-gain, kind="mergesort")
    best, best_value = 0, value + hinge(0, similar, rho, weight, r)
    for m in range(1, r + 1):
        value += gain[order[m - 1]]
        if value + hinge(m, similar, rho, weight, r) > best_value:
            best, best_value = m, value + hinge(m, similar, rho, weight, r)
    for m in range(r):
        k = order[m]
        if m < best:
            g_i[k] = 1 if a[k] - b[k] >= 0 else -1
            g_j[k] = -g_i[k]
        else:
            g_i[k] = g_j[k] = 1 if a[k] + b[k] >= 0 else -1
    return best_value


@kernel
def learn_pairs(
    Wt: Any,  # (r, d) changed in place
    velocity: Any,  # (r, d) float64
    gradient: Any,  # (r, d) float64, sum over the minibatch so far
    waiting: Any,  # (1,) pairs in it
    bit_updates: Any,
    clock: Any,
    X_i: Any,
    X_j: Any,
    s: Any,
    batch: int,
    rho: int,
    weight: float,
    eta: float,
    momentum: float,
    decay: float,
    D_h: Any,
    updated: Any,
) -> None:
    """Gather the gradient of `batch` pairs, then move W once."""
    r, d = Wt.shape
    a, b = np.empty(r, Wt.dtype), np.empty(r, Wt.dtype)
    g_i, g_j = np.empty(r, np.int8), np.empty(r, np.int8)
    for t in range(s.shape[0]):
        x_i, x_j = X_i[t], X_j[t]
        project_pair(Wt, x_i, x_j, a, b)
        infer(a, b, s[t] > 0, rho, weight, g_i, g_j)
        for k in range(r):
            h_i, h_j = 1 if a[k] >= 0 else -1, 1 if b[k] >= 0 else -1
            D_h[t] += h_i != h_j
            if h_i != g_i[k] or h_j != g_j[k]:
                updated[t] = True
                u, v = float(h_i - g_i[k]), float(h_j - g_j[k])
                row = gradient[k]
                for c in range(d):
                    row[c] += u * x_i[c] + v * x_j[c]
        clock[0] += 1
        waiting[0] += 1
        if waiting[0] == batch:
            waiting[0] = 0
            clock[1] += 1
            for k in range(r):
                bit_updates[k] += 1
                for c in range(d):
                    velocity[k, c] = momentum * velocity[k, c] + eta * (gradient[k, c] / batch - decay * Wt[k, c])
                    Wt[k, c] += velocity[k, c]
                    gradient[k, c] = 0.0
