"""Streams that drift, from the command line."""

from collections import deque

import pytest

from ohash.cli.drift import measure
from ohash.cli.main import main
from ohash.engine.params import experiment
from ohash.engine.run import run as snapshots
from ohash.evaluation.drift_metrics import dip


def test_a_drift_a_dataset_cannot_do_is_skipped_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--seeds", "1", "--pairs", "60"]
    assert main(["drift", "--datasets", "moons", "blobs2d", "--kinds", "redefine", *few]) == 0
    printed = capsys.readouterr().out
    assert "moons    redefine         skipped: drift='redefine' merges classes in pairs and needs 3" in printed
    assert "blobs2d  redefine         " in printed and "all runs together" in printed
    assert main(["drift", "--datasets", "moons", "--kinds", "redefine", *few]) == 2
    assert "all were skipped" in capsys.readouterr().err


@pytest.mark.slow
def test_a_drift_is_reported_and_one_that_never_comes_too(capsys: pytest.CaptureFixture[str]) -> None:
    drifting = ["run", "--r", "16", "--drift", "rotate", "--drift-at", "400", "--quiet"]
    assert main([*drifting, "--pairs", "900"]) == 0
    printed = capsys.readouterr().out
    assert (
        "drift at pair 400: mAP fell by" in printed
        and "detected it after" in printed
        and "never reached" not in printed
    )
    assert main([*drifting, "--pairs", "300"]) == 0
    printed = capsys.readouterr().out
    assert "the drift at pair 400 is never reached: the run ends at pair 300" in printed and "mAP fell" not in printed


def test_a_run_on_clicks_says_what_the_drift_did_to_hit_at_10(capsys):
    drift = ["--drift", "rotate", "--drift-at", "100", "--reencode", "never"]
    assert main(["run", "--dataset", "debian", "--r", "8", "--m", "20", "--pairs", "200", *drift]) == 0
    printed = capsys.readouterr().out
    assert "drift at pair 100: hit@10 fell by" in printed and "; stale codes cost " in printed and "mAP" not in printed


def test_drift_of_clicks_is_measured_by_hit_at_10():
    params = experiment("debian", "oh", pairs=600, drift="rotate", drift_at=300, r=16)
    (now,) = deque(snapshots(params), maxlen=1)
    row = measure([now], 300, now)
    assert row.dips == [dip(now.checkpoints["pairs"], now.checkpoints["hit_10"], 300)]
    assert not row.arriving and row.stale == 0, "every code was computed afresh, and there is no mAP"
