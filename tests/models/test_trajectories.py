"""Every implementation follows a transcription of its published algorithm as closely as its card says."""

import pytest

from ohash.models import hashers
from tests.models.trajectories.measure import MEASURES, data, deviation, points
from tests.selection import first

CHECKED = {key: spec.checked for key, spec in hashers().items() if spec.checked is not None}


def test_every_check_on_a_card_is_measured():
    assert CHECKED.keys() == MEASURES.keys()
    assert all(check.deviation <= 1e-9 for check in CHECKED.values())
    for key, check in CHECKED.items():
        assert check.compared.startswith("W ") == hashers()[key].linear, f"{key} has no W, or should name it"


@pytest.mark.parametrize("seed", first(range(3)))
@pytest.mark.parametrize(
    "key", [pytest.param(key, marks=pytest.mark.slow) if key == "fasthash" else key for key in sorted(MEASURES)]
)
def test_the_deviation_is_at_most_that_of_the_card(key, seed):
    assert MEASURES[key](seed) <= CHECKED[key].deviation


def test_another_algorithm_is_noticed():
    from ohash.models import HCOH, OECC
    from tests.models.trajectories import hcoh, oecc

    def build(W):
        return OECC(W=W, r=W.shape[1], update="boosted", dtype="float64")

    assert points(0, lambda W, them: oecc.follow_hinge(W, them, 0.1), build) > 1e-3
    X, y, W = data(0)
    model = HCOH(W=W, r=W.shape[1], dtype="float64")
    model.learn_points(X, [0], [y[0]])
    *_, expected = hcoh.follow(W, [(X[0], model.book[0])], 0.21)  # another step size
    assert deviation(model, expected) > 1e-3
