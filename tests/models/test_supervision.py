"""Which points are similar: by row, by pair and as a matrix alike, with one label per point and with several."""

import numpy as np
import pytest

from ohash.models.supervision import SharedLabels


@pytest.mark.parametrize("several", [False, True])
def test_rows_pairs_and_matrix_are_those_of_the_indicators(several):
    rng = np.random.default_rng(0)
    Q = (rng.random((40, 7)) < 0.3).astype(float) if several else np.eye(7)[rng.integers(0, 7, 40)]
    shared, wanted = SharedLabels(Q), Q @ Q.T > 0
    np.testing.assert_array_equal([shared.row(i) for i in range(40)], wanted)
    np.testing.assert_array_equal(shared.matrix(), wanted)
    i, j = rng.integers(0, 40, (2, 200))
    np.testing.assert_array_equal(shared.pairs(i, j), wanted[i, j])
    np.testing.assert_array_equal(shared.subset(i[:9]).matrix(), wanted[np.ix_(i[:9], i[:9])])
    assert several == (not (np.diag(wanted)).all())  # a point without a label is similar to none
