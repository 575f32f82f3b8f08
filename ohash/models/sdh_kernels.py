"""Discrete cyclic coordinate descent of SDH: rows are independent, so each is settled in cache, bit by bit."""

import numpy as np
import numpy.typing as npt

from ohash.core.compile import kernel


@kernel
def settle_bits(B: npt.NDArray[np.float64], Q: npt.NDArray[np.float64], A: npt.NDArray[np.float64], sweeps: int) -> int:
    """Minimise bᵀAb - 2 qᵀb over b in {-1, +1}^r for every row, in place; returns how many bits were flipped.

    Bit k becomes sgn(q_k - Σ_{j≠k} A_kj b_j), and stays where that is 0; at most `sweeps` rounds, or until none moves.
    """
    n, r = B.shape
    field = np.empty(r)
    flips = 0
    for i in range(n):
        b = B[i]
        for k in range(r):
            total = Q[i, k]
            for j in range(r):
                total -= A[k, j] * b[j]
            field[k] = total + A[k, k] * b[k]
        for _ in range(sweeps):
            moved = False
            for k in range(r):
                if field[k] * b[k] < 0:
                    b[k] = -b[k]
                    flips += 1
                    moved = True
                    change = 2.0 * b[k]
                    for j in range(r):
                        field[j] -= change * A[j, k]
                    field[k] += change * A[k, k]
            if not moved:
                break
    return flips
