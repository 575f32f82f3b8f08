"""One pair of an experiment, step by step in the order of Algorithms 1 to 3.

The pair may be any of the stream, in any order, or two items of the user's choice; the model is always as it was before
it.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from ohash.core import validation
from ohash.core.arrays import Array, Numbers
from ohash.core.loss import Matrix, PairStep
from ohash.core.parameters import Settings
from ohash.engine.params import ExperimentParams
from ohash.engine.run import Run
from ohash.models.online.passive_aggressive import PassiveAggressive
from ohash.streams.dataset import Dataset

SEARCHED = 5000  # pairs looked through for the next one of a kind
FAR = 1000  # pairs after which the state is kept, so that the way back is short

# What a pair can do to the model that it updates.
KINDS: dict[str, Callable[[PairStep], bool]] = {
    "update": lambda step: step.updated,
    "capped": lambda step: step.updated and step.ratio > step.C,
    "loss left": lambda step: step.updated and step.R_after > 0,
}


@dataclass(frozen=True, eq=False)
class PairView:
    """Pair t, items i and j with similarity s: the step of each of the T models, and W (d, r) before and after it.

    Of an experiment that takes up to `rounds` steps for one pair it is the first one; `left` is R after the last one.
    `wrong`: noise has turned the answer s of the stream around.
    """

    t: int
    i: int
    j: int
    s: int
    steps: list[PairStep]
    W: list[tuple[Matrix, Matrix]]
    rounds: int
    left: list[float]
    wrong: bool = False

    @property
    def W_norm2(self) -> list[tuple[float, float]]:
        """‖W‖² of each model before and after, for Lemma 1."""
        return [(_squared_norm(before), _squared_norm(after)) for before, after in self.W]

    @property
    def model(self) -> int:
        """The first model that the pair updates, or else the one with the smallest loss, Eq. (28)."""
        updated = [m for m, step in enumerate(self.steps) if step.updated]
        return updated[0] if updated else min(range(len(self.steps)), key=lambda m: self.steps[m].R)


class PairViewer:
    """An experiment with OH or MMOH; nothing is evaluated, and the run that is watched elsewhere is not touched."""

    def __init__(self, params: ExperimentParams, dataset: Dataset | None = None) -> None:
        """Prepare the world and the first model."""
        self._run = Run(params, dataset, judge=False)
        self._lock = threading.Lock()  # the tabs of one server share it
        if not isinstance(self._run.hasher, PassiveAggressive):
            raise ValueError(
                f"method must be oh or mmoh, whose update is taken apart here, got {params.method!r}; choose OH on Live"
            )

    @property
    def length(self) -> int:
        """How many pairs the experiment has."""
        return self._run.end

    @property
    def dataset(self) -> Dataset:
        """The items."""
        return self._run.world.dataset

    def view(self, t: int, items: tuple[int, int, int] | None = None, **what_if: object) -> PairView:
        """Pair t, or `items` (i, j, s) at its place; `what_if` are other values of alpha, beta or C for this step."""
        with self._lock:
            return self._view(_position("t", t, self.length), items, what_if)

    def _view(self, t: int, items: tuple[int, int, int] | None, what_if: Settings) -> PairView:
        hasher = self._before(t)
        i, j, s = self._pair(t) if items is None else items
        Z = self._features(t)
        x_i, x_j = Z[_position("i", i, len(Z))], Z[_position("j", j, len(Z))]
        before, rounds = _matrices(hasher), hasher.params.rounds
        left = [step.R_after for step in _learn(hasher, x_i, x_j, s, what_if | {"dry_run": True})]
        hasher.params = replace(hasher.params, rounds=1)
        steps = _learn(hasher, x_i, x_j, s, what_if)
        W = list(zip(before, _matrices(hasher), strict=True))
        return PairView(t, i, j, s, steps, W, rounds, left, items is None and self._is_wrong(t, i, j, s))

    def find(self, kind: str, start: int) -> int | None:
        """The first pair of a kind from `start` on, among the next SEARCHED ones; None if there is none."""
        if start >= self.length:
            return None
        with self._lock:
            hasher = self._before(_position("start", start, self.length))
            for t in range(start, min(start + SEARCHED, self.length)):
                self._run.apply_changes(hasher, t)
                i, j, s = self._pair(t)
                Z = self._features(t)
                if any(KINDS[kind](step) for step in _learn(hasher, Z[i], Z[j], s, {})):
                    return t
        return None

    def _before(self, t: int) -> PassiveAggressive:
        kept = self._run.kept_states
        hasher = kept.hasher_before(t, self._run)
        if min(abs(t - at) for at in kept.states) >= FAR:
            kept.keep(t, hasher)
        return cast(PassiveAggressive, hasher)

    def _pair(self, t: int) -> tuple[int, int, int]:
        i, j, s = self._run.world.pairs(t, t + 1)
        return int(i[0]), int(j[0]), int(s[0])

    def _is_wrong(self, t: int, i: int, j: int, s: int) -> bool:
        world = self._run.world
        truth = world.stream(world.drift.stage(t)).similarity
        similar = bool(truth.is_similar(np.array([i]), np.array([j]))[0])
        return world.params.stream.noise > 0 and similar != (s == 1)

    def _features(self, t: int) -> Numbers:
        return self._run.world.mapped(self._run.world.drift.stage(t))


def _position(name: str, value: int, length: int) -> int:
    value = validation.integer(name, value, 0)
    if value >= length:
        raise ValueError(f"{name} must be in [0, {length - 1}], got {value}")
    return value


def _matrices(hasher: PassiveAggressive) -> list[Matrix]:
    """Copies of W, one per model: (d, r) of OH, (T, d, r) of MMOH."""
    W = np.array(cast(Any, hasher).W, np.float64)
    return list(W if W.ndim == 3 else W[None])


def _squared_norm(W: Matrix) -> float:
    return float((W**2).sum())


def _learn(hasher: PassiveAggressive, x_i: Array, x_j: Array, s: int, options: Settings) -> list[PairStep]:
    """OH explains one model, MMOH a list of them."""
    steps = cast(Any, hasher).learn_pair(x_i, x_j, s, **options)
    return steps if isinstance(steps, list) else [steps]
