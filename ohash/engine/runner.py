"""Runner: a background thread around a `Run`, obeying within 50 ms.

It publishes whole snapshots into one slot, at most ten a second, with a rising sequence number; any number of viewers
may read them. Commands only set flags that the thread reads between two small steps, so they never wait for work, and
work is the same whatever the pace, the pauses or the rate of snapshots.

Pace: how many pairs a second a run learns while somebody watches.
"""

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ohash.core.parameters import table
from ohash.engine import saving as saved
from ohash.engine.fitting import WorkerFitter
from ohash.engine.params import ExperimentParams
from ohash.engine.run import Run
from ohash.engine.snapshot import Snapshot
from ohash.streams.dataset import Dataset

NamedPace = Literal["accelerating", "unlimited"]
Pace = float | NamedPace
NAMED_PACES: tuple[NamedPace, ...] = ("accelerating", "unlimited")

# Accelerating: pairs/s = FIRST_RATE + GROWTH * pairs; 100,000 pairs take about 27 s on a logarithmic axis.
FIRST_RATE = 100.0
GROWTH = 0.195
MOST = 40.0  # e to this is more than any run has


def checked(pace: Any) -> Pace:
    """A pace, or a ValueError that says which there are."""
    if isinstance(pace, str):
        for known in NAMED_PACES:
            if pace == known:
                return known
    elif not isinstance(pace, bool) and isinstance(pace, (int, float, np.number)) and 0 < float(pace) < float("inf"):
        return float(pace)
    raise ValueError(f"pace must be pairs a second > 0, 'accelerating' or 'unlimited', got {pace!r}")


def pairs_a_second(pace: Pace, t: int) -> float:
    """After t pairs."""
    if pace == "unlimited":
        return 1e9
    if pace == "accelerating":
        return FIRST_RATE + GROWTH * t
    return float(pace)


def accelerated(seconds: float) -> int:
    """Pairs that the accelerating pace has brought after some seconds.

    >>> accelerated(0), accelerated(10), accelerated(20)
    (0, 3091, 24821)
    """
    return int(FIRST_RATE / GROWTH * math.expm1(np.clip(GROWTH * seconds, 0.0, MOST)))


State = Literal["waiting", "starting", "running", "paused", "done", "error", "stopped"]

STEP_SECONDS = 0.02
# A paced run learns what is due this often.
GATHER_SECONDS = 0.04
STEP_BACK = 5  # of the 19 steps of niceness
PUBLISH_SECONDS = 0.1
MOST_PAIRS = 16_384
# What a paced run may catch up at most.
SAVED_SECONDS = 0.2

# Runs take turns by chunk, and leave one core to those who watch.
COMPUTING = threading.BoundedSemaphore(max(1, (os.cpu_count() or 1) - 1))
# Preparing a run cannot be cut into chunks: it has its own line, so that live runs never wait for it.
PREPARING = threading.BoundedSemaphore(max(1, os.cpu_count() or 1))


