"""Blocks of points whose bits are optimised exactly, one block after another, by minimum cuts.

A block minimises Σ u_i z_i + Σ a_ij z_i z_j over the pairs inside, a_ij <= 0, where u_i = Σ a_ij z_j over the
neighbours outside, which are fixed. That is a minimum cut: the source is joined to i with capacity max(0, -u_i), i to
the sink with max(0, u_i), and i to j with -a_ij. Points that the source still reaches after a maximum flow get z = +1;
this is the smallest of all minimum cuts, so it is the same for every algorithm that finds a maximum flow. Here it is
Dinic's.
"""

from collections.abc import Sequence

import numpy as np

from ohash.core.arrays import Integers, Rows
from ohash.runtime.compile import kernel


@kernel
def list_edges(
    start: Integers, points: Integers, indptr: Integers, indices: Integers, first: Integers, head: Integers,
    entry: Integers,
) -> int:  # fmt: skip
    """The pairs inside each block: of its p-th point they begin at first[p], lead to points[head], and are a[entry].

    `head` and `entry` may be too short: nothing is written beyond their ends, and the number needed is returned.
    """
    position = np.full(indptr.shape[0] - 1, -1, np.int64)
    count = 0
    for b in range(start.shape[0] - 1):
        for p in range(start[b], start[b + 1]):
            position[points[p]] = p
        for p in range(start[b], start[b + 1]):
            first[p] = count
            for e in range(indptr[points[p]], indptr[points[p] + 1]):
                if position[indices[e]] >= 0:
                    if count < head.shape[0]:
                        head[count], entry[count] = position[indices[e]], e
                    count += 1
        for p in range(start[b], start[b + 1]):
            position[points[p]] = -1
    first[points.shape[0]] = count
    return count


@kernel
def list_reverse(first: Integers, head: Integers, reverse: Integers) -> None:
    """reverse[e] is the edge from head to tail of e. Heads of a point ascend, and so do the tails that lead to one."""
    used = first[:-1].copy()
    for p in range(first.shape[0] - 1):
        for e in range(first[p], first[p + 1]):
            reverse[used[head[e]]] = e
            used[head[e]] += 1


@kernel
def find_levels(
    low: int, high: int, first: Integers, head: Integers, residual: Integers, excess: Integers, level: Integers,
    queue: Integers,
) -> bool:  # fmt: skip
    """Steps from the source over edges with capacity left, -1 if there is no way; whether the sink can be reached."""
    reached, waiting = False, 0
    for p in range(low, high):
        level[p] = -1
        if excess[p] > 0:
            level[p] = 0
            queue[waiting] = p
            waiting += 1
    at = 0
    while at < waiting:
        p = queue[at]
        at += 1
        reached = reached or excess[p] < 0
        for e in range(first[p], first[p + 1]):
            if residual[e] > 0 and level[head[e]] < 0:
                level[head[e]] = level[p] + 1
                queue[waiting] = head[e]
                waiting += 1
    return reached


@kernel
def push_flow(
    low: int, high: int, first: Integers, head: Integers, reverse: Integers, residual: Integers, excess: Integers,
    level: Integers, following: Integers, path: Integers,
) -> None:  # fmt: skip
    """Send what can be sent from source to sink along edges that lead one level up: a blocking flow."""
    for p in range(low, high):
        following[p] = first[p]
    for root in range(low, high):
        if level[root] != 0:
            continue
        p, length = root, 0
        while excess[root] > 0:
            if excess[p] < 0:
                amount = min(excess[root], -excess[p])
                for k in range(length):
                    amount = min(amount, residual[path[k]])
                for k in range(length):
                    residual[path[k]] -= amount
                    residual[reverse[path[k]]] += amount
                excess[root] -= amount
                excess[p] += amount
                p, length = root, 0
                continue
            while following[p] < first[p + 1]:
                e = following[p]
                if residual[e] > 0 and level[head[e]] == level[p] + 1:
                    break
                following[p] += 1
            if following[p] < first[p + 1]:
                path[length] = following[p]
                length += 1
                p = head[following[p]]
            elif length == 0:
                break
            else:
                length -= 1
                p = head[reverse[path[length]]]
                following[p] += 1


@kernel
def settle_blocks(
    order: Integers, start: Integers, points: Integers, first: Integers, head: Integers, entry: Integers,
    reverse: Integers, indptr: Integers, indices: Integers, a: Integers, z: Integers,
) -> None:  # fmt: skip
    """Set the best bits of the blocks in this order, all others fixed; a block that would gain nothing stays."""
    size = points.shape[0]
    u, excess, level = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64)
    following, path, queue = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64)
    residual = np.zeros(head.shape[0], np.int64)
    for b in order:
        low, high = start[b], start[b + 1]
        for p in range(low, high):
            u[p] = 0
            for e in range(indptr[points[p]], indptr[points[p] + 1]):
                u[p] += a[e] * z[indices[e]]
            for e in range(first[p], first[p + 1]):
                u[p] -= a[entry[e]] * z[points[head[e]]]
                residual[e] = -a[entry[e]]
            excess[p] = -u[p]
        while find_levels(low, high, first, head, residual, excess, level, queue):
            push_flow(low, high, first, head, reverse, residual, excess, level, following, path)
        gain = np.int64(0)  # Σ over pairs counted twice, so u counts twice
        for p in range(low, high):
            best = 1 if level[p] >= 0 else -1
            gain += 2 * u[p] * (z[points[p]] - best)
            for e in range(first[p], first[p + 1]):
                best_there = 1 if level[head[e]] >= 0 else -1
                gain += a[entry[e]] * (z[points[p]] * z[points[head[e]]] - best * best_there)
        if gain > 0:
            for p in range(low, high):
                z[points[p]] = 1 if level[p] >= 0 else -1


class Blocks:
    """Sets of points, which may overlap, in a graph of listed pairs (CSR, symmetric, columns ascending).

    >>> pair = Blocks(np.array([0, 1, 2]), np.array([1, 0]), [np.array([0, 1])])
    >>> z = np.array([1, -1])
    >>> pair.settle(np.array([-2, -2]), z, np.array([0]))
    >>> z
    array([-1, -1])
    """

    def __init__(self, indptr: Rows, indices: Rows, blocks: Sequence[Rows]) -> None:
        """Look up the pairs inside each block once, for all bits."""
        self.indptr, self.indices = indptr.astype(np.int64), indices.astype(np.int64)
        self.start = np.concatenate([[0], np.cumsum([len(block) for block in blocks])]).astype(np.int64)
        self.points = np.concatenate([np.sort(block) for block in blocks]).astype(np.int64)
        self.first = np.zeros(len(self.points) + 1, np.int64)
        given = self.start, self.points, self.indptr, self.indices, self.first
        count = list_edges(*given, np.zeros(0, np.int64), np.zeros(0, np.int64))
        self.head, self.entry, self.reverse = (np.zeros(count, np.int64) for _ in range(3))
        list_edges(*given, self.head, self.entry)
        list_reverse(self.first, self.head, self.reverse)

    def __len__(self) -> int:
        """The number of blocks."""
        return len(self.start) - 1

    def members(self, b: int) -> Rows:
        """The points of a block."""
        return np.asarray(self.points[self.start[b] : self.start[b + 1]])

    def settle(self, a: Rows, z: Rows, order: Rows) -> None:
        """Optimise the bits z of these blocks in place, one after another; `a` are the weights of all entries."""
        settle_blocks(
            order, self.start, self.points, self.first, self.head, self.entry, self.reverse, self.indptr, self.indices,
            a, z,
        )  # fmt: skip
