"""How another process of ohash is started: with this very package, wherever it lies, and with its own threads."""

import os
from pathlib import Path

import ohash

# One thread each: processes, not threads, fill the cores.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)


def environment_of_child(*, one_thread: bool = False) -> dict[str, str]:
    """The environment, with the folder of the package first on the path."""
    here = str(Path(ohash.__file__).parents[1])
    path = os.pathsep.join([here, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))])
    return {**os.environ, **(ONE_THREAD if one_thread else {}), "PYTHONPATH": path}
