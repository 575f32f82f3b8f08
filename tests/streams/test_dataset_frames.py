"""A dataset that is sent to another process arrives with everything a run depends on."""

import io
from dataclasses import MISSING, fields, replace
from typing import Any

import numpy as np
import pytest

from ohash.runtime.frames import read_frame, write_frame
from ohash.streams.annotations import PairList
from ohash.streams.dataset import Dataset, dataset_from_frame, dataset_to_frame
from ohash.streams.registry import find_dataset, load_by_key, named_datasets

LARGE = 10_000_000  # numbers in X
KEYS = [
    pytest.param(key, marks=pytest.mark.slow) if spec.n * spec.d > LARGE else key
    for key, spec in named_datasets().items()
]
# Pictures, and the button on the Data page that takes the paper's parameters: no result depends on them.
STAY_AT_HOME = {"thumbnails", "captions", "presets"}


def sent(dataset: Dataset) -> Dataset:
    """As it comes out of a pipe."""
    pipe = io.BytesIO()
    write_frame(pipe, *dataset_to_frame(dataset))
    pipe.seek(0)
    frame = read_frame(pipe)
    assert frame is not None
    return dataset_from_frame(*frame)


def assert_same_value(name: str, found: Any, expected: Any) -> None:
    assert type(found) is type(expected) or isinstance(expected, np.ndarray), name
    if isinstance(expected, PairList):
        for column in (one.name for one in fields(PairList)):
            assert_same_value(f"pairs.{column}", getattr(found, column), getattr(expected, column))
    elif isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype, name
        np.testing.assert_array_equal(found, expected, err_msg=name)
    else:
        assert found == expected, name


def assert_arrived_whole(found: Dataset, expected: Dataset) -> None:
    for one in fields(Dataset):
        if one.name not in STAY_AT_HOME:
            assert_same_value(one.name, getattr(found, one.name), getattr(expected, one.name))
    assert found.fingerprint() == expected.fingerprint() and found.similarities == expected.similarities
    assert found.thumbnails is None


def full() -> dict[str, Any]:
    """A value of every field that is not its default."""
    rng = np.random.default_rng(0)
    n = 40
    return {
        "key": "full",
        "title": "Full",
        "X": rng.normal(size=(n, 3)).astype(np.float32),
        "labels": np.arange(n) % 4,
        "class_names": ("a", "b", "c", "d"),
        "tracks": np.arange(n) // 2,
        "pairs": PairList(np.array([0, 1]), np.array([2, 3]), np.array([1, -1], np.int8), np.array([0.5, 1.5]), 7),
        "thumbnails": np.zeros((n, 2, 2), np.uint8),
        "ids": np.array([f"item {row}" for row in range(n)]),
        "time": rng.random(n),
        "metric": "cosine",
        "queries": (3, 5),
        "kernel": "none",
        "licence": "CC0",
        "cite": "Nobody, 2020",
        "note": "a note",
        "fixed_test": np.arange(5, 15),
        "superclasses": np.arange(n) % 2,
        "natural": "topk",
        "one_sided": True,
        "presets": {"C": 0.1},
        "query_rows": np.array([0, 1, *range(5, 15)]),
        "captions": tuple(f"about item {row}" for row in range(n)),
    }


def default_of(name: str) -> Any:
    one = next(one for one in fields(Dataset) if one.name == name)
    return one.default_factory() if one.default_factory is not MISSING else one.default


def test_there_is_a_value_for_every_field_and_it_is_not_the_default() -> None:
    values = full()
    assert values.keys() == {one.name for one in fields(Dataset)}
    for name, value in values.items():
        assert isinstance(value, np.ndarray) or value != default_of(name), name


def test_every_field_arrives() -> None:
    dataset = Dataset(**full())
    assert_arrived_whole(sent(dataset), dataset)


def only(name: str) -> Dataset:
    """Nothing but this field and what there must be."""
    values = full()
    return Dataset(**{some: values[some] for some in {"key", "title", "X", "queries", name}})


@pytest.mark.parametrize("name", sorted(full().keys() - STAY_AT_HOME - {"key", "title", "X"}))
def test_a_field_arrives_alone(name: str) -> None:
    assert_arrived_whole(sent(only(name)), only(name))


@pytest.mark.parametrize("s", [None, np.array([1, -1], np.int8)])
@pytest.mark.parametrize("time", [None, np.array([2.0, 1.0])])
def test_pairs_arrive_with_the_columns_they_have(s: Any, time: Any) -> None:
    dataset = replace(only("pairs"), pairs=PairList(np.array([0, 1]), np.array([2, 3]), s, time))
    assert_arrived_whole(sent(dataset), dataset)


@pytest.mark.parametrize("key", KEYS)
def test_a_dataset_that_is_here_arrives(key: str) -> None:
    if how := find_dataset(key).missing():
        pytest.skip(f"not installed: {how}")
    dataset = load_by_key(key)
    assert_arrived_whole(sent(dataset), dataset)


def test_a_frame_of_an_older_version_without_some_fields_is_read() -> None:
    values, arrays = dataset_to_frame(only("natural"))
    del values["natural"]
    assert dataset_from_frame(values, arrays).natural == ""


EMBEDDED = {
    "blobs2d": "8f50b1f98782fc2a",
    "blobs": "4cf88b3abdea7070",
    "debian": "908ae4985149436c",
    "digits": "c7114cf2984b036d",
    "fashion": "bbafaee72f4a79f3",
    "patches": "fb3cfc5eb3898b12",
    "moons": "42a5c21dbc0ab1c2",
    "rings": "67df023d9468d597",
    "words": "017e58ca0d93148d",
}


@pytest.mark.parametrize("key", EMBEDDED)
def test_stored_runs_and_links_still_know_the_embedded_datasets(key: str) -> None:
    assert load_by_key(key).fingerprint() == EMBEDDED[key]
