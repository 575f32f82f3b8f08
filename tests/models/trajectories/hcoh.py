"""HCOH (Lin et al., ACM MM 2018): the gradient of ½|tanh(Wᵀx) - b|², one point at a time."""

import math


def follow(W, points, eta):
    """W after every point (x, codeword)."""
    W = W.copy()
    for x, b in points:
        F = [math.tanh(W[:, k] @ x) for k in range(W.shape[1])]
        for k in range(W.shape[1]):
            W[:, k] = W[:, k] - eta * (F[k] - b[k]) * (1 - F[k] ** 2) * x
        yield W, 0.0
