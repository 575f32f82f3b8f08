"""Worker: another process that computes for this one, with progress and cancel.

It runs the same installation of this package, with one thread unless asked for more.
"""

import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np  # noqa: F401 (for the example)

from ohash.runtime.frames import Arrays, Frame, JsonObject, Report, read_frame, write_frame

# One thread each: processes, not threads, fill the cores.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)


def environment_of_child(*, one_thread: bool = False) -> dict[str, str]:
    """The environment, with the folder of the package first on the path."""
    package_folder = str(Path(__file__).parents[2])
    path = os.pathsep.join([package_folder, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))])
    return {**os.environ, **(ONE_THREAD if one_thread else {}), "PYTHONPATH": path}


STDERR_TAIL = 2000


class WorkerDiedError(RuntimeError):
    """The process ended in the middle of a task: killed, out of memory, crashed."""


class TaskError(RuntimeError):
    """A task failed in the worker with an error that is not the user's; `trace` says where."""

    def __init__(self, message: str, trace: str) -> None:
        """Keep the traceback of the other process."""
        super().__init__(message)
        self.trace = trace


class Worker:
    """One process. `call` from one thread at a time; `kill` from any.

    >>> with Worker() as worker:
    ...     itq = {"method": "itq", "params": {"r": 4}}
    ...     values, arrays = worker.call("ohash.engine.fitting:fit", itq, {"X": np.eye(6)})
    >>> arrays["state/W"].shape
    (6, 4)
    """

    def __init__(self) -> None:
        """Start the process; it needs a second or two to load, which `call` waits for."""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "ohash.runtime.worker_process"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self._errors, env=environment_of_child(one_thread=True),
        )  # fmt: skip
        self._has: set[str] = set()  # keys of the data it was given
        self._ready = False
        self._stopped = False

    def __enter__(self) -> "Worker":
        """The worker itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def call(
        self,
        task: str,
        values: JsonObject,
        arrays: Arrays | None = None,
        *,
        data: dict[str, Frame] | None = None,
        on_progress: Report | None = None,
    ) -> Frame:
        """Do a task, named by `name_of`, and wait. `data` are frames by key, sent only the first time.

        A ValueError of the task is a ValueError here, any other error a TaskError; a dead process a WorkerDiedError.
        """
        for key, frame in (data or {}).items():
            if key not in self._has:
                self._request({"share": key, "values": frame[0]}, frame[1], None)
                self._has.add(key)
        return self._request({"task": task, "values": values}, arrays, on_progress)

    def kill(self) -> None:
        """End the process now, whatever it does; a `call` that waits gets a WorkerDiedError."""
        if self.alive:
            self._stopped = True
            self._process.kill()

    def close(self) -> None:
        """End the process and let go of its pipes."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):  # what was still to be sent
                    pipe.close()
        self._errors.close()

    def _request(self, request: JsonObject, arrays: Arrays | None, on_progress: Report | None) -> Frame:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        try:
            write_frame(stdin, request, arrays)
            while (reply := read_frame(stdout)) is not None:
                message, columns = reply
                if message["is"] == "done":
                    return message["values"], columns
                if message["is"] == "error":
                    raise _error(message)
                if message["is"] == "progress" and on_progress is not None:
                    on_progress(message["values"])
        except (EOFError, BrokenPipeError):
            pass
        raise WorkerDiedError(self._describe_death(request.get("task", "share")))

    def _describe_death(self, task: str) -> str:
        code = self._process.wait()
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - STDERR_TAIL))
        words = self._errors.read().decode(errors="replace").strip()
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        hint = " (out of memory?)" if code == -9 else ""
        end = "was stopped" if self._stopped else f"died {how}{hint}"
        return f"the worker process {end} while it was doing {task!r}" + (f": {words}" if words else "")


def _error(message: JsonObject) -> Exception:
    if message["kind"] == "ValueError":
        return ValueError(message["message"])
    return TaskError(f"{message['kind']}: {message['message']}", message["trace"])
