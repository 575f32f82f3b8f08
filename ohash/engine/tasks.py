"""A whole run as a task: plain values and arrays in, plain values and arrays out.

The same function runs in this process, in a worker (`ohash.runtime.pool`) and on a cluster, with the same result.
"""

import time
from functools import cache

import numpy as np

from ohash.engine.judge import CLICKS
from ohash.engine.params import QUERIES, from_json
from ohash.engine.run import CHUNK, Run
from ohash.engine.snapshot import to_frame
from ohash.runtime.frames import Arrays, Frame, JsonObject, Report, shared
from ohash.runtime.threads import one_blas_thread
from ohash.streams.dataset import Dataset, dataset_from_frame

REPORT_SECONDS = 0.1


def run(values: JsonObject, arrays: Arrays, report: Report | None = None) -> Frame:
    """Run an experiment: progress, then everything a store keeps (`record`), with the average precision of each query.

    values: params (the text of `ExperimentParams.to_json`), and data: the key of a dataset that was shared before. The
    final codes are judged on both kinds of queries: "scores/validation", "scores/test", "ap/validation",
    "ap/test"; of clicks "hits/test" are hit@10 of the same queries as the last; "queries/test" are their rows.
    """
    begun, cpu = time.perf_counter(), time.process_time()
    with one_blas_thread():
        current = Run(from_json(values["params"]), _dataset(values["data"]) if values.get("data") else None)
        reported = -np.inf
        while not current.done:
            current.step(CHUNK)
            if report is not None and time.monotonic() - reported >= REPORT_SECONDS:
                reported = time.monotonic()
                report(_progress_numbers(current))
        judged = {part: current.checkpoints.evaluate_on(part) for part in QUERIES}
    more: JsonObject = {f"scores/{part}": one.scores for part, one in judged.items()}
    more |= {
        "seconds": time.perf_counter() - begun,
        "cpu_seconds": time.process_time() - cpu,
        "fingerprint": current.world.dataset.fingerprint(),
    }
    more["state_bytes"] = sum(array.nbytes for array in current.hasher.state()[1].values())
    kept = {f"ap/{part}": one.ap for part, one in judged.items()}
    if current.checkpoints.judge.name in CLICKS:
        kept["hits/test"] = judged["test"].hits
    return to_frame(current.snapshot("done"), more, {**kept, "queries/test": judged["test"].queries})


def run_with_data(values: JsonObject, data: Frame) -> Frame:
    """`run` with its data beside it: for a cluster, where each worker keeps them once."""
    shared.setdefault(values["data"], data)
    return run(values, {})


@cache
def _dataset(key: str) -> Dataset:
    """A dataset that was shared with this process."""
    return dataset_from_frame(*shared[key])


def _progress_numbers(current: Run) -> JsonObject:
    scores = (
        {name: float(current.checkpoints.scores[name][-1]) for name in ("map", "recall_10")}
        if len(current.checkpoints.scores)
        else {}
    )
    return {"t": current.t, "end": current.end, "share": current.t / max(1, current.end), **scores}
