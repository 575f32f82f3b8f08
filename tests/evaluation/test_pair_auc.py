"""The prequential AUC against scikit-learn and a literal count."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from ohash.evaluation.pair_auc import PairAUC, area_under, checkpoint_mean
from tests.evaluation import reference

PAIRS = st.lists(st.tuples(st.integers(0, 8), st.sampled_from([-1, 1])), max_size=40)


@settings(max_examples=80, deadline=None)
@given(PAIRS, st.integers(1, 15), st.lists(st.integers(1, 20), min_size=1, max_size=6))
def test_it_equals_scikit_learn_on_the_window_whatever_the_chunks(pairs, window, chunks):
    auc = PairAUC(8, window)
    pushed = 0
    for size in [*chunks, len(pairs)]:
        part = pairs[pushed : pushed + size]
        auc.update([D for D, _ in part], [s for _, s in part])
        pushed += len(part)
        last = pairs[max(0, pushed - window) : pushed]
        D_h, s = [D for D, _ in last], [s for _, s in last]
        assert len(auc) == len(last)
        if {1, -1} <= set(s):
            assert auc.value == pytest.approx(roc_auc_score(np.array(s) > 0, -np.array(D_h)), abs=1e-12)
            assert auc.value == pytest.approx(reference.auc(D_h, s), abs=1e-12)
        else:
            assert np.isnan(auc.value)
        similar, dissimilar = auc.counts
        assert similar.tolist() == np.bincount([D for D, x in last if x > 0], minlength=9).tolist()
        assert dissimilar.tolist() == np.bincount([D for D, x in last if x < 0], minlength=9).tolist()


def test_the_distance_under_several_models_is_the_least():
    many, one = PairAUC(9, 10), PairAUC(9, 10)
    many.update([[3, 5], [9, 2], [4, 4]], [1, -1, -1])
    one.update([3, 2, 4], [1, -1, -1])
    assert many.value == one.value == 0.5


def test_a_window_goes_on_from_its_saved_state():
    rng = np.random.default_rng(0)
    D_h, s = rng.integers(0, 17, 90), rng.choice([-1, 1], 90)
    auc = PairAUC(16, 25)
    auc.update(D_h[:40], s[:40])
    again = PairAUC.from_state(auc.state())
    for window in (auc, again):
        window.update(D_h[40:50], s[40:50])
    assert auc.value == again.value == reference.auc(D_h[25:50], s[25:50])
    for window in (auc, again):
        window.update(D_h[50:], s[50:])
    assert auc.value == again.value == reference.auc(D_h[65:], s[65:])


def test_the_trapezoid_weighs_uneven_checkpoints_and_the_mean_does_not():
    assert area_under([0, 10, 1000], [0.0, 0.5, 0.5]) == pytest.approx((2.5 + 495) / 1000)
    assert checkpoint_mean([0.0, 0.5, 0.5]) == pytest.approx(1 / 3)
    assert area_under([5], [0.25]) == 0.25


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PairAUC(0, 5), r"r_max must be an integer >= 1"),
        (lambda: PairAUC(8, 0), r"window must be an integer >= 1"),
        (lambda: PairAUC(8, 5).update([9], [1]), r"D_h must lie in 0 to r_max = 8, got 9"),
        (lambda: PairAUC(8, 5).update([0.5], [1]), r"D_h must be integers"),
        (lambda: PairAUC(8, 5).update([1], [0]), r"s must hold \+1"),
        (lambda: PairAUC(8, 5).update([1, 2], [1]), r"s must hold.*each of the 2 pairs"),
        (lambda: area_under([0, 0], [1.0, 1.0]), r"pairs must rise"),
        (lambda: area_under([0], [1.0, 1.0]), r"values must be a non-empty vector as long as pairs"),
        (lambda: checkpoint_mean([]), r"values must be a non-empty vector"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
