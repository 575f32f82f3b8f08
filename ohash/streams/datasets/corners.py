"""Corners of pictures and the patches around them, for data sets whose tracks are points of pictures.

Positions are (row, column), in pixels from the centre of the first pixel.
"""

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Array, Floats

SIDE = 32  # pixels of a patch
DERIVATIVE_SIGMA = 2.0  # of the Gaussian that averages the products of the derivatives
HARRIS_K = 0.05
MIN_STRENGTH = 1e-4  # of the strongest corner


def to_grey(pixels: Array) -> Floats:
    """Grey values 0..1 of bytes (H, W) or (H, W, channels): the mean of the channels.

    >>> to_grey(np.full((1, 1, 3), 255, np.uint8)).tolist()
    [[1.0]]
    """
    grey: Floats = np.asarray(pixels, np.float64) / 255
    return grey.mean(axis=2) if grey.ndim == 3 else grey


def find_corners(image: Floats, spacing: int, border: int) -> npt.NDArray[np.int64]:
    """Harris corners (n, 2), strongest first, more than `spacing` pixels apart and `border` pixels inside the image.

    The strength is det A - k (trace A)² of the structure tensor A: the products of the derivatives, averaged.
    """
    from scipy import ndimage  # noqa: PLC0415
    from scipy.spatial.distance import cdist  # noqa: PLC0415

    rows, columns = (ndimage.sobel(image, axis=axis, mode="constant") for axis in (0, 1))
    A = [
        ndimage.gaussian_filter(product, DERIVATIVE_SIGMA, mode="constant")
        for product in (rows * rows, rows * columns, columns * columns)
    ]
    strength = A[0] * A[2] - A[1] ** 2 - HARRIS_K * (A[0] + A[2]) ** 2
    peaks = strength == ndimage.maximum_filter(strength, 2 * spacing + 1, mode="nearest")
    peaks &= strength > MIN_STRENGTH * strength.max()
    inside = np.zeros_like(peaks)
    inside[border : len(peaks) - border, border : peaks.shape[1] - border] = True
    peaks &= inside
    corners = np.argwhere(peaks)
    corners = corners[np.argsort(-strength[peaks], kind="stable")]
    # Only equal strengths leave two peaks within one window: the first stays.
    close = np.triu(cdist(corners, corners, "chebyshev") <= spacing, 1).any(axis=0)
    return corners[~close]


def cut_patches(image: Floats, centres: Floats, warp: Floats, side: int = SIDE) -> Floats:
    """Patches (n, side, side) around centres (n, 2): pixel p, counted from the middle, shows centre + warp p.

    >>> cut_patches(np.arange(25.0).reshape(5, 5), np.array([[2.0, 2.0]]), np.eye(2), 3)[0].tolist()
    [[6.0, 7.0, 8.0], [11.0, 12.0, 13.0], [16.0, 17.0, 18.0]]
    """
    from scipy import ndimage  # noqa: PLC0415

    grid = np.indices((side, side)).reshape(2, -1) - (side - 1) / 2
    places = (warp @ grid)[:, None, :] + centres.T[:, :, None]
    patches: Floats = ndimage.map_coordinates(image, places, order=1, mode="reflect")
    return patches.reshape(-1, side, side)


def share_out(available: list[int], total: int) -> list[int]:
    """`total` dealt one by one to places that hold so many, as evenly as they allow; all if they hold fewer.

    >>> share_out([10, 1000, 1000], 500), share_out([1, 2], 500)
    ([10, 245, 245], [1, 2])
    """
    share = [0] * len(available)
    while (left := min(total, sum(available)) - sum(share)) > 0:
        for i in [i for i, most in enumerate(available) if share[i] < most][:left]:
            share[i] += 1
    return share
