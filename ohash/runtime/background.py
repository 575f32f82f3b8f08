"""Background: a thread that does work in small steps and obeys between two of them.

The work is a generator that yields after every step. Pause, resume and stop only set flags, so they never wait;
visitors may hold the work still for a moment to look inside.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

State = Literal["waiting", "starting", "running", "paused", "done", "error", "stopped"]


class Background:
    """A subclass says what is done in `_work` and what is shown in `_publish`."""

    def __init__(self, name: str, *, paused: bool = False) -> None:
        """Nothing happens before `start`."""
        self.state: State = "waiting"
        self.error = ""
        self.finished = threading.Event()
        self._wake = threading.Condition()
        self._held = threading.RLock()
        self._visitors = 0
        self._paused, self._stop = paused, False
        self._thread = threading.Thread(target=self._main, name=name, daemon=True)

    def start(self) -> None:
        """Begin; nothing begins after `stop`."""
        with self._wake:
            if not self._stop:
                self._thread.start()

    def pause(self) -> None:
        """Stand still after the current step."""
        self._tell(paused=True)

    def resume(self) -> None:
        """Go on."""
        self._tell(paused=False)

    def stop(self, wait: float = 2.0) -> None:
        """End the thread; what was published stays."""
        with self._wake:
            self._stop = True
            self._wake.notify_all()
            if self._thread.ident is None:
                self.state = "stopped"
                self.finished.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(wait)

    @contextmanager
    def between_steps(self) -> Iterator[None]:
        """Hold the work still to look inside it; keep it short."""
        with self._wake:
            self._visitors += 1
        try:
            with self._held:
                yield
        finally:
            with self._wake:
                self._visitors -= 1
                self._wake.notify_all()

    def _work(self) -> Iterator[None]:
        raise NotImplementedError

    def _publish(self, *, last: bool = False) -> None:
        raise NotImplementedError

    def _main(self) -> None:
        try:
            self.state = "starting"
            self._loop(self._work())
        except Exception as error:  # of any kind: it ends this work, and only this
            self.error = f"{error}" if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
            self.state = "error"
        finally:
            try:
                self._publish(last=True)
            finally:
                self.finished.set()

    def _loop(self, work: Iterator[None]) -> None:
        while True:
            with self._wake:
                while (self._visitors or self._paused) and not self._stop:
                    if self._paused and self.state != "paused":
                        self.state = "paused"
                        self._publish()
                    self._wake.wait(0.05 if self._visitors else 0.5)
                if self._stop:
                    self.state = "stopped"
                    return
                self.state = "running"
            with self._held:
                if next(work, _OVER) is _OVER:
                    self.state = "done"
                    return
            self._publish()

    def _tell(self, *, paused: bool) -> None:
        with self._wake:
            self._paused = paused
            self._wake.notify_all()


_OVER = object()
