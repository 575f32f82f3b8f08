"""The time of one query in faiss, a search engine that people run: its flat index of what a contender stores.

Signs and the numbers of OPQ's centroids are the same codes as ours. Of float vectors, int8, RaBitQ and TurboQuant faiss
makes its own from the same vectors. What faiss has no index for has a reason instead of a time.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from ohash.advice.click_log import Matrix
from ohash.advice.coders import BitCoder, Coder, DecodedCoder, EstimateCoder, FloatCoder
from ohash.core.codes import pack
from ohash.models.quantizers.bbq import BBQ
from ohash.models.quantizers.pq import PQ, one_faiss_thread
from ohash.models.quantizers.turboquant import TurboQuant

ABSENT = 'faiss is not installed (pip install "ohash[faiss]")'
K = 10


class NoIndexError(Exception):
    """Why faiss cannot search what a coder stores."""


class FaissSearch(NamedTuple):
    """An index and its name; `search` asks it query number k."""

    name: str
    search: Callable[[int], object]


def faiss_search(coder: Coder, stored: Any, docs: Matrix, Q: Matrix) -> FaissSearch:
    """Documents `docs`, stored as `stored`, in faiss; NoIndexError if that cannot be."""
    try:
        import faiss  # noqa: PLC0415 (heavy, and an extra)
    except ImportError:
        raise NoIndexError(ABSENT) from None
    with one_faiss_thread(faiss):
        index, queries = _fill(faiss, coder, stored, docs, Q)
    k = min(K, len(docs))

    def search(at: int) -> object:
        with one_faiss_thread(faiss):
            return index.search(queries[at % len(queries)][None], k)

    return FaissSearch(f"faiss {faiss.__version__} {type(index).__name__}", search)


def _fill(faiss: ModuleType, coder: Coder, stored: Any, docs: Matrix, Q: Matrix) -> tuple[Any, Any]:
    """An index that holds the documents, and the queries as it takes them."""
    if isinstance(coder, BitCoder):
        if coder.asymmetric:
            raise NoIndexError("faiss has no index that searches given bits with a float query")
        index = faiss.IndexBinaryFlat(8 * stored.shape[1])
        index.add(np.ascontiguousarray(stored))
        return index, pack(coder.query_vectors(Q) >= 0)
    if isinstance(coder, DecodedCoder) and isinstance(coder.model, PQ):
        return coder.model.to_faiss(stored, coder.map_queries(Q))
    assert isinstance(coder, FloatCoder | DecodedCoder | EstimateCoder)
    X, queries = np.ascontiguousarray(coder.map_docs(docs)), np.ascontiguousarray(coder.map_queries(Q))
    index = _own_index(faiss, coder, X.shape[1])
    index.train(X)
    index.add(X)
    return index, queries


def _own_index(faiss: ModuleType, coder: FloatCoder | DecodedCoder | EstimateCoder, d: int) -> Any:
    metric = faiss.METRIC_INNER_PRODUCT if coder.dot else faiss.METRIC_L2
    if isinstance(coder, FloatCoder):
        return faiss.IndexFlat(d, metric)
    kinds = faiss.ScalarQuantizer
    if isinstance(coder, DecodedCoder):
        return faiss.IndexScalarQuantizer(d, kinds.QT_8bit, metric)
    if isinstance(coder.model, BBQ):
        raise NoIndexError("faiss has no index of BBQ's codes")
    bits = int(coder.model.params.dim_bits)
    try:
        if not isinstance(coder.model, TurboQuant):
            return faiss.IndexRaBitQ(d, metric, *((bits,) if bits > 1 else ()))
        return faiss.IndexScalarQuantizer(d, getattr(kinds, f"QT_{bits}bit_tqmse"), metric)
    except (AttributeError, TypeError):  # versions differ in what they have
        raise NoIndexError(f"faiss {faiss.__version__} has no such index of {bits} bits") from None
