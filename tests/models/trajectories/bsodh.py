"""BSODH (Lin et al., AAAI 2019): codes of a chunk, codes of the past and W, in turn, from the printed objective.

‖B_sᵀB_e - r S‖² + σ‖B_s - WᵀX_s‖² + λ‖W‖²; the whole past is kept.
"""

import numpy as np


def sgn(values):
    return np.where(values >= 0, 1.0, -1.0)


def follow(W, chunks, similar, dissimilar, sigma, lambda_, sweeps):
    """W after every chunk (X (n, d), labels)."""
    d, r = W.shape
    codes, labels = None, None
    for X, y in chunks:
        X_s, B_s = X.T, sgn(W.T @ X.T)
        if codes is None:
            B_e, past = B_s.copy(), y
        else:
            B_e, past = codes.copy(), labels
            for t in range(len(y)):
                same = [q for q in range(len(past)) if past[q] == y[t]]
                if same:
                    B_s[:, t] = B_e[:, same[0]]
        S = np.array([[similar if a == b else -dissimilar for b in past] for a in y])
        for _ in range(sweeps):
            P = B_e @ (r * S).T + sigma * W.T @ X_s
            for k in range(r):
                rest = [q for q in range(r) if q != k]
                B_s[k] = sgn(P[k] - B_e[k] @ B_e[rest].T @ B_s[rest])
            B_e = sgn(B_s @ (r * S))
            W = sigma * np.linalg.inv(sigma * X_s @ X_s.T + lambda_ * np.eye(d)) @ X_s @ B_s.T
        codes = B_s if codes is None else np.concatenate([B_e, B_s], axis=1)
        labels = y if labels is None else np.concatenate([labels, y])
        yield W, 0.0
