"""OHWEU (Weng, Zhu, AAAI 2020), the symmetric form of the authors' program: projections P of fixed codes b."""

import numpy as np


def follow(P, points, C):
    """P (r, r) after every point (b, target), both of ±1."""
    r = len(P)
    for b, target in points:
        P = P.copy()
        steps = []
        for k in range(r):
            t = 1 - sum(b[c] * P[c, k] for c in range(r)) * target[k] / sum(v * v for v in b)
            steps.append(C if t > C else t)
        for c in range(r):
            for k in range(r):
                P[c, k] += b[c] * target[k] * steps[k]
        yield np.array(P)
