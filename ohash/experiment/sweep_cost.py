"""What a sweep will cost, before it starts: the time of a cell is measured, not guessed.

Cells of one dataset and method are taken to cost the same. If some of them are in the store, their median says how
much; otherwise one is begun, for a thousand pairs or two, and its parts are multiplied up.
"""

import time
from dataclasses import dataclass
from statistics import median

from ohash.experiment.params import ExperimentParams
from ohash.experiment.run import CHUNK, Run
from ohash.experiment.schedule import checkpoints
from ohash.experiment.store import Store
from ohash.experiment.sweep import Sweep

FEW_PAIRS = 2000


@dataclass(frozen=True)
class Cost:
    """Cells that are left, their seconds on one core, and how many groups of them had to be measured."""

    cells: int
    seconds: float
    measured: int

    def on(self, cores: int) -> float:
        """Seconds on some cores."""
        return self.seconds / max(1, min(cores, self.cells))


def estimate(sweep: Sweep, store: Store, *, most_measured: int = 64) -> Cost:
    """The cost of the cells that are not done."""
    known = store.values(cell.key for cell in sweep.cells)
    finished = {key: values["seconds"] for key, values in known.items() if values["state"] == "done"}
    groups: dict[tuple[str, str], list[ExperimentParams]] = {}
    spent: dict[tuple[str, str], list[float]] = {}
    for cell in sweep.cells:
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
            each = last = measure(sorted(left, key=_size)[len(left) // 2])
            measured += 1
        else:
            each = last
        seconds += each * len(left)
    return Cost(sum(map(len, groups.values())), seconds, measured)


def measure(params: ExperimentParams) -> float:
    """Seconds of one cell, from its first pairs: preparation + pairs x time a pair + checkpoints x time of one."""
    few = min(params.run.pairs, FEW_PAIRS)
    begun = time.perf_counter()
    run = Run(params.with_values(pairs=few))
    prepared = time.perf_counter() - begun
    learning = judging = 0.0
    judged = 0
    while not run.done:
        since, rows = time.perf_counter(), len(run.appraisal.judged)
        if run.step(CHUNK):
            learning += time.perf_counter() - since
        else:
            judging += time.perf_counter() - since
            judged += len(run.appraisal.judged) - rows
    pairs = params.run.pairs if run.world.length is None else min(params.run.pairs, run.world.length)
    times = len(checkpoints(pairs, params.run.judged_at)) + 2  # and once more on each kind of queries
    return prepared + learning / max(1, run.t) * pairs + judging / max(1, judged) * times


def _size(params: ExperimentParams) -> int:
    return int(getattr(params.model, "r", 1)) * int(getattr(params.model, "T", 1)) * params.run.pairs
