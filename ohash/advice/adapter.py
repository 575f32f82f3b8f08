"""The linear adapter: the map of the vectors that the clicks ask for, in closed form.

With q' = q - mean of the queries and x' = x - mean of the documents, C is the covariance of q' - x' over the clicks,
shrunk towards a multiple of the identity by γ, and T the covariance of the documents. The adapter is
A = C^(-1/2) V D, the discriminants of click whitening (`ohash.models.batch.click_whitening`): V the eigenvectors of
C^(-1/2) T C^(-1/2) and D the share of a direction's variance that is not noise. Distances are Euclidean between Aᵀq'
and Aᵀx'. γ is chosen on the validation clicks; so is whether to adapt at all (A = 1).
"""

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from ohash.advice.click_log import ClickLog, Matrix, Split, subsample
from ohash.advice.coders import FloatCoder
from ohash.advice.scoring import blocks, rank
from ohash.core.arrays import Floats, Rows
from ohash.models.batch.click_whitening import discriminants
from ohash.runtime.threads import in_parallel

SHRINKAGES = (0.05, 0.3)
CLICKS_PER_BLOCK = 16_384
CHOICE_DOCS = 20_000  # searched to choose parameters, and the answers
MAX_DOCS = 50_000  # that the covariance of the documents is taken from


@dataclass(frozen=True, eq=False)
class Adapter:
    """x -> Aᵀ(x - mean); documents and queries have their own mean. `shrink` is None for A = 1."""

    A: Matrix
    doc_mean: Matrix
    query_mean: Matrix
    shrink: float | None

    def map_docs(self, X: Matrix) -> Matrix:
        """Adapted documents."""
        return np.asarray((X - self.doc_mean) @ self.A, np.float32)

    def map_queries(self, X: Matrix) -> Matrix:
        """Adapted queries."""
        return np.asarray((X - self.query_mean) @ self.A, np.float32)


def means(log: ClickLog, query: Rows) -> tuple[Matrix, Matrix]:
    """The mean of the documents, and that of the queries, which is the same if documents are queries."""
    if log.one_sided or not len(query):
        return log.doc_mean, log.doc_mean
    return log.doc_mean, log.X[query].mean(axis=0, dtype=np.float64).astype(np.float32)


def fit_adapters(log: ClickLog, query: Rows, doc: Rows, about: tuple[Matrix, Matrix]) -> list[Adapter]:
    """A = 1, and one adapter per shrinkage; `about` are the means of documents and queries."""
    doc_mean, query_mean = about
    d = log.d

    def spread(start: int) -> Matrix:
        some = slice(start, start + CLICKS_PER_BLOCK)
        differences = (log.X[query[some]] - query_mean) - (log.X[doc[some]] - doc_mean)
        return np.asarray(differences.T @ differences)

    noise = np.zeros((d, d))
    for part in in_parallel(spread, range(0, len(query), CLICKS_PER_BLOCK)):
        noise += part
    some_docs = log.docs[np.linspace(0, log.n_docs - 1, min(log.n_docs, MAX_DOCS)).astype(np.int64)] - doc_mean
    T = (some_docs.T @ some_docs).astype(np.float64) / len(some_docs)
    scale = 2 * np.trace(T) / d or 1.0
    C = (noise + d * scale * np.eye(d)) / (len(query) + d)  # begins with d clicks of pure noise, as click whitening
    identity = Adapter(np.eye(d, dtype=np.float32), doc_mean, query_mean, None)
    axes = in_parallel(lambda shrink: _axes(C, T, shrink), SHRINKAGES)
    every = zip(axes, SHRINKAGES, strict=True)
    return [identity, *(Adapter(A, doc_mean, query_mean, shrink) for A, shrink in every)]


def _axes(C: Floats, T: Floats, shrink: float) -> Matrix:
    d = len(C)
    shrunk = (1 - shrink) * C + shrink * np.trace(C) / d * np.eye(d)
    axes = discriminants(shrunk, T, d, weigh=True)
    return np.asarray(axes / (np.linalg.norm(axes, axis=0).max() or 1.0), np.float32)


def choose_adapter(log: ClickLog, split: Split, adapters: list[Adapter]) -> Generator[float, None, Adapter]:
    """The adapter that ranks the validation clicks best; of equal ones the first. Yields while it searches."""
    best, chosen = -1.0, adapters[0]
    small, query_set, _ = subsample(log, split.validation, CHOICE_DOCS)
    for adapter in adapters if len(query_set) else ():
        coder = FloatCoder(small.docs, adapter.map_docs, adapter.map_queries)
        _, scores = yield from rank(
            small, query_set, coder.query_vectors(small.X[query_set.queries]), blocks(small, coder), None
        )
        value = float(np.mean(scores.ndcg))
        if value > best:
            best, chosen = value, adapter
    return chosen
