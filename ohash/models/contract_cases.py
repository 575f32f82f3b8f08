"""What a method is tried with: a small world of rows, labels and pairs, and the parameters it declares."""

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ohash.core.arrays import Array
from ohash.models.base import HasherSpec

ROWS, COLUMNS, PAIRS, BITS, ITERATIONS = 200, 12, 150, 11, 10


class ContractError(Exception):
    """One sentence about a method, and the name in its file that it is about."""

    def __init__(self, text: str, about: str = "") -> None:
        """`about` is a class, function or field of the file."""
        super().__init__(text)
        self.about = about


@dataclass(frozen=True)
class Case:
    """A method with a small world to try it in: rows, labels and pairs drawn from `seed`."""

    spec: HasherSpec
    seed: int = 7
    choices: tuple[tuple[str, str], ...] = ()  # parameters that are not at their defaults

    @cached_property
    def sample(self) -> tuple[Array, ...]:
        """X (n, d), labels (n,), and pairs i, j, s: four groups about centres of their own."""
        rng = np.random.default_rng(self.seed)
        labels = rng.integers(0, 4, ROWS)
        X = (rng.normal(size=(4, COLUMNS))[labels] + rng.normal(size=(ROWS, COLUMNS))).astype(np.float32)
        i, j = rng.integers(0, ROWS, (2, PAIRS))
        j = np.where(i == j, (j + 1) % ROWS, j)
        draws = X, labels, i, j, np.where(labels[i] == labels[j], 1, -1).astype(np.int8)
        for array in draws:
            array.flags.writeable = False
        return draws

    @property
    def X(self) -> Array:
        """The rows, read-only."""
        return self.sample[0]

    def build(self, **options: object) -> Any:
        """A new model of few bits and few iterations that has seen nothing."""
        table = self.spec.table
        wanted = {"r": BITS, "seed": 5, "dims": "first r"}
        if "iterations" in table and table["iterations"].lo <= ITERATIONS < table["iterations"].default:
            wanted["iterations"] = ITERATIONS
        wanted |= dict(self.choices) | options
        return self.spec.build(self.spec.params(**{k: v for k, v in wanted.items() if k in table}))

    def teach(self, model: Any) -> Any:
        """Give it what it consumes; what it returns for pairs is its trace."""
        self.warm_up(model)
        if self.spec.consumes == "batch":
            return model.fit(self.X, self.sample[1])
        return self.learn_part(model, 0, None)

    def warm_up(self, model: Any) -> None:
        """Show it the first rows, if it wants to see them."""
        if hasattr(model, "warm_up"):
            model.warm_up(self.X[:50])

    def learn_part(self, model: Any, start: int, stop: int | None) -> Any:
        """Give it a part of the stream of pairs or points; nothing if it does not learn from one."""
        X, labels, i, j, s = self.sample
        part = slice(start, stop)
        if self.spec.consumes == "pairs":
            return model.learn(X, i[part], j[part], s[part])
        if self.spec.consumes in ("points", "chunks"):
            return model.learn_points(X, np.arange(ROWS)[part], labels[part])
        return None

    def trained(self, **options: object) -> Any:
        """A model that has learnt."""
        model = self.build(**options)
        self.teach(model)
        return model


def contents(model: Any) -> dict[str, object]:
    """The state of a model, for comparison bit by bit."""
    values, arrays = model.state()
    return {"values": repr(values)} | {name: np.asarray(array).tobytes() for name, array in arrays.items()}


def cases_of(spec: HasherSpec) -> list[Case]:
    """The method with its defaults, and once with every other choice that it declares."""
    rows = spec.table.values() if dataclasses.is_dataclass(spec.params) else ()
    others = [((row.key, choice),) for row in rows for choice in row.choices if choice != row.default]
    return [Case(spec), *(Case(spec, choices=choices) for choices in others)]
