"""Charts keep their plot and their type: live changes, growing axes, the full screen, titles of numbers."""

import textwrap
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ohash.plots.chart import Axis, Chart, Mark, Series
from ohash.plots.live.axes import AxisRanges
from ohash.plots.renderers.echarts import option
from ohash.plots.renderers.responsive import FULL_SCREEN, LARGER, MIN_WIDTH, wrap
from ohash.plots.theme import SIZE_PRESENTED


def chart(top: float = 10.0, title: str = "Cumulative loss is 28,800; with W frozen 33,200: 13 % less") -> Chart:
    x = np.arange(1, 6)
    curves = tuple(Series(name, x, top * x / 5) for name in ("W frozen", "learning"))
    return Chart(title, Axis("pairs"), Axis("loss"), curves)


def test_five_live_changes_leave_the_chart_its_plot() -> None:
    marks = tuple(Mark(at, f"β = 0.5{at}, C = 0.{at}") for at in range(1, 6))
    drawn = option(replace(chart(), marks=marks), height=178, width=340, size=11, title=True, title_lines=2)
    grid = drawn["grid"]
    assert 178 - grid["top"] - grid["bottom"] > 60
    labels = [line["label"].get("formatter", "") for line in drawn["series"][-1]["markLine"]["data"]]
    assert any("0.51 … 0.55" in text for text in labels), "they share a label"


@pytest.mark.parametrize("size", [11, 12, SIZE_PRESENTED])
def test_the_legend_and_the_labels_of_marks_have_a_line_each(size: int) -> None:
    drawn = option(replace(chart(), marks=(Mark(3.0, "β r = 24"),)), height=400, width=425, size=size)
    (label,) = (line["label"] for line in drawn["series"][-1]["markLine"]["data"])
    over_label = drawn["grid"]["top"] - label["distance"][1] - 1.2 * size
    assert over_label - drawn["legend"]["top"] >= 1.2 * size


@pytest.mark.parametrize(("width", "height"), [(779, 380), (1190, 540)])
def test_a_title_on_stage_ends_before_the_switch_on_its_chart(width: int, height: int) -> None:
    """The first of two charts at 1280 x 800, and at 1920 x 1080; a letter is about half as wide as high."""
    long = "Labels: mAP goes from .52 to .54, within its uncertainty, in 421 pairs"
    given: Any = {"width": 760, "title_width": 699, "title_lines": 2, "title_margin": 330}
    drawn = option(chart(title=long), size=SIZE_PRESENTED, presenting=True, title=True, **given)
    shown, size = long, SIZE_PRESENTED + 2.0
    for one in drawn["media"]:
        query = one["query"]
        fits = query.get("minWidth", 0) <= width <= query.get("maxWidth", 10**4)
        if fits and query.get("minHeight", 0) <= height <= query.get("maxHeight", 10**4):
            shown = one["option"].get("title", [{}])[0].get("text", shown)
            size = one["option"].get("title", [{}])[0].get("textStyle", {}).get("fontSize", size)
    switch = 330 * size / (SIZE_PRESENTED + 2)
    assert 0.48 * size * max(len(line) for line in shown.splitlines()) < width - switch


def test_axes_grow_and_do_not_snap_back() -> None:
    ranges = AxisRanges()
    tops = [ranges.widen("b", chart(top)).y.hi for top in (10.0, 40.0, 5.0)]
    assert tops == [10.0, 40.0, 40.0]
    assert AxisRanges().widen("b", chart(5.0)).y.hi == 5.0, "another run begins anew"
    assert ranges.widen("b", replace(chart(5.0), y=Axis("share"))).y.hi == 5.0, "so does another score"


def test_the_first_pairs_do_not_count() -> None:
    ranges = AxisRanges()
    assert ranges.widen("b", chart(100.0), remember=False).y.hi == 100.0
    assert ranges.widen("b", chart(10.0)).y.hi == 10.0


def test_a_title_keeps_its_height_and_its_numbers_whole() -> None:
    short, long = (
        option(chart(title=title), height=178, width=340, size=11, title=True, title_lines=2)
        for title in ("Loss is 1", "Cumulative loss is 28,800; with W frozen 33,200: 13 % less")
    )
    assert short["grid"]["top"] == long["grid"]["top"]
    texts = [one["option"]["title"][0]["text"] for one in long["media"][:-1]]
    assert any("\n" in text for text in texts)
    assert all("28,800" in text and "33,200" in text for text in texts)


@pytest.mark.parametrize("width", [500, 619, 720])
def test_a_title_that_fits_into_its_room_does_not_move_the_plot_where_a_switch_is_beside_it(width: int) -> None:
    given: Any = {"height": 212, "width": 610, "title_width": 476, "title_lines": 2, "title_margin": 270, "size": 11}
    places = []
    for title in (
        "mAP rises from .63 to .72 in 6,000 pairs",
        "Labels: mAP goes from .63 to .64, within error, in 6,000 pairs",
    ):
        drawn = option(chart(title=title), title=True, **given)
        tops = [drawn["grid"]["top"]]
        for one in drawn["media"]:
            fits = one["query"].get("minWidth", 0) <= width <= one["query"].get("maxWidth", 10**4)
            if fits and one["query"].get("minHeight", 0) <= 212 and "grid" in one["option"]:
                tops.append(one["option"]["grid"].get("top", tops[-1]))
        places.append(tops[-1])
    assert places[0] == places[1]


