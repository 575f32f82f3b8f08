"""The specification of a sweep: from keywords, a TOML or JSON file, or a link, checked before anything runs.

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

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from ohash.core.parameters import FrozenSettings, Settings, Value
from ohash.engine.params import OWN
from ohash.streams import registry as datasets
from ohash.sweeps.sweep import DRAWS, Sweep

MAX_CELLS = 100_000
SPEC_KEYS = ("name", "seeds", "base", "grid", "cases", "random", "halving")
FACTOR = 3  # of successive halving, unless the specification gives another


def build_sweep(
    name: str = "sweep",
    *,
    base: Mapping[str, object] | None = None,
    grid: Mapping[str, Sequence[Value]] | None = None,
    cases: list[Settings] | tuple[Settings, ...] = (),
    seeds: int | Sequence[int] = 1,
    random: Mapping[str, object] | None = None,
    halving: Mapping[str, object] | None = None,
    max_cells: int = MAX_CELLS,
) -> Sweep:
    """A sweep of at most `max_cells` cells; every cell must be a valid experiment.

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
    if count > max_cells:
        raise ValueError(
            f"a sweep must have at most {max_cells:,} cells here, got {count:,}; use fewer values or seeds"
        )
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


def from_values(values: object, name: str = "sweep", max_cells: int = MAX_CELLS) -> Sweep:
    """A sweep from the values of a file or a link."""
    if values == {}:
        raise ValueError("a sweep needs at least [base] or [grid], got nothing")
    if not isinstance(values, dict) or set(values) - set(SPEC_KEYS):
        unknown = ", ".join(sorted(set(values) - set(SPEC_KEYS))) if isinstance(values, dict) else repr(values)[:60]
        raise ValueError(f"a sweep has {', '.join(SPEC_KEYS)}, got {unknown}; parameters belong in [base] or [grid]")
    return build_sweep(**{"name": name, **values, "max_cells": max_cells})


def _check_random(random: object, grid: Mapping[str, object]) -> FrozenSettings:
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


def _check_halving(halving: object, tables: Sequence[Mapping[str, object]]) -> FrozenSettings:
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


def _frozen(what: str, values: object) -> FrozenSettings:
    if not isinstance(values, Mapping):
        raise ValueError(f"{what} must be a table of parameters, got {values!r}")
    return tuple(values.items())
