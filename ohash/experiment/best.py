"""The best of a sweep, chosen honestly: on validation queries, and reported once on test queries.

Once is when every cell it competes with has ended: a test score seen earlier could decide when to stop.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from ohash.evaluation.significance import Difference, over_seeds
from ohash.experiment.params import OWN
from ohash.experiment.results import Point, points
from ohash.experiment.store import Store
from ohash.experiment.sweep import Sweep
from ohash.models.registry import find


@dataclass(frozen=True)
class Best:
    """The best point by its validation mAP, and what it reaches on the test queries; `lost` are damaged runs of it."""

    point: Point
    validation: float
    test: Difference | None = None
    test_sd: float = math.nan
    queries: int = 0
    seeds: int = 0
    waiting: int = 0
    lost: tuple[str, ...] = ()
    among: str = ""

    @property
    def asked(self) -> str:
        """How many queries of how many seeds."""
        return f"{self.queries:,} test queries" + (f" of each of {self.seeds} seeds" if self.seeds > 1 else "")

    @property
    def reported(self) -> str:
        """What is said of the test queries."""
        if self.waiting:
            left = "cell that is left has" if self.waiting == 1 else f"{self.waiting:,} cells that are left have"
            return f"the test queries are asked once, when the {left} ended"
        if self.test is None:
            return f"what it reaches on the test queries is lost; {self.remedy}"
        spread = f", ± {self.test_sd:.3f} over seeds" if math.isfinite(self.test_sd) else ""
        rest = f"; {self.remedy}" if self.lost else ""
        interval = f"95 % interval {self.test.low:.3f} to {self.test.high:.3f}"
        return f"on {self.asked} mAP {self.test.difference:.3f}, {interval}{spread}{rest}"

    @property
    def remedy(self) -> str:
        """How to get back what is lost."""
        keys = " ".join(self.lost)
        return f"the curves of {keys} are lost: `python3 -m ohash runs delete {keys}`, then the sweep again"


def bests(sweep: Sweep, store: Store, found: list[Point] | None = None) -> list[Best]:
    """The best point of each dataset, truth and supervision: across these a mAP means nothing."""
    groups: dict[str, list[Point]] = {}
    for point in points(sweep, store) if found is None else found:
        groups.setdefault(_among(point), []).append(point)
    chosen = [(among, best(store, group)) for among, group in groups.items()]
    return [replace(one, among=among if len(groups) > 1 else "") for among, one in chosen if one is not None]


def best(store: Store, found: list[Point]) -> Best | None:
    """The best point, or None before any is finished; points without all their seeds do not compete with whole ones."""
    most = max((len(point.numbers) for point in found), default=0)
    whole = [point for point in found if len(point.numbers) == most and np.isfinite(point.mean())]
    if not whole:
        return None
    chosen = max(whole, key=lambda point: point.mean())
    waiting = sum(point.waiting for point in found)
    return Best(chosen, chosen.mean(), waiting=waiting) if waiting else _reported(store, chosen)


def _reported(store: Store, chosen: Point) -> Best:
    done = store.done()
    frames = {cell.key: store.frame(cell.key)[1] for cell in chosen.cells if cell.key in done}
    each = [arrays["ap/test"] for arrays in frames.values() if "ap/test" in arrays]
    lost = tuple(key for key, arrays in frames.items() if "ap/test" not in arrays)
    each = [ap for ap in each if np.isfinite(ap).any()]
    if not each:
        return Best(chosen, chosen.mean(), lost=lost)
    means = [float(np.nanmean(ap)) for ap in each]
    sd = float(np.std(means, ddof=1)) if len(means) > 1 else math.nan
    queries = int(np.isfinite(np.concatenate(each)).sum()) // len(each)
    test = over_seeds(each, [np.zeros_like(ap) for ap in each])
    return Best(chosen, chosen.mean(), test, sd, queries, len(each), lost=lost)


def _among(point: Point) -> str:
    params = point.cells[0].params
    truth = "" if params.stream.similar_by == "auto" else f" by {params.stream.similar_by}"
    data = "your data" if params.dataset == OWN else params.dataset
    return f"{data}{truth}, learning from {find(params.method).supervision.replace('none', 'nothing')}"
