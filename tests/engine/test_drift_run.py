"""Runs in a world that moves: the dip, the alarms, and that neither chunks nor a save change them."""

import argparse

import numpy as np
import pytest

from ohash.cli import drift as command
from ohash.engine import saving
from ohash.engine.history import MAX_CLASSES, ClassScores
from ohash.engine.params import experiment
from ohash.engine.run import Run
from ohash.engine.sliding_map import LAST_POINTS, sliding_map
from ohash.evaluation.drift_metrics import detection, dip, forgetting, recovery
from ohash.evaluation.ranking import mean_ap
from ohash.streams.dataset import Dataset
from tests.engine.runs import advance, finish, own_data, small, straight

AT = 3000


def moving(kind, dataset="digits", **values):
    return experiment(dataset, "oh", **{"r": 24, "pairs": 2 * AT, "drift": kind, "drift_at": AT, **values})


@pytest.fixture(scope="module")
def rotated():
    """Ten classes far apart: what a rotation undoes is learnt again in as many pairs as before."""
    rng = np.random.default_rng(20170)
    labels = np.arange(5000) % 10
    centres = rng.normal(size=(10, 64))
    X = centres / np.linalg.norm(centres, axis=1, keepdims=True)
    X = (X[labels] + rng.normal(scale=0.06, size=(5000, 64))).astype(np.float32)
    easy = Dataset.from_arrays(X, labels=labels, queries=(100, 200))
    return straight(moving("rotate", easy, kernel="rbf", C=0.1), easy).snapshot("done")


@pytest.mark.slow
def test_a_rotation_shows_a_dip_an_alarm_and_a_recovery(rotated):
    pairs, values = rotated.checkpoints["pairs"], rotated.checkpoints["map"]
    assert dip(pairs, values, AT) > 0.1
    assert 0 < recovery(pairs, values, AT) <= AT
    for name, found in rotated.alarms.items():
        seen = detection(found, AT, rotated.t)
        assert seen.delay < 500, name
        assert seen.false_alarms == 0, name


def test_the_prequential_map_dips_and_comes_back_too(rotated):
    pairs, values = rotated.checkpoints["pairs"], rotated.checkpoints["map_prequential"]
    assert np.isnan(values[0])  # nobody has come yet
    assert np.isfinite(values[pairs > AT]).all()
    assert dip(pairs, values, AT) > 0.1
    assert 0 < recovery(pairs, values, AT) <= AT


@pytest.mark.parametrize("seed", range(3))
def test_without_a_drift_nothing_goes_off(seed):
    now = straight(moving("none", seed=seed), judge=False).snapshot("done")
    assert set(now.alarms) == {"page_hinkley_wrong", "page_hinkley_R", "adwin_wrong", "adwin_R"}
    assert not any(now.alarms.values())


def test_lsh_is_watched_by_its_own_loss():
    params = experiment("digits", "lsh", r=24, pairs=2 * AT, drift="redefine", drift_at=AT)
    now = straight(params, judge=False).snapshot("done")
    assert any(AT <= place < AT + 1000 for place in now.alarms["page_hinkley_R"])


@pytest.mark.slow
@pytest.mark.parametrize("method", ["oh", "mmoh"])
def test_chunks_change_neither_alarms_nor_scores(method):
    params = small(method, drift="rotate", drift_at=400, pairs=1200)
    runs = [straight(params), finish(Run(params), [1, 33, 7]), finish(Run(params), [250])]
    assert any(runs[0].observer.drift_monitor.alarms.values())
    for other in runs[1:]:
        assert other.observer.drift_monitor.alarms == runs[0].observer.drift_monitor.alarms
        assert np.array_equal(other.checkpoints.class_map, runs[0].checkpoints.class_map, equal_nan=True)
        assert np.array_equal(
            other.checkpoints.scores["map_prequential"], runs[0].checkpoints.scores["map_prequential"], equal_nan=True
        )


