"""Dip, recovery, forgetting and detection, by hand."""

import numpy as np
import pytest

from ohash.evaluation.drift_metrics import detection, dip, forgetting, level_before, recovery, stale_gap

PAIRS = [0, 100, 200, 300, 400, 500, 600]
VALUES = [0.2, 0.7, 0.8, 0.9, 0.5, 0.7, 0.78]  # the world changes at pair 400


def test_the_level_is_the_mean_of_the_last_three_before():
    assert level_before(PAIRS, VALUES, 400) == pytest.approx(0.8)
    assert level_before(PAIRS, VALUES, 401, last=1) == 0.5
    assert level_before(PAIRS, VALUES, 101) == pytest.approx(0.45)  # there are only two
    assert np.isnan(level_before(PAIRS, VALUES, 0))


def test_a_dip_and_its_recovery():
    assert dip(PAIRS, VALUES, 400) == pytest.approx(0.3)
    assert recovery(PAIRS, VALUES, 400) == 200  # 0.78 >= 0.95 * 0.8 = 0.76
    assert recovery(PAIRS, VALUES, 350) == 250  # counted from the drift, not from the checkpoint after it
    assert recovery(PAIRS, VALUES, 400, share=0.85) == 100
    assert np.isnan(recovery(PAIRS, VALUES, 400, share=0.99))


def test_a_slow_drift_falls_late_and_recovers_after_its_minimum():
    values = [0.8, 0.8, 0.8, 0.79, 0.4, 0.3, 0.8]
    assert recovery(PAIRS, values, 300) == 300
    assert np.isnan(recovery(PAIRS[:-1], values[:-1], 300))


def test_no_fall_no_dip():
    values = [0.5, 0.6, 0.7, 0.8, 0.9, 0.9, 0.9]
    assert dip(PAIRS, values, 300) < 0
    assert recovery(PAIRS, values, 300) == 0


def test_missing_values_are_left_out_and_nothing_is_nan():
    values = [np.nan, 0.7, 0.8, 0.9, np.nan, 0.5, 0.78]
    assert dip(PAIRS, values, 400) == pytest.approx(0.3)
    assert recovery(PAIRS, values, 400) == 200
    for at in (0, 700):
        assert np.isnan(dip(PAIRS, values, at)) and np.isnan(recovery(PAIRS, values, at))


def test_forgetting_against_the_definition():
    rng = np.random.default_rng(0)
    y = rng.random((7, 4))
    y[:3, 1] = np.nan  # a class that arrives later
    measured = forgetting(y)
    for t in range(7):
        for c in range(4):
            expected = np.nan if np.isnan(y[t, c]) else np.nanmax(y[: t + 1, c]) - y[t, c]
            assert measured[t, c] == pytest.approx(expected, nan_ok=True)
    assert forgetting(np.empty((0, 3))).shape == (0, 3)


def test_gap():
    assert stale_gap([0.9, 0.5], [0.6, 0.5]) == pytest.approx([0.3, 0])


def test_detection_counts_echoes_as_neither():
    measured = detection([900, 100, 1010, 1200, 3000], at=1000, stop=4000, horizon=500)
    assert (measured.delay, measured.false_alarms, measured.quiet_pairs) == (10, 3, 3500)
    assert detection([999], at=1000, stop=2000).false_alarms == 1
    assert np.isnan(detection([999], at=1000, stop=2000).delay)
    assert detection([1000], at=1000, stop=2000).delay == 0
    assert detection([], at=None, stop=0).false_alarms == 0
    assert detection([50], at=1000, stop=100).quiet_pairs == 100  # the drift never came


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dip([1, 2], [1.0], 1), "pairs and values must be vectors of one length"),
        (lambda: forgetting([1.0]), r"class_map must have shape \(checkpoints, classes\)"),
        (lambda: stale_gap([1.0], [1.0, 2.0]), "must be equally long"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
