"""Sweep: base parameters x cases x grid x seeds, as data. A cell is one experiment; its key is its name in the store.

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

Cases are for what goes together, methods with parameters of their own, say; without any there is one, the base itself.
"""

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from ohash.engine.params import OWN, ExperimentParams, experiment
from ohash.streams import registry as datasets

Values = tuple[tuple[str, Any], ...]
MOST_CELLS = 100_000
KNOWN = ("name", "seeds", "base", "grid", "cases")


@dataclass(frozen=True)
class Cell:
    """One experiment of a sweep, and where it lies: `at` are its case, its grid values and nothing else."""

    params: ExperimentParams
    at: Values

    @cached_property
    def key(self) -> str:
        """Its name in the store."""
        return self.params.key()


@dataclass(frozen=True)
class Sweep:
    """What is to be run; build one with `build_sweep(...)` or `read(...)`."""

    name: str
    base: Values
    grid: tuple[tuple[str, tuple[Any, ...]], ...]
    cases: tuple[Values, ...]
    seeds: tuple[int, ...]

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Every cell, in order: cases, then the grid (the last key fastest), then seeds; the same one only once."""
        found: dict[str, Cell] = {}
        for case in self.cases:
            for point in product(*(values for _, values in self.grid)):
                place = dict(case) | dict(zip((key for key, _ in self.grid), point, strict=True))
                for seed in self.seeds:
                    cell = Cell(experiment(**{**dict(self.base), **place, "seed": seed}), tuple(place.items()))
                    found.setdefault(cell.key, cell)
        return tuple(found.values())

    @cached_property
    def axes(self) -> dict[str, list[Any]]:
        """What varies, seeds apart: key -> its values in order."""
        keys = list(dict.fromkeys(key for cell in self.cells for key, _ in cell.at))
        found = {key: list(dict.fromkeys(dict(cell.at).get(key) for cell in self.cells)) for key in keys}
        return {key: values for key, values in found.items() if len(values) > 1}

    def to_json(self) -> str:
        """All of it; the inverse of `read` for a file that ends in .json."""
        return json.dumps(
            {
                "name": self.name,
                "seeds": list(self.seeds),
                "base": dict(self.base),
                "grid": {key: list(values) for key, values in self.grid},
                "cases": [dict(case) for case in self.cases],
            },
            indent=2,
        )

    @property
    def key(self) -> str:
        """A short name: the same cells under the same title, the same key."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:16]

    def by_point(self) -> "Iterator[tuple[Values, list[Cell]]]":
        """The cells of each point, which differ in the seed only."""
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
    most: int = MOST_CELLS,
) -> Sweep:
    """A sweep of at most `most` cells, checked: every cell must be a sound experiment.

    >>> found = build_sweep(base={"dataset": "digits"}, grid={"beta": [0.4, 0.5], "r": [16, 32]}, seeds=3)
    >>> len(found.cells), found.axes
    (12, {'beta': [0.4, 0.5], 'r': [16, 32]})
    """
    numbers = tuple(range(seeds) if isinstance(seeds, int) else seeds)
    if (
        isinstance(seeds, bool)
        or not numbers
        or not all(isinstance(seed, int) and not isinstance(seed, bool) for seed in numbers)
    ):
        raise ValueError(f"seeds must be how many, or a list of integers, got {seeds!r}")
    if not isinstance(cases, (list, tuple)):
        raise ValueError(f"cases must be a list of tables of parameters, got {cases!r}")
    tables = [("base", _frozen("base", base or {})), ("grid", _frozen("grid", grid or {}))]
    tables += [("a case", _frozen("a case", case)) for case in cases]
    for what, table in tables:
        if "seed" in dict(table):
            raise ValueError(f"seed must not be in {what}; say seeds = [1, 2], or how many, beside it")
    for key, values in tables[1][1]:
        if isinstance(values, (str, bytes)) or not isinstance(values, Sequence) or not values:
            raise ValueError(f"grid.{key} must be a list of values, got {values!r}")
    found = Sweep(
        str(name),
        tables[0][1],
        tuple((key, tuple(values)) for key, values in tables[1][1]),
        tuple(table for _, table in tables[2:]) or ((),),
        numbers,
    )
    count = len(found.cases) * len(found.seeds)
    for _, values in found.grid:
        count *= len(values)
    if count > most:
        raise ValueError(f"a sweep must have at most {most:,} cells here, got {count:,}; use fewer values or seeds")
    assert found.cells  # every one of them is checked here
    return found


def read(path: str | Path) -> Sweep:
    """A sweep from a TOML or JSON file; what is wrong with it is a ValueError that names the file."""
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"the spec of a sweep must be a TOML or JSON file, got {path}, which is none")
    try:
        text = path.read_text(encoding="utf-8")
        said = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        return from_values(said, path.stem)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from error


def check_datasets(chosen: Sweep) -> None:
    """Every dataset must have a name that is known here; the user's own, which have none, must say which they are."""
    for params in {cell.params.dataset: cell.params for cell in chosen.cells}.values():
        if params.dataset != OWN:
            datasets.find_dataset(params.dataset)
        elif not params.content:
            raise ValueError(f"dataset {OWN!r} needs its content; for data of your own give --features FILE")


def from_values(said: Any, name: str = "sweep", most: int = MOST_CELLS) -> Sweep:
    """A sweep from what a file or a link says."""
    if said == {}:
        raise ValueError("a sweep needs at least [base] or [grid], got nothing")
    if not isinstance(said, dict) or set(said) - set(KNOWN):
        unknown = ", ".join(sorted(set(said) - set(KNOWN))) if isinstance(said, dict) else repr(said)[:60]
        raise ValueError(f"a sweep has {', '.join(KNOWN)}, got {unknown}; parameters belong into [base] or [grid]")
    return build_sweep(**{"name": name, **said, "most": most})


def _frozen(what: str, values: Any) -> Values:
    if not isinstance(values, Mapping):
        raise ValueError(f"{what} must be a table of parameters, got {values!r}")
    return tuple(values.items())
