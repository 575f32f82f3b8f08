"""SDOH (Lin et al., 2019) as in the program of Shen Chen: KL(P || Q) is stepped down, chunk by chunk; pair by pair."""

import math

import numpy as np

SMALLEST = np.finfo(float).tiny


def follow(W, chunks, eta, sigma, threshold):
    """W after every chunk (X (n, d), labels)."""
    for X, y in chunks:
        W = learn(W, X, gaussian(y, sigma), eta, threshold)
        yield W, 0.0


def gaussian(y, sigma):
    """The normal density of S = 1 (one label) or 0 about 1, without its diagonal, as probabilities."""
    n = len(y)
    P = np.zeros((n, n))
    for a in range(n):
        for b in range(n):
            if a != b:
                P[a, b] = math.exp(-((float(y[a] == y[b]) - 1) ** 2) / (2 * sigma**2)) / (
                    sigma * math.sqrt(2 * math.pi)
                )
    return np.maximum(P / P.sum(), SMALLEST)


def learn(W, X, P, eta, threshold, steps=1000):
    n = len(X)
    least, H = math.inf, np.tanh(X @ W)
    for _ in range(steps):
        near = np.zeros((n, n))
        for a in range(n):
            for b in range(n):
                if a != b:
                    near[a, b] = 1 / (1 + np.square(H[a] - H[b]).sum() / 4)
        Q = np.maximum(near / near.sum(), SMALLEST)
        gradient = np.zeros_like(W)
        for a in range(n):
            pull = sum((P[a, b] - Q[a, b]) * near[a, b] * (H[a] - H[b]) for b in range(n))
            gradient += np.outer(X[a], pull * (1 - H[a] ** 2))
        W = W - eta * gradient
        cost = (P * np.log(P)).sum() - (P * np.log(Q)).sum()
        if cost <= least and least - cost > threshold:
            least, H = cost, np.tanh(X @ W)
        else:
            return W
    return W
