"""What the store knows of the paper's figures, by figure, setting, method and the varied parameter."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.paper.figures import FIGURES, Figure, Profile
from ohash.paper.settings import Setting, find_setting
from ohash.store.store import Store
from ohash.sweeps.sweep import Cell

Floats = npt.NDArray[np.float64]


class MissingCellError(Exception):
    """A cell that a claim needs is not in the store."""


@dataclass(frozen=True)
class FigurePoint:
    """A point of a figure."""

    figure: str
    setting: str
    method: str
    x: Any


@dataclass(frozen=True)
class SeedResult:
    """One finished cell."""

    key: str
    values: dict[str, Any]

    def score(self, name: str = "map", part: str = "test") -> float:
        """A score on the test (or validation) queries."""
        return float(self.values[f"scores/{part}"][name])

    def number(self, name: str) -> float:
        """A final number of the run."""
        return float(self.values["numbers"][name])


class Measurements:
    """A reader of one profile's cells; it never runs anything."""

    def __init__(self, store: Store, profile: Profile) -> None:
        """Nothing is read yet."""
        self.store, self.profile = store, profile
        self._frames: dict[str, dict[str, Any]] = {}
        self._cells: dict[str, dict[FigurePoint, list[Cell]]] = {}

    @cached_property
    def _found(self) -> dict[FigurePoint, list[SeedResult]]:
        cells = {where: cells for figure in FIGURES.values() for where, cells in self.cells(figure).items()}
        known = self.store.values(cell.key for some in cells.values() for cell in some)
        return {
            where: [SeedResult(cell.key, known[cell.key]) for cell in some if _done(known.get(cell.key))]
            for where, some in cells.items()
        }

    def cells(self, figure: Figure) -> dict[FigurePoint, list[Cell]]:
        """The cells of a figure by their place, finished or not."""
        if figure.key in self._cells:
            return self._cells[figure.key]
        found: dict[FigurePoint, list[Cell]] = {}
        for cell in figure.sweep(self.profile).cells if figure.settings() else ():
            place = dict(cell.at)
            setting = find_setting(cell.params.dataset, cell.params.stream.similar_by)
            where = FigurePoint(figure.key, setting.key, cell.params.method, place[figure.varies])
            found.setdefault(where, []).append(cell)
        self._cells[figure.key] = found
        return found

    def seeds(self, figure: str, setting: Setting, method: str, x: Any) -> list[SeedResult]:
        """The finished cells of a point, one a seed; Missing if there is none."""
        found = self._found.get(FigurePoint(figure, setting.key, method, x), [])
        if not found:
            raise MissingCellError(f"{method} at {x} on {setting.title} (figure {figure}) has not been run")
        return found

    def has(self, figure: str, setting: Setting, method: str) -> bool:
        """Whether a method has any finished cell there."""
        return any(
            seeds and (where.figure, where.setting, where.method) == (figure, setting.key, method)
            for where, seeds in self._found.items()
        )

    def arrays(self, seed: SeedResult) -> dict[str, Any]:
        """The arrays of a cell, read once."""
        if seed.key not in self._frames:
            self._frames[seed.key] = self.store.frame(seed.key)[1]
        return self._frames[seed.key]

    def ap(self, seeds: list[SeedResult]) -> list[Floats]:
        """The average precision of every test query, one array a seed."""
        found = [self.arrays(seed).get("ap/test") for seed in seeds]
        if any(one is None for one in found):
            raise MissingCellError(
                "the trace of a cell is lost: delete it with `ohash runs delete` and run the figure again"
            )
        return [np.asarray(one) for one in found]

    def best(self, figure: str, setting: Setting, choices: list[tuple[str, Any]]) -> tuple[str, Any]:
        """The (method, x) with the highest mAP on validation queries, those that were not run left out."""
        found = {}
        for method, x in choices:
            seeds = self._found.get(FigurePoint(figure, setting.key, method, x), [])
            if seeds:
                found[method, x] = float(np.mean([seed.score(part="validation") for seed in seeds]))
        if not found:
            raise MissingCellError(f"nothing of figure {figure} on {setting.title} has been run")
        return max(found, key=lambda choice: found[choice])

    def progress(self, figure: Figure) -> tuple[int, int]:
        """Finished cells, and all."""
        cells = self.cells(figure)
        return sum(len(self._found[where]) for where in cells), sum(map(len, cells.values()))

    def cost(self, figure: Figure) -> float:
        """CPU seconds that its finished cells took, everything included."""
        seeds = [seed for where in self.cells(figure) for seed in self._found[where]]
        return float(sum(seed.values.get("cpu_seconds", seed.values["seconds"]) for seed in seeds))


def _done(values: dict[str, Any] | None) -> bool:
    return values is not None and values["state"] == "done"
