"""Sweep: base parameters x cases x grid x seeds, as data. A cell is one experiment, stored under its key.

As TOML::

    name = "beta"
    seeds = 3

    [base]
    dataset = "fashion"
    pairs = 20000

    [grid]
    beta = [0.3, 0.5, 0.7]

    [[cases]]
    method = "oh"

    [[cases]]
    method = "mmoh"
    T = 4

Instead of a grid, or with one, parameters may be drawn at random, by the scale of their sliders::

    [random]
    draws = 20
    beta = [0.1, 0.9]
    C = [1e-4, 1]
    select = ["smallest", "largest"]

Two numbers are the ends of a range, anything else is a list of choices. The draws follow from the spec alone, and more
of them begin with the same ones, so that a sweep resumes and grows like any other.

Successive halving stops poor settings early. Every setting begins with few pairs; the best of each round run again with
`factor` times as many, until the last round has all pairs. The first round has at least `min_pairs`::

    [halving]
    factor = 3
    min_pairs = 1000

A case sets parameters that belong together, such as a method and its own parameters; without cases the base is one.
"""

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ohash.core.parameters import Parameter, draw, unknown_parameter
from ohash.engine.export import PLACEHOLDER_FILES, Files, own_data_code
from ohash.engine.params import OWN, ExperimentParams, rows_of, unchecked_experiment
from ohash.models.registry import plugin_code
from ohash.streams import registry as datasets

Values = tuple[tuple[str, Any], ...]
MOST_CELLS = 100_000
DRAW_SEED = 42
SPEC_KEYS = ("name", "seeds", "base", "grid", "cases", "random", "halving")
DRAWS = "draws"
FACTOR = 3  # of successive halving, unless the spec gives another


@dataclass(frozen=True)
class Cell:
    """One experiment of a sweep; `at` holds the settings of its case, its grid values and the pairs of its round."""

    params: ExperimentParams
    at: Values

    @cached_property
    def key(self) -> str:
        """Its name in the store."""
        return self.params.key()


@dataclass(frozen=True)
class Sweep:
    """The description of a sweep; build one with `build_sweep(...)` or `read_sweep(...)`."""

    name: str
    base: Values
    grid: tuple[tuple[str, tuple[Any, ...]], ...]
    cases: tuple[Values, ...]
    seeds: tuple[int, ...]
    random: Values = ()
    halving: Values = ()

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
    def draws(self) -> tuple[Values, ...]:
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

    def _rows(self, ranges: Mapping[str, Sequence[Any]]) -> dict[str, Parameter]:
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
        rounds: tuple[Values, ...] = tuple((("pairs", pairs),) for pairs in self.budgets) or ((),)
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

    def by_point(self) -> "Iterator[tuple[Values, list[Cell]]]":
        """The cells of each point, which differ only in the seed."""
        points: dict[Values, list[Cell]] = {}
        for cell in self.cells:
            points.setdefault(cell.at, []).append(cell)
        yield from points.items()


def build_sweep(
    name: str = "sweep",
    *,
    base: Mapping[str, Any] | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    cases: list[dict[str, Any]] | tuple[dict[str, Any], ...] = (),
    seeds: int | Sequence[int] = 1,
    random: Mapping[str, Any] | None = None,
    halving: Mapping[str, Any] | None = None,
    most: int = MOST_CELLS,
) -> Sweep:
    """A sweep of at most `most` cells; every cell must be a valid experiment.

    >>> sweep = build_sweep(base={"dataset": "digits"}, grid={"beta": [0.4, 0.5], "r": [16, 32]}, seeds=3)
    >>> len(sweep.cells), sweep.axes
    (12, {'beta': [0.4, 0.5], 'r': [16, 32]})
    """
    numbers = tuple(range(seeds) if isinstance(seeds, int) else seeds)
    if (
        isinstance(seeds, bool)
        or not numbers
        or not all(isinstance(seed, int) and not isinstance(seed, bool) for seed in numbers)
    ):
        raise ValueError(f"seeds must be a number of seeds or a list of integers, got {seeds!r}")
    if not isinstance(cases, (list, tuple)):
        raise ValueError(f"cases must be a list of tables of parameters, got {cases!r}")
    tables = [("base", _frozen("base", base or {})), ("grid", _frozen("grid", grid or {}))]
    tables += [("a case", _frozen("a case", case)) for case in cases]
    drawn = _check_random(random or {}, dict(tables[1][1]))
    for what, table in tables:
        if "seed" in dict(table):
            raise ValueError(f"seed must not be in {what}; use seeds = [1, 2], or seeds = 2, at the top level")
    for key, values in tables[1][1]:
        if isinstance(values, (str, bytes)) or not isinstance(values, Sequence) or not values:
            raise ValueError(f"grid.{key} must be a list of values, got {values!r}")
    sweep = Sweep(
        str(name),
        tables[0][1],
        tuple((key, tuple(values)) for key, values in tables[1][1]),
        tuple(table for _, table in tables[2:]) or ((),),
        numbers,
        drawn,
        _check_halving(halving or {}, [dict(table) for _, table in tables[1:]] + [dict(drawn)]),
    )
    count = len(sweep.cases) * len(sweep.seeds) * max(1, int(dict(drawn).get(DRAWS, 1))) * max(1, len(sweep.budgets))
    for _, values in sweep.grid:
        count *= len(values)
    if count > most:
        raise ValueError(f"a sweep must have at most {most:,} cells here, got {count:,}; use fewer values or seeds")
    assert sweep.cells  # building the cells checks every one of them
    return sweep


