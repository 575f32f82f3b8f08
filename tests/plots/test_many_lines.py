"""Charts of many lines: no two look alike, each is named where the eye is, and what is not drawn is said."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohash.paper.figures import FIGURES
from ohash.paper.measurements import Measurements, SeedResult
from ohash.paper.protocol import QUICK
from ohash.plots import layout, paper, sweeps, theme
from ohash.plots.chart import Axis, Chart, Series
from ohash.plots.renderers.echarts import option
from ohash.plots.renderers.html_legend import legend_html
from ohash.plots.renderers.plotly import figure, has_long_legend, pickable, stack_linked
from ohash.plots.renderers.svg import to_svg
from ohash.store.store import Store
from ohash.sweeps.results import Point
from ohash.sweeps.specification import build_sweep

BASE = {"dataset": "blobs2d", "m": 16, "pairs": 150, "judged_at": "ends"}


def drawn(chosen, along="r", value=lambda place: 0.5):
    points = [
        Point(at, tuple(cells), tuple({"map": value(dict(at)), "cum_R": value(dict(at))} for _ in cells))
        for at, cells in chosen.by_point()
    ]
    return sweeps.lines(chosen, points, "map", along)


def seen(one: Series):
    return theme.colour(one.role), one.dash, one.marker


# -- looks -----------------------------------------------------------------------------------------------------------


@given(st.integers(1, 4), st.integers(1, 12))
def test_no_two_of_the_lines_that_are_drawn_look_alike(methods, rests):
    names = ["oh", "mmoh", "mlh", "lego"][:methods]
    cases = [(name, f"rest {at}") for name in names for at in range(rests)][: sweeps.MAX_LINES]
    styles = theme.case_styles(cases)
    assert len({(theme.colour(one.role), one.dash, one.marker) for one in styles}) == len(cases)
    if methods > 1:
        colours = {case[0]: theme.colour(one.role) for case, one in zip(cases, styles, strict=True)}
        assert len(set(colours.values())) == len(colours), "the colour says the method"


@pytest.mark.parametrize("key", ["6", "7", "8"])
@pytest.mark.parametrize("dark", [False, True])
def test_the_methods_of_a_figure_of_the_paper_have_colours_of_their_own(key, dark):
    styles = paper.figure_styles(FIGURES[key])
    assert set(styles) == set(FIGURES[key].methods)
    assert len({theme.colour(one.role, dark) for one in styles.values()}) == len(styles)
    assert styles["oh"].role == theme.method_role("oh")
    online = paper.figure_styles(FIGURES["6"])
    assert key == "8" or all(online[name] == look for name, look in styles.items() if name in online)


# -- sweeps ----------------------------------------------------------------------------------------------------------


def test_few_lines_are_named_beside_their_ends_and_many_in_a_legend_by_method():
    few = drawn(build_sweep(base=BASE, grid={"r": [8, 16]}, cases=[{"method": "oh"}, {"method": "mlh"}], seeds=3))
    assert [one.label for one in few.series if one.kind == "line"] == ["OH", "MLH"]
    assert not any(one.listed for one in few.series) and not has_long_legend(few)
    cases = [{"method": name, "sigma": sigma} for name in ("oh", "mlh") for sigma in (0.5, 1.0, 2.0, 4.0, 8.0)]
    more = drawn(build_sweep(base=BASE, grid={"r": [8, 16]}, cases=cases, seeds=3))
    lines = [one for one in more.series if one.kind == "line"]
    assert len(lines) == sum(one.listed for one in more.series) == 10 and not any(one.label for one in lines)
    assert [one.group for one in lines] == ["oh"] * 5 + ["mlh"] * 5 and all(one.spread is None for one in lines)
    fig = pickable(more)
    assert has_long_legend(more) and fig.layout.legend.yanchor == "bottom" and fig.layout.legend.y == 0
    below = legend_html(more)
    assert below.count('"listitem"') == below.count("<img") == 10 and all(
        f"<span>{one.name}<" in below for one in lines
    )
    assert [trace.legendgroup for trace in fig.data if trace.showlegend] == ["oh"] * 5 + ["mlh"] * 5
    assert all(trace.mode == "lines+markers" for trace in fig.data if trace.showlegend), "the legend shows the shapes"


def test_a_line_is_named_by_what_tells_it_apart():
    same = {"method": "mmoh", "T": 4, "beta": 0.4, "C": 0.1}
    cases = [
        {"dataset": "blobs2d", **same},
        {"dataset": "blobs", **same, "beta": 0.5},
        {"dataset": "blobs", "method": "oh"},
    ]
    base = {key: value for key, value in BASE.items() if key != "dataset"}
    chart = drawn(build_sweep(base=base, grid={"r": [8, 16]}, cases=cases))
    assert [one.name for one in chart.series if one.kind == "line"] == ["blobs2d, MMOH", "blobs, MMOH", "blobs, OH"]
    chart = drawn(build_sweep(base=base, grid={"r": [8, 16]}, cases=[{"method": "mmoh", "T": T} for T in (2, 4)]))
    assert [one.name for one in chart.series if one.kind == "line"] == ["T = 2", "T = 4"]


def test_a_name_in_the_legend_is_text():
    chart = Chart("", Axis("x"), Axis("y"), (line("<b>a</b>"),))
    assert "<b>" not in legend_html(chart) and "&lt;b&gt;" in legend_html(chart)


def test_no_more_lines_than_can_be_told_apart_and_the_rest_is_said():
    grid = {"C": [0.01, 0.1, 1.0, 10.0], "beta": [0.2, 0.4, 0.6, 0.8], "r": [8, 16, 32]}
    chart = drawn(build_sweep(base=BASE, grid=grid), value=lambda place: place["C"] / 20 + place["beta"] / 1000)
    names = [one.name for one in chart.series if one.kind == "line"]
    assert len(names) == sweeps.MAX_LINES and not any("C = 0.01" in name for name in names), "the lowest are left out"
    assert "12 of 16 lines that reach highest" in chart.caption and names[0] == "C = 0.1, β = 0.2"


def test_ticks_stand_where_something_was_run():
    chart = drawn(build_sweep(base=BASE, grid={"r": [8, 16, 32, 64]}))
    assert layout.ticks(*layout.limits(chart, "x"), chart.x) == [8, 16, 32, 64]
    dense = drawn(build_sweep(base=BASE, grid={"r": [8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]}))
    assert not dense.x.at


# -- the paper -------------------------------------------------------------------------------------------------------


def test_what_is_linear_in_the_samples_is_parallel_to_the_guide(tmp_path, monkeypatch):
    """Times are those of a method that takes so long a pair, after a tenth that took longer (compiling)."""
    pairs = np.arange(0, 40_001, 4000.0)
    seconds_per_pair = {"oh": 1e-6, "mmoh": 5e-6, "lego": 1e-4}

    def seeds(self, key, setting, method, x):
        if method not in seconds_per_pair:
            raise paper.MissingCellError(method)
        return [SeedResult(method, {})]

    def arrays(self, seed):
        return {
            "checkpoints/pairs": pairs,
            "checkpoints/cpu_learn": 3.0 * (pairs > 0) + seconds_per_pair[seed.key] * pairs,
        }

    monkeypatch.setattr(Measurements, "seeds", seeds)
    monkeypatch.setattr(Measurements, "arrays", arrays)
    measured, figure_7 = Measurements(Store(tmp_path), QUICK), FIGURES["7"]
    chart = paper.charts(measured, figure_7)[0]
    assert chart.x.scale == chart.y.scale == "log" and "linear in the samples" in chart.caption
    *curves, guide = [one for one in chart.series if one.kind == "line"]
    assert guide.name == "linear" and [one.label for one in curves] == ["OH", "MMOH", "LEGO-LSH"]
    for one in (*curves, guide):
        np.testing.assert_allclose(np.diff(np.log(one.y)) / np.diff(np.log(one.x)), 1.0, rtol=1e-9)
    assert guide.y[-1] < min(one.y[-1] for one in curves), "below all of them"
    assert len(layout.ticks(*layout.limits(chart, "x"), chart.x)) >= 3


# -- renderers -------------------------------------------------------------------------------------------------------


def line(name, **more):
    return Series(name, np.array([1.0, 2.0]), np.array([0.2, 0.4]), **more)


def test_names_in_a_legend_of_capitals_do_not_touch_the_next_mark():
    names = ["MMOH", "LEGO-LSH", "OH", "MLH", "OSH", "ADAPTHASH"]
    text = to_svg(Chart("", Axis("x"), Axis("y"), tuple(line(name) for name in names)))
    places = {name: re.search(rf'<text x="([\d.]+)" y="([\d.]+)" >{name}<', text).groups() for name in names}
    for one, other in pairwise(names):
        (x, y), (x_next, y_next) = (map(float, places[name]) for name in (one, other))
        if y == y_next:  # the mark of the next is 2 type sizes wide; a capital of Helvetica at most 0.83 of one
            assert x + 0.72 * 8 * len(one) < x_next - 2 * 8


def test_a_long_legend_leaves_the_plot_its_height():
    def plot_height(lines):
        text = to_svg(Chart("mAP", Axis("x"), Axis("y"), tuple(lines)))
        return float(re.search(r'<clipPath id="[\w-]+"><rect [^>]*height="([\d.]+)"', text)[1]), text

    few, _ = plot_height([line("oh"), line("itq")])
    for groups in (1, 12):
        many, text = plot_height([line(f"method {at}", group=str(at % groups)) for at in range(12)])
        assert many > 0.75 * few and 'width="88mm"' in text
    rows = set(re.findall(r'y="([\d.]+)" >method', text))
    assert len(rows) < 12, "methods of one line each share rows"


def test_several_figures_on_a_page_clip_by_their_own_box():
    wide = Chart("", Axis("x"), Axis("y"), (line("a"),))
    tall = Chart("", Axis("x"), Axis("y", lo=0, hi=1e6, format="count"), (line("a"),))
    ids = [re.search(r'clipPath id="([\w-]+)"', to_svg(chart)).group(1) for chart in (wide, tall)]
    assert len(set(ids)) == 2


def test_a_point_at_the_top_can_be_clicked():
    best = Series("a", np.array([1.0, 2.0]), np.array([0.5, 1.0]), kind="points")
    low, high = pickable(Chart("", Axis("x"), Axis("mAP", lo=0, hi=1), (best,))).layout.yaxis.range
    assert low < 0 and high > 1


def test_shapes_are_drawn_and_said_once():
    several = [line("a", marker="square"), line("a", marker="square", kind="points", listed=False), line("b")]
    chart = Chart("", Axis("x"), Axis("y"), tuple(several))
    text = to_svg(chart)
    assert text.count('Z"/>') == 3 and "<circle" not in text, "two points and the legend"
    fig = figure(chart)
    assert [trace.mode for trace in fig.data] == ["lines+markers", "markers", "lines"]
    assert fig.data[1].hoverinfo == "skip" and fig.data[0].hoverinfo is None, "the pointer reads each value once"
    assert pickable(chart).data[1].hovertemplate and pickable(chart).data[0].hoverinfo == "skip"


def test_two_linked_charts_share_their_x_and_are_read_at_once():
    upper, lower = (Chart(name, Axis("pairs"), Axis(name), (line("a"), line("b"))) for name in ("mAP", "recall@10"))
    fig = stack_linked(upper, lower)
    assert [trace.yaxis for trace in fig.data] == [None, None, "y2", "y2"] and fig.layout.hoversubplots == "axis"
    assert all(trace.xaxis is None for trace in fig.data), "on one x axis, as that kind of pointer needs"
    assert [bool(trace.showlegend) for trace in fig.data] == [True, True, False, False]
    assert [trace.hovertemplate.split()[0] for trace in fig.data] == ["mAP", "mAP", "recall@10", "recall@10"]


def test_where_lines_are_compared_the_one_under_the_pointer_stands_out():
    chart = Chart("", Axis("x"), Axis("y"), (line("a"), line("b")))
    drawn = option(chart, highlight=True)
    assert all(one["emphasis"]["focus"] == "series" for one in drawn["series"][:2])
    assert drawn["tooltip"]["axisPointer"]["triggerEmphasis"] is False
    assert option(chart)["series"][0]["emphasis"] == {"disabled": True}, "a moving chart would flicker"
