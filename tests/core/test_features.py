"""FeatureMap: fitted on the past only, and equal to a literal loop."""

import math

import numpy as np
import pytest

from ohash.core.features import ROWS_PER_BLOCK, FeatureMap, FeatureParams, KernelWarning


def points(n=300, d=6, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)) + 1.5


def by_hand(X, rows, *, m, sigma=None, center=True, normalize=True):
    """(sigma, map of X) with one loop per sum; `rows` are the warm-up."""
    mean = [sum(X[row][c] for row in rows) / len(rows) if center else 0.0 for c in range(X.shape[1])]

    def scale(x):
        y = [x[c] - mean[c] for c in range(len(x))]
        norm = math.sqrt(sum(v * v for v in y))
        return [v / norm for v in y] if normalize and norm > 0 else y

    warm = [scale(X[row]) for row in rows]
    if sigma is None:
        distances = sorted(math.dist(warm[a], warm[b]) for a in range(len(warm)) for b in range(a))
        half = len(distances) // 2
        sigma = 0.5 * (distances[half] if len(distances) % 2 else (distances[half - 1] + distances[half]) / 2)
    return sigma, np.array([[math.exp(-(math.dist(scale(x), a) ** 2) / (2 * sigma**2)) for a in warm[:m]] for x in X])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("sigma", ["auto", 0.4, 1.0])
@pytest.mark.parametrize(("center", "normalize"), [(True, True), (False, True), (True, False), (False, False)])
def test_transform_is_the_literal_loop(center, normalize, sigma, dtype):
    X = points(140) if normalize else points(140) / 3
    fitted = FeatureMap(m=17, sigma=sigma, center_input=center, normalize=normalize, dtype=dtype).fit(X)
    given = None if sigma == "auto" else sigma
    expected, Z = by_hand(X, range(100), m=17, sigma=given, center=center, normalize=normalize)
    assert fitted.sigma == pytest.approx(expected, rel=1e-12)
    ours = fitted.transform(X)
    assert ours.dtype == dtype and ours.flags.c_contiguous
    np.testing.assert_allclose(ours, Z, rtol=0, atol=1e-12 if dtype == "float64" else 1e-4)


def test_without_a_kernel_the_vectors_are_centred_and_scaled():
    X = points(120)
    fitted = FeatureMap(kernel="none", dtype="float64").fit(X)
    Y = X - X[:100].mean(axis=0)
    np.testing.assert_allclose(fitted.transform(X), Y / np.linalg.norm(Y, axis=1, keepdims=True), atol=1e-14)
    assert fitted.d_out == 6 and fitted.anchors is None


def test_the_warm_up_is_the_first_distinct_points_in_the_order_of_the_stream():
    X = points(400)
    X[3] = X[1]  # a repeated value is no new point
    X[4] = -0.0 * X[4]
    X[5] = 0.0  # -0.0 and 0.0 are one value
    i, j = np.array([1, 1, 3, 4, *range(6, 200)]), np.array([2, 2, 1, 5, *range(200, 394)])
    fitted = FeatureMap(m=8, dtype="float64")
    expected = list(dict.fromkeys(np.stack([i, j], 1).ravel().tolist()))
    expected = [row for row in expected if row not in (3, 5)][:100]
    assert fitted.warm_up_rows(X, i, j).tolist() == expected
    used = fitted.fit_stream(X, i, j)
    assert used == next(n for n in range(1, len(i) + 1) if set(expected) <= set(i[:n]) | set(j[:n]))
    np.testing.assert_allclose(fitted.mean, X[expected].mean(axis=0), atol=1e-14)
    assert len(np.unique(fitted.anchors, axis=0)) == 8