def read_sweep(path: str | Path) -> Sweep:
    """A sweep from a TOML or JSON file; errors name the file."""
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"the spec of a sweep must be a TOML or JSON file, got {path}, which is not a file")
    try:
        text = path.read_text(encoding="utf-8")
        values = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        return from_values(values, path.stem)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from error


def check_datasets(sweep: Sweep) -> None:
    """Check that every data set of a sweep is known here; own data must be given by content."""
    for params in {cell.params.dataset: cell.params for cell in sweep.cells}.values():
        if params.dataset != OWN:
            datasets.find_dataset(params.dataset)
        elif not params.content:
            raise ValueError(f"dataset {OWN!r} needs its content; pass your own data with --features FILE")


def from_values(values: Any, name: str = "sweep", most: int = MOST_CELLS) -> Sweep:
    """A sweep from the values of a file or a link."""
    if values == {}:
        raise ValueError("a sweep needs at least [base] or [grid], got nothing")
    if not isinstance(values, dict) or set(values) - set(SPEC_KEYS):
        unknown = ", ".join(sorted(set(values) - set(SPEC_KEYS))) if isinstance(values, dict) else repr(values)[:60]
        raise ValueError(f"a sweep has {', '.join(SPEC_KEYS)}, got {unknown}; parameters belong in [base] or [grid]")
    return build_sweep(**{"name": name, **values, "most": most})


def _check_random(random: Any, grid: Mapping[str, Any]) -> Values:
    table = dict(_frozen("random", random))
    if not table:
        return ()
    draws = table.get(DRAWS)
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < 1:
        raise ValueError(f"random.draws must be the number of settings to draw, an integer >= 1, got {draws!r}")
    if len(table) < 2:
        raise ValueError("random must name the parameters to draw, with their ends: beta = [0.1, 0.9]")
    for key, values in table.items():
        if key in grid or key == "seed":
            raise ValueError(f"{key} must not be in random" + (" and in grid" if key in grid else "; use seeds"))
        if key != DRAWS and (isinstance(values, (str, bytes)) or not isinstance(values, Sequence) or not values):
            raise ValueError(f"random.{key} must be a list: the two ends of a range, or choices, got {values!r}")
    return tuple((key, value if key == DRAWS else tuple(value)) for key, value in table.items())


def _check_halving(halving: Any, tables: Sequence[Mapping[str, Any]]) -> Values:
    table = dict(_frozen("halving", halving))
    if not table:
        return ()
    unknown = sorted(set(table) - {"factor", "min_pairs"})
    if unknown or "min_pairs" not in table:
        raise ValueError(f"halving has factor and min_pairs, got {', '.join(unknown) or 'no min_pairs'}")
    table = {"factor": table.get("factor", FACTOR), "min_pairs": table["min_pairs"]}
    for name, least in (("factor", 2), ("min_pairs", 1)):
        if isinstance(table[name], bool) or not isinstance(table[name], int) or table[name] < least:
            raise ValueError(f"halving.{name} must be an integer >= {least}, got {table[name]!r}")
    if any("pairs" in one for one in tables):
        raise ValueError("pairs must be in base alone: successive halving varies them itself")
    return tuple(table.items())


def _frozen(what: str, values: Any) -> Values:
    if not isinstance(values, Mapping):
        raise ValueError(f"{what} must be a table of parameters, got {values!r}")
    return tuple(values.items())


def code_for(sweep: Sweep, files: Files = PLACEHOLDER_FILES) -> str:
    """Python that repeats a sweep with the package and prints its points; `files` are those of the user's own data.

    >>> from ohash.sweeps.sweep import build_sweep
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
        print(f"{setting}: mAP {point.mean():.3f}, recall@10 {point.mean('recall_10'):.3f}, {len(point.numbers)} seeds")
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
        "    print(f\"{setting}: mAP {point.mean():.3f}, recall@10 {point.mean('recall_10'):.3f}, "
        '{len(point.numbers)} seeds")\n'
    )
