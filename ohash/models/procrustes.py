"""Orthogonal Procrustes, also where the usual algorithm gives up."""

from typing import Any

import numpy as np
import numpy.typing as npt

Real = npt.NDArray[np.float64]


def nearest_rotation(M: npt.NDArray[Any]) -> Real:
    """The orthogonal R that maximises tr(RᵀM).

    Divide and conquer may not converge on a matrix of low rank, as that of ITQ with more bits than dimensions; the QR
    iteration, which is slower, does.

    >>> R = nearest_rotation(np.diag([3.0, 2.0, 0.0]))
    >>> bool(np.allclose(R @ R.T, np.eye(3))), R[0, 0].round(6)
    (True, np.float64(1.0))
    """
    try:
        U, _, Vt = np.linalg.svd(M)
    except np.linalg.LinAlgError:
        from scipy.linalg import svd  # noqa: PLC0415 (scanning the methods should load nothing heavy)

        U, _, Vt = svd(M, lapack_driver="gesvd")
    return np.asarray(U @ Vt)
