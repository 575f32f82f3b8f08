"""Everything a run depends on and does not learn, shared by the runs that can share it."""

import threading
import time

import numpy as np
import pytest

from ohash.core.features import KernelWarning
from ohash.engine import world as world_module
from ohash.engine.params import experiment
from ohash.engine.run import Run
from ohash.engine.world import World, world_of
from ohash.models.registry import find
from ohash.streams.dataset import Dataset
from tests.engine.runs import assert_same, finish, own_data, small, straight
from tests.streams.example_datasets import clicks, grouped

pytestmark = pytest.mark.usefixtures("few_checkpoints")


def test_runs_share_a_world_where_they_can():
    base = small()
    assert world_of(base) is world_of(base.with_values(beta=0.3, C=1.0, r=8, pairs=10, reencode="never"))
    assert world_of(base) is world_of(small("mmoh"))
    for other in ({"seed": 1}, {"m": 16}, {"noise": 0.1}, {"dtype": "float64"}, {"drift": "rotate"}):
        assert world_of(base) is not world_of(base.with_values(**other))
    assert len(world_module._worlds) <= world_module.KEPT_WORLDS


def test_runs_that_start_together_build_one_world(monkeypatch):
    built = []

    class Slow(World):
        def __init__(self, *args):
            built.append(1)
            time.sleep(0.05)
            super().__init__(*args)

    monkeypatch.setattr(world_module, "World", Slow)
    worlds = []
    threads = [threading.Thread(target=lambda: worlds.append(world_of(small(seed=99)))) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(built) == 1 and len({id(world) for world in worlds}) == 1


def test_runs_in_threads_do_not_disturb_each_other():
    """One world, several runs at different places of it."""
    cases = [small(r=r, beta=beta, similar_by="metric", seed=7) for r, beta in ((8, 0.5), (16, 0.4), (24, 0.6))]
    expected = [straight(params) for params in cases]
    world_module._worlds.clear()
    runs = [None] * len(cases)

    def drive(k):
        runs[k] = finish(Run(cases[k]), [3 + 5 * k, 64])

    threads = [threading.Thread(target=drive, args=(k,)) for k in range(len(cases))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert runs[0].world is runs[1].world
    for one, other in zip(runs, expected, strict=True):
        assert_same(one, other)


def test_a_failed_world_is_tried_again(monkeypatch):
    params = small(seed=123)
    with monkeypatch.context() as patched:
        patched.setattr(world_module.FeatureMap, "fit_stream", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            world_of(params)
    assert world_of(params).consumed > 0


def test_the_warm_up_is_the_first_of_the_stream_and_is_consumed():
    world = world_of(small(m=150))
    i, j, _ = world.stream().take(0, world.consumed)
    points = np.stack([i, j], axis=1).ravel()
    _, first = np.unique(points, return_index=True)
    assert np.array_equal(world.warm_rows, points[np.sort(first)][:150])
    assert world.warm_rows[-1] in (i[-1], j[-1])
    assert np.array_equal(world.pairs(0, 5), world.stream().take(world.consumed, world.consumed + 5))
    assert np.isin(world.warm_rows, world.parts.train).all()


def test_few_points_are_warm_up_enough():
    world = World(small("oh", "user", kernel="none"), grouped(50, 3))
    assert len(world.warm_rows) == len(world.parts.train)
    world = World(small("oh", "user", kernel="rbf", m=30), grouped(50, 3))
    assert world.feature_map.d_out == 30
    with pytest.raises(ValueError, match=r"m must be at most 45, .* got 46; lower m"):
        World(small("oh", "user", kernel="rbf", m=46), grouped(50, 3))


def shortened(dataset, **values):
    return [World(experiment(dataset, method, pairs=100, **values), dataset) for method in ("oh", "mmoh")]


def test_a_method_made_for_vectors_as_given_gets_them_whatever_the_distance():
    """FastHash has no distance, so that of the data scales no vector of its own, unlike those of sign codes."""
    X = np.random.default_rng(0).normal(size=(300, 8)) * np.arange(1, 301)[:, None]
    data = Dataset.from_arrays(X.astype(np.float32), metric="cosine")
    given = Run(experiment(data, "fasthash", pairs=50, r=8, trees=2), data)
    sign = Run(experiment(data, "sign", pairs=50), data)
    np.testing.assert_array_equal(given.Z, data.X)
    np.testing.assert_allclose(np.linalg.norm(sign.Z, axis=1), 1, rtol=1e-6)
    text = find("fasthash").features_text
    assert text.startswith("the vectors as given: trees") and "distance" not in text


@pytest.mark.parametrize("kernel", ["rbf", "none"])
def test_data_too_few_for_the_usual_warm_up_get_a_shorter_one_and_say_so(kernel):
    few, warm = grouped(50, 3), {"warm": 300} if kernel == "none" else {}
    for world in shortened(few, kernel=kernel, **warm):
        assert len(world.warm_rows) == len(world.parts.train) == 45
        what = "anchors" if kernel == "rbf" else "warm-up points"
        (note,) = Run(world.params, few).notes
        assert note == f"45 {what} instead of 300, because the stream brings so few different points"
    enough = grouped(500, 3)
    for world in shortened(enough, kernel=kernel, **warm):
        assert len(world.warm_rows) == 300 and not world.note


def test_a_shorter_warm_up_leaves_as_many_anchors_as_were_asked_for():
    few = grouped(50, 3)
    for world in shortened(few, m=20, warm=300):
        assert world.feature_map.d_out == 20 and len(world.warm_rows) == 45
        assert world.note == "45 warm-up points instead of 300, because the stream brings so few different points"
    (world, _) = shortened(few, kernel="none", warm=400)
    assert world.note.startswith("45 warm-up points instead of 400, "), "also a longer one than the usual"
    for world in shortened(few, m=20):
        assert not world.note


def test_one_anchor_is_one():
    alike = Dataset.from_arrays(np.ones((50, 4)), labels=np.arange(50) % 2)
    with pytest.warns(KernelWarning, match="flat"):
        assert World(experiment(alike, "oh", pairs=100), alike).note.startswith("1 anchor instead of 300, ")


@pytest.mark.parametrize("kernel", ["rbf", "none"])
def test_a_warm_up_takes_at_most_half_of_a_stream_that_ends(kernel):
    once = grouped(250, 3)
    for world in shortened(once, kernel=kernel, order="once", **({"warm": 300} if kernel == "none" else {})):
        pairs = world.consumed + world.length
        assert world.consumed == pairs // 2 and len(world.warm_rows) == 2 * world.consumed, "each point comes once"
        assert "instead of 300" in world.note
    longer = grouped(1_000, 3)
    assert not any(world.note for world in shortened(longer, kernel=kernel, order="once"))


def test_a_stream_must_outlast_the_warm_up():
    with pytest.raises(ValueError, match="the stream must outlast the warm-up"):
        World(small("oh", "user", kernel="none", order="once"), grouped(100, 3))


def test_large_maps_live_in_a_file(monkeypatch):
    params = small(seed=5, drift="rotate", drift_at=300)
    expected = straight(params)
    world_module._worlds.clear()
    monkeypatch.setattr(world_module, "IN_MEMORY", 0)
    going = straight(params)
    assert isinstance(going.world.mapped(0), np.memmap)
    assert_same(going, expected)
    world_module._worlds.clear()


def test_mapped_rows_are_read_only_and_two_stages_are_kept():
    world = World(small(drift="rotate-slowly", drift_at=100))
    stages = [world.mapped(stage).copy() for stage in range(4)]
    assert len(world._mapped) == 2
    assert not world.mapped(0).flags.writeable
    assert all(np.array_equal(world.mapped(stage), stages[stage]) for stage in range(4))


def test_content_must_be_that_of_the_data():
    dataset, values = own_data("labels")
    World(small("oh", "user", content=dataset.fingerprint(), **values), dataset)
    with pytest.raises(ValueError, match="content must be the fingerprint of your data"):
        World(small("oh", "user", content="0" * 16, **values), dataset)


@pytest.mark.parametrize(
    ("values", "dataset", "message"),
    [
        ({"drift": "prior", "order": "once"}, grouped(300, 3), "drift='prior' needs a stream that goes on"),
        ({"drift": "redefine", "similar_by": "metric"}, grouped(300, 3), "drift='redefine' needs similar_by='label'"),
        ({"drift": "prior"}, clicks(150, 1500), "drift='prior' needs similar_by='label', got 'clicks'"),
        ({"drift": "prior", "similar_by": "metric"}, Dataset.from_arrays(np.eye(200)), "needs one label per point"),
        ({"drift": "redefine"}, grouped(300, 2), "merges classes in pairs and needs 3"),
        (
            {"drift": "redefine"},
            Dataset.from_arrays(np.eye(300, 5), labels=np.eye(300, 3)),
            "needs one label per point",
        ),
    ],
)
def test_what_would_go_wrong_at_the_drift_is_said_at_the_start(values, dataset, message):
    with pytest.raises(ValueError, match=message):
        World(small("oh", "user", kernel="none", **values), dataset)


def test_bad_vectors_are_named_before_anything_is_learnt():
    X = np.random.default_rng(0).normal(size=(200, 4))
    X[57, 2] = np.nan
    with pytest.raises(ValueError, match="X must be finite, got nan at row 57, column 2"):
        Run(small("oh", "user", kernel="none"), Dataset.from_arrays(X, labels=np.arange(200) % 3))
