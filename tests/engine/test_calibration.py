"""What a correct implementation reaches on digits: PAPER_NOTES sections 3 and 5, lower bounds over several seeds."""

import numpy as np
import pytest

from ohash.engine.params import experiment
from ohash.engine.run import Run
from tests.engine.runs import finish

PLAIN = {"center_input": False, "sigma": 1.0, "m": 300, "beta": 0.5, "C": 0.1, "pairs": 5000, "judged_by": "test"}
LAST = 4  # snapshots that are averaged: one run swings by 0.02 between snapshots


def curves(seeds, **values):
    """(start, end) of the mean mAP over seeds; the end over the last snapshots as well."""
    runs = [finish(Run(experiment("digits", "oh", seed=seed, **values)), [1000]) for seed in seeds]
    maps = np.array([run.checkpoints.scores["map"] for run in runs])
    return maps[:, 0].mean(), maps[:, -LAST:].mean()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("r", "share", "start", "end"),
    [(32, -1.0, 0.521, 0.696), (32, 0.5, 0.521, 0.737), (64, -1.0, 0.578, 0.733), (64, 0.5, 0.578, 0.776)],
)
def test_plain_unit_norm(r, share, start, end):
    first, last = curves(range(5), r=r, similar_share=share, **PLAIN)
    assert first == pytest.approx(start, abs=0.05)
    assert last >= end - 0.04
    assert last <= end + 0.08  # far above the notes: then something is leaking


@pytest.mark.slow
def test_input_centring_is_worth_a_tenth():
    values = {**PLAIN, "center_input": True, "r": 48, "similar_share": 0.5}
    first, last = curves(range(5), **values)
    assert first == pytest.approx(0.593, abs=0.05)  # LSH on the same features
    assert last >= 0.843 - 0.04


@pytest.mark.slow
def test_one_seed_of_the_default_setting():
    first, last = curves([0], **{**PLAIN, "center_input": True, "r": 48, "similar_share": 0.5})
    assert last >= 0.843 - 0.06 and last > first + 0.15
