"""HammingIndex equals brute force, ties included, by scan and by look-ups, after every kind of change."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ohash
from ohash.core.codes import Codes, pack
from ohash.evaluation.code_table import CodeTable
from ohash.index.planner import SearchPlanner
from ohash.index.searcher import UNLIMITED
from tests.evaluation.reference import keys, stable
from tests.evaluation.strategies import cases

METHODS = ["scan", "mih", "auto"]


def clustered(rng, T, n, r, noise=0.1, prototypes=20):
    """Codes around a few prototypes: many ties, crowded buckets."""
    centres = rng.random((prototypes, T, r)) < 0.5
    return pack((centres[rng.integers(0, prototypes, n)] ^ (rng.random((n, T, r)) < noise)).transpose(1, 0, 2))


def brute(queries, database, combine):
    """(order, distances) of all rows for every query, by (distance, tie-break, row): NumPy, all at once."""
    D = np.bitwise_count(queries[:, :, None] ^ database[:, None]).sum(axis=-1, dtype=np.int64)
    near, total = (D.sum(axis=0) if combine == "sum" else D.min(axis=0)), D.sum(axis=0)
    second = total if combine == "min_sum" else np.zeros_like(near)
    rows = np.broadcast_to(np.arange(near.shape[1]), near.shape)
    order = np.lexsort((rows, second, near), axis=1)
    return order, np.take_along_axis(near, order, axis=1)


def check(index, queries, database, combine, k, radius, method):
    order, distances = brute(queries, database, combine)
    given_queries = queries[0] if index._single else queries
    hits = index.search(given_queries, k, combine, method)
    np.testing.assert_array_equal(hits.indices, order[:, :k])
    np.testing.assert_array_equal(hits.distances, distances[:, :k])
    ball = index.within(given_queries, radius, combine, method)
    assert len(ball) == len(order)
    for q in range(len(ball)):
        within = distances[q] <= radius
        np.testing.assert_array_equal(ball[q][0], order[q][within])
        np.testing.assert_array_equal(ball[q][1], distances[q][within])
    return hits


@pytest.mark.parametrize("method", METHODS)
@given(case=cases(), k=st.integers(1, 40), radius=st.integers(0, 12))
@settings(max_examples=60, deadline=None)
def test_equal_to_the_literal_twin(method, case, k, radius):
    index = ohash.HammingIndex(case.database, r=case.r)
    k = min(k, case.database.shape[1])
    hits = index.search(case.queries, k, case.combine, method)
    ball = index.within(case.queries, radius, case.combine, method)
    for q in range(case.queries.shape[1]):
        ranked_by = keys(case.queries[:, q], case.database, case.combine)
        order = stable(ranked_by)
        assert hits.indices[q].tolist() == order[:k]
        assert hits.distances[q].tolist() == [ranked_by[row][0] for row in order[:k]]
        assert ball[q][0].tolist() == [row for row in order if ranked_by[row][0] <= radius]


@pytest.mark.parametrize("method", METHODS)
@given(
    seed=st.integers(0, 2**32 - 1),
    T=st.integers(1, 3),
    r=st.sampled_from([5, 16, 37, 64, 65, 130]),
    n=st.integers(1, 3000),
    k=st.integers(1, 50),
    noise=st.sampled_from([0.0, 0.05, 0.5]),
    combine=st.sampled_from(["min", "min_sum", "sum"]),
)
@settings(max_examples=25, deadline=None)
def test_equal_to_brute_force(method, seed, T, r, n, k, noise, combine):
    rng = np.random.default_rng(seed)
    database, queries = clustered(rng, T, n, r, noise), clustered(rng, T, 6, r, noise)
    queries[:, :3] = database[:, rng.integers(0, n, 3)]
    index = ohash.HammingIndex(database if T > 1 else database[0], r=r)
    check(index, queries, database, combine, min(k, n), r // 8, method)


@given(seed=st.integers(0, 2**32 - 1), T=st.integers(1, 2), steps=st.lists(st.booleans(), min_size=1, max_size=5))
@settings(max_examples=20, deadline=None)
def test_adding_and_updating_is_building_anew(seed, T, steps):
    rng = np.random.default_rng(seed)
    r, n = int(rng.integers(10, 90)), int(rng.integers(100, 600))
    database, queries = clustered(rng, T, n, r), clustered(rng, T, 4, r)
    index = ohash.HammingIndex(database, r=r)
    check(index, queries, database, "min_sum", 5, 3, "mih")
    for adds in steps:
        if adds:
            more = clustered(rng, T, int(rng.integers(1, 200)), r)
            before = database.shape[1]
            np.testing.assert_array_equal(index.add(more), np.arange(before, before + more.shape[1]))
            database = np.concatenate([database, more], axis=1)
        else:
            bits = rng.random((T, r)) < 0.1
            flips = (rng.random((T, database.shape[1], r)) < 0.3) & bits[:, None]
            changed = database ^ pack(flips)
            done = index.update(changed, bits if rng.random() < 0.5 else None)
            assert done.bits_flipped == flips.sum()
            np.testing.assert_array_equal(done.bits, flips.any(axis=1))
            database = changed
        for method in ("scan", "mih"):
            check(index, queries, database, "min_sum", 5, 3, method)
    np.testing.assert_array_equal(index.codes, database)
    assert len(index) == database.shape[1]


def test_only_tables_with_a_changed_bit_are_filled_again():
    rng = np.random.default_rng(0)
    database = clustered(rng, 1, 5000, 64)
    index = ohash.HammingIndex(database[0])
    index.search(database[0, :3], 3, method="mih")
    tables = index._searcher._tables
    assert len(tables.parts) == 5 and not tables.stale.any()
    changed = database[0].copy()
    changed[:, 0] ^= 1  # bit 0 lies in the first table, bit 63 in the last
    assert index.update(changed).tables == 1
    changed[:, 7] ^= 128
    assert index.update(changed, np.arange(64) == 63).tables == 2
    assert tables.fill(index._searcher.words) == 2
    assert index.update(changed).bits_flipped == 0 and not tables.stale.any()


def test_bits_that_are_not_named_stay():
    index = ohash.HammingIndex(np.zeros((3, 1), np.uint8), r=4)
    done = index.update(np.full((3, 1), 0b1111, np.uint8), np.array([True, False, True, False]))
    assert done.bits_flipped == 6 and done.bits.tolist() == [[True, False, True, False]]
    assert (index.codes == 0b0101).all()


def test_it_follows_a_code_table():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 8)).astype(np.float32)
    model = ohash.MMOH(r=40, T=2, seed=3)
    table = CodeTable(model, X)
    table.refresh()
    index = ohash.HammingIndex(table.codes)
    for step in range(5):
        model.learn(X, rng.integers(0, 150, 20), rng.integers(150, 300, 20), rng.choice([-1, 1], 20))
        done = table.refresh()
        assert index.update(table.codes, table.changed).bits_flipped == done.bits_flipped, step
        np.testing.assert_array_equal(index.codes, table.codes)


def test_big_bit_order_is_the_same_search():
    rng = np.random.default_rng(2)
    bits = rng.random((500, 21)) < 0.5
    little, big = pack(bits), np.packbits(bits, axis=1)
    one, other = ohash.HammingIndex(little, r=21), ohash.HammingIndex(big, r=21, bitorder="big")
    for method in METHODS:
        a, b = one.search(little[:9], 7, method=method), other.search(big[:9], 7, method=method)
        np.testing.assert_array_equal(a.indices, b.indices)
        np.testing.assert_array_equal(a.distances, b.distances)
    np.testing.assert_array_equal(other.codes, big)
    other.update(np.packbits(~bits, axis=1), np.arange(21) < 4)
    np.testing.assert_array_equal(
        np.unpackbits(other.codes, axis=1)[:, :21] != bits, np.tile(np.arange(21) < 4, (500, 1))
    )


@pytest.mark.parametrize("shape", [(70, 3), (2, 70, 3)])
@pytest.mark.parametrize("bitorder", ["little", "big"])
def test_save_and_load(tmp_path, shape, bitorder):
    codes = np.random.default_rng(3).integers(0, 256, shape, np.uint8)
    index = ohash.HammingIndex(codes, bitorder=bitorder)
    index.save(tmp_path / "index.npz")
    back = ohash.HammingIndex.load(tmp_path / "index.npz")
    assert (len(back), back.T, back.r, back.bitorder, repr(back)) == (70, index.T, 24, bitorder, repr(index))
    np.testing.assert_array_equal(back.codes, codes)
    assert back.codes.shape == shape
    with np.load(tmp_path / "index.npz", allow_pickle=False) as archive:
        assert set(archive.files) == {"header", "codes"}
    (tmp_path / "index.npz").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="index saved by ohash"):
        ohash.HammingIndex.load(tmp_path / "index.npz")


# -- the choice --------------------------------------------------------------------------------------------------------


def many(kind, n=60_000, r=64):
    rng = np.random.default_rng(4)
    if kind == "uniform":
        return rng.integers(0, 256, (n + 300, r // 8), np.uint8)
    return clustered(rng, 1, n + 300, r, 0.02, 3000)[0]


def test_auto_scans_small_and_far_looks_up_near_and_pays_for_tables_first():
    few = ohash.HammingIndex(many("clustered", 1000))
    assert few.search(few.codes[:5]).by == "scan"
    far = many("uniform")
    index = ohash.HammingIndex(far[300:])
    hits = index.search(far[:300], 10)
    assert hits.by == "scan" and "x the work of a scan" in hits.why and index._searcher._tables.offsets.size == 0
    near = many("clustered")
    index = ohash.HammingIndex(near[300:])
    first = index.search(near[:1], 10)
    assert first.by == "scan" and "more queries have paid" in first.why
    hits = index.search(near[:300], 10)
    assert hits.by == "mih" and "look-ups per query" in hits.why
    np.testing.assert_array_equal(hits.indices, index.search(near[:300], 10, method="scan").indices)
    assert index.within(near[:20], 3).by == "mih" and index.within(near[:20], 30).by == "scan"


def test_what_is_expected_is_what_happens():
    near = many("clustered", 30_000)
    index = ohash.HammingIndex(near[300:])
    searcher = index._searcher
    q, rule, step = index._prepare_queries(near[:20], "min", "mih")
    hits, work = searcher.look_up(q, rule, step, 10, UNLIMITED)
    estimates = [searcher.estimate(query, rule, int(value >> 32)) for query, value in zip(q, hits[:, -1], strict=True)]
    np.testing.assert_array_equal([one.lookups for one in estimates], work[:, 0])
    assert 0.3 < np.mean([one.rows for one in estimates]) / work[:, 1].mean() < 3
    assert 0.3 < np.mean([one.items for one in estimates]) / work[:, 2].mean() < 3


def test_a_query_that_turns_out_expensive_is_scanned_in_the_end(monkeypatch):
    near = many("clustered", 20_000)
    index = ohash.HammingIndex(near[300:])
    monkeypatch.setattr(SearchPlanner, "_should_look_up", lambda self, kind, queries, left: (left > 0, ""))
    far = np.random.default_rng(5).integers(0, 256, (30, 8), np.uint8)
    queries = np.concatenate([near[:30], far])
    hits = index.search(queries, 10)
    assert hits.by == "scan" or "scanned in the end" in hits.why
    np.testing.assert_array_equal(hits.indices, index.search(queries, 10, method="scan").indices)
    ball, scanned = index.within(queries, 25), index.within(queries, 25, method="scan")
    np.testing.assert_array_equal(ball.indices, scanned.indices)
    np.testing.assert_array_equal(ball.offsets, scanned.offsets)


def test_threads_search_one_index():
    import threading

    near = many("clustered", 20_000)
    index, wrong = ohash.HammingIndex(near[300:]), []
    estimates = index.search(near[:50], 5, method="scan").indices

    def ask():
        for method in ("mih", "auto", "scan"):
            if not np.array_equal(index.search(near[:50], 5, method=method).indices, estimates):
                wrong.append(method)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda index: index.search(np.zeros((1, 3), np.uint8)), r"queries must be codes of 12 bits.*\(n, 2\)"),
        (lambda index: index.search(np.zeros((1, 2))), "queries must be packed codes"),
        (lambda index: index.search(Codes(np.zeros((1, 2), np.uint8), 11, 0)), "got 11 bits"),
        (lambda index: index.search(np.full((1, 2), 255, np.uint8)), "0 in the unused bits"),
        (lambda index: index.search(np.zeros((1, 2), np.uint8), k=0), "k must be an integer >= 1"),
        (lambda index: index.search(np.zeros((1, 2), np.uint8), k=6), "k must be at most the number of codes, 5"),
        (lambda index: index.search(np.zeros((1, 2), np.uint8), method="fast"), "method must be 'auto'"),
        (lambda index: index.search(np.zeros((1, 2), np.uint8), combine="mean"), "combine must be one of"),
        (lambda index: index.within(np.zeros((1, 2), np.uint8), -1), "radius must be an integer >= 0"),
        (lambda index: index.update(np.zeros((4, 2), np.uint8)), "codes must hold 1 x 5 codes"),
        (lambda index: index.update(np.zeros((5, 2), np.uint8), [1, 2]), "bits must be boolean"),
        (lambda index: ohash.HammingIndex(np.zeros((5, 2), np.uint8), bitorder="middle"), "bitorder must be"),
        (lambda index: ohash.HammingIndex(np.zeros((5, 2), np.uint8), r=3), "r must be in"),
        (lambda index: index.within(np.zeros((1, 2), np.uint8), 1)[1], "query must be in 0 to 0"),
    ],
)
def test_refusals(call, message):
    index = ohash.HammingIndex(np.zeros((5, 2), np.uint8), r=12)
    with pytest.raises((ValueError, IndexError), match=message):
        call(index)
