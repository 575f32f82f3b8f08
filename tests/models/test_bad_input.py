"""Bad input: a ValueError that names the parameter, says what is allowed and what was got; the model unchanged."""

import numpy as np
import pytest
import scipy.sparse

import ohash
from tests.core.reference import random_stream

D = 7
X, AT_I, AT_J, S = random_stream(0, d=D, pairs=60)
X = X.astype(np.float32)
CENTRINGS = ("none", "frozen", "running", "ema")


def snapshot(model):
    """Every bit of a model."""
    values, arrays = model.state()
    return repr(values), {name: array.tobytes() for name, array in arrays.items()}


def model_of(kind, center="none", started=True):
    model = ohash.OH(r=9, center=center) if kind == "oh" else ohash.MMOH(T=3, r=9, center=center)
    if started:
        model.warm_up(X[:20])
        model.learn(X, AT_I[:30], AT_J[:30], S[:30])
    return model


def poisoned(value, row, dtype=np.float32):
    bad = X.astype(dtype)
    bad[row, 3] = value
    return bad


# What is handed to learn in place of (X, i, j, s), and what the message must say.
BAD_LEARN = {
    "X of one dimension": ((X[0], [0], [1], [1]), "X must be a non-empty matrix (n, d), got shape (7,)"),
    "X of three dimensions": ((X[None], [0], [1], [1]), "X must be a non-empty matrix (n, d), got shape (1, 120, 7)"),
    "X empty": ((X[:0], [0], [1], [1]), "X must be a non-empty matrix (n, d), got shape (0, 7)"),
    "X without columns": ((X[:, :0], [0], [1], [1]), "X must be a non-empty matrix"),
    "X of strings": ((np.full((3, D), "a"), [0], [1], [1]), "X must hold real numbers, got dtype <U1"),
    "X of objects": ((X.astype(object), [0], [1], [1]), "X must hold real numbers, got dtype object"),
    "X complex": ((X.astype(complex), [0], [1], [1]), "X must hold real numbers, got dtype complex128"),
    "X ragged": (([[1.0], [1.0, 2.0]], [0], [1], [1]), "X must be a matrix (n, d) of real numbers, got list"),
    "X None": ((None, [0], [1], [1]), "X must hold real numbers, got dtype object"),
    "X masked": ((np.ma.masked_equal(np.eye(D), 1), [0], [1], [1]), "got a masked value at row 0, column 0; fill it"),
    "X sparse": ((scipy.sparse.csr_array(X), [0], [1], [1]), "got a sparse csr_array; give X.toarray()"),
    "s masked": ((X, [0, 1], [1, 2], np.ma.masked_equal([1, -1], -1)), "s must be a vector of +1 and -1 without gaps"),
    "i out of range": ((X, [0, 120], [1, 2], [1, 1]), "i must index rows of X, 0 to 119, got 120"),
    "j negative": ((X, [0, 1], [1, -1], [1, 1]), "j must index rows of X, 0 to 119, got -1"),
    "i empty": ((X, [], [], []), "i must be a non-empty vector of row indices (integers), got dtype float64"),
    "i of floats": ((X, [0.0], [1], [1]), "i must be a non-empty vector of row indices (integers), got dtype float64"),
    "i boolean": ((X, [True], [1], [1]), "i must be a non-empty vector of row indices (integers), got dtype bool"),
    "i of strings": ((X, ["a"], [1], [1]), "i must be a non-empty vector of row indices (integers), got dtype <U1"),
    "i a matrix": ((X, [[0]], [1], [1]), "i must be a non-empty vector of row indices"),
    "i a number": ((X, 0, [1], [1]), "i must be a non-empty vector of row indices"),
    "i ragged": ((X, [[0], [0, 1]], [1], [1]), "i must be a vector of row indices, got list"),
    "lengths differ": ((X, [0, 1], [1, 2], [1]), "i, j and s must be equally long, got 2, 2 and 1"),
    "lengths differ too": ((X, [0], [1, 2], [1]), "i, j and s must be equally long, got 1, 2 and 1"),
    "s zero": ((X, [0, 1], [1, 2], [1, 0]), "s must hold only +1 (similar) and -1 (dissimilar), got"),
    "s two": ((X, [0], [1], [2]), "s must hold only +1"),
    "s half": ((X, [0], [1], [0.5]), "s must hold only +1"),
    "s NaN": ((X, [0], [1], [np.nan]), "s must hold only +1"),
    "s 255": ((X, [0], [1], np.array([255], np.uint8)), "s must hold only +1"),
    "s of strings": ((X, [0], [1], ["1"]), "s must hold only +1"),
    "s of booleans": ((X, [0], [1], [True]), "s must hold only +1"),
    "s a number": ((X, [0], [1], 1), "s must hold only +1 (similar) and -1 (dissimilar), got shape ()"),
    "s None": ((X, [0], [1], [None]), "s must hold only +1"),
    "NaN": ((poisoned(np.nan, 5), [0, 5], [1, 2], [1, 1]), "X must be finite, got nan at row 5, column 3 (pair 1)"),
    "infinity": (
        (poisoned(np.inf, 5), [0, 1], [1, 5], [1, -1]),
        "X must be finite, got inf at row 5, column 3 (pair 1)",
    ),
    "-inf in float64": ((poisoned(-np.inf, 5, np.float64), [5], [1], [1]), "X must be finite, got -inf at row 5"),
    "too large": ((poisoned(3.4e38, 5), [5], [1], [1]), "X must be of moderate size, got values up to 3e+38"),
    "too large for float32": ((poisoned(1e300, 5, np.float64), [5], [1], [1]), "X must be of moderate size"),
}


