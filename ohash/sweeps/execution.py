"""Run a sweep: every cell that is not finished yet, each saved as soon as it is.

After Ctrl-C, `cancel` or a crash, the next call resumes where it stopped. A cell that fails is recorded with its error
and does not stop the others; the next call tries it again. While another program holds the database, no cell starts,
and what finishes is kept in files.
"""

import threading
import time
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from ohash.engine.snapshot import plugin_values
from ohash.engine.tasks import run
from ohash.engine.world import world_key
from ohash.runtime.environment import environment
from ohash.runtime.frames import Frame, JsonObject
from ohash.runtime.pool import WorkerPool
from ohash.runtime.worker import TaskError
from ohash.store.store import Store, StoreBusyError, StoreError
from ohash.streams.dataset import Dataset
from ohash.sweeps.executors import InlineExecutor, cancel_all, capacity, submit_cell
from ohash.sweeps.halving import open_rounds, planned_cells
from ohash.sweeps.leases import CellLeases
from ohash.sweeps.results import SweepResults
from ohash.sweeps.saving import load_own_data, save_own_data, save_sweep, with_own_data
from ohash.sweeps.specification import SPEC_KEYS, build_sweep, check_datasets, read_sweep
from ohash.sweeps.sweep import Cell, Sweep

BEAT_SECONDS = 1.0
WAIT_SECONDS = 0.2
HELD_SECONDS = 600.0  # a sweep ends if another program holds the database for longer
Result = TypeVar("Result")


@dataclass
class Progress:
    """The progress of a sweep. `done` counts all finished cells, `here` those of this call."""

    total: int
    done: int = 0
    failed: int = 0
    here: int = 0
    seconds: float = 0.0
    deaths: int = 0  # of workers, whose cells others ran again
    held: bool = False  # another program holds the database

    @property
    def rate(self) -> float:
        """Cells per second in this call."""
        return (self.here + self.failed) / self.seconds if self.seconds > 0 else 0.0

    @property
    def left(self) -> float:
        """Seconds left at this rate; NaN before the first cell."""
        remaining = self.total - self.done - self.failed
        return remaining / self.rate if self.rate > 0 else float("nan")


class SweepExecution:
    """One sweep, one store, one executor."""

    def __init__(
        self, sweep: Sweep, store: Store, executor: Executor, on_progress: Callable[[Progress], None] | None = None
    ) -> None:
        """Nothing starts before `run`."""
        if not store.writable:
            raise StoreError(store.problem)
        self.sweep, self.store, self.executor = sweep, store, executor
        self.cancelled = threading.Event()
        self.errors: dict[str, str] = {}
        self._on_progress = on_progress or (lambda progress: None)
        self._leases = CellLeases(store)
        self._cells = {cell.key: cell for cell in _by_world(sweep.cells)}
        self._running: dict[Future[Frame], str] = {}
        self._began = 0.0
        self.progress = Progress(len(planned_cells(sweep)))

    def run(self) -> Progress:
        """Run the cells that are left; returns at the end, or after `cancelled` was set."""
        save_sweep(self.store, self.sweep)
        started, self._began = time.time(), time.monotonic()  # no change of the clock moves the latter
        finished = threading.Event()
        heartbeat = threading.Thread(target=self._beat, args=(started, finished), daemon=True)
        heartbeat.start()
        state = "failed"
        try:
            self._work()
            state = "cancelled" if self.cancelled.is_set() else "done"
        except StoreError:
            self.progress.done += self._save_traces()
            raise
        finally:
            cancel_all(self._running)
            finished.set()
            if not self.progress.held:  # else neither could be written, and each would take half a minute to say so
                heartbeat.join()
                self._report(state, started)
        return self.progress

    def _work(self) -> None:
        left = self._left()
        own = load_own_data(self.store, self.sweep) if left else {}
        while (left or self._running) and not self.cancelled.is_set():
            room = capacity(self.executor) - len(self._running)
            for key in self._once_free(partial(self._leases.take, left, room)) if room > 0 and left else []:
                left.remove(key)
                self._running[submit_cell(self.executor, run, self._cells[key].params, own)] = key
            finished, _ = wait(self._running, WAIT_SECONDS, FIRST_COMPLETED) if self._running else (set(), None)
            for future in finished:
                self._save(self._running[future], future)
                del self._running[future]
            if not finished and not self._running and left:  # another process works on the rest
                time.sleep(WAIT_SECONDS)
            if not finished or not left:  # a round may be over
                left = [key for key in self._left() if key not in self._running.values()]
            self._count()

    def _left(self) -> list[str]:
        """The cells that are neither done nor failed here, of the rounds that are open."""
        done = self.store.done()
        keys = list(self._cells)
        if self.sweep.halving:
            results = self.store.values(keys)
            keys = [cell.key for one in open_rounds(self.sweep, results, self.errors.keys()) for cell in one.cells]
            self.progress.total = len(planned_cells(self.sweep, results))
        self.progress.done = sum(key in done for key in keys)
        return [key for key in keys if key not in done and key not in self.errors]

    def _once_free(self, work: Callable[[], Result]) -> Result:
        """Do `work`, which writes to the database, once no other program holds it."""
        began = time.monotonic()
        while True:
            try:
                result = work()
            except StoreBusyError:
                self.progress.held = True
                if self.cancelled.is_set() or time.monotonic() - began >= HELD_SECONDS:
                    raise
                self._save_traces()  # this process may be killed before the database is free
                self._count()
            else:
                self.progress.held = False
                return result

    def _save_traces(self) -> int:
        """The files of what has finished and is not listed: whoever opens the store next finds it; returns how many."""
        saved = 0
        for future, key in self._running.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                values, arrays = future.result()
                if self._same_plugins(key, values):
                    with suppress(StoreError):
                        self.store.save_trace(key, values, arrays)
                        saved += 1
        return saved

    def _save(self, key: str, future: Future[Frame]) -> None:
        try:
            values, arrays = future.result()
        except CancelledError:
            return
        except Exception as error:  # whatever it is, it belongs to this cell
            self._fail(key, str(error) if isinstance(error, (ValueError, TaskError)) else repr(error))
            return
        if not self._same_plugins(key, values):
            self._fail(key, "the plugin file was edited while the sweep ran; start it again")
            return
        self._once_free(partial(self.store.save, key, values, arrays))
        self.progress.here += 1
        self.progress.done += 1

    def _same_plugins(self, key: str, values: dict[str, Any]) -> bool:
        versions = plugin_values(self._cells[key].params).items()
        return all(values[name]["fingerprint"] == version["fingerprint"] for name, version in versions)

    def _fail(self, key: str, error: str) -> None:
        self.errors[key] = error
        self._once_free(partial(self.store.save, key, _failure(self._cells[key], error), {}))
        self.progress.failed += 1

    def _count(self) -> None:
        self.progress.seconds = time.monotonic() - self._began
        if isinstance(self.executor, WorkerPool):
            self.progress.deaths = self.executor.deaths
        self._on_progress(self.progress)

    def _beat(self, started: float, finished: threading.Event) -> None:
        """Renew the leases and report progress now and then; notice when cancelling is requested."""
        while True:
            try:
                if self._leases.beat(self.sweep.key, "running", started, asdict(self.progress)):
                    self.cancelled.set()
            except StoreError:  # a full disk: saving the next cell will raise it
                pass
            if finished.wait(BEAT_SECONDS):
                return

    def _report(self, state: str, started: float) -> None:
        def beat() -> bool:
            return self._leases.beat(self.sweep.key, state, started, asdict(self.progress))

        try:
            for report in (self._leases.release, beat):
                report() if state == "failed" else self._once_free(report)
        except StoreError:
            if state != "failed":
                raise


