"""A run that is put away and taken up again goes on as if nothing had happened."""

import json
from dataclasses import replace

import numpy as np
import pytest

from ohash.engine import saving
from ohash.engine.params import Change, experiment
from ohash.engine.run import Run
from ohash.models.registry import hashers
from ohash.streams.dataset import Dataset
from tests.engine.cases import CASES, OWN, case, finished_run
from tests.engine.runs import advance, assert_same, finish, own_data, small, straight
from tests.selection import share

pytestmark = pytest.mark.usefixtures("few_checkpoints")


@pytest.mark.parametrize("name", share(CASES, 0, of=3))
def test_saved_in_the_middle_and_resumed_equals_the_straight_run(name, tmp_path):
    params = case(name)
    going = Run(params)
    stops = (0, 31, 100, 401) if going.end > 401 else (0, 10, 31)
    for at in stops:
        while going.t < at:
            going.step(at - going.t)  # an evaluation may be under way
        saving.save(going, tmp_path / "run.npz")
        going = saving.load(tmp_path / "run.npz")
        assert going.t == at and going.params == params
        going.step(1)
    assert_same(finish(going, [37]), finished_run(name))


@pytest.mark.parametrize("name", share(CASES, 2, of=3))
def test_a_copy_goes_on_as_the_run_does_and_neither_touches_the_other(name):
    first = Run(case(name))
    for at in (0, 31, 401):
        while first.t < min(at, first.end):
            first.step(at - first.t)  # an evaluation may be under way
        copied = saving.RunCopy(first)
        first.step(20)  # before the other one is made of it
        second = copied.run()
        assert second.t == min(at, first.end) and second.world is first.world
        assert_same(finish(second, [41]), finished_run(name))
    assert_same(finish(first, [37]), finished_run(name))


def test_a_copy_replays_earlier_pairs_from_the_states_that_were_kept():
    first = advance(Run(small()), 300)
    second = saving.RunCopy(first).run()
    assert second.kept_states.states.keys() >= first.kept_states.states.keys() > {0}
    assert np.array_equal(second.replay(150)[0].W, first.replay(150)[0].W)


@pytest.mark.parametrize("kind", OWN)
def test_own_data_must_be_brought_along(kind, tmp_path):
    dataset, values = own_data(kind)
    params = small("oh", "user", content=dataset.fingerprint(), **values)
    going = advance(Run(params, dataset), 250)
    saving.save(going, tmp_path / "run.npz")
    again = saving.load(tmp_path / "run.npz", dataset)
    assert_same(finish(again), straight(params, dataset))
    with pytest.raises(ValueError, match=r"dataset must be one of .* got 'user'"):
        saving.load(tmp_path / "run.npz")
    moved = Dataset.from_arrays(np.asarray(dataset.X) + 1, labels=dataset.labels)
    with pytest.raises(ValueError, match="other data"):
        saving.load(tmp_path / "run.npz", moved)


@pytest.mark.parametrize("reencode", ["checkpoint", "never"])
@pytest.mark.parametrize("method", [key for key, spec in hashers().items() if not spec.linear])
@pytest.mark.slow
def test_a_method_without_half_spaces_drifts_and_is_resumed(method, reencode, tmp_path):
    few = {"fasthash": {"depth": 1, "trees": 2, "sweeps": 1}, "klsh": {"p": 24, "t": 8}}.get(method, {})
    params = small(method, r=4, pairs=150, drift="rotate", drift_at=90, reencode=reencode, **few)
    whole = straight(params)
    going = advance(Run(params), 100)
    saving.save(going, tmp_path / "run.npz")
    again = saving.load(tmp_path / "run.npz")
    assert again.stage == 1
    assert np.array_equal(again.checkpoints.codes, going.checkpoints.codes)
    assert np.array_equal(again.checkpoints.table.encode(again.Z[:9]), going.checkpoints.table.encode(going.Z[:9]))
    assert_same(finish(again), whole)


