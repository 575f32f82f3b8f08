"""Two-sided data: pairs are (query, document), only documents are searched, and only queries ask."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ohash.streams.data_split import split
from ohash.streams.dataset import Dataset
from ohash.streams.overview import draw_examples, item_kind, item_name
from ohash.streams.pairs import pair_stream
from ohash.streams.similarity import make_similarity
from ohash.streams.summary import summarize


def sides(n=60, q=20, pairs=200, *, seed=0, s=False, **more):
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, q, pairs), rng.integers(0, n, pairs)
    listed = (i, j, np.where(rng.random(pairs) < 0.5, 1, -1)) if s else (i, j)
    return Dataset.from_two_sides(rng.normal(size=(n, 5)), rng.normal(size=(q, 5)), listed, **more)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 99),
    similar_by=st.sampled_from(["auto", "metric", "topk"]),
    negatives=st.sampled_from(["uniform", "popularity"]),
    order=st.sampled_from(["shuffled", "time"]),
    signed=st.booleans(),
)
def test_every_listed_pair_is_a_query_and_a_document(seed, similar_by, negatives, order, signed):
    data = sides(seed=seed, s=signed)
    stream = pair_stream(data, seed=seed, similar_by=similar_by, negatives=negatives, order=order)
    i, j, s = stream.take(0, 500)
    assert not data.is_query[j].any()
    if similar_by == "auto":
        assert data.is_query[i].all()
        known = set(zip(data.pairs.i.tolist(), data.pairs.j.tolist(), strict=True))
        drawn = [(a, b) in known for a, b in zip(i.tolist(), j.tolist(), strict=True)]
        assert signed or drawn == (s == 1).tolist()
    else:  # by distance, documents are paired with documents: queries are left for the judge
        assert not data.is_query[i].any()


def test_negatives_reach_every_document_but_no_query():
    data = sides(n=40, pairs=25)
    _, j, s = pair_stream(data, seed=1).take(0, 4000)
    assert set(j[s == -1].tolist()) == set(range(40))


def test_popular_negatives_are_documents_as_often_as_they_were_clicked():
    data = Dataset.from_two_sides(np.eye(4, 3), np.eye(5, 3), ([0, 1, 2, 3] * 25, [0, 0, 1, 0] * 25))
    similarity = make_similarity(data, split(data, 0), negatives="popularity")
    i, j = similarity.draw_dissimilar(np.random.default_rng(0), 3000)
    assert set(zip((i - 4).tolist(), j.tolist(), strict=True)) == {(0, 1), (1, 1), (2, 0), (3, 1)}


def test_the_split_takes_queries_from_the_query_rows():
    parts = split(sides(n=60, q=20), 3)
    assert parts.database.tolist() == parts.train.tolist() == list(range(60))
    assert sorted([*parts.validation, *parts.test]) == list(range(60, 80))
    disjoint = split(sides(n=60, q=20), 3, train="disjoint")
    assert sorted([*disjoint.train, *disjoint.database]) == list(range(60))


def test_by_distance_the_nearest_documents_of_a_query_are_relevant():
    data = replace(sides(n=60, q=20), pairs=None)
    parts = split(data, 0)
    for name, k in (("metric", 3), ("topk", 7)):
        relevant = make_similarity(data, parts, name, top_k=7).relevant(parts.test, parts.database)
        for row, flags in zip(parts.test, relevant, strict=True):
            apart = ((data.X[parts.database] - data.X[row]) ** 2).sum(axis=1)
            assert np.flatnonzero(flags).tolist() == sorted(np.argsort(apart)[:k].tolist())


def test_partners_of_a_query_are_documents_and_a_document_has_none():
    data = sides()
    similarity = make_similarity(data, split(data, 0))
    train = similarity.parts.train
    for row, partners in zip(range(80), similarity.partners(np.arange(80)), strict=True):
        assert partners.tolist() == sorted({int(data.pairs.j[p]) for p in train if data.pairs.i[p] == row})


def test_query_rows_may_lie_anywhere():
    rng = np.random.default_rng(0)
    data = Dataset.from_arrays(
        rng.normal(size=(30, 4)), pairs=[("q1", "d0"), ("q3", "d2")], query_rows=[3, 1, 5],
        ids=[f"{'q' if row in (1, 3, 5) else 'd'}{row}" for row in range(30)],
    )  # fmt: skip
    assert data.query_rows.tolist() == [1, 3, 5]
    assert data.documents.tolist() == [row for row in range(30) if row not in (1, 3, 5)]
    assert data.queries == (1, 2)
    assert split(data, 0).database.tolist() == data.documents.tolist()


def test_ids_need_only_be_distinct_within_a_side():
    docs, queries = np.eye(4), np.eye(3, 4)
    data = Dataset.from_two_sides(
        docs, queries, (["1", "b"], ["2", "1"]), doc_ids=["1", "2", "3", "4"], query_ids=["1", "a", "b"],
        doc_captions=["one", "two", "three", "four"],
    )  # fmt: skip
    assert (data.pairs.i - 4).tolist() == [0, 2]
    assert data.pairs.j.tolist() == [1, 0]
    assert [item_name(data, row) for row in (0, 4, 5)] == ["one", "1", "a"]
    assert [item_kind(data, row) for row in (3, 4)] == ["document", "query"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"queries": np.eye(3)}, "queries must have as many columns as docs, 4, got 3"),
        ({"queries": np.eye(1, 4)}, "at least 2 queries"),
        ({"queries": np.full((3, 4), np.nan)}, "queries must be finite"),
        ({"docs": np.eye(1, 4)}, "at least 2 documents|at least 4 rows"),
        ({"pairs": ([3], [0])}, "i \\(query\\) of pairs must be row numbers, integers 0 to 2, got 3"),
        ({"pairs": ([0], [9])}, "j \\(document\\) of pairs must be row numbers, integers 0 to 3, got 9"),
        ({"doc_ids": list("abca")}, "doc_ids must be distinct, got 'a' again at row 3"),
        ({"doc_captions": ["one"]}, "doc_captions must have one entry per row, 4, got 1"),
        ({"query_ids": list("ab")}, "query_ids must have one entry per row of queries, 3"),
    ],
)
def test_a_mistake_is_named(changes, words):
    given = {"docs": np.eye(4), "queries": np.eye(3, 4), "pairs": ([0], [0]), **changes}
    with pytest.raises(ValueError, match=words):
        Dataset.from_two_sides(**given)


def test_pairs_within_a_side_are_refused():
    data = sides()
    with pytest.raises(ValueError, match=r"\(query row, document row\), got \(3, 4\) at pair 0"):
        replace(data, pairs=replace(data.pairs, i=data.pairs.i * 0 + 3, j=data.pairs.j * 0 + 4))


def test_a_summary_counts_both_sides():
    data = sides()
    assert "note: two-sided, 60 documents to search and 20 queries" in summarize(data).lines()
    assert "pairs of a query and a document" in draw_examples(data).sentence
    assert data.fingerprint() != replace(data, query_rows=np.arange(55, 80), pairs=None).fingerprint()
