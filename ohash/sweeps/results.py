"""The results of a sweep: one row a point, mean and spread over seeds.

The best of a sweep, chosen honestly: on validation queries, and reported once on test queries.

Once is when every cell it competes with has ended: a test score seen earlier could decide when to stop.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash import tables
from ohash.engine.params import OWN, QUERIES
from ohash.evaluation.significance import Difference, difference_over_seeds
from ohash.models.registry import find
from ohash.store.store import Store
from ohash.sweeps.sweep import Cell, Sweep, Values

METRIC = "map"
SCORES, COSTS = ("map", "recall_10", "precision_10"), ("auc", "cpu_learn", "seconds")


@dataclass(frozen=True)
class Point:
    """A point of a sweep: its place, its cells, and what the finished ones of them measured on validation queries."""

    at: Values
    cells: tuple[Cell, ...]
    numbers: tuple[dict[str, float], ...]
    failed: int = 0

    @property
    def waiting(self) -> int:
        """Cells that are neither done nor failed."""
        return len(self.cells) - len(self.numbers) - self.failed

    def values(self, metric: str) -> npt.NDArray[np.float64]:
        """One value a finished seed."""
        found = np.array([numbers.get(metric, np.nan) for numbers in self.numbers], np.float64)
        return found[np.isfinite(found)]

    def mean(self, metric: str = METRIC) -> float:
        """Over the seeds; NaN if nothing is there."""
        values = self.values(metric)
        return float(values.mean()) if len(values) else float("nan")

    def sd(self, metric: str = METRIC) -> float:
        """Standard deviation over the seeds; NaN for fewer than two."""
        values = self.values(metric)
        return float(values.std(ddof=1)) if len(values) > 1 else float("nan")


def points(sweep: Sweep, store: Store) -> list[Point]:
    """Every point of a sweep with what is known of it now."""
    known = store.values(cell.key for cell in sweep.cells)
    found = []
    for at, cells in sweep.by_point():
        mine = [known[cell.key] for cell in cells if cell.key in known]
        numbers = tuple(_numbers(values) for values in mine if values["state"] == "done")
        found.append(Point(at, tuple(cells), numbers, sum(values["state"] == "error" for values in mine)))
    return found


def to_csv(sweep: Sweep, store: Store) -> str:
    """One row a cell, finished or not; an empty cell is "not measured". Scores say on which queries: `map_test`."""
    known = store.values(cell.key for cell in sweep.cells)
    names = list(dict.fromkeys(name for cell in sweep.cells for name, _ in cell.at))
    rows = []
    for cell in sweep.cells:
        values = known.get(cell.key, {"state": "waiting", "numbers": {}})
        numbers, place = _numbers(values), dict(cell.at)
        row = {"run": cell.key, **{name: place.get(name, "") for name in names}}
        row |= {"seed": cell.params.seed, "state": values["state"]}
        for part in QUERIES:
            scores = values.get(f"scores/{part}", {})
            row |= {f"{name}_{part}": _finite(scores, name) for name in SCORES}
        row |= {name: _finite(numbers, name) for name in COSTS}
        rows.append({**row, "error": values.get("error", "")})
    return tables.rows_to_csv(rows)


def _finite(numbers: dict[str, float], name: str) -> float | None:
    value = numbers.get(name, math.nan)
    return float(value) if math.isfinite(value) else None


def _numbers(values: dict[str, Any]) -> dict[str, float]:
    """Final numbers on validation queries, whatever the curves were judged by, and what it took."""
    scores = dict(values.get("scores/validation", {}))
    more = {name: values[name] for name in ("seconds", "state_bytes") if name in values}
    return {**values["numbers"], **scores, **more}


@dataclass(frozen=True)
class BestPoint:
    """The best point by its validation mAP, and what it reaches on the test queries; `lost` are damaged runs of it."""

    point: Point
    validation: float
    test: Difference | None = None
    test_sd: float = math.nan
    queries: int = 0
    seeds: int = 0
    waiting: int = 0
    lost_runs: tuple[str, ...] = ()
    group: str = ""

    @property
    def queries_text(self) -> str:
        """How many queries of how many seeds."""
        return f"{self.queries:,} test queries" + (f" of each of {self.seeds} seeds" if self.seeds > 1 else "")

    @property
    def test_text(self) -> str:
        """What is said of the test queries."""
        if self.waiting:
            left = "cell that is left has" if self.waiting == 1 else f"{self.waiting:,} cells that are left have"
            return f"the test queries are asked once, when the {left} ended"
        if self.test is None:
            return f"what it reaches on the test queries is lost; {self.remedy}"
        spread = f", ± {self.test_sd:.3f} over seeds" if math.isfinite(self.test_sd) else ""
        rest = f"; {self.remedy}" if self.lost_runs else ""
        interval = f"95 % interval {self.test.low:.3f} to {self.test.high:.3f}"
        return f"on {self.queries_text} mAP {self.test.difference:.3f}, {interval}{spread}{rest}"

    @property
    def remedy(self) -> str:
        """How to get back what is lost."""
        keys = " ".join(self.lost_runs)
        return f"the curves of {keys} are lost: `python3 -m ohash runs delete {keys}`, then the sweep again"


def best_points(sweep: Sweep, store: Store, found: list[Point] | None = None) -> list[BestPoint]:
    """The best point of each dataset, truth and supervision: across these a mAP means nothing."""
    groups: dict[str, list[Point]] = {}
    for point in points(sweep, store) if found is None else found:
        groups.setdefault(_group(point), []).append(point)
    chosen = [(name, best(store, group)) for name, group in groups.items()]
    return [replace(one, group=name if len(groups) > 1 else "") for name, one in chosen if one is not None]


def best(store: Store, found: list[Point]) -> BestPoint | None:
    """The best point, or None before any is finished; points without all their seeds do not compete with whole ones."""
    most = max((len(point.numbers) for point in found), default=0)
    whole = [point for point in found if len(point.numbers) == most and np.isfinite(point.mean())]
    if not whole:
        return None
    chosen = max(whole, key=lambda point: point.mean())
    waiting = sum(point.waiting for point in found)
    return BestPoint(chosen, chosen.mean(), waiting=waiting) if waiting else _reported(store, chosen)


def _reported(store: Store, chosen: Point) -> BestPoint:
    done = store.done()
    frames = {cell.key: store.frame(cell.key)[1] for cell in chosen.cells if cell.key in done}
    each = [arrays["ap/test"] for arrays in frames.values() if "ap/test" in arrays]
    lost = tuple(key for key, arrays in frames.items() if "ap/test" not in arrays)
    each = [ap for ap in each if np.isfinite(ap).any()]
    if not each:
        return BestPoint(chosen, chosen.mean(), lost_runs=lost)
    means = [float(np.nanmean(ap)) for ap in each]
    sd = float(np.std(means, ddof=1)) if len(means) > 1 else math.nan
    queries = int(np.isfinite(np.concatenate(each)).sum()) // len(each)
    test = difference_over_seeds(each, [np.zeros_like(ap) for ap in each])
    return BestPoint(chosen, chosen.mean(), test, sd, queries, len(each), lost_runs=lost)


def _group(point: Point) -> str:
    params = point.cells[0].params
    truth = "" if params.stream.similar_by == "auto" else f" by {params.stream.similar_by}"
    data = "your data" if params.dataset == OWN else params.dataset
    return f"{data}{truth}, learning from {find(params.method).supervision.replace('none', 'nothing')}"


@dataclass(frozen=True)
class SweepResults:
    """A sweep and the store its runs are kept in; everything is read from there when it is asked for."""

    sweep: Sweep
    store: Store

    @property
    def points(self) -> list[Point]:
        """One per setting, with the numbers of its seeds."""
        return points(self.sweep, self.store)

    def best(self) -> list[BestPoint]:
        """The best point of each data set, truth and supervision, chosen on validation and reported once on test."""
        return best_points(self.sweep, self.store)

    def to_csv(self) -> str:
        """One row per experiment."""
        return to_csv(self.sweep, self.store)
