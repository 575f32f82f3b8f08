"""AdaptHash, one pair at a time (Cakir and Sclaroff, ICCV 2015), gradient and orthogonality in one step."""

import numpy as np


def f(v):
    return 2 / (1 + np.exp(-v)) - 1


def slope(v):
    return 2 * np.exp(-v) / (1 + np.exp(-v)) ** 2


def follow(W, pairs, ratio, eta, lambda_):
    """W after every pair (x_i, x_j, s)."""
    for x_i, x_j, s in pairs:
        r = W.shape[1]
        v, u = W.T @ x_i, W.T @ x_j
        differs = (v > 0) != (u > 0)
        D = differs.sum()
        if s > 0:
            loss, wrong = max(0, D - (1 - ratio) * r), np.flatnonzero(differs)
        else:
            loss, wrong = max(0, ratio * r - D), np.flatnonzero(~differs)
        if loss > 0:
            confidence = np.maximum(np.abs(v), np.abs(u))
            wrong = sorted(wrong, key=lambda k: -confidence[k])
            factor = 2 * (f(v) @ f(u) - r * s)
            gradient = np.zeros_like(W)
            for k in wrong[: int(np.ceil(loss - 1e-9))]:
                gradient[:, k] = factor * (x_i * f(u)[k] * slope(v)[k] + x_j * f(v)[k] * slope(u)[k])
            W = W - (eta * gradient + lambda_ * W @ (W.T @ W - np.eye(r)))
            W = W / np.sqrt((W**2).sum(axis=0))
        yield W, 0.0
