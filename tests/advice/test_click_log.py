"""The past is learnt, the later is asked; what was known before is no test."""

from dataclasses import replace

import numpy as np
import pytest

from ohash.advice.click_log import click_log, splits, subsample
from ohash.advice.learning import stream
from ohash.core.rows import is_memory_mapped
from ohash.streams.dataset import Dataset
from tests.advice.click_logs import meaningless


def keys(query, doc):
    return set(zip(query.tolist(), doc.tolist(), strict=True))


def test_each_split_learns_before_it_asks():
    log = click_log(meaningless(n=200, clicks=2000))
    parts = splits(log, 3, 50, 0)
    learnt = [len(one.query) for one in parts]
    n = len(log.query)
    times = {key: at for at, key in reversed(list(enumerate(zip(log.query.tolist(), log.doc.tolist(), strict=True))))}
    for count, tenths, split in zip(learnt, (8, 7, 6), parts, strict=True):
        assert 0.5 * tenths * n / 10 <= count < tenths * n / 10
        assert all(times[key] < round(tenths * n / 10) for key in keys(split.query, split.doc))
    for split in parts:
        for query_set in (split.validation, split.test):
            pairs = {
                (int(q), int(d)) for q, docs in zip(query_set.queries, query_set.answers, strict=True) for d in docs
            }
            assert pairs and not pairs & keys(split.query, split.doc)
            for query, docs, hidden in zip(query_set.queries, query_set.answers, query_set.hidden, strict=True):
                assert not set(docs) & set(hidden)
                before = slice(0, round((8 - split.number) * n / 10))
                known = {d for q, d in keys(log.query[before], log.doc[before]) if q == query} - set(docs.tolist())
                assert known <= set(hidden.tolist())


@pytest.mark.parametrize("two_sided", [False, True])
def test_no_query_that_asks_is_learnt_from(two_sided):
    log = click_log(meaningless(n=400, clicks=4000))
    if two_sided:
        data = Dataset.from_arrays(log.X, pairs=(300 + log.query % 100, log.doc % 300), query_rows=np.arange(300, 400))
        log = click_log(data)
    for split in splits(log, 3, 40, 0):
        assert split.disjoint and len(split.test) >= 20 and len(split.validation)
        held_out = set(split.test.queries.tolist()), set(split.validation.queries.tolist())
        learnt = set(split.query.tolist()) | (set() if two_sided else set(split.doc.tolist()))
        assert not held_out[0] & held_out[1] and not (held_out[0] | held_out[1]) & learnt
        assert set(split.doc.tolist()) & {int(doc) for docs in split.test.answers for doc in docs}  # documents may be


def test_fewer_queries_ask_if_too_little_would_be_left_to_learn():
    log = click_log(meaningless(n=150, clicks=3000))
    for split in splits(log, 3, 100, 0):
        assert split.disjoint and 20 <= len(split.test) < 100 and len(split.query) >= 0.5 * 0.6 * len(log.query)


def test_a_query_that_nearly_all_clicks_hold_is_learnt_from_and_that_is_said():
    X = np.random.default_rng(0).normal(size=(200, 4))
    log = click_log(Dataset.from_arrays(X, pairs=(np.zeros(150, int), np.arange(1, 151))))
    assert not any(split.disjoint for split in splits(log, 3, 40, 0))


def test_time_decides_the_order():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    i, j = np.arange(40), np.arange(40) + 5
    data = Dataset.from_arrays(X, pairs=(i, j, np.ones(40, int), 100.0 - i))
    log = click_log(data)
    assert log.timed and log.query.tolist() == list(range(39, -1, -1))


def test_dissimilar_pairs_are_no_clicks():
    X = np.random.default_rng(0).normal(size=(50, 4))
    data = Dataset.from_arrays(X, pairs=(np.arange(30), np.arange(30) + 10, np.resize([1, -1, 1], 30)))
    assert len(click_log(data).query) == 20


def test_too_few_clicks_are_refused_with_words():
    X = np.random.default_rng(0).normal(size=(50, 4))
    with pytest.raises(ValueError, match="at least 10 clicks, got 5"):
        click_log(Dataset.from_arrays(X, pairs=(np.arange(5), np.arange(5) + 9)))
    with pytest.raises(ValueError, match="has neither"):
        click_log(Dataset.from_arrays(X))
    again = Dataset.from_arrays(X, pairs=(np.zeros(40, int), np.ones(40, int)))
    with pytest.raises(ValueError, match="repeats an earlier one"):
        splits(click_log(again), 3, 10, 0)


