"""One object is one experiment: links, files, keys, and whatever a browser may send."""

import json
import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ohash.core.parameters import parameter_table
from ohash.engine.export import code_for
from ohash.engine.links import Limits, from_query
from ohash.engine.live.presets import PRESETS
from ohash.engine.params import (
    FIRST_DATASET,
    MOST_CHANGES,
    Change,
    ExperimentParams,
    experiment,
    flat,
    from_json,
    rows_of,
)
from ohash.models.registry import hashers
from tests.selection import first

OPENING = PRESETS[0].params()

METHODS = sorted(hashers())


def values_of(row):
    """Any value a row allows."""
    if row.kind is bool:
        return st.booleans()
    if row.choices:
        return st.sampled_from(row.choices)
    if row.kind is int:
        return st.integers(math.ceil(row.lo), math.floor(row.hi))
    return st.floats(1e-6 if row.lo_open else row.lo, row.hi)  # a smaller beta times r is no bit at all


def numbers_of(row):
    """Values that may be set during a run: not "auto"."""
    return values_of(row).filter(lambda value: not row.alias or value != row.lo)


@st.composite
def experiments(draw, method=None):
    method = method or draw(st.sampled_from(METHODS))
    base = experiment("digits", method)
    rows = {key: row for key, row in rows_of(base).items() if key not in ("alpha", "r")}
    keys = draw(st.lists(st.sampled_from(sorted(rows)), unique=True, max_size=8))
    values = {key: draw(values_of(rows[key])) for key in keys}
    if -1 < values.get("similar_share", 0) < 0:
        values["similar_share"] = -1.0
    if values.get("order") == "class":
        values.pop("similar_by", None)
    if values.get("database") == "seen":
        values.pop("train", None)
    live = [row for key, row in parameter_table(base.model).items() if row.live]
    changes = ()
    if live:
        changes = draw(
            st.lists(
                st.sampled_from(live).flatmap(
                    lambda row: st.builds(Change, st.integers(0, 10**9), st.just(row.key), numbers_of(row))
                ),
                max_size=MOST_CHANGES,
            )
        )
    dataset = draw(st.sampled_from(["digits", "blobs", "blobs2d"]))
    return experiment(dataset, method, changes=changes, **values)


@pytest.mark.parametrize("method", first(METHODS, 8))
@given(data=st.data())
@settings(deadline=None, max_examples=12)
def test_links_and_files_bring_back_the_same_experiment(method, data):
    params = data.draw(experiments(method))
    query = params.to_query()
    assert all(isinstance(value, str) for value in query.values())
    again, problems = from_query(query)
    assert problems == []
    assert again == params and hash(again) == hash(params) and again.key() == params.key()
    assert from_json(params.to_json()) == params
    assert from_json(params.to_json()).to_query() == query


def test_a_link_says_only_what_differs():
    assert experiment().to_query() == {"dataset": "digits", "method": "oh"}
    params = experiment("blobs", "mmoh", T=2, noise=0.1, seed=7, content="abc")
    assert params.to_query() == {
        "dataset": "blobs", "method": "mmoh", "T": "2", "noise": "0.1", "seed": "7", "content": "abc",
    }  # fmt: skip


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
        assert params.features.kernel == "none"
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


# -- links from anywhere -------------------------------------------------------------------------------------------


def test_a_link_without_a_dataset_changes_what_the_dashboard_opens():
    assert from_query({}) == (OPENING, [])
    assert from_query({"beta": "0.7"}) == (OPENING.with_values(beta=0.7), [])
    assert from_query({"seed": "0"}) == (OPENING.with_values(seed=0), [])
    assert from_query({"dataset": FIRST_DATASET})[0].seed == 0, "as in links written so far"
    assert from_query(OPENING.to_query()) == (OPENING, [])


def test_unknown_keys_are_ignored_and_bad_values_named_and_defaulted():
    params, problems = from_query(
        {"dataset": "digits", "method": "oh", "utm_source": "x", "beta": "2", "r": "many", "C": "nan", "noise": "0.2",
         "center_input": "perhaps"}
    )  # fmt: skip
    assert params == experiment(noise=0.2)
    assert len(problems) == 4
    for key in (
        "beta must be a number in (0, 1], got 2.0",
        "r must be an integer",
        "C must be",
        "center_input must be",
    ):
        assert any(problem.startswith(key) for problem in problems), key


