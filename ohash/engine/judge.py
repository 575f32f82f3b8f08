"""Judge: the two truths of a run, side by side, measured at checkpoints in slices of a few milliseconds.

*Agrees with your labels or pairs*: mAP, precision@10; for clicks hit@10 and MRR on later clicks. *Agrees with the
original distance*: recall@10 and recall@100 of the exact neighbours, and recall@10 after the nearest 20, 40 and 160
have been sorted again by the float vectors. They move in opposite directions while OH learns.
"""

from collections.abc import Generator, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Array, Bytes, Rows, Singles
from ohash.core.rows import RowView, gather
from ohash.engine.world import World
from ohash.evaluation.chance import random_order
from ohash.evaluation.distance_ranking import Distances, iter_float_scores, iter_ranking
from ohash.evaluation.neighbour_recall import Cut, iter_recall, recall_by_distances
from ohash.evaluation.neighbours import iter_exact_neighbours
from ohash.evaluation.ranking import Retrieval, iter_retrieval
from ohash.evaluation.significance import score_half_width
from ohash.streams.similarity.base import Similarity
from ohash.streams.similarity.pair_list import PairListSimilarity, group_partners

# Oversampling: the nearest 10 c are sorted again by the float vectors.
RERANKED = (1, 2, 4, 16)
# What a checkpoint records; columns of History.
SCORES = (
    "map", "map_low", "map_high", "precision_10", "hit_10", "mrr", "ndcg_10", "auc_later", "recall_10", "recall_100",
    *(f"recall_10_x{factor}" for factor in RERANKED[1:]),
)  # fmt: skip
# Half widths of the 95 % intervals of three of them, over the queries.
ERRORS = ("map_error", "hit_10_error", "recall_10_error")
# Where the truth is clicks or pairs, one item of thousands is relevant, and mAP is too small to be read.
CLICKS = ("clicks", "pairs")
CLICK_SCORES = ("hit_10", "mrr", "ndcg_10", "auc_later")
TRUTH_SCORES = {"map": "mAP", "hit_10": "hit@10"}
NEIGHBOURS = 100
# The reference line is measured on all queries, or on so many of them that this many products of floats suffice.
FLOAT_WORK = 5 * 10**10
FLOAT_QUERIES = 100
# Flags of queries and items that are held as bytes; more are packed.
DENSE = 2**27
# Later clicks may come from as many rows as there are; a checkpoint asks this many of them.
MAX_QUERIES = 1000


def truth_column(similar_by: str) -> str:
    """The column of the score that says how well codes follow a truth; TRUTH_SCORES has its name."""
    return "hit_10" if similar_by in CLICKS else "map"


