"""UnifDiag (Morvan et al., ICASSP 2018): OPAST as printed by Abed-Meraim et al. (2000), and the authors' rotation.

The rotation: c and s from cosines and sines of two angles, as in the authors' program; rows and columns are turned by
whole matrices.
"""

import numpy as np


def follow(W, points, beta):
    """(W R, threshold) after every point; the first W is made orthonormal."""
    d, r = W.shape
    U, _, Vt = np.linalg.svd(W, full_matrices=False)
    W = U @ Vt
    mean, Z, C = np.zeros(d), None, None
    for t, point in enumerate(points, start=1):
        mean = mean + (point - mean) / t
        x = point - mean
        if Z is None and x @ x > 0:
            Z, C = np.eye(r) * d / (x @ x), np.eye(r) * (x @ x) / d
        if Z is not None:
            y = W.T @ x
            q = Z @ y / beta
            gamma = 1 / (1 + y @ q)
            p = gamma * (x - W @ y)
            tau = (1 / np.sqrt(1 + (p @ p) * (q @ q)) - 1) / (q @ q)
            W = W + np.outer(tau * W @ q + (1 + tau * (q @ q)) * p, q)
            Z = Z / beta - gamma * np.outer(q, q)
            C = beta * C + np.outer(y, y)
        hashed = W @ rotation(C) if C is not None else W
        yield hashed, hashed.T @ mean


def rotation(C):
    A, size = C.copy(), len(C)
    R, mean = np.eye(size), np.trace(C) / size
    for _ in range(size - 1):
        below = [k for k in range(size) if A[k, k] < mean - 1e-12 * mean]
        above = [k for k in range(size) if A[k, k] > mean + 1e-12 * mean]
        if not below or not above:
            break
        m, n = below[0], above[0]
        radius = np.sqrt(A[m, n] ** 2 + ((A[m, m] - A[n, n]) / 2) ** 2)
        c1, s1 = (A[m, m] - A[n, n]) / 2 / radius, A[m, n] / radius
        c2 = (mean - (A[m, m] + A[n, n]) / 2) / radius
        s2 = np.sqrt(1 - c2**2)
        c = np.sqrt((1 + c1 * c2 - s1 * s2) / 2)
        s = -(c1 * s2 + s1 * c2) / (2 * c)
        G = np.eye(size)
        G[m, m], G[n, m], G[m, n], G[n, n] = c, -s, s, c
        A, R = G.T @ A @ G, R @ G
        A[m, m] = mean
    return R
