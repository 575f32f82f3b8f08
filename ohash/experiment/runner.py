"""Runner: a background thread around a `Run`, obeying within 50 ms.

It publishes whole snapshots into one slot, at most ten a second, with a rising sequence number; any number of viewers may
read them. Commands only set flags that the thread reads between two small steps, so they never wait for work, and work is
the same whatever the pace, the pauses or the rate of snapshots.
"""

import os
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal

from ohash.core.parameters import table
from ohash.experiment import saved
from ohash.experiment.params import ExperimentParams
from ohash.experiment.run import Run
from ohash.experiment.snapshot import Snapshot, take
from ohash.streams.base import Dataset

State = Literal["waiting", "starting", "running", "paused", "done", "error", "stopped"]

# Accelerating pace: pairs/s = FIRST_RATE + GROWTH * pairs; 100,000 pairs take about 27 s on a logarithmic axis.
FIRST_RATE = 100.0
GROWTH = 0.195
STEP_SECONDS = 0.012
PUBLISH_SECONDS = 0.1
MOST_PAIRS = 16_384

Pace = float | Literal["accelerating", "unlimited"]

# Runs take turns by chunk: no more of them compute at once than there are cores.
_turns = threading.BoundedSemaphore(max(1, os.cpu_count() or 1))


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
    ) -> None:
        """Nothing happens before `start`; `paused` starts standing still after the first picture."""
        self._make = lambda: (
            Run(params, dataset, judge=judge) if resume_from is None else saved.load(resume_from, dataset)
        )
        self.params = params
        self.run: Run | None = None
        self.state: State = "waiting"
        self.error = ""
        self.finished = threading.Event()
        self._clock = clock
        self._wake = threading.Condition()
        self._work = threading.Lock()
        self._pace: Pace = _checked_pace(pace)
        self._paused, self._stop = paused, False
        self._steps = 0
        self._changes: list[tuple[int, dict[str, float]]] = []
        self._command = self._applied = 0
        self._slot: Snapshot | None = None
        self._seq = 0
        self._rate = 0.0
        self._thread = threading.Thread(target=self._main, name=f"ohash-{params.key()}", daemon=True)

    # -- commands, from any thread -------------------------------------------------------------------------------

    def start(self) -> "Runner":
        """Begin in the background."""
        self._thread.start()
        return self

    def pause(self) -> None:
        """Stand still after the current small step."""
        self._tell(paused=True)

    def resume(self) -> None:
        """Go on."""
        self._tell(paused=False)

    def step(self, n: int = 1) -> None:
        """Learn exactly n more pairs, then stand still."""
        if n < 1:
            raise ValueError(f"step needs a number of pairs >= 1, got {n}")
        with self._wake:
            self._paused = True
            self._steps += n
            self._wake.notify_all()

    def set(self, **values: float) -> int:
        """Change beta or C before the next pair; returns a number that `Snapshot.extra["ack"]` reaches when it is done."""
        rows = table(self.params.model)
        for name, value in values.items():
            if name not in rows or not rows[name].live:
                live = ", ".join(key for key, row in rows.items() if row.live)
                raise ValueError(f"only {live or 'nothing'} can change while {self.params.method} runs, got {name!r}")
            rows[name].convert(value)
        with self._wake:
            self._command += 1
            self._changes.append((self._command, values))
            self._wake.notify_all()
            return self._command

    def pace(self, pace: Pace) -> None:
        """Pairs a second, "accelerating" or "unlimited"."""
        with self._wake:
            self._pace = _checked_pace(pace)
            self._wake.notify_all()

    def stop(self, wait: float = 2.0) -> None:
        """End the thread; the last snapshot stays."""
        with self._wake:
            self._stop = True
            self._wake.notify_all()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(wait)

    def snapshot(self) -> Snapshot | None:
        """The newest picture; None until the run is prepared."""
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

    def between_steps(self) -> AbstractContextManager[bool]:
        """Hold the run still to look inside it (replay, save, search); keep it short."""
        return self._work

    def save(self, path: str | Path) -> None:
        """Write the whole run, to be resumed as if nothing had happened."""
        if self.run is None:
            raise ValueError("there is nothing to save yet: the run is still being prepared")
        with self._work:
            saved.save(self.run, path)

    # -- the thread ----------------------------------------------------------------------------------------------

    def _main(self) -> None:
        try:
            self.state = "starting"
            with _turns:
                self.run = self._make()
            self._loop(self.run)
        except Exception as error:  # an error of any kind ends this run, and only this run
            self.error = f"{error}" if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
            self.state = "error"
        finally:
            self._publish()
            self.finished.set()

    def _loop(self, run: Run) -> None:
        last_tick, last_publish, budget = self._clock(), -1.0, 0.0
        chunk = 64
        while True:
            with self._wake:
                if self._stop:
                    self.state = "stopped"
                    return
                self._apply(run)
                going = not self._paused or self._steps > 0
                self.state = "running" if going else "paused"
            now = self._clock()
            budget = min(budget + (now - last_tick) * self._pairs_a_second(run.t), 0.2 * self._pairs_a_second(run.t))
            last_tick = now
            limit = self._limit(budget, chunk)
            if run.evaluating or (going and limit >= 1):
                done, seconds = self._one_step(run, limit)
                if done:
                    budget = max(0.0, budget - done)
                    speed = done / max(seconds, 1e-6)
                    self._rate = speed if self._rate == 0 else 0.9 * self._rate + 0.1 * speed
                    chunk = int(min(MOST_PAIRS, max(1, self._rate * STEP_SECONDS)))
                    with self._wake:
                        self._steps = max(0, self._steps - done)
            if run.done:
                self.state = "done"
                return
            if now - last_publish >= PUBLISH_SECONDS:
                self._publish()
                last_publish = now
            if not run.evaluating and (not going or limit < 1):
                if not going:
                    self._publish()
                with self._wake:
                    if not (self._stop or self._changes or self._steps):
                        self._wake.wait(0.5 if not going and self._paused else 0.005)

    def _one_step(self, run: Run, limit: int) -> tuple[int, float]:
        with _turns, self._work:
            start = time.perf_counter()
            done = run.step(max(1, limit))
            return done, time.perf_counter() - start

    def _limit(self, budget: float, chunk: int) -> int:
        if self._steps:
            return min(self._steps, chunk)
        return chunk if self._pace == "unlimited" else min(chunk, int(budget))

    def _pairs_a_second(self, t: int) -> float:
        if self._pace == "unlimited":
            return 1e9
        if self._pace == "accelerating":
            return FIRST_RATE + GROWTH * t
        return float(self._pace)

    def _apply(self, run: Run) -> None:
        for number, values in self._changes:
            run.set(**values)
            self._applied = number
        self._changes.clear()

    def _publish(self) -> None:
        if self.run is None:
            return
        self._seq += 1
        extra: dict[str, Any] = {"ack": self._applied, "pairs_per_second": self._rate}
        with self._work:
            self._slot = take(self.run, self.state, seq=self._seq, error=self.error, extra=extra)

    def _tell(self, *, paused: bool) -> None:
        with self._wake:
            self._paused = paused
            self._steps = 0
            self._wake.notify_all()


def _checked_pace(pace: Pace) -> Pace:
    if isinstance(pace, str):
        if pace in ("accelerating", "unlimited"):
            return pace
    elif 0 < pace < float("inf"):
        return float(pace)
    raise ValueError(f"pace must be pairs a second > 0, 'accelerating' or 'unlimited', got {pace!r}")
