"""Orders of arrival: by class, in time, once, and as the clicks came."""

import numpy as np
import pytest

from ohash.streams.dataset import Dataset
from ohash.streams.pairs import BLOCK_PAIRS, ORDERS, pair_stream
from ohash.streams.registry import load_by_key
from tests.streams.example_datasets import grouped
from tests.streams.example_streams import near, stream


def test_classes_arrive_one_after_another():
    pairs = stream("label", order="class", period=500, similar_share=0.5)
    labels = pairs.similarity.groups
    i, j, s = pairs.take(0, 4000)
    for stage in range(4):
        part = slice(500 * stage, 500 * (stage + 1))
        there = np.unique(labels[np.concatenate([i[part], j[part]])])
        assert there.tolist() == list(range(min(4, 2 + stage)))
    assert near((s == 1).mean(), 0.5, 4000)
    assert (i != j).all()
    # the partner of a similar pair is uniform over the rest of its class
    later = labels[i[2000:]] == 0
    assert len(np.unique(i[2000:][later])) > 0.9 * (labels[pairs.similarity.pool] == 0).sum()


def test_class_order_is_uniform_within_a_class():
    dataset = grouped(14, 2, queries=(1, 1))
    pairs = pair_stream(dataset, 0.5, "class")
    i, j, s = pairs.take(0, 40 * BLOCK_PAIRS)
    labels, pool = dataset.labels, pairs.similarity.pool
    for c in (0, 1):
        members = pool[labels[pool] == c]
        of = (s == 1) & (labels[i] == c)
        counts = np.array([[((i[of] == a) & (j[of] == b)).sum() for b in members] for a in members])
        assert (np.diag(counts) == 0).all()
        off = counts[~np.eye(len(members), dtype=bool)]
        assert abs(off - off.mean()).max() < 6 * np.sqrt(off.mean())


@pytest.mark.parametrize("order", ["class"])
@pytest.mark.parametrize("kind", ["metric", "multi", "clicks"])
def test_class_order_needs_classes(order, kind):
    with pytest.raises(ValueError, match="order='class' needs similar_by='label' or 'track'"):
        stream(kind, order=order)


@pytest.mark.parametrize("share", [None, 0.5])
@pytest.mark.parametrize("period", [1, 5, 100_000])
def test_time_order_pairs_a_point_with_the_ones_just_before_it(share, period):
    rng = np.random.default_rng(0)
    base = grouped(400, 4)
    dataset = Dataset.from_arrays(base.X, labels=base.labels, time=rng.permutation(400).astype(float))
    pairs = pair_stream(dataset, share, "time", period=period)
    pool = pairs.similarity.pool
    rank = np.full(400, -1)
    rank[pool[np.argsort(dataset.time[pool])]] = np.arange(len(pool))
    n = len(pool) - 1
    i, j, s = pairs.take(0, n)
    assert np.array_equal(rank[i], np.arange(1, n + 1))  # every point arrives in turn
    age = rank[i] - rank[j]
    assert (age >= 1).all() and (age <= period).all()  # never one that has not arrived yet
    assert np.array_equal(dataset.labels[i] == dataset.labels[j], s == 1)
    assert (i != j).all()


@pytest.mark.parametrize("share", [0.05, 0.5, 0.9])
def test_time_order_reaches_the_share(share):
    pairs = pair_stream(load_by_key("digits"), share, "time")
    _, _, s = pairs.take(2000, 2000 + 8 * BLOCK_PAIRS)
    assert near((s == 1).mean(), share, len(s))


def test_time_order_goes_on_after_the_last_point():
    pairs = stream("label", order="time", period=30)
    i, j, _ = pairs.take(0, 3000)
    assert len(np.unique(i)) == len(pairs.similarity.pool)
    assert (i != j).all()


@pytest.mark.parametrize("kind", ["label", "multi", "metric", "track"])
def test_once_uses_every_point_at_most_once(kind):
    pairs = stream(kind, order="once")
    i, j, s = pairs.take(0, 10**6)
    used = np.concatenate([i, j])
    assert len(np.unique(used)) == len(used) == 2 * pairs.length
    assert np.isin(used, pairs.similarity.pool).all()
    assert np.array_equal(pairs.similarity.is_similar(i, j), s == 1)
    if kind != "track":
        assert pairs.length == len(pairs.similarity.pool) // 2


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9])
def test_once_reaches_the_share(share):
    dataset = load_by_key("digits")
    pairs = pair_stream(dataset, share, "once")
    i, j, s = pairs.take(0, 10**6)
    assert (s == 1).mean() == pytest.approx(share, abs=2 / len(s))
    assert len(np.unique(np.concatenate([i, j]))) == 2 * len(i) > 0.98 * len(pairs.similarity.pool)
    # all classes take part in both kinds, and dissimilar pairs are not always of the same two classes
    labels = dataset.labels
    if share == 0.5:
        assert len(np.unique(labels[i[s == 1]])) == 10
        assert len(np.unique(labels[i[s == -1]] * 10 + labels[j[s == -1]])) > 70


def test_once_keeps_the_share_where_one_kind_runs_short():
    X = np.eye(1000, 3)
    few_alike = Dataset(key="t", title="t", X=X, tracks=np.r_[np.arange(900), np.arange(100)], queries=(5, 5))
    _, _, s = pair_stream(few_alike, 0.5, "once").take(0, 10**6)
    assert (s == 1).mean() == pytest.approx(0.5, abs=0.02) and len(s) > 150
    one_large = Dataset.from_arrays(X, labels=np.r_[np.zeros(950), np.ones(50)], queries=(5, 5))
    _, _, s = pair_stream(one_large, 0.5, "once").take(0, 10**6)
    assert (s == 1).mean() == pytest.approx(0.5, abs=0.02) and len(s) > 40


def test_once_refuses_a_share_it_cannot_reach():
    with pytest.raises(ValueError, match="order='once' takes a share of similar pairs only for labels and tracks"):
        stream("metric", order="once", similar_share=0.5)


def test_given_pairs_once_and_in_time():
    for order in ("once", "time"):
        pairs = stream("pairs", order=order)
        given, parts = pairs.similarity.dataset.pairs, pairs.similarity.parts
        i, j, s = pairs.take(0, 400)
        assert np.array_equal((i, j, s), (given.i[parts.train], given.j[parts.train], given.s[parts.train]))
        assert (np.diff(given.time[parts.train]) > 0).all()
    assert stream("pairs", order="once").length == 400
    assert stream("pairs", order="time").length is None
    i, _, _ = stream("pairs", order="time").take(0, 800)
    assert np.array_equal(i[:400], i[400:])


@pytest.mark.parametrize("order", ["shuffled", "time", "once"])
def test_click_streams_never_touch_later_clicks(order):
    pairs = stream("clicks", order=order, similar_share=0.1)
    source = pairs.similarity
    later = {tuple(sorted(pair)) for part in ("validation", "test") for pair in zip(*source.later(part), strict=True)}
    i, j, s = pairs.take(0, 8 * BLOCK_PAIRS)
    assert not later & {tuple(sorted(pair)) for pair in zip(i, j, strict=True)}
    assert near((s == 1).mean(), 0.1, len(s)) if order == "shuffled" else abs((s == 1).mean() - 0.1) < 1e-2


# -- parameters ----------------------------------------------------------------------------------------------------


def test_every_order_is_tested():
    assert set(ORDERS) == {"shuffled", "class", "time", "once"}