@pytest.mark.parametrize("kind", ["oh", "mmoh"])
@pytest.mark.parametrize("started", [True, False])
@pytest.mark.parametrize("case", BAD_LEARN)
def test_learn_refuses_and_stays_as_it_was(case, started, kind):
    arguments, message = BAD_LEARN[case]
    model = model_of(kind, started=started)
    before = snapshot(model)
    with pytest.raises(ValueError) as raised:
        model.learn(*arguments)
    assert message in str(raised.value)
    assert snapshot(model) == before
    assert (model.d is not None) == started


@pytest.mark.parametrize("center", CENTRINGS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])  # handed over as it is, or gathered in blocks
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_bad_pair_after_thousands_of_good_ones_undoes_them_all(value, dtype, center):
    model = model_of("mmoh", center)
    before, version = snapshot(model), model.version
    i, j, s = (np.tile(column, 80) for column in (AT_I, AT_J, S))  # 4800 pairs: more than one gathered block
    data = X.astype(dtype)
    data[AT_I[7], 0] = value
    i = np.where(np.arange(len(i)) < 4700, np.where(i == AT_I[7], AT_I[8], i), i)
    with pytest.raises(ValueError, match=rf"X must be finite, got {value} at row {AT_I[7]}, column 0 \(pair 47\d\d\)"):
        model.learn(data, i, j, s)
    assert snapshot(model) == before and model.version == version
    unspoilt = model_of("mmoh", center)
    np.testing.assert_array_equal(model.learn(X, AT_I, AT_J, S).tau, unspoilt.learn(X, AT_I, AT_J, S).tau)


def test_a_bad_row_that_no_pair_names_does_no_harm():
    one, other = model_of("oh"), model_of("oh")
    bad = np.vstack([X, np.full((1, D), np.nan, np.float32)])
    np.testing.assert_array_equal(one.learn(bad, AT_I, AT_J, S).loss, other.learn(X, AT_I, AT_J, S).loss)


def test_norms_that_overflow_do_not_poison_the_certificate():
    """In float64, values near 1e160 have finite projections and infinite squares: no pair with a loss gets through."""
    model = ohash.OH(r=8, dtype="float64")
    model.learn(X, AT_I, AT_J, S)
    huge, refused = X.astype(np.float64) * 1e160, 0
    for i, j, s in zip(AT_I, AT_J, S, strict=True):
        before = snapshot(model)
        if model.learn_pair(X[i], X[j], int(s), dry_run=True).R > 0:  # the codes of both are the same
            with pytest.raises(ValueError, match="X must be of moderate size, got values up to"):
                model.learn(huge, [i], [j], [s])
            assert snapshot(model) == before
            refused += 1
    assert refused > 10 and np.isfinite(model.certificate.gap)


@pytest.mark.parametrize("kind", ["oh", "mmoh"])
def test_another_number_of_columns_later(kind):
    model = model_of(kind)
    before = snapshot(model)
    wrong = X[:, :5]
    for call in (lambda: model.learn(wrong, AT_I, AT_J, S), lambda: model.encode(wrong)):
        with pytest.raises(ValueError, match=r"X must have 7 columns, as at the start, got shape \(120, 5\)"):
            call()
    with pytest.raises(ValueError, match="x_i must be a vector of 7 real numbers, got dtype float32 and shape"):
        model.learn_pair(wrong[0], wrong[1], 1)
    with pytest.raises(ValueError, match="d must be 7, as at the start, got 5"):
        model.start(5)
    assert snapshot(model) == before


