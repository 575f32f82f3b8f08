"""Columns of bounded size at fixed pair counts, and what is followed between them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from ohash.engine.checkpoints import checkpoint_pairs
from ohash.engine.history import CAPACITY, FIRST_STRIDE, History, LogBins, moving_mean
from ohash.engine.observer import TOTALS, WINDOW, Observer
from ohash.models.online.oh_params import PairTrace


def on_skeleton(t):
    """1 to 7, and of every octave its four quarters."""
    return t < 8 or t % (1 << (t.bit_length() - 3)) == 0


def filled(end, chunks):
    """Columns fed up to `end` in chunks; the value is the pair count itself."""
    columns = History(("value",))
    t, k = 0, 0
    while t < end:
        stop = min(end, t + chunks[k % len(chunks)])
        wanted = columns.counts_to_keep(t, stop)
        columns.extend(wanted, wanted[:, None].astype(float))
        t, k = stop, k + 1
    return columns


@pytest.mark.parametrize("end", [1, 7, 100, 8192, 8193, 50_000, 2_000_000])
def test_rows_are_bounded_and_lie_where_they_should(end):
    columns = filled(end, [max(1, end // 7)])
    pairs = columns["pairs"]
    assert len(pairs) <= CAPACITY + 256
    assert (np.diff(pairs) > 0).all() and np.array_equal(pairs, columns["value"])
    expected = [t for t in range(1, end + 1) if t % columns.stride == 0 or on_skeleton(t)] if end < 10**5 else None
    assert expected is None or pairs.tolist() == expected
    assert end < FIRST_STRIDE * CAPACITY or len(pairs) >= CAPACITY // 2


def test_the_skeleton_is_never_dropped():
    columns = filled(3_000_000, [500_000])
    kept = set(columns["pairs"].astype(int).tolist())
    assert columns.stride > 1024
    skeleton = [t for t in range(1, 3_000_000) if on_skeleton(t)]
    assert set(skeleton) <= kept
    assert {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 1024, 1280, 1536, 1792, 2048} <= kept
    assert all(sum(2**k <= t < 2 ** (k + 1) for t in skeleton) == 4 for k in range(2, 21))


@given(chunks=st.lists(st.integers(1, 5000), min_size=1, max_size=10))
@settings(deadline=None, max_examples=40)
def test_rows_do_not_depend_on_the_chunks(chunks):
    one, other = filled(40_000, [40_000]), filled(40_000, [max(50, size) for size in chunks])
    assert one.stride == other.stride
    assert np.array_equal(one._rows[: len(one)], other._rows[: len(other)])


@given(st.integers(0, 10**7), st.integers(0, 3000), st.integers(0, 10))
def test_counts_to_keep_are_all_multiples_of_the_stride_and_the_skeleton(start, length, doublings):
    columns = History(())
    columns.stride <<= doublings
    expected = [t for t in range(start + 1, start + length + 1) if t % columns.stride == 0 or on_skeleton(t)]
    assert columns.counts_to_keep(start, start + length).tolist() == expected


def test_a_column_cannot_be_written_and_a_snapshot_is_a_copy():
    columns = filled(100, [100])
    with pytest.raises(ValueError, match="read-only"):
        columns["value"][0] = 3
    snapshot = columns.snapshot()
    snapshot["value"][:] = 0
    assert columns["value"][0] == 1


def test_state_brings_columns_back():
    columns = filled(30_000, [999])
    again = History.from_state(*columns.state())
    assert again.names == columns.names and again.stride == columns.stride
    for t in (30_000, 60_000):
        for one in (columns, again):
            wanted = one.counts_to_keep(t, t + 30_000)
            one.extend(wanted, wanted[:, None].astype(float))
    assert np.array_equal(columns["value"], again["value"])


@given(st.floats(1e-12, 1e8))
def test_log_bins_hold_their_values(value):
    at = int(LogBins.index(np.array([value]))[0])
    edges = LogBins.edges()
    assert len(edges) == LogBins.count + 1
    inside = np.clip(value, edges[0], edges[-1])
    assert edges[at] * (1 - 1e-9) <= inside <= edges[at + 1] * (1 + 1e-9)
    assert edges[at] < LogBins.centre(np.array([float(at)]))[0] < edges[at + 1]


def test_log_bins_skip_what_is_not_positive():
    assert LogBins.index(np.array([0.0, -1.0, np.nan, 1e-30, 1e30])).tolist() == [-1, -1, -1, 0, LogBins.count - 1]
    assert np.isnan(LogBins.centre(np.array([np.nan]))[0])


def test_moving_mean_against_a_loop():
    rng = np.random.default_rng(0)
    values = np.where(rng.random(50) < 0.2, np.nan, rng.normal(size=50))
    values[:2] = np.nan
    means = moving_mean(values, 4)
    for at in range(50):
        some = values[max(0, at - 3) : at + 1]
        some = some[np.isfinite(some)]
        assert means[at] == pytest.approx(some.mean()) if len(some) else np.isnan(means[at])
    assert len(moving_mean(np.empty(0))) == 0


@given(st.integers(1, 10**9))
def test_checkpoints_begin_end_and_stay_few(pairs):
    checkpoints = checkpoint_pairs(pairs)
    assert checkpoints[0] == 0 and checkpoints[-1] == pairs and len(checkpoints) < 120
    assert (np.diff(checkpoints) > 0).all()
    if pairs >= 10_000:
        assert (np.diff(checkpoints)[-20:-1] <= pairs / 40 + 1).all()
        assert checkpoints[1:5] == [10, 21, 46, 100]


# -- the observer --------------------------------------------------------------------------------------------------

R_MAX = 12


def some_pairs(n, T, seed=0):
    rng = np.random.default_rng(seed)
    shape = (n,) if T is None else (n, T)
    ratio = np.where(rng.random(shape) < 0.4, 10 ** rng.uniform(-6, 2, shape), 0)
    tau = np.minimum(ratio, 0.1)
    trace = PairTrace(
        D_h=rng.integers(0, R_MAX + 1, shape), updated=tau > 0, R=rng.random(shape), loss=rng.random(shape),
        ratio=ratio, tau=tau, norm2=rng.random(shape), p0=rng.integers(0, 5, shape),
        degenerate=rng.random(shape) < 0.01,
    )  # fmt: skip
    s = np.where(rng.random(n) < 0.3, 1, -1).astype(np.int8)
    return s, trace, rng.integers(0, R_MAX + 1, n), rng.random(n), rng.random(n)


def part_of(pairs, start, stop):
    s, trace, *frozen = pairs
    columns = {name: column[start:stop] for name, column in trace.columns().items()}
    return s[start:stop], PairTrace(**columns), *(column[start:stop] for column in frozen)


def observed(pairs, cuts):
    observer = Observer(R_MAX, learns=True)
    edges = [0, *cuts, len(pairs[0])]
    for start, stop in pairwise(edges):
        if start < stop:
            observer.observe(start, *part_of(pairs, start, stop))
    return observer


@pytest.mark.parametrize("T", [None, 3])
def test_rows_equal_a_literal_computation(T):
    n = 6000
    pairs = some_pairs(n, T)
    s, trace, D_frozen, R_frozen, loss_frozen = pairs
    observer = observed(pairs, [777, 778, 3000])

    def over(column, combine):
        return column if T is None else combine(column, axis=1)

    similar = s > 0
    R = trace.R if T is None else np.where(similar, trace.R.min(axis=1), trace.R.sum(axis=1))
    totals = dict(
        zip(
            TOTALS,
            (R, over(trace.loss, np.sum), R_frozen, loss_frozen, over(trace.updated, np.any),
             over(trace.degenerate, np.any), over(trace.p0, np.sum)),
            strict=True,
        )
    )  # fmt: skip
    D, ratio, tau = over(trace.D_h, np.min), over(trace.ratio, np.max), over(trace.tau, np.max)
    updated = over(trace.updated, np.any)
    columns = observer.columns
    at = columns["pairs"].astype(int)
    for name, values in totals.items():
        assert np.allclose(columns[name], np.cumsum(values)[at - 1], rtol=1e-12), name
        assert observer.total(name) == pytest.approx(values.sum())
    for row, t in enumerate(at):
        if row % 37 and t > 20:
            continue
        recent = slice(max(0, t - WINDOW), t)
        for name, distances in (("auc", D), ("auc_frozen", D_frozen)):
            kinds = similar[recent]
            if kinds.all() or not kinds.any():
                assert np.isnan(columns[name][row])
            else:
                assert columns[name][row] == pytest.approx(roc_auc_score(kinds, -distances[recent]), abs=1e-12)
        moved = updated[recent]
        assert columns["update_rate"][row] == pytest.approx(moved.mean())
        clipped = (tau < ratio)[recent] & moved
        assert columns["clipped_rate"][row] == pytest.approx(clipped.sum() / max(1, moved.sum()))
        some = np.sort(ratio[recent][ratio[recent] > 0])
        for q in (10, 50, 90):
            quantile = columns[f"ratio_q{q}"][row]
            if not len(some):
                assert np.isnan(quantile)
            else:
                exact = some[max(0, int(np.ceil(q / 100 * len(some))) - 1)]
                assert abs(np.log10(quantile / exact)) <= 0.5 / LogBins.per_decade + 1e-9
    recent = slice(n - WINDOW, n)
    for name, distances, kind in (("similar", D, True), ("dissimilar", D, False), ("similar_frozen", D_frozen, True)):
        expected = np.bincount(distances[recent][similar[recent] == kind], minlength=R_MAX + 1)
        assert np.array_equal(observer.recent[name], expected)
    assert observer.recent["outcome"].sum() == WINDOW
    assert observer.recent["ratio"].sum() == (ratio[recent] > 0).sum()
    assert np.array_equal(observer.all_tau, np.bincount(LogBins.index(tau[tau > 0]), minlength=LogBins.count))


@given(cuts=st.lists(st.integers(0, 3000), max_size=15).map(sorted))
@settings(deadline=None, max_examples=30)
def test_observing_does_not_depend_on_the_chunks(cuts):
    pairs = some_pairs(3000, 2, seed=1)
    one, other = observed(pairs, []), observed(pairs, cuts)
    assert np.array_equal(
        one.columns._rows[: len(one.columns)], other.columns._rows[: len(other.columns)], equal_nan=True
    )
    for name, array in one.state().items():
        assert np.array_equal(array, other.state()[name]), name


def test_a_method_that_does_not_learn_has_no_columns_of_learning():
    observer = Observer(R_MAX, learns=False)
    s, _, D, R, loss = some_pairs(100, None)
    observer.observe(0, s, None, D, R, loss)
    assert set(observer.columns.names) == {"pairs", "cum_R_frozen", "cum_loss_frozen", "auc", "auc_frozen"}
    assert np.array_equal(observer.columns["auc"], observer.columns["auc_frozen"], equal_nan=True)
