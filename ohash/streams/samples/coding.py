"""Features as bytes: what a sample stores of its float vectors, and how they come back.

``sqrt``: uint8 = 255 sqrt(x / scale), for descriptors >= 0: small energies, which are most of a GIST vector, keep their
precision. ``linear``: int8 = x / scale, one scale a column, for embeddings of both signs.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


def code_sqrt(X: Floats) -> tuple[npt.NDArray[np.uint8], Floats]:
    """Codes, and the scale (the largest value), of features >= 0.

    >>> codes, scale = code_sqrt(np.array([[0, 0.25, 1]], np.float32))
    >>> codes.tolist(), float(scale)
    ([[0, 128, 255]], 1.0)
    """
    if not (np.isfinite(X).all() and X.min() >= 0 and X.max() > 0):
        raise ValueError(f"X must be finite, >= 0 and not all 0, got values from {X.min()} to {X.max()}")
    scale = np.asarray(X.max(), np.float32)
    return np.round(255 * np.sqrt(X / scale)).astype(np.uint8), scale


def code_linear(X: Floats) -> tuple[npt.NDArray[np.int8], Floats]:
    """Codes -127..127, and the scale of every column.

    >>> code_linear(np.array([[-1, 0], [0.5, 0]], np.float32))[0].tolist()
    [[-127, 0], [64, 0]]
    """
    if not np.isfinite(X).all():
        raise ValueError(f"X must be finite, got {np.count_nonzero(~np.isfinite(X))} values that are not")
    most = np.abs(X).max(axis=0)
    scale: Floats = (np.where(most > 0, most, 1) / 127).astype(np.float32)
    return np.round(X / scale).astype(np.int8), scale


def decode(codes: npt.NDArray[Any], coding: str, scale: Floats) -> Floats:
    """The features that were coded, as float32.

    >>> decode(np.array([[0, 51, 255]], np.uint8), "sqrt", np.array(2, np.float32)).round(2).tolist()
    [[0.0, 0.07999999821186066, 2.0]]
    """
    if coding == "sqrt":
        return np.asarray(np.square(codes.astype(np.float32) / 255) * scale, np.float32)
    if coding == "linear":
        return np.asarray(codes.astype(np.float32) * scale, np.float32)
    raise ValueError(f"coding must be 'sqrt' or 'linear', got {coding!r}")
