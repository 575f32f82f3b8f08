"""OECC (Cakir, Bargal and Sclaroff, 2016): stochastic gradient steps of one classifier per bit towards its codeword."""

import math


def follow_hinge(W, points, eta):
    """W after every point (x, codeword): a step along -∂ max(0, 1 - c_k w_kᵀx)."""
    W = W.copy()
    for x, c in points:
        for k in range(W.shape[1]):
            if c[k] * (W[:, k] @ x) < 1:
                W[:, k] = W[:, k] + eta * c[k] * x
        yield W, 0.0


def follow_boosted(W, points, eta):
    """W after every point: exponential loss, each bit weighted by that of the bits before it, as they are by then."""
    W = W.copy()
    for x, c in points:
        for k in range(W.shape[1]):
            weight = 1.0
            for q in range(k):
                weight *= math.exp(-c[q] * (W[:, q] @ x))
            W[:, k] = W[:, k] + eta * weight * math.exp(-c[k] * (W[:, k] @ x)) * c[k] * x
        yield W, 0.0
