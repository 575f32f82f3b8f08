"""Background: one thread that works in small steps and obeys commands between two of them.

Commands only set flags, so they never wait for work; visitors may hold the work still for a moment to look inside. What
goes wrong ends this work, and only this.
"""

import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Literal, Self

State = Literal["waiting", "starting", "running", "paused", "done", "error", "stopped"]


class Background:
    """A subclass says what is done in `_work`, a generator that yields after every step, and shows it in `_publish`.

    One whose steps depend on more than pause and stop replaces `_drive`.
    """

    def __init__(self, name: str, *, paused: bool = False) -> None:
        """Nothing happens before `start`."""
        self.state: State = "waiting"
        self.error = ""
        self.finished = threading.Event()
        self._wake = threading.Condition()
        self._held = threading.RLock()  # held during a step, and by visitors
        self._visitors = 0
        self._commands = 0
        self._paused, self._stop = paused, False
        self._thread = threading.Thread(target=self._main, name=name, daemon=True)

    # -- commands, from any thread -------------------------------------------------------------------------------

    def start(self) -> Self:
        """Begin in the background, once; nothing begins after `stop`."""
        with self._wake:
            if not self._stop and self._thread.ident is None:
                self._thread.start()
        return self

    def pause(self) -> None:
        """Pause after the current step."""
        with self._command():
            self._paused = True

    def resume(self) -> None:
        """Resume."""
        with self._command():
            self._paused = False

    def stop(self, wait: float = 2.0) -> None:
        """End the thread; what was published stays."""
        with self._command():
            self._stop = True
            if self._thread.ident is None:
                self.state = "stopped"
                self.finished.set()
        self._close()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(wait)

    def finish(self) -> None:
        """Do everything in this thread instead of in the background."""
        self._main()

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

    @contextmanager
    def _command(self) -> Iterator[None]:
        """A command changes flags, and wakes the thread."""
        with self._wake:
            yield
            self._commands += 1
            self._wake.notify_all()

    # -- the thread ----------------------------------------------------------------------------------------------

    def _work(self) -> Iterator[None]:
        raise NotImplementedError

    def _publish(self, *, last: bool = False) -> None:
        raise NotImplementedError

    def _close(self) -> None:
        """Release worker processes; nothing by default."""

    def _main(self) -> None:
        try:
            self.state = "starting"
            self._drive()
        except CancelledError:  # stopped while something was being made
            self.state = "stopped"
        except Exception as error:  # of any kind: it ends this work, and only this
            self.error = f"{error}" if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
            self.state = "error"
        finally:
            try:
                self._publish(last=True)
            finally:
                self.finished.set()

    def _drive(self) -> None:
        work = self._work()
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


_OVER = object()
