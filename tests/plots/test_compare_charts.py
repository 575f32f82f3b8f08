"""Charts of a comparison: every one at any moment, drawable by every renderer, methods told apart, fairness below."""

import json
import re

import numpy as np
import pytest

from ohash.comparison.costs import Cost
from ohash.comparison.params import build_comparison
from ohash.comparison.results import ComparisonSnapshot, LengthResult, MethodResult
from ohash.plots import compare as charts
from ohash.plots import layout, theme
from ohash.plots.chart import Axis, Chart, Mark, Series
from ohash.plots.compare_costs import COST_CHARTS, quality_against_cost
from ohash.plots.renderers.echarts import option
from ohash.plots.renderers.plotly import NARROWEST, PLOT, WIDTH, figure
from ohash.plots.renderers.svg import to_svg
from tests.comparison.snapshots import snapshot

SIX = {"oh": 0.7, "mmoh": 0.68, "sdh": 0.8, "itq": 0.55, "sign": 0.5, "lsh": 0.4}


def full(**values):
    now = snapshot(SIX, **values)
    lengths = [
        LengthResult(at, bits, bits // 8, level + bits / 2000, 0.3, np.full(200, level), {1: 0.3, 4: 0.6})
        for at, level in enumerate(SIX.values())
        for bits in (16, 64, 256)
    ]
    return ComparisonSnapshot(**{**vars(now), "lengths": tuple(lengths)})


def empty():
    one = build_comparison("fashion", tuple(SIX))
    return ComparisonSnapshot(one, one.entries, "starting", "curves", 0, 100)


def start():
    """Judged, and nothing learnt yet; the others are not even prepared."""
    now = full()
    first = now.results[0]
    checkpoints = {name: column[:1] for name, column in first.checkpoints.items()}
    result = MethodResult(**{**vars(first), "checkpoints": checkpoints, "t": 0, "state": "running"})
    return ComparisonSnapshot(**{**vars(now), "results": (result,), "references": ()})


@pytest.mark.parametrize("name", charts.CHARTS | COST_CHARTS)
@pytest.mark.parametrize("moment", [empty, start, full, lambda: full(seeds=(0, 1, 2)), lambda: full(drift="rotate")])
@pytest.mark.slow
def test_every_chart_at_any_moment_by_every_renderer(name, moment):
    chart = (charts.CHARTS | COST_CHARTS)[name](moment())
    assert chart.title and chart.alt
    assert chart.empty == (moment is empty)
    drawn = option(chart, dark=True, title=True)
    assert drawn["series"]
    assert figure(chart).to_json()
    assert to_svg(chart).startswith("<svg")
    if not chart.empty:
        assert "supervision: labels (SDH), pairs (OH, MMOH), none (the rest)" in chart.caption
        assert len(chart.table())


def test_methods_are_told_apart_by_colour_and_supervision_by_dash():
    chart = charts.curves(full())
    assert len({theme.colour(one.role) for one in chart.series}) == 6
    assert {one.name: one.dash for one in chart.series} == {
        "OH": "solid", "MMOH": "solid", "SDH": "dotted", "ITQ": "dashed", "Sign": "dashed", "LSH": "dashed",
    }  # fmt: skip
    assert [one.label for one in chart.series] == list(full().names)


def test_faint_seeds_and_a_thick_mean():
    now = full(seeds=(0, 1, 2))
    chart = charts.curves(now)
    mine = [one for one in chart.series if one.name.startswith("OH")]
    assert [one.opacity < 1 for one in mine] == [True, True, True, False]
    np.testing.assert_allclose(mine[-1].y, np.mean([one.y for one in mine[:-1]], axis=0))
    assert mine[-1].width > mine[0].width


def test_titles_rank_only_those_that_were_told_the_same():
    title = charts.curves(full()).title
    assert title == "Best mAP at 8 bytes: SDH .80 (from labels), OH .70 (from pairs), ITQ .55 (unsupervised)"


def test_all_that_make_the_table_compute_as_much_are_named():
    now = snapshot({"oh": 0.7, "itq": 0.5, "sdh": 0.8, "sign": 0.5})
    levels = (1000.0, 950.0, 400.0, 0.0)
    results = tuple(
        MethodResult(**{**vars(one), "checkpoints": {**one.checkpoints, "recomputed": np.array([0.0, 10.0, level])}})
        for one, level in zip(now.results, levels, strict=True)
    )
    title = charts.recomputed_bits(ComparisonSnapshot(**{**vars(now), "results": results})).title
    assert title == "OH and ITQ cause 1,000 bits to be recomputed"


def test_a_reference_is_drawn_and_ranked_nowhere():
    now = snapshot({"oh": 0.7, "itq": 0.5, "float": 0.9})
    for chart in (charts.curves(now), charts.truths(now)):
        assert "Exact search" not in chart.title and any(one.name == "Exact search" for one in chart.series)


def test_the_float_vectors_are_a_line_and_a_point():
    now = full()
    assert [mark.label for mark in charts.curves(now).marks] == ["float vectors .50"]
    point = charts.truths(now).series[-1]
    assert (point.name, float(point.x[0])) == ("float vectors", 1.0)
    assert charts.curves(now, "recall_10").marks == ()


def test_what_never_changes_reaches_the_end_of_the_cpu_axis():
    chart = charts.curves(full(), over="cpu")
    level = next(one for one in chart.series if one.name == "LSH")
    assert level.x[-1] == chart.x.hi
    assert chart.x.unit == "s"


@pytest.mark.parametrize("dark", [False, True])
def test_colours_of_any_six_methods_differ(dark):
    keys = ["oh", "itq", "itq", "sdh", "hcoh", "rotated"]
    assert len({theme.colour(role, dark) for role in theme.distinct_roles(keys)}) == len(keys)


@pytest.mark.parametrize(("sweep", "title"), [(True, "come last"), (False, "are switched off")])
def test_lengths_that_nobody_asked_for_are_not_announced(sweep, title):
    one = build_comparison("fashion", tuple(SIX), sweep=sweep)
    chart = charts.by_bits(ComparisonSnapshot(one, one.entries, "done", "done", 100, 100))
    assert chart.title == f"Other code lengths {title}"
    assert ("are learnt after" in chart.caption) == sweep


def test_labels_stand_beside_the_last_point_and_apart():
    lines = tuple(
        Series(f"m{k}", np.array([1.0, 2.0]), np.array([0.5, 0.5 + k / 1000]), label=f"m{k}") for k in range(4)
    )
    chart = Chart("t", Axis("x"), Axis("y", lo=0, hi=1), lines)
    drawn = option(chart, width=400)
    assert [one["endLabel"]["formatter"] for one in drawn["series"][:-1]] == ["m0", "m1", "m2", "m3"]
    assert len({one["endLabel"]["offset"][1] for one in drawn["series"][:-1]}) == 4
    assert drawn["grid"]["right"] > 16
    heights = [float(y) for y in re.findall(r'<text x="[\d.]+" y="([\d.]+)" fill="#\w+">m\d', to_svg(chart))]
    assert len(heights) == 4
    assert min(abs(a - b) for k, a in enumerate(heights) for b in heights[:k]) > 7
    notes = json.loads(figure(chart).to_json())["layout"]["annotations"]
    assert [note["text"] for note in notes] == ["m0", "m1", "m2", "m3"]


def boxes(chart, width, height, size):
    """Left, right and middle of the names of points, in pixels, each with its own point and its leader."""
    x_ends, y_ends = layout.limits(chart, "x"), layout.limits(chart, "y")
    for one in layout.labels(chart, width, height, size):
        x = layout.position(one.at[0], *x_ends, chart.x.scale) * width
        y = layout.position(one.at[1], *y_ends, chart.y.scale) * height
        wide = layout.text_width(one.of.label, size)
        left = x + one.across - (wide if one.over else 0)
        yield left, left + wide, y + one.up, (x, y), one.leader


def away(left, right, middle, spot, size):
    """How far a place is from a name."""
    x, y = spot
    return float(np.hypot(max(left - x, x - right, 0), max(abs(middle - y) - size / 2, 0)))


CROWDED = {"OH": (36.0, 0.36), "My": (33.0, 0.38), "AdaptHash": (43.0, 0.36), "LSH": (43.0, 0.362), "": (40.0, 0.37)}


@pytest.mark.parametrize("width", [200, 300, 500])
def test_the_name_of_a_point_covers_no_other_point_and_no_other_name(width):
    series = tuple(Series(name, np.array([x]), np.array([y]), "points", label=name) for name, (x, y) in CROWDED.items())
    chart = Chart("t", Axis("x", lo=0, hi=100), Axis("y", lo=0.3, hi=1), series)
    height, size = 150, 11
    dots = [(x / 100 * width, (y - 0.3) / 0.7 * height) for x, y in CROWDED.values()]
    texts = list(boxes(chart, width, height, size))
    assert len(texts) == 4
    for k, (left, right, y, own, leader) in enumerate(texts):
        assert left >= 0 and 0 <= y <= height
        others = [spot for spot in dots if np.hypot(spot[0] - own[0], spot[1] - own[1]) > 1e-6]
        nearest = min(away(left, right, y, spot, size) for spot in others)
        assert nearest > 0.4 * size
        assert leader is not None or away(left, right, y, own, size) < nearest, "else it is taken for another's"
        assert all(b <= left or right <= a or abs(y - other) > size for a, b, other, *_ in texts[:k])


def test_a_leader_ends_at_the_name_and_is_drawn_by_every_renderer():
    series = tuple(Series(name, np.array([x]), np.array([y]), "points", label=name) for name, (x, y) in CROWDED.items())
    chart = Chart("t", Axis("x", lo=0, hi=100), Axis("y", lo=0.3, hi=1), series)
    for left, right, y, own, leader in boxes(chart, 300, 150, 11):
        if leader is not None:
            assert away(left, right, y, (own[0] + leader[0], own[1] + leader[1]), 11) < 1e-6
    drawn = option(chart, width=400)["series"]
    led = [one.leader is not None for one in layout.labels(chart, 300, 150, 11)]
    assert any(led) and any(one.get("labelLine", {}).get("show") for one in drawn)
    assert any(one.xsizemode == "pixel" for one in figure(chart).layout.shapes)
    assert to_svg(chart).count('stroke-width="0.4"') > 0


@pytest.mark.parametrize("width", [250, 400, 700])
def test_the_names_of_points_lie_on_no_line(width):
    """The Pareto front of the cost charts crossed the name of Product quantisation, which stands right of its point."""
    places = {
        "OH": (5.0, 0.4),
        "Product quantisation": (8.0, 0.55),
        "int8": (60.0, 0.6),
        "float vectors": (1024.0, 1.0),
    }
    points = tuple(Series(name, np.array([x]), np.array([y]), "points", label=name) for name, (x, y) in places.items())
    ends = np.array(list(places.values()))
    front = Series("Pareto front", ends[:, 0], ends[:, 1], "line", "reference", "dashed")
    chart = Chart("t", Axis("x", "log", lo=1, hi=10_000), Axis("y", lo=0, hi=1), (front, *points))
    x_ends = layout.limits(chart, "x")
    height, size = 150, 11
    at = [layout.position(x, *x_ends, "log") * width for x in ends[:, 0]]
    for left, right, y, *_ in boxes(chart, width, height, size):
        under = np.linspace(left, right, 200)
        crossed = np.abs(np.interp(under, at, ends[:, 1] * height, left=np.nan, right=np.nan) - y) < 0.6 * size
        assert not crossed.any()


@pytest.mark.parametrize("width", [250, 400, 700])
def test_among_lines_the_names_of_points_lie_on_no_point_no_level_and_no_name(width):
    """Agreement by bits: the name of PQ crossed the point of Sign, and that of int8 lay on the line of the floats."""
    points = {"Product quantisation": (64.0, 0.6), "Sign": (128.0, 0.61), "int8": (512.0, 0.7)}
    lines = {"OH": 0.5, "ITQ": 0.505}
    series = [Series(name, np.array([x]), np.array([y]), "points", label=name) for name, (x, y) in points.items()]
    series += [Series(name, np.array([16.0, 256.0]), np.array([0.3, y]), label=name) for name, y in lines.items()]
    level = Mark(0.7, "float vectors .70", "y")
    chart = Chart("t", Axis("x", "log", lo=10, hi=1000), Axis("y", lo=0, hi=1), tuple(series), (level,))
    height, size = 200, 11
    labels = layout.labels(chart, width, height, size)
    assert [one.of.label for one in labels] == [*points, *lines, level.label]
    spots = [(layout.position(x, 10, 1000, "log") * width, y * height) for x, y in points.values()]
    texts = []
    for one in labels:
        wide, x = layout.text_width(one.of.label, size), layout.position(one.at[0], 10, 1000, "log") * width
        left = x + (8 if one.across is None else one.across - (wide if one.over else 0))
        texts.append((left, left + wide, one.at[1] * height + one.up))
    for k, (left, right, y) in enumerate(texts):
        assert all(b <= left or right <= a or abs(y - other) >= size for a, b, other in texts[:k])
        if k < len(points):
            assert min(away(left, right, y, spot, size) for spot in spots) > 0.4 * size
            assert abs(y - 0.7 * height) > 0.6 * size


@pytest.mark.parametrize("width", [NARROWEST, 400, WIDTH])
def test_names_that_a_figure_keeps_apart_on_a_phone_are_apart_in_every_window(width):
    places = {"Click whitening": (0.3, 0.18), "Product quantisation": (0.5, 0.187), "int8": (1.0, 0.22)}
    series = tuple(Series(name, np.array([x]), np.array([y]), "points", label=name) for name, (x, y) in places.items())
    drawn = figure(Chart("t", Axis("x", lo=0, hi=1), Axis("y", lo=0, hi=0.3), series))
    texts = []
    for one in drawn.layout.annotations:
        left, size = one.x * width + one.xshift, one.font.size
        texts.append((left, left + layout.text_width(one.text, size), one.y / 0.3 * PLOT + one.yshift, size))
    assert len(texts) == 3
    for k, (left, right, y, size) in enumerate(texts):
        assert all(b <= left or right <= a or abs(y - other) >= size for a, b, other, _ in texts[:k])


def test_a_long_name_left_of_the_right_end_takes_no_room_beside_the_plot():
    """Beside a name of 240 px, which ends within the plot, the plot of a figure on half a page had 150 px."""
    names = {"A name that is very long indeed": 0.0, "int8": 1.0}
    series = tuple(Series(name, np.array([x]), np.array([0.5]), "points", label=name) for name, x in names.items())
    drawn = figure(Chart("t", Axis("x", lo=0, hi=1), Axis("y", lo=0, hi=1), series))
    assert drawn.layout.margin.r < 24 + layout.text_width("A name that is very long indeed", theme.SIZE)
    assert drawn.layout.margin.r >= 24 + layout.text_width("int8", theme.SIZE)


def test_spread_keeps_labels_apart_and_inside():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(1, 9))
        places = list(zip(rng.uniform(0, 60, n), rng.uniform(5, 40, n), rng.uniform(0, 100, n), strict=True))
        placed = layout.spread(places, 10, 0, 100)
        for k, (x, wide, _) in enumerate(places):
            for j, (x_other, wide_other, _) in enumerate(places[:k]):
                if x < x_other + wide_other and x_other < x + wide:
                    assert abs(placed[k] - placed[j]) >= 10 - 1e-9
        assert -1e-9 <= min(placed) and max(placed) <= 100 + 1e-9


