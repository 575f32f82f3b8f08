"""Algorithms 2 and 3 within a kernel: which bits an update flips, and on which side of the pair."""

import numpy as np

from ohash.core.arrays import Flags, Integers, Reals
from ohash.runtime.compile import inline

MAX_SORTED = 16  # up to this many bits a sorted list is faster than quickselect


@inline
def smallest_first(delta: Reals, pool: Integers, size: int, p0: int) -> None:
    """Bring the p0 smallest of the pool to its front, ordered by delta and then by bit: the stable order.

    `pool` holds `size` bits in ascending order. A sorted list of the best so far for a small p0, else quickselect.
    """
    if p0 <= MAX_SORTED:
        for q in range(size):
            bit = pool[q]
            if q >= p0 and delta[bit] >= delta[pool[p0 - 1]]:
                continue
            at = min(q, p0 - 1)
            while at > 0 and delta[pool[at - 1]] > delta[bit]:
                pool[at] = pool[at - 1]
                at -= 1
            pool[at] = bit
        return
    lo, hi, want = 0, size - 1, p0 - 1
    while lo < hi:
        bit = pool[(lo + hi) // 2]
        value = delta[bit]
        left, right = lo, hi
        while left <= right:
            while delta[pool[left]] < value or (delta[pool[left]] == value and pool[left] < bit):
                left += 1
            while delta[pool[right]] > value or (delta[pool[right]] == value and pool[right] > bit):
                right -= 1
            if left <= right:
                pool[left], pool[right] = pool[right], pool[left]
                left += 1
                right -= 1
        if want <= right:
            hi = right
        elif want >= left:
            lo = left
        else:
            return


@inline
def settle_ties(delta: Reals, pool: Integers, p0: int, tie: float) -> None:
    """Let the lower bits win among those level with the cut, pool[p0 - 1]; delta is infinite outside the pool."""
    cut = np.float64(delta[pool[p0 - 1]])
    lo, hi = cut - tie * abs(cut), cut + tie * abs(cut)
    below = up_to = 0
    for k in range(delta.shape[0]):
        below += delta[k] < lo
        up_to += delta[k] <= hi
    if up_to == p0:
        return
    room = p0 - below
    at = 0
    for k in range(delta.shape[0]):
        if delta[k] < lo:
            pool[at] = k
            at += 1
        elif delta[k] <= hi and room > 0:
            pool[at] = k
            at += 1
            room -= 1


@inline
def select_flips(
    p_i: Reals, p_j: Reals, s: int, p0: int, largest: bool, tie: float, delta: Reals, pool: Integers, on_i: Flags
) -> tuple[float, int]:
    """Algorithms 2 and 3: pool[:p0] are the bits to flip, on_i[k] tells whether side i of bit k is flipped.

    Returns (Σ delta over the chosen bits, flips on side i).
    """
    size = 0
    for k in range(p_i.shape[0]):  # branch-free: half of the bits are in the pool, unpredictably
        margin_i, margin_j = abs(p_i[k]), abs(p_j[k])
        on_i[k] = margin_i <= margin_j + tie * margin_j  # Eq. (20)
        margin = margin_i if on_i[k] else margin_j  # Eq. (19)
        member = ((p_i[k] >= 0) != (p_j[k] >= 0)) == (s > 0)
        delta[k] = (-margin if largest else margin) if member else np.inf
        pool[size] = k
        size += member
    if p0 < size:
        smallest_first(delta, pool, size, p0)
        settle_ties(delta, pool, p0, tie)
    total = 0.0
    n_i = 0
    for q in range(p0):
        total += abs(delta[pool[q]])
        n_i += on_i[pool[q]]
    return total, n_i
