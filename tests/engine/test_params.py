"""One object is one experiment: files, keys, and changes made during a run."""

import json
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from ohash.core.parameters import parameter_table
from ohash.engine.export import Files, code_for
from ohash.engine.params import (
    FIRST_DATASET,
    MAX_CHANGES,
    Change,
    ExperimentParams,
    experiment,
    flat,
    from_json,
)
from tests.engine.experiments import METHODS


def test_params_are_frozen_and_hashable():
    params = experiment(changes=[Change(3, "beta", 0.4)])
    with pytest.raises(FrozenInstanceError):
        params.seed = 3
    with pytest.raises(FrozenInstanceError):
        params.model.beta = 0.3
    assert {params: 1}[experiment(changes=[Change(3, "beta", 0.4)])] == 1
    assert params != experiment() and params.key() != experiment().key()


@pytest.mark.parametrize("method", METHODS)
def test_no_key_names_two_things(method):
    params = experiment("digits", method)
    parts = (params.model, params.features, params.stream, params.drift, params.run)
    keys = [key for part in parts for key in parameter_table(part)] + ["dataset", "method", "content", "changes"]
    assert len(keys) == len(set(keys))
    assert set(flat(params)) == {*keys, "seed"} - {"content", "changes"}


def test_one_seed_draws_everything():
    params = experiment(seed=5)
    assert params.model.seed == params.seed == 5
    assert params.with_values(seed=6).model.seed == 6


def test_method_names_are_forgiving_and_datasets_of_ones_own_are_allowed():
    assert experiment(method="Online Hashing").method == "oh"
    for params in (experiment("own"), experiment("user"), experiment("my-file", content="1f")):
        assert params.features.kernel == "rbf", "OH was made for a kernel"
    assert experiment("cifar10").dataset == "cifar10"  # known, here or not
    with pytest.raises(ValueError, match="method must be one of"):
        experiment(method="sha256")
    with pytest.raises(ValueError, match="unknown parameter colour; oh knows C, alpha"):
        experiment(colour=3)
    with pytest.raises(ValueError, match=r"unknown parameter betta \(did you mean 'beta'\?\); oh knows C, alpha"):
        experiment(betta=1)


def test_an_unknown_dataset_is_refused_at_once_with_the_nearest_names():
    with pytest.raises(ValueError, match=r"dataset must be one of .*, got 'digitz' \(did you mean 'digits'\?\)"):
        experiment("digitz")
    with pytest.raises(ValueError, match=r"got 'Fashon' \(did you mean 'fashion'"):
        experiment("Fashon")
    with pytest.raises(ValueError, match=r"dataset must be one of .*, got 'zzzz'$"):
        experiment("zzzz")


def test_a_stored_experiment_may_be_of_a_dataset_that_is_gone():
    text = experiment(r=32).to_json().replace('"digits"', '"folder:gone"')
    params = from_json(text)
    assert params.dataset == "folder:gone" and params.to_query()["r"] == "32"
    assert params.with_values(r=16).model.r == 16
    assert "experiment('folder:gone', 'oh', " in code_for(params)


@pytest.mark.parametrize(("params", "files", "score"), [
    (experiment("digits"), Files("x.npy"), "mAP"),
    (experiment("digits", similar_by="topk"), Files("x.npy"), "mAP"),
    (experiment("debian"), Files("x.npy"), "hit@10"),
    (experiment("debian", similar_by="metric"), Files("x.npy"), "mAP"),
    (experiment("own", content="0" * 16), Files("x.npy", pairs="clicks.csv"), "hit@10"),
    (experiment("own", content="0" * 16), Files("x.npy", labels="y.npy"), "mAP"),
])  # fmt: skip
def test_code_prints_the_score_that_its_data_are_judged_by(params, files, score):
    other = "hit@10" if score == "mAP" else "mAP"
    assert f" {score} " in code_for(params, files) and other not in code_for(params, files)


