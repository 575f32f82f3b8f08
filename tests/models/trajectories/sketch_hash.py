"""OSH (Leng et al., CVPR 2015): a Frequent Directions sketch of the centred stream, and its top directions.

The directions are turned towards the ones before (orthogonal Procrustes), where the authors draw a rotation.
"""

import numpy as np


def follow(W, chunks, rows):
    """(W, threshold) after every chunk."""
    r = W.shape[1]
    sketch = []
    n, mean = 0, np.zeros(len(W))
    for chunk in chunks:
        m, middle = len(chunk), chunk.mean(axis=0)
        new = [x - middle for x in chunk]
        if n > 0:
            new.append(np.sqrt(n * m / (n + m)) * (middle - mean))
        mean, n = (n * mean + m * middle) / (n + m), n + m
        for row in new:
            if len(sketch) == rows:
                sketch = shrink(np.array(sketch))
            sketch.append(row)
        V = np.linalg.svd(np.array(sketch))[2][:r].T
        left, _, right = np.linalg.svd(V.T @ W)
        W = V @ left @ right
        yield W, W.T @ mean


def shrink(B):
    half = len(B) // 2
    _, S, Vt = np.linalg.svd(B, full_matrices=False)
    S = np.sqrt(np.maximum(S**2 - S[half] ** 2, 0))
    return [S[k] * Vt[k] for k in range(half)]
