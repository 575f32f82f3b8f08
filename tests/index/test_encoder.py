"""The encoder that runs without ohash."""

import subprocess
import sys

import numpy as np
import pytest

import ohash
from ohash.index.export import (
    numpy_encoder,
    write_encoder,
)
from tests.index.exports import X, exported, taught

MAPS = {
    "raw": None,
    "unit": {"kernel": "none"},
    "centred": {"kernel": "none", "normalize": False},
    "rbf": {"m": 20},
}


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
    bits = np.unpackbits(np.load(tmp_path / "codes.npy"), axis=1)[:, :21]
    expected = np.unpackbits(np.asarray(model.encode(Z)), axis=1, count=21, bitorder="little")
    assert (bits == expected).mean() > 0.999
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
