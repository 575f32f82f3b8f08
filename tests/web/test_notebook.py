"""The playground in a notebook: what its arguments may be is said before anything is drawn."""

import re

import pytest

import ohash


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("data", "moon", "data must be one of blobs, moons, rings, xor, spirals, drift, own, got 'moon'"),
        ("features", "RBF", "features must be one of linear, rbf, got 'RBF'"),
        ("pace", 7, "pace must be one of 1, 2, 5, 10, 30, 100, 300, 1000, 3000, got 7"),
        ("r", 17, "r must be a number in [1, 16], got 17"),
        ("C", "auto", "C must be a number in [0.001, 10], got 'auto'"),
        ("at", -1, "at must be the number of a pair, 0 or more, got -1"),
    ],
)
def test_a_wrong_argument_is_an_error_that_names_the_right_ones(name, value, words):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        ohash.playground(**{name: value})


def test_right_arguments_become_the_link():
    pytest.importorskip("anywidget")
    assert ohash.playground("?r=3", data="moons", noise=0.1, at=0).start == "r=3&data=moons&noise=0.1&at=0"
