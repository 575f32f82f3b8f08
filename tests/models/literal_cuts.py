"""Minimum cuts of blocks as they are written in the paper, by scipy's maximum flow: the twin of `block_cuts`."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow


def cut(u, attraction):
    """The z in {-1, +1} that minimises Σ u_i z_i - Σ attraction_ij z_i z_j over pairs; attraction (n, n) is >= 0."""
    n = len(u)
    capacity = np.zeros((n + 2, n + 2), np.int32)
    capacity[:n, :n] = attraction
    capacity[n, :n], capacity[:n, n + 1] = np.maximum(-u, 0), np.maximum(u, 0)
    residual = csr_array(capacity - maximum_flow(csr_array(capacity), n, n + 1).flow.toarray())
    z = np.full(n + 2, -1)
    z[breadth_first_order(residual, n, return_predecessors=False)] = 1
    return z[:n]


def settle(A, z, block):
    """Set the best bits of a block in place, A (n, n) the weights of all pairs; bits that gain nothing stay."""
    outside = np.ones(len(z), bool)
    outside[block] = False
    u, inside = A[np.ix_(block, outside)] @ z[outside], A[np.ix_(block, block)]
    best = cut(u, -inside)

    def energy(bits):
        return 2 * u @ bits + bits @ inside @ bits

    if energy(best) < energy(z[block]):
        z[block] = best
