"""Product quantisation: the vector is cut into parts, each replaced by the nearest of its 256 k-means centroids.

r bits are M parts of b bits, b the largest divisor of r up to 8: 48 bits are 6 bytes, one per part. The distance of a
query to an item is that to the centroids of the item. faiss trains, encodes and decodes.

Optimised product quantisation (OPQ) learns a rotation first that makes the parts easy to quantise: rotation and
centroids are improved in turns.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Reals
from ohash.core.codes import Codes
from ohash.core.distances import distances
from ohash.core.parameters import Parameters, bits_param, param, seed_param
from ohash.models.base import HasherSpec
from ohash.models.quantizers.reconstruction import Reconstruction, sum_parts
from ohash.runtime.frames import Arrays, JsonObject

MAX_POINTS = 64  # training points per centroid; more change little and take proportionally longer


@dataclass(frozen=True)
class PQParams(Parameters):
    """Bits, iterations, seed."""

    r: int = bits_param(help="Length of a code: r / 8 parts of 256 centroids; other lengths take parts of fewer bits.")
    iterations: int = param(25, symbol="", title="iterations", lo=1, hi=1000, slider=(1, 100), help="Of k-means.")
    rotation: str = param(
        "none", symbol="", title="rotation", choices=("none", "learnt"),
        help="learnt: a rotation that makes the parts easy to quantise (OPQ).",
    )  # fmt: skip
    seed: int = seed_param("Draws the first centroids.")


def bits_per_part(r: int) -> int:
    """The largest divisor of r up to 8.

    >>> [bits_per_part(r) for r in (48, 20, 11)]
    [8, 5, 1]
    """
    return max(b for b in range(1, 9) if r % b == 0)


def check_columns(params: PQParams, d: int) -> None:
    """Refuse codes of more parts than columns."""
    r, b = params.r, bits_per_part(params.r)
    if r // b > d and b == 8:
        raise ValueError(f"r must be at most {8 * d} bits here, 8 for each of d={d} columns, got {r}")
    if r // b > d:
        raise ValueError(
            f"r must have no more parts than d={d} columns, got {r}, which are {r // b} parts of {b} "
            f"bit{'s' * (b > 1)}; take a multiple of 8, at most {8 * d}"
        )


class PQ(Reconstruction):
    """Every part of x is replaced by its nearest centroid."""

    key = "pq"
    Params = PQParams
    params: PQParams
    VALUES = ("_version", "_d")
    ARRAYS = ("centroids", "rotation")

    def _setup(self) -> None:
        self.rotation: npt.NDArray[np.float32] = np.zeros((0, 0), np.float32)
        self.centroids: npt.NDArray[np.float32] = np.zeros((0, 0, 0), np.float32)

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike | None = None) -> Self:
        """Learn the centroids of every part from scratch; labels are ignored."""
        X = self.rows(X)
        faiss = _faiss()
        d = X.shape[1]
        quantiser = self._quantiser(faiss, d)
        clusters = quantiser.cp
        clusters.seed, clusters.niter = int(self.params.seed) % 2**31, int(self.params.iterations)
        clusters.min_points_per_centroid, clusters.max_points_per_centroid = 1, MAX_POINTS
        if self.params.rotation == "learnt":
            self.rotation = self._learn_rotation(faiss, _pad(X, quantiser.d), quantiser.M)
        rows = self._place(X, quantiser.d)
        if len(rows) < quantiser.ksub:  # fewer points than centroids: some centroids are duplicates
            rows = np.resize(rows, (quantiser.ksub, quantiser.d))
        with one_faiss_thread(faiss):
            quantiser.train(rows)
        shape = quantiser.M, quantiser.ksub, quantiser.dsub
        self.centroids = faiss.vector_to_array(quantiser.centroids).reshape(shape).copy()
        self._d = d
        self._version += 1
        return self

    def encode(self, X: npt.ArrayLike) -> Codes:
        """Packed codes: the numbers of the nearest centroids, b bits each."""
        if self.d is None:
            self.rows(X)
            raise ValueError("pq has no centroids yet: call fit(X) first")
        X = self.rows(X)
        faiss = _faiss()
        quantiser = self._quantiser(faiss, X.shape[1])
        with one_faiss_thread(faiss):
            return Codes(quantiser.compute_codes(self._place(X, quantiser.d)), self.r, self.version, hamming=False)

    def estimate_distances(self, queries: npt.ArrayLike, stored: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """Squared Euclidean distances from queries to decoded items, summed part by part from tables."""
        rows = self.rows(queries)
        M, ksub, dsub = self.centroids.shape
        parts = self._place(rows, M * dsub).reshape(len(rows), M, dsub)
        tables = np.zeros((len(rows), M, 256), np.float32)
        for part in range(M):
            # far from the origin, squares in float32 cancel
            tables[:, part, :ksub] = distances(
                parts[:, part].astype(np.float64), self.centroids[part].astype(np.float64), "l2"
            )
        squares = np.empty((len(rows), len(stored)), np.float32)
        sum_parts()(tables, self.numbers(np.asarray(stored)), squares)
        return squares

    def numbers(self, codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """The centroids of codes, (n, M)."""
        b = bits_per_part(self.r)
        if b == 8:
            return np.ascontiguousarray(codes)
        bits = np.unpackbits(codes, axis=1, count=self.r, bitorder="little").reshape(len(codes), -1, b)
        return np.packbits(bits, axis=2, bitorder="little")[:, :, 0]

    def decode(self, codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """The vectors (n, d) that codes represent."""
        assert self.d is not None
        quantiser = self._quantiser(_faiss(), self.d)
        rows = quantiser.decode(np.ascontiguousarray(codes))
        return np.ascontiguousarray((rows @ self.rotation if self.rotation.size else rows)[:, : self.d])

    def to_faiss(
        self, codes: npt.NDArray[np.uint8], queries: npt.NDArray[np.float32]
    ) -> tuple[Any, npt.NDArray[np.float32]]:
        """An `IndexPQ` that holds these codes with our centroids, and the queries as it takes them."""
        assert self.d is not None
        faiss = _faiss()
        quantiser = self._quantiser(faiss, self.d)
        index = faiss.IndexPQ(quantiser.d, quantiser.M, quantiser.nbits)
        index.pq, index.is_trained, index.ntotal = quantiser, True, len(codes)
        faiss.copy_array_to_vector(np.ascontiguousarray(codes).ravel(), index.codes)
        return index, self._place(queries, quantiser.d)

    def resume(self, values: JsonObject, arrays: Arrays) -> None:
        """Go on from a saved state; one from before there were rotations has none."""
        super().resume(values, {"rotation": np.zeros((0, 0), np.float32), **arrays} if arrays else arrays)

    def _place(self, X: Reals, d: int) -> npt.NDArray[np.float32]:
        """Rows padded with zeros to d columns, and rotated if there is a rotation."""
        rows = _pad(X, d)
        return np.ascontiguousarray(rows @ self.rotation.T) if self.rotation.size else rows

    def _learn_rotation(self, faiss: ModuleType, rows: npt.NDArray[np.float32], M: int) -> npt.NDArray[np.float32]:
        """(d, d), from as many points as k-means takes, chosen evenly."""
        d = rows.shape[1]
        some = np.linspace(0, len(rows) - 1, min(len(rows), MAX_POINTS * 256)).astype(np.int64)
        points = np.ascontiguousarray(rows[some])
        if len(points) < 256:  # as many as the centroids of faiss' own quantiser
            points = np.resize(points, (256, d))
        opq = faiss.OPQMatrix(d, M, d)
        opq.niter, opq.niter_pq_0 = 2 * int(self.params.iterations), int(self.params.iterations)
        clusters = faiss.ProductQuantizer(d, M, 8)
        clusters.cp.min_points_per_centroid, clusters.cp.max_points_per_centroid = 1, MAX_POINTS
        opq.pq = clusters
        with one_faiss_thread(faiss):
            opq.train(points)
        return np.asarray(faiss.vector_to_array(opq.A).reshape(d, d), np.float32).copy()

    def _quantiser(self, faiss: ModuleType, d: int) -> Any:
        """A faiss quantiser with our centroids; columns are padded with zeros, which change no distance."""
        check_columns(self.params, d)
        b = bits_per_part(self.r)
        M = self.r // b
        quantiser = faiss.ProductQuantizer(math.ceil(d / M) * M, M, b)
        if self.d == d:
            faiss.copy_array_to_vector(self.centroids.ravel(), quantiser.centroids)
        return quantiser


@contextmanager
def one_faiss_thread(faiss: ModuleType) -> Iterator[None]:
    """One thread for faiss, so that its sums are the same on every machine."""
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def _pad(X: Reals, d: int) -> npt.NDArray[np.float32]:
    padded = np.zeros((len(X), d), np.float32)
    padded[:, : X.shape[1]] = X
    return padded


def _faiss() -> ModuleType:
    try:
        import faiss  # noqa: PLC0415
    except ImportError as error:
        raise ValueError("pq needs faiss: pip install ohash[faiss]") from error
    return faiss


HASHER = HasherSpec(
    hasher=PQ,
    title="Product quantisation",
    aliases=("product quantization",),
    cite="Jégou, Douze, Schmid: Product quantization for nearest neighbor search, TPAMI 2011",
    bibtex="""@article{jegou2011product,
  title   = {Product Quantization for Nearest Neighbor Search},
  author  = {J{\\'e}gou, Herv{\\'e} and Douze, Matthijs and Schmid, Cordelia},
  journal = {IEEE Transactions on Pattern Analysis and Machine Intelligence},
  volume  = {33},
  number  = {1},
  pages   = {117--128},
  year    = {2011},
  doi     = {10.1109/TPAMI.2010.57}
}""",
    supervision="none",
    features="distance",
    features_source="it approximates the vectors themselves",
    features_place="Product Quantization for Nearest Neighbor Search, Section III-A",
    consumes="batch",
    linear=False,
    asymmetric=True,
    hamming=False,
    needs="faiss",
    check_columns=check_columns,
    differs="No coarse quantiser in front (IVF), and no rotation unless it is learnt (OPQ). k-means sees at most 64 "
    "points per centroid. Where 8 does not divide r, parts have fewer bits. Its codes are centroid numbers: their "
    "Hamming distance is meaningless, and items are ranked by the distance of the float query to their centroids.",
)
