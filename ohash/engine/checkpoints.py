"""Checkpoints: the code table of a run, brought up to date and evaluated at fixed pair counts, a slice at a time.

At which pairs that is depends on the length of the run alone (`checkpoint_pairs`).
"""

from collections.abc import Generator
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Reals, Rows
from ohash.core.codes import unpack
from ohash.engine.frozen import Estimates, Frozen, FrozenEstimates
from ohash.engine.history import ClassScores, History
from ohash.engine.judge import CLICKS, ERRORS, SCORES, Judge, truth_column
from ohash.engine.sliding_map import LAST_POINTS, sliding_map
from ohash.engine.state import RunState
from ohash.evaluation.code_table import CodeTable
from ohash.evaluation.diagnostics import code_diagnostics
from ohash.evaluation.distance_ranking import Distances
from ohash.evaluation.ranking import Retrieval
from ohash.evaluation.significance import change_half_width
from ohash.models.base import AsymmetricHasher, HasherSpec, OnlineHasher
from ohash.runtime.clock import CPU_COLUMNS
from ohash.runtime.frames import Arrays
from ohash.runtime.progress import drain
from ohash.streams.similarity.pair_list import PairListSimilarity

# Half widths of the 95 % intervals of three scores' changes since the first checkpoint.
CHANGE_ERRORS = ("map_change_error", "hit_10_change_error", "recall_10_change_error")

NAMES = ("balance", "mean_entropy", "correlation", "distinct")
CORRELATED = 4000  # rows over which bits are correlated


class ChangeErrors:
    """How sure the change of a score since the first checkpoint is: paired, as the same queries are scored at both.

    Remembers the scores of every query at the first checkpoint; none if nothing could be ranked there.
    """

    def __init__(self) -> None:
        """Nothing has been scored."""
        self.first: Arrays | None = None

    def add(self, record: Retrieval | None) -> dict[str, float]:
        """The half widths at a checkpoint by their columns, NaN where it cannot be compared with the first."""
        each = {} if record is None else _scores(record)
        if self.first is None:
            self.first = each
        return {
            f"{name}_change_error": change_half_width(each[name], first)
            for name, first in self.first.items()
            if name in each and len(each[name]) == len(first)
        }

    def restore(self, first: Arrays) -> None:
        """Take up the scores of a saved run's first checkpoint."""
        self.first = first


def _scores(record: Retrieval) -> Arrays:
    scores = {"map": record.ap, "hit_10": record.hits[10], "recall_10": record.neighbour_recall}
    return {name: np.asarray(score, np.float64) for name, score in scores.items() if score is not None}


def code_numbers(codes: npt.NDArray[np.uint8], r: int, spec: HasherSpec) -> dict[str, float]:
    """Diagnostics by their names in METRICS; none for codes that are numbers, whose bits mean nothing one by one."""
    if not spec.hamming:
        return {}
    diagnostics = code_diagnostics(codes, r, correlation_rows=CORRELATED)
    return {name: float(getattr(diagnostics, name)) for name in NAMES}


CHECKPOINT_COLUMNS = (
    *SCORES, *ERRORS, *CHANGE_ERRORS, "map_fresh", "map_prequential", "recomputed", "flipped", "gap", "bound",
    "required_C", "share_C", "W_norm2", *CPU_COLUMNS,
)  # fmt: skip
TEST_SCORES = ("map", "map_error", "hit_10", "hit_10_error", "recall_10", "recall_10_error", "queries")
FLAT = 0.005
# Numbers of a stored database that are kept from one checkpoint to the next.
MAX_STORED = 2**26
# The balance of the bits is taken over about so many codes.
ROWS_OF_BALANCE = 4096


class PartScores(NamedTuple):
    """What final codes score on one part of the queries; `ap` and `hits` of a query with nothing relevant are NaN.

    `queries` are the rows of the data that these are of, `hits` whether something relevant is among the ten nearest.
    """

    scores: dict[str, float]
    ap: npt.NDArray[np.float64]
    queries: Rows
    hits: npt.NDArray[np.float64]


