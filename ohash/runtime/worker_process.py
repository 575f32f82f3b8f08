"""The other end of a worker: a process that computes for another one, over pipes; ohash starts it itself.

``python3 -m ohash.runtime.worker_process`` takes no options: sweeps, comparisons and batch methods start it
(`ohash.runtime.worker.Worker`).

Frames (`ohash.runtime.frames`) come on standard input: {"task": "ohash.module:function", "values": ...} with arrays, or
{"share": key, "values": ...}. They go out on what was standard output: {"is": "ready"}, then for every task any number
of {"is": "progress"} and one {"is": "done"} or {"is": "error"}. When the input ends, because the other process closed
it or died, this one ends at once.
"""

import importlib
import os
import queue
import signal
import sys
import threading
import traceback
from typing import IO

from ohash.runtime.frames import Arrays, Frame, JsonObject, Report, read_frame, shared, write_frame


def main() -> int:
    """Serve until the input ends; to whoever calls it by hand it says what it is."""
    if len(sys.argv) > 1 or sys.stdin is None or sys.stdin.isatty():
        asked_for_help = sys.argv[1:] in (["--help"], ["-h"])
        print((__doc__ or "").replace("`", ""), file=sys.stdout if asked_for_help else sys.stderr)
        return 0 if asked_for_help else 2
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who waits: it ends this process by the pipe
    frames_in, frames_out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints goes to standard error, not between the frames
    requests: queue.SimpleQueue[Frame] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(frames_in, requests), daemon=True).start()
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    with threadpool_limits(1):
        write_frame(frames_out, {"is": "ready", "pid": os.getpid()})
        while True:
            _serve(*requests.get(), frames_out)


def _listen(stream: IO[bytes], requests: "queue.SimpleQueue[Frame]") -> None:
    """Put frames into the queue, also while a task runs; the end of the input is the end of the process."""
    try:
        while (frame := read_frame(stream)) is not None:
            requests.put(frame)
    except EOFError:
        pass
    os._exit(0)


def _serve(message: JsonObject, arrays: Arrays, out: IO[bytes]) -> None:
    try:
        values, columns = _answer(message, arrays, lambda some: write_frame(out, {"is": "progress", "values": some}))
        reply = {"is": "done", "values": values}
    except Exception as error:  # of any kind: it belongs to the one who asked
        reply = {"is": "error", "kind": type(error).__name__, "message": str(error), "trace": traceback.format_exc()}
        columns = {}
    write_frame(out, reply, columns)


def _answer(message: JsonObject, arrays: Arrays, report: Report) -> Frame:
    """Keep what is shared, or do a task: a function of this package, and of no other."""
    if "share" in message:
        shared[message["share"]] = message["values"], arrays
        return {}, {}
    module, _, name = message["task"].partition(":")
    if not module.startswith("ohash."):
        raise ValueError(f"task must name a function of ohash, as ohash.engine.fitting:fit, got {message['task']!r}")
    result: Frame = getattr(importlib.import_module(module), name)(message["values"], arrays, report)
    return result


if __name__ == "__main__":
    sys.exit(main())
