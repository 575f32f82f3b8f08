"""What is stored of documents, and how queries are scored against it: one class per way of scoring.

All map documents and queries first (identity, adapter, centring), encode blocks of documents, and give the linear form
D(q, x) = bias_x - <f_q, g_x> that `scoring` ranks by.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ohash.advice.click_log import Matrix
from ohash.core.codes import pack, unpack
from ohash.index.hamming_index import HammingIndex
from ohash.models.base import AsymmetricHasher
from ohash.models.quantizers.reconstruction import Reconstruction, sum_parts

Map = Callable[[Matrix], Matrix]
Stored = list[Any]  # what a coder stores of documents, block by block
Form = tuple[Matrix, Matrix]  # (g_x (n, k), bias_x (n,))


class Coder(Protocol):
    """One way to store documents."""

    bytes: float

    def encode(self, X: Matrix) -> Any:
        """What is stored of a block of documents."""

    def linear_form(self, stored: Any) -> Form:
        """The linear form of a stored block."""

    def query_vectors(self, Q: Matrix) -> Matrix:
        """f_q of queries."""

    def searcher(self, stored: Any, Q: Matrix) -> Callable[[int], object]:
        """A function that ranks a stored block for query number k, as it is done one query at a time."""


def identity(X: Matrix) -> Matrix:
    """The vectors as given."""
    return X


def _bias(G: Matrix, dot: bool) -> Matrix:
    return np.zeros(len(G), np.float32) if dot else np.asarray(0.5 * np.einsum("nk,nk->n", G, G), np.float32)


class FloatCoder:
    """The (mapped) vectors themselves; about their mean for distances, which loses fewer digits."""

    def __init__(self, X: Matrix, docs: Map = identity, queries: Map = identity, *, dot: bool = False) -> None:
        """X are some documents; `dot` ranks by inner products instead of distances."""
        self.map_docs, self.map_queries, self.dot = docs, queries, dot
        first = docs(X[:1024])
        self._mean = np.zeros(first.shape[1], np.float32) if dot else first.mean(axis=0)
        self.bytes = 4.0 * first.shape[1]

    def encode(self, X: Matrix) -> Matrix:
        """The vectors."""
        return self.map_docs(X) - self._mean

    def linear_form(self, stored: Matrix) -> Form:
        """The vectors and half their squared lengths."""
        return stored, _bias(stored, self.dot)

    def query_vectors(self, Q: Matrix) -> Matrix:
        """The queries."""
        return self.map_queries(Q) - self._mean

    def searcher(self, stored: Matrix, Q: Matrix) -> Callable[[int], object]:
        """A matrix-vector product."""
        F, bias = self.query_vectors(Q), _bias(stored, self.dot)
        return lambda k: _first(bias - stored @ F[k % len(F)])


class DecodedCoder:
    """Codes of a method that decodes to vectors: int8, product quantisation."""

    def __init__(
        self, model: Reconstruction, docs: Map = identity, queries: Map = identity, *, dot: bool = False
    ) -> None:
        """The model is fitted."""
        self.model, self.map_docs, self.map_queries, self.dot = model, docs, queries, dot
        self.bytes = float(-(-model.r // 8))

    def encode(self, X: Matrix) -> npt.NDArray[np.uint8]:
        """Codes."""
        return np.asarray(self.model.encode(self.map_docs(X)))

    def linear_form(self, stored: npt.NDArray[np.uint8]) -> Form:
        """Decoded vectors and half their squared lengths."""
        G = self.model.decode(stored)
        return G, _bias(G, self.dot)

    def query_vectors(self, Q: Matrix) -> Matrix:
        """The queries."""
        return self.map_queries(Q)

    def searcher(self, stored: npt.NDArray[np.uint8], Q: Matrix) -> Callable[[int], object]:
        """The method's own distances."""
        return _own_distances(self.model, stored, self.query_vectors(Q))


