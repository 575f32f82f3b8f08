"""A run on disk: saved in the middle and resumed, it equals an undisturbed one bit for bit (CPU seconds apart).

One .npz without pickle, written atomically: parameters and counters as JSON, everything else as arrays.
`RunCopy` is the same in memory, for a second run that goes on from where the first one is.
"""

from pathlib import Path

from ohash.engine.fitting import Fitter
from ohash.engine.history import History
from ohash.engine.params import from_json
from ohash.engine.run import Run
from ohash.runtime.files import read_archive, write_archive
from ohash.runtime.frames import Arrays, JsonObject
from ohash.streams.dataset import Dataset

FORMAT = 2


def save(run: Run, path: str | Path) -> None:
    """Write a run; an evaluation that is under way is finished first."""
    header, parts = _state(run)
    flat = {f"{part}/{name}": array for part, group in parts.items() for name, array in group.items()}
    write_archive(path, header, flat)


class RunCopy:
    """All that a run has learnt so far, whatever becomes of it; an evaluation that is under way is finished first."""

    def __init__(self, run: Run) -> None:
        """Quick but for that evaluation, so that the run can go on."""
        header, parts = _state(run)
        self._header, self._params, self._judge = header, run.params, run.judge_checkpoints
        self._parts = {part: {name: array.copy() for name, array in group.items()} for part, group in parts.items()}
        self._world, self._states = run.world, dict(run.kept_states.states)

    def run(self, fitter: Fitter | None = None) -> Run:
        """A run that goes on from there, in the same world. Once: it changes the arrays kept here."""
        run = Run(self._params, judge=self._judge, fitter=fitter, world=self._world)
        _restore(run, self._header, self._parts)
        run.kept_states.states |= self._states
        return run


def _state(run: Run) -> tuple[JsonObject, dict[str, Arrays]]:
    while run.evaluating:
        run.wait(0.05)
        run.step(1)
    hasher, arrays = run.hasher.state()
    observer, first = run.observer, run.checkpoints.change_errors.first or {}
    header = {
        "format": FORMAT,
        "what": "run",
        "params": run.params.to_json(),
        "fingerprint": run.world.dataset.fingerprint(),
        "t": run.t,
        "hasher": hasher,
        "columns": observer.columns.state()[0],
        "judged": run.checkpoints.scores.state()[0],
        "seconds": run.clock.seconds,
        "recomputed": run.checkpoints.recomputed,
        "flipped": run.checkpoints.flipped,
        "table_at": run.checkpoints.table_at,
        "map_float": run.checkpoints.map_float,
        "fitted": run.training_set.fitted,
        "stage": run.stage,
        "judge": run.judge_checkpoints,
        "first": sorted(first),
    }
    parts: dict[str, Arrays] = {
        "hasher": arrays,
        "observer": observer.state(),
        "watch": observer.drift_monitor.state(),
        "table": run.checkpoints.table.state(),
        "first": first,
        "run": {
            "columns": observer.columns.state()[1],
            "judged": run.checkpoints.scores.state()[1],
            "seen": run.seen,
            **({"came_in": run.training_set.stage} if run.stage else {}),
            "class_map": run.checkpoints.class_map,
            "bit_ones": run.checkpoints.bit_ones,
        },
    }
    return header, parts


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


def _restore(run: Run, header: JsonObject, parts: dict[str, Arrays]) -> None:
    run.t = header["t"]
    run.hasher = run.spec.restore(header["hasher"], parts.get("hasher", {}))
    d = getattr(run.hasher, "d", run.Z.shape[1])
    if d != run.Z.shape[1]:
        raise ValueError(f"its W must be for {run.Z.shape[1]} features, got {d}")
    if header.get("stage") and run.spec.consumes == "batch":  # older files do not say
        run.training_set.restore(parts["run"]["came_in"])
    run.resume(parts["table"])
    observer = run.observer
    observer.columns = History.from_state(header["columns"], parts["run"]["columns"])
    observer.restore(parts["observer"])
    observer.drift_monitor.restore(parts["watch"])
    run.checkpoints.scores = History.from_state(header["judged"], parts["run"]["judged"])
    run.seen[:] = parts["run"]["seen"]
    run.checkpoints.class_scores.restore(parts["run"]["class_map"])
    if len(run.checkpoints.scores):  # of which older files do not have the first scores
        run.checkpoints.change_errors.restore({name: parts["first"][name] for name in header.get("first", ())})
    run.checkpoints.table_at, run.checkpoints.map_float = header["table_at"], header["map_float"]
    run.checkpoints.bit_ones = parts["run"]["bit_ones"]
    fitted = header.get("fitted")  # older files do not say, or not all
    run.training_set.fitted = tuple(map(int, fitted)) if fitted is not None and len(fitted) == 3 else None
    run.clock.seconds = dict(header["seconds"])
    run.checkpoints.recomputed, run.checkpoints.flipped = header["recomputed"], header["flipped"]
