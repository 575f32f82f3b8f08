"""MIHash (Cakir et al., ICCV 2017): one gradient step on the mutual information of distance and being a neighbour.

Only the code of the new point is differentiated; the reservoir keeps the points with the highest random priorities.
"""

import numpy as np


def follow(W, points, priorities, size, bins, steepness, eta):
    """W after every point (x, label)."""
    r = W.shape[1]
    width = r / bins
    centres = [b * width for b in range(bins + 1)]
    kept = []
    for (x, label), priority in zip(points, priorities, strict=True):
        near = [other == label for _, other, _ in kept]
        if len(kept) >= max(2, size // 10) and 0 < sum(near) < len(near):
            W = W + eta * gradient(W, x, [row for row, _, _ in kept], near, centres, width, steepness)
        if len(kept) < size:
            kept.append((x, label, priority))
        else:
            lowest = min(range(size), key=lambda j: kept[j][2])
            if priority > kept[lowest][2]:
                kept[lowest] = (x, label, priority)
        yield W, 0.0


def gradient(W, x, others, near, centres, width, steepness):
    """∂MI/∂W, by the chain rule: MI <- histograms <- distances <- relaxed code <- W."""
    r = W.shape[1]
    phi = relaxed(W, x, steepness)
    codes = [relaxed(W, other, steepness) for other in others]
    distances = [(r - phi @ code) / 2 for code in codes]
    n, n_near = len(near), sum(near)
    p_near, p_far = np.zeros(len(centres)), np.zeros(len(centres))
    for b, centre in enumerate(centres):
        for distance, is_near in zip(distances, near, strict=True):
            share = max(0.0, 1 - abs(distance - centre) / width)
            if is_near:
                p_near[b] += share / n_near
            else:
                p_far[b] += share / (n - n_near)
    prior = n_near / n
    p = prior * p_near + (1 - prior) * p_far
    by_phi = np.zeros(r)
    for distance, code, is_near in zip(distances, codes, near, strict=True):
        mine, weight, count = (p_near, prior, n_near) if is_near else (p_far, 1 - prior, n - n_near)
        for b, centre in enumerate(centres):
            if abs(distance - centre) >= width:
                continue
            by_share = -entropy_slope(mine[b]) * weight + entropy_slope(p[b]) * weight
            by_distance = -np.sign(distance - centre) / width / count
            by_phi += by_share * by_distance * (-code / 2)
    return np.outer(x, by_phi * steepness * (1 - phi**2) / 2)


def relaxed(W, x, steepness):
    return 2 / (1 + np.exp(-steepness * (W.T @ x))) - 1


def entropy_slope(p):
    """The derivative of -p log2 p."""
    return -np.log2(p) - 1 / np.log(2)
