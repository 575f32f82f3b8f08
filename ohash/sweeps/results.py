"""The results of a sweep: its points, with mean and spread over seeds, and the best of them.

The best point is chosen on validation queries and reported once on test queries, when every cell it competes with has
ended: a test score seen earlier could decide when to stop.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ohash import table_files
from ohash.core.parameters import FrozenSettings
from ohash.engine.judge import TRUTH_SCORES
from ohash.engine.narrative import amount
from ohash.engine.params import QUERIES
from ohash.engine.snapshot import plugin_values
from ohash.evaluation.significance import ENOUGH_SEEDS, Difference, align_queries, difference_over_seeds, seeds_text
from ohash.repr_html import card_html, curves_html
from ohash.runtime.frames import JsonObject
from ohash.store.store import CELL, Store
from ohash.sweeps.halving import OUTCOMES, Outcome, group_of, open_rounds, outcomes, planned_cells, summary, truth_of
from ohash.sweeps.sweep import Cell, Sweep

METRIC = ""  # the truth score of a point
DONE_CELLS = "SELECT record FROM runs WHERE kind = ? AND state = 'done'"
SCORES, COSTS = ("recall_10", "precision_10"), ("auc", "cpu_learn", "seconds")
QUERY_SCORES = {"map": "ap/test", "hit_10": "hits/test"}  # the stored scores of the test queries, by truth score


@dataclass(frozen=True)
class Point:
    """A point of a sweep: its settings, its cells, and the validation numbers of the finished ones.

    With successive halving a setting has one point per round it took part in; only a "full" one ran all pairs. `truth`
    is the score it is chosen by: mAP, or hit@10 of clicks.
    """

    at: FrozenSettings
    cells: tuple[Cell, ...]
    numbers: tuple[dict[str, float], ...]
    failed: int = 0
    outcome: Outcome = "full"
    truth: str = "map"

    @property
    def waiting(self) -> int:
        """Number of cells that are neither done nor failed."""
        return len(self.cells) - len(self.numbers) - self.failed

    @property
    def bits(self) -> int:
        """Total bits per item, of all models; 0 before a cell is done."""
        return round(self.numbers[0].get("bits", 0)) if self.numbers else 0

    @property
    def score_title(self) -> str:
        """What its truth score is called."""
        return TRUTH_SCORES[self.truth]

    def values(self, metric: str) -> npt.NDArray[np.float64]:
        """One value per finished seed; none by the truth score of other data."""
        if metric in TRUTH_SCORES and metric != self.truth:
            return np.empty(0)
        values = np.array([numbers.get(metric or self.truth, np.nan) for numbers in self.numbers], np.float64)
        return values[np.isfinite(values)]

    def mean(self, metric: str = METRIC) -> float:
        """Mean over the seeds; NaN without any."""
        values = self.values(metric)
        return float(values.mean()) if len(values) else float("nan")

    def sd(self, metric: str = METRIC) -> float:
        """Standard deviation over the seeds; NaN for fewer than two."""
        values = self.values(metric)
        return float(values.std(ddof=1)) if len(values) > 1 else float("nan")


def bits_differ_from_r(points: Sequence[Point]) -> bool:
    """Whether r does not say how long the codes are, as several models have T · r bits: then the bits must be told."""
    return any(point.bits and point.bits != getattr(point.cells[0].params.model, "r", 0) for point in points)


def collect_points(sweep: Sweep, store: Store) -> list[Point]:
    """Every point of a sweep with its results so far; with successive halving, those of the rounds that are open."""
    results = store.values(cell.key for cell in sweep.cells)
    rounds = open_rounds(sweep, results)
    became = outcomes(sweep, rounds)
    points = []
    for at, cells in (setting for one in rounds for setting in one.settings):
        stored = [results[cell.key] for cell in cells if cell.key in results]
        numbers = tuple(_numbers(values) for values in stored if values["state"] == "done")
        failed = sum(values["state"] == "error" for values in stored)
        points.append(Point(at, tuple(cells), numbers, failed, became[at], truth_of(cells, results)))
    return points


def count_cells(sweep: Sweep, store: Store) -> int:
    """How many cells run until the sweep is over."""
    return len(planned_cells(sweep, store.values(cell.key for cell in sweep.cells)))


def older_version_text(sweep: Sweep, store: Store) -> str:
    """Cells that run again because the file of their plugin has been edited since; "" if there are none."""
    done = store.done()
    left: dict[str, set[str]] = {}  # experiments that are to run, by the file of the plugin that they need
    for cell in sweep.cells:
        for version in plugin_values(cell.params).values() if cell.key not in done else ():
            left.setdefault(Path(version["file"]).name, set()).add(cell.params.to_json())
    if not left:
        return ""
    stored = {json.loads(record)["params"] for (record,) in store.rows(DONE_CELLS, CELL)}
    texts = []
    for file, experiments in left.items():
        older = len(experiments & stored)
        if older:
            cells = "1 stored cell is" if older == 1 else f"{older:,} stored cells are"
            texts.append(f"{cells} of another version of {file}, and set aside: the present file runs")
    return "; ".join(texts)


def halving_text(sweep: Sweep, store: Store) -> str:
    """The rounds of successive halving so far, and what may not be compared; "" without it."""
    return summary(sweep, open_rounds(sweep, store.values(cell.key for cell in sweep.cells)))


def to_csv(sweep: Sweep, store: Store) -> str:
    """One row per cell, finished or not; an empty field means "not measured". `map_test` is mAP on test queries.

    For clicks there is hit@10 instead of mAP.
    """
    results = store.values(cell.key for cell in sweep.cells)
    rounds = open_rounds(sweep, results)
    became = outcomes(sweep, rounds)
    names = list(dict.fromkeys(name for cell in sweep.cells for name, _ in cell.at))
    truths = truths_of(collect_points(sweep, store))
    rows = []
    for cell in (cell for one in rounds for cell in one.cells):
        values = results.get(cell.key, {"state": "waiting", "numbers": {}})
        numbers, settings = _numbers(values), dict(cell.at)
        row = {"run": cell.key, **{name: settings.get(name, "") for name in names}}
        row |= {"seed": cell.params.seed, "state": values["state"]}
        row |= {"halving": OUTCOMES[became[cell.at]]} if sweep.halving else {}
        for part in QUERIES:
            scores = values.get(f"scores/{part}", {})
            row |= {f"{name}_{part}": _finite(scores, name) for name in (*truths, *SCORES)}
        row |= {name: _finite(numbers, name) for name in COSTS}
        rows.append({**row, "error": values.get("error", "")})
    return table_files.rows_to_csv(rows)


def _finite(numbers: dict[str, float], name: str) -> float | None:
    value = numbers.get(name, math.nan)
    return float(value) if math.isfinite(value) else None


def _numbers(values: JsonObject) -> dict[str, float]:
    """Final numbers on validation queries, whatever the curves were judged by, with time and memory."""
    scores = dict(values.get("scores/validation", {}))
    more = {name: values[name] for name in ("seconds", "state_bytes") if name in values}
    return {**values["numbers"], **scores, **more}


@dataclass(frozen=True)
class BestPoint:
    """The best point by its truth score on validation queries, and that score on test queries.

    `lost_runs` are its runs without curves, `older_runs` those on clicks that an older version stored without hit@10 of
    the test queries; `same_queries`: every seed was judged by the same test queries, as where a
    data set declares them.
    """

    point: Point
    validation: float
    test: Difference | None = None
    test_sd: float = math.nan
    queries: int = 0
    seeds: int = 0
    same_queries: bool = False
    waiting: int = 0
    lost_runs: tuple[str, ...] = ()
    older_runs: tuple[str, ...] = ()
    group: str = ""

    @property
    def queries_text(self) -> str:
        """How many test queries, of how many seeds."""
        queries = amount(self.queries, "test query")
        if self.same_queries and self.seeds > 1:
            return f"the same {queries} for all {self.seeds} seeds"
        return queries + (f" of each of {self.seeds} seeds" if self.seeds > 1 else "")

    @property
    def test_text(self) -> str:
        """The result on the test queries, as text."""
        if self.waiting:
            left = "the remaining cell has" if self.waiting == 1 else f"the {self.waiting:,} remaining cells have"
            return f"the test queries are used once, when {left} ended"
        if self.test is None:
            return f"its result on the test queries is {'lost' if self.lost_runs else 'missing'}; {self.remedy}"
        spread = f", ± {self.test_sd:.3f} over seeds" if math.isfinite(self.test_sd) else ""
        rest = f"; {self.remedy}" if self.remedy else ""
        return (
            f"on {self.queries_text} {self.score_title} {self.test.difference:.3f}, {self.interval_text}{spread}{rest}"
        )

    @property
    def score_title(self) -> str:
        """What its score is called."""
        return self.point.score_title

    @property
    def interval_text(self) -> str:
        """The interval of the test score, as far as it can go; fewer than three seeds have none."""
        if self.test is None:
            return ""
        if self.seeds < ENOUGH_SEEDS:
            return seeds_text(self.seeds)
        return f"95 % interval {max(0.0, self.test.low):.3f} to {min(1.0, self.test.high):.3f}"

    @property
    def remedy(self) -> str:
        """How to recover runs without a result on the test queries; "" if all have one."""
        lost, older = " ".join(self.lost_runs), " ".join(self.older_runs)
        reasons = [f"the curves of {lost} are lost"] if lost else []
        if older:
            were = "was" if len(self.older_runs) == 1 else "were"
            reasons.append(f"{older} {were} stored by an older version, without {self.score_title} of the test queries")
        if not reasons:
            return ""
        keys = " ".join(filter(None, (lost, older)))
        return f"{', and '.join(reasons)}: `python3 -m ohash runs delete {keys}`, then run the sweep again"


def truths_of(points: Sequence[Point]) -> list[str]:
    """The truth scores of these points: one, or two if some are of labels and others of clicks."""
    known = {point.truth for point in points if point.numbers} or {point.truth for point in points} or {"map"}
    return [truth for truth in TRUTH_SCORES if truth in known]


def place_text(sweep: Sweep, point: Point, points: Sequence[Point]) -> str:
    """The settings of a point, with its total bits where r does not say them."""
    bits = f", {point.bits} bits" if bits_differ_from_r(points) and point.bits else ""
    return (", ".join(f"{name} = {value}" for name, value in point.at) or sweep.name) + bits


def best_points(sweep: Sweep, store: Store, points: list[Point] | None = None) -> list[BestPoint]:
    """The best point of each data set, truth and supervision, across which scores are not comparable."""
    groups: dict[str, list[Point]] = {}
    for point in collect_points(sweep, store) if points is None else points:
        groups.setdefault(group_of(point.cells[0].params), []).append(point)
    best = [(name, best_point(store, group)) for name, group in groups.items()]
    return [replace(one, group=name if len(groups) > 1 else "") for name, one in best if one is not None]


def best_point(store: Store, points: list[Point]) -> BestPoint | None:
    """The best of the points with the most finished seeds that ran all pairs; None before any is finished."""
    full = [point for point in points if point.outcome == "full"]
    seeds = max((len(point.numbers) for point in full), default=0)
    complete = [point for point in full if len(point.numbers) == seeds and np.isfinite(point.mean())]
    if not complete:
        return None
    best = max(complete, key=lambda point: point.mean())
    waiting = sum(point.waiting for point in points)
    return BestPoint(best, best.mean(), waiting=waiting) if waiting else _evaluate_on_test(store, best)


def _evaluate_on_test(store: Store, point: Point) -> BestPoint:
    done = store.done()
    frames = {cell.key: store.frame(cell.key)[1] for cell in point.cells if cell.key in done}
    name = QUERY_SCORES[point.truth]
    older = tuple(key for key, arrays in frames.items() if name not in arrays and QUERY_SCORES["map"] in arrays)
    lost = tuple(key for key, arrays in frames.items() if name not in arrays and key not in older)
    judged = [arrays for arrays in frames.values() if name in arrays and np.isfinite(arrays[name]).any()]
    if not judged:
        return BestPoint(point, point.mean(), lost_runs=lost, older_runs=older)
    # A cell of an earlier version has no "queries/test".
    each, shared = align_queries([one[name] for one in judged], [one.get("queries/test") for one in judged])
    means = [float(np.nanmean(one)) for one in each]
    sd = float(np.std(means, ddof=1)) if len(means) > 1 else math.nan
    queries = int(np.isfinite(np.concatenate(each)).sum()) // len(each)
    nothing = [np.zeros_like(one) for one in each]
    test = difference_over_seeds(each, nothing, score=point.truth, same_queries=shared)
    same = shared and all(np.array_equal(np.isnan(one), np.isnan(each[0])) for one in each)
    return BestPoint(point, point.mean(), test, sd, queries, len(each), same, lost_runs=lost, older_runs=older)


@dataclass(frozen=True)
class SweepResults:
    """A sweep and the store of its runs; every result is read from there when it is asked for."""

    sweep: Sweep
    store: Store

    @property
    def points(self) -> list[Point]:
        """One per setting, with the numbers of its seeds."""
        return collect_points(self.sweep, self.store)

    def best(self) -> list[BestPoint]:
        """The best point of each data set, truth and supervision, chosen on validation and reported once on test."""
        return best_points(self.sweep, self.store)

    def to_csv(self) -> str:
        """One row per experiment."""
        return to_csv(self.sweep, self.store)

    def _repr_html_(self) -> str:
        """Name, progress, the best points, and the truth score over the points."""
        points = self.points
        done, total = sum(len(point.numbers) for point in points), count_cells(self.sweep, self.store)
        facts = [f"{done} of {amount(total, 'cell')} done"]
        facts += [halving_text(self.sweep, self.store)] if self.sweep.halving else []
        for best in best_points(self.sweep, self.store, points):
            settings = place_text(self.sweep, best.point, points)
            group = f" ({best.group})" if best.group else ""
            facts.append(
                f"best{group}: {settings}, validation {best.score_title} {best.validation:.3f}; {best.test_text}"
            )
        order = np.arange(len(points), dtype=np.float64)
        curves = {
            TRUTH_SCORES[truth]: (order, np.array([point.mean(truth) for point in points], np.float64))
            for truth in truths_of(points)
        }
        curve = curves_html(f"mean {' and '.join(curves)} of each point, in the order of the grid", curves)
        return card_html(f"Sweep {self.sweep.name}", facts, curve)
