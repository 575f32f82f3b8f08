"""Every method of the registry against every check: a new method file is tested by being there."""

import inspect
import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest

import ohash
from ohash import models
from ohash.core.codes import Codes
from ohash.models import contract, registry
from ohash.models.base import AsymmetricHasher, LinearHasher, OnlineHasher
from ohash.models.online.passive_aggressive import PassiveAggressive
from tests.core.reference import random_stream
from tests.models.parametrize import for_methods, parametrize_keys

SPECS = registry.hashers()
D, R = 12, 11
LONGER = {"float": 32 * D}  # whatever r says
X, AT_I, AT_J, S = random_stream(7, d=D, pairs=150)
X = X.astype(np.float32)
LABELS = np.random.default_rng(0).integers(0, 4, len(X))

# trees for every bit; kernels that take seconds to compile, and are compiled for the tests of their formulas anyway
SLOW = ("fasthash", "adapthash", "lego", "mihash", "mlh", "unifdiag")


def pytest_generate_tests(metafunc):
    parametrize_keys(metafunc, SPECS, SLOW)


def build(key, **options):
    spec = SPECS[key]
    if spec.missing:
        pytest.skip(f"needs {spec.missing}")
    return contract.Case(spec).build(r=R, **options)


def teach(key, model):
    """Whatever the method consumes, of one small stream."""
    warm_up = getattr(model, "warm_up", None)
    if warm_up is not None:
        warm_up(X[:50])
    consumes = SPECS[key].consumes
    if consumes == "pairs":
        model.learn(X, AT_I, AT_J, S)
    elif consumes in ("points", "chunks"):
        model.learn_points(X, np.arange(len(X)), LABELS)
    elif consumes == "batch":
        model.fit(X, LABELS)
    return model


def bits(model):
    values, arrays = model.state()
    return json.dumps(values, sort_keys=True), {name: array.tobytes() for name, array in arrays.items()}


# how fast it is tells of the machine, too: `ohash check` says it, no test does
UNTIMED = [check for check in contract.CHECKS if check is not contract.check_speed]


@pytest.mark.parametrize("check", UNTIMED, ids=lambda check: check.__name__)
def test_the_contract_that_ohash_check_runs(key, check):
    if SPECS[key].missing:
        pytest.skip(f"needs {SPECS[key].missing}")
    check(contract.Case(SPECS[key]))


def test_the_card_is_complete(key):
    spec = SPECS[key]
    assert spec.key == key and spec.title
    assert any(character.isdigit() for character in spec.cite), "a citation has a year"
    assert spec.bibtex.startswith("@") and spec.bibtex.count("{") == spec.bibtex.count("}")
    years = set(re.findall(r"\b(?:19|20)\d\d\b", spec.cite))
    assert years == set(re.findall(r"year\s*=\s*{(\d{4})}", spec.bibtex)), "every work cited has its entry"
    assert spec.consumes in ("nothing", "pairs", "points", "chunks", "batch")
    assert spec.supervision in ("none", "pairs", "labels")
    assert spec.aliases and spec.differs, "other names, and an honest word on what differs from the original"
    assert "r" in spec.table and all(row.help for row in spec.table.values())
    assert spec.params() == spec.params(**{name: row.default for name, row in spec.table.items()})


def test_its_class_takes_plain_keywords(key):
    spec = SPECS[key]
    kind = getattr(models, spec.hasher.__name__)
    assert kind is spec.hasher and kind.__name__ in models.__all__ and kind.__name__ in dir(models)
    defaults = {name: row.default for name, row in spec.table.items()}
    assert kind().params == kind(**defaults).params == spec.build(spec.params()).params == spec.params()
    assert kind(r=16).params == spec.params(r=16) and repr(kind(r=16)) == f"{kind.__name__}(r=16)"
    assert set(spec.table) <= set(inspect.signature(kind).parameters)
    with pytest.raises(ValueError, match=r"r must be an integer in \[1, \d+\], got 0; the default is 48"):
        kind(r=0)
    with pytest.raises(ValueError, match=f"{kind.__name__} has no parameter 'bits'.*; its parameters are (T, )?r"):
        kind(bits=16)
    for name in spec.table:
        near = rf"has no parameter '{name}_' \(did you mean '{name}'\?\); its parameters are .*{name}"
        if len(name) > 2:
            with pytest.raises(ValueError, match=near):
                kind(**{f"{name}_": 1})
    if kind not in (models.OH, models.MMOH):  # their constructors are spelt out
        with pytest.raises(TypeError, match=f"takes keywords or one {kind.Params.__name__}, got 16"):
            kind(16)
        assert kind(kind.Params(r=16)).params == kind(r=16).params


