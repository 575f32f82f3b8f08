"""Rotated sign: orthonormal projections, the angle law, better than independent ones on average."""

import numpy as np
import pytest

from ohash.core.codes import hamming
from ohash.models.quantizers.rotated import random_rotation
from tests.models.digits_data import build, fitted_map


@pytest.mark.parametrize("r", [3, 8, 9, 21])
def test_every_block_of_d_columns_is_orthonormal(r):
    R = random_rotation(8, r, np.random.default_rng(r))
    assert R.shape == (8, r)
    for start in range(0, r, 8):
        block = R[:, start : start + 8]
        np.testing.assert_allclose(block.T @ block, np.eye(block.shape[1]), atol=1e-12)


def test_the_rotation_is_uniform():
    """A Haar rotation has no preferred sign: the mean of its entries vanishes, E[R_ij^2] = 1/d."""
    rng = np.random.default_rng(0)
    drawn = np.stack([random_rotation(4, 4, rng) for _ in range(4000)])
    assert np.abs(drawn.mean(axis=0)).max() < 5 * 0.5 / np.sqrt(4000)
    np.testing.assert_allclose((drawn**2).mean(axis=0), 0.25, atol=0.02)


@pytest.mark.parametrize("angle", [0.3, 1.2, 2.5])
def test_the_share_of_differing_bits_is_the_angle(angle):
    """P[bits differ] = angle / pi; bits of one rotation are only mildly dependent."""
    r = 8192
    X = np.zeros((2, 16))
    X[0, 0], X[1, :2] = 1, (np.cos(angle), np.sin(angle))
    codes = build("rotated", r=r, seed=3, dtype="float64").encode(X)
    p = angle / np.pi
    assert abs(hamming(codes[0], codes[1]) / r - p) < 3 * np.sqrt(p * (1 - p) / r)


@pytest.mark.parametrize("seed", range(3))
def test_digits(seed):
    """Measured 0.490 to 0.504 at 32 bits, centred and unit-norm; LSH 0.475 to 0.487."""
    assert fitted_map("rotated", seed) > 0.44
