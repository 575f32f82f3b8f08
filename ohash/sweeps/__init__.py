"""Grids of experiments: described, estimated, run in processes or on a cluster, and summarised.

`sweep` describes a grid and writes it as code, `specification` reads and checks one, `halving` stops poor settings
early, `estimate` measures its cost, `execution` runs it by one of the `executors`, with `leases` so that several
processes share the work; `results` reads points and the best of them from the store. `saving` is what a store keeps
besides runs, `launch` starts sweeps in separate processes.
"""

from typing import TYPE_CHECKING

from ohash.runtime import lazy

if TYPE_CHECKING:
    from ohash.sweeps.execution import SweepExecution
    from ohash.sweeps.results import BestPoint, Point, SweepResults, best_points, collect_points
    from ohash.sweeps.specification import build_sweep, read_sweep
    from ohash.sweeps.sweep import Cell, Sweep

__all__ = [
    "BestPoint", "Cell", "Point", "Sweep", "SweepExecution", "SweepResults", "best_points", "build_sweep",
    "collect_points", "read_sweep",
]  # fmt: skip

# The function `execution.sweep` is not among them: `ohash.sweeps.sweep` is a module. Users call `ohash.sweep`.
__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "execution": ("SweepExecution",),
        "results": ("BestPoint", "Point", "SweepResults", "best_points", "collect_points"),
        "specification": ("build_sweep", "read_sweep"),
        "sweep": ("Cell", "Sweep"),
    },
)
