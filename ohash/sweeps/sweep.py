"""Sweep: base parameters x cases x grid x seeds, as data. A cell is one experiment, stored under its key.

`ohash.sweeps.specification` builds one, and says how it is written down.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from ohash.core.parameters import FrozenSettings, Parameter, Value, draw, unknown_parameter
from ohash.engine.export import PLACEHOLDER_FILES, Files, own_data_code
from ohash.engine.params import OWN, ExperimentParams, rows_of, unchecked_experiment
from ohash.models.registry import plugin_code

DRAW_SEED = 42
DRAWS = "draws"


@dataclass(frozen=True)
class Cell:
    """One experiment of a sweep; `at` holds the settings of its case, its grid values and the pairs of its round."""

    params: ExperimentParams
    at: FrozenSettings

    @cached_property
    def key(self) -> str:
        """Its name in the store."""
        return self.params.key()


@dataclass(frozen=True)
class Sweep:
    """The description of a sweep; build one with `build_sweep(...)` or `read_sweep(...)` of `specification`."""

    name: str
    base: FrozenSettings
    grid: tuple[tuple[str, tuple[Any, ...]], ...]
    cases: tuple[FrozenSettings, ...]
    seeds: tuple[int, ...]
    random: FrozenSettings = ()
    halving: FrozenSettings = ()

    @cached_property
    def budgets(self) -> tuple[int, ...]:
        """The pairs of each round of successive halving, the fewest first; empty without it."""
        if not self.halving:
            return ()
        factor, least = (int(dict(self.halving)[name]) for name in ("factor", "min_pairs"))
        pairs = unchecked_experiment(**{**dict(self.base), **dict(self.cases[0])}).run.pairs
        budgets = [pairs]
        while budgets[0] // factor >= least:
            budgets.insert(0, budgets[0] // factor)
        if len(budgets) < 2:
            raise ValueError(
                f"halving.min_pairs must be at most pairs / factor = {pairs // factor:,} here, got {least:,}; "
                "otherwise there is one round, and nothing is stopped"
            )
        return tuple(budgets)

    @cached_property
    def draws(self) -> tuple[FrozenSettings, ...]:
        """The settings drawn at random, the same for every case; one that is empty if nothing is drawn."""
        ranges = {key: values for key, values in self.random if key != DRAWS}
        if not ranges:
            return ((),)
        rows = self._rows(ranges)
        draws = []
        for at in range(int(dict(self.random)[DRAWS])):
            rng = np.random.default_rng([DRAW_SEED, at])
            draws.append(tuple((key, draw(rows[key], rng)) for key in ranges))
        return tuple(draws)

    def _rows(self, ranges: Mapping[str, Sequence[Value]]) -> dict[str, Parameter]:
        """The parameters that are drawn, with the given ends instead of those of their sliders."""
        known: dict[str, Parameter] = {}
        for case in self.cases:
            known = {**rows_of(unchecked_experiment(**{**dict(self.base), **dict(case)})), **known}
        rows = {}
        for key, values in ranges.items():
            if key not in known:
                raise unknown_parameter("random", key, list(known))
            row = known[key]
            if row.kind in (int, float):
                if len(values) != 2 or not row.convert(values[0]) < row.convert(values[1]):
                    raise ValueError(f"random.{key} must be the two ends of a range, got {list(values)!r}")
                rows[key] = replace(row, slider=(float(values[0]), float(values[1])), choices=())
            else:
                rows[key] = replace(row, choices=tuple(row.convert(value) for value in values))
        return rows

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Every cell once, ordered by case, then grid (the last key varies fastest), then seed.

        With successive halving they are those of every round, and few of the later ones run (`halving.open_rounds`).
        """
        cells: dict[str, Cell] = {}
        rounds: tuple[FrozenSettings, ...] = tuple((("pairs", pairs),) for pairs in self.budgets) or ((),)
        for case in self.cases:
            for *point, drawn, budget in product(*(values for _, values in self.grid), self.draws, rounds):
                settings = dict(case) | dict(zip((key for key, _ in self.grid), point, strict=True)) | dict(drawn)
                settings |= dict(budget)
                for seed in self.seeds:
                    params = unchecked_experiment(**{**dict(self.base), **settings, "seed": seed})
                    cell = Cell(params, tuple(settings.items()))
                    cells.setdefault(cell.key, cell)
        return tuple(cells.values())

    @cached_property
    def axes(self) -> dict[str, list[Any]]:
        """The parameters that vary, apart from seeds: key -> values in order."""
        keys = list(dict.fromkeys(key for cell in self.cells for key, _ in cell.at))
        axes = {key: list(dict.fromkeys(dict(cell.at).get(key) for cell in self.cells)) for key in keys}
        return {key: values for key, values in axes.items() if len(values) > 1}

    def to_json(self) -> str:
        """The whole sweep as JSON; the inverse of `read_sweep` for a .json file."""
        return json.dumps(
            {
                "name": self.name,
                "seeds": list(self.seeds),
                "base": dict(self.base),
                "grid": {key: list(values) for key, values in self.grid},
                "cases": [dict(case) for case in self.cases],
                **({"random": dict(self.random)} if self.random else {}),
                **({"halving": dict(self.halving)} if self.halving else {}),
            },
            indent=2,
        )

    @property
    def key(self) -> str:
        """A short hash; equal sweeps of the same name have equal keys."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:16]

    def by_point(self) -> "Iterator[tuple[FrozenSettings, list[Cell]]]":
        """The cells of each point, which differ only in the seed."""
        points: dict[FrozenSettings, list[Cell]] = {}
        for cell in self.cells:
            points.setdefault(cell.at, []).append(cell)
        yield from points.items()


def code_for(sweep: Sweep, files: Files = PLACEHOLDER_FILES) -> str:
    """Python that repeats a sweep with the package and prints its points; `files` are those of the user's own data.

    >>> from ohash.sweeps.specification import build_sweep
    >>> print(code_for(build_sweep("beta", base={"dataset": "digits"}, grid={"beta": [0.4, 0.5]}, seeds=2)))
    import ohash
    <BLANKLINE>
    results = ohash.sweep(
        name='beta',
        base={'dataset': 'digits'},
        grid={'beta': [0.4, 0.5]},
        seeds=2,
    )
    for point in results.points:
        setting = ", ".join(f"{key} = {value}" for key, value in point.at) or results.sweep.name
        scores = f"{point.score_title} {point.mean():.3f}, recall@10 {point.mean('recall_10'):.3f}"
        print(f"{setting}: {scores}, seeds {len(point.numbers)}")
    <BLANKLINE>
    """
    contents = dict.fromkeys(cell.params.content for cell in sweep.cells if cell.params.dataset == OWN)
    base = {key: value for key, value in sweep.base if not contents or key not in ("dataset", "content")}
    count = len(sweep.seeds)
    arguments: dict[str, Any] = {
        "name": sweep.name,
        "base": base,
        "grid": {key: list(values) for key, values in sweep.grid},
        "cases": [dict(case) for case in sweep.cases if case],
        "random": {key: value if key == DRAWS else list(value) for key, value in sweep.random},
        "halving": dict(sweep.halving),
        "seeds": count if sweep.seeds == tuple(range(count)) else list(sweep.seeds),
    }
    lines = [f"    {name}={value!r},\n" for name, value in arguments.items() if value not in ({}, [])]
    return (
        f"{plugin_code(cell.params.method for cell in sweep.cells)}"
        f"import ohash\n\n{''.join(own_data_code(content, files) for content in contents)}"
        f"results = ohash.sweep(\n{''.join(lines)}{'    data=data,' + chr(10) if contents else ''})\n"
        "for point in results.points:\n"
        '    setting = ", ".join(f"{key} = {value}" for key, value in point.at) or results.sweep.name\n'
        "    scores = f\"{point.score_title} {point.mean():.3f}, recall@10 {point.mean('recall_10'):.3f}\"\n"
        '    print(f"{setting}: {scores}, seeds {len(point.numbers)}")\n'
    )
