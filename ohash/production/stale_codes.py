"""The price of stale codes: hits lost on recent pairs against the time to encode every item again.

Production searches codes of the *deployed* model, and queries are encoded with it too. Each of some recent similar
pairs (i, j), taken before they are learnt, is a query: does i find j among its ten nearest, in a sample of items? The
share under the present model minus the share under the deployed one is what re-encoding would gain.
"""

import time
from dataclasses import dataclass

import numpy as np

from ohash.core.arrays import Array, Floats, Rows
from ohash.core.codes import Codes
from ohash.core.rows import gather
from ohash.index.hamming_index import HammingIndex
from ohash.models.base import OnlineHasher

K = 10
SAMPLE = 10_000  # items that are searched
MAX_QUERIES = 500
MIN_QUERIES = 20  # that decide anything
Z_95 = 1.96


@dataclass(frozen=True)
class StalenessPrice:
    """Shares of hits, the half width of the 95 % interval of their difference, and what encoding all items takes."""

    queries: int
    items: int
    hit_now: float
    hit_deployed: float
    half_width: float
    encode_seconds: float
    encode_bytes: int

    @property
    def lost(self) -> float:
        """Hits lost per query by the deployed codes; negative if they are better."""
        return self.hit_now - self.hit_deployed

    def sentence(self, hit_value: float | None = None) -> str:
        """What it means; `hit_value` is what one hit is worth, in core seconds."""
        if not self.queries:
            return "no similar pair is recent enough to say what stale codes cost"
        if self.queries < MIN_QUERIES:
            pairs = f"{self.queries} similar pair{'s' * (self.queries != 1)}"
            return f"what stale codes cost cannot be told from {pairs} in a batch; it takes {MIN_QUERIES}"
        cost = f"encoding {self.items:,} items again takes {self.encode_seconds:.3g} core seconds"
        hits = f"{100 * abs(self.lost):.1f} ± {100 * self.half_width:.1f} hits per 100 queries"
        if self.lost < 0:
            return f"re-encoding does not pay: the deployed codes gain {hits}; {cost}"
        if self.lost <= self.half_width:
            return f"re-encoding does not pay, as far as can be told: the deployed codes lose {hits}; {cost}"
        if hit_value is None:
            return (
                f"the deployed codes lose {hits}; {cost}, that is {self.encode_seconds / self.lost:.3g} core "
                "seconds per hit and query"
            )
        queries = self.encode_seconds / (self.lost * hit_value)
        return f"the deployed codes lose {hits}; {cost}: it pays after {queries:,.0f} queries"


def price_staleness(model: OnlineHasher, deployed: OnlineHasher, X: Array, triples: Rows, seed: int) -> StalenessPrice:
    """Measure both models on these pairs and a sample of rows of X, drawn with `seed`."""
    similar = triples[(triples[:, 2] == 1) & (triples[:, 0] != triples[:, 1])][:MAX_QUERIES]
    rng = np.random.default_rng(seed)
    rows = rng.choice(len(X), min(SAMPLE, len(X)), replace=False)
    rows = np.unique(np.concatenate([rows, similar[:, 1]]))
    vectors, queries = gather(X, rows), gather(X, similar[:, 0])
    hits, seconds, width = [], 0.0, 0
    for one in (model, deployed):
        start = time.thread_time()
        codes = encode_vectors(one, vectors)
        if one is model:
            seconds, width = time.thread_time() - start, codes.nbytes // len(rows)
        hits.append(_hits(codes, encode_vectors(one, queries), rows, similar) if len(similar) else np.zeros(0))
    gained = hits[0] - hits[1]
    n = len(similar)
    spread = float(gained.std(ddof=1)) if n > 1 else float("nan")
    means = [float(one.mean()) if n else float("nan") for one in hits]
    half_width = Z_95 * spread / n**0.5 if n else float("nan")
    return StalenessPrice(n, len(X), means[0], means[1], half_width, seconds * len(X) / len(rows), width * len(X))


def encode_vectors(model: OnlineHasher, vectors: Array) -> Codes:
    """Codes of vectors as they are stored, by the model and its feature map."""
    feature_map = getattr(model, "feature_map", None)
    return model.encode(vectors if feature_map is None else feature_map.transform(vectors))


def _hits(codes: Codes, queries: Codes, rows: Rows, similar: Rows) -> Floats:
    """1 where row j is among the K nearest of query i, i itself apart; 0 elsewhere."""
    near = rows[HammingIndex(codes).search(queries, min(K + 1, len(rows))).indices]
    others = [row[row != i][:K] for row, i in zip(near, similar[:, 0], strict=True)]
    return np.array([j in row for row, j in zip(others, similar[:, 1], strict=True)], np.float64)
