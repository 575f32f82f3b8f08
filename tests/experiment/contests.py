"""Small comparisons, and ways to drive them."""

from ohash.comparison.params import compare
from ohash.comparison.runner import Contest

SMALL = {"m": 32, "pairs": 400, "bits": 16, "sweep": False}


def small(methods=("oh", "itq", "sign"), **values):
    dataset = values.pop("dataset", "tiny")
    return compare(dataset, methods, **{**SMALL, **values})


def finished(comparison, dataset=None, seconds=120):
    """Drive a contest to its end in this thread's time."""
    contest = Contest(comparison, dataset)
    contest.start()
    assert contest.finished.wait(seconds)
    contest.stop()
    return contest
