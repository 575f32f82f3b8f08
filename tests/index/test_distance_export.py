"""Codes of methods with a distance of their own, in plain NumPy and in faiss."""

import importlib.util
import pickle
import sys
from contextlib import chdir
from unittest import mock

import numpy as np
import pytest

import ohash
from ohash.cli.main import main
from ohash.core.features import FeatureMap
from ohash.index.distance_export import write_search
from ohash.index.engines.base import read_page
from ohash.index.faiss_export import faiss_index
from ohash.models import registry

OWN_DISTANCES = [key for key, spec in registry.hashers().items() if spec.asymmetric]


@pytest.mark.parametrize("key", OWN_DISTANCES)
def test_a_method_with_its_own_distance_is_never_searched_by_hamming_distance(tmp_path, capsys, key):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(400, 16)) + 3).astype(np.float32)
    np.save(tmp_path / "x.npy", X)
    model = _fitted(key, X)
    ohash.save(model, tmp_path / "model.npz")
    base = ["index", str(tmp_path / "model.npz"), "--features", str(tmp_path / "x.npy"), "--out", str(tmp_path / "out")]
    for export in ([], ["--export", "milvus"], ["--export", "numpy", "pgvector"]):
        assert main([*base, *export]) == 2
        assert "ranks items by its own distance" in capsys.readouterr().err and not (tmp_path / "out").exists()
    assert main([*base, "--export", "numpy"]) == 0
    spec = importlib.util.spec_from_file_location("search", tmp_path / "out" / "search.py")
    searcher = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(searcher)
    rows, distances = searcher.search(X[:20], 10)
    expected = model.estimate_distances(X[:20], model.quantise(X))
    np.testing.assert_allclose(distances, np.sort(expected, axis=1)[:, :10], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(np.take_along_axis(expected, rows, axis=1), distances, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(("key", "params"), [
    ("rabitq", {"dim_bits": 4}), ("rabitq", {"dim_bits": 2, "query_bits": 4}), ("bbq", {"query_bits": 0}),
    ("turboquant", {"dim_bits": 2}), ("turboquant", {"dim_bits": 3, "r": 13}), ("turboquant", {"dim_bits": 4}),
])  # fmt: skip
def test_more_bits_per_dimension_in_plain_numpy(tmp_path, key, params):
    X = (np.random.default_rng(0).normal(size=(300, 16)) + 1).astype(np.float32)
    spec = registry.hashers()[key]
    model = spec.build(
        spec.params(**{"r": 16, "center": "frozen", **params} if key != "rabitq" else {"r": 16, **params})
    )
    model.warm_up(X)
    write_search(model, X, tmp_path)
    names = {"__file__": str(tmp_path / "search.py")}
    exec((tmp_path / "search.py").read_text(), names)
    rows, distances = names["search"](X[:20], 10)
    expected = model.estimate_distances(X[:20], model.quantise(X))
    np.testing.assert_allclose(distances, np.sort(expected, axis=1)[:, :10], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(np.take_along_axis(expected, rows, axis=1), distances, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("key", ["float", "int8"])
@pytest.mark.parametrize("far", [1e3, -1e4])
def test_plain_numpy_finds_the_nearest_of_vectors_far_from_the_origin(tmp_path, key, far):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(400, 16)) + far).astype(np.float32)
    queries = (X[:20] + 0.3 * rng.normal(size=(20, 16))).astype(np.float32)
    model = _fitted(key, X)
    write_search(model, X, tmp_path)
    names = {"__file__": str(tmp_path / "search.py")}
    exec((tmp_path / "search.py").read_text(), names)
    _, distances = names["search"](queries, 10)
    expected = model.estimate_distances(queries, model.quantise(X))
    np.testing.assert_allclose(distances, np.sort(expected, axis=1)[:, :10], rtol=1e-2, atol=1e-2)


def _fitted(key, X, r=32):
    model = registry.hashers()[key].build(registry.hashers()[key].params(r=r))
    if registry.hashers()[key].consumes == "batch":
        model.fit(X, None)
    else:
        model.warm_up(X)
    return model


@pytest.mark.parametrize(("key", "r"), [("int8", 48), ("pq", 48), ("pq", 20), ("rabitq", 16), ("float", 48)])
@pytest.mark.parametrize("normalize", [False, True])
def test_faiss_ranks_by_the_distance_of_the_method(tmp_path, key, r, normalize):
    pytest.importorskip("faiss")
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(500, 16)) * rng.uniform(0.2, 3, 16) + 3).astype(np.float32)
    queries = X[:40] + rng.normal(size=(40, 16)).astype(np.float32) / 2
    np.save(tmp_path / "x.npy", X)
    feature_map = FeatureMap("none", normalize=normalize)
    feature_map.fit(X)
    Z = feature_map.transform(X)
    model = _fitted(key, Z, r)
    model.feature_map = feature_map
    ohash.save(model, tmp_path / "model.npz")
    out = tmp_path / "out"
    command = ["index", str(tmp_path / "model.npz"), "--features", str(tmp_path / "x.npy"), "--out", str(out)]
    assert main([*command, "--export", "faiss"]) == 0
    names = {"X": queries, "k": 10}
    with chdir(out), mock.patch.object(sys, "path", [str(out), *sys.path]):
        sys.modules.pop("queries", None)  # of another case
        for statement in read_page((out / "faiss.md").read_text()).values():
            exec(statement.text, names)
    squares, rows = names["squares"], names["rows"]
    expected = model.estimate_distances(feature_map.transform(queries), model.quantise(Z))
    expected = np.maximum(expected, 0)  # an estimate may be negative, and faiss cuts it off
    np.testing.assert_allclose(squares, np.sort(expected, axis=1)[:, :10], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(np.take_along_axis(expected, rows, axis=1), squares, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(("key", "params", "reason"), [
    ("rabitq", {"r": 8}, "agree only for r = d, got r = 8 and d = 16"),
    ("int8", {"r": 36, "dims": "first r"}, "fewer than 8 bits"),
])  # fmt: skip
def test_what_faiss_cannot_hold_is_refused_with_the_reason(key, params, reason):
    pytest.importorskip("faiss")
    X = np.random.default_rng(0).normal(size=(60, 16)).astype(np.float32)
    model = registry.hashers()[key].build(registry.hashers()[key].params(**params))
    model.warm_up(X)
    with pytest.raises(ValueError, match=reason):
        faiss_index(model, X)


@pytest.mark.parametrize("key", ["int8", "pq", "float"])
def test_codes_that_are_numbers_are_refused_wherever_bits_would_be_counted(key, tmp_path):
    X = np.random.default_rng(0).normal(size=(400, 16)).astype(np.float32)
    codes = _fitted(key, X).encode(X)
    assert not pickle.loads(pickle.dumps(codes))[:5].hamming, "they remember it"
    bits = ohash.HammingIndex(np.zeros((9, codes.shape[1]), np.uint8))
    for count in (
        lambda: ohash.HammingIndex(codes),
        lambda: bits.search(codes[:2], 1),
        lambda: ohash.index.to_pgvector(codes),
        lambda: ohash.index.write_codes(codes, "milvus", tmp_path / "out"),
    ):
        with pytest.raises(ValueError, match="must be bits, got numbers"):
            count()
    assert not list((tmp_path / "out").glob("*"))
