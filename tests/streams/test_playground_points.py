"""Points of the playground as data sets: found by their keys, which come from links; not listed."""

import numpy as np
import pytest

import ohash
from ohash.engine.links import from_query
from ohash.engine.params import FIRST_DATASET
from ohash.streams.datasets.playground import MAX_POINTS, SHAPES
from ohash.streams.registry import datasets, family_of, find_dataset, load_by_key, lookup

PAINTED = "playground-points-0h0h0h0i0h0j0h0k0-3t0t0t0u0t0v0t0w0"


def query(dataset, **values):
    return {"dataset": dataset, "method": "oh", "kernel": "none", "similar_share": "0.5", "pairs": "300", **values}


def test_they_are_found_and_not_listed():
    assert not any(key.startswith("playground") for key in datasets())
    assert lookup("playground-xor-7") is find_dataset("playground-xor-7"), "one object, so that it is loaded once"
    assert load_by_key("playground-xor-7") is load_by_key("playground-xor-7") is ohash.load_dataset("playground-xor-7")
    assert family_of("moons") is None


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_learns_by_its_link(shape):
    params, problems = from_query(query(f"playground-{shape}-12", kernel="rbf"))
    assert not problems and params.dataset == f"playground-{shape}-12"
    assert from_query(params.to_query()) == (params, [])
    *_, now = ohash.run(params)
    assert now.t == 300 and now.numbers["map"] > now.numbers["map_start"]


def test_points_by_hand_are_read_as_they_are_painted():
    dataset = load_by_key(PAINTED)
    assert dataset.class_names == ("class 1", "class 4") and dataset.labels.tolist() == [0] * 4 + [1] * 4
    step, reach = 2 * 2.4 / (36**2 - 1), 2.4
    assert dataset.X[1].tolist() == np.float32([17 * 36 * step - reach, 18 * 36 * step - reach]).tolist()
    *_, now = ohash.run(from_query(query(PAINTED))[0])
    assert now.t == 300


@pytest.mark.parametrize(
    "key",
    [
        "playground-",
        "playground-xor",
        "playground-xor-",
        "playground-xor-1000",
        "playground-xor--1",
        "playground-xor-\u0661",
        "playground-squares-1",
        "playground-points",
        "playground-points-",
        "playground-points-0",
        "playground-points-0abc",
        "playground-points-4" + "abcd" * 8,
        "playground-points-0" + "ABCD" * 8,
        "playground-points-0" + "abcd" * 3,
        "playground-points-0" + "abcd" * (MAX_POINTS + 1),
        "playground-points-0" + "abcd" * 10 + "\n",
        "playground-points-0" + "0" * 10**6,
        "playground-../../etc/passwd",
    ],
)
def test_another_key_is_refused_in_one_sentence(key):
    params, problems = from_query(query(key))
    assert params.dataset == FIRST_DATASET and len(problems) == 1
    assert problems[0].startswith("points of the playground must be") and len(problems[0]) < 400
    assert lookup(key) is None
    with pytest.raises(ValueError, match="points of the playground must be"):
        load_by_key(key)