def test_quality_against_cost_joins_the_methods_that_none_beats():
    now = full()
    fast, slow = (
        Cost(64, 8.0, (1e-4, 1e-4), (1e-4, 1e-4), 1e4, 0.0),
        Cost(64, 16.0, (1e-3, 1e-3), (1e-3, 1e-3), 1e4, 0.0),
    )
    costs = [slow if name in ("OH", "LSH") else fast for name in now.names]
    now = ComparisonSnapshot(**{**vars(now), "costs": (*costs, slow)})
    front, *methods = quality_against_cost(now, "", "queries").series
    assert front.name == "Pareto front" and len(methods) == len(SIX) + 1
    assert front.y.tolist() == [pytest.approx(0.8)] and front.x.tolist() == [pytest.approx(5000)]
    chart = quality_against_cost(now, "recall_10", "bytes")
    assert chart.x.label == "bytes per item" and chart.series[0].y[-1] == 1.0, "the float vectors keep the distance"
    assert "Costs are measured" in quality_against_cost(empty(), "", "bytes").title


def test_beyond_eight_methods_each_kind_of_supervision_has_its_chart():
    few = full()
    assert charts.kinds(few) == [""]
    nine = ("oh", "mmoh", "mlh", "lego", "adapthash", "sdh", "itq", "lsh", "sketch_hash", "hcoh")
    now = snapshot(dict.fromkeys(nine, 0.5) | {"mlh": 0.6, "hcoh": 0.9})
    assert charts.kinds(now) == ["pairs", "labels", "none"]
    whole = charts.curves(now)
    for kind in charts.kinds(now):
        chart = charts.curves(now, kind=kind)
        named = [one.label for one in chart.series if one.label]
        assert named == [now.names[at] for at in range(len(nine)) if now.supervision(at) == kind]
        assert (chart.y.lo, chart.y.hi) == (whole.y.lo, whole.y.hi), "the same axes, to compare by eye"
        assert len(chart.series) == len(nine) and all(one.role == "reference" for one in chart.series if not one.label)
    assert "MLH .60" in charts.curves(now, kind="pairs").title and "HCOH" not in charts.curves(now, kind="pairs").title
    points = charts.truths(now)
    assert 1 < sum(bool(one.label) for one in points.series) < 6 and "point to another" in points.caption
    assert len(points.series) == len(nine) + 1 and "point to another" not in charts.truths(few).caption