def test_a_file_that_is_cut_later_changes_no_advice(tmp_path):
    X = np.random.default_rng(0).normal(size=(5000, 4)).astype(np.float32)
    np.save(tmp_path / "x.npy", X)
    log = click_log(Dataset.from_arrays(np.load(tmp_path / "x.npy", mmap_mode="r"), labels=np.arange(5000) % 5))
    assert not is_memory_mapped(log.X), "to read a file that has been cut would kill this process"
    (tmp_path / "x.npy").write_bytes(b"")
    np.testing.assert_array_equal(log.X, X)


def test_not_a_number_is_refused():
    X = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    data = Dataset.from_arrays(X, labels=np.arange(50) % 5)
    X[3, 2] = np.nan  # after it was checked, as in a memory map
    with pytest.raises(ValueError, match="got nan at row 3"):
        click_log(data)


def test_queries_by_label_are_held_by_no_learnt_pair():
    rng = np.random.default_rng(0)
    log = click_log(Dataset.from_arrays(rng.normal(size=(300, 4)), labels=np.arange(300) % 7))
    for split in splits(log, 3, 40, 0):
        assert (log.labels[split.query] == log.labels[split.doc]).all()
        held_out = set(split.test.queries.tolist()) | set(split.validation.queries.tolist())
        assert not held_out & (set(split.query.tolist()) | set(split.doc.tolist()))


def test_two_sides_are_searched_among_documents_only():
    rng = np.random.default_rng(0)
    data = Dataset.from_arrays(rng.normal(size=(60, 4)), pairs=(40 + np.arange(60) % 20, np.arange(60) % 37))
    data = replace(data, query_rows=np.arange(40, 60))
    log = click_log(data)
    assert log.n_docs == 40 and not log.one_sided
    for split in splits(log, 3, 40, 0):
        assert (split.test.queries >= 40).all() and all((docs < 40).all() for docs in split.test.answers)


def test_a_stream_without_possible_negatives_has_none():
    query, doc = np.array([5, 5]), np.array([0, 1])
    i, j, s = stream(query, doc, 0.5, 10, np.random.default_rng(0))
    assert (s == 1).all() and len(s) == 5 and set(i) == {5} and set(j) == {0, 1}


def test_a_smaller_log_asks_the_same():
    log = click_log(meaningless(n=400, clicks=3000))
    query_set = splits(log, 1, 50, 0)[0].test
    small, fewer, rows = subsample(log, query_set, 100)
    np.testing.assert_array_equal(small.docs, log.docs[rows])
    assert 100 <= small.n_docs < 400 and len(fewer) == len(query_set)
    for at in range(len(query_set)):
        np.testing.assert_array_equal(small.X[fewer.queries[at]], log.X[query_set.queries[at]])
        np.testing.assert_array_equal(small.X[fewer.answers[at]], log.X[query_set.answers[at]])
        shown = {tuple(small.X[row]) for row in np.setdiff1d(np.arange(small.n_docs), fewer.hidden[at])}
        assert tuple(log.X[query_set.queries[at]]) not in shown
        assert not shown & {tuple(log.X[row]) for row in query_set.hidden[at]}


@pytest.mark.parametrize("flags", [False, True])
def test_labels_of_two_sides_pair_queries_with_documents(flags):
    labels = np.append(np.arange(200) % 4, np.arange(60) % 5)  # no document has the label 4
    X = np.random.default_rng(0).normal(size=(260, 4))
    given = np.eye(5, dtype=bool)[labels] if flags else labels
    log = click_log(Dataset.from_arrays(X, labels=given, query_rows=np.arange(200, 260)))
    for split in splits(log, 3, 50, 0):
        assert (split.query >= 200).all() and (split.doc < 200).all()
        assert (labels[split.query] == labels[split.doc]).all() and len(split.query) > 100
        assert (split.test.queries >= 200).all() and not set(split.test.queries) & set(split.query)


def test_labels_with_too_few_queries_are_refused_with_words():
    X = np.random.default_rng(0).normal(size=(50, 4))
    labels = np.arange(50) % 2
    with pytest.raises(ValueError, match="at least 3 queries"):
        splits(click_log(Dataset.from_arrays(X, labels=labels, query_rows=[48, 49])), 3, 10, 0)
