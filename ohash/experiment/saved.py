"""A run on disk: saved in the middle and resumed, it equals an undisturbed one bit for bit (CPU seconds apart).

One .npz without pickle, written atomically: parameters and counters as JSON, everything else as arrays.
"""

from pathlib import Path
from typing import Any

import numpy.typing as npt

from ohash.core.archive import read_archive, write_archive
from ohash.experiment.fitting import Fitter
from ohash.experiment.history import History
from ohash.experiment.params import from_json
from ohash.experiment.run import Run
from ohash.streams.base import Dataset

FORMAT = 2
Arrays = dict[str, npt.NDArray[Any]]


def save(run: Run, path: str | Path) -> None:
    """Write a run; an evaluation that is under way is finished first."""
    while run.evaluating:
        run.wait(0.05)
        run.step(1)
    hasher, arrays = run.hasher.state()
    observer = run.history
    header = {
        "format": FORMAT,
        "what": "run",
        "params": run.params.to_json(),
        "fingerprint": run.world.dataset.fingerprint(),
        "t": run.t,
        "hasher": hasher,
        "columns": observer.columns.state()[0],
        "judged": run.appraisal.judged.state()[0],
        "seconds": run.clock.seconds,
        "recomputed": run.appraisal.recomputed,
        "flipped": run.appraisal.flipped,
        "table_at": run.appraisal.table_at,
        "map_float": run.appraisal.map_float,
        "fitted": run.fitting.fitted,
        "stage": run.stage,
        "judge": run.judge_checkpoints,
    }
    parts: dict[str, Arrays] = {
        "hasher": arrays,
        "observer": observer.state(),
        "watch": observer.watch.state(),
        "table": run.appraisal.table.state(),
        "run": {
            "columns": observer.columns.state()[1],
            "judged": run.appraisal.judged.state()[1],
            "seen": run.seen,
            **({"came_in": run.arrivals.stage} if run.stage else {}),
            "class_map": run.appraisal.class_map,
            "bit_ones": run.appraisal.bit_ones,
        },
    }
    flat = {f"{part}/{name}": array for part, group in parts.items() for name, array in group.items()}
    write_archive(path, header, flat)


def load(path: str | Path, dataset: Dataset | None = None, *, fitter: Fitter | None = None) -> Run:
    """A run as it was saved; `dataset` is needed again if the run was on data of your own."""
    header, flat = read_archive(path, "run", FORMAT)
    parts: dict[str, Arrays] = {}
    for name, array in flat.items():
        part, _, key = name.partition("/")
        parts.setdefault(part, {})[key] = array
    try:
        params, judge = from_json(header["params"]), bool(header["judge"])
    except Exception as error:
        raise ValueError(f"path must be a sound run, got {path}, whose parameters are damaged ({error!r})") from error
    run = Run(params, dataset, judge=judge, fitter=fitter)
    if run.world.dataset.fingerprint() != header["fingerprint"]:
        raise ValueError(
            f"{path} was saved on other data: it needs the dataset with fingerprint {header['fingerprint']}, got "
            f"{run.world.dataset.fingerprint()}"
        )
    try:
        _restore(run, header, parts)
    except Exception as error:
        raise ValueError(f"path must be a sound run, got {path}, which is damaged ({error!r})") from error
    return run


def _restore(run: Run, header: dict[str, Any], parts: dict[str, Arrays]) -> None:
    run.t = header["t"]
    run.hasher = run.spec.restore(header["hasher"], parts.get("hasher", {}))
    if getattr(run.hasher, "d", run.Z.shape[1]) != run.Z.shape[1]:
        raise ValueError(f"its W must be for {run.Z.shape[1]} features, got {run.hasher.d}")
    if header.get("stage") and run.spec.consumes == "batch":  # older files do not say
        run.arrivals.restore(parts["run"]["came_in"])
    run.rejoin(parts["table"])
    observer = run.history
    observer.columns = History.from_state(header["columns"], parts["run"]["columns"])
    observer.restore(parts["observer"])
    observer.watch.restore(parts["watch"])
    run.appraisal.judged = History.from_state(header["judged"], parts["run"]["judged"])
    run.seen[:] = parts["run"]["seen"]
    run.appraisal.class_scores.restore(parts["run"]["class_map"])
    run.appraisal.table_at, run.appraisal.map_float = header["table_at"], header["map_float"]
    run.appraisal.bit_ones = parts["run"]["bit_ones"]
    known = header.get("fitted")  # older files do not say, or not all
    run.fitting.fitted = tuple(map(int, known)) if known is not None and len(known) == 3 else None
    run.clock.seconds = dict(header["seconds"])
    run.appraisal.recomputed, run.appraisal.flipped = header["recomputed"], header["flipped"]