def test_the_default_that_is_named_is_that_of_the_dataset_and_the_method():
    for query in ({"center": "x"}, {"dataset": "words", "kernel": "x"}, {"method": "itq", "judged_at": "x"}):
        params, (problem,) = from_query(query)
        assert problem.endswith(f"; the default is {flat(params)[[*query][-1]]!r}")


def test_what_does_not_fit_together_goes_back_to_its_default():
    params, problems = from_query({"r": "8", "alpha": "6", "beta": "0.5", "C": "0.3"})
    assert (params.model.r, params.model.alpha, params.model.beta, params.model.C) == (8, 0, 0.5, 0.3)
    assert len(problems) == 1
    assert problems[0].startswith("beta * r must be larger than alpha, got beta=0.5, r=8 (beta * r = 4) and alpha=6")


def test_unknown_dataset_and_method_are_named():
    params, problems = from_query({"dataset": "x" * 10_000, "method": "md5"})
    assert (params.dataset, params.method) == (FIRST_DATASET, "oh")
    assert len(problems) == 2 and all(len(problem) < 400 for problem in problems)


NASTY = st.one_of(
    st.text(max_size=80),
    st.sampled_from(
        ["", "nan", "inf", "-inf", "1e999", "-1", "0", "1" * 5000, "9" * 59, "0x10", "1_000", "٣", "²", "½", "\x00",
         "💥" * 50, "../../etc/passwd", "<script>", "None", "True", "1e-320", "-0.0", "8192", "64",
         "1000000000", "2147483648"]
    ),
    st.integers().map(str),
    st.floats().map(str),
)  # fmt: skip
NASTY_CHANGES = st.one_of(
    NASTY,
    st.lists(
        st.tuples(NASTY, st.sampled_from(["beta", "C", "alpha", "r", "seed", "β", ""]), NASTY).map(":".join),
        max_size=20,
    ).map(",".join),
    st.just(",".join(f"{t}:beta:0.5" for t in range(10**5))),
    st.just(f"{10**12}:beta:0.5"),
)


@given(data=st.data(), method=st.sampled_from(METHODS))
@settings(deadline=None, max_examples=50)
def test_forged_links_never_raise_and_never_exceed_limits(data, method):
    rows = rows_of(experiment("digits", method))
    keys = data.draw(st.lists(st.sampled_from([*rows, "T", "dataset", "content", "junk"]), unique=True, max_size=10))
    query = {key: data.draw(NASTY) for key in keys} | {"method": method, "changes": data.draw(NASTY_CHANGES)}
    limits = Limits(
        bits=data.draw(st.sampled_from([1, 7, 64, 8192])), m=data.draw(st.sampled_from([1, 300])), pairs=10_000
    )
    params, problems = from_query(query, limits)
    assert getattr(params.model, "T", 1) * params.model.r <= limits.bits
    assert params.features.m <= limits.m and params.run.pairs <= limits.pairs
    assert len(params.changes) <= MOST_CHANGES and len(params.content) <= 64
    assert all(isinstance(problem, str) and problem for problem in problems)
    again, still = from_query(params.to_query(), limits)
    assert again == params and still == []
    params.key()


def test_limits_take_what_is_nearest():
    params, problems = from_query({"method": "mmoh", "T": "64", "r": "8192", "m": "100000", "pairs": "1000000000"},
                                  Limits(bits=1024, m=500, pairs=5000))  # fmt: skip
    assert (params.model.T, params.model.r, params.features.m, params.run.pairs) == (64, 16, 500, 5000)
    assert len(problems) == 3
    params, _ = from_query({"method": "mmoh"}, Limits(bits=64))  # the defaults themselves are too large
    assert params.model.T * params.model.r <= 64


# -- changes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("key", "meant"), [("precision", "dtype"), ("Beta", "beta"), ("similarby", "similar_by")])
def test_a_key_that_is_nearly_one_is_named(key, meant):
    params, problems = from_query({"dataset": "digits", key: "float64"})
    assert params == experiment() and problems == [f"{key!r} is not a parameter; left out (did you mean {meant}?)"]


