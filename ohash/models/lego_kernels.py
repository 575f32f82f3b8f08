"""One step of LEGO in factor form: A = GᵀG never needs to be factorised again."""

import math
from typing import Any

import numpy as np

from ohash.core.compile import inlined, kernel
from ohash.core.kernels import dot

LEAST = 1e-12


@inlined
def target_of(y_hat: float, y: float, eta: float) -> float:
    """The distance after the step: the positive root of eta y_hat v² - (eta y y_hat - 1) v - y_hat = 0."""
    p = eta * y * y_hat - 1.0
    root = math.sqrt(p * p + 4.0 * eta * y_hat * y_hat)
    return (p + root) / (2.0 * eta * y_hat) if p > 0 else 2.0 * y_hat / (root - p)


@kernel
def learn_pairs(
    G: Any,  # (d, d) float64 changed in place
    Rt: Any,  # (r, d) float64 random directions
    Wt: Any,  # (r, d) float64 = Rt G, kept in step
    bit_updates: Any,
    clock: Any,
    X_i: Any,
    X_j: Any,
    s: Any,
    near: float,
    far: float,
    eta: float,
    D_h: Any,
    updated: Any,
) -> None:
    """Bring the squared distance of similar pairs down towards `near`, of dissimilar ones up towards `far`."""
    r, d = Wt.shape
    z, Gz, row = np.empty(d), np.empty(d), np.empty(d)
    for t in range(s.shape[0]):
        x_i, x_j = X_i[t], X_j[t]
        for k in range(r):
            D_h[t] += (dot(Wt[k], x_i) >= 0) != (dot(Wt[k], x_j) >= 0)
        for c in range(d):
            z[c] = x_i[c] - x_j[c]
        for q in range(d):
            Gz[q] = dot(G[q], z)
        y_hat = dot(Gz, Gz)
        clock[0] += 1
        if y_hat < LEAST or (y_hat <= near if s[t] > 0 else y_hat >= far):
            continue
        wanted = target_of(y_hat, near if s[t] > 0 else far, eta)
        a = (math.sqrt(wanted / y_hat) - 1.0) / y_hat
        if a == 0.0:
            continue
        row[:] = 0.0  # Gᵀ(Gz)
        for q in range(d):
            g, factor = G[q], Gz[q]
            for c in range(d):
                row[c] += factor * g[c]
        for q in range(d):
            g, factor = G[q], a * Gz[q]
            for c in range(d):
                g[c] += factor * row[c]
        for k in range(r):
            factor = a * dot(Rt[k], Gz)
            w = Wt[k]
            for c in range(d):
                w[c] += factor * row[c]
            bit_updates[k] += 1
        updated[t] = True
        clock[1] += 1
