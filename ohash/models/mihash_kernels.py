"""One step of MIHash: the gradient of the mutual information of one point against the reservoir, in O(N (d + r)).

The reservoir's projections are kept and moved along with W (every column moves by a multiple of x), instead of being
computed again, which would cost O(N d r) a step; they are computed afresh every RESYNC steps, against drift.
"""

import math
from typing import Any

import numpy as np

from ohash.core.compile import inlined, kernel
from ohash.core.kernels import dot

RESYNC = 1024


@inlined
def same_label(a: Any, b: Any, flags: bool) -> bool:
    """The same class, or one flag in common."""
    if not flags:
        return bool(a[0] == b[0])
    common = 0
    for k in range(a.shape[0]):
        common |= a[k] & b[k]
    return bool(common != 0)


@kernel
def learn_points(
    Wt: Any,  # (r, d) changed in place
    bit_updates: Any,  # (r,) int64
    clock: Any,  # (points seen, changes of W)
    rows: Any,  # (n, d)
    words: Any,  # (n, w) labels
    flags: bool,
    keys: Any,  # (n,) random priorities
    kept: Any,  # from here on the reservoir: rows (N, d)
    kept_words: Any,
    kept_keys: Any,
    projected: Any,  # (N, r) float64 = kept · W
    filled: Any,  # (1,) how many are kept
    first: int,
    steepness: float,
    eta: float,
    bins: int,
) -> None:
    """Learn every point against the reservoir as it was before, then offer the point to the reservoir."""
    r, d = Wt.shape
    size = kept.shape[0]
    width = r / bins
    phi, step = np.empty(r), np.empty(r)
    phi_kept = np.empty((size, r))
    at, share = np.empty(size, np.int64), np.empty(size)
    near = np.empty(size, np.bool_)
    p_near, p_far = np.empty(bins + 1), np.empty(bins + 1)
    for t in range(rows.shape[0]):
        x = rows[t]
        n = filled[0]
        n_near = 0
        for j in range(n):
            near[j] = same_label(words[t], kept_words[j], flags)
            n_near += near[j]
        if n >= first and 0 < n_near < n:
            for k in range(r):
                phi[k] = math.tanh(0.5 * steepness * dot(Wt[k], x))
                step[k] = 0.0
            p_near[:] = 0.0
            p_far[:] = 0.0
            for j in range(n):
                inner = 0.0
                for k in range(r):
                    phi_kept[j, k] = math.tanh(0.5 * steepness * projected[j, k])
                for k in range(r):
                    inner += phi[k] * phi_kept[j, k]
                place = min(max(0.5 * (r - inner) / width, 0.0), float(bins))
                b = min(int(place), bins - 1)
                at[j], share[j] = b, place - b
                if near[j]:
                    p_near[b] += (1.0 - share[j]) / n_near
                    p_near[b + 1] += share[j] / n_near
                else:
                    p_far[b] += (1.0 - share[j]) / (n - n_near)
                    p_far[b + 1] += share[j] / (n - n_near)
            for b in range(bins + 1):  # the derivative of MI by p+ and p-: log2 of their ratio to p
                p = (n_near * p_near[b] + (n - n_near) * p_far[b]) / n
                p_near[b] = math.log2(p_near[b] / p) if p_near[b] > 0 else 0.0
                p_far[b] = math.log2(p_far[b] / p) if p_far[b] > 0 else 0.0
            for j in range(n):
                b = at[j]
                slope = p_near[b + 1] - p_near[b] if near[j] else p_far[b + 1] - p_far[b]
                slope *= -0.5 / (n * width)  # d distance / d phi = -phi_j / 2
                for k in range(r):
                    step[k] += slope * phi_kept[j, k]
            moved = False
            for k in range(r):
                step[k] *= eta * 0.5 * steepness * (1.0 - phi[k] * phi[k])
                if step[k] != 0.0:
                    moved = True
                    bit_updates[k] += 1
                    factor = Wt.dtype.type(step[k])
                    w = Wt[k]
                    for c in range(d):
                        w[c] += factor * x[c]
            if moved:
                clock[1] += 1
                for j in range(n):
                    inner = dot(kept[j], x)
                    for k in range(r):
                        projected[j, k] += step[k] * inner
        _offer(Wt, x, words[t], keys[t], kept, kept_words, kept_keys, projected, filled)
        clock[0] += 1
        if clock[0] % RESYNC == 0:
            for j in range(filled[0]):
                for k in range(r):
                    projected[j, k] = dot(Wt[k], kept[j])


@inlined
def _offer(
    Wt: Any, x: Any, word: Any, key: float, kept: Any, kept_words: Any, kept_keys: Any, projected: Any, filled: Any
) -> None:
    """Keep x if there is room, or instead of the one with the lowest priority: a uniform sample of all points."""
    at = filled[0]
    if at < kept.shape[0]:
        filled[0] += 1
    else:
        at = 0
        for j in range(1, kept.shape[0]):
            if kept_keys[j] < kept_keys[at]:
                at = j
        if key <= kept_keys[at]:
            return
    kept[at] = x
    kept_words[at] = word
    kept_keys[at] = key
    for k in range(Wt.shape[0]):
        projected[at, k] = dot(Wt[k], x)