class Checkpoints:
    """How good the codes of a run are; `scores` has one row per checkpoint."""

    def __init__(self, run: RunState, frozen: Frozen | FrozenEstimates) -> None:
        """The table of the first codes, those of `frozen`; nothing is evaluated yet."""
        self._run, self._frozen = run, frozen
        self.last_record: Retrieval | None = None
        self.bit_ones: npt.NDArray[np.float64] = np.empty((0, 0))
        self.class_scores = ClassScores(run.world.dataset)
        self.change_errors = ChangeErrors()
        self.table_at = 0  # the pair count at which the table was made
        self.map_float: float | None = None
        self.test_scores: dict[str, float] = {}
        self.recomputed = self.flipped = 0
        self._diagnosed: tuple[tuple[int, int, int], dict[str, Any]] | None = None
        self._scored: tuple[tuple[int, int, int], dict[str, Any]] | None = None
        self._stored: tuple[tuple[int, int, int], Estimates] | None = None
        self.judge, self.table = self._fresh()
        self.scores = History((*CHECKPOINT_COLUMNS, *(["hit_10_fresh"] if self.judge.name in CLICKS else [])))
        self.table.refresh()
        self.codes = with_models(self.table.codes)

    # -- the table -------------------------------------------------------------------------------------------------

    def restore(self, table: Arrays) -> None:
        """Take up a saved table."""
        self.judge, self.table = self._fresh()
        self.table.restore(table)
        self.codes = with_models(self.table.codes)

    def enter_stage(self, stage: int, Z: Reals) -> Generator[float | None, None, None]:
        """The world looks different; the hash that made the table is the same, so its codes follow, however stale."""
        run = self._run
        judge = Judge(run.world, stage, run.params.run.judged_by, like=self.judge)
        if Z is not run.Z:
            self.flipped += yield from self.table.iter_reencode(Z, judge.rows, finite=True)
            self.codes = with_models(self.table.codes)
            self.recomputed += self.codes.shape[0] * self.codes.shape[1] * int(run.hasher.r)
        self.judge = judge

    def refresh(self) -> Generator[float | None, None, None]:
        """Compute again what the model has moved."""
        yield from self.table.iter_refresh()
        assert self.table.last is not None
        self.recomputed += self.table.last.bits_recomputed
        self.flipped += self.table.last.bits_flipped
        self.codes = with_models(self.table.codes)
        self.table_at = self._run.t

    def _fresh(self) -> tuple[Judge, CodeTable]:
        run = self._run
        judge = Judge(run.world, run.stage, run.params.run.judged_by)
        return judge, CodeTable(run.hasher, run.Z, judge.rows, finite=True)

    # -- evaluation ---------------------------------------------------------------------------------------------------

    def score_prequential(self) -> Generator[None, None, float]:
        """The mAP of the last points that came since the table was made, and in this stage."""
        run = self._run
        last = [run.t - LAST_POINTS // 2, self.table_at]
        last += [b for b in run.world.drift.boundaries if b <= min(run.t, run.end - 1)]
        i, j, _ = run.world.pairs(max(last), run.t) if max(last) < run.t else (np.empty(0, np.int64),) * 3
        points = np.stack([i, j], axis=1).ravel()
        codes = with_models(self.table.encode(run.Z[points])) if len(points) else self.codes[:, :0]
        database, db_codes = self.judge.database, self.codes[:, : len(self.judge.database)]
        if run.params.run.database == "seen":
            keep = np.flatnonzero(run.seen[database])
            database, db_codes = database[keep], np.ascontiguousarray(db_codes[:, keep])
        source = run.world.stream(run.stage).similarity
        distances: Distances | None = None
        if run.spec.asymmetric and len(points) and not isinstance(source, PairListSimilarity):
            stored = yield from self._store(self.table.made_by, database)
            distances = lambda start, stop: stored.distances(points[start:stop])  # noqa: E731
        return (yield from sliding_map(source, points, codes, database, db_codes, int(run.hasher.r), distances))

    def distances(self, judge: Judge, hasher: OnlineHasher) -> Generator[None, None, Distances | None]:
        """Distances of a judge's queries to its database by the method's own measure, if it has one."""
        if not self._run.spec.asymmetric:
            return None
        stored = yield from self._store(hasher, judge.database)
        return lambda start, stop: stored.distances(judge.queries[start:stop])

    def _store(self, hasher: OnlineHasher, database: Rows) -> Generator[None, None, Estimates]:
        """The database as a method stores it, kept until the hasher, the stage or the database is another."""
        of = self._run.stage, hasher.version, len(database)
        if self._stored is not None and self._stored[0] == of:
            return self._stored[1]
        self._stored = None  # before the next is made: two of them may not fit
        stored = Estimates(cast(AsymmetricHasher, hasher), self._run.Z, database)
        yield from stored.iter_store()
        if len(database) * self._run.Z.shape[1] <= MAX_STORED:
            self._stored = of, stored
        return stored

    def evaluate(self, map_prequential: float) -> Generator[None, None, None]:
        """Score the codes as they are, and write a row."""
        run = self._run
        seen = run.seen if run.params.run.database == "seen" else None
        r = int(run.hasher.r)
        made = run.stage, self.recomputed, self.flipped
        if self._scored is None or self._scored[0] != made or seen is not None:
            distances = yield from self.distances(self.judge, self.table.made_by)
            self._scored = made, (yield from self.judge.evaluate(self.codes, r, seen, distances))
        scores = dict(self._scored[1])  # the same codes have the same scores
        scores |= {"map_fresh": scores["map"], "hit_10_fresh": scores["hit_10"]}
        scores["map_prequential"] = map_prequential
        if run.params.run.reencode != "checkpoint" and self.table.stale:
            fresh = CodeTable(run.hasher, run.Z, self.judge.rows, finite=True)
            for _ in fresh.iter_refresh():
                yield
            distances = yield from self.distances(self.judge, run.hasher)
            again = yield from self.judge.evaluate(with_models(fresh.codes), r, seen, distances)
            scores |= {"map_fresh": again["map"], "hit_10_fresh": again["hit_10"]}
        self._record(scores)
        if self.map_float is None:
            self.map_float = yield from self.judge.float_reference()
        if run.t >= run.end or self.flat():
            yield
            self.code_numbers()

    def evaluate_on(self, part: str) -> PartScores:
        """Scores on the "validation" or "test" queries.

        Tune on validation, report once on test. The hash that made the table makes the codes, so stale codes show
        their cost here, too.
        """
        run = self._run
        judge = Judge(run.world, run.stage, part)
        codes = with_models(self.table.encode(run.Z[judge.rows]))
        seen = run.seen if run.params.run.database == "seen" else None
        distances = drain(self.distances(judge, self.table.made_by))
        scores = drain(judge.evaluate(codes, run.hasher.r, seen, distances))
        record = scores.pop("record", None)
        if record is None:  # fewer than two items have been seen
            nothing = {**scores, "queries": 0, "queries_without_relevant_items": 0}
            return PartScores(nothing, np.empty(0), np.empty(0, np.int64), np.empty(0))
        counts = {"queries": record.queries, "queries_without_relevant_items": record.excluded}
        hits = np.asarray(record.hits[10])
        return PartScores({**scores, **counts}, np.asarray(record.ap), judge.queries, hits)

    def evaluate_test(self) -> None:
        """Score the final codes on the test queries: once, at the end, for the snapshot of a finished run."""
        if self._run.params.run.judged_by == "validation" and not self.test_scores:
            scores = self.evaluate_on("test").scores
            self.test_scores = {f"test_{name}": float(scores[name]) for name in TEST_SCORES if name in scores}

    def _record(self, scores: dict[str, Any]) -> None:
        run = self._run
        self.last_record = scores.pop("record", None)
        self.class_scores.add(self.judge.queries, self.last_record)
        some = self.codes[:, :: max(1, self.codes.shape[1] // ROWS_OF_BALANCE)]
        self.bit_ones = (unpack(some, int(run.hasher.r)) > 0).mean(axis=1)
        row = {**scores, **run.clock.seconds, "recomputed": self.recomputed, "flipped": self.flipped}
        row |= self.change_errors.add(self.last_record)
        if hasattr(run.hasher, "certificate"):
            c = run.hasher.certificate
            row |= {"gap": c.gap, "bound": c.bound, "required_C": c.required_C, "W_norm2": c.W_norm2}
            row["share_C"] = c.share_C_large_enough
        self.scores.append(run.t, row)

    @property
    def class_map(self) -> npt.NDArray[np.float64]:
        """The mAP of each class at each checkpoint, (checkpoints, classes); no columns without single labels."""
        return self.class_scores.array

    def code_numbers(self) -> dict[str, float]:
        """What the codes of the database say by themselves: balance, entropy, correlation, distinct ones."""
        run = self._run
        made = run.stage, self.recomputed, self.flipped
        if self._diagnosed is None or self._diagnosed[0] != made:
            self._diagnosed = made, code_numbers(self.codes[:, : len(self.judge.database)], run.hasher.r, run.spec)
        return self._diagnosed[1]

    @property
    def first_codes(self) -> npt.NDArray[np.uint8]:
        """Codes of the table's rows under the first (W, mean), (T, n, bytes): what the run started from."""
        return self._frozen.codes(self.judge.rows)

    def flat(self) -> bool:
        """Whether the run should stop because its mAP has, or hit@10 of clicks."""
        if not self._run.params.run.stop_when_flat or len(self.scores) < 8:
            return False
        last = self.scores[truth_column(self.judge.name)][-5:]
        return bool(last.max() - last.min() < FLAT)


def with_models(codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Codes as (T, n, bytes), also those of a single model."""
    return np.asarray(codes)[None] if codes.ndim == 2 else np.asarray(codes)


PER_DECADE = 8
EARLY = (10, 21, 46)  # three per decade, while a few pairs still change every code
FIRST_CHECKPOINT = 100
REGULAR = 40


def checkpoint_pairs(pairs: int, at: str = "curve") -> list[int]:
    """Pair counts at which codes are judged: 0, geometric at first, then regular, and the last.

    A regular one that would fall within half a step of the last is left out.

    >>> checkpoint_pairs(100_000)[:6], checkpoint_pairs(100_000)[-3:]
    ([0, 10, 21, 46, 100, 133], [94998, 97498, 100000])
    """
    if at != "curve":
        tenths = 10 if at == "tenths" else 1
        return sorted({pairs * k // tenths for k in range(tenths + 1)})
    step = max(1, pairs // REGULAR)
    due = [0, *(early for early in EARLY if early < pairs)]
    t = float(min(FIRST_CHECKPOINT, pairs))
    while t < pairs - step / 2:
        due.append(int(t))
        t = min(t * 10 ** (1 / PER_DECADE), t + step)
    return [*due, pairs]
