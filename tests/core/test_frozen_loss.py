"""R and l of a model that never learns, against the explaining form pair by pair."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ohash.core.frozen_loss import score_pairs
from ohash.core.loss import dissimilar_threshold


def literal(P, i, j, s, alpha, br, largest):
    """D_h, R and l of one pair after another, by sorting."""
    scored = []
    for a, b, sign in zip(i, j, s, strict=True):
        models = []
        for p_i, p_j in zip(P[a], P[b], strict=True):
            differ = (p_i >= 0) != (p_j >= 0)
            D = int(differ.sum())
            R = max(0.0, D - alpha) if sign > 0 else max(0.0, br - D)
            pool = np.flatnonzero(differ == (sign > 0))
            margins = np.sort(np.minimum(abs(p_i), abs(p_j))[pool].astype(float))
            p0 = D - alpha if sign > 0 else int(np.ceil(br)) - D
            chosen = (margins[::-1] if largest else margins)[: max(0, p0)]
            models.append((D, R, 2 * chosen.sum() + np.sqrt(R) if R > 0 else 0.0))
        nearest = min(models)[0]
        if sign > 0:
            models = [min(models, key=lambda model: model[1])]
        scored.append((nearest, sum(m[1] for m in models), sum(m[2] for m in models)))
    return np.array(scored).T


@given(st.integers(1, 150), st.integers(1, 4), st.integers(0, 3), st.floats(0.05, 1), st.booleans(), st.integers(0, 99))
@settings(deadline=None, max_examples=60)
def test_it_equals_the_literal_twin(r, T, alpha, beta, largest, seed):
    rng = np.random.default_rng(seed)
    P = rng.normal(size=(12, T, r)) * rng.integers(0, 2, (12, T, r))  # zeros and ties, too
    i, j = rng.integers(0, 12, (2, 40))
    s = rng.choice(np.array([-1, 1], np.int8), 40)
    br = dissimilar_threshold(beta, r)
    D_h, R, loss = np.empty(40, np.int64), np.empty(40), np.empty(40)
    score_pairs(P, i, j, s, alpha, br, largest, D_h, R, loss)
    expected = literal(P, i, j, s, alpha, br, largest)
    assert np.array_equal(D_h, expected[0])
    np.testing.assert_allclose(R, expected[1], rtol=1e-12, atol=0)  # of T models added up, in any order
    assert loss == pytest.approx(expected[2], rel=1e-12)