def test_what_is_in_force_is_where_the_changes_have_led():
    params = experiment(r=32, changes=[Change(50, "C", 0.2), Change(10, "beta", 0.4), Change(90, "C", 0.3)])
    assert params.with_current_values() == experiment(r=32, C=0.3, beta=0.4)
    assert experiment(r=32).with_current_values() == experiment(r=32)


def test_changes_are_sorted_by_pair_and_later_ones_win():
    params = experiment(changes=[Change(50, "C", 0.2), Change(10, "beta", 0.4), Change(50, "C", 0.3)])
    assert [(c.at, c.name, c.value) for c in params.changes] == [(10, "beta", 0.4), (50, "C", 0.2), (50, "C", 0.3)]
    assert [params.model_at(t).C for t in (0, 49, 50, 10**9)] == [0.1, 0.1, 0.3, 0.3]
    assert [params.model_at(t).beta for t in (9, 10)] == [0.5, 0.4]


def test_changing_twice_at_one_pair_replaces():
    params = experiment().with_changes(5, beta=0.4, C=1.0).with_changes(5, beta=0.3).with_changes(9, beta=0.3)
    assert params.changes == (Change(5, "C", 1.0), Change(5, "beta", 0.3))
    assert experiment().with_changes(0, beta=0.5) == experiment()


def test_equal_numbers_are_equal_experiments():
    one = experiment(changes=[Change(3, "C", 1)])
    same = experiment(changes=[Change(3, "C", np.float64(1.0))])
    assert one == same and one.key() == same.key() and isinstance(same.changes[0].value, float)
    json.loads(experiment(changes=[Change(3, "C", np.float32(0.5))]).to_json())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([Change(t, "beta", 0.4) for t in range(MAX_CHANGES + 1)], "changes must be at most 64, got 65"),
        ([Change(1, "r", 64)], "changes may set beta, C of oh, got 'r'"),
        ([Change(1, "colour", 1.0)], "changes may set beta, C of oh, got 'colour'"),
        ([Change(-1, "beta", 0.4)], "a change must happen at a pair number >= 0, got -1"),
        ([Change(1.5, "beta", 0.4)], "a change must happen at a pair number >= 0, got 1.5"),
        ([Change("1", "beta", 0.4), Change(2, "beta", 0.4)], "a change must happen at a pair number"),
        ([Change(True, "beta", 0.4)], "a change must happen at a pair number"),
        ([Change(1, "beta", 0.0)], r"beta must be a number in \(0, 1\], got 0.0"),
        ([Change(1, "C", float("nan"))], "C must be"),
        ([Change(1, "beta", 0.1)], r"beta \* r must be larger than alpha"),
    ],
)
def test_bad_changes_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        experiment(alpha=8, changes=changes)


def test_a_method_without_live_parameters_takes_no_change():
    with pytest.raises(ValueError, match="changes may set none of its parameters of lsh, got 'beta'"):
        experiment(method="lsh", changes=[Change(1, "beta", 0.4)])


def test_from_json_refuses_what_it_does_not_know():
    values = json.loads(experiment(FIRST_DATASET).to_json())
    with pytest.raises(ValueError, match="unknown parameter colour"):
        from_json(json.dumps(values | {"colour": 1}))
    with pytest.raises(ValueError, match="seed must be"):
        from_json(json.dumps(values | {"seed": -1}))
    assert isinstance(from_json('{"dataset": "digits", "method": "oh"}'), ExperimentParams)


def test_changes_may_be_plain_triples_and_natural_share_none():
    given = experiment(FIRST_DATASET, changes=[(500, "C", 0.01)], similar_share=None)
    assert given == experiment(FIRST_DATASET, changes=(Change(500, "C", 0.01),), similar_share=-1)
    with pytest.raises(ValueError, match=r"a change must be \(pair index, name, value\), got \(5,\)"):
        experiment(FIRST_DATASET, changes=[(5,)])
