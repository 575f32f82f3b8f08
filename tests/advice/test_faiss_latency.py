"""faiss searches the same codes, so it finds the same; what it cannot search has a reason, not a time."""

import builtins
import math

import numpy as np
import pytest

from ohash.advice import contenders, faiss_latency
from ohash.advice.click_log import click_log, splits
from ohash.advice.export import contender_rows, engine_notes, table
from ohash.advice.faiss_latency import NoIndexError, faiss_search
from ohash.advice.learning import Learning
from ohash.runtime.progress import drain
from tests.advice.click_logs import FEW, answer, misleading
from tests.optional import optional


@pytest.fixture(scope="module")
def learning():
    log = click_log(misleading(n=400, d=32))
    return Learning(log, splits(log, 1, 20, 0)[0], FEW)


def coder_of(learning, key):
    one = next(one for one in contenders.contenders(learning.log) if one.key == key)
    return drain(one.make(learning))


@pytest.mark.parametrize("key", ["float", "sign", "rotated", "oh_32", "mmoh_32", "whitening_32", "opq"])
def test_the_same_codes_are_at_the_same_distances(learning, key):
    optional("faiss", "faiss")
    coder, docs, Q = coder_of(learning, key), learning.log.docs, learning.log.X[:5]
    stored = coder.encode(docs)
    G, bias = coder.linear_form(stored)
    D = bias - coder.query_vectors(Q) @ G.T
    index = faiss_search(coder, stored, docs, Q)
    for k in range(5):
        near = index.search(k)[1][0]
        np.testing.assert_allclose(D[k, near], np.sort(D[k])[:10], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("key", ["rabitq_1", "rabitq_4", "adapter_rabitq_1", "int8", "cut_2", "turboquant_2"])
def test_codes_of_its_own_find_much_the_same(learning, key):
    optional("faiss", "faiss")
    coder, docs, Q = coder_of(learning, key), learning.log.docs, learning.log.X[:5]
    index = faiss_search(coder, coder.encode(docs), docs, Q)
    assert index.name.startswith("faiss ") and len(index.search(0)[1][0]) == 10


def test_what_it_cannot_search_has_a_reason(learning):
    optional("faiss", "faiss")
    for key, words in (("bbq", "no index of BBQ"), ("oh_32_asymmetric", "float query")):
        coder = coder_of(learning, key)
        with pytest.raises(NoIndexError, match=words):
            faiss_search(coder, coder.encode(learning.log.docs), learning.log.docs, learning.log.X[:3])


def test_times_and_reasons_are_in_table_and_file(few):
    optional("faiss", "faiss")
    snapshot = answer(misleading(n=300, d=16, clicks=800))
    rows = contender_rows(snapshot)
    assert all(row["engine_query_seconds"] > 0 and row["engine"].startswith("faiss ") for row in rows)
    assert table(snapshot)[0][-1] == "query, faiss" and all(row[-1].endswith("s") for row in table(snapshot)[1:])
    assert engine_notes(snapshot) == []


def test_without_faiss_there_is_a_dash_and_the_reason(few, monkeypatch):
    real = builtins.__import__

    def without(name, *more):
        if name == "faiss":
            raise ImportError(name)
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", without)
    snapshot = answer(misleading(n=300, d=12, clicks=800))
    assert all(row[-1] == "-" for row in table(snapshot)[1:])
    assert engine_notes(snapshot) == [f"-: {faiss_latency.ABSENT}."]
    assert all(math.isnan(row["engine_query_seconds"]) for row in contender_rows(snapshot))


def test_mmoh_with_its_models_side_by_side(learning):
    W = drain(learning.oh(32, 4))
    assert W.shape == (32, 32) and np.isfinite(W).all()
    assert not np.array_equal(W, drain(learning.oh(32)))
