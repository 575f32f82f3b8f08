"""Streams of pairs: shares, orders, and that nothing but the seed changes them."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ohash.streams import pairs as pairs_module
from ohash.streams.data_split import split
from ohash.streams.pairs import BLOCK_PAIRS, StreamParams, make_stream, pair_stream
from ohash.streams.registry import load_by_key
from tests.streams.example_datasets import grouped
from tests.streams.example_streams import KINDS, near, stream


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9])
def test_share_is_as_asked(kind, share):
    i, j, s = stream(kind, similar_share=share).take(0, 8 * BLOCK_PAIRS)
    assert near((s == 1).mean(), share, len(s))
    assert (i != j).all()


@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_pairs_are_the_truth(kind):
    pairs = stream(kind, similar_share=0.4)
    i, j, s = pairs.take(0, 3 * BLOCK_PAIRS)
    if kind == "pairs":
        given = pairs.similarity.dataset.pairs
        truth = {(a, b): c for a, b, c in zip(given.i, given.j, given.s, strict=True)}
        assert all(truth[a, b] == c for a, b, c in zip(i, j, s, strict=True))
    else:
        assert np.array_equal(pairs.similarity.is_similar(i, j), s == 1)


@pytest.mark.parametrize("kind", ["label", "multi", "metric"])
def test_natural_share_where_it_is_at_least_5_percent(kind):
    pairs = stream(kind)
    assert pairs.natural_share >= 0.05
    assert pairs.similar_share == pairs.natural_share
    _, _, s = pairs.take(0, 16 * BLOCK_PAIRS)
    pool = pairs.similarity.pool
    i, j = np.meshgrid(pool, pool)
    truth = pairs.similarity.is_similar(i[i != j], j[i != j]).mean()
    assert near((s == 1).mean(), truth, len(s))


@pytest.mark.parametrize(("kind", "share"), [("track", 0.5), ("topk", 0.1)])
def test_more_where_the_natural_share_is_less(kind, share):
    pairs = stream(kind, **({"top_k": 2} if kind == "topk" else {}))
    assert pairs.natural_share < 0.05
    assert pairs.similar_share == share
    _, _, s = pairs.take(0, 8 * BLOCK_PAIRS)
    assert near((s == 1).mean(), share, len(s))


def test_natural_share_of_digits_against_counting():
    dataset = load_by_key("digits")
    pairs = pair_stream(dataset, seed=2)
    counts = np.bincount(dataset.labels[split(dataset, 2).train])
    n = counts.sum()
    assert pairs.natural_share == pytest.approx((counts * (counts - 1)).sum() / (n * (n - 1)), abs=1e-15)


@pytest.mark.parametrize("order", ["shuffled", "class", "time"])
@pytest.mark.parametrize("noise", [0.1, 0.5])
def test_noise_flips_its_share_and_no_point(order, noise):
    clean = stream("label", order=order).take(0, 8 * BLOCK_PAIRS)
    noisy = stream("label", order=order, noise=noise).take(0, 8 * BLOCK_PAIRS)
    assert np.array_equal(clean[:2], noisy[:2])
    assert near((clean[2] != noisy[2]).mean(), noise, len(clean[2]))


# -- nothing but the seed ------------------------------------------------------------------------------------------


CASES = [
    ("label", {}),
    ("label", {"similar_share": 0.5, "noise": 0.2}),
    ("label", {"order": "class", "period": 700, "noise": 0.1}),
    ("label", {"order": "time", "similar_share": 0.5}),
    ("label", {"order": "once", "similar_share": 0.5, "noise": 0.3}),
    ("metric", {"similar_share": 0.3}),
    ("multi", {"similar_share": 0.6}),
    ("clicks", {"order": "time"}),
    ("clicks", {"negatives": "popularity", "order": "once"}),
    ("pairs", {}),
]


@pytest.mark.parametrize(("kind", "more"), CASES)
@given(data=st.data())
@settings(deadline=None, max_examples=8)
def test_pairs_do_not_depend_on_the_chunks(kind, more, data):
    pairs = stream(kind, **more)
    end = min(3 * BLOCK_PAIRS + 100, pairs.length or 10**9)
    whole = pairs.take(0, end)
    other = stream(kind, **more)
    cuts = sorted(data.draw(st.lists(st.integers(0, end), max_size=12)))
    edges = [0, *cuts, end]
    order = data.draw(st.permutations(range(len(edges) - 1)))  # also out of order: replay jumps back
    parts = [other.take(edges[k], edges[k + 1]) for k in order]
    parts = [parts[order.index(k)] for k in range(len(edges) - 1)]
    for column, expected in zip(zip(*parts, strict=True), whole, strict=True):
        assert np.array_equal(np.concatenate(column), expected)


@pytest.mark.parametrize(("kind", "more"), CASES)
def test_same_seed_same_pairs_other_seed_other_pairs(kind, more):
    first, again, other = (stream(kind, seed, **more).take(0, 300) for seed in (3, 3, 4))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not (np.array_equal(first[0], other[0]) and np.array_equal(first[1], other[1]))


@pytest.mark.parametrize(
    ("kind", "more"), [one for one in CASES if one[1].get("order") != "once" and one[0] != "clicks"]
)
def test_no_block_repeats_another(kind, more):
    pairs = stream(kind, **more)
    blocks = [pairs.take(b * BLOCK_PAIRS, (b + 1) * BLOCK_PAIRS) for b in range(6)]
    for a in range(6):
        for b in range(a):
            assert (blocks[a][1] == blocks[b][1]).mean() < 0.2  # chance meetings in a small pool


def test_iterating_gives_the_same_pairs():
    pairs = stream("label", order="once")
    assert np.array_equal(np.array(list(pairs)).T, np.stack(pairs.take(0, 10**6)))
    endless = iter(stream("label"))
    assert [next(endless) for _ in range(BLOCK_PAIRS + 5)] == [
        *zip(*stream("label").take(0, BLOCK_PAIRS + 5), strict=True)
    ]


def test_a_block_cannot_be_written_to_through_what_was_taken():
    pairs = stream("label")
    before = [column.copy() for column in pairs.take(0, 50)]
    for column in pairs.take(0, 50):
        column[:] = 0
    assert all(np.array_equal(a, b) for a, b in zip(pairs.take(0, 50), before, strict=True))


def test_threads_share_one_stream():
    """Runs of one world draw from one stream at different places."""
    pairs = stream("label", similar_share=0.5)
    expected = [stream("label", similar_share=0.5).take(b * BLOCK_PAIRS, (b + 1) * BLOCK_PAIRS) for b in range(12)]
    wrong = []

    def walk(blocks):
        for b in blocks:
            got = pairs.take(b * BLOCK_PAIRS, (b + 1) * BLOCK_PAIRS)
            if not all(np.array_equal(x, y) for x, y in zip(got, expected[b], strict=True)):
                wrong.append(b)

    rng = np.random.default_rng(0)
    threads = [threading.Thread(target=walk, args=(rng.integers(0, 12, 40),)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(pairs._blocks) <= pairs_module.KEPT_BLOCKS


def test_take_refuses_what_is_no_range():
    with pytest.raises(ValueError, match="0 <= start <= stop, got 5 and 3"):
        stream("label").take(5, 3)
    assert all(len(column) == 0 for column in stream("label").take(7, 7))


# -- orders --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "bad"),
    [("similar_share", 1.0), ("similar_share", -1.1), ("noise", 0.6), ("noise", float("nan")), ("order", "random"),
     ("period", 0), ("period", 2.5), ("negatives", "hard"), ("similar_by", "colour"), ("train", "all"), ("top_k", 0)],
)  # fmt: skip
def test_bad_stream_parameters_are_named(key, bad):
    with pytest.raises(ValueError, match=f"{key} must be .* got {bad!r}"):
        StreamParams(**{key: bad})


def test_disjoint_training_never_draws_from_the_database():
    dataset = grouped(300, 3)
    pairs = make_stream(dataset, StreamParams(train="disjoint"), 5)
    parts = split(dataset, 5, train="disjoint")
    i, j, _ = pairs.take(0, 4 * BLOCK_PAIRS)
    used = np.unique(np.concatenate([i, j]))
    assert np.array_equal(used, parts.train)
    assert not np.isin(used, np.concatenate([parts.database, parts.validation, parts.test])).any()


def test_queries_are_never_trained_on():
    dataset = grouped(300, 3)
    i, j, _ = pair_stream(dataset, seed=5).take(0, 4 * BLOCK_PAIRS)
    parts = split(dataset, 5)
    assert np.array_equal(np.unique(np.concatenate([i, j])), parts.database)
    assert not np.isin(parts.test, i).any() and not np.isin(parts.validation, j).any()
