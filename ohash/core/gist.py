"""GIST-512: an image as the mean energy of 32 oriented band-pass filters in a 4 x 4 grid of blocks.

The descriptor of Oliva and Torralba (IJCV 2001) with the parameters of the LabelMe toolbox: 4 scales of 8 orientations,
4 x 4 blocks, prefilter at 4 cycles per image. Our own code, from the formulas below.

1. Grey = mean of the channels; the largest centred square; min-max to 0..255, so gain and offset do not matter.
2. Prefilter: log(1 + x), minus its low-pass, divided by 0.2 + the local standard deviation: contrast is made even.
3. Filter i, k (scale 0..3 from fine to coarse, orientation 0..7) in the Fourier domain, with ρ in cycles per pixel and
   φ the angle of the frequency: G = exp(-3.5 (ρ / ρ_i - 1)² - 2π θ²), ρ_i = 0.3 / 1.85^i, θ = φ + πk/8 wrapped to ±π.
4. |response|, averaged in 4 x 4 blocks.

Both filterings mirror the image at its border (by 5 and by 32 pixels), so that the border does not count as an edge.
The column ``((i * 8) + k) * 16 + row * 4 + column`` holds scale i, orientation k, block (row, column).

Compared with the toolbox's LMgist in GNU Octave: descriptors agree to 2e-6, up to the order of the blocks, which MATLAB
lists column by column. To repeat it, give both the same square pictures, so that nothing is resized. In Octave::

    param.imageSize = size(img); param.orientationsPerScale = [8 8 8 8];
    param.numberBlocks = 4; param.fc_prefilt = 4;
    gist = LMgist(img, '', param); save -v7 gist.mat gist

and here ``theirs = scipy.io.loadmat("gist.mat")["gist"].reshape(-1, 32, 4, 4).transpose(0, 1, 3, 2).reshape(-1, 512)``,
then ``abs(theirs - gist512(img)).max()``.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Numbers, Singles
from ohash.runtime.threads import in_parallel

SCALES, ORIENTATIONS, BLOCKS = 4, 8, 4
DIMENSIONS = SCALES * ORIENTATIONS * BLOCKS**2
MIN_SIDE = 8  # below it a block is less than 2 pixels wide and the coarse filters see nothing
PREFILTER_PAD, FILTER_PAD = 5, 32
PREFILTER_CYCLES = 4.0
# A filter this far below its peak is lost in the rounding of float32; those frequencies are not computed.
NEGLIGIBLE = 1e-8
# Padded pixels worked on at a time: the complex work arrays of a block, 1 MB each, then stay in cache.
BLOCK_PIXELS = 1 << 17

Images = Numbers
Complex = npt.NDArray[np.complex64]


def gist512(images: npt.ArrayLike) -> Singles:
    """GIST descriptors of images, (n, 512) float32; one image gives (1, 512).

    Parameters
    ----------
    images
        Grey (n, H, W) or colour (n, H, W, 3), or one image (H, W) or (H, W, 3); any real dtype and range. Images that
        are not square are cut to their centred square, of side min(H, W), at least 8: nothing is distorted, as in the
        toolbox. Resize first if the borders matter.

    Images are worked on in blocks, many per FFT, so memory does not grow with n beyond the result, and `images` may be
    memory-mapped. An image's result does not depend on the others, up to float32 rounding.

    >>> stripes = np.sin(np.arange(32) * 2 * np.pi * 0.16) * np.ones((32, 1))
    >>> energy = gist512(stripes).reshape(4, 8, 16).mean(axis=2)
    >>> [int(v) for v in np.unravel_index(energy.argmax(), energy.shape)]
    [1, 0]
    """
    stack = _stack(images)
    side = min(stack.shape[1:3])
    padded = side + 2 * FILTER_PAD
    step = max(1, BLOCK_PIXELS // padded**2)
    descriptors = np.empty((len(stack), DIMENSIONS), np.float32)

    def work(start: int) -> None:
        grey = _grey(stack[start : start + step], start)
        descriptors[start : start + step] = _energies(_prefilter(grey))

    # The transforms release the interpreter lock, so threads are enough; blocks do not depend on each other.
    in_parallel(work, range(0, len(stack), step))
    return descriptors


def _stack(images: npt.ArrayLike) -> Images:
    """`images` as (n, H, W) or (n, H, W, 3); the values are not checked."""
    stack = np.asanyarray(images)
    if stack.dtype.kind not in "fiub":
        raise ValueError(f"images must hold real numbers, got dtype {stack.dtype}")
    shape = stack.shape
    # A last axis of 3 is colour: a picture 3 pixels wide would be too small anyway.
    if stack.ndim == 2 or (stack.ndim == 3 and shape[-1] == 3):
        stack = stack[None]
    if stack.ndim not in (3, 4) or (stack.ndim == 4 and stack.shape[-1] != 3) or len(stack) == 0:
        raise ValueError(
            "images must be (n, H, W), (n, H, W, 3) or one image (H, W) or (H, W, 3), and not empty, "
            f"got shape {shape}; drop an alpha channel with images[..., :3]"
        )
    if min(stack.shape[1:3]) < MIN_SIDE:
        raise ValueError(f"images must be at least {MIN_SIDE} x {MIN_SIDE} pixels, got shape {shape}")
    return stack


def _grey(block: Images, first: int) -> Singles:
    """Mean of the channels, centred square, each image stretched to 0..255 (a constant image to 0)."""
    height, width = block.shape[1:3]
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    block = block[:, top : top + side, left : left + side].astype(np.float64)
    if not np.isfinite(block).all():
        image, row, column, *_ = (int(v) for v in np.argwhere(~np.isfinite(block))[0])
        raise ValueError(
            f"images must be finite, got {block[image, row, column]} in image {first + image} "
            f"at row {top + row}, column {left + column}; remove that image or fill the pixel"
        )
    grey = block.mean(axis=3) if block.ndim == 4 else block
    low, high = grey.min(axis=(1, 2), keepdims=True), grey.max(axis=(1, 2), keepdims=True)
    stretched: Singles = ((grey - low) * (255 / np.where(high > low, high - low, 1))).astype(np.float32)
    return stretched


def _prefilter(grey: Singles) -> Singles:
    """Step 2: local mean removed, local contrast made even."""
    from scipy import fft  # noqa: PLC0415 - a tenth of a second that `import ohash` need not pay

    side = grey.shape[1]
    mirror = _mirror(side, PREFILTER_PAD)
    x = np.log1p(grey)[:, mirror[:, None], mirror]
    n = len(mirror)
    low_pass = _low_pass(n)

    def blur(images: Singles) -> Singles:
        blurred: Singles = fft.irfft2(fft.rfft2(images) * low_pass, s=(n, n), overwrite_x=True)
        return blurred

    x -= blur(x)
    # The blurred square may fall below 0 by rounding, where the image is flat.
    x /= np.float32(0.2) + np.sqrt(np.maximum(blur(x * x), 0))
    inner = slice(PREFILTER_PAD, PREFILTER_PAD + side)
    return x[:, inner, inner]


def _energies(x: Singles) -> Singles:
    """Steps 3 and 4: (n, side, side) -> (n, 512).

    Only the rectangle of frequencies that a filter lets through is transformed back, one axis at a time, and what lies
    outside the picture is cut away between the two. Moving that rectangle to frequency 0, which is where `ifft` pads it
    from, multiplies the response by a phase and leaves its magnitude as it is.
    """
    from scipy import fft  # noqa: PLC0415

    images, side = x.shape[:2]
    mirror = _mirror(side, FILTER_PAD)
    n = len(mirror)
    spectrum: Complex = fft.fftshift(fft.fft2(x[:, mirror[:, None], mirror]), axes=(1, 2))
    inner = slice(FILTER_PAD, FILTER_PAD + side)
    edges = np.linspace(0, side, BLOCKS + 1).astype(int)
    areas = np.outer(np.diff(edges), np.diff(edges)).astype(np.float32)
    energies = np.empty((images, SCALES * ORIENTATIONS, BLOCKS, BLOCKS), np.float32)
    for index, (rows, columns, G) in enumerate(_filters(n)):
        across: Complex = fft.ifft(spectrum[:, rows, columns] * G, n=n, axis=2)
        response: Complex = fft.ifft(across[:, :, inner], n=n, axis=1)
        magnitude = np.abs(response[:, inner])
        sums = np.add.reduceat(np.add.reduceat(magnitude, edges[:-1], axis=2), edges[:-1], axis=1)
        energies[:, index] = sums / areas
    return energies.reshape(images, DIMENSIONS)


def _mirror(side: int, pad: int) -> npt.NDArray[np.int64]:
    """Indices that mirror 0..side-1 beyond both ends, edge pixels repeated, as often as `pad` needs.

    >>> _mirror(3, 4).tolist()
    [2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0]
    """
    index = np.arange(-pad, side + pad) % (2 * side)
    return np.minimum(index, 2 * side - 1 - index)


@lru_cache(maxsize=16)
def _low_pass(n: int) -> Singles:
    """Gaussian that passes half at PREFILTER_CYCLES cycles per image, for the half spectrum of an n x n image."""
    fy, fx = np.fft.fftfreq(n, 1 / n)[:, None], np.fft.rfftfreq(n, 1 / n)
    gaussian: Singles = np.exp(-(fx**2 + fy**2) * np.log(2) / PREFILTER_CYCLES**2).astype(np.float32)
    return gaussian


@lru_cache(maxsize=8)
def _filters(n: int) -> tuple[tuple[slice, slice, Singles], ...]:
    """The 32 filters of an n x n image: the rows and columns of the centred spectrum it passes, and its values."""
    frequencies = np.fft.fftshift(np.fft.fftfreq(n))
    fy, fx = frequencies[:, None], frequencies
    radius, angle = np.hypot(fx, fy), np.arctan2(fy, fx)
    bank = []
    for scale in range(SCALES):
        for orientation in range(ORIENTATIONS):
            theta = angle + np.pi * orientation / ORIENTATIONS
            theta -= 2 * np.pi * (theta > np.pi)
            centre = 0.3 / 1.85**scale
            width = 2 * np.pi * 16 * ORIENTATIONS**2 / 32**2
            G = np.exp(-3.5 * (radius / centre - 1) ** 2 - width * theta**2).astype(np.float32)
            rows, columns = _support(G.max(axis=1)), _support(G.max(axis=0))
            bank.append((rows, columns, np.ascontiguousarray(G[rows, columns])))
    return tuple(bank)


def _support(profile: Singles) -> slice:
    support = np.flatnonzero(profile > NEGLIGIBLE)
    return slice(int(support[0]), int(support[-1]) + 1)
