"""Similar by pairs or clicks that somebody brought."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ohash.engine.links import from_query
from ohash.engine.params import experiment
from ohash.streams.dataset import Dataset
from ohash.streams.similarity.pair_list import PairListSimilarity, split_by_time
from tests.streams.example_datasets import clicks


def keys(i, j, n):
    return set((np.minimum(i, j) * n + np.maximum(i, j)).tolist())


@pytest.mark.parametrize("negatives", ["uniform", "popularity"])
def test_sampled_negatives_are_never_a_known_positive(negatives):
    dataset = clicks(count=600)
    source = PairListSimilarity(dataset, negatives)
    i, j = source.draw_dissimilar(np.random.default_rng(0), 5000)
    assert (i != j).all()
    assert not keys(i, j, dataset.n) & keys(dataset.pairs.i, dataset.pairs.j, dataset.n)  # also none of the later ones
    assert np.isin(j, source.pool).all() and np.isin(i, source.pool).all()
    assert source.note.endswith(f"; negatives sampled ({negatives})")
    assert source.note.startswith(
        f"{len(source.parts.train):,} clicks to learn from, drawn again if the stream goes on"
    )
    assert source.name == "clicks"


def test_popularity_negatives_follow_the_clicks():
    """One item holds a third of all clicks: uniform negatives take it rarely, popularity-corrected ones as often."""
    rng = np.random.default_rng(0)
    n, count = 400, 3000
    i = rng.integers(1, n, count)
    j = np.where(rng.random(count) < 1 / 3, 0, rng.integers(1, n, count))
    dataset = Dataset.from_arrays(np.eye(n, 3), pairs=(i, j))
    shares = {}
    for negatives in ("uniform", "popularity"):
        source = PairListSimilarity(dataset, negatives)
        # the popular item clicked most others, which are positives; count among those it never met
        items = source._items
        popularity = np.diff(source._popularity, prepend=0)
        assert popularity[items == 0] == pytest.approx(1 / 6, rel=0.15)
        _, drawn = source.draw_dissimilar(np.random.default_rng(1), 20_000)
        shares[negatives] = (drawn == 0).mean()
    assert shares["popularity"] > 10 * shares["uniform"]


def test_impossible_negatives_are_an_error():
    i, j = np.triu_indices(5, 1)
    dataset = Dataset.from_arrays(np.eye(5), pairs=(i, j), queries=(1, 1))
    with pytest.raises(ValueError, match="no negatives could be sampled"):
        PairListSimilarity(dataset).draw_dissimilar(np.random.default_rng(0), 3)


def test_later_clicks_are_never_trained_on():
    dataset = clicks()
    pairs, source = dataset.pairs, PairListSimilarity(dataset)
    first, next_, last = (pairs.time[at] for at in (source.parts.train, source.parts.validation, source.parts.test))
    assert first.max() < next_.min() and next_.max() < last.min()
    assert (len(first), len(next_), len(last)) == (240, 30, 30)
    i, j = source.draw_similar(np.random.default_rng(0), 20_000)
    train = keys(pairs.i[source.parts.train], pairs.j[source.parts.train], dataset.n)
    assert keys(i, j, dataset.n) == train  # all of them, and no later one
    for part, at in (("validation", source.parts.validation), ("test", source.parts.test)):
        assert np.array_equal(source.later(part), (pairs.i[at], pairs.j[at]))
        assert not keys(*source.later(part), dataset.n) & train


def test_pairs_without_time_come_in_their_order():
    dataset = clicks(time=False)
    assert np.array_equal(split_by_time(dataset.pairs).train, np.arange(240))


def test_given_pairs_keep_their_signs():
    rng = np.random.default_rng(0)
    s = np.where(rng.random(300) < 0.3, 1, -1)
    dataset = clicks(s=s)
    source = PairListSimilarity(dataset)
    assert source.name == "pairs" and source.note == ""
    train = source.parts.train
    assert source.natural_share == (s[train] == 1).mean()
    for draw, sign in ((source.draw_similar, 1), (source.draw_dissimilar, -1)):
        at = train[s[train] == sign]
        assert keys(*draw(rng, 20_000), dataset.n) == keys(dataset.pairs.i[at], dataset.pairs.j[at], dataset.n)
    assert all(
        s[source.parts.test][dataset.pairs.i[source.parts.test] == i].max() == 1 for i in source.later("test")[0]
    )


def test_partners_are_those_of_training_in_either_direction():
    dataset = clicks()
    source = PairListSimilarity(dataset)
    i, j = dataset.pairs.i[source.parts.train], dataset.pairs.j[source.parts.train]
    partners = source.partners(np.arange(dataset.n))
    for row in range(dataset.n):
        assert set(partners[row].tolist()) == set(j[i == row].tolist()) | set(i[j == row].tolist())


@given(count=st.integers(5, 80), share=st.floats(0.02, 1))
@example(count=26, share=0.35)
@settings(deadline=None, max_examples=150)
def test_one_pass_over_clicks_brings_every_positive_once(count, share):
    i = np.arange(count)
    j = i + 1
    source = PairListSimilarity(Dataset.from_arrays(np.eye(count + 1), pairs=(i, j), queries=(1, 1)))
    length = source.pass_length(share)
    a, b, s = source.take_in_order(np.random.default_rng(0), np.arange(length), share)
    positives = len(source.parts.train)
    assert np.array_equal((a[s == 1], b[s == 1]), (i[:positives], j[:positives]))
    assert s[-1] == 1 and (s == 1).sum() == positives


def test_one_pass_over_clicks_must_end():
    source = PairListSimilarity(clicks())
    with pytest.raises(ValueError, match=r"similar_share must be at least 1e-06 with order='once'"):
        source.pass_length(0.0)


def test_negatives_only_is_refused():
    with pytest.raises(ValueError, match="pairs must hold similar ones"):
        PairListSimilarity(clicks(s=np.r_[-np.ones(299, int), 1], time=False))


def test_whole_numbers_written_as_floats_are_rows():
    X = np.random.default_rng(0).normal(size=(60, 4))
    data = Dataset.from_arrays(X, pairs=([1.0, 2.0], [3.0, 4.0]))
    assert data.pairs.i.tolist() == [1, 2] and data.pairs.i.dtype == np.int64
    for bad in ([1.5, 2.0], [np.nan, 2.0]):
        with pytest.raises(ValueError, match="row numbers, integers"):
            Dataset.from_arrays(X, pairs=(bad, [3.0, 4.0]))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), timed=st.booleans(), two_sided=st.booleans(), signed=st.booleans())
def test_new_items_are_in_no_training_pair_and_are_judged_on_what_comes_later(seed, timed, two_sided, signed):
    rng = np.random.default_rng(seed)
    n, count = 40, 400
    i, j = rng.integers(0, 20, count), 20 + rng.integers(0, 20, count)
    swap = rng.random(count) < (0 if two_sided else 0.5)
    i, j = np.where(swap, j, i), np.where(swap, i, j)
    s = np.where(rng.random(count) < 0.6, 1, -1) if signed else np.ones(count, int)
    time = rng.permutation(count).astype(float) if timed else None
    sides = np.arange(20) if two_sided else None
    dataset = Dataset.from_arrays(rng.normal(size=(n, 3)), pairs=(i, j, s, time), query_rows=sides)
    source = PairListSimilarity(dataset, later_items="new")
    order = np.arange(count) if time is None else np.argsort(time)
    first, later = order[:320], order[320:]
    held = source._held
    assert not set(held["validation"].tolist()) & set(held["test"].tolist())
    every = {int(item) for part in held.values() for item in part}
    assert source.parts.train.tolist() == [p for p in first.tolist() if not {int(i[p]), int(j[p])} & every]
    assert not set(source.pool.tolist()) & every
    for part in ("validation", "test"):
        new = set(held[part].tolist())
        assert len(new) == (2 if two_sided else 4)
        expected = [(int(i[p]), int(j[p])) for p in later.tolist() if s[p] == 1 and {int(i[p]), int(j[p])} & new]
        expected = [pair if pair[0] in new else pair[::-1] for pair in expected]
        if not expected:
            with pytest.raises(ValueError, match="no later pair names one of the"):
                source.later(part)
            continue
        assert list(zip(*(column.tolist() for column in source.later(part)), strict=True)) == expected
        queries = np.unique([pair[0] for pair in expected])
        for row, hidden in zip(queries, source.partners(queries), strict=True):
            assert hidden.tolist() == sorted(
                {int(j[p]) for p in first if i[p] == row and s[p] == 1}
                | {int(i[p]) for p in first if j[p] == row and s[p] == 1}
            )
    if timed:  # the last to appear
        named = i if two_sided else np.concatenate([i, j])
        when = time if two_sided else np.concatenate([time, time])
        arrival = {int(item): when[named == item].min() for item in np.unique(named)}
        assert min(arrival[item] for item in every) >= max(at for item, at in arrival.items() if item not in every)


def test_new_items_are_no_default_and_a_link_names_them():
    assert "later_items" not in experiment("debian").to_query()
    params = experiment("debian", later_items="new")
    assert params.to_query()["later_items"] == "new"
    assert from_query(params.to_query()) == (params, [])
    assert params.key() != experiment("debian").key()
