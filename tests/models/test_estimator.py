"""Every method as a scikit-learn estimator: scikit-learn's own checks, pipelines, grids, chunks."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from ohash.core.codes import unpack
from ohash.models import MMOH, OH, HashingEstimator, registry
from ohash.models.estimator import pairs_from_labels

FAST = ("itq", "lsh", "oh", "hcoh")  # one of each kind; the others are slow only in number
SMALL = {"trees": 3, "iterations": 3, "neighbours": 5, "pool": 100}  # enough for the few rows of the checks
INSTALLED = [key for key, spec in registry.hashers().items() if not spec.missing]
X, y = load_digits(return_X_y=True)
X, y = X[:600], y[:600]


def estimator(key, **options):
    wanted = {"r": 8} | SMALL | options
    return HashingEstimator(key, **{name: value for name, value in wanted.items() if name in registry.find(key).table})


@parametrize_with_checks([estimator(key) for key in INSTALLED if key in FAST])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([estimator(key) for key in INSTALLED if key not in FAST])
def test_scikit_learns_own_checks_of_the_other_methods(estimator, check):
    check(estimator)


def test_it_goes_through_pipeline_and_grid():
    pipeline = make_pipeline(StandardScaler(), HashingEstimator("itq"), KNeighborsClassifier(3, metric="hamming"))
    grid = GridSearchCV(
        pipeline,
        [
            {"hashingestimator__r": [4, 32]},
            {"hashingestimator__method": ["lsh", "oh"], "hashingestimator__r": [16]},
            {"hashingestimator__method": ["hcoh"], "hashingestimator__eta": [0.05]},
        ],
        cv=3,
    ).fit(X, y)
    scores = grid.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all() and scores[1] > scores[0] + 0.2, "more bits, better neighbours"


def test_codes_are_those_of_the_model():
    for method, T in ((OH, 1), (MMOH, 4)):
        for output in ("pm1", "packed"):
            fitted = HashingEstimator(method.key, output=output, r=12).fit(X, y)
            codes = np.asarray(fitted.hasher_.encode(X)).reshape(T, len(X), 2)
            expected = [unpack(part, 12) if output == "pm1" else part for part in codes]
            given = fitted.transform(X)
            assert np.array_equal(given, np.concatenate(expected, axis=1))
            assert given.dtype == (np.int8 if output == "pm1" else np.uint8)
            assert len(fitted.get_feature_names_out()) == given.shape[1]
    names = HashingEstimator("lsh", r=3).set_output(transform="pandas").fit(X).transform(X).columns
    assert list(names) == ["lsh_bit0", "lsh_bit1", "lsh_bit2"]


@pytest.mark.parametrize(
    "key",
    [
        key if key in FAST else pytest.param(key, marks=pytest.mark.slow)
        for key in INSTALLED
        if registry.find(key).consumes in ("pairs", "points", "chunks")
    ],
)
def test_partial_fit_goes_on(key):
    model = estimator(key, chunk=50, batch=20)
    names = np.array(list("abcdefghij"))[y]
    for start in range(0, 600, 200):
        assert model.partial_fit(X[start : start + 200], names[start : start + 200]) is model
    again = clone(model).fit(X[:200], names[:200])
    again.partial_fit(X[200:400], names[200:400]).partial_fit(X[400:], names[400:])
    assert np.array_equal(model.transform(X), again.transform(X))
    assert np.array_equal(pickle.loads(pickle.dumps(model)).transform(X), model.transform(X))
    assert model.hasher_.version > 0


def test_methods_without_a_stream_have_no_partial_fit():
    assert not hasattr(HashingEstimator("itq"), "partial_fit") and hasattr(HashingEstimator("oh"), "partial_fit")


def test_labels_reach_the_model_as_they_would_by_hand():
    fitted = HashingEstimator("hcoh", r=16).fit(X, y)
    by_hand = registry.find("hcoh").hasher(r=16, center="frozen")
    by_hand.warm_up(X)
    by_hand.learn_points(X, np.arange(len(X)), y)
    assert np.array_equal(fitted.hasher_.encode(X), by_hand.encode(X))
    flags = np.eye(10, dtype=int)[y]
    assert HashingEstimator("hcoh", r=16).fit(X, flags).transform(X).shape == (600, 16)
    assert HashingEstimator("oh", r=16).fit(X[:100], flags[:100]).transform(X).shape == (600, 16)


def test_pairs_follow_the_labels():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 5, 200)
    for given in (labels, np.eye(5, dtype=bool)[labels]):
        i, j, s = pairs_from_labels(given, 6, np.random.default_rng(1))
        assert len(s) == 1200 and (s == 1).sum() == 600 and (i != j).all()
        assert ((labels[i] == labels[j]) == (s == 1)).all()
        assert len(np.unique(j)) > 190, "partners come from everywhere"
        assert (np.bincount(i) == 6).all() and not (np.diff(i) >= 0).all(), "every row, in random order"
    i, j, s = pairs_from_labels(np.array([0, 1, 1]), 2, np.random.default_rng(1))
    assert 0 not in i[s == 1] and len(s) == 5
    assert (pairs_from_labels(np.zeros(4, int), 2, np.random.default_rng(1))[2] == 1).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "nosuch"}, "method must be one of .*, got 'nosuch'"),
        ({"output": "bits"}, "output must be one of 'pm1', 'packed', got 'bits'"),
        ({"r": 0}, r"r must be an integer in \[1, 8192\], got 0"),
        ({"bits": 8}, "itq has no parameter 'bits'; its parameters are r, iterations, dtype, seed"),
    ],
)
def test_fit_says_what_is_wrong(options, message):
    with pytest.raises(ValueError, match=message):
        HashingEstimator(**options).fit(X)


def test_another_method_drops_the_defaults_of_the_old_one():
    model = clone(HashingEstimator("itq", r=16)).set_params(method="lsh")
    assert model.get_params()["r"] == 16 and "iterations" not in model.get_params()
    assert model.fit(X).transform(X).shape == (600, 16)
    with pytest.raises(
        ValueError, match="lsh has no parameter 'iterations'; its parameters are r, center, dtype, seed"
    ):
        model.set_params(iterations=3)


def test_its_repr_names_the_method_and_what_was_set():
    assert repr(HashingEstimator()) == "HashingEstimator('itq')"
    assert repr(HashingEstimator("oh", r=8, output="packed")) == "HashingEstimator('oh', output='packed', r=8)"
    assert repr(HashingEstimator("nothing", bits=8)) == "HashingEstimator('nothing', bits=8)"
    assert repr(HashingEstimator(method=None)) == "HashingEstimator(None)"
    again = eval(repr(HashingEstimator("mmoh", T=2, beta=0.4)))
    assert again.get_params() == HashingEstimator("mmoh", T=2, beta=0.4).get_params()