def test_notebooks_show_it(key):
    spec = SPECS[key]
    for model in (build(key), teach(key, build(key))):
        shown = model._repr_html_()
        tree = ElementTree.fromstring(shown)
        assert tree.find("b").text == spec.title and f"{model.r} bits" in shown
        bars = tree.findall("svg/rect")
        assert len(bars) == (getattr(model, "T", 1) * model.r if spec.linear and model.d is not None else 0)
    assert f"{D} columns → " in shown
    assert ("certificate" in shown) == hasattr(type(model), "certificate")
    if spec.consumes in ("pairs", "points", "chunks") and key != "click_whitening":
        assert f"{len(S):,} pairs learnt" in shown or f"{len(X):,} points learnt" in shown


def test_it_follows_the_protocol(key):
    model = build(key)
    assert isinstance(model, OnlineHasher) and model.key == key and model.r == R
    if SPECS[key].linear:
        assert isinstance(teach(key, model), LinearHasher)
    assert isinstance(model, AsymmetricHasher) == SPECS[key].asymmetric
    assert SPECS[key].hamming or SPECS[key].asymmetric, "codes must be compared somehow"


@for_methods(lambda spec: spec.asymmetric)
def test_own_distances(key):
    model = teach(key, build(key))
    before, stored = bits(model), model.quantise(X)
    assert len(stored) == len(X)
    D = model.estimate_distances(X[:9], stored)
    assert D.shape == (9, len(X)) and D.dtype == np.float32 and np.isfinite(D).all()
    np.testing.assert_allclose(model.estimate_distances(X[3:4], stored)[0], D[3], rtol=1e-4, atol=1e-4)
    exact = np.square(X[:9, None].astype(float) - X).sum(axis=2)
    assert np.corrcoef(D.ravel(), exact.ravel())[0, 1] > 0.4, "distances that have nothing to do with the vectors"
    assert bits(model) == before


