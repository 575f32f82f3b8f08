"""A comparison is its link; every method sees the same pairs; bad links are named and defaulted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ohash.comparison.params import (
    CLICK_METHODS,
    DEFAULT_METHODS,
    LABEL_METHODS,
    MAX_METHODS,
    Entry,
    build_comparison,
    default_methods,
    from_query,
    has_default_methods,
    parse_entry,
    rows_of,
)
from ohash.comparison.runner import compare
from ohash.comparison.tuning import draw_entries, tunable
from ohash.engine.links import Limits
from ohash.engine.params import experiment
from ohash.engine.run import Run
from ohash.models.registry import hashers
from ohash.streams import registry as datasets
from ohash.streams.dataset import Dataset
from ohash.sweeps.specification import from_values
from tests.engine.runs import own_data


def some(methods=("oh", "hcoh", "itq", "sign"), **values):
    return build_comparison("tiny", methods, **{"m": 128, "pairs": 300, "bits": 16, **values})


@given(
    st.lists(st.sampled_from(sorted(hashers())), min_size=1, max_size=6, unique=True),
    st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=5, unique=True),
    st.integers(16, 2048),
    st.sampled_from(["suits", "same"]),
    st.sampled_from(["none", "rotate", "prior"]),
)
@settings(max_examples=30, deadline=None)
def test_a_link_brings_back_the_same_comparison(methods, seeds, bits, maps, drift):
    one = build_comparison("own", methods, seeds, bits=bits, maps=maps, drift=drift, content="ab" * 3)
    again, problems = from_query(one.to_query())
    assert again == one
    assert problems == []
    assert hash(again) == hash(one)
    assert again.key() == one.key()


def test_a_method_carries_its_own_parameters():
    one = some(("oh", "oh:C=1", "oh:C=1:beta=0.4", "mmoh:T=2"))
    assert one.to_query()["methods"] == "oh,oh:C=1,oh:beta=0.4:C=1,mmoh:T=2"
    assert one.names == ("OH (default)", "OH (C = 1)", "OH (β = 0.4, C = 1)", "MMOH")
    assert from_query(one.to_query())[0].entries == one.entries
    assert one.experiment(one.entries[2]).model.beta == 0.4


def test_a_default_that_is_spelt_out_is_no_difference():
    assert parse_entry("oh:C=0.1:center=frozen") == Entry("oh")
    assert parse_entry("Online Hashing") == Entry("oh")


def test_bits_are_those_of_a_whole_code():
    one = some(("oh", "mmoh", "mmoh:T=2", "oh:r=40"), bits=48)
    shapes = [(getattr(one.experiment(e).model, "T", 1), one.experiment(e).model.r) for e in one.entries]
    assert shapes == [(1, 48), (4, 12), (2, 24), (1, 40)]
    assert one.experiment(one.entries[1], bits=16).model.r == 4


def test_every_method_gets_the_features_it_was_made_for_unless_told_otherwise():
    one = some(("oh", "hcoh", "itq", "sign", "fasthash"))
    kernels = {e.method: one.experiment(e).features.kernel for e in one.entries}
    assert kernels == {"oh": "rbf", "hcoh": "none", "itq": "none", "sign": "given", "fasthash": "raw"}
    same = some(("oh", "itq"), maps="same")
    assert {same.experiment(e).features.kernel for e in same.entries} == {"rbf"}
    assert some(("kernel_lsh",)).experiment(Entry("kernel_lsh")).features.kernel == "rbf"
    none = some(("oh", "itq"), kernel="none")
    assert {none.experiment(e).features for e in none.entries} == {none.features}


def test_every_method_sees_the_same_pairs_judged_by_the_same_queries():
    one = some()
    runs = [Run(one.experiment(entry, 7)) for entry in one.entries]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.world.pairs(0, 300), runs[0].world.pairs(0, 300))
        np.testing.assert_array_equal(run.checkpoints.judge.queries, runs[0].checkpoints.judge.queries)
        np.testing.assert_array_equal(run.checkpoints.judge.database, runs[0].checkpoints.judge.database)


def test_results_are_reported_on_the_test_queries():
    assert some().run.judged_by == "test"


def test_an_entry_is_an_experiment_that_live_can_open():
    one = some(("oh:C=1", "itq"))
    alone = one.experiment(one.entries[0], 3)
    assert experiment("tiny", "oh", m=128, pairs=300, r=16, C=1.0, seed=3, judged_by="test") == alone


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"dataset": "nowhere"}, "dataset must be"),
        ({"methods": "oh,nonsense"}, "method must be one of"),
        ({"methods": "oh:C=minus"}, "C must be"),
        ({"methods": "oh:q=1"}, "OH has no parameter 'q'"),
        ({"methods": "oh:seed=4"}, "OH has no parameter 'seed'"),
        ({"methods": "mmoh:r=5000"}, "T · r must be at most 2048"),
        ({"methods": ",".join(f"oh:C={c}" for c in range(1, 15))}, "methods must be at most 12"),
        ({"bits": "4000"}, "bits must be at most 2048"),
        ({"bits": "-1"}, "bits must be an integer"),
        ({"m": "9999"}, "m must be at most"),
        ({"pairs": "999999999"}, "pairs must be at most"),
        ({"seeds": "1,two"}, "seed must be"),
        ({"seeds": "1,2,3,4,5,6,7"}, "seeds must be at most 5"),
        ({"trials": "101"}, "trials must be"),
    ],
)
def test_a_bad_link_is_named_and_defaulted(query, message):
    read, problems = from_query(query, Limits(bits=2048, m=2048, pairs=10**8))
    assert any(message in problem for problem in problems), problems
    assert 1 <= len(read.entries) <= MAX_METHODS
    again, none = from_query(read.to_query(), Limits(bits=2048, m=2048, pairs=10**8))
    assert again == read
    assert none == []


@pytest.mark.parametrize(
    "query", [{"pairs": "1e10"}, {"pairs": "x"}, {"kernel": "x"}, {"judged_by": "x"}, {"bits": "x"}]
)
def test_the_default_that_is_named_is_the_one_that_is_used(query):
    read, (problem,) = from_query({"dataset": "words", **query})
    (key,) = query
    parts = (read.options, read.features, read.stream, read.run)
    used = next(getattr(part, key) for part in parts if hasattr(part, key))
    assert problem.endswith(f"; the default is {used!r}")
    assert rows_of(read)[key].default == used


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            {"methods": "oh:C=99999999999,itq"},
            ["method 'oh:C=99999999999' is left out: C must be a number in (0, 1000000] or 'auto', got 99999999999.0"],
        ),
        (
            {"methods": "oh:q=1"},
            ["method 'oh:q=1' is left out: OH has no parameter 'q'", "no method is left; using oh, hcoh, itq, pq"],
        ),
        ({"methods": "itq,itq"}, ["method 'itq' is listed twice; using it once"]),
        ({"seeds": "3,two"}, ["seed must be an integer in [0, 4294967295], got 'two'; left out"]),
        ({"seeds": "two"}, ["seed must be", "no seed is left; using 0"]),
        (
            {"database": "seen", "train": "disjoint", "methods": "itq"},
            ["database='seen' needs train='database': a disjoint training part is not searched; using"],
        ),
    ],
)  # fmt: skip
def test_what_a_bad_link_leaves_out_is_said_as_it_is_done(query, message):
    read, problems = from_query(query)
    assert len(problems) == len(message)
    assert all(
        problem.startswith(start) and "default is" not in problem
        for problem, start in zip(problems, message, strict=True)
    )
    if "itq" in query.get("methods", ""):
        assert [entry.method for entry in read.entries] == ["itq"]


@given(
    st.dictionaries(st.sampled_from(["dataset", "methods", "seeds", "bits", "maps", "kernel", "content"]), st.text())
)
@settings(max_examples=60, deadline=None)
def test_any_link_gives_some_comparison(query):
    read, _ = from_query(query, Limits(bits=2048, m=2048))
    assert read.options.bits <= 2048


@pytest.mark.parametrize(
    ("methods", "seeds", "message"),
    [
        ((), (0,), "methods must be 1 to 12"),
        (tuple(f"oh:C={c}" for c in range(1, 14)), (0,), "methods must be 1 to 12"),
        (("oh", "oh"), (0,), "one twice"),
        (("oh",), (), "seeds must be"),
        (("oh",), (1, 1), "seeds must be"),
        (("oh",), (-1,), "seed must be"),
    ],
)
def test_what_is_no_comparison(methods, seeds, message):
    with pytest.raises(ValueError, match=message):
        build_comparison("tiny", methods, seeds)


def test_unknown_parameters_are_named():
    with pytest.raises(ValueError, match="unknown parameter speed"):
        build_comparison(speed=3)


def test_no_key_names_two_things():
    rows = rows_of(build_comparison())
    assert not {"dataset", "methods", "seeds", "content"} & set(rows)
    parts = (
        build_comparison().options,
        build_comparison().features,
        build_comparison().stream,
        build_comparison().drift,
        build_comparison().run,
    )
    assert len(rows) == sum(len(vars(part)) for part in parts)


def test_with_values_keeps_the_rest():
    one = some(seeds=(1, 2), drift="rotate", drift_at=100)
    assert one.with_values() == one
    other = one.with_values(methods=("oh",), bits=32)
    assert (other.seeds, other.drift, other.options.bits, other.names) == ((1, 2), one.drift, 32, ("OH",))


def test_the_usual_contests_are_sound():
    assert build_comparison(methods=DEFAULT_METHODS).names[:4] == ("OH", "ITQ", "Product quantisation", "Sign")
    assert len(build_comparison(methods=CLICK_METHODS).entries) == len(CLICK_METHODS) <= MAX_METHODS


@pytest.mark.parametrize("kind", ["labels", "multi", "clicks", "pairs", "metric"])
def test_whatever_someone_needs_a_code_made_for_it_is_compared(kind):
    own, _ = own_data(kind)
    methods = default_methods(own, bits=8)
    assert "pq" in methods, "to keep the distance"
    assert ("hcoh" in methods) == (kind in ("labels", "multi"))
    assert ("click_whitening" in methods) == (kind in ("clicks", "pairs"))
    now = compare(own, pairs=150, bits=8, sweep=False, seeds=(0,))
    assert [entry.method for entry in now.comparison.entries] == list(methods) and not now.errors


def test_data_without_codes_of_pq_are_opened_without_it():
    for query in ({"dataset": "blobs2d"}, {"dataset": "digits", "bits": "1024"}):
        one = from_query(query)[0]
        assert one == build_comparison(query["dataset"], bits=int(query.get("bits", 64)))
        assert [entry.method for entry in one.entries] == [method for method in LABEL_METHODS if method != "pq"]
        assert has_default_methods(one) and not has_default_methods(one.with_values(methods=("oh", "itq")))
    assert "pq" in default_methods(datasets.lookup("blobs2d"), 16), "8 bits for each column"
    X = np.random.default_rng(0).normal(size=(300, 8))
    dots = Dataset.from_arrays(X, metric="dot")
    now = compare(dots, pairs=150, sweep=False, seeds=(0,))
    assert [entry.method for entry in now.comparison.entries] == list(default_methods(dots)) and not now.errors
    assert "pq" not in default_methods(dots) and "pq" in default_methods(Dataset.from_arrays(X))


@pytest.mark.parametrize("declared", ["sidecar", "file"])
def test_a_folder_whose_distance_is_the_dot_product_is_opened_without_pq(declared, tmp_path, monkeypatch):
    X = np.random.default_rng(0).normal(size=(300, 16)).astype(np.float32)
    if declared == "file":
        h5py = pytest.importorskip("h5py")
        with h5py.File(tmp_path / "mine.hdf5", "w") as file:
            file["train"] = X
            file.attrs["distance"] = "dot"
    else:
        np.save(tmp_path / "mine.npy", X)
        (tmp_path / "mine.toml").write_text('metric = "dot"')
    np.save(tmp_path / "other.npy", X)
    monkeypatch.setenv("OHASH_DATA", str(tmp_path))
    without = [method for method in DEFAULT_METHODS if method != "pq"]
    with monkeypatch.context() as patch:
        patch.setattr("ohash.streams.data_folder.dataset_from_sidecar", lambda *_, **__: pytest.fail("loaded"))
        one, other = (from_query({"dataset": f"folder:{name}"})[0] for name in ("mine", "other"))
    assert [entry.method for entry in one.entries] == without and has_default_methods(one)
    assert [entry.method for entry in other.entries] == list(DEFAULT_METHODS) and has_default_methods(other)
    assert has_default_methods(one.with_values(bits=8)), "of which PQ has codes in every other distance"
    assert not has_default_methods(one.with_values(methods=without[:-1])), "LSH suits all data, so it was left out"
    now = compare("folder:mine", pairs=100, bits=16, sweep=False, seeds=(0,))
    assert [entry.method for entry in now.comparison.entries] == without and not now.errors


def test_a_data_set_of_the_package_is_opened_with_the_methods_that_suit_it():
    for dataset, methods in (("digits", LABEL_METHODS), ("debian", CLICK_METHODS), ("words", DEFAULT_METHODS)):
        one = build_comparison(dataset)
        assert one.to_query()["methods"] == ",".join(methods) and from_query({"dataset": dataset})[0] == one


@pytest.mark.parametrize("method", sorted(hashers()))
def test_trials_are_sound_repeatable_and_start_with_the_defaults(method):
    one = build_comparison("fashion", (method,), trials=5)
    drawn = draw_entries(one, one.entries[0])
    assert drawn[0] == one.entries[0]
    assert len(drawn) == (5 if tunable(one.entries[0]) else 1)
    assert len(set(drawn)) == len(drawn)
    assert drawn == draw_entries(one, one.entries[0])
    for entry in drawn:
        one.experiment(entry)
        assert parse_entry(entry.text()) == entry


def test_what_the_user_has_set_is_not_tuned():
    one = build_comparison("fashion", ("oh:C=2",), trials=4)
    assert all(dict(entry.values)["C"] == 2 for entry in draw_entries(one, one.entries[0]))
    assert "C" not in tunable(one.entries[0])


@pytest.mark.parametrize("seeds", [(0,), (0, 1, 2), (5,), (3, 1), (0, 2)])
def test_seeds_in_a_link_mean_what_they_mean_in_toml(seeds):
    one = build_comparison("tiny", ("oh", "itq"), seeds)
    again, problems = from_query(one.to_query())
    assert again.seeds == seeds and problems == []
    assert from_query({"seeds": "3"})[0].seeds == (0, 1, 2)
    read, problems = from_query({"seeds": "99"})
    assert read.seeds == (0,) and "seeds must be 1 to" in problems[0]


def test_a_number_of_seeds_means_the_same_everywhere():
    link, problems = from_query({"dataset": "digits", "methods": "oh,itq", "seeds": "3"})
    spec = from_values({"seeds": 3, "base": {"dataset": "digits"}})
    assert link.seeds == spec.seeds == build_comparison("digits", ("oh", "itq"), seeds=3).seeds == (0, 1, 2)
    assert not problems
