"""Codes in other systems, and the encoder that runs without ohash."""

import importlib.util
import json
import subprocess
import sys
from contextlib import chdir
from unittest import mock

import numpy as np
import pytest

import ohash
from ohash.cli.main import main
from ohash.core.codes import pack
from ohash.core.features import FeatureMap
from ohash.index.distance_export import write_search
from ohash.index.engines.base import read_page
from ohash.index.export import (
    concatenate_models,
    numpy_encoder,
    to_faiss,
    to_milvus,
    to_pgvector,
    write_codes,
    write_encoder,
)
from ohash.index.faiss_export import faiss_index
from ohash.models import registry

RNG = np.random.default_rng(0)
BITS = RNG.random((40, 13)) < 0.5
CODES = pack(BITS)


@pytest.mark.slow
def test_faiss_finds_the_same():
    pytest.importorskip("faiss")
    index = ohash.HammingIndex(CODES, r=13)
    distances, _ = to_faiss(CODES, 13).search(CODES[:9], 7)
    np.testing.assert_array_equal(distances, index.search(CODES[:9], 7).distances)


def test_faiss_file_of_two_models_adds_distances(tmp_path):
    faiss = pytest.importorskip("faiss")
    codes = RNG.integers(0, 256, (2, 30, 2), np.uint8)
    index = ohash.HammingIndex(codes)
    index.export("faiss", tmp_path)
    back = faiss.read_index_binary(str(tmp_path / "codes.faiss"))
    distances, _ = back.search(concatenate_models(codes[:, :4])[0], 5)
    np.testing.assert_array_equal(distances, index.search(codes[:, :4], 5, combine="sum").distances)


def test_pgvector_text_is_the_bits_in_order(tmp_path):
    assert list(to_pgvector(CODES, 13)) == ["".join("01"[int(bit)] for bit in row) for row in BITS]
    write_codes(CODES, "pgvector", tmp_path, r=13)
    lines = (tmp_path / "codes.sql").read_text().splitlines()
    assert "code bit(13)" in lines[1]
    rows = [line.split("\t") for line in lines if "\t" in line]
    assert [int(row) for row, _ in rows] == list(range(40)) and [text for _, text in rows] == list(
        to_pgvector(CODES, 13)
    )
    assert lines[3 + 40] == "\\."


def test_milvus_bytes(tmp_path):
    np.testing.assert_array_equal(to_milvus(CODES, 13, "big"), np.packbits(BITS, axis=1))
    np.testing.assert_array_equal(to_milvus(CODES, 13), CODES)
    ohash.HammingIndex(np.packbits(BITS, axis=1), r=13, bitorder="big").export("milvus", tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "codes.npy"), np.packbits(BITS, axis=1))
    assert json.loads((tmp_path / "milvus.json").read_text()) | {"read": ""} == {
        "rows": 40, "bits": 13, "models": 1, "dim": 16, "bitorder": "big", "read": "",
    }  # fmt: skip


def test_refusals(tmp_path):
    with pytest.raises(ValueError, match="target must be one of"):
        write_codes(CODES, "excel", tmp_path, r=13)
    with pytest.raises(ValueError, match="bitorder must be 'little' for pgvector"):
        write_codes(CODES, "pgvector", tmp_path, r=13, bitorder="big")


# -- the encoder -------------------------------------------------------------------------------------------------------

X = (RNG.normal(size=(400, 10)) + 1).astype(np.float32)
MAPS = {
    "raw": None,
    "unit": {"kernel": "none"},
    "centred": {"kernel": "none", "normalize": False},
    "rbf": {"m": 20},
}


def taught(key, feature_map, dtype="float32"):
    spec = registry.find(key)
    model = spec.build(
        spec.params(**{k: v for k, v in {"r": 21, "seed": 1, "dtype": dtype}.items() if k in spec.table})
    )
    Z = X if feature_map is None else feature_map.transform(X)
    if hasattr(model, "warm_up"):
        model.warm_up(Z[:100])
    if spec.consumes == "batch":
        model.fit(Z, RNG.integers(0, 3, len(Z)))
    elif spec.consumes == "pairs":
        model.learn(Z, *RNG.integers(0, 400, (2, 50)), RNG.choice([-1, 1], 50))
    model.feature_map = feature_map
    return model, Z


