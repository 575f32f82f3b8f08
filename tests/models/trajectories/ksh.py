"""KSH (Liu et al., CVPR 2012): the authors' greedy optimisation, with S as a matrix and the original coordinates."""

import numpy as np
from scipy.linalg import eig


def fit(X, y, r, iterations, tolerance):
    """(A, threshold); the sign of a column of A is arbitrary."""
    mean = X.mean(axis=0)
    K, n = X - mean, len(X)
    S = r * np.array([[1.0 if a == b else -1.0 for b in y] for a in y])
    RM = K.T @ K
    A = []
    for _ in range(r):
        values, vectors = eig(K.T @ S @ K, RM)
        a = vectors[:, values.real.argmax()].real
        a = a * np.sqrt(n / (a @ RM @ a))
        b = descend(a, K, S, iterations, tolerance)
        h, h_b = np.where(K @ a > 0, 1.0, -1.0), np.where(K @ b > 0, 1.0, -1.0)
        if h_b @ S @ h_b > h @ S @ h:
            a, h = b, h_b
        A.append(a)
        S = S - np.outer(h, h)
    A = np.array(A).T
    return A, mean @ A


def descend(a, K, S, iterations, tolerance):
    """Nesterov's method on -φᵀSφ, φ = 2 sigmoid(Ka) - 1; the constant is doubled until the quadratic bound holds."""

    def smooth(a):
        with np.errstate(over="ignore"):
            return 2 / (1 + np.exp(-K @ a)) - 1

    a_0, a_1, bound = a, a, 1.0
    delta = [0.0, 1.0]
    cost = [-smooth(a) @ S @ smooth(a)]
    for _ in range(iterations):
        v = a_1 + (delta[-2] - 1) / delta[-1] * (a_1 - a_0)
        phi = smooth(v)
        gradient = -K.T @ ((S @ phi) * (1 - phi**2))
        for _ in range(51):
            z = v - gradient / bound
            cost_z = -smooth(z) @ S @ smooth(z)
            if cost_z <= -phi @ S @ phi + gradient @ (z - v) + bound / 2 * (z - v) @ (z - v):
                break
            bound *= 2
        else:
            break
        a_0, a_1 = a_1, z
        delta.append((1 + np.sqrt(1 + 4 * delta[-1] ** 2)) / 2)
        cost.append(cost_z)
        if abs(cost[-1] - cost[-2]) / len(K) <= tolerance:
            break
    return a_1