def test_a_fingerprint_of_named_data_is_left_out():
    params, problems = from_query({"dataset": "digits", "content": "abc123"})
    assert params == experiment() and "content belongs to dataset='own'" in problems[0]


def test_what_is_in_force_is_where_the_changes_have_led():
    params = experiment(r=32, changes=[Change(50, "C", 0.2), Change(10, "beta", 0.4), Change(90, "C", 0.3)])
    assert params.in_force() == experiment(r=32, C=0.3, beta=0.4)
    assert experiment(r=32).in_force() == experiment(r=32)


def test_changes_are_sorted_by_pair_and_later_ones_win():
    params = experiment(changes=[Change(50, "C", 0.2), Change(10, "beta", 0.4), Change(50, "C", 0.3)])
    assert [(c.at, c.name, c.value) for c in params.changes] == [(10, "beta", 0.4), (50, "C", 0.2), (50, "C", 0.3)]
    assert [params.model_at(t).C for t in (0, 49, 50, 10**9)] == [0.1, 0.1, 0.3, 0.3]
    assert [params.model_at(t).beta for t in (9, 10)] == [0.5, 0.4]


def test_changing_twice_at_one_pair_replaces():
    params = experiment().changed(5, beta=0.4, C=1.0).changed(5, beta=0.3).changed(9, beta=0.3)
    assert params.changes == (Change(5, "C", 1.0), Change(5, "beta", 0.3))
    assert experiment().changed(0, beta=0.5) == experiment()


def test_equal_numbers_are_equal_experiments():
    one = experiment(changes=[Change(3, "C", 1)])
    same = experiment(changes=[Change(3, "C", np.float64(1.0))])
    assert one == same and one.key() == same.key() and isinstance(same.changes[0].value, float)
    json.loads(experiment(changes=[Change(3, "C", np.float32(0.5))]).to_json())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([Change(t, "beta", 0.4) for t in range(MOST_CHANGES + 1)], "changes must be at most 64, got 65"),
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


@pytest.mark.parametrize(
    "text",
    ["5:beta", "5", "beta:5:1", "5:beta:2", "-5:beta:0.4", "²:beta:0.4", "5:r:64", "5:x:1", f"{10**12}:beta:0.4"],
)
def test_bad_changes_of_a_link_are_named_and_ignored(text):
    params, problems = from_query({"r": "24", "changes": text})
    assert params == OPENING.with_values(r=24)
    assert len(problems) == 1 and problems[0].startswith(f"change {text!r} ignored: ")


def test_one_bad_change_of_a_link_costs_only_itself():
    params, problems = from_query({"changes": "5:beta:0.4,7:beta:2,9:C:0.01"})
    assert params == OPENING.changed(5, beta=0.4).changed(9, C=0.01)
    assert len(problems) == 1 and "7:beta:2" in problems[0]
    many, problems = from_query({"changes": ",".join(f"{t}:C:0.01" for t in range(140))})
    assert len(many.changes) == MOST_CHANGES and "at most 64" in problems[0]


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


def test_values_that_do_not_go_together_are_named_in_a_link():
    for query, message, left in (
        ({"database": "seen", "train": "disjoint"}, "database='seen' needs train='database'", {"train": "disjoint"}),
        ({"order": "class", "similar_by": "metric"}, "order='class' needs similar_by", {"similar_by": "metric"}),
        ({"similar_share": "-0.5"}, "similar_share must be a share", {}),
    ):
        params, problems = from_query(query)
        assert message in problems[0]
        assert params == OPENING.with_values(**left)


def test_what_does_not_go_together_costs_nothing_else():
    params, problems = from_query({"similar_share": "-0.5", "C": "0.5", "sigma": "2", "noise": "0.1"})
    assert params == OPENING.with_values(C=0.5, sigma=2.0, noise=0.1) and len(problems) == 1
    params, problems = from_query({"database": "seen", "train": "disjoint", "C": "0.5"})
    assert params.model.C == 0.5 and len(problems) == 1