@pytest.mark.parametrize("options", MAPS.values(), ids=MAPS)
@pytest.mark.parametrize("key", ["oh", "mmoh", "itq", "rotated", "lsh"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_encoder_is_the_model(tmp_path, key, options, dtype):
    feature_map = None if options is None else ohash.FeatureMap(**options, dtype=dtype).fit(X)
    if key == "itq" and feature_map is not None and options.get("m"):
        pytest.skip("21 bits of 20 features")
    model, Z = taught(key, feature_map, dtype)
    write_encoder(model, tmp_path)
    space = {"__file__": str(tmp_path / "encoder.py")}
    exec((tmp_path / "encoder.py").read_text(), space)
    codes = space["encode"](X)
    expected = np.asarray(model.encode(Z))
    assert codes.shape == expected.shape and codes.dtype == np.uint8
    differing = np.unpackbits(codes ^ expected, axis=-1, count=21, bitorder="little").astype(bool)
    Wt, threshold = model.hyperplanes
    margin = np.abs(np.einsum("nd,trd->tnr", Z.astype(float), Wt) - threshold[:, None]).reshape(differing.shape)
    assert (margin[differing] < 1e-5).all() and differing.mean() < 0.001


def test_ten_lines_of_plain_numpy(tmp_path):
    feature_map = ohash.FeatureMap(m=20).fit(X)
    model, Z = taught("oh", feature_map)
    source, arrays = numpy_encoder(model, "big")
    body = source[source.index("def encode") :].splitlines()
    assert len(body) <= 11 and "ohash" not in source
    write_encoder(model, tmp_path, "big")
    np.save(tmp_path / "x.npy", X)
    code = "import encoder, numpy as np; np.save('codes.npy', encoder.encode(np.load('x.npy')))"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, env={"PATH": ""})
    found = np.unpackbits(np.load(tmp_path / "codes.npy"), axis=1)[:, :21]
    expected = np.unpackbits(np.asarray(model.encode(Z)), axis=1, count=21, bitorder="little")
    assert (found == expected).mean() > 0.999
    assert all(array.dtype != object for array in arrays.values())


def test_a_model_without_half_spaces_is_refused():
    model, _ = taught("random_codes", None)
    with pytest.raises(ValueError, match=r"half-spaces.*random_codes"):
        numpy_encoder(model)


@pytest.mark.parametrize("key", ["itq", "lsh", "oh", "random_codes"])
def test_every_saved_model_keeps_its_feature_map(tmp_path, key):
    feature_map = ohash.FeatureMap(kernel="none").fit(X)
    model, _ = taught(key, feature_map)
    ohash.save(model, tmp_path / "m.npz")
    back = ohash.load(tmp_path / "m.npz")
    assert back.feature_map.transform(X).tobytes() == feature_map.transform(X).tobytes()
    model.feature_map = None
    ohash.save(model, tmp_path / "m.npz")
    assert getattr(ohash.load(tmp_path / "m.npz"), "feature_map", None) is None


# -- the command -------------------------------------------------------------------------------------------------------


def test_the_command_goes_all_the_way(tmp_path, capsys):
    from ohash.cli.main import main

    feature_map = ohash.FeatureMap(kernel="none").fit(X)
    model, Z = taught("oh", feature_map)
    ohash.save(model, tmp_path / "model.npz")
    np.save(tmp_path / "x.npy", X)
    out = tmp_path / "out"
    wanted = ["--export", "pgvector", "milvus", "numpy", "--out", str(out)]
    assert main(["index", str(tmp_path / "model.npz"), "--features", str(tmp_path / "x.npy"), *wanted]) == 0
    assert "400 codes" in capsys.readouterr().out
    index = ohash.HammingIndex.load(out / "index.npz")
    np.testing.assert_array_equal(index.codes, model.encode(Z))
    assert {file.name for file in out.iterdir()} == {
        "index.npz", "codes.sql", "pgvector.json", "pgvector.md", "codes.npy", "milvus.json", "milvus.md", "encoder.py",
        "encoder.npz", "encoder.md",
    }  # fmt: skip
    np.save(tmp_path / "codes.npy", np.asarray(index.codes))
    assert main(["index", str(tmp_path / "codes.npy"), "--bits", "21", "--out", str(out)]) == 0
    assert ohash.HammingIndex.load(out / "index.npz").r == 21
    assert main(["index", str(tmp_path / "model.npz"), "--out", str(out)]) == 2
    assert "--features" in capsys.readouterr().err


@pytest.mark.parametrize("key", ["oh", "itq", "pq", "lsh"])
@pytest.mark.parametrize("options", [[], ["--export", "numpy"]])
def test_a_model_that_was_never_trained_is_refused_with_the_command_that_trains_it(tmp_path, capsys, key, options):
    from ohash.cli.main import main

    ohash.save(ohash.methods()[key].hasher(r=16), tmp_path / "model.npz")
    np.save(tmp_path / "x.npy", X)
    out = tmp_path / "out"
    files = [str(tmp_path / "model.npz"), "--features", str(tmp_path / "x.npy"), "--out", str(out)]
    assert main(["index", *files, *options]) == 2
    said = capsys.readouterr().err
    assert f"ohash run --features x.npy --method {key} --out trained/" in said and "start(d)" not in said
    assert not out.exists()


def written_codes(target, folder, r, order):
    """The codes of one export as bits (n, R)."""
    if target == "faiss":
        faiss = pytest.importorskip("faiss")
        index = faiss.read_index_binary(str(folder / "codes.faiss"))
        packed = faiss.vector_to_array(index.xb).reshape(index.ntotal, -1)
        return np.unpackbits(packed, axis=1, count=r, bitorder="little")
    if target == "pgvector":
        rows = [line.split("\t")[1] for line in (folder / "codes.sql").read_text().splitlines() if "\t" in line]
        return np.array([[int(digit) for digit in row] for row in rows])
    return np.unpackbits(np.load(folder / "codes.npy"), axis=1, count=r, bitorder=order)


def exported(tmp_path, key, *options):
    from ohash.cli.main import main

    feature_map = ohash.FeatureMap(kernel="none", dtype="float64").fit(X)
    model, _ = taught(key, feature_map, "float64")
    ohash.save(model, tmp_path / "model.npz")
    np.save(tmp_path / "x.npy", X)
    files = [str(tmp_path / "model.npz"), "--features", str(tmp_path / "x.npy"), "--out", str(tmp_path / "out")]
    return main(["index", *files, *options]), model


@pytest.mark.parametrize("order", [None, "little", "big"])
@pytest.mark.parametrize("targets", [["milvus"], ["pgvector"], ["faiss"], ["faiss", "milvus", "pgvector"]])
@pytest.mark.parametrize("key", ["oh", "mmoh"])
def test_the_encoder_gives_the_very_codes_that_are_written_beside_it(tmp_path, capsys, key, targets, order):
    chosen = ["--bitorder", order] * (order is not None)
    code, model = exported(tmp_path, key, "--export", *targets, "numpy", *chosen)
    if "faiss" in targets and order == "big":
        assert code == 2 and "bitorder must be 'little' for faiss" in capsys.readouterr().err
        assert not (tmp_path / "out").exists()
        return
    assert code == 0
    space = {"__file__": str(tmp_path / "out" / "encoder.py")}
    exec((tmp_path / "out" / "encoder.py").read_text(), space)
    codes, r = space["encode"](X), getattr(model, "T", 1) * model.r
    for target in targets:
        expected = written_codes(target, tmp_path / "out", r, order or "little")
        if target == "milvus":
            np.testing.assert_array_equal(codes, np.load(tmp_path / "out" / "codes.npy"))
        if target == "pgvector":
            assert space["text"](X) == ["".join(map(str, row)) for row in expected]
        np.testing.assert_array_equal(np.unpackbits(codes, axis=1, count=r, bitorder=order or "little"), expected)


def test_the_encoder_alone_gives_the_codes_of_the_index(tmp_path):
    code, _ = exported(tmp_path, "mmoh", "--export", "numpy")
    space = {"__file__": str(tmp_path / "out" / "encoder.py")}
    exec((tmp_path / "out" / "encoder.py").read_text(), space)
    assert code == 0
    np.testing.assert_array_equal(space["encode"](X), ohash.HammingIndex.load(tmp_path / "out" / "index.npz").codes)


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
