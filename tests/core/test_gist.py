"""GIST-512 against a literal twin of the recipe, and the laws a descriptor of this kind must obey."""

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from ohash import gist512
from ohash.core import gist


def literal(image):
    """The recipe of the module docstring, one image, float64, no short cuts."""
    x = image.astype(float)
    x = np.log1p((x - x.min()) / (x.max() - x.min()) * 255)

    def frequencies(n):
        return np.meshgrid(np.fft.fftfreq(n), np.fft.fftfreq(n))

    x = np.pad(x, 5, "symmetric")
    fx, fy = frequencies(len(x))
    low_pass = np.exp(-((fx**2 + fy**2) * len(x) ** 2) / (4 / np.sqrt(np.log(2))) ** 2)
    x = x - np.fft.ifft2(np.fft.fft2(x) * low_pass).real
    x = (x / (0.2 + np.sqrt(np.abs(np.fft.ifft2(np.fft.fft2(x**2) * low_pass)))))[5:-5, 5:-5]
    spectrum = np.fft.fft2(np.pad(x, 32, "symmetric"))
    fx, fy = frequencies(len(spectrum))
    edges = np.linspace(0, len(x), 5).astype(int)
    descriptor = []
    for i in range(4):
        for k in range(8):
            theta = np.angle(np.exp(1j * (np.arctan2(fy, fx) + np.pi * k / 8)))
            G = np.exp(-3.5 * (np.hypot(fx, fy) / (0.3 / 1.85**i) - 1) ** 2 - 2 * np.pi * theta**2)
            response = np.abs(np.fft.ifft2(spectrum * G))[32:-32, 32:-32]
            for top, bottom in pairwise(edges):
                for left, right in pairwise(edges):
                    descriptor.append(response[top:bottom, left:right].mean())
    return np.array(descriptor)


@pytest.fixture
def images():
    return np.random.default_rng(0).integers(0, 256, (5, 32, 32), np.uint8)


@pytest.mark.parametrize("side", [8, 28, 32, 33, 50])
def test_equals_the_literal_recipe(side):
    images = np.random.default_rng(side).random((2, side, side))
    expected = np.array([literal(image) for image in images])
    np.testing.assert_allclose(gist512(images), expected, rtol=0, atol=3e-6 * expected.max())


@pytest.mark.parametrize(("degrees", "orientation"), [(0, 0), (45, 6), (90, 4), (135, 2)])
def test_a_grating_peaks_at_its_orientation_and_scale(degrees, orientation):
    y, x = np.mgrid[:64, :64]
    angle = np.radians(degrees)
    grating = np.sin(2 * np.pi * 0.3 / 1.85 * (x * np.cos(angle) + y * np.sin(angle)))
    energy = gist512(grating).reshape(4, 8, 16).mean(axis=2)
    assert np.unravel_index(energy.argmax(), energy.shape) == (1, orientation)


def test_the_energy_is_in_the_block_where_the_texture_is():
    image = np.zeros((64, 64))
    image[16:32, 48:64] = np.random.default_rng(0).random((16, 16))
    energy = gist512(image).reshape(32, 4, 4).mean(axis=0)
    assert np.unravel_index(energy.argmax(), energy.shape) == (1, 3)


@pytest.mark.parametrize(("gain", "offset"), [(0.01, 0), (3, -7), (1000, 12345)])
def test_gain_and_offset_do_not_matter(images, gain, offset):
    before, after = gist512(images), gist512(images.astype(np.float32) * np.float32(gain) + np.float32(offset))
    assert np.linalg.norm(before - after) < 1e-5 * np.linalg.norm(before)


def test_shape_and_dtype(images):
    colour = np.stack([images] * 3, axis=-1)
    for batch in (images, colour):
        assert gist512(batch).shape == (5, 512)
        assert gist512(batch[0]).shape == (1, 512)
        assert gist512(batch).dtype == np.float32
    np.testing.assert_allclose(gist512(colour), gist512(images), rtol=1e-4, atol=1e-6)


def test_a_batch_equals_one_by_one_across_blocks(images, monkeypatch):
    one_by_one = np.concatenate([gist512(image) for image in images])
    # Not bit for bit: the transforms of a batch go through vector instructions, which round differently.
    np.testing.assert_allclose(gist512(images), one_by_one, rtol=0, atol=1e-6 * one_by_one.max())
    monkeypatch.setattr(gist, "BLOCK_PIXELS", 2 * 96 * 96)
    np.testing.assert_allclose(gist512(images), one_by_one, rtol=0, atol=1e-6 * one_by_one.max())


def test_the_same_batch_gives_the_same_bits(images):
    many = np.tile(images, (20, 1, 1))
    np.testing.assert_array_equal(gist512(many), gist512(many))


def test_the_input_is_left_alone(images):
    copy = images.copy()
    gist512(images)
    np.testing.assert_array_equal(images, copy)


def test_not_square_is_cut_to_the_centred_square(images):
    wide = np.pad(images, ((0, 0), (0, 0), (3, 4)), constant_values=255)
    np.testing.assert_allclose(gist512(wide), gist512(images), rtol=0, atol=1e-7)


def test_a_constant_image_is_all_zero():
    np.testing.assert_array_equal(gist512(np.full((2, 16, 16), 7)), np.zeros((2, 512)))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.zeros(64), r"images must be \(n, H, W\).*got shape \(64,\)"),
        (np.zeros((2, 16, 16, 4)), r"images must be .*got shape \(2, 16, 16, 4\)"),
        (np.zeros((0, 16, 16)), r"images must be .*not empty, got shape \(0, 16, 16\)"),
        (np.zeros((2, 7, 32)), r"images must be at least 8 x 8 pixels, got shape \(2, 7, 32\)"),
        (np.array([["a"]]), r"images must hold real numbers, got dtype <U1"),
    ],
)
def test_bad_input_is_named(bad, message):
    with pytest.raises(ValueError, match=message):
        gist512(bad)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_not_finite_is_placed(value, monkeypatch):
    monkeypatch.setattr(gist, "BLOCK_PIXELS", 1)
    images = np.zeros((4, 16, 20))
    images[2, 5, 9] = value
    with pytest.raises(ValueError, match=f"images must be finite, got {value} in image 2 at row 5, column 9"):
        gist512(images)


def test_importing_ohash_stays_light():
    heavy = "sklearn", "pandas", "skimage", "scipy.fft", "scipy.ndimage"
    code = f"import sys, ohash; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
