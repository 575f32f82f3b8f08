"""The playground in a notebook: what its arguments may be is said before anything is drawn."""

import re

import pytest

import ohash
from ohash.web.playground_settings import KEYS


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("data", "moon", "data must be one of blobs, moons, rings, xor, spirals, drift, own, got 'moon'"),
        ("features", "RBF", "features must be one of linear, rbf, got 'RBF'"),
        ("pace", 7, "pace must be one of 1, 2, 5, 10, 30, 100, 300, 1000, 3000, got 7"),
        ("r", 17, "r must be a number in [1, 16], got 17"),
        ("C", "auto", "C must be a number in [0.001, 10], got 'auto'"),
        ("at", -1, "at must be the number of a pair, 0 or more, got -1"),
        ("at", 60_000, "at must be the number of a pair, 0 to 50000, got '60000'"),
        ("only", "zeta", f"only must name settings that stay free, of {', '.join(KEYS)}, got 'zeta'"),
        ("link", "r=99", "r must be a number in [1, 16], got 99"),
        ("link", "hello", f"a link must be of {', '.join(KEYS)}, changes, at, only, got 'hello'"),
    ],
)
def test_a_wrong_argument_is_an_error_that_names_the_right_ones(name, value, words):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        ohash.playground(**{name: value})


def test_right_arguments_become_the_link():
    pytest.importorskip("anywidget")
    assert ohash.playground("?r=3", data="moons", noise=0.1, at=0).start == "r=3&data=moons&noise=0.1&at=0"


@pytest.mark.parametrize("before", ["?", "#", "http://localhost:8501/learn?", "file:///home/me/play.html#"])
def test_a_link_may_be_a_whole_address_and_other_arguments_come_before_it(before):
    pytest.importorskip("anywidget")
    assert ohash.playground(f"{before}r=3&changes=5:C:1&only=", r=5).start == "r=5&changes=5:C:1&only="