@pytest.mark.parametrize("m", [20, 150])
def test_the_future_is_never_looked_at(m):
    X, i, j = points(600), np.arange(0, 600, 2), np.arange(1, 600, 2)
    one, other = FeatureMap(m=m), FeatureMap(m=m)
    used = one.fit_stream(X, i, j)
    assert used == max(m, 100) // 2
    changed = X.copy()
    changed[2 * used :] = np.nan  # no value at all after the warm-up
    assert other.fit_stream(changed, i, j) == used
    for name in ("mean", "anchors", "sigma", "mean_kernel"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert FeatureMap(m=m).fit(changed).sigma == one.sigma


def test_more_anchors_than_dimensions():
    assert FeatureMap(m=250).fit(points(260, d=3)).transform(points(5, d=3)).shape == (5, 250)


def test_warm_up_sizes():
    assert FeatureParams(m=300).warm_up == 300
    assert FeatureParams(m=16).warm_up == 100
    assert FeatureParams(kernel="none", m=5000).warm_up == 100
    assert FeatureParams(kernel="none", warm=250).warm_up == 250


def test_a_longer_warm_up_is_kept():
    one = FeatureMap(kernel="none", warm=150).fit(points(200))
    np.testing.assert_allclose(one.mean, points(200)[:150].mean(axis=0), rtol=1e-6)
    assert FeatureMap.from_state(*one.state()).params == one.params


@pytest.mark.parametrize(("scale", "word"), [(100.0, "dead"), (1e-3, "flat")])
def test_a_kernel_that_says_nothing_is_warned_about(scale, word):
    with pytest.warns(KernelWarning, match=word):
        FeatureMap(m=16, sigma=1.0, normalize=False).fit(points() * scale)


def test_no_warning_inside_the_limits(recwarn):
    for sigma in ("auto", 1.0):
        fitted = FeatureMap(m=16, sigma=sigma).fit(points())
        assert 1e-3 < fitted.mean_kernel < 0.99
    assert not recwarn.list


def test_the_mean_kernel_value_is_that_of_distinct_warm_up_points():
    X = points(100)
    fitted = FeatureMap(m=100, sigma=0.7, dtype="float64").fit(X)
    Z = fitted.transform(X)
    assert fitted.mean_kernel == pytest.approx((Z.sum() - np.trace(Z)) / (100 * 99), rel=1e-9)


def test_zero_vectors_stay_zero_and_one_point_is_a_flat_kernel():
    fitted = FeatureMap(m=16, center_input=False, dtype="float64").fit(points())
    Z = fitted.transform(np.zeros((1, 6)))
    np.testing.assert_allclose(Z, math.exp(-1 / (2 * fitted.sigma**2)), rtol=1e-12)  # every anchor is at distance 1
    assert not FeatureMap(kernel="none", center_input=False).fit(points()).transform(np.zeros((2, 6))).any()
    with pytest.warns(KernelWarning, match="flat"):
        lonely = FeatureMap(m=1).fit(np.ones((1, 4)))
    assert lonely.sigma == 1 and lonely.transform(np.ones((1, 4))).tolist() == [[1.0]]


def test_values_whose_squares_leave_float32_are_still_scaled():
    X = points(100)
    expected = FeatureMap(kernel="none", center_input=False).fit(X).transform(X)
    for factor in (1e-30, 1e30):
        scaled = (X * factor).astype(np.float32)
        Z = FeatureMap(kernel="none", center_input=False).fit(scaled).transform(scaled)
        np.testing.assert_allclose(Z, expected, atol=1e-6)


def test_a_row_that_would_ruin_the_mean_is_named():
    X = points(100).astype(np.float32)
    X[99, 2] = 1e23
    with pytest.raises(ValueError, match=r"length at most 1e\+18, got 1e\+23 at row 99, column 2"):
        FeatureMap(kernel="none").fit(X).transform(X)


@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
def test_vectors_as_given_are_only_scaled_where_the_distance_is_cosine(metric):
    X = points(200)
    params = FeatureParams(kernel="given", center_input=True, normalize=True).in_metric(metric)
    Z = FeatureMap.from_params(params, "float64").fit(X).transform(X)
    expected = X / np.linalg.norm(X, axis=1, keepdims=True) if metric == "cosine" else X
    np.testing.assert_allclose(Z, expected, rtol=1e-14)
    np.testing.assert_array_equal(FeatureMap(kernel="given", dtype="float64").fit(X).transform(X), X)
    raw = FeatureParams(kernel="raw", center_input=True, normalize=True)
    np.testing.assert_array_equal(FeatureMap.from_params(raw.in_metric(metric), "float64").fit(X).transform(X), X)
    np.testing.assert_array_equal(FeatureMap.from_params(raw, "float64").fit(X).transform(X), X)
    assert raw.text == raw.in_metric(metric).text == "vectors as given"


def test_blocks_do_not_show():
    X = points(2 * ROWS_PER_BLOCK + 3, d=3)
    fitted = FeatureMap(m=5, dtype="float64").fit(X)
    Z = fitted.transform(X)
    for row in (0, ROWS_PER_BLOCK - 1, ROWS_PER_BLOCK, 2 * ROWS_PER_BLOCK + 2):
        np.testing.assert_allclose(Z[row], fitted.transform(X[row : row + 1])[0], atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.uint8, np.int64])