@pytest.mark.parametrize("kind", ["oh", "mmoh"])
@pytest.mark.parametrize("started", [True, False])
@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X[:2], X[1], 1), "x_i must be a vector of"),
        ((X[0], X[1, :3], 1), "x_j must "),
        ((X[0], ["a"] * D, 1), "x_j must be a vector of"),
        ((poisoned(np.nan, 0)[0], X[1], 1), "x_i must be finite, got nan at position 3"),
        ((X[0], poisoned(np.inf, 0)[0], 1), "x_j must be finite, got inf at position 3"),
        ((poisoned(1e300, 0, np.float64)[0], X[1], 1), "x_i must be finite, got inf at position 3"),
        ((X[0], poisoned(-3.4e38, 0)[0], 1), "X must be of moderate size"),
        ((X[0], X[1], 0), "s must be +1 (similar) or -1 (dissimilar), got 0"),
        ((X[0], X[1], "1"), "s must be +1"),
        ((X[0], X[1], None), "s must be +1"),
        ((X[0], X[1], np.array([1, 1])), "s must be +1"),
        ((X[0], X[1], np.nan), "s must be +1"),
    ],
)
def test_learn_pair_refuses_and_stays_as_it_was(arguments, message, dry_run, started, kind):
    model = model_of(kind, started=started)
    before = snapshot(model)
    with pytest.raises(ValueError) as raised:
        model.learn_pair(*arguments, dry_run=dry_run)
    assert message in str(raised.value)
    assert snapshot(model) == before


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ({"alpha": -1}, "alpha must be an integer in [0, 8192], got -1"),
        ({"alpha": 5}, "beta * r must be larger than alpha, got beta=0.5, r=9 (beta * r = 4.5) and alpha=5"),
        ({"alpha": 1.5}, "alpha must be an integer"),
        ({"beta": 0}, "beta must be a number in (0, 1], got 0"),
        ({"beta": 1.01}, "beta must be a number in (0, 1], got 1.01"),
        ({"C": 0}, "C must be a number in (0, 1000000] or 'auto', got 0"),
        ({"C": float("nan")}, "C must be a number in (0, 1000000] or 'auto', got nan"),
    ],
)
def test_overrides_and_live_parameters_are_checked(override, message):
    model = model_of("oh")
    before = snapshot(model)
    with pytest.raises(ValueError) as raised:
        model.learn_pair(X[0], X[1], 1, **override)
    assert message in str(raised.value)
    (name, value), *_ = override.items()
    if name != "alpha":
        with pytest.raises(ValueError) as raised:
            setattr(model, name, value)
        assert message in str(raised.value)
    assert snapshot(model) == before


def test_what_is_fixed_cannot_be_set():
    model = model_of("mmoh")
    for name in ("r", "T", "alpha", "seed", "dtype", "center", "W", "mean", "version"):
        with pytest.raises(AttributeError):
            setattr(model, name, 1)
    for array in (model.W, model.mean, model.threshold, model.bit_updates, *model.hyperplanes):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@pytest.mark.parametrize("kind", [ohash.OH, ohash.MMOH])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"r": 0}, "r must be an integer in [1, 8192], got 0; the default is 48"),
        ({"r": -3}, "r must be an integer in [1, 8192], got -3"),
        ({"r": 2.5}, "r must be an integer"),
        ({"r": "8"}, "r must be an integer in [1, 8192], got '8'"),
        ({"r": None}, "r must be an integer"),
        ({"beta": 0}, "beta must be a number in (0, 1], got 0"),
        ({"beta": -0.1}, "beta must be a number in (0, 1], got -0.1"),
        ({"beta": 1.5}, "beta must be a number in (0, 1], got 1.5"),
        ({"beta": np.nan}, "beta must be a number in (0, 1], got nan"),
        ({"r": 10, "alpha": 5, "beta": 0.5}, "beta * r must be larger than alpha, got beta=0.5, r=10 (beta * r = 5)"),
        ({"r": 100, "alpha": 55, "beta": 0.55}, "beta * r must be larger than alpha"),
        ({"C": 0}, "C must be a number in (0, 1000000] or 'auto', got 0"),
        ({"C": -1}, "C must be a number in (0, 1000000] or 'auto', got -1"),
        ({"C": np.nan}, "C must be a number in (0, 1000000] or 'auto', got nan"),
        ({"C": np.inf}, "C must be a number in (0, 1000000] or 'auto', got inf"),
        ({"seed": -1}, "seed must be an integer in [0,"),
        ({"dtype": "float16"}, "dtype must be one of 'float32', 'float64', got 'float16'"),
        ({"center": "mean"}, "center must be one of 'none', 'frozen', 'running', 'ema', got 'mean'"),
        ({"ema": 0}, "ema must be a number in (0, 1]"),
        ({"rounds": 6}, "rounds must be an integer in [1, 5], got 6"),
        ({"select": "random"}, "select must be one of 'smallest', 'largest', got 'random'"),
    ],
)
def test_parameters_are_refused_by_name(kind, options, message):
    with pytest.raises(ValueError) as raised:
        kind(**options)
    assert message in str(raised.value)


