"""The results of a sweep: one row a point, mean and spread over seeds."""

import csv
import io
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.experiment.params import QUERIES
from ohash.experiment.store import Store
from ohash.experiment.sweep import Cell, Sweep, Values

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
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = [f"{name}_{part}" for part in QUERIES for name in SCORES]
    writer.writerow(["run", *names, "seed", "state", *columns, *COSTS, "error"])
    for cell in sweep.cells:
        values = known.get(cell.key, {"state": "waiting", "numbers": {}})
        numbers, place = _numbers(values), dict(cell.at)
        scores = [_text(values.get(f"scores/{part}", {}), name) for part in QUERIES for name in SCORES]
        costs = [_text(numbers, name) for name in COSTS]
        where = [place.get(name, "") for name in names]
        writer.writerow([cell.key, *where, cell.params.seed, values["state"], *scores, *costs, values.get("error", "")])
    return text.getvalue()


def _text(numbers: dict[str, float], name: str) -> str:
    return f"{numbers[name]:.17g}" if np.isfinite(numbers.get(name, np.nan)) else ""


def _numbers(values: dict[str, Any]) -> dict[str, float]:
    """Final numbers on validation queries, whatever the curves were judged by, and what it took."""
    scores = dict(values.get("scores/validation", {}))
    more = {name: values[name] for name in ("seconds", "state_bytes") if name in values}
    return {**values["numbers"], **scores, **more}
