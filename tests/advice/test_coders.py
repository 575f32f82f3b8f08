"""Every contender ranks by the linear form as by its own distances, for odd dimensions too."""

import numpy as np
import pytest

from ohash.advice.click_log import ClickLog, click_log, splits
from ohash.advice.coders import BitCoder, EstimateCoder
from ohash.advice.contenders import contenders
from ohash.advice.learning import Learning
from ohash.advice.params import AdviceOptions
from ohash.core.codes import hamming
from ohash.runtime.progress import drain
from tests.advice.click_logs import meaningless


def made(d, metric="l2"):
    data = meaningless(n=300, d=d, clicks=400)
    log = click_log(data)
    log = ClickLog(log.title, log.X, log.n_docs, log.query, log.doc, metric)
    learning = Learning(log, splits(log, 1, 20, 0)[0], AdviceOptions(pairs=200))
    return log, [(one, drain(one.make(learning))) for one in contenders(log) if one.key != "opq"]


@pytest.mark.parametrize("d", [7, pytest.param(24, marks=pytest.mark.slow)])
def test_the_linear_form_ranks_as_the_methods_own_distance(d):
    log, coders = made(d)
    docs, queries = log.docs[:80], log.X[80:90]
    for contender, coder in coders:
        stored = coder.encode(docs)
        G, bias = coder.linear_form(stored)
        D = bias - coder.query_vectors(queries) @ G.T
        assert D.shape == (10, 80) and np.isfinite(D).all(), contender.key
        if isinstance(coder, EstimateCoder):
            own = coder.model.estimate_distances(coder.map_queries(queries), stored[0])
            offsets = own - 2 * D
            np.testing.assert_allclose(offsets - offsets[:, :1], 0, atol=2e-3 * np.abs(own).max())
        if isinstance(coder, BitCoder) and not coder.asymmetric:
            codes = coder.encode(docs), BitCoder(coder.W, coder.map_queries, coder.map_queries, asymmetric=False)
            apart = hamming(codes[1].encode(queries)[:, None], codes[0][None])
            np.testing.assert_allclose(2 * apart - coder.r, D, atol=1e-4)
        coder.searcher(stored, queries)(0)


def test_bytes_are_what_is_stored():
    _, coders = made(24)
    sizes = {contender.key: coder.bytes for contender, coder in coders}
    assert sizes["float"] == 96 and sizes["int8"] == 24 and sizes["sign"] == 3 and sizes["oh_24"] == 3
    assert sizes["rabitq_1"] == 3 + 8 and sizes["rabitq_4"] == 12 + 8 and sizes["turboquant_2"] == 6 + 4
    assert sizes["cut_4"] == 6 and sizes["adapter_rabitq_2"] == 6 + 8


def test_inner_products_are_estimated_about_the_mean():
    log, coders = made(24, metric="dot")
    shifted = log.docs[:80]
    for key in ("rabitq_4", "turboquant_4", "int8"):
        coder = next(coder for contender, coder in coders if contender.key == key)
        G, bias = coder.linear_form(coder.encode(shifted))
        D = bias - coder.query_vectors(log.X[80:90]) @ G.T
        exact = -(log.X[80:90] @ shifted.T)
        rest = (D - D.mean(axis=1, keepdims=True)) - (exact - exact.mean(axis=1, keepdims=True))
        assert np.abs(rest).std() < 0.2 * exact.std(), key