def _by_world(cells: Iterable[Cell]) -> list[Cell]:
    """Cells that share data, pairs and features one after another, so that each world is made once."""
    groups: dict[tuple[Hashable, ...], list[Cell]] = {}
    for cell in cells:
        groups.setdefault(world_key(cell.params), []).append(cell)
    return [cell for group in groups.values() for cell in group]


def _failure(cell: Cell, error: str) -> JsonObject:
    return {
        "params": cell.params.to_json(), "state": "error", "error": error, "t": 0, "numbers": {}, "notes": [],
        "similar_by": "", "database_seen": True, "environment": environment(),
        **plugin_values(cell.params),
    }  # fmt: skip


def sweep(
    what: Sweep | str | Path | None = None,
    *,
    store: Store | str | Path | None = None,
    workers: int = 1,
    data: Dataset | None = None,
    **spec: Any,
) -> SweepResults:
    """Run a sweep, or what is left of it, and wait for the result; for notebooks and scripts.

    `what` is a `Sweep` or its TOML or JSON file; otherwise give `base`, `grid`, `random`, `halving`, `cases` and
    `seeds`. Every finished experiment is saved in the `store` (a folder, by default the user's), so a second call
    resumes the first. With several `workers` the experiments run in separate processes. `data` is your own data set.

    >>> import tempfile
    >>> base = {"dataset": "blobs2d", "method": "oh", "r": 8, "pairs": 200}
    >>> results = sweep(base=base, grid={"C": [0.1, 1.0]}, store=tempfile.mkdtemp())
    >>> [len(point.numbers) for point in results.points]
    [1, 1]
    """
    unknown = sorted(set(spec) - set(SPEC_KEYS))
    if unknown:
        raise ValueError(f"a sweep takes {', '.join(SPEC_KEYS)}, got {', '.join(unknown)}")
    described = build_sweep(**spec) if what is None else what if isinstance(what, Sweep) else read_sweep(what)
    opened = store if isinstance(store, Store) else Store(store)
    if data is not None:
        described = with_own_data(described, data)
        save_own_data(opened, data)
    check_datasets(described)
    executor = InlineExecutor() if workers == 1 else WorkerPool(workers)
    with executor:
        SweepExecution(described, opened, executor).run()
    return SweepResults(described, opened)
