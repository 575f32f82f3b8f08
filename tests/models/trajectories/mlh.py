"""MLH (Norouzi and Fleet, ICML 2011): loss-augmented inference among all 4^r pairs of codes, minibatches, momentum."""

import itertools

import numpy as np


def loss(D, s, rho, lambda_, r):
    if s > 0:
        return max(D - rho + 1, 0) / (r - rho + 1)
    return lambda_ * max(rho - D + 1, 0) / (rho + 1)


def follow(W, pairs, rho, lambda_, eta, momentum, decay, batch):
    """W after every pair; it moves when a minibatch is full."""
    r = W.shape[1]
    codes = np.array(list(itertools.product([-1, 1], repeat=r)))
    velocity, gradient = np.zeros_like(W), np.zeros_like(W)
    for t, (x_i, x_j, s) in enumerate(pairs, 1):
        a, b = W.T @ x_i, W.T @ x_j
        value = np.empty((len(codes), len(codes)))
        for p, g_i in enumerate(codes):
            for q, g_j in enumerate(codes):
                value[p, q] = loss((g_i != g_j).sum(), s, rho, lambda_, r) + g_i @ a + g_j @ b
        p, q = np.unravel_index(value.argmax(), value.shape)
        h_i, h_j = np.where(a >= 0, 1, -1), np.where(b >= 0, 1, -1)
        gradient += np.outer(x_i, h_i - codes[p]) + np.outer(x_j, h_j - codes[q])
        if t % batch == 0:
            velocity = momentum * velocity + eta * (gradient / batch - decay * W)
            W = W + velocity
            gradient = np.zeros_like(W)
        yield W, 0.0
