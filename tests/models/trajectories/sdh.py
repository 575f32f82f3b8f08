"""SDH (Shen et al., CVPR 2015): classifier, hash and bits in turn; bits by discrete cyclic coordinate descent."""

import numpy as np


def fit(X, y, B, lambda_, nu, iterations, sweeps, ridge):
    """(W, threshold) from the first bits B (n, r)."""
    mean = X.mean(axis=0)
    Phi = np.hstack([X - mean, np.ones((len(X), 1))])
    Y = np.array([[1.0 if label == c else 0.0 for c in sorted(set(y))] for label in y])
    B, r = B.copy(), B.shape[1]
    solve_hash = np.linalg.inv(Phi.T @ Phi + ridge * np.eye(Phi.shape[1])) @ Phi.T
    for _ in range(iterations):
        W = np.linalg.inv(B.T @ B + lambda_ * np.eye(r)) @ B.T @ Y
        Q = Y @ W.T + nu * Phi @ solve_hash @ B
        for _ in range(sweeps):
            before = B.copy()
            for k in range(r):
                rest = [q for q in range(r) if q != k]
                B[:, k] = np.where(Q[:, k] - B[:, rest] @ W[rest] @ W[k] >= 0, 1, -1)
            if (B == before).all():
                break
    P = solve_hash @ B
    return P[:-1], mean @ P[:-1] - P[-1]
