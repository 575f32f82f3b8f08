"""One method of a comparison, run with one seed: it keeps its own error, and waits for its fit without blocking."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from ohash.comparison.results import MethodResult
from ohash.engine.judge import RERANKED
from ohash.engine.live.pace import Chunker
from ohash.engine.live.runner import COMPUTING, PREPARING
from ohash.engine.params import ExperimentParams
from ohash.engine.run import Run
from ohash.engine.snapshot import bits_of, bytes_of
from ohash.models.registry import find

FIRST_FITS = ThreadPoolExecutor(4, "ohash-compare-make")


class MethodRun:
    """One method with one seed; keeps its own error."""

    def __init__(self, entry: int, params: ExperimentParams) -> None:
        """Nothing is built before the first step."""
        self.entry, self.params = entry, params
        self.run: Run | None = None
        self.error = ""
        self._chunker = Chunker()
        self._future: Future[Run] | None = None

    @property
    def t(self) -> int:
        """Pairs learnt."""
        return 0 if self.run is None else self.run.t

    @property
    def done(self) -> bool:
        """Whether there is nothing left to do."""
        return bool(self.error) or (self.run is not None and self.run.done)

    @property
    def waiting(self) -> bool:
        """Whether it waits for a fit in another thread or process."""
        starting = self._future is not None and not self._future.done()
        return starting or (self.run is not None and self.run.fitting.waiting)

    def step(self, make: Callable[[ExperimentParams], Run]) -> None:
        """Build the run, learn some pairs, or do a slice of an evaluation."""
        try:
            if self.run is None:
                self._prepare(make)
                return
            with COMPUTING:
                start = time.perf_counter()
                learnt = self.run.step(self._chunker.size)
            if learnt:
                self._chunker.measure(learnt, time.perf_counter() - start)
        except Exception as error:  # whatever it is, the other methods go on
            self.error = f"{error}" if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"

    def _prepare(self, make: Callable[[ExperimentParams], Run]) -> None:
        """Build the run; the first fit of a batch method may take long, so it happens in a thread."""

        def build() -> Run:
            with PREPARING:
                return make(self.params)

        if find(self.params.method).consumes != "batch":
            self.run = build()
        elif self._future is None:
            self._future = FIRST_FITS.submit(build)
        else:
            self.run, self._future = self._future.result(), None

    def close(self) -> None:
        """Stop work in other processes."""
        if self.run is not None:
            self.run.close()

    def result(self) -> MethodResult:
        """The result so far."""
        run, state = self.run, "error" if self.error else "done" if self.done else "running"
        if run is None:
            state = "fitting" if self.waiting else state
            return MethodResult(self.entry, self.params.seed, 0, state, self.error, self.params, {})
        return MethodResult(
            self.entry, self.params.seed, run.t, "fitting" if self.waiting else state, self.error, run.params,
            run.checkpoints.scores.snapshot(), run.checkpoints.last_record, bits_of(run.hasher), bytes_of(run.hasher),
            _recall_by_reranking(run), run.fitting.share if self.waiting else 0.0,
        )  # fmt: skip


def step_in_turn(method_runs: list[MethodRun], make: Callable[[ExperimentParams], Run]) -> Iterator[None]:
    """Step the run with the fewest pairs until all are done; runs that wait for a fit are skipped."""
    while not all(method_run.done for method_run in method_runs):
        ready = [method_run for method_run in method_runs if not method_run.done and not method_run.waiting]
        if ready:
            min(ready, key=lambda method_run: (method_run.run is not None, method_run.t)).step(make)
        else:
            time.sleep(0.005)
        yield


def _recall_by_reranking(run: Run) -> dict[int, float]:
    """Recall@10 at the last checkpoint, after the nearest c · 10 are re-ranked by the float vectors."""
    if not len(run.checkpoints.scores):
        return {}
    return {c: float(run.checkpoints.scores["recall_10" if c == 1 else f"recall_10_x{c}"][-1]) for c in RERANKED}