class Judge:
    """Queries, database and truth of one stage of a world."""

    def __init__(self, world: World, stage: int, part: str, like: "Judge | None" = None) -> None:
        """Collect what is relevant; exact neighbours follow at the first use.

        `like` is a judge of another stage: only a redefinition changes what is relevant.
        """
        self.world, self.stage, self.part = world, stage, part
        self._place = stage, part
        source = world.stream(stage).similarity
        self.name, self.note = source.name, source.note
        self.hidden: list[Rows] | None = None
        if isinstance(source, PairListSimilarity):
            i, j = source.later(part)
            self.queries = np.unique(i)
            if len(self.queries) > MAX_QUERIES:
                self.note += f"{'; ' if self.note else ''}{MAX_QUERIES:,} of {len(self.queries):,} {part} queries used"
                chosen = np.random.default_rng(world.params.seed).choice(self.queries, MAX_QUERIES, replace=False)
                self.queries = np.sort(chosen)
            self.database = world.dataset.documents
            self.relevant: Array | list[Rows] = self._places(group_partners(self.queries, i, j))
            self.hidden = self._places(source.partners(self.queries))
            self.own: Rows | None = None if world.dataset.two_sided else self.queries
        elif like is not None and world.params.drift.drift != "redefine":
            self.queries, self.database, self.relevant, self.own = like.queries, like.database, like.relevant, None
        else:
            self.queries = getattr(world.parts, part)
            self.database = world.parts.database
            self.relevant = _relevant(source, self.queries, self.database)
            self.own = None
        if not len(self.queries):
            raise ValueError(f"there are no {part} queries; give the dataset more rows or more pairs")

    def is_relevant(self, row: int, items: Rows) -> npt.NDArray[np.bool_]:
        """Which database items, by place, are relevant to this row, which need not be a query."""
        source, at = self.world.stream(self.stage).similarity, np.flatnonzero(self.queries == row)
        if isinstance(source, PairListSimilarity):
            later = source.later(self.part)
            partners = self.relevant[at[0]] if len(at) else self._places(group_partners(np.array([row]), *later))[0]
            return np.isin(items, partners)
        wanted = self.relevant[at[0]] if len(at) else source.relevant(np.array([row]), self.database)[0]
        whole = wanted if wanted.dtype == bool else np.unpackbits(wanted, bitorder="little")
        return np.asarray(whole[items], dtype=bool)

    def _places(self, partners: list[Rows]) -> list[Rows]:
        """Where in the database these rows are; of one-sided data every row is at its own place."""
        if not self.world.dataset.two_sided:
            return partners
        return [np.searchsorted(self.database, rows) for rows in partners]

    @property
    def rows(self) -> Rows:
        """Database rows, then query rows: what a code table must hold."""
        return np.concatenate([self.database, self.queries])

    def evaluate(
        self,
        codes: Bytes,
        r: int,
        seen: npt.NDArray[np.bool_] | None,
        distances: Distances | None = None,
    ) -> Generator[None, None, dict[str, Any]]:
        """Scores of codes (T, database + queries, bytes) over the seen part of the database; yields between slices.

        With `distances` (of the queries to the whole database) the ranking goes by them instead of the codes.
        """
        n = len(self.database)
        database, queries = codes[:, :n], codes[:, n:]
        keep = np.arange(n)
        relevant, hidden, own = self.relevant, self.hidden, self.own
        if seen is None:
            exact = yield from self.exact_neighbours()
        else:
            keep = np.flatnonzero(seen[self.database])
            if len(keep) < 2:
                return dict.fromkeys(SCORES, float("nan"))
            database = np.ascontiguousarray(database[:, keep])
            place = np.full(n, -1)
            place[keep] = np.arange(len(keep))
            if isinstance(relevant, np.ndarray):
                relevant = _columns(relevant, n, keep)
            else:
                relevant = [place[rows][place[rows] >= 0] for rows in relevant]
            hidden = None if hidden is None else [place[rows][place[rows] >= 0] for rows in hidden]
            own = None if own is None else place[own]
            exact = yield from self._neighbours(self.database[keep], own)

        cuts = self._cuts(exact.shape[1])
        if distances is None:
            ranked = iter_retrieval(queries, database, relevant=relevant, exclude=hidden, query_rows=own, k=10, r=r)
            ranking = yield from _last(ranked)
            recall = yield from iter_recall(queries, database, exact, list(cuts.values()), own, r=r)
        else:
            recall = np.empty((len(cuts), len(self.queries)))

            def measured(start: int, stop: int) -> Singles:
                block = distances(start, stop)
                D = block if len(keep) == n else block[:, keep]
                itself = None if own is None else own[start:stop]
                recall[:, start:stop] = recall_by_distances(D, exact[start:stop], list(cuts.values()), itself)
                return D

            size = len(self.queries), len(keep)
            ranked = iter_ranking(measured, *size, relevant=relevant, exclude=hidden, query_rows=own, k=10)
            ranking = yield from _last(ranked)
        each = dict(zip(cuts, recall, strict=True))
        return {
            "map": ranking.map,
            "map_low": ranking.map_low,
            "map_high": ranking.map_high,
            "precision_10": ranking.precision_at_k[10],
            "hit_10": ranking.hit_at_k[10],
            "mrr": ranking.mrr,
            "ndcg_10": ranking.ndcg_at_k[10],
            "auc_later": ranking.auc,
            **{name: float(recalls.mean()) for name, recalls in each.items()},
            "map_error": score_half_width(ranking.ap),
            "hit_10_error": score_half_width(ranking.hits[10], hits=True),
            "recall_10_error": score_half_width(each["recall_10"]),
            "record": replace(ranking, neighbour_recall=each["recall_10"]),
        }

    @staticmethod
    def _cuts(neighbours: int) -> dict[str, Cut]:
        """The recalls of a checkpoint by their column; of a small database as many neighbours as there are."""
        few, many = min(10, neighbours), min(NEIGHBOURS, neighbours)
        reranked = {f"recall_10_x{factor}": Cut(few, factor * few) for factor in RERANKED[1:]}
        return {"recall_10": Cut(few, few), "recall_100": Cut(many, many), **reranked}

    def exact_neighbours(self) -> Generator[None, None, Rows]:
        """The nearest database rows of every query by the original distance, (n_queries, k); once per world."""
        rows_by_place = self.world.exact_neighbours
        if self._place not in rows_by_place:
            rows_by_place[self._place] = yield from self._neighbours(self.database, self.own)
        return rows_by_place[self._place]

    def share(self, other: "Judge") -> None:
        """Take the exact neighbours of a judge of the same data, split and stage, if it knows them."""
        same = self.world.dataset is other.world.dataset and self.stage == other.stage
        same = same and np.array_equal(self.queries, other.queries) and np.array_equal(self.database, other.database)
        if same and other._place in other.world.exact_neighbours:
            self.world.exact_neighbours[self._place] = other.world.exact_neighbours[other._place]

    def float_reference(self) -> Generator[None, None, float]:
        """The mAP of the float vectors themselves, ranked by the original distance: a reference, not a ceiling."""
        scores_by_place = self.world.float_map
        if self._place not in scores_by_place:
            each = len(self.database) * self.world.dataset.d
            scores = yield from self.float_scores(max(FLOAT_QUERIES, FLOAT_WORK // each))
            ap = scores["map"]
            scores_by_place[self._place] = float(np.nanmean(ap)) if not np.isnan(ap).all() else float("nan")
        return scores_by_place[self._place]

    def float_scores(self, max_queries: int | None = None) -> Generator[None, None, dict[str, npt.NDArray[np.float64]]]:
        """AP and hits of the float vectors for the first queries, or all; what codes may not find is hidden."""
        X, few = self.world.raw(self.stage), slice(0, max_queries)
        own = None if self.own is None else self.own[few]
        hidden = None if self.hidden is None else self.hidden[few]
        sides = gather(X, self.queries[few]), RowView(X, self.database)
        return (yield from iter_float_scores(*sides, self.relevant[few], self.world.dataset.metric, own, hidden))

    def chance(self) -> dict[str, float]:
        """Hit@10, MRR, nDCG@10 and AUC of a random order, averaged over the queries that have a relevant item."""
        if isinstance(self.relevant, np.ndarray):
            packed = self.relevant.dtype != bool
            R = np.bitwise_count(self.relevant).sum(axis=1) if packed else self.relevant.sum(axis=1)
        else:
            R = np.array([len(rows) for rows in self.relevant])
        return random_order(len(self.database) - (self.own is not None), R)

    @cached_property
    def chance_of_clicks(self) -> dict[str, float]:
        """`chance` once per judge, as every snapshot asks for it; empty if no clicks decide what is relevant."""
        return self.chance() if self.hidden is not None else {}

    def feature_recall(self) -> Generator[None, None, float]:
        """Recall@10 of exact search among the features: what the feature map alone leaves of the original distance.

        What codes of these features keep can hardly exceed it. Measured on the first queries if there is much to
        multiply.
        """
        Z = yield from self.world.iter_mapped(self.stage)
        exact = yield from self.exact_neighbours()
        few = slice(0, max(FLOAT_QUERIES, FLOAT_WORK // (len(self.database) * Z.shape[1])))
        own = None if self.own is None else self.own[few]
        k = min(10, exact.shape[1])
        work = iter_exact_neighbours(Z[self.queries[few]], RowView(Z, self.database), k, "l2", query_rows=own)
        near = yield from _quiet(work)
        return float(np.mean([len(np.intersect1d(*sides)) / k for sides in zip(near, exact[few, :k], strict=True)]))

    def _neighbours(self, database: Rows, own: Rows | None) -> Generator[None, None, Rows]:
        X, metric = self.world.raw(self.stage), self.world.dataset.metric
        k = min(NEIGHBOURS, len(database) - 1)
        work = iter_exact_neighbours(gather(X, self.queries), RowView(X, database), k, metric, query_rows=own)
        neighbours: Rows = yield from _quiet(work)
        return neighbours


def _relevant(source: Similarity, queries: Rows, database: Rows) -> Array:
    """(queries, database) flags; packed, eight to a byte, where there are very many."""
    step = max(1, DENSE // len(database))
    if len(queries) <= step:
        return source.relevant(queries, database)
    blocks = (source.relevant(queries[at : at + step], database) for at in range(0, len(queries), step))
    return np.concatenate([np.packbits(block, axis=1, bitorder="little") for block in blocks])


def _columns(relevant: Array, n: int, keep: Rows) -> Array:
    """Some columns of flags, packed if they were."""
    if relevant.dtype == bool:
        return relevant[:, keep]
    rows = (np.unpackbits(row, count=n, bitorder="little")[keep] for row in relevant)
    return np.stack([np.packbits(row, bitorder="little") for row in rows])


def _quiet(work: Generator[object, None, Rows]) -> Generator[None, None, Rows]:
    while True:
        try:
            next(work)
        except StopIteration as finished:
            result: Rows = finished.value
            return result
        yield


def _last(records: Iterator[Retrieval]) -> Generator[None, None, Retrieval]:
    """The last of some records, one slice each."""
    record = next(records)
    yield
    for record in records:  # noqa: B007
        yield
    return record
