"""What serves a process and not the algorithm.

`compile` and `kernel_cache` for kernels, `threads` and `clock` for CPU time, `background` for the one thread engine,
`worker`, `worker_process` and `pool` for other processes, `frames` for what they send, `progress` for work in small
steps and long fits, `files` for folders, whole files and archives, `environment` for what a result was made with,
`lazy` for what is imported or made at its first use.
"""

from typing import TYPE_CHECKING

from ohash.runtime import lazy

if TYPE_CHECKING:
    from ohash.runtime.background import Background
    from ohash.runtime.clock import Clock, working_seconds
    from ohash.runtime.files import home, read_archive, write_archive
    from ohash.runtime.frames import read_frame, write_frame
    from ohash.runtime.pool import WorkerPool
    from ohash.runtime.progress import drain
    from ohash.runtime.worker import Worker

__all__ = [
    "Background", "Clock", "Worker", "WorkerPool", "drain", "home", "read_archive", "read_frame", "working_seconds",
    "write_archive", "write_frame",
]  # fmt: skip

__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "background": ("Background",),
        "clock": ("Clock", "working_seconds"),
        "files": ("home", "read_archive", "write_archive"),
        "frames": ("read_frame", "write_frame"),
        "pool": ("WorkerPool",),
        "progress": ("drain",),
        "worker": ("Worker",),
    },
)
