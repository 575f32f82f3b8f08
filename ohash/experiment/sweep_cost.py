"""What a sweep will cost, before it starts: the time of a cell is measured, not guessed.

Cells of one dataset and method are taken to cost the same. If some of them are in the store, their median says how
much; otherwise one is begun, for a thousand pairs or two, with one thread as in a worker, and its parts are multiplied
up. The pace is the median of short stretches: the first may have to compile.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from ohash.core.threads import one_blas_thread
from ohash.experiment.params import ExperimentParams
from ohash.experiment.run import Run
from ohash.experiment.schedule import checkpoints
from ohash.experiment.store import Store
from ohash.experiment.sweep import Cell
from ohash.streams.base import Dataset

FEW_PAIRS, STRETCH = 2000, 100
Own = Mapping[str, Dataset]


@dataclass(frozen=True)
class Cost:
    """Cells that are left, their seconds on one core, and how many groups of them had to be measured."""

    cells: int
    seconds: float
    measured: int

    def on(self, cores: int) -> float:
        """Seconds on some cores."""
        return self.seconds / max(1, min(cores, self.cells))


def estimate(cells: Sequence[Cell], store: Store, own: Own | None = None, *, most_measured: int = 64) -> Cost:
    """The cost of the cells that are not done; `own` are the user's own data by fingerprint."""
    known = store.values(cell.key for cell in cells)
    finished = {key: values["seconds"] for key, values in known.items() if values["state"] == "done"}
    groups: dict[tuple[str, str], list[ExperimentParams]] = {}
    spent: dict[tuple[str, str], list[float]] = {}
    for cell in cells:
        group = (cell.params.dataset, cell.params.method)
        if cell.key in finished:
            spent.setdefault(group, []).append(finished[cell.key])
        else:
            groups.setdefault(group, []).append(cell.params)
    seconds, measured, last = 0.0, 0, 0.0
    for group, left in groups.items():
        if group in spent:
            each = median(spent[group])
        elif measured < most_measured:
            median_sized = sorted(left, key=_size)[len(left) // 2]
            each = last = measure(median_sized, (own or {}).get(median_sized.content))
            measured += 1
        else:
            each = last
        seconds += each * len(left)
    return Cost(sum(map(len, groups.values())), seconds, measured)


def measure(params: ExperimentParams, own: Dataset | None = None) -> float:
    """Seconds of one cell, from its first pairs: preparation + pairs x time a pair + checkpoints x time of one."""
    few = min(params.run.pairs, FEW_PAIRS)
    begun = time.perf_counter()
    paces: list[float] = []
    judging, judged = 0.0, 0
    with one_blas_thread():
        run = Run(params.with_values(pairs=few), own)
        prepared = time.perf_counter() - begun
        while not run.done:
            since, rows = time.perf_counter(), len(run.appraisal.judged)
            learnt = run.step(STRETCH)
            spent = time.perf_counter() - since
            if learnt:
                paces.append(spent / learnt)
            else:
                judging += spent
                judged += len(run.appraisal.judged) - rows
    pairs = params.run.pairs if run.world.length is None else min(params.run.pairs, run.world.length)
    times = len(checkpoints(pairs, params.run.judged_at)) + 2  # and once more on each kind of queries
    return prepared + (median(paces) if paces else 0.0) * pairs + judging / max(1, judged) * times


def _size(params: ExperimentParams) -> int:
    return int(getattr(params.model, "r", 1)) * int(getattr(params.model, "T", 1)) * params.run.pairs
