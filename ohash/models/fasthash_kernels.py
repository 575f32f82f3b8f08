"""What FastHash asks of trees and pairs in the inner loop."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core.compile import kernel


@kernel
def votes(
    X: npt.NDArray[np.float64], feature: Any, threshold: Any, left: Any, right: Any, value: Any, roots: Any, bit: Any,
    found: npt.NDArray[np.float64],
) -> None:  # fmt: skip
    """found[i, bit[t]] += the leaf of x_i in tree t; a leaf has feature -1, and x <= threshold goes left."""
    for i in range(X.shape[0]):
        for t in range(roots.shape[0]):
            node = roots[t]
            while feature[node] >= 0:
                node = left[node] if X[i, feature[node]] <= threshold[node] else right[node]
            found[i, bit[t]] += value[node]


@kernel
def fields(indptr: Any, indices: Any, a: Any, z: Any, block: Any, inside: Any, u: Any) -> None:
    """u[p] = Σ a_ij z_j over the neighbours j of i = block[p] that are not inside the block."""
    for p in range(block.shape[0]):
        total = np.int64(0)
        for e in range(indptr[block[p]], indptr[block[p] + 1]):
            if inside[indices[e]] < 0:
                total += a[e] * z[indices[e]]
        u[p] = total


@kernel
def reach(indptr: Any, indices: Any, residual: Any, source: int, z: Any) -> None:
    """Set z = +1 for every node that can be reached from the source over edges with something left."""
    waiting = np.empty(z.shape[0], np.int64)
    waiting[0], left = source, 1
    z[source] = 1
    while left:
        left -= 1
        node = waiting[left]
        for e in range(indptr[node], indptr[node + 1]):
            if residual[e] > 0 and z[indices[e]] < 0:
                z[indices[e]] = 1
                waiting[left] = indices[e]
                left += 1
