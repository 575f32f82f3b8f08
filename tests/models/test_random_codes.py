"""Random codes: fair, independent, a function of the content; and the paper's KLSH, which is LSH by another name."""

import numpy as np
import pytest

from ohash.core.codes import unpack
from tests.models.digits_data import build, fitted_map, split


def test_bits_are_fair_and_independent_even_of_near_vectors():
    X = np.arange(4000, dtype=np.float32)[:, None] * np.float32(1e-3) + np.ones(3, np.float32)
    bits = unpack(np.asarray(build("random_codes", r=70, seed=1).encode(X)), 70).astype(float)
    assert np.abs(bits.mean(axis=0)).max() < 4.5 / np.sqrt(4000)
    correlation = bits.T @ bits / 4000 - np.eye(70)
    assert np.abs(correlation).max() < 5 / np.sqrt(4000)
    assert abs((bits[1:] * bits[:-1]).mean()) < 4.5 / np.sqrt(70 * 4000)


def test_equal_vectors_have_equal_codes():
    model = build("random_codes", r=64)
    codes = model.encode(np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0]]))
    assert (codes[0] == codes[1]).all() and (codes[0] != codes[2]).any()


@pytest.mark.parametrize("seed", range(3))
def test_digits_score_is_chance(seed):
    """Ten classes: 0.1, plus what little luck at the top of 1,500 adds."""
    assert 0.09 < fitted_map("random_codes", seed) < 0.13


@pytest.mark.parametrize("seed", range(3))
def test_kernel_lsh_is_lsh_on_kernel_features(seed):
    """BASELINES section 5: LSH-K 0.596 at 32 bits, centred, unit-norm, 300 RBF anchors; single seeds vary by 0.04."""
    score = fitted_map("kernel_lsh", seed, "rbf", center="frozen")
    assert score == fitted_map("lsh", seed, "rbf", center="frozen") > 0.5
    _, X, _, _ = split(seed)
    assert build("kernel_lsh", seed=seed).encode(X).tobytes() == build("lsh", seed=seed).encode(X).tobytes()
