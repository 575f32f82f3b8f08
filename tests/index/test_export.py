"""Codes in other systems."""

import json

import numpy as np
import pytest

import ohash
from ohash.cli.main import main
from ohash.core.codes import pack
from ohash.index.engines import engines
from ohash.index.engines.page_execution import open_session
from ohash.index.export import (
    TARGETS,
    concatenate_models,
    to_faiss,
    to_milvus,
    to_pgvector,
    write_codes,
)
from tests.index.exports import X, exported, taught

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


@pytest.mark.parametrize("target", TARGETS)
def test_a_page_says_which_distance_it_re_ranks_by(tmp_path, target):
    if target == "faiss":
        pytest.importorskip("faiss")
    write_codes(CODES, target, tmp_path, r=13)
    text = " ".join((tmp_path / f"{target}.md").read_text().split())
    assert "orders them by the L2 distance of `vectors`" in text and "cosine, scale both to unit length" in text


@pytest.mark.parametrize("target", ["pgvector", "milvus"])
def test_a_page_of_several_models_says_that_the_engine_has_another_distance(tmp_path, target):
    index = ohash.HammingIndex(np.stack([CODES, CODES[::-1]]), r=13)
    index.export(target, tmp_path)
    text = " ".join((tmp_path / f"{target}.md").read_text().split())
    assert "the bits of 2 models of 13 bits. The engine ranks by the sum of their Hamming distances" in text
    query = np.stack([CODES[:1], CODES[5:6]])
    each = np.bitwise_count(query ^ np.stack([CODES, CODES[::-1]])).sum(axis=2)
    found = index.search(query, 40).indices[0]
    assert found.tolist() == np.lexsort((np.arange(40), each.sum(axis=0), each.min(axis=0))).tolist()
    assert found.tolist() != np.argsort(each.sum(axis=0), kind="stable").tolist(), "as the page says"
    write_codes(CODES, target, tmp_path, r=13)
    assert "models" not in (tmp_path / f"{target}.md").read_text()


@pytest.mark.parametrize(("key", "warned"), [("mmoh", True), ("oh", False)])
def test_the_command_says_so_too(tmp_path, capsys, key, warned):
    assert exported(tmp_path, key, "--export", "pgvector")[0] == 0
    assert ("the engines rank by the sum over the models" in capsys.readouterr().out) == warned


@pytest.mark.parametrize("target", TARGETS)
def test_an_export_that_finds_no_room_leaves_the_one_of_before(tmp_path, small_disk, target):
    if target == "faiss":
        pytest.importorskip("faiss")
    write_codes(CODES, target, tmp_path, r=13)
    (codes,) = (file for file in tmp_path.iterdir() if file.stem == "codes")
    before = codes.read_bytes()
    with small_disk(), pytest.raises(OSError, match=f"File too large: '.*{codes.name}'"):
        write_codes(RNG.integers(0, 256, (5000, 2), np.uint8), target, tmp_path)
    assert codes.read_bytes() == before and not list(tmp_path.glob(".*"))


def test_a_file_that_several_engines_load_is_named_once(tmp_path, capsys):
    assert exported(tmp_path, "oh", "--export", "milvus", "qdrant", "lancedb")[0] == 0
    wrote = capsys.readouterr().out.splitlines()[-1]
    assert wrote.count("codes.npy") == 1 and all(f"{key}.md" in wrote for key in ("milvus", "qdrant", "lancedb"))


def test_refusals(tmp_path):
    with pytest.raises(ValueError, match="target must be one of"):
        write_codes(CODES, "excel", tmp_path, r=13)
    with pytest.raises(ValueError, match="bitorder must be 'little' for pgvector"):
        write_codes(CODES, "pgvector", tmp_path, r=13, bitorder="big")


def test_the_command_goes_all_the_way(tmp_path, capsys):

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

    ohash.save(ohash.methods()[key].hasher(r=16), tmp_path / "model.npz")
    np.save(tmp_path / "x.npy", X)
    out = tmp_path / "out"
    files = [str(tmp_path / "model.npz"), "--features", str(tmp_path / "x.npy"), "--out", str(out)]
    assert main(["index", *files, *options]) == 2
    warned = capsys.readouterr().err
    assert f"ohash run --features x.npy --method {key} --out trained/" in warned and "start(d)" not in warned
    assert not out.exists()


def test_an_engine_that_cannot_be_reached_is_the_error_that_is_seen(tmp_path):
    """A page that closes what it never opened would say that a name is not defined."""
    page = "## A <!-- connect -->\n\n```python\nclient = 1 / 0\n```\n\n## B <!-- load -->\n\n```python\nx = 1\n```\n"
    page += "\n## C <!-- close -->\n\n```python\nclient.close()\n```\n"
    (tmp_path / "milvus.md").write_text(page)
    engine = engines()["milvus"]
    with pytest.raises(ZeroDivisionError), open_session(engine, tmp_path) as session:
        session.create()