@pytest.mark.parametrize("kind", ["rotate", "translate-slowly", "redefine", "prior"])
@pytest.mark.parametrize("reencode", ["checkpoint", "never"])
@pytest.mark.slow
def test_a_resumed_run_equals_an_undisturbed_one(tmp_path, kind, reencode):
    params = small(drift=kind, drift_at=450, pairs=1100, reencode=reencode)
    whole = straight(params)
    for t in (130, 700):
        saving.save(advance(Run(params), t), tmp_path / "run.npz")
        again = finish(saving.load(tmp_path / "run.npz"))
        a, b = whole.snapshot("done"), again.snapshot("done")
        assert a.alarms == b.alarms
        assert np.array_equal(a.class_map, b.class_map, equal_nan=True)
        for name in ("map", "map_prequential", "flipped", "recomputed"):
            assert np.array_equal(a.checkpoints[name], b.checkpoints[name], equal_nan=True), name
        one, other = whole.observer.drift_monitor.state(), again.observer.drift_monitor.state()
        assert one.keys() == other.keys()
        assert all(np.array_equal(one[name], other[name]) for name in one)


def test_another_beta_is_another_loss_and_no_drift():
    params = experiment("digits", "oh", r=24, pairs=4000, beta=0.3).with_changes(2000, beta=0.9)
    now = straight(params, judge=False)
    assert not any(2000 <= place < 2200 for found in now.observer.drift_monitor.alarms.values() for place in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("database", "train", "most"),
    [("full", "database", None), ("seen", "database", None), ("full", "disjoint", None), ("full", "database", 50)],
)
def test_arrived_points_ask_the_table_made_before_they_came(database, train, most, monkeypatch):
    if most:
        monkeypatch.setattr("ohash.engine.sliding_map.MAX_SEARCHED", most)
    run = Run(small(pairs=800, database=database, train=train))
    last = run.schedule[-2]
    advance(run, last)
    made_at = run.checkpoints.table_at
    while run.t < run.end:
        run.step(100)
    codes, searched = run.checkpoints.codes.copy(), run.checkpoints.judge.database
    first = max(made_at, run.end - LAST_POINTS // 2)
    assert made_at == last
    i, j, _ = run.world.pairs(first, run.end)
    points = np.stack([i, j], axis=1).ravel()
    of_points = run.checkpoints.table.encode(run.Z[points])
    keep = np.flatnonzero(run.seen[searched]) if database == "seen" else np.arange(len(searched))
    if most:
        keep = np.linspace(0, len(searched) - 1, most).astype(int)  # evenly spaced items of a large database
    own = [int(np.flatnonzero(searched[keep] == p)[0]) if p in searched[keep] else -1 for p in points]
    assert (min(own) == -1) == (train == "disjoint" or most is not None)
    labels = run.world.dataset.labels
    expected = mean_ap(of_points, codes[0, keep], labels[points], labels[searched[keep]], query_rows=own)
    finish(run)
    assert run.checkpoints.scores["map_prequential"][-1] == pytest.approx(expected, abs=1e-12)
    assert run.checkpoints.table_at == run.end


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["metric", "multi", "clicks", "labels"])
def test_every_similarity_has_its_prequential_map_or_none(kind):
    dataset, values = own_data(kind)
    run = straight(small(dataset="user", **values), dataset)
    values = run.checkpoints.scores["map_prequential"][1:]
    assert np.isnan(values).all() if kind == "clicks" else ((values > 0) & (values <= 1)).all()
    assert run.checkpoints.class_map.shape == (len(run.checkpoints.scores), 4 if kind == "labels" else 0)


def test_map_by_class_is_the_mean_over_its_queries():
    run = straight(small(pairs=300))
    labels = run.world.dataset.labels[run.checkpoints.judge.queries]
    ap = run.checkpoints.last_record.ap
    for c, value in enumerate(run.checkpoints.class_map[-1]):
        mine = ap[(labels == c) & ~np.isnan(ap)]
        assert value == pytest.approx(mine.mean()) if len(mine) else np.isnan(value)
    assert run.checkpoints.class_map.shape == (len(run.checkpoints.scores), len(np.unique(run.world.dataset.labels)))


