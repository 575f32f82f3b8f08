"""HCOH: codewords are Hadamard rows that never change, and a step is the gradient of |tanh(Wᵀx) - b|² / 2."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ohash.models.online.codewords import hadamard_words, targets
from ohash.models.online.hcoh import HCOH, HCOHParams
from tests.models.digits import mean_map


@pytest.mark.parametrize("r", [8, 16, 32, 64])
def test_codewords_are_orthogonal_but_for_the_replaced_column(r):
    B = hadamard_words(r, 3, 2, 0, r, "lsh").astype(int)
    np.testing.assert_array_equal(B[:, 1:] @ B[:, 1:].T, r * np.eye(r) - 1)
    assert B[:, 0].sum() == 0, "the replaced column is balanced"
    assert (np.abs(B.sum(axis=0)) < r).all(), "no bit is the same for every class"


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 70), st.integers(0, 9), st.integers(1, 80), st.integers(1, 60), st.sampled_from(["lsh", "columns"])
)
def test_the_book_grows_and_old_words_stay(r, seed, classes, cut, mapping):
    whole = hadamard_words(r, seed, classes, 0, 120, mapping)
    assert whole.shape == (120, r) and set(np.unique(whole)) <= {-1, 1}
    np.testing.assert_array_equal(hadamard_words(r, seed, classes, cut, 30, mapping), whole[cut : cut + 30])


@pytest.mark.parametrize("mapping", ["lsh", "columns"])
def test_mapped_codewords_are_far_apart(mapping):
    B = hadamard_words(48, 0, 2, 0, 64, mapping).astype(int)
    D = (48 - B @ B.T) / 2
    others = D[~np.eye(64, dtype=bool)]
    assert abs(others.mean() - 24) < 1 and others.min() >= 8


def test_majority_of_several_labels():
    book = np.array([[1, 1, -1, 1], [1, -1, -1, 1], [-1, -1, -1, -1]], np.int8)
    flags = np.zeros((4, 9), bool)
    flags[0, [7, 2, 5]] = flags[1, [2, 5]] = flags[2, [5]] = True
    words, has = targets(book, np.array([7, 2, 5]), flags)
    np.testing.assert_array_equal(has, [True, True, True, False])
    np.testing.assert_array_equal(words[0], [1, -1, -1, 1])
    np.testing.assert_array_equal(words[1], [1, -1, -1, 1])  # a tie goes to label 2
    np.testing.assert_array_equal(words[2], [-1, -1, -1, -1])


def test_a_step_is_the_gradient():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 6))
    model = HCOH(HCOHParams(r=8, eta=0.3, dtype="float64"))
    for t in range(5):
        model.start(6)
        W = model._Wt.T.copy()
        model.learn_points(X, [t], [t % 3])
        b = model.book[list(model.classes).index(t % 3)]
        expected = np.zeros_like(W)
        for at in np.ndindex(W.shape):
            up, down = W.copy(), W.copy()
            up[at] += 1e-6
            down[at] -= 1e-6
            losses = [0.5 * ((np.tanh(X[t] @ V) - b) ** 2).sum() for V in (up, down)]
            expected[at] = (losses[0] - losses[1]) / 2e-6
        np.testing.assert_allclose(model._Wt.T, W - 0.3 * expected, atol=1e-8)


@pytest.mark.slow
def test_digits():
    assert mean_map("hcoh") > 0.853 - 0.06
