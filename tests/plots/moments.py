"""Real pictures of small runs, once for all tests of the charts."""

from dataclasses import replace
from functools import cache

import numpy as np

from ohash.engine.params import Change, experiment
from ohash.engine.run import Run, run
from ohash.engine.snapshot import Snapshot

RUNS = {
    "oh": experiment("digits", "oh", pairs=1500),
    "mmoh": experiment("digits", "mmoh", pairs=200, T=3, r=24),
    "lsh": experiment("digits", "lsh", pairs=120),
    "drift": experiment("digits", "oh", pairs=140, drift="rotate", drift_at=120),
    "slowly": experiment("digits", "oh", pairs=120, drift="rotate-slowly", drift_at=50, database="seen"),
    "changes": experiment(
        "digits",
        "oh",
        pairs=150,
        changes=(Change(0, "C", 0.01), Change(110, "C", 0.0005), Change(130, "beta", 0.3), Change(130, "C", 1.0)),
    ),
    "never": experiment("digits", "oh", pairs=150, reencode="never"),
}
STARTS = ("oh", "mmoh", "lsh")


@cache
def picture(name: str) -> Snapshot:
    if name.startswith("start:"):
        return Run(RUNS[name.removeprefix("start:")]).snapshot("running")
    if name == "long":
        return _long(picture("oh"))
    if name == "gaps":
        return _gaps(picture("oh"))
    *_, now = run(RUNS[name])
    return now


def _long(now: Snapshot) -> Snapshot:
    """As after a million pairs: the largest history that is kept, and a long code."""
    pairs = np.unique(np.r_[1, np.linspace(1024, 1_000_000, 1000).astype(int), np.geomspace(1, 1024, 60).astype(int)])
    rng = np.random.default_rng(0)
    columns = {name: np.cumsum(rng.random(len(pairs))) / len(pairs) for name in now.columns}
    hills = {
        name: rng.integers(0, 50, 1025) for name in ("similar", "dissimilar", "similar_frozen", "dissimilar_frozen")
    }
    recent = {**now.recent, **hills, "ratio": rng.integers(0, 30, 240)}
    return replace(now, t=1_000_000, columns={**columns, "pairs": pairs.astype(float)}, recent=recent)


def _gaps(now: Snapshot) -> Snapshot:
    """With holes, nothing positive, and infinities where a run may have them."""
    columns = {name: column.copy() for name, column in now.columns.items()}
    checkpoints = {name: column.copy() for name, column in now.checkpoints.items()}
    for table in (columns, checkpoints):
        for name, column in table.items():
            if name != "pairs":
                column[1::3] = np.nan
                column[2::7] = np.inf
                column[4::9] = 0.0
    return replace(now, columns=columns, checkpoints=checkpoints)


EVERY = (*RUNS, *(f"start:{name}" for name in STARTS), "long", "gaps")
