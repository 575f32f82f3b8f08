"""What is seen of a run from outside: checkpoints, snapshots, where it ends."""

import numpy as np
import pytest

from ohash.engine.params import experiment
from ohash.engine.run import Run, run
from tests.engine.runs import SMALL, advance, assert_same, finish, own_data, small, straight

pytestmark = pytest.mark.usefixtures("few_checkpoints")


def test_classes_arrive_in_the_run_too():
    going = straight(small(order="class", period=200, similar_share=0.5, pairs=900))
    labels = going.world.dataset.labels
    i, j, _ = going.world.pairs(0, 900)
    start = going.world.consumed
    first = [np.flatnonzero(np.isin(labels[i], c) | np.isin(labels[j], c)).min() for c in range(2, 5)]
    assert all(f + start >= 200 * (c - 1) for c, f in zip(range(2, 5), first, strict=True))


def test_a_stream_that_ends_ends_the_run():
    going = straight(small(order="once", pairs=10**6))
    assert going.t == going.end == going.world.stream().length - going.world.consumed
    assert going.schedule[-1] == going.end and going.checkpoints.scores["pairs"][-1] == going.end


def test_stopping_when_flat_does_not_depend_on_chunks():
    params = small("lsh", pairs=30_000, stop_when_flat=True)
    one = straight(params)
    assert one.done and one.t == one.schedule[7] < 30_000 and not one.evaluating
    assert_same(one, finish(Run(params), [17]))
    assert straight(small("lsh", pairs=3000)).t == 3000


@pytest.mark.parametrize(("kind", "score", "other"), [("labels", "map", "hit_10"), ("clicks", "hit_10", "map")])
def test_a_run_stops_when_the_score_of_its_data_is_flat(kind, score, other):
    mine, values = own_data(kind)
    for flat, rising in ((score, other), (other, score)):
        going = Run(experiment(mine, "oh", stop_when_flat=True, **{**SMALL, **values}), mine)
        for t in range(8):
            going.checkpoints.scores.append(t, {flat: 0.5, rising: 0.1 * t})
        assert going.checkpoints.flat() == (flat == score)


# -- snapshots -----------------------------------------------------------------------------------------------------


def test_run_yields_checkpoints():
    params = small(pairs=300)
    shown = list(run(params))
    assert [now.t for now in shown] == Run(params).schedule
    assert [now.state for now in shown] == ["running"] * (len(shown) - 1) + ["done"]
    assert [len(now.checkpoints["map"]) for now in shown] == list(range(1, len(shown) + 1))
    assert all(now.params == params for now in shown)


@pytest.mark.parametrize("every", [1, 50, 64, 299, 300, 1000])
def test_run_yields_every_so_many_pairs(every):
    shown = [now.t for now in run(small(pairs=300), every=every)]
    assert shown == [*range(0, 300, every), 300]


def test_run_refuses_to_yield_never():
    with pytest.raises(ValueError, match="every must be a number of pairs >= 1, got 0"):
        next(run(small(), every=0))


def test_a_snapshot_is_whole_and_stays_as_it_is():
    going = advance(Run(small("mmoh", T=3)), 200)
    now = going.snapshot("paused", seq=7)
    kept = {name: column.copy() for name, column in now.columns.items()}
    recent, updates = {k: v.copy() for k, v in now.recent.items()}, now.bit_updates.copy()
    finish(going)
    assert all(np.array_equal(now.columns[name], kept[name], equal_nan=True) for name in kept)
    assert all(np.array_equal(now.recent[name], recent[name]) for name in recent)
    assert np.array_equal(now.bit_updates, updates) and now.t == 200 and now.seq == 7
    n = now.numbers
    assert n["bits"] == 48 and n["bytes"] == 6 and n["similar_share"] == pytest.approx(1 / 6, abs=0.01)
    assert n["map"] == now.checkpoints["map"][-1] and n["map_start"] == now.checkpoints["map"][0]
    assert n["map_mean"] == pytest.approx(now.checkpoints["map"][-5:].mean())
    assert now.columns["pairs"][-1] <= 200 and now.recent["outcome"].sum() == 200
    assert n["auc"] == pytest.approx(now.columns["auc"][-1])
    assert now.selections.shape == (3,) and now.bit_updates.shape == (3, 16)


def test_certificate_and_cpu_are_recorded():
    going = straight(small(dtype="float64"))
    assert (going.checkpoints.scores["gap"] < 1e-12).all()
    assert going.checkpoints.scores["bound"][-1] > going.observer.total("cum_R")
    for name in ("cpu_learn", "cpu_encode", "cpu_evaluate"):
        column = going.checkpoints.scores[name]
        assert (np.diff(column) >= 0).all() and column[-1] > 0
    lsh = straight(small("lsh"))
    assert np.isnan(lsh.checkpoints.scores["gap"]).all()


@pytest.mark.parametrize(("method", "models"), [("oh", 1), ("mmoh", 2)])
def test_the_share_of_ones_is_counted(method, models):
    going = straight(small(method, **({"T": models} if models > 1 else {})))
    codes = np.asarray(going.checkpoints.codes)
    bits = np.unpackbits(codes, axis=-1, bitorder="little")[..., : going.hasher.r]
    shown = going.snapshot("done").bit_ones
    assert shown.shape == (models, going.hasher.r)
    np.testing.assert_allclose(shown, bits.sum(axis=1) / codes.shape[1])
