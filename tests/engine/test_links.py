"""Experiments as links, and whatever a browser may send."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ohash.engine.links import Limits, from_query
from ohash.engine.live.presets import PRESETS
from ohash.engine.params import (
    FIRST_DATASET,
    MAX_CHANGES,
    experiment,
    flat,
    from_json,
    rows_of,
)
from tests.engine.experiments import METHODS, experiments
from tests.selection import first

OPENING = PRESETS[0].params()


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


def test_a_link_without_a_dataset_changes_what_the_dashboard_opens():
    assert from_query({}) == (OPENING, [])
    assert from_query({"beta": "0.7"}) == (OPENING.with_values(beta=0.7), [])
    assert from_query({"seed": "0"}) == (OPENING.with_values(seed=0), [])
    assert from_query({"dataset": FIRST_DATASET}) == (OPENING, [])
    assert from_query({"dataset": FIRST_DATASET, "beta": "0.7"}) == (OPENING.with_values(beta=0.7), [])
    assert from_query({"dataset": "digits"})[0].seed == 0
    assert from_query({"dataset": FIRST_DATASET, "method": "oh"})[0].seed == 0, "as in links written so far"
    assert from_query(OPENING.to_query()) == (OPENING, [])


def test_a_link_with_several_models_and_no_method_is_mmoh():
    params, problems = from_query({"T": "3"})
    assert (params.method, params.model.T, problems) == ("mmoh", 3, [])
    assert from_query({"r": "16"})[0].method == "oh"
    assert from_query({"T": "3", "method": "oh"})[1], "a method that was named is kept"


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
    assert len(params.changes) <= MAX_CHANGES and len(params.content) <= 64
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


@pytest.mark.parametrize(("key", "meant"), [("precision", "dtype"), ("Beta", "beta"), ("similarby", "similar_by")])
def test_a_key_that_is_nearly_one_is_named(key, meant):
    params, problems = from_query({"dataset": "digits", key: "float64"})
    assert params == experiment() and problems == [f"{key!r} is not a parameter; left out (did you mean {meant}?)"]


def test_a_fingerprint_of_named_data_is_left_out():
    params, problems = from_query({"dataset": "digits", "content": "abc123"})
    assert params == experiment() and "content belongs to dataset='own'" in problems[0]


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
    assert params == OPENING.with_changes(5, beta=0.4).with_changes(9, C=0.01)
    assert len(problems) == 1 and "7:beta:2" in problems[0]
    many, problems = from_query({"changes": ",".join(f"{t}:C:0.01" for t in range(140))})
    assert len(many.changes) == MAX_CHANGES and "at most 64" in problems[0]


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