@pytest.mark.parametrize("T", [0, -1, 1.5, None, 65])
def test_the_number_of_models(T):
    with pytest.raises(ValueError, match="T must be an integer in"):
        ohash.MMOH(T=T)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: ohash.OH(r=4, W=np.zeros((3, 5))),
            "W must be a real matrix of shape (d, 4), got dtype float64 and shape",
        ),
        (lambda: ohash.OH(r=4, W=np.zeros(4)), "W must be a real matrix of shape (d, 4)"),
        (lambda: ohash.OH(r=4, W=np.zeros((0, 4))), "W must be a real matrix of shape (d, 4)"),
        (lambda: ohash.OH(r=4, W=np.full((3, 4), "a")), "W must be a real matrix of shape (d, 4), got dtype <U1"),
        (lambda: ohash.OH(r=4, W=np.full((3, 4), np.nan)), "W must be finite in float32"),
        (lambda: ohash.OH(r=4, W=np.full((3, 4), 1e39)), "W must be finite in float32"),
        (lambda: ohash.MMOH(T=2, r=4, W=np.zeros((3, 4))), "W must be a real matrix of shape (2, d, 4)"),
        (lambda: ohash.OH().start(0), "d must be an integer >= 1, got 0"),
        (lambda: ohash.OH().start(2.5), "d must be an integer, got 2.5"),
        (lambda: ohash.OH().start(True), "d must be an integer, got True"),
        (lambda: ohash.OH().W, "W does not exist yet"),
        (lambda: ohash.OH().mean, "mean does not exist yet"),
        (lambda: ohash.OH().certificate, "certificate does not exist yet"),
    ],
)
def test_starting(make, message):
    with pytest.raises(ValueError) as raised:
        make()
    assert message in str(raised.value)


@pytest.mark.parametrize("started", [True, False])
@pytest.mark.parametrize("call", ["learn", "encode", "learn_pair", "dry_run"])
def test_frozen_centring_needs_its_mean(call, started):
    model = ohash.OH(r=9, center="frozen")
    if started:
        model.start(D)
    before = snapshot(model)
    with pytest.raises(ValueError, match=r"center must have its mean when it is 'frozen': call warm_up\(X\)"):
        if call == "learn":
            model.learn(X, AT_I, AT_J, S)
        elif call == "encode":
            model.encode(X)
        else:
            model.learn_pair(X[0], X[1], 1, dry_run=call == "dry_run")
    assert snapshot(model) == before
    model.warm_up(X[:5])
    model.learn(X, AT_I, AT_J, S)


def test_warm_up_comes_first_and_takes_only_finite_points():
    model = model_of("oh", "running")
    before = snapshot(model)
    with pytest.raises(ValueError, match="warm_up must come before learning, but 30 pairs or points have been learnt"):
        model.warm_up(X)
    assert snapshot(model) == before
    for bad in (poisoned(np.nan, 5), poisoned(1e300, 5, np.float64)):
        fresh = model_of("oh", "running", started=False)
        with pytest.raises(ValueError, match=r"X must be finite, got .* at row 5, column 3"):
            fresh.warm_up(bad)
        assert fresh.d is None


@pytest.mark.parametrize("kind", ["oh", "mmoh"])
@pytest.mark.parametrize("started", [True, False])
def test_encode_refuses_and_stays_as_it_was(started, kind):
    model = model_of(kind, started=started)
    before = snapshot(model)
    rows = np.tile(X, (100, 1))
    rows[10_000, 2] = np.nan
    for bad, message in (
        (rows, "X must be finite, got nan at row 10000, column 2"),
        (poisoned(1e300, 5, np.float64), "X must be finite, got inf at row 5, column 3"),
        (X[0], "X must be a non-empty matrix"),
        (X[:0], "X must be a non-empty matrix"),
        ([["a"]], "X must hold real numbers"),
    ):
        with pytest.raises(ValueError) as raised:
            model.encode(bad)
        assert message in str(raised.value)
        assert snapshot(model) == before


def test_an_interrupted_learn_changes_nothing():
    """Ctrl-C between two gathered blocks."""

    class Interrupting(np.ndarray):
        reads = 0

        def __getitem__(self, key):
            Interrupting.reads += isinstance(key, np.ndarray)
            if Interrupting.reads > 2:
                raise KeyboardInterrupt
            return super().__getitem__(key)

    model = model_of("oh", "running")
    before = snapshot(model)
    original = model._blocks
    model._blocks = lambda X, i, j: original(X.astype(np.float64).view(Interrupting), i, j)
    i, j, s = (np.tile(column, 80) for column in (AT_I, AT_J, S))
    with pytest.raises(KeyboardInterrupt):
        model.learn(X, i, j, s)
    assert snapshot(model) == before
