"""The default experiment of a data set shows learning: mAP rises beyond what the queries leave open."""

import numpy as np
import pytest

from ohash.engine import choosing_defaults
from ohash.engine.choosing_defaults import Trial, choose_defaults
from ohash.engine.params import experiment
from ohash.engine.run import Run
from ohash.evaluation.significance import paired_bootstrap
from ohash.streams.chosen_defaults import read_chosen_defaults
from ohash.streams.registry import datasets
from tests.selection import first

SHOWN = ("rings", "moons", "blobs2d", "blobs", "digits", "fashion", "patches", "words", "debian")
SLOWER = {"patches": 10_000, "words": 10_000, "debian": 10_000}  # pairs: few of their rows are alike


@pytest.mark.parametrize("dataset", first(SHOWN, 7))
def test_the_default_learns(dataset):
    run = Run(experiment(dataset, pairs=SLOWER.get(dataset, 3_000), judged_at="ends"))
    records = []
    while not run.done:
        run.step(3_000)
        record = run.checkpoints.last_record
        if record is not None and all(record is not one for one in records):
            records.append(record)
    gain = paired_bootstrap(records[-1].ap, records[0].ap)
    assert gain.low > 0, f"mAP {records[0].map:.3f} -> {records[-1].map:.3f}"


@pytest.mark.slow
@pytest.mark.parametrize("dataset", ["words", "digits"])
def test_the_default_learns_nearest_neighbours(dataset):
    """With as many similar pairs as dissimilar ones mAP falls on digits."""

    def ends(share):
        run = Run(experiment(dataset, pairs=30_000, similar_by="topk", similar_share=share, judged_at="ends"))
        first = None
        while not run.done:
            run.step(30_000)
            first = first or run.checkpoints.last_record
        return first.ap, run.checkpoints.last_record.ap

    start, end = ends("natural")
    assert paired_bootstrap(end, start).low > 0
    assert paired_bootstrap(end, ends(0.5)[1]).low > 0


def test_every_built_in_set_is_covered_and_says_why_it_starts_so():
    built_in = {key for key, spec in datasets().items() if spec.group in ("embedded", "synthetic")}
    assert built_in == set(SHOWN) == set(read_chosen_defaults())
    for key in built_in:
        assert " pairs, mean of 5 seeds on validation queries; " in datasets()[key].defaults_note


def test_what_was_chosen_is_the_default_of_oh_and_of_no_other_method():
    assert experiment("blobs").model.C == experiment("blobs", "mmoh").model.C == 0.3
    assert experiment("blobs", "okh_style").model.C == 0.1
    assert "C" not in experiment("blobs").to_query() and experiment("blobs", C=0.1).to_query()["C"] == "0.1"


def test_choosing_takes_only_what_gains_and_says_what_it_measured(monkeypatch):
    scores = {"rbf, unit": 0.5, "rbf, free": 0.52, "none, unit": 0.6, "none, free": 0.4}

    def try_values(dataset, values, seeds):
        name = f"{values['kernel']}, {'unit' if values['normalize'] else 'free'}"
        ap = np.full(50, scores[name] + (values["C"] == 0.3) * 0.01)
        noise = np.linspace(-0.05, 0.05, 50)
        capped = 1.0 if values["C"] < 0.3 else 0.0
        return Trial(values, (ap * 0 + 0.3,) * seeds, (ap + noise,) * seeds, capped)

    monkeypatch.setattr(choosing_defaults, "try_values", try_values)
    entry = choose_defaults("digits")
    assert entry["values"] == {"kernel": "none", "C": 0.3}  # free lengths gain 4 %; C = 0.3 because all was capped
    assert "mAP 0.300 -> 0.610" in entry["why"] and "with the usual values 0.300 -> 0.500" in entry["why"]


def test_points_in_the_plane_keep_their_length():
    assert not experiment("rings").features.normalize and not experiment("moons", "itq").features.normalize
    assert experiment("digits").features.normalize and "normalize" not in experiment("rings").to_query()
