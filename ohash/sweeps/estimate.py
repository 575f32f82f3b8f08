"""What a sweep will cost, before it starts: the time of a cell is measured, not guessed.

Where cells of the same dataset, method and size (T r m) and of about as many pairs are in the store, their median says
how much, by the pairs. Otherwise the smallest and the largest cell of a dataset and method are begun, for a thousand
pairs or two, with one thread as in a worker: preparation, time a pair and time of a checkpoint are measured, taken in
between for the sizes in between, and multiplied up by each cell's own pairs. The pace is the median of short stretches:
the first may have to compile.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from ohash.engine.checkpoints import checkpoint_pairs
from ohash.engine.params import ExperimentParams
from ohash.engine.run import Run
from ohash.runtime.threads import one_blas_thread
from ohash.store.store import Store
from ohash.streams.dataset import Dataset
from ohash.sweeps.sweep import Cell

FEW_PAIRS, STRETCH = 2000, 100
ABOUT = 2.0  # finished cells of so many times more or fewer pairs say what one costs
Own = Mapping[str, Dataset]
Family = tuple[str, str, str]  # content, dataset, method
Told = Callable[[int, int], None]


@dataclass(frozen=True)
class CostEstimate:
    """Cells that are left, their seconds on one core, and how many of them had to be begun to measure it."""

    cells: int
    seconds: float
    measured: int

    def on(self, cores: int) -> float:
        """Seconds on some cores."""
        return self.seconds / max(1, min(cores, self.cells))


@dataclass(frozen=True)
class CellTimes:
    """Seconds of the parts of a cell: preparation, a pair, a checkpoint; `length` is that of a finite stream."""

    prepared: float
    pair: float
    checkpoint: float
    length: int | None = None

    def of(self, params: ExperimentParams) -> float:
        """A whole cell: preparation + pairs x time a pair + checkpoints x time of one."""
        pairs = params.run.pairs if self.length is None else min(params.run.pairs, self.length)
        times = len(checkpoint_pairs(pairs, params.run.judged_at)) + 2  # and once more on each kind of queries
        return self.prepared + self.pair * pairs + self.checkpoint * times


class CellTimer:
    """Cells that are begun to measure them, each size of a dataset and method once; `told` which begins."""

    def __init__(self, own: Own | None = None, *, most: int = 64, told: Told | None = None) -> None:
        """`own` are the user's own data by fingerprint."""
        self._own, self._most, self._told = own or {}, most, told
        self._known: dict[tuple[Family, int], CellTimes] = {}

    def of(self, left: Sequence[ExperimentParams]) -> dict[Family, dict[int, CellTimes]]:
        """The largest cell of each dataset and method, then the smallest, as far as so many may be measured."""
        families: dict[Family, list[ExperimentParams]] = {}
        for params in left:
            families.setdefault(_family(params), []).append(params)
        chosen = [(family, max(some, key=_size)) for family, some in families.items()]
        chosen += [
            (family, min(some, key=_size)) for family, some in families.items() if len(set(map(_size, some))) > 1
        ]
        found: dict[Family, dict[int, CellTimes]] = {}
        chosen = chosen[: self._most]
        for at, (family, params) in enumerate(chosen):
            if self._told is not None:
                self._told(at + 1, len(chosen))
            place = (family, _size(params))
            if place not in self._known:
                self._known[place] = time_cell(params, self._own.get(params.content))
            found.setdefault(family, {})[place[1]] = self._known[place]
        return found


def estimate_cost(cells: Sequence[Cell], store: Store, measuring: CellTimer | None = None) -> CostEstimate:
    """The cost of the cells that are not done."""
    known = store.values(cell.key for cell in cells)
    finished: dict[tuple[Family, int], list[tuple[int, float]]] = {}
    left: list[ExperimentParams] = []
    for cell in cells:
        values = known.get(cell.key)
        if values is not None and values["state"] == "done":
            place = (_family(cell.params), _size(cell.params))
            finished.setdefault(place, []).append((cell.params.run.pairs, values["seconds"]))
        else:
            left.append(cell.params)
    told = [_from_finished(finished.get((_family(one), _size(one)), []), one.run.pairs) for one in left]
    unknown = [one for one, seconds in zip(left, told, strict=True) if seconds is None]
    parts = (measuring or CellTimer()).of(unknown)
    seconds = sum(seconds for seconds in told if seconds is not None)
    seconds += sum(_between(parts, one).of(one) for one in unknown)
    return CostEstimate(len(left), seconds, sum(map(len, parts.values())))


def _from_finished(spent: list[tuple[int, float]], pairs: int) -> float | None:
    """The median of the cells of about as many pairs, by the pairs; None without any."""
    near = [seconds * pairs / theirs for theirs, seconds in spent if pairs / ABOUT <= theirs <= pairs * ABOUT]
    return median(near) if near else None


def _between(parts: dict[Family, dict[int, CellTimes]], params: ExperimentParams) -> CellTimes:
    """The parts of a cell of this size, on the line between the measured ones; of another family if none of its own."""
    mine = parts.get(_family(params)) or list(parts.values())[-1]
    sizes = sorted(mine)
    few, many = mine[sizes[0]], mine[sizes[-1]]
    share = (_size(params) - sizes[0]) / (sizes[-1] - sizes[0]) if len(sizes) > 1 else 0.0

    def mixed(low: float, high: float) -> float:
        return low + share * (high - low)

    return CellTimes(
        mixed(few.prepared, many.prepared), mixed(few.pair, many.pair), mixed(few.checkpoint, many.checkpoint),
        many.length,
    )  # fmt: skip


def time_cell(params: ExperimentParams, own: Dataset | None = None) -> CellTimes:
    """The parts of one cell, from its first pairs."""
    few = min(params.run.pairs, FEW_PAIRS)
    begun = time.perf_counter()
    paces: list[float] = []
    judging, judged = 0.0, 0
    with one_blas_thread():
        run = Run(params.with_values(pairs=few), own)
        prepared = time.perf_counter() - begun
        while not run.done:
            since, rows = time.perf_counter(), len(run.checkpoints.scores)
            learnt = run.step(STRETCH)
            spent = time.perf_counter() - since
            if learnt:
                paces.append(spent / learnt)
            else:
                judging += spent
                judged += len(run.checkpoints.scores) - rows
    return CellTimes(prepared, median(paces) if paces else 0.0, judging / max(1, judged), run.world.length)


def _family(params: ExperimentParams) -> Family:
    return params.content, params.dataset, params.method


def _size(params: ExperimentParams) -> int:
    """Bits x anchors: what one pair costs grows with it."""
    anchors = 1 if params.features.kernel == "none" else params.features.m
    return int(getattr(params.model, "r", 1)) * int(getattr(params.model, "T", 1)) * anchors
