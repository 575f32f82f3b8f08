"""Runner: a background thread around a `Run`, obeying within 50 ms.

It publishes whole snapshots into one slot, at most twenty per second, with a rising sequence number; any number of
viewers may read them. Work is the same whatever the pace, the pauses or the rate of snapshots.
"""

import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from pathlib import Path

from ohash.core.parameters import parameter_table
from ohash.engine import saving
from ohash.engine.fitting import WorkerFitter
from ohash.engine.live.pace import Chunker, Pace, check_pace, pairs_per_second
from ohash.engine.moments import Moments
from ohash.engine.params import ExperimentParams
from ohash.engine.run import Run
from ohash.engine.snapshot import Snapshot
from ohash.runtime.background import Background
from ohash.runtime.frames import JsonObject
from ohash.streams.dataset import Dataset

# A paced run learns what is due this often.
GATHER_SECONDS = 0.04
NICENESS = 5  # of 19
PUBLISH_SECONDS = 0.05
# What a paced run may catch up at most.
SAVED_SECONDS = 0.2

# Runs take turns by chunk, and leave one core to those who watch.
COMPUTING = threading.BoundedSemaphore(max(1, (os.cpu_count() or 1) - 1))
# Preparing a run cannot be cut into chunks: it has its own line, so that live runs never wait for it.
PREPARING = threading.BoundedSemaphore(max(1, os.cpu_count() or 1))