class EstimateCoder:
    """Codes of RaBitQ, BBQ and TurboQuant: inner products about a mean are estimated from codes and a few floats."""

    def __init__(self, model: Any, docs: Map = identity, queries: Map = identity, *, dot: bool = False) -> None:
        """The model has its mean."""
        self.model, self.map_docs, self.map_queries, self.dot = model, docs, queries, dot
        self.bytes = -(-model.r // 8) + model.extra_bytes + 4.0 * dot

    def encode(self, X: Matrix) -> tuple[Any, Matrix]:
        """Codes, and <mean, x> where inner products are wanted."""
        Z = self.map_docs(X)
        offset = Z @ self.model.mean.astype(np.float32) if self.dot else np.zeros(0, np.float32)
        return self.model.quantise(Z), offset

    def linear_form(self, stored: tuple[Any, Matrix]) -> Form:
        """<q, x> = <q - mean, x - mean> + <mean, x> + what depends on q alone."""
        codes, offset = stored
        return self.model.decode(codes), np.asarray(-offset if self.dot else 0.5 * codes.norm**2, np.float32)

    def query_vectors(self, Q: Matrix) -> Matrix:
        """R(q - mean)."""
        return np.asarray(self.model.project(self.map_queries(Q)))

    def searcher(self, stored: tuple[Any, Matrix], Q: Matrix) -> Callable[[int], object]:
        """The method's own distances."""
        return _own_distances(self.model, stored[0], self.map_queries(Q))


class BitCoder:
    """Signs of projections; scored by Hamming distance, or by the float projections of the query against the bits."""

    def __init__(self, W: Matrix, docs: Map, queries: Map, *, asymmetric: bool) -> None:
        """W is (d, r)."""
        self.W, self.map_docs, self.map_queries, self.asymmetric = W, docs, queries, asymmetric
        self.r = W.shape[1]
        self.bytes = float(-(-self.r // 8))

    def encode(self, X: Matrix) -> npt.NDArray[np.uint8]:
        """Packed codes."""
        return pack(self.map_docs(X) @ self.W >= 0)

    def linear_form(self, stored: npt.NDArray[np.uint8]) -> Form:
        """The bits as ±1."""
        return unpack(stored, self.r).astype(np.float32), np.zeros(len(stored), np.float32)

    def query_vectors(self, Q: Matrix) -> Matrix:
        """Projections, or their signs: then the inner product is r less twice the Hamming distance."""
        projected = self.map_queries(Q) @ self.W
        return projected if self.asymmetric else np.where(projected >= 0, np.float32(1), np.float32(-1))

    def searcher(self, stored: npt.NDArray[np.uint8], Q: Matrix) -> Callable[[int], object]:
        """A scan of the codes, or a sum of table entries per byte."""
        F = self.query_vectors(Q)
        if not self.asymmetric:
            index, codes = HammingIndex(stored, r=self.r), pack(F >= 0)
            return lambda k: index.search(codes[k % len(F)][None], min(10, len(stored)), method="scan")
        signs = unpack(np.arange(256, dtype=np.uint8)[:, None], 8).astype(np.float32)
        sums = np.empty((1, len(stored)), np.float32)
        stored = np.ascontiguousarray(stored)

        def search(k: int) -> object:
            padded = np.zeros((1, 8 * stored.shape[1]), np.float32)
            padded[0, : self.r] = F[k % len(F)]
            sum_parts()(padded.reshape(1, -1, 8) @ signs.T, stored, sums)
            return _first(-sums[0])

        return search


def _own_distances(model: AsymmetricHasher, stored: Any, Q: Matrix) -> Callable[[int], object]:
    return lambda k: _first(model.estimate_distances(Q[k % len(Q)][None], stored)[0])


def _first(D: Matrix) -> npt.NDArray[np.intp]:
    """The ten nearest."""
    k = min(10, len(D) - 1)
    near = np.argpartition(D, k)[:k]
    return near[np.argsort(D[near])]