def test_at_any_width_at_most_one_query_breaks_the_title() -> None:
    title = "Cumulative similarity loss R is 1,138,000; with W frozen 1,142,000: 3 % less"
    drawn = option(chart(title=title), height=178, width=340, size=11, title=True, title_lines=2)
    queries = [one for one in drawn["media"] if "minWidth" in one["query"]]
    lines = set()
    for width in range(1, 1400):
        held = [one for one in queries if one["query"]["minWidth"] <= width <= one["query"]["maxWidth"]]
        assert len(held) <= 1, "ECharts would apply them all"
        shown = held[0]["option"]["title"][0]["text"] if held else title
        if width >= MIN_WIDTH:
            assert 0.5 * 13 * max(len(line) for line in shown.split("\n")) <= width, "it would be cut off"
        assert shown.replace("\n", " ") == title
        lines.add(shown.count("\n") + 1)
    assert lines == {1, 2, 3}


def test_type_is_larger_on_the_full_screen() -> None:
    drawn = option(chart(), height=178, width=340, size=11, title=True, title_lines=2)
    full = drawn["media"][-1]
    assert full["query"]["minHeight"] > 400, "higher than any chart inside a page"
    for one, axis in ((full["option"]["xAxis"], drawn["xAxis"]), (full["option"]["yAxis"], drawn["yAxis"])):
        assert one["axisLabel"]["fontSize"] == pytest.approx(LARGER * axis["axisLabel"]["fontSize"], abs=1)
    assert full["option"]["title"][0]["textStyle"]["fontSize"] >= 20


def test_on_the_stage_type_is_readable_from_the_back_and_titles_are_whole() -> None:
    title = "Pair AUC .91: similar pairs differ in 11 of 48 bits, dissimilar ones in 25"
    drawn = option(
        chart(title=title), height=400, width=425, size=SIZE_PRESENTED, title=True, title_lines=2, presenting=True
    )
    full = next(one for one in drawn["media"] if one["query"] == {"minHeight": FULL_SCREEN})["option"]
    sizes = [full[axis][part]["fontSize"] for axis in ("xAxis", "yAxis") for part in ("axisLabel", "nameTextStyle")]
    assert min(*sizes, full["title"][0]["textStyle"]["fontSize"], full["textStyle"]["fontSize"]) >= 20
    narrow = next(one for one in drawn["media"] if one["query"] == {"minHeight": FULL_SCREEN, "maxWidth": 740})
    assert "\n" in narrow["option"]["title"][0]["text"]


def test_leaving_the_full_screen_sets_back_what_it_enlarged() -> None:
    many = replace(chart(), marks=(Mark(3, "β = 0.6"), Mark(5, "start", "y")))
    drawn = option(many, height=178, width=340, size=11, title=True, title_lines=2)
    usual, *_, full = drawn["media"]
    assert usual["query"]["maxHeight"] == full["query"]["minHeight"] - 1, "one of them holds at any height"
    assert places(usual["option"]) == places(full["option"]), "ECharts undoes nothing by itself"
    assert usual["option"]["grid"] == {key: drawn["grid"][key] for key in ("left", "right", "top", "bottom")}
    assert usual["option"]["xAxis"]["axisLabel"]["fontSize"] == drawn["xAxis"]["axisLabel"]["fontSize"]


def test_a_chart_that_moves_sets_itself_back_with_its_next_frame() -> None:
    rests, moves = (
        option(chart(), height=178, width=340, size=11, title=True, title_lines=2, moving=moving)
        for moving in (False, True)
    )
    assert rests["media"][1:] == moves["media"], "without the query that always holds in a page"
    (full,) = (one["option"] for one in moves["media"] if "minHeight" in one["query"])
    enlarged = {path for path in places(full) if path[0] != "series"}
    assert enlarged <= places(moves), "all that the full screen enlarges is in the chart itself"


def test_a_third_line_of_a_title_pushes_the_legend_down() -> None:
    title = "Cumulative similarity loss R is 1,138,000; with W frozen 1,142,000: 3 % less"
    drawn = option(chart(title=title), height=178, width=340, size=11, title=True, title_lines=2)
    for one in drawn["media"][1:-1]:
        changed = one["option"]
        down = max(0, len(changed["title"][0]["text"].split("\n")) - 2) * line_height(drawn)
        assert changed["legend"]["top"] == drawn["legend"]["top"] + down
        assert changed["grid"]["top"] == drawn["grid"]["top"] + down
    assert any(one["option"]["title"][0]["text"].count("\n") > 1 for one in drawn["media"][1:-1])


def line_height(drawn: dict[str, Any]) -> int:
    return int(drawn["title"][0]["textStyle"]["lineHeight"])


def places(part: object, path: tuple[object, ...] = ()) -> set[tuple[object, ...]]:
    """Where an option sets something."""
    if isinstance(part, dict | list):
        items = part.items() if isinstance(part, dict) else enumerate(part)
        return {place for key, value in items for place in places(value, (*path, key))}
    return {path}


def test_a_label_of_several_changes_stands_where_it_has_room() -> None:
    values = ("β = 0.55", "C = 0.2", "β = 0.6", "C = 0.05", "β = 0.45")
    marks = tuple(Mark(at, text) for at, text in zip((0.4, 0.9, 1.7, 1.8, 3.8), values, strict=True))
    drawn = option(replace(chart(), marks=marks), height=178, width=340, size=11, title=True, title_lines=2)
    labels = [line["label"].get("formatter", "") for line in drawn["series"][-1]["markLine"]["data"]]
    assert [text for text in labels if text] == ["β = 0.55 … 0.6, C = 0.2 … 0.05", "β = 0.45"], "not cut off"


@pytest.mark.parametrize("characters", [20, 30, 44, 45, 46, 47, 200])
@pytest.mark.parametrize("title", ["", "short", "Labels: pair-AUC of recent pairs is .91 or more"])
def test_a_title_that_fits_is_broken_as_any_other(title: str, characters: int) -> None:
    assert wrap(title, characters) == textwrap.wrap(title, characters)