class Runner(Background):
    """One live run. `start` returns at once; `snapshot` is always the newest picture."""

    def __init__(
        self,
        params: ExperimentParams,
        dataset: Dataset | None = None,
        *,
        pace: Pace = "unlimited",
        judge: bool = True,
        paused: bool = False,
        resume_from: str | Path | saving.RunCopy | None = None,
        clock: Callable[[], float] = time.monotonic,
        first: Callable[[], None] = lambda: None,
        head_start: Callable[[], int] = lambda: 0,
    ) -> None:
        """Nothing happens before `start`; `paused` starts standing still after the first picture.

        `first` is called in the thread of the run before anything else. Whatever else it is told, a run first learns
        as many pairs as `head_start` says: those that were shown, from a recording, while it was being made.
        """
        super().__init__(f"ohash-{params.key()}", paused=paused)
        self._first = first
        self._head_start = head_start
        self._fitter = WorkerFitter(PREPARING)

        def make() -> Run:
            if isinstance(resume_from, saving.RunCopy):
                return resume_from.run(self._fitter)
            if resume_from is not None:
                return saving.load(resume_from, dataset, fitter=self._fitter)
            return Run(params, dataset, judge=judge, fitter=self._fitter)

        self._make = make
        self._params = params
        self.run: Run | None = None
        self.moments = Moments()  # to be read between steps
        self._clock = clock
        self._pace: Pace = check_pace(pace)
        self._steps = 0  # pairs that `step` still owes
        self._switches = 0  # pauses and resumes: they cancel what `step` owed
        self._changes: list[tuple[int, dict[str, float]]] = []
        self._number = self._applied = 0  # of the changes asked for, and of the last one made
        self._refused = ""
        self._slot: Snapshot | None = None
        self._seq = 0

    # -- commands, from any thread -------------------------------------------------------------------------------

    @property
    def params(self) -> ExperimentParams:
        """The experiment, with every change so far."""
        return self._params if self.run is None else self.run.params

    def pause(self) -> None:
        """Pause after the current small step."""
        self._switch(paused=True)

    def resume(self) -> None:
        """Resume."""
        self._switch(paused=False)

    def step(self, n: int = 1) -> None:
        """Learn exactly n more pairs, then stand still."""
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise ValueError(f"step needs a number of pairs >= 1, got {n!r}")
        with self._command():
            self._paused = True
            self._steps += n

    def set(self, **values: float) -> int:
        """Change beta or C before the next pair; returns a number that `Snapshot.extra["ack"]` reaches when it is done.

        What cannot be set is a ValueError here, and the run goes on.
        """
        rows = parameter_table(self._params.model)
        for name in values:
            if name not in rows or not rows[name].live:
                live = ", ".join(key for key, row in rows.items() if row.live)
                raise ValueError(f"{name} cannot change while {self._params.method} runs; {live or 'no parameter'} can")
        if self.finished.is_set():
            raise ValueError(f"{', '.join(values)} cannot change any more: the run is over; start another")
        with self._command():
            waiting = {name: value for _, some in self._changes for name, value in some.items()}
            self.params.with_changes(0 if self.run is None else self.run.t, **{**waiting, **values})  # validates
            self._number += 1
            self._changes.append((self._number, values))
            return self._number

    def pace(self, pace: Pace) -> None:
        """Pairs per second, "accelerating" or "unlimited"."""
        with self._command():
            self._pace = check_pace(pace)

    def snapshot(self) -> Snapshot | None:
        """The newest picture; None until the run is prepared, and for good if that failed (`state`, `error`)."""
        return self._slot

    def wait_for_step(self, seconds: float = 1.0) -> None:
        """Wait until the pairs asked for by `step` are learnt and shown, or some time has passed."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not self.finished.is_set():
            now = self._slot
            with self._wake:
                pending = self._steps > 0
            if not pending and now is not None and self.run is not None and now.t == self.run.t:
                return
            time.sleep(0.005)

    def save(self, path: str | Path) -> None:
        """Write the whole run, to be resumed as if nothing had happened."""
        if self.run is None:
            raise ValueError("there is nothing to save yet: the run is still being prepared")
        with self.between_steps():
            with self._wake:
                self._apply(self.run)  # what was set before belongs to it
            saving.save(self.run, path)

    def copy(
        self, *, pace: Pace, paused: bool, first: Callable[[], None] = lambda: None
    ) -> "tuple[Runner, Snapshot] | None":
        """A second run that goes on from exactly where this one is, and how it looks there.

        None if that takes longer than a moment: while this one is being made, or evaluated after a fit.
        """
        with self.between_steps():
            if self.run is None or (self.run.evaluating and self.run.spec.consumes == "batch"):
                return None
            kept = saving.RunCopy(self.run)
            self.moments.watch(self.run)  # of an evaluation that was finished for it
            self._publish()
            assert self._slot is not None
            other = Runner(self.run.params, pace=pace, paused=paused, resume_from=kept, first=first)
            other.moments = self.moments.copy()
            return other, self._slot

    # -- the thread ----------------------------------------------------------------------------------------------

    def _drive(self) -> None:
        lower_priority()
        self._first()
        with PREPARING:
            if self._stop:  # replaced while it waited: the next in line need not wait for what nobody will see
                raise CancelledError
            self.run = self._make()
        try:
            self._loop(self.run)
        finally:
            self.run.close()

    def _close(self) -> None:
        self._fitter.close()

    def _loop(self, run: Run) -> None:
        last_tick, last_publish, budget, shown, acknowledged = self._clock(), float("-inf"), 0.0, None, 0
        chunker = Chunker()
        while True:
            with self._wake:
                while self._visitors and not self._stop:
                    self._wake.wait(0.05)
                if self._stop:
                    self.state = "stopped"
                    return
                goal = self._head_start()
                before_goal = run.t < goal
                if not before_goal:
                    self._apply(run)
                commands, switches, owed = self._commands, self._switches, self._steps > 0
                going = before_goal or owed or not self._paused
                self.state = "running" if going else "paused"
                now, rate = self._clock(), pairs_per_second(self._pace, run.t)
                budget = min(budget + (now - last_tick) * rate, max(1.0, SAVED_SECONDS * rate))
                last_tick = now
                limit = self._limit(budget, max(1.0, GATHER_SECONDS * rate), chunker.size) if going else 0
                limit = min(chunker.size, goal - run.t) if before_goal else limit
                if self._applied != acknowledged:  # somebody waits to see her change
                    limit = min(limit, max(1, chunker.size // 8))
            learnt, seconds = self._one_step(run, limit) if run.evaluating or limit else (0, 0.0)
            if learnt:
                budget = max(0.0, budget - learnt)
                chunker.measure(learnt, seconds)
                with self._wake:
                    if owed and not before_goal and switches == self._switches:  # not those before `step` was called
                        self._steps -= learnt
            if run.done:
                with COMPUTING, self._held:
                    run.checkpoints.evaluate_test()
                self.state = "done"
                return
            idle = not run.evaluating and limit < 1
            picture = (run.t, len(run.checkpoints.scores), run.evaluating, self.state, self._applied)
            urgent = (idle and not going) or self._applied != acknowledged
            if picture != shown and (urgent or now - last_publish >= PUBLISH_SECONDS):
                self._publish()
                last_publish, shown, acknowledged = now, picture, self._applied
            if idle or run.fitting.waiting:
                with self._wake:
                    if commands == self._commands:
                        self._wake.wait(GATHER_SECONDS / 4 if going or run.fitting.waiting else 0.5)

    def _one_step(self, run: Run, limit: int) -> tuple[int, float]:
        with COMPUTING, self._held:
            start = time.perf_counter()
            learnt = run.step(limit)
            self.moments.watch(run)
            return learnt, time.perf_counter() - start

    def _limit(self, budget: float, due: float, chunk: int) -> int:
        """Pairs to learn now; at a pace none until `due` have gathered, as a step costs as much as some thirty."""
        if self._steps:
            return min(self._steps, chunk)
        if self._pace == "unlimited":
            return chunk
        return min(chunk, int(budget)) if budget >= due else 0

    def _apply(self, run: Run) -> None:
        for number, values in self._changes:
            try:
                run.set(**values)
            except ValueError as error:  # it was fine when it was said, but the run has moved on
                self._refused = str(error)
            self._applied = number
        self._changes.clear()

    def _publish(self, *, last: bool = False) -> None:
        if self.run is None:
            return
        with self._held:
            self._seq += 1
            extra: JsonObject = {"ack": self._applied, "refused": self._refused}
            self._slot = self.run.snapshot(self.state, seq=self._seq, error=self.error, extra=extra)

    def _switch(self, *, paused: bool) -> None:
        with self._command():
            self._paused = paused
            self._steps = 0
            self._switches += 1


def lower_priority() -> None:
    """Let the threads that draw go first; on Linux every thread has a priority of its own."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
