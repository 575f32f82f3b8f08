"""What a worker process can do: functions of plain values and arrays, by name.

Every task takes (values, arrays, report) and gives (values, arrays); `report` hears progress as plain values. The same
functions run in this process, in a worker (`ohash.worker`) and on a cluster, with the same result.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ohash.core.compiling import working_seconds
from ohash.core.frames import Arrays, Frame
from ohash.core.progress import listening
from ohash.core.threads import one_blas_thread
from ohash.experiment.arrivals import fit_to
from ohash.experiment.judged_on import judged_on
from ohash.experiment.params import QUERIES, from_json
from ohash.experiment.record import to_frame
from ohash.experiment.run import CHUNK, Run
from ohash.experiment.snapshot import take
from ohash.models import registry
from ohash.streams.base import Dataset
from ohash.streams.packed import dataset_from_frame

Report = Callable[[dict[str, Any]], None]
REPORT_SECONDS = 0.1
# Data that came with a task and not by name; a task then says "data": key.
_data: dict[str, Dataset] = {}


def nobody(values: dict[str, Any]) -> None:
    """A listener that does not listen."""


def fit(values: dict[str, Any], arrays: Arrays, report: Report = nobody) -> Frame:
    """Fit a batch method: from its parameters, or on from a saved state. Gives the state and CPU seconds.

    values: method, and params (a dict) or state (the plain values of `hasher.state()`); arrays: those of
    `arrivals.fit_to`, and those of the state as "state/...".
    """
    spec = registry.find(values["method"])
    if "state" in values:
        hasher: Any = spec.restore(values["state"], _group(arrays, "state"))
    else:
        hasher = spec.build(spec.params(**values.get("params", {})))
    if not hasattr(hasher, "fit"):
        raise ValueError(
            f"method must be one that is fitted at once (batch), got {spec.key}, which takes {spec.consumes}"
        )
    since = working_seconds()
    with one_blas_thread(), _shares(report):
        fit_to(hasher, arrays)
    state, learnt = hasher.state()
    return {"state": state, "seconds": working_seconds() - since}, {f"state/{k}": v for k, v in learnt.items()}


def run(values: dict[str, Any], arrays: Arrays, report: Report = nobody) -> Frame:
    """Run an experiment: progress, then everything a store keeps (`record`), with the average precision of each query.

    values: params (the text of `ExperimentParams.to_json`), and data: the key of a dataset that was shared before. The
    final codes are judged on both kinds of queries: "scores/validation", "scores/test", "ap/validation", "ap/test".
    """
    begun, cpu = time.perf_counter(), time.process_time()
    with one_blas_thread():
        going = Run(from_json(values["params"]), _data[values["data"]] if values.get("data") else None)
        told = -np.inf
        while not going.done:
            going.step(CHUNK)
            if time.monotonic() - told >= REPORT_SECONDS:
                told = time.monotonic()
                report(_so_far(going))
        judged = {part: judged_on(going, part) for part in QUERIES}
    more: dict[str, Any] = {f"scores/{part}": scores for part, (scores, _) in judged.items()}
    more |= {
        "seconds": time.perf_counter() - begun,
        "cpu_seconds": time.process_time() - cpu,
        "fingerprint": going.world.dataset.fingerprint(),
    }
    more["state_bytes"] = sum(array.nbytes for array in going.hasher.state()[1].values())
    return to_frame(take(going, "done"), more, {f"ap/{part}": ap for part, (_, ap) in judged.items()})


def run_with(values: dict[str, Any], data: Frame) -> Frame:
    """`run` where the data come along: on a cluster, which keeps them once a worker."""
    key = values["data"]
    if key not in _data:
        _data[key] = dataset_from_frame(*data)
    return run(values, {})


def share(values: dict[str, Any], arrays: Arrays, report: Report = nobody) -> Frame:
    """Keep a dataset (`ohash.streams.packed`) under values["key"] for the tasks to come."""
    _data[values["key"]] = dataset_from_frame(values["data"], arrays)
    return {}, {}


TASKS: dict[str, Callable[..., Frame]] = {"fit": fit, "run": run, "share": share}


def name_of(task: Any) -> str:
    """The name of a task function; a worker runs nothing else."""
    for name, function in TASKS.items():
        if function is task:
            return name
    raise ValueError(f"a worker runs only {', '.join(TASKS)} of ohash.experiment.tasks, got {task!r}")


def _group(arrays: Arrays, name: str) -> Arrays:
    return {key.partition("/")[2]: array for key, array in arrays.items() if key.startswith(f"{name}/")}


@contextmanager
def _shares(report: Report) -> Iterator[None]:
    """Report how far the loops inside are, a few times a second."""
    last = time.monotonic()

    def hear(share: float) -> None:
        nonlocal last
        if time.monotonic() - last >= REPORT_SECONDS:
            last = time.monotonic()
            report({"share": share})

    with listening(hear):
        yield


def _so_far(going: Run) -> dict[str, Any]:
    scores = (
        {name: float(going.appraisal.judged[name][-1]) for name in ("map", "recall_10")}
        if len(going.appraisal.judged)
        else {}
    )
    return {"t": going.t, "end": going.end, "share": going.t / max(1, going.end), **scores}