class Runner:
    """One live run. `start` returns at once; `snapshot` is always the newest picture."""

    def __init__(
        self,
        params: ExperimentParams,
        dataset: Dataset | None = None,
        *,
        pace: Pace = "unlimited",
        judge: bool = True,
        paused: bool = False,
        resume_from: str | Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        first: Callable[[], None] = lambda: None,
        head_start: Callable[[], int] = lambda: 0,
    ) -> None:
        """Nothing happens before `start`; `paused` starts standing still after the first picture.

        `first` is called in the thread of the run before anything else. Whatever else it is told, a run first learns
        as many pairs as `head_start` says: those that were shown, from a recording, while it was being made.
        """
        self._first = first
        self._head_start = head_start
        self._elsewhere = WorkerFitter(PREPARING)
        self._make: Callable[[], Run] = lambda: (
            Run(params, dataset, judge=judge, fitter=self._elsewhere)
            if resume_from is None
            else saved.load(resume_from, dataset, fitter=self._elsewhere)
        )
        self._params = params
        self.run: Run | None = None
        self.state: State = "waiting"
        self.error = ""
        self.finished = threading.Event()
        self._clock = clock
        self._wake = threading.Condition()
        self._work = threading.RLock()
        self._visitors = 0  # who wait for, or hold, `_work`: the run lets them in
        self._pace: Pace = checked(pace)
        self._paused, self._stop = paused, False
        self._steps = 0  # pairs that `step` still owes
        self._heard = 0  # commands of any kind
        self._told = 0  # pauses and resumes: they cancel what `step` owed
        self._changes: list[tuple[int, dict[str, float]]] = []
        self._command = self._applied = 0
        self._refused = ""
        self._slot: Snapshot | None = None
        self._seq = 0
        self._rate = 0.0
        self._thread = threading.Thread(target=self._main, name=f"ohash-{params.key()}", daemon=True)

    # -- commands, from any thread -------------------------------------------------------------------------------

    def start(self) -> "Runner":
        """Begin in the background, once; nothing begins after `stop`."""
        with self._wake:
            if not self._stop and self._thread.ident is None:
                self._thread.start()
        return self

    @property
    def params(self) -> ExperimentParams:
        """The experiment, with every change so far."""
        return self._params if self.run is None else self.run.params

    def pause(self) -> None:
        """Stand still after the current small step."""
        self._tell(paused=True)

    def resume(self) -> None:
        """Go on."""
        self._tell(paused=False)

    def step(self, n: int = 1) -> None:
        """Learn exactly n more pairs, then stand still."""
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise ValueError(f"step needs a number of pairs >= 1, got {n!r}")
        with self._command_given():
            self._paused = True
            self._steps += n

    def set(self, **values: float) -> int:
        """Change beta or C before the next pair; returns a number that `Snapshot.extra["ack"]` reaches when it is done.

        What cannot be set is a ValueError here, and the run goes on.
        """
        rows = table(self._params.model)
        for name in values:
            if name not in rows or not rows[name].live:
                live = ", ".join(key for key, row in rows.items() if row.live)
                raise ValueError(f"{name} cannot change while {self._params.method} runs; {live or 'no parameter'} can")
        if self.finished.is_set():
            raise ValueError(f"{', '.join(values)} cannot change any more: the run is over; start another")
        with self._command_given():
            waiting = {name: value for _, some in self._changes for name, value in some.items()}
            self.params.changed(0 if self.run is None else self.run.t, **{**waiting, **values})  # validates
            self._command += 1
            self._changes.append((self._command, values))
            return self._command

    def pace(self, pace: Pace) -> None:
        """Pairs a second, "accelerating" or "unlimited"."""
        with self._command_given():
            self._pace = checked(pace)

    def stop(self, wait: float = 2.0) -> None:
        """End the thread; the last snapshot stays."""
        with self._command_given():
            self._stop = True
            if self._thread.ident is None:
                self.state = "stopped"
                self.finished.set()
        self._elsewhere.close()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(wait)

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

    @contextmanager
    def between_steps(self) -> Iterator[None]:
        """Hold the run still to look inside it (replay, save, search); keep it short."""
        with self._wake:
            self._visitors += 1
        try:
            with self._work:
                yield
        finally:
            with self._wake:
                self._visitors -= 1
                self._wake.notify_all()

    def save(self, path: str | Path) -> None:
        """Write the whole run, to be resumed as if nothing had happened."""
        if self.run is None:
            raise ValueError("there is nothing to save yet: the run is still being prepared")
        with self.between_steps():
            with self._wake:
                self._apply(self.run)  # what was set before belongs to it
            saved.save(self.run, path)

    # -- the thread ----------------------------------------------------------------------------------------------

    def _main(self) -> None:
        try:
            self.state = "starting"
            make_way()
            self._first()
            with PREPARING:
                self.run = self._make()
            self._loop(self.run)
        except CancelledError:  # stopped while it was being made
            self.state = "stopped"
        except Exception as error:  # an error of any kind ends this run, and only this run
            self.error = f"{error}" if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
            self.state = "error"
        finally:
            if self.run is not None:
                self.run.close()
            try:
                self._publish()
            finally:
                self.finished.set()

    def _loop(self, run: Run) -> None:
        last_tick, last_publish, budget, shown = self._clock(), float("-inf"), 0.0, None
        chunk = 64
        while True:
            with self._wake:
                while self._visitors and not self._stop:
                    self._wake.wait(0.05)
                if self._stop:
                    self.state = "stopped"
                    return
                goal = self._head_start()
                behind = run.t < goal
                if not behind:
                    self._apply(run)
                heard, told, owed = self._heard, self._told, self._steps > 0
                going = behind or owed or not self._paused
                self.state = "running" if going else "paused"
                now, rate = self._clock(), pairs_a_second(self._pace, run.t)
                budget = min(budget + (now - last_tick) * rate, max(1.0, SAVED_SECONDS * rate))
                last_tick = now
                limit = self._limit(budget, max(1.0, GATHER_SECONDS * rate), chunk) if going else 0
                limit = min(chunk, goal - run.t) if behind else limit
            learnt, seconds = self._one_step(run, limit) if run.evaluating or limit else (0, 0.0)
            if learnt:
                budget = max(0.0, budget - learnt)
                speed = learnt / max(seconds, 1e-6)
                self._rate = speed if self._rate == 0 else 0.9 * self._rate + 0.1 * speed
                chunk = int(min(MOST_PAIRS, max(1, self._rate * STEP_SECONDS)))
                with self._wake:
                    if owed and not behind and told == self._told:  # pairs learnt before `step` was called do not count
                        self._steps -= learnt
            if run.done:
                self.state = "done"
                return
            idle = not run.evaluating and limit < 1
            picture = (run.t, len(run.checkpoints.scores), run.evaluating, self.state, self._applied)
            if picture != shown and (now - last_publish >= PUBLISH_SECONDS or (idle and not going)):
                self._publish()
                last_publish, shown = now, picture
            if idle or run.fitting.waiting:
                with self._wake:
                    if heard == self._heard:
                        self._wake.wait(GATHER_SECONDS / 4 if going or run.fitting.waiting else 0.5)

    def _one_step(self, run: Run, limit: int) -> tuple[int, float]:
        with COMPUTING, self._work:
            start = time.perf_counter()
            return run.step(limit), time.perf_counter() - start

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

    def _publish(self) -> None:
        if self.run is None:
            return
        self._seq += 1
        extra: dict[str, Any] = {"ack": self._applied, "refused": self._refused}
        with self._work:
            self._slot = self.run.snapshot(self.state, seq=self._seq, error=self.error, extra=extra)

    def _tell(self, *, paused: bool) -> None:
        with self._command_given():
            self._paused = paused
            self._steps = 0
            self._told += 1

    @contextmanager
    def _command_given(self) -> Iterator[None]:
        """A command changes flags, and wakes the thread."""
        with self._wake:
            yield
            self._heard += 1
            self._wake.notify_all()


def make_way() -> None:
    """Let this thread step back behind those that draw; on Linux every thread has a priority of its own."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), STEP_BACK)
