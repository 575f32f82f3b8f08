"""A recorded run: what plays on the landing page while the kernels of the live run are still compiling.

A history is cumulative, so the frame at pair count t is the part of the final columns up to t; only the histograms of
the recent pairs are stored frame by frame.
"""

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Array
from ohash.engine.live.pace import accelerated_pairs
from ohash.engine.moments import rows_until
from ohash.engine.params import ExperimentParams, from_json
from ohash.engine.run import Run
from ohash.engine.snapshot import Snapshot
from ohash.runtime.files import read_archive, write_archive
from ohash.runtime.frames import Arrays

FORMAT = 1
FRAMES = 60
RECENT = ("similar", "dissimilar", "ratio", "outcome")


def record(params: ExperimentParams, path: str | Path, pairs: int = 30_000) -> None:
    """Run `params` for some pairs and write what a viewer needs."""
    run = Run(params)
    stops = np.unique(np.geomspace(50, pairs, FRAMES).astype(int))
    recent: dict[str, list[Array]] = {name: [] for name in RECENT}
    for stop in stops:
        while run.t < stop or run.evaluating:
            run.step(int(stop) - run.t)
        for name in RECENT:
            recent[name].append(run.observer.recent[name])
    now = run.snapshot("running")
    header = {
        "format": FORMAT,
        "what": "recording",
        "params": params.to_json(),
        "numbers": {k: v for k, v in now.numbers.items() if np.isfinite(v)},
        "similar_by": now.similar_by,
        "notes": list(now.notes),
    }
    arrays: Arrays = {"stops": stops.astype(np.int64)}
    arrays |= {f"columns/{name}": column.astype(np.float32) for name, column in now.columns.items()}
    arrays |= {f"checkpoints/{name}": column.astype(np.float32) for name, column in now.checkpoints.items()}
    arrays |= {f"recent/{name}": np.array(frames).astype(np.int16) for name, frames in recent.items()}
    write_archive(path, header, arrays)


class Recording:
    """Frames of a recorded run, by the time since it began to play."""

    def __init__(self, path: str | Path) -> None:
        """Read the file."""
        header, arrays = read_archive(path, "recording", FORMAT)
        self.params = from_json(header["params"])
        self.stops = arrays["stops"]
        self._header = header
        self._groups: dict[str, Arrays] = {"columns": {}, "checkpoints": {}, "recent": {}}
        for name, array in arrays.items():
            group, _, key = name.partition("/")
            if group in self._groups:
                self._groups[group][key] = array

    def pairs(self, seconds: float) -> int:
        """How far it is after some seconds: it plays at the accelerating pace, and stands at its end."""
        return min(accelerated_pairs(seconds), int(self.stops[-1]))

    def frame(self, seconds: float) -> Snapshot:
        """The run as it looked then, or at first as at the first stop."""
        at = max(0, int(np.searchsorted(self.stops, self.pairs(seconds), side="right")) - 1)
        t = int(self.stops[at])
        columns = _floats_until(self._groups["columns"], t)
        checkpoints = _floats_until(self._groups["checkpoints"], t)
        numbers = dict(self._header["numbers"])
        numbers |= {k: float(v[-1]) for k, v in {**columns, **checkpoints}.items() if len(v) and np.isfinite(v[-1])}
        numbers["end"] = float(self.stops[-1])
        recent = {name: frames[at].astype(np.int64) for name, frames in self._groups["recent"].items()}
        return Snapshot(
            t=t,
            state="recording",
            params=self.params,
            columns=columns,
            checkpoints=checkpoints,
            recent={**recent, "tau": recent["ratio"]},
            totals={"ratio": recent["ratio"], "tau": recent["ratio"]},
            bit_updates=np.zeros((1, int(numbers["bits"])), np.int64),
            selections=np.zeros(0, np.int64),
            numbers=numbers,
            similar_by=self._header["similar_by"],
            database_seen=True,
            notes=tuple(self._header["notes"]),
        )


def _floats_until(columns: Arrays, t: int) -> dict[str, npt.NDArray[np.float64]]:
    return {name: column.astype(np.float64) for name, column in rows_until(columns, t).items()}


def describe(path: str | Path) -> str:
    """One line about a recording, for the command that made it."""
    recording = Recording(path)
    size = Path(path).stat().st_size
    return f"{path}: {recording.stops[-1]:,} pairs of {json.dumps(recording.params.to_query())}, {size / 1e3:.0f} kB"