def test_a_rotation_makes_it_forget_classes(rotated):
    lost = forgetting(rotated.class_map)
    after = rotated.checkpoints["pairs"] >= AT
    assert np.nanmax(lost[after]) > 0.1 > np.nanmax(lost[~after])


def test_too_many_classes_are_not_kept():
    X, n = np.random.default_rng(0).normal(size=(900, 3)), MAX_CLASSES + 1
    scores = ClassScores(Dataset.from_arrays(X, labels=np.arange(900) % n))
    assert scores.classes == 0
    scores.add(np.arange(3), None)
    assert scores.array.shape == (1, 0)


def test_a_redefinition_leaves_the_table_alone_and_a_rotation_flips_it():
    still, turned = (Run(small(drift=kind, drift_at=450, reencode="never")) for kind in ("redefine", "rotate"))
    for run in (still, turned):
        finish(run)
    assert still.checkpoints.recomputed == still.checkpoints.flipped == 0
    assert turned.checkpoints.recomputed == turned.checkpoints.codes.shape[1] * 16
    assert 0 < turned.checkpoints.flipped < turned.checkpoints.recomputed


@pytest.mark.usefixtures("few_checkpoints")
@pytest.mark.slow
def test_the_command_prints_a_line_for_each_alarm(capsys):
    options = argparse.Namespace(
        datasets=["blobs"], kinds=["none", "rotate"], method="oh", seeds=1, pairs=600, size=1.0
    )  # fmt: skip
    assert command.run(options) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum("page_hinkley" in line for line in lines) == 6
    assert any("rotate" in line for line in lines)
    with pytest.raises(ValueError, match="seeds must be >= 1"):
        command.run(argparse.Namespace(**{**vars(options), "seeds": 0}))


@pytest.mark.parametrize("pairs", [2000, 5000])
def test_a_class_arrives_exactly_half_way(pairs):
    """The warm-up takes pairs of the stream; two classes come before pair `half`, and the third from there on."""
    options = argparse.Namespace(method="oh", pairs=pairs, size=1.0)
    params = command._params(options, "digits", command.ARRIVAL, 0)
    run = Run(params, judge=False)
    labels, half = run.world.dataset.labels, pairs // 2
    before, after = (run.world.pairs(start, start + half) for start in (0, half))
    assert len(np.unique(labels[np.concatenate(before[:2])])) == 2
    assert len(np.unique(labels[np.concatenate(after[:2])])) == 3
    first = np.isin(labels[after[0]], labels[before[0]]) & np.isin(labels[after[1]], labels[before[0]])
    assert int(np.flatnonzero(~first)[0]) < 20


def test_slices_of_the_prequential_map_ask_for_the_truth_once(monkeypatch):
    """By distance, to know what is near reads every item: not again for every slice."""
    run = Run(small(similar_by="metric", pairs=100), judge=False)
    source, rng = run.world.stream().similarity, np.random.default_rng(0)
    database, points = run.world.parts.database[:90], run.world.parts.database[:40]
    codes, db_codes = (rng.integers(0, 256, (1, len(rows), 2), dtype=np.uint8) for rows in (points, database))
    asked, relevant = [], type(source).relevant
    monkeypatch.setattr(type(source), "relevant", lambda *args: asked.append(1) or relevant(*args))
    scores = []
    for slice_ in (10**6, 90):
        monkeypatch.setattr("ohash.engine.sliding_map.SLICE", slice_)
        work = sliding_map(source, points, codes, database, db_codes, 16)
        with pytest.raises(StopIteration) as stopped:
            while True:
                next(work)
        scores.append(stopped.value.value)
    assert scores[0] == scores[1]
    assert len(asked) == 2