def test_codes_are_packed_and_know_their_hash(key):
    model = teach(key, build(key))
    codes = model.encode(X)
    T, r = getattr(model, "T", 1), LONGER.get(key, R)
    shape = (len(X), -(-r // 8))
    assert codes.shape == (shape if codes.ndim == 2 else (T, *shape)) and codes.dtype == np.uint8
    assert isinstance(codes, Codes) and (codes.r, codes.version) == (r, model.version)
    assert codes.hamming == SPECS[key].hamming, "an index counts their bits only if that means something"
    assert not (r % 8 and (codes[..., -1] >> (r % 8)).any()), "unused bits of the last byte are 0"
    least = 3 if SPECS[key].supervision == "labels" else 10  # one code a class is all a label method need tell apart
    assert len(np.unique(codes.reshape(-1, shape[1]), axis=0)) > least, "codes that tell nothing apart"


def test_same_seed_same_codes(key):
    one, other = (teach(key, build(key)) for _ in range(2))
    assert one.encode(X).tobytes() == other.encode(X).tobytes()
    if "seed" in SPECS[key].table:
        assert teach(key, build(key, seed=6)).encode(X).tobytes() != one.encode(X).tobytes()


def test_save_and_load(key, tmp_path):
    for model in (build(key), teach(key, build(key))):
        ohash.save(model, tmp_path / "m.npz")
        back = ohash.load(tmp_path / "m.npz")
        assert type(back) is type(model) and bits(back) == bits(model) and back.version == model.version
    assert back.encode(X).tobytes() == model.encode(X).tobytes()


def test_bad_rows_are_refused_and_change_nothing(key):
    model = teach(key, build(key))
    before = bits(model)
    bad = X.copy()
    bad[3, 2] = np.nan
    for rows, message in (
        (bad, "X must be finite"),
        (X[:, :5], "X must have 12 columns"),
        (X[0], "X must be a non-empty"),
    ):
        with pytest.raises(ValueError, match=message):
            model.encode(rows)
    assert bits(model) == before


def learns_from_a_start(key):
    """Whether a stream changes W: every such method, whatever class it derives from."""
    spec = SPECS[key]
    return spec.linear and spec.consumes in ("pairs", "points", "chunks")


@pytest.mark.parametrize("d", [D, 3])  # 3: more bits than columns
def test_linear_learners_start_from_a_given_W(key, d):
    kind = SPECS[key].hasher
    if not learns_from_a_start(key):
        with pytest.raises(ValueError, match="has no parameter 'W'"):
            kind(r=R, W=np.ones((d, R)))
        return
    T = SPECS[key].params().T if "T" in SPECS[key].table else 1
    W = np.random.default_rng(3).normal(size=(T, d, R) if T > 1 else (d, R))
    model = kind(r=R, W=W, dtype="float64")
    given = W.copy()
    assert "W" in inspect.signature(kind).parameters and (model.d, model.version) == (d, 0)
    np.testing.assert_allclose(model.W, W, rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.hyperplanes[0], W.reshape(T, d, R).transpose(0, 2, 1), rtol=0, atol=1e-12)
    rows = X[:, :d].astype(float)
    signs = np.unpackbits(np.asarray(model.encode(rows)), axis=-1, count=R, bitorder="little")
    np.testing.assert_array_equal(signs, rows @ W >= 0)
    if hasattr(model, "warm_up"):
        model.warm_up(rows[:50])
    if SPECS[key].consumes == "pairs":
        model.learn(rows, AT_I, AT_J, S)
    else:
        model.learn_points(rows, np.arange(len(rows)), LABELS)
    np.testing.assert_array_equal(W, given)
    assert kind(r=R, W=model.W, dtype="float64").W.tobytes() == np.ascontiguousarray(model.W).tobytes()
    shape = f"(d, {R})" if T == 1 else f"({T}, d, {R})"
    for bad in (W[..., :-1], W.ravel(), W[..., :0, :], np.full(W.shape, "a")):
        with pytest.raises(ValueError, match=re.escape(f"W must be a real matrix of shape {shape}")):
            kind(r=R, W=bad)
    for bad in (np.full(W.shape, np.nan), np.full(W.shape, 1e300)):
        with pytest.raises(ValueError, match="W must be finite in float32"):
            kind(r=R, W=bad)
    with pytest.raises(ValueError, match=f"X must have {d} columns"):
        model.encode(X[:, : d - 1])


@for_methods(lambda spec: issubclass(spec.hasher, PassiveAggressive))
@pytest.mark.parametrize("center", ["none", "frozen"])
def test_passive_learners_stay_where_there_is_no_loss(key, center):
    """R = 0 implies tau = 0 and a W that is bit for bit the same; R > 0 moves some model."""
    model = build(key, dtype="float64", center=center)
    model.warm_up(X[:50])
    passive = 0
    for i, j, s in zip(AT_I, AT_J, S, strict=True):
        W, version = model.W.tobytes(), model.version
        trace = model.learn(X, [i], [j], [s])
        R_t, tau = np.atleast_2d(trace.R), np.atleast_2d(trace.tau)
        assert (tau[R_t == 0] == 0).all()
        quiet = (R_t == 0).all() or (s == 1 and R_t.min() == 0)
        assert (model.W.tobytes() == W) == quiet == (model.version == version) == (not trace.updated.any())
        passive += quiet
    assert 5 < passive < 150
