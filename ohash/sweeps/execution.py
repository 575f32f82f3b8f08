"""Carry out a sweep: every cell that is not done yet, each kept the moment it is finished.

Stopped at any point, by Ctrl-C, by `cancel` or by a crash, it goes on where it was. A cell that fails is recorded with
its error and stops nothing; the next time it is tried again.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ohash.engine.tasks import run
from ohash.runtime.environment import environment
from ohash.runtime.frames import Frame
from ohash.runtime.pool import WorkerPool
from ohash.runtime.worker import TaskError
from ohash.store.store import Store, StoreError
from ohash.streams.dataset import Dataset
from ohash.sweeps.executors import InlineExecutor, cancel_all, capacity, submit_cell
from ohash.sweeps.files import save_sweep
from ohash.sweeps.leases import CellLeases
from ohash.sweeps.own_data import load_own_data, save_own_data, with_own_data
from ohash.sweeps.results import SweepResults
from ohash.sweeps.sweep import Cell, Sweep, build_sweep, read

BEAT_SECONDS = 1.0
WAIT_SECONDS = 0.2


@dataclass
class Progress:
    """How far a sweep is. `done` counts all finished cells, `here` those of this call."""

    total: int
    done: int = 0
    failed: int = 0
    here: int = 0
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Cells a second of this call."""
        return (self.here + self.failed) / self.seconds if self.seconds > 0 else 0.0

    @property
    def left(self) -> float:
        """Seconds that are left at this rate; NaN before the first cell."""
        remaining = self.total - self.done - self.failed
        return remaining / self.rate if self.rate > 0 else float("nan")


class SweepExecution:
    """One sweep, one store, one executor."""

    def __init__(
        self, sweep: Sweep, store: Store, executor: Executor, on_progress: Callable[[Progress], None] | None = None
    ) -> None:
        """Nothing begins before `run`."""
        if not store.writable:
            raise StoreError(store.problem)
        self.sweep, self.store, self.executor = sweep, store, executor
        self.cancelled = threading.Event()
        self.errors: dict[str, str] = {}
        self._tell = on_progress or (lambda progress: None)
        self._leases = CellLeases(store)
        self._cells = {cell.key: cell for cell in sweep.cells}
        self._running: dict[Future[Frame], str] = {}
        self.progress = Progress(len(self._cells))

    def run(self) -> Progress:
        """Do what is left; returns when all is done, or after `cancelled` was set."""
        save_sweep(self.store, self.sweep)
        started = time.time()
        over = threading.Event()
        heart = threading.Thread(target=self._beat, args=(started, over), daemon=True)
        heart.start()
        state = "failed"
        try:
            self._work(started)
            state = "cancelled" if self.cancelled.is_set() else "done"
        finally:
            cancel_all(self._running)
            over.set()
            heart.join()
            self._say(state, started)
        return self.progress

    def _work(self, started: float) -> None:
        left = self._left()
        own = load_own_data(self.store, self.sweep) if left else {}
        while (left or self._running) and not self.cancelled.is_set():
            room = capacity(self.executor) - len(self._running)
            for key in self._leases.take(left, room) if room > 0 and left else []:
                left.remove(key)
                self._running[submit_cell(self.executor, run, self._cells[key].params, own)] = key
            finished, _ = wait(self._running, WAIT_SECONDS, FIRST_COMPLETED) if self._running else (set(), None)
            for future in finished:
                self._keep(self._running.pop(future), future)
            if not finished:
                if not self._running:  # the rest is being done by somebody else
                    time.sleep(WAIT_SECONDS)
                left = [key for key in self._left() if key not in self._running.values()]
            self._count(started)

    def _left(self) -> list[str]:
        done = self.store.done()
        self.progress.done = sum(key in done for key in self._cells)
        return [key for key in self._cells if key not in done and key not in self.errors]

    def _keep(self, key: str, future: Future[Frame]) -> None:
        cell = self._cells[key]
        try:
            values, arrays = future.result()
        except CancelledError:
            return
        except Exception as error:  # of any kind: it belongs to this cell
            self.errors[key] = said = str(error) if isinstance(error, (ValueError, TaskError)) else repr(error)
            self.store.save(key, _failure(cell, said), {})
            self.progress.failed += 1
            return
        self.store.save(key, values, arrays)
        self.progress.here += 1
        self.progress.done += 1

    def _count(self, started: float) -> None:
        self.progress.seconds = time.time() - started
        self._tell(self.progress)

    def _beat(self, started: float, over: threading.Event) -> None:
        """Say that we are alive, and listen whether somebody wants us to stop."""
        while True:
            try:
                if self._leases.beat(self.sweep.key, "running", started, self._described()):
                    self.cancelled.set()
            except StoreError:  # a full disk: the next cell will say so
                pass
            if over.wait(BEAT_SECONDS):
                return

    def _say(self, state: str, started: float) -> None:
        try:
            self._leases.release()
            self._leases.beat(self.sweep.key, state, started, self._described())
        except StoreError:
            if state != "failed":
                raise

    def _described(self) -> dict[str, Any]:
        return asdict(self.progress)


def _failure(cell: Cell, error: str) -> dict[str, Any]:
    return {
        "params": cell.params.to_json(), "state": "error", "error": error, "t": 0, "numbers": {}, "notes": [],
        "similar_by": "", "database_seen": True, "environment": environment(),
    }  # fmt: skip


def sweep(
    what: Sweep | str | Path | None = None,
    *,
    store: Store | str | Path | None = None,
    workers: int = 1,
    data: Dataset | None = None,
    **spec: Any,
) -> SweepResults:
    """Run what is left of a sweep and wait for the end; for notebooks and scripts.

    `what` is a `Sweep` or its TOML or JSON file; otherwise give `base`, `grid`, `cases` and `seeds`. Every finished
    experiment is kept in the `store` (a folder; your own by default), so a second call goes on where the first ended.
    With more than one of `workers` the experiments run in processes of their own. `data` are your own vectors.

    >>> import tempfile
    >>> few = {"dataset": "blobs2d", "method": "oh", "r": 8, "pairs": 200}
    >>> results = sweep(base=few, grid={"C": [0.1, 1.0]}, store=tempfile.mkdtemp())
    >>> [len(point.numbers) for point in results.points]
    [1, 1]
    """
    chosen = build_sweep(**spec) if what is None else what if isinstance(what, Sweep) else read(what)
    kept = store if isinstance(store, Store) else Store(store)
    if data is not None:
        chosen = with_own_data(chosen, data)
        save_own_data(kept, data)
    executor = InlineExecutor() if workers == 1 else WorkerPool(workers)
    with executor:
        SweepExecution(chosen, kept, executor).run()
    return SweepResults(chosen, kept)
