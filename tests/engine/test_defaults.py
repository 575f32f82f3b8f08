"""The default experiment of a data set shows learning: mAP rises beyond what the queries leave open."""

import pytest

from ohash.engine.params import experiment
from ohash.engine.run import Run
from ohash.evaluation.significance import paired_bootstrap

SHOWN = ("rings", "moons", "digits", "fashion")


@pytest.mark.parametrize("dataset", SHOWN)
def test_the_default_learns(dataset):
    run = Run(experiment(dataset, pairs=3_000, judged_at="ends"))
    records = []
    while not run.done:
        run.step(3_000)
        record = run.checkpoints.last_record
        if record is not None and all(record is not one for one in records):
            records.append(record)
    gain = paired_bootstrap(records[-1].ap, records[0].ap)
    assert gain.low > 0, f"mAP {records[0].map:.3f} -> {records[-1].map:.3f}"


def test_points_in_the_plane_keep_their_length():
    assert not experiment("rings").features.normalize and not experiment("moons", "itq").features.normalize
    assert experiment("digits").features.normalize and "normalize" not in experiment("rings").to_query()
