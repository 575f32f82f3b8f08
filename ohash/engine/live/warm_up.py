"""Before the first visitor: kernels and data are loaded; on a first start another process compiles the kernels.

Compiling holds Python's lock for seconds at a time, and with it every picture of the recording that plays meanwhile.
What the other process has compiled is kept, and loads here in a moment.
"""

import threading
from contextlib import suppress

from ohash.engine.live.presets import PRESETS
from ohash.engine.live.runner import lower_priority
from ohash.engine.run import Run
from ohash.engine.tasks import run
from ohash.runtime import kernel_cache
from ohash.runtime.pool import name_of
from ohash.runtime.worker import TaskError, Worker, WorkerDiedError

FEW_PAIRS = 300
_one_at_a_time = threading.Lock()
_ready = False


def warm_up() -> None:
    """Run the first preset for a few pairs and drop it; what is wrong with it, its own run says.

    Where kernels have to be compiled first, that starts in the background.
    """
    if kernel_cache.is_cold():
        threading.Thread(target=_compile_in_background, name="ohash-compiling", daemon=True).start()
        return
    with suppress(OSError, ValueError):
        run = Run(PRESETS[0].params())
        while run.t < FEW_PAIRS:
            run.step(FEW_PAIRS)


def compile_in_worker() -> None:
    """Wait until another process has run the first preset for a few pairs, unless compiled kernels are kept already.

    If it cannot, they are compiled here.
    """
    global _ready  # noqa: PLW0603
    with _one_at_a_time:
        if _ready:
            return
        _ready = True
        if not kernel_cache.is_cold():
            return
        params = PRESETS[0].params().with_values(pairs=FEW_PAIRS)
        with suppress(OSError, ValueError, TaskError, WorkerDiedError), Worker() as worker:
            worker.call(name_of(run), {"params": params.to_json()})


def _compile_in_background() -> None:
    lower_priority()  # the other process inherits it
    compile_in_worker()
