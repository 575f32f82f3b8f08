"""What every online method beside OH promises: the same bits however the stream is cut, saved or refused."""

import json

import numpy as np
import pytest

import ohash
from ohash.evaluation.code_table import CodeTable
from ohash.models import registry
from tests.models.parametrize import for_methods, parametrize_keys

KEYS = (
    "mihash", "hcoh", "sketch_hash", "mlh", "hmoh", "oecc", "adapthash", "bsodh", "okh_style", "lego", "ssbc",
    "unifdiag", "sdoh", "ohweu",
)  # fmt: skip
# Small chunks, so that a short stream fills several.
SMALL = {"chunk": 30, "batch": 7, "reservoir": 40, "rows": 24, "features": 40, "past": 50, "block": 16}
rng = np.random.default_rng(3)
N, D = 260, 9
Y = rng.integers(0, 4, N)
FLAGS = rng.random((N, 5)) < 0.4
X = (rng.normal(size=(4, D))[Y] + 0.7 * rng.normal(size=(N, D)) + 0.5).astype(np.float32)
AT_I, AT_J = rng.integers(0, N, (2, N))
S = np.where(Y[AT_I] == Y[AT_J], 1, -1)

SLOW = ("adapthash", "lego", "mihash", "mlh", "unifdiag")  # kernels that take seconds to compile


def pytest_generate_tests(metafunc):
    parametrize_keys(metafunc, KEYS, SLOW)


def build(key, **options):
    spec = registry.hashers()[key]
    wanted = {"r": 11, "seed": 5, "center": "frozen"} | SMALL | options
    model = spec.build(spec.params(**{name: value for name, value in wanted.items() if name in spec.table}))
    if hasattr(model, "warm_up"):
        model.warm_up(X[:60])
    return model


def teach(model, start, stop, labels=Y):
    if registry.hashers()[model.key].consumes == "pairs":
        return model.learn(X, AT_I[start:stop], AT_J[start:stop], S[start:stop])
    return model.learn_points(X, np.arange(start, stop), labels[start:stop])


def bits(model):
    values, arrays = model.state()
    return json.dumps(values, sort_keys=True), {name: array.tobytes() for name, array in arrays.items()}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_cut_of_the_stream_changes_nothing(key, dtype):
    whole, cut = build(key, dtype=dtype), build(key, dtype=dtype)
    teach(whole, 0, N)
    for start, stop in ((0, 1), (1, 30), (30, 61), (61, 62), (62, 200), (200, N)):
        teach(cut, start, stop)
    assert bits(whole) == bits(cut)
    assert whole.version > 1 and whole.encode(X).tobytes() == cut.encode(X).tobytes()


def test_a_saved_model_goes_on_bit_for_bit(key, tmp_path):
    model = build(key)
    teach(model, 0, 101)
    ohash.save(model, tmp_path / "m.npz")
    back = ohash.load(tmp_path / "m.npz")
    for one in (model, back):
        teach(one, 101, N)
    assert bits(model) == bits(back) and model.encode(X).tobytes() == back.encode(X).tobytes()


def test_bad_rows_change_nothing(key):
    model = build(key)
    teach(model, 0, 50)
    before = bits(model)
    bad = X.copy()
    bad[120, 3] = np.inf
    with pytest.raises(ValueError, match="X must be finite, got inf at row 120, column 3"):
        if registry.hashers()[key].consumes == "pairs":
            model.learn(bad, np.arange(50, 150), np.arange(60, 160), S[50:150])
        else:
            model.learn_points(bad, np.arange(50, 150), Y[50:150])
    with pytest.raises(ValueError, match="X must have 9 columns"):
        teach_columns(key, model)
    if hasattr(model, "warm_up"):
        with pytest.raises(ValueError, match="warm_up must come before"):
            model.warm_up(X[:60])
    assert bits(model) == before


def teach_columns(key, model):
    if registry.hashers()[key].consumes == "pairs":
        model.learn(X[:, :4], [0], [1], [1])
    else:
        model.learn_points(X[:, :4], [0], Y[:1])


@for_methods(lambda spec: spec.supervision == "labels")
def test_labels_are_checked_and_flags_are_learnt(key):
    model = build(key)
    gap = np.ma.masked_array(Y[:5], np.arange(5) == 2)
    short, halves = (Y[:3], "y must hold"), (Y[:5] + 0.5, "y must hold")
    for wrong, message in ((None, "learns from labels"), short, halves, (gap, "y must .* masked value at row 2")):
        with pytest.raises(ValueError, match=message):
            model.learn_points(X, np.arange(5), wrong)
    whole, cut = build(key), build(key)
    teach(whole, 0, N, FLAGS)
    for start, stop in ((0, 77), (77, N)):
        teach(cut, start, stop, FLAGS)
    assert bits(whole) == bits(cut) and whole.version > 1
    with pytest.raises(ValueError, match="y must be 5 flags per point, as before"):
        teach(whole, 0, 5)


@for_methods(lambda spec: spec.linear)
def test_a_code_table_follows_by_columns(key):
    model = build(key, dtype="float64")
    table = CodeTable(model, X.astype(np.float64))
    table.refresh()
    for start, stop in ((0, 3), (3, 40), (40, N)):
        teach(model, start, stop)
        table.refresh()
        assert table.codes.tobytes() == model.encode(X).tobytes() and table.version == model.version


def test_version_tells_whether_codes_may_have_changed(key):
    model = build(key)
    for t in range(0, N, 5):
        before, codes = model.version, model.encode(X).tobytes()
        teach(model, t, t + 5)
        assert model.version > before or model.encode(X).tobytes() == codes
