"""The description itself: tables, thinning, limits, places of labels, colours."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohash.plots import theme
from ohash.plots.chart import Axis, Chart, Mark, Series
from ohash.plots.layout import limits, place, position, text_width, ticks
from ohash.plots.thinning import drawable, kept_rows, thin


def chart_of(*series: Series, x: Axis | None = None, y: Axis | None = None) -> Chart:
    return Chart("A sentence", x or Axis("pairs", "log"), y or Axis("mAP"), series)


def test_table_gives_every_series_back():
    one = Series("now", np.array([1.0, 10.0, 100.0]), np.array([0.5, 0.6, 0.7]))
    other = Series("before", np.array([1.0, 50.0]), np.array([0.1, 0.2]))
    table = chart_of(one, other).table()
    assert list(table.columns) == ["pairs", "now", "before"]
    assert table["pairs"].tolist() == [1, 10, 50, 100]
    for series in (one, other):
        back = table.dropna(subset=[series.name])
        assert back["pairs"].tolist() == series.x.tolist() and back[series.name].tolist() == series.y.tolist()


def test_table_keeps_equal_x_and_equal_names_apart():
    twice = Series("run", np.array([1.0, 1.0, 2.0]), np.array([0.1, 0.2, 0.3]))
    table = chart_of(twice, Series("run", np.array([2.0]), np.array([0.9]))).table()
    assert list(table.columns) == ["pairs", "run", "run (2)"]
    assert table["run"].tolist() == [0.1, 0.2, 0.3] and table["run (2)"].dropna().tolist() == [0.9]


def test_table_of_nothing_has_its_axis():
    assert list(chart_of().table().columns) == ["pairs"] and chart_of().empty


def test_series_of_unequal_lengths_is_refused():
    with pytest.raises(ValueError, match="as many x as y, got 2 and 1"):
        Series("now", np.arange(2), np.arange(1))


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("n", [0, 1, 2, 399, 400, 401, 5000])
def test_thinning_keeps_first_and_last_and_is_even(scale, n):
    x = np.arange(1, n + 1, dtype=float)
    rows = kept_rows(x, 400, scale)
    assert len(rows) <= 400 and (np.diff(rows) > 0).all()
    if n:
        assert rows[0] == 0 and rows[-1] == n - 1
    if n == 5000:
        at = np.log(x[rows]) if scale == "log" else x[rows]
        grid = (at[-1] - at[0]) / 399
        assert np.diff(at)[x[rows][:-1] > 1 / grid if scale == "log" else slice(None)].max() < 2.1 * grid


def test_what_cannot_be_drawn_is_left_out():
    x, y = np.array([0.0, 1.0, 2.0, np.nan, 4.0, 5.0]), np.array([1.0, -1.0, np.inf, 1.0, np.nan, 2.0])
    clean = drawable(Series("s", x, y), chart_of(y=Axis("loss", "log")))
    assert clean.x.tolist() == [5.0] and clean.y.tolist() == [2.0]
    linear = drawable(Series("s", x, y), chart_of(x=Axis("pairs")))
    assert linear.x.tolist() == [0.0, 1.0, 5.0]
    assert thin(Series("s", np.arange(1.0, 1001), np.ones(1000), max_points=10), chart_of()).x[-1] == 1000


def test_limits_hold_data_and_marks():
    series = Series("s", np.array([3.0, 700.0]), np.array([0.31, 0.78]))
    chart = Chart("", Axis("pairs", "log"), Axis("mAP"), (series,), (Mark(0.95, "r", "y"), Mark(2000, "c")))
    assert limits(chart, "x") == (1.0, 10_000.0)
    lo, hi = limits(chart, "y")
    assert lo <= 0.31 and hi >= 0.95
    assert limits(Chart("", Axis("x"), Axis("y", "log")), "x") == (0.0, 1.0)
    assert limits(Chart("", Axis("x"), Axis("y", lo=0.2, hi=0.4)), "y") == (0.2, 0.4)


@pytest.mark.parametrize("span", [(1, 100), (1, 20_000), (1e-9, 1e-7), (1, 1e9), (0.01, 1)])
def test_log_ticks_are_few_and_inside(span):
    marks = ticks(*span, Axis("x", "log"))
    assert 2 <= len(marks) <= 8 and all(span[0] * 0.999 <= at <= span[1] * 1.001 for at in marks)


def test_whole_numbers_have_whole_ticks():
    assert ticks(0.5, 4.5, Axis("model", format="count"), 8) == [1, 2, 3, 4]


@given(st.lists(st.floats(1, 1000), min_size=1, max_size=16), st.integers(90, 600))
def test_labels_of_marks_lie_inside_and_apart_and_tell_of_every_mark(places, width):
    marks = [Mark(at, f"{'βC'[k % 2]} = {k / 100:.2f}") for k, at in enumerate(sorted(places))]
    spans: dict[int, list[tuple[float, float]]] = {}
    placed = place(marks, lambda at: position(at, 1, 1000, "linear"), width, 11)
    assert [one.mark for one in placed] == marks
    for one in placed:
        if one.lane is None:
            continue
        wide, at = text_width(one.label, 11), position(one.mark.at, 1, 1000, "linear") * width
        left = {"left": at, "center": at - wide / 2, "right": at - wide}[one.align]
        assert left >= -1e-9 and left + wide <= width + 1e-9
        assert all(left + wide <= a or b <= left for a, b in spans.get(one.lane, []))
        spans.setdefault(one.lane, []).append((left, left + wide))
    if width > 320:  # else even one label for all is cut
        labels_text = " ".join(one.label for one in placed)
        for name in "βC":
            values = [mark.label[-4:] for mark in marks if mark.label.startswith(name)]
            assert all(value in labels_text for value in (*values[:1], *values[-1:]))


def test_marks_without_room_share_a_label():
    marks = [Mark(473, "β = 0.51"), Mark(505, "β = 0.52"), Mark(700, "β = 0.53"), Mark(1836, "C = 0.5")]
    placed = place(marks, lambda at: position(at, 1, 200_000, "log"), 260, 11)
    labels = [one.label for one in placed if one.lane is not None]
    assert labels == ["β = 0.51 … 0.52", "β = 0.53", "C = 0.5"]
    assert [one.label for one in place(marks, lambda at: position(at, 1, 2000, "linear"), 900, 11)] == [
        mark.label for mark in marks
    ]
    assert [one.label for one in place([Mark(1), Mark(2, "C = 1")], lambda at: at / 3, 300, 11)] == ["", "C = 1"]


@pytest.mark.parametrize("dark", [False, True])
def test_every_role_stands_out_from_its_ground(dark):
    grounds = {False: ["#ffffff"], True: ["#171614", "#0e1117"]}[dark]
    others = [theme.method_role(key) for key in ("itq", "sdh", "okh", "mihash", "a", "b", "c", "d")]
    for role in (*theme.ROLES, *others):
        hue = theme.colour(role, dark)
        assert re.fullmatch(r"#[0-9a-f]{6}", hue)
        assert min(theme.contrast(hue, ground) for ground in grounds) >= 3, role
        assert theme.contrast(theme.text_colour(role, dark), theme.ground(dark).background) >= 4.5, role
    ground = theme.ground(dark)
    assert theme.contrast(ground.ink, ground.background) >= 7
    assert theme.contrast(ground.faint, ground.background) >= 4.5


def test_a_light_colour_has_one_dark_form():
    for role in (*theme.ROLES, *(f"palette:{at}" for at in range(10))):
        assert theme.light_to_dark()[theme.colour(role)] == theme.colour(role, dark=True), role


def test_methods_keep_their_colour():
    assert theme.colour(theme.method_role("oh")) == theme.colour("similar")
    assert theme.colour(theme.method_role("unheard-of")) == theme.colour(theme.method_role("unheard-of"))
    own = {theme.colour(theme.method_role(key)) for key in ("oh", "mmoh", "lsh")}
    assert len(own) == 3 and theme.colour(theme.method_role("unheard-of")) not in own
    with pytest.raises(ValueError, match="role must be one of"):
        theme.colour("no such role")


def test_blue_and_orange_differ_in_lightness_or_hue_for_all_eyes():
    for dark in (False, True):
        blue, orange = theme.colour("similar", dark), theme.colour("dissimilar", dark)
        # blue-yellow survives red-green blindness: the blue channels lie far apart
        assert abs(int(blue[5:], 16) - int(orange[5:], 16)) > 100
