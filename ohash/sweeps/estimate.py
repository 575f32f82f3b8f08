"""The cost of a sweep, before it starts: the time of a cell is measured, not guessed.

Where the time of a cell is known (a recording of it, scaled to this machine by `machine_factor`), that is used. If the
store has finished cells of the same data set, method and size (T r m) with about as many pairs, their median
time per pair is used. Otherwise the smallest and the largest cell per data set and method are run for up to 2,000 pairs
with one thread, as in a worker. Preparation, time per pair and time per checkpoint are measured, interpolated for the
sizes in between, and scaled to the pairs of each cell. The time per pair is the median of short stretches, because
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

TIMED_PAIRS, STRETCH = 2000, 100
SIMILAR_LENGTH = 2.0  # a finished cell counts if it has at most so many times more or fewer pairs
Family = tuple[str, str, str]  # content, data set, method


@dataclass(frozen=True)
class CostEstimate:
    """Cells that are left, their total seconds on one core, and how many of them were started to measure it."""

    cells: int
    seconds: float
    measured: int

    def on(self, cores: int) -> float:
        """Seconds on this many cores."""
        return self.seconds / max(1, min(cores, self.cells))


@dataclass(frozen=True)
class CellTimes:
    """Seconds per cell: preparation, per pair, per checkpoint; `length` is the number of pairs of a finite stream."""

    preparation: float
    pair: float
    checkpoint: float
    length: int | None = None

    def total(self, params: ExperimentParams) -> float:
        """Seconds of a whole cell: preparation + pairs x time per pair + checkpoints x time per checkpoint."""
        pairs = params.run.pairs if self.length is None else min(params.run.pairs, self.length)
        evaluations = len(checkpoint_pairs(pairs, params.run.judged_at)) + 2  # the final scores: validation and test
        return self.preparation + self.pair * pairs + self.checkpoint * evaluations


class CellTimer:
    """Starts cells to time them, each size of a data set and method once."""

    def __init__(
        self,
        own: Mapping[str, Dataset] | None = None,
        *,
        max_cells: int = 64,
        on_cell: Callable[[int, int], None] | None = None,
    ) -> None:
        """`own` is the user's own data by fingerprint; `on_cell` gets the number of each cell and the total."""
        self._own, self._most, self._on_cell = own or {}, max_cells, on_cell
        self._known: dict[tuple[Family, int], CellTimes] = {}

    def time_families(self, left: Sequence[ExperimentParams]) -> dict[Family, dict[int, CellTimes]]:
        """Time the largest cell of each data set and method, then the smallest, at most `max_cells` cells."""
        families: dict[Family, list[ExperimentParams]] = {}
        for params in left:
            families.setdefault(_family(params), []).append(params)
        cells = [(family, max(group, key=_size)) for family, group in families.items()]
        cells += [
            (family, min(group, key=_size)) for family, group in families.items() if len(set(map(_size, group))) > 1
        ]
        cells = cells[: self._most]
        times: dict[Family, dict[int, CellTimes]] = {}
        for number, (family, params) in enumerate(cells, 1):
            if self._on_cell is not None:
                self._on_cell(number, len(cells))
            size = _size(params)
            if (family, size) not in self._known:
                self._known[family, size] = time_cell(params, self._own.get(params.content))
            times.setdefault(family, {})[size] = self._known[family, size]
        return times


def estimate_cost(
    cells: Sequence[Cell], store: Store, timer: CellTimer | None = None, seconds: Mapping[str, float] | None = None
) -> CostEstimate:
    """The cost of the cells that are not finished; `seconds` of cells that were timed before, by key."""
    timed = seconds or {}
    results = store.values(cell.key for cell in cells)
    finished: dict[tuple[Family, int], list[tuple[int, float]]] = {}
    left: list[Cell] = []
    for cell in cells:
        values = results.get(cell.key)
        if values is not None and values["state"] == "done":
            kind = (_family(cell.params), _size(cell.params))
            finished.setdefault(kind, []).append((cell.params.run.pairs, values["seconds"]))
        else:
            left.append(cell)
    expected = [
        timed[cell.key] if cell.key in timed
        else _from_finished(finished.get((_family(cell.params), _size(cell.params)), []), cell.params.run.pairs)
        for cell in left
    ]  # fmt: skip
    unknown = [cell.params for cell, one in zip(left, expected, strict=True) if one is None]
    times = (timer or CellTimer()).time_families(unknown)
    total = sum(one for one in expected if one is not None)
    total += sum(_interpolate(times, one).total(one) for one in unknown)
    return CostEstimate(len(left), total, sum(map(len, times.values())))


def machine_factor(cells: Mapping[ExperimentParams, float]) -> float:
    """How many times longer cells take here than they took where they were timed before: the median over these.

    Each is run twice for its first pairs, because the first time may have to compile.
    """
    ratios = []
    for params, seconds in cells.items():
        time_cell(params)
        ratios.append(time_cell(params).total(params) / seconds)
    return median(ratios) if ratios else 1.0


def _from_finished(spent: list[tuple[int, float]], pairs: int) -> float | None:
    """The median time of cells with about as many pairs, scaled to these pairs; None without any."""
    scaled = [
        seconds * pairs / length
        for length, seconds in spent
        if pairs / SIMILAR_LENGTH <= length <= pairs * SIMILAR_LENGTH
    ]
    return median(scaled) if scaled else None


def _interpolate(times: dict[Family, dict[int, CellTimes]], params: ExperimentParams) -> CellTimes:
    """The times of a cell of this size, linear between the measured ones; from another family if its own has none."""
    by_size = times.get(_family(params)) or list(times.values())[-1]
    sizes = sorted(by_size)
    small, large = by_size[sizes[0]], by_size[sizes[-1]]
    share = (_size(params) - sizes[0]) / (sizes[-1] - sizes[0]) if len(sizes) > 1 else 0.0

    def between(low: float, high: float) -> float:
        return low + share * (high - low)

    return CellTimes(
        between(small.preparation, large.preparation), between(small.pair, large.pair),
        between(small.checkpoint, large.checkpoint), large.length,
    )  # fmt: skip


def time_cell(params: ExperimentParams, own: Dataset | None = None) -> CellTimes:
    """The times of one cell, measured on its first pairs."""
    pairs = min(params.run.pairs, TIMED_PAIRS)
    start = time.perf_counter()
    per_pair: list[float] = []
    judging, judged = 0.0, 0
    with one_blas_thread():
        run = Run(params.with_values(pairs=pairs), own)
        preparation = time.perf_counter() - start
        while not run.done:
            start, rows = time.perf_counter(), len(run.checkpoints.scores)
            learnt = run.step(STRETCH)
            seconds = time.perf_counter() - start
            if learnt:
                per_pair.append(seconds / learnt)
            else:
                judging += seconds
                judged += len(run.checkpoints.scores) - rows
    return CellTimes(preparation, median(per_pair) if per_pair else 0.0, judging / max(1, judged), run.world.length)


def _family(params: ExperimentParams) -> Family:
    return params.content, params.dataset, params.method


def _size(params: ExperimentParams) -> int:
    """Bits x anchors: the cost of a pair grows with it."""
    anchors = params.features.m if params.features.kernel == "rbf" else 1
    return int(getattr(params.model, "r", 1)) * int(getattr(params.model, "T", 1)) * anchors
