"""A sweep of four cells."""

from ohash.sweeps.specification import build_sweep

BASE = {"dataset": "tiny", "m": 16, "r": 8, "pairs": 120, "judged_at": "ends"}


def tiny_sweep(**more):
    return build_sweep(**{"base": BASE, "grid": {"beta": [0.25, 0.5]}, "seeds": 2, **more})