def test_other_data_without_a_content_hash_is_noticed_too(tmp_path):
    dataset, values = own_data("labels")
    saving.save(Run(small("oh", "user", **values), dataset), tmp_path / "run.npz")
    with pytest.raises(ValueError, match="was saved on other data"):
        saving.load(tmp_path / "run.npz", Dataset.from_arrays(np.asarray(dataset.X) + 1, labels=dataset.labels))


def test_a_live_change_just_before_saving_is_kept(tmp_path):
    going = advance(Run(small()), 200)
    going.set(beta=0.9)
    saving.save(going, tmp_path / "run.npz")
    again = finish(saving.load(tmp_path / "run.npz"))
    assert again.params.changes == (Change(200, "beta", 0.9),)
    assert_same(again, straight(again.params))


def test_saving_does_not_disturb_the_run(tmp_path):
    going = Run(small())
    while not going.done:
        going.step(23)
        saving.save(going, tmp_path / "run.npz")
    assert_same(going, straight(small()))


def test_a_finished_run_stays_finished(tmp_path):
    going = straight(small())
    saving.save(going, tmp_path / "run.npz")
    again = saving.load(tmp_path / "run.npz")
    assert again.done
    assert_same(again, going)


def test_replay_after_resuming(tmp_path):
    going = advance(Run(small(center="running")), 300)
    saving.save(going, tmp_path / "run.npz")
    again = finish(saving.load(tmp_path / "run.npz"))
    finish(going)
    for t in (0, 150, 299, 300, 301, 699):
        assert np.array_equal(again.replay(t)[0].W, going.replay(t)[0].W), t


def test_without_judging(tmp_path):
    going = advance(Run(small(), judge=False), 333)
    saving.save(going, tmp_path / "run.npz")
    again = saving.load(tmp_path / "run.npz")
    assert not again.judge_checkpoints
    assert_same(finish(again), straight(small(), judge=False))


def test_damaged_files_are_value_errors(tmp_path):
    file = tmp_path / "run.npz"
    saving.save(advance(Run(small()), 100), file)
    whole = file.read_bytes()
    with np.load(file) as archive:
        arrays = dict(archive)
    for cut in (0, 10, len(whole) // 2, len(whole) - 5):
        file.write_bytes(whole[:cut])
        with pytest.raises(ValueError, match="path must be"):
            saving.load(file)
    for name in arrays:
        np.savez(file, **{key: array for key, array in arrays.items() if key != name})
        with pytest.raises(ValueError, match="path must be"):
            saving.load(file)
    header = json.loads(str(arrays["header"]))
    for change in ({"format": 99}, {"what": "model"}, {"params": "{}"}, {"t": "soon"}, {"params": "[1]"}):
        np.savez(file, **{**arrays, "header": np.array(json.dumps({**header, **change}))})
        with pytest.raises(ValueError, match=r"path must be|install the ohash"):
            saving.load(file)
    with pytest.raises(OSError, match="No such file"):
        saving.load(tmp_path / "none.npz")


def test_what_decides_a_result_is_in_the_fingerprint():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(60, 4)), np.arange(60) % 3
    base = Dataset.from_arrays(X, labels)
    others = [
        Dataset.from_arrays(X, labels, time=np.arange(60)),
        Dataset.from_arrays(X, labels, time=np.arange(60)[::-1]),
        Dataset.from_arrays(X, labels, metric="cosine"),
        Dataset.from_arrays(X, labels, queries=(5, 5)),
        Dataset.from_arrays(X, tracks=np.arange(60) // 3),
        Dataset.from_arrays(X, (labels + 1) % 3),
        replace(base, natural="topk"),
        replace(base, natural="metric"),
    ]
    assert len({one.fingerprint() for one in (base, *others)}) == len(others) + 1


def test_the_float_reference_of_a_drifting_run_is_kept(tmp_path):
    params = experiment("digits", "oh", r=16, pairs=400, drift="rotate", drift_at=200)
    run = Run(params)
    while run.t < 300:
        run.step(100)
    saving.save(run, tmp_path / "run.npz")
    again = saving.load(tmp_path / "run.npz")
    assert again.checkpoints.map_float == run.checkpoints.map_float is not None
    assert np.array_equal(again.checkpoints.bit_ones, run.checkpoints.bit_ones)
