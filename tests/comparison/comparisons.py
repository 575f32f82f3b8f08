"""Small comparisons, and ways to drive them."""

from ohash.comparison.params import build_comparison
from ohash.comparison.runner import ComparisonRunner

SMALL = {"m": 32, "pairs": 400, "bits": 16, "sweep": False}


def small(methods=("oh", "itq", "sign"), **values):
    dataset = values.pop("dataset", "tiny")
    return build_comparison(dataset, methods, **{**SMALL, **values})


def finished(comparison, dataset=None, seconds=120):
    """Drive a contest to its end in this thread's time."""
    runner = ComparisonRunner(comparison, dataset)
    runner.start()
    assert runner.finished.wait(seconds)
    runner.stop()
    return runner
