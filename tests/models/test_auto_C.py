"""C = auto: twice the median uncapped step of the warm-up pairs, and nothing is learnt from them."""

import numpy as np
import pytest

import ohash
from ohash.engine.run import Run
from ohash.models.online.oh_params import USUAL_C


def data(n=200, d=12):
    rng = np.random.default_rng(3)
    i, j = rng.integers(0, n, 60), rng.integers(0, n, 60)
    return rng.normal(size=(n, d)), i, j, np.where(rng.random(60) < 0.5, 1, -1)


@pytest.mark.parametrize(
    "model", [ohash.OH(r=16, C="auto", dtype="float64"), ohash.MMOH(T=3, r=8, C="auto", dtype="float64")]
)
def test_it_is_twice_the_median_step_and_leaves_the_model_as_it_was(model):
    X, i, j, s = data()
    model.start(X.shape[1])
    W, version = np.array(model.W), model.version
    steps = []
    for one_i, one_j, sign in zip(i, j, s, strict=True):
        explained = model.learn_pair(X[one_i], X[one_j], int(sign), dry_run=True, C=1e-12)
        steps += [one.ratio for one in (explained if isinstance(explained, list) else [explained]) if one.updated]
    assert model.choose_C(X, i, j, s) == pytest.approx(2 * np.median(steps), rel=0.05)
    assert np.array_equal(model.W, W) and model.version == version and model.pairs == 0


def test_without_a_loss_it_is_the_papers():
    model = ohash.OH(r=16, C="auto")
    assert model.choose_C(np.ones((2, 4)), [0], [1], [1]) == USUAL_C


def test_nothing_is_learnt_before_it_is_a_number():
    X, i, j, s = data()
    with pytest.raises(ValueError, match=r"C must be a number .* got 'auto'; call choose_C"):
        ohash.OH(C="auto").learn(X, i, j, s)


def test_own_data_start_with_it_and_few_steps_are_capped():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 5, 800)
    X = (rng.normal(size=(5, 64))[labels] + 2 * rng.normal(size=(800, 64))).astype(np.float32)
    own = ohash.Dataset.from_arrays(X, labels=labels)
    params = ohash.experiment(own, pairs=2_500, judged_at="ends")
    assert params.model.C == 0 and "C" not in params.to_query()
    shares = {}
    for C in ("auto", 0.1):
        run = Run(params.with_values(C=C), own)
        while not run.done:
            run.step(2_500)
        shares[C] = run.snapshot("done")
    assert shares["auto"].model_at(0).C == shares["auto"].numbers["auto_C"] == run_C(shares["auto"]) > 0.1
    assert shares["auto"].numbers["clipped_rate"] < 0.5 < shares[0.1].numbers["clipped_rate"]


def run_C(now):
    return now.model_at(now.t).C


def test_a_live_change_is_a_number():
    with pytest.raises(ValueError, match="a change of C must be a number, got 'auto'"):
        ohash.experiment("digits", changes=[(10, "C", 0.0)])
