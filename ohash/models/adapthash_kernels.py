"""One step of AdaptHash a pair: only the most confidently wrong bits move, then W is drawn towards orthogonality."""

import math
from typing import Any

import numpy as np

from ohash.core.compile import inlined, kernel
from ohash.core.kernels import dot, project_pair


@inlined
def _drawn_together(Wt: Any, lambda_: float, gram: Any, change: Any) -> None:
    """W <- W - lambda W (WᵀW - I); the products, O(d r²), are BLAS."""
    np.dot(Wt, Wt.T, gram)
    for k in range(Wt.shape[0]):
        gram[k, k] -= Wt.dtype.type(1.0)
    np.dot(gram, Wt, change)
    factor = Wt.dtype.type(lambda_)
    for k in range(Wt.shape[0]):
        w, step = Wt[k], change[k]
        for c in range(Wt.shape[1]):
            w[c] -= factor * step[c]


@kernel
def learn_pairs(
    Wt: Any,  # (r, d) changed in place, rows of unit length
    bit_updates: Any,
    clock: Any,
    X_i: Any,
    X_j: Any,
    s: Any,
    ratio: float,
    step: float,
    lambda_: float,
    D_h: Any,
    updated: Any,
) -> None:
    """Learn every pair in order."""
    r, d = Wt.shape
    u, v = np.empty(r, Wt.dtype), np.empty(r, Wt.dtype)
    f_u, f_v, sure = np.empty(r), np.empty(r), np.empty(r)
    gram, change = np.empty((r, r), Wt.dtype), np.empty((r, d), Wt.dtype)
    for t in range(s.shape[0]):
        x_i, x_j, similar = X_i[t], X_j[t], s[t] > 0
        project_pair(Wt, x_i, x_j, u, v)
        D = 0
        for k in range(r):
            D += (u[k] >= 0) != (v[k] >= 0)
        D_h[t] = D
        clock[0] += 1
        loss = D - (1.0 - ratio) * r if similar else ratio * r - D
        if loss <= 1e-9:
            continue
        inner = 0.0
        for k in range(r):
            f_u[k], f_v[k] = math.tanh(0.5 * u[k]), math.tanh(0.5 * v[k])  # 2 / (1 + e^-v) - 1
            inner += f_u[k] * f_v[k]
            wrong = ((u[k] >= 0) != (v[k] >= 0)) == similar
            sure[k] = -max(abs(u[k]), abs(v[k])) if wrong else np.inf
        order = np.argsort(sure, kind="mergesort")
        slope = -step * 2.0 * (inner - r * s[t])
        for q in range(min(math.ceil(loss - 1e-9), r)):
            k = order[q]
            if sure[k] == np.inf:
                break
            at_i = Wt.dtype.type(slope * f_v[k] * 0.5 * (1.0 - f_u[k] * f_u[k]))
            at_j = Wt.dtype.type(slope * f_u[k] * 0.5 * (1.0 - f_v[k] * f_v[k]))
            w = Wt[k]
            for c in range(d):
                w[c] += at_i * x_i[c] + at_j * x_j[c]
            if lambda_ == 0.0:
                _unit(w)
                bit_updates[k] += 1
        if lambda_ > 0.0:
            _drawn_together(Wt, lambda_, gram, change)
            for k in range(r):
                _unit(Wt[k])
                bit_updates[k] += 1
        updated[t] = True
        clock[1] += 1


@inlined
def _unit(w: Any) -> None:
    norm = math.sqrt(dot(w, w))
    if norm > 0.0:
        factor = w.dtype.type(1.0 / norm)
        for c in range(w.shape[0]):
            w[c] *= factor
