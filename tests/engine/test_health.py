"""The health of runs made sick on purpose, and of runs that are well."""

import numpy as np
import pytest

from ohash.engine.params import experiment
from ohash.engine.run import Run
from ohash.engine.run_health import findings, health
from ohash.streams.dataset import Dataset


def finished(*given, dataset=None, **values):
    run = Run(experiment(*given, pairs=3_000, judged_at="ends", **values), dataset)
    while not run.done:
        run.step(3_000)
    return run.snapshot("done")


def complaints(now):
    return {finding.title: finding.advice for finding in findings(now) if not finding.fine}


@pytest.mark.parametrize("dataset", ["digits", "fashion", "moons", "rings", "blobs"])
def test_calm_when_all_is_well(dataset):
    for seed in range(2):
        now = finished(dataset, seed=seed)
        assert complaints(now) == {} and health(now) == "healthy"


def test_steps_that_are_all_capped_ask_for_a_larger_c():
    told = complaints(finished("digits", C=1e-5))
    assert told["updates capped by C"].startswith("raise C above 1e-05")


def test_noise_for_labels_is_noticed():
    rng = np.random.default_rng(0)
    noise = Dataset.from_arrays(rng.normal(size=(600, 16)).astype(np.float32), labels=rng.integers(0, 4, 600))
    now = finished(noise, dataset=noise)
    told = complaints(now)
    assert "pair-AUC of recent pairs" in told and "are the labels noisy" in told["pair-AUC of recent pairs"]
    assert "mAP of a random order" in told and health(now) == "ill"


def test_rings_at_unit_length_rank_like_chance():
    assert "unit length" in complaints(finished("rings", normalize=True))["mAP of a random order"]


def test_a_dead_kernel_is_noticed():
    with pytest.warns(UserWarning, match="dead"):
        assert complaints(finished("digits", sigma=0.01))["mean kernel value"] == "set σ to auto"


def test_nothing_is_said_of_learning_before_there_was_time():
    run = Run(experiment("digits", pairs=200, judged_at="ends", C=1e-5))
    run.step(200)
    assert health(run.snapshot("running")) == "early"
    assert {finding.title for finding in findings(run.snapshot("running"))} <= {
        "certificate gap", "C required by the bound", "degenerate pairs", "mean kernel value", "ties"
    }  # fmt: skip
