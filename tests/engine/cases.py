"""Experiments of every kind, small."""

from functools import cache

from ohash.engine.params import Change
from tests.engine.runs import small, straight

CHANGES = (Change(0, "C", 0.05), Change(137, "beta", 0.9), Change(400, "C", 0.2), Change(400, "beta", 0.6))
CASES = {
    "plain": {},
    "changes": {"changes": CHANGES},
    "mmoh": {"method": "mmoh", "T": 2, "changes": CHANGES},
    "lsh": {"method": "lsh"},
    "float64": {"dtype": "float64"},
    "rounds, largest": {"rounds": 3, "select": "largest"},
    "no centring": {"center": "none"},
    "running mean": {"center": "running"},
    "forgetting mean": {"center": "ema", "ema": 0.05, "method": "mmoh", "T": 2},
    "every": {"reencode": "every", "reencode_every": 45},
    "never": {"reencode": "never", "center": "running"},
    "seen": {"database": "seen"},
    "seen, every": {"database": "seen", "reencode": "every", "reencode_every": 100, "method": "mmoh", "T": 2},
    "disjoint": {"train": "disjoint", "judged_by": "test"},
    "class": {"order": "class", "period": 150, "similar_share": 0.5},
    "time": {"order": "time", "noise": 0.1},
    "once": {"order": "once", "similar_share": 0.5},
    "metric": {"similar_by": "metric"},
    "rotate": {"drift": "rotate", "drift_at": 300},
    "rotate slowly": {"drift": "rotate-slowly", "drift_at": 200, "reencode": "every", "reencode_every": 77},
    "rotate, never": {"drift": "rotate", "drift_at": 333, "reencode": "never"},
    "translate": {"drift": "translate", "drift_at": 350, "method": "mmoh", "T": 2},
    "prior": {"drift": "prior", "drift_at": 250},
    "redefine": {"drift": "redefine", "drift_at": 250, "changes": (Change(250, "beta", 0.3),)},
    "codes without half-spaces": {"method": "klsh", "p": 24, "t": 8, "drift": "rotate", "drift_at": 300},
}  # fmt: skip
OWN = ("labels", "clicks", "pairs", "multi", "metric")


def case(name):
    values = dict(CASES[name])
    return small(values.pop("method", "oh"), **values)


@cache
def finished_run(name):
    """The run of a case with few checkpoints, driven straight to its end: shared, so only to be compared with."""
    return straight(case(name))
