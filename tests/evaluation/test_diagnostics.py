"""Diagnostics of codes, the bootstrap, and the table of metrics."""

import dataclasses

import numpy as np
import pytest

from ohash.core.codes import Codes, pack
from ohash.evaluation.code_table import Refresh
from ohash.evaluation.diagnostics import CodeDiagnostics, code_diagnostics
from ohash.evaluation.metric_descriptions import METRICS
from ohash.evaluation.ranking import Retrieval
from ohash.evaluation.significance import paired_bootstrap


def test_diagnostics_equal_numpy_on_the_unpacked_bits():
    rng = np.random.default_rng(0)
    bits = rng.random((2, 300, 11)) < np.linspace(0.1, 0.9, 11)
    bits[1, :, 3] = bits[1, :, 4]
    diagnostics = code_diagnostics(Codes(pack(bits), 11, 0))
    np.testing.assert_allclose(diagnostics.ones, bits.mean(axis=1))
    p = diagnostics.ones
    np.testing.assert_allclose(diagnostics.entropy, -p * np.log2(p) - (1 - p) * np.log2(1 - p))
    pairs = [np.abs(np.corrcoef(model.T))[np.triu_indices(11, 1)] for model in bits]
    assert diagnostics.correlation == pytest.approx(np.mean(pairs), abs=1e-5)
    assert diagnostics.balance == pytest.approx((1 - np.abs(2 * p - 1)).mean())
    assert diagnostics.distinct == len({row.tobytes() for row in bits.transpose(1, 0, 2)}) / 300
    assert diagnostics.constant == 0


def test_dead_codes_show():
    dead = code_diagnostics(np.zeros((50, 2), np.uint8), r=12)
    assert (dead.balance, dead.mean_entropy, dead.constant, dead.distinct) == (0, 0, 12, 1 / 50)
    assert np.isnan(dead.correlation)
    twins = code_diagnostics(np.tile(np.uint8([[0b00], [0b11]]), (20, 1)), r=2)
    assert (twins.balance, twins.mean_entropy, twins.distinct) == (1, 1, 2 / 40)
    assert twins.correlation == pytest.approx(1)


def test_correlation_may_be_taken_from_fewer_rows():
    codes = np.concatenate(
        [np.uint8([[0b00]]), np.tile(np.uint8([[0b01], [0b11], [0b10], [0b00]]), (20, 1)), np.uint8([[0b11]])]
    )
    assert code_diagnostics(codes, r=2).correlation < 0.03
    assert code_diagnostics(codes, r=2, correlation_rows=2).correlation == pytest.approx(1)


def test_the_bootstrap_pairs_queries_and_is_seeded():
    rng = np.random.default_rng(0)
    base = rng.random(400)
    better = base + 0.02 + rng.normal(0, 0.01, 400)
    interval = paired_bootstrap(better, base)
    assert interval == paired_bootstrap(better, base) != paired_bootstrap(better, base, seed=1)
    assert 0.018 < interval.low < interval.difference < interval.high < 0.022
    assert interval.difference == pytest.approx((better - base).mean())
    normal = 1.96 * (better - base).std() / 20
    assert interval.high - interval.low == pytest.approx(2 * normal, rel=0.1)
    wide, narrow = (paired_bootstrap(better, base, level=level) for level in (0.99, 0.5))
    assert wide.low < interval.low < narrow.low < narrow.high < interval.high < wide.high


@pytest.mark.parametrize("n", [1, 2, 37, 1500])
def test_the_bootstrap_is_resampling_written_out(n):
    """Bit for bit, so that recorded intervals do not depend on how SciPy batches its draws or interpolates."""
    a, b = np.random.default_rng(n).random((2, n))
    draws = np.random.default_rng(0).integers(0, n, (2000, n))
    low, high = np.quantile((a - b)[draws].mean(axis=1), [(1 - 0.95) / 2, (1 + 0.95) / 2])
    assert paired_bootstrap(a, b) == (float((a - b).mean()), float(low), float(high))


def test_the_bootstrap_leaves_excluded_queries_out_and_blocks_change_nothing(monkeypatch):
    a, b = np.array([0.5, np.nan, 1.0, 0.25]), np.array([0.25, 0.5, np.nan, 0.5])
    interval = paired_bootstrap(a, b)
    assert interval.difference == 0
    assert (interval.low, interval.high) == (-0.25, 0.25)
    monkeypatch.setattr("ohash.evaluation.significance.DRAWS_AT_ONCE", 7)
    assert paired_bootstrap(a, b) == interval


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paired_bootstrap([1.0], [1.0, 2.0]), r"ap_a and ap_b must be vectors over the same queries"),
        (lambda: paired_bootstrap([np.nan], [1.0]), r"ap_a and ap_b must share a scored query, got 1 queries"),
        (lambda: paired_bootstrap([1.0], [1.0], level=95), r"level must be a number in \(0, 1\), got 95"),
        (lambda: paired_bootstrap([1.0], [1.0], resamples=0), r"resamples must be an integer >= 1"),
        (lambda: code_diagnostics(np.zeros((3, 1))), r"codes must be packed codes"),
        (lambda: code_diagnostics(np.zeros((3, 1), np.uint8), r=9), r"r must be in \[1, 8\]"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_every_number_of_the_records_has_a_row_for_the_charts():
    shown = {field.name for kind in (Retrieval, CodeDiagnostics, Refresh) for field in dataclasses.fields(kind)}
    not_metrics = {"queries", "excluded", "radius", "curve", "ap", "hits", "n_relevant", "ones", "entropy", "constant"}
    per_query = {"precisions", "neighbour_recall"}
    assert shown - not_metrics - per_query - {"version", "columns"} <= set(METRICS)
    for key, metric in METRICS.items():
        assert metric.key == key and metric.help.endswith(".") and metric.lo < metric.hi
    assert {metric.truth for metric in METRICS.values()} == {"labels", "distance", "stream", "codes", "cost"}