def test_any_real_dtype_and_layout_is_a_converted_copy(dtype):
    X = (points() * 20 + 100).astype(dtype)
    copy = X.astype(np.float64)
    one, other = FeatureMap(m=16, dtype="float64").fit(X), FeatureMap(m=16, dtype="float64").fit(copy)
    np.testing.assert_array_equal(one.transform(np.asfortranarray(X)), other.transform(copy))


@pytest.mark.parametrize("options", [{"m": 12}, {"kernel": "none"}, {"m": 12, "sigma": 0.5, "center_input": False}])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_state_round_trip(options, dtype):
    X = points()
    for fitted in (FeatureMap(**options, dtype=dtype), FeatureMap(**options, dtype=dtype).fit(X)):
        values, arrays = fitted.state()
        back = FeatureMap.from_state(values, arrays)
        assert back.params == fitted.params and back.dtype == dtype
        if fitted.mean is not None:
            assert back.transform(X).tobytes() == fitted.transform(X).tobytes()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FeatureMap(sigma=0), "sigma must be a number > 0 or 'auto', got 0"),
        (lambda: FeatureMap(sigma="half"), "sigma must be a number > 0 or 'auto', got 'half'"),
        (lambda: FeatureMap(sigma=-1), "sigma must be"),
        (lambda: FeatureMap(sigma=float("nan")), "sigma must be"),
        (lambda: FeatureMap(m=0), "m must be an integer in"),
        (lambda: FeatureMap(kernel="poly"), "kernel must be one of 'rbf', 'none', 'given', 'raw', got 'poly'"),
        (lambda: FeatureMap(dtype="float16"), "dtype must be 'float32' or 'float64', got 'float16'"),
        (lambda: FeatureMap(center_input="yes"), "center_input must be true or false"),
        (lambda: FeatureMap(m=101).fit(points(100)), "m must be at most the number of distinct points seen, got m=101"),
        (lambda: FeatureMap(m=5).fit(np.ones((50, 2))), "m must be at most"),
        (
            lambda: FeatureMap(m=5).fit_stream(points(60), range(30), range(30, 60)),
            "must name 100 distinct points (the warm-up, max(m, 100)), got 60",
        ),
        (lambda: FeatureMap(m=5).fit_stream(points(), [0, 1], [2]), "i and j must be equally long, got 2 and 1"),
        (lambda: FeatureMap(m=5).fit_stream(points(), [-1], [2]), "i must index rows of X, 0 to 299, got -1"),
        (lambda: FeatureMap(m=5).fit_stream(points(), [0], [300]), "j must index rows of X, 0 to 299, got 300"),
        (lambda: FeatureMap(m=5).warm_up_rows(points(), [0.5], [1]), "i must be a non-empty vector of row indices"),
        (lambda: FeatureMap().transform(points()), "not fitted yet: call fit"),
        (lambda: FeatureMap().d_out, "not fitted yet"),
        (lambda: FeatureMap(m=5).fit(points()).transform(points(d=5)), "X must have 6 columns"),
        (lambda: FeatureMap(m=5).fit(points()).transform(np.full((1, 6), 1e300)), "X must be finite, got inf"),
        (lambda: FeatureMap().fit(np.array([["a"]])), "X must hold real numbers"),
        (lambda: FeatureMap().fit(np.zeros(3)), "X must be a non-empty matrix"),
        (lambda: FeatureMap().fit([[1, 2], [3]]), "X must be a matrix"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(ValueError) as raised:
        make()
    assert message in str(raised.value)


def test_the_bad_row_is_named_by_its_number_in_X():
    X = points(2 * ROWS_PER_BLOCK, d=3)
    fitted = FeatureMap(m=5).fit(X)
    X[ROWS_PER_BLOCK + 7, 2] = np.inf
    with pytest.raises(ValueError, match=f"X must be finite, got inf at row {ROWS_PER_BLOCK + 7}, column 2"):
        fitted.transform(X)
    X = points(200)
    X[150, 1] = np.nan
    with pytest.raises(ValueError, match="got nan at row 150, column 1"):
        FeatureMap(m=5).fit_stream(X, [150, *range(99)], [151, *range(99, 198)])
