"""What stands behind and beside the present curve: ghosts, references, and their labels."""

from dataclasses import replace

import numpy as np
import pytest

from ohash.engine.params import experiment
from ohash.plots import layout, theme
from ohash.plots.chart import Axis, Chart, Series
from ohash.plots.live import charts
from ohash.plots.live.other_runs import MAX_POINTS, Ghost
from ohash.plots.renderers.echarts import option
from ohash.plots.renderers.echarts_frame import frame_of
from ohash.plots.renderers.plotly import figure
from ohash.plots.thinning import thin
from tests.plots.chart_parts import names
from tests.plots.moments import picture
from tests.selection import first


@pytest.mark.slow
def test_ghosts_are_thin_pale_short_and_named_beside_their_end():
    ghost = charts.ghost_of(picture("long"), "β = 0.3")
    assert all(len(column) <= MAX_POINTS and column.dtype == np.float32 for column in ghost.columns.values())
    assert ghost.columns["pairs"][0] == 1 and ghost.columns["pairs"][-1] == 1_000_000
    chart = charts.quality(picture("oh"), "auc", ghosts=[ghost], pinned=charts.ghost_of(picture("mmoh"), "pinned"))
    first, second = chart.series[:2]
    assert (first.name, first.role, first.listed, first.max_points) == ("β = 0.3", "ghost", False, 200)
    assert (second.name, second.role, second.listed) == ("pinned", "pinned", False)
    assert [one.label for one in chart.series[:4]] == ["β = 0.3", "pinned", "", ""]
    empty = charts.ghost_of(picture("start:oh"), "nothing")
    assert names(charts.quality(picture("oh"), ghosts=[empty])) == ["each checkpoint", "moving average"]
    left = {name: column[:1] for name, column in ghost.checkpoints.items()}
    assert "left at once" not in names(
        charts.quality(picture("oh"), ghosts=[replace(ghost, label="left at once", checkpoints=left)])
    )
    bare = Ghost("bare", ghost.params, {"pairs": np.empty(0, np.float32)}, {"pairs": np.empty(0, np.float32)})
    assert "bare" not in names(charts.quality(picture("oh"), "auc", ghosts=[bare]))


def test_a_run_of_other_data_does_not_set_the_scale():
    now = picture("oh")
    ghost = charts.ghost_of(now, "pinned")
    low = replace(ghost, checkpoints={**ghost.checkpoints, "map": 0.01 * ghost.checkpoints["map"]})
    elsewhere = replace(low, params=experiment("moons"))
    assert charts.quality(now, pinned=elsewhere).y == charts.quality(now).y == charts.quality(now, pinned=ghost).y
    assert charts.quality(now, pinned=low).y.lo < charts.quality(now).y.lo
    assert "pinned" in names(charts.quality(now, pinned=elsewhere))


@pytest.mark.parametrize(("width", "size"), [(610, theme.SIZE_COMPACT), (760, theme.SIZE_PRESENTED)])
def test_a_label_beside_a_curve_ends_within_the_chart(width, size):
    chart = charts.quality(picture("oh"), pinned=charts.ghost_of(picture("oh"), "pinned, Digits: OH on test queries"))
    drawn = option(chart, dark=False, height=235, width=width, size=size)["series"]
    (line,) = (one for one in drawn if "endLabel" in one)
    frame = frame_of(chart, width, 235, size, heading=0, legend=False)
    text = line["endLabel"]["formatter"]
    (beside,) = (one for one in layout.labels(chart, frame.inner, frame.plot, size) if one.of.role == "pinned")
    end = frame.left + layout.position(beside.at[0], *frame.x, chart.x.scale) * frame.inner
    assert text.startswith("pinned, Digits") and end + 6 + layout.text_width(text, size) <= width


def test_labels_of_levels_stand_right_of_the_plot_and_apart():
    """Of the start and the reference, wherever they lie; that of a run that ended early stands at its end."""
    now = picture("oh")
    start = now.checkpoints["map"][0]
    early = {name: column[:4] for name, column in now.checkpoints.items()}
    ghost = charts.ghost_of(replace(now, checkpoints=early), "ended early")
    chart = charts.quality(now, reference=start + 0.001, ghosts=[ghost])
    labels = layout.labels(chart, 500, 150, 11)
    assert {one.of.label.partition(" ")[0] for one in labels} == {"LSH", "float", "ended"}
    edge, stop = layout.limits(chart, "x")[1], float(ghost.checkpoints["pairs"][-1])
    assert {one.of.label.partition(" ")[0]: one.at[0] for one in labels} == {"LSH": edge, "float": edge, "ended": stop}
    ends = layout.limits(chart, "y")
    heights = sorted(layout.position(one.at[1], *ends, "linear") * 150 + one.up for one in labels if one.at[0] == edge)
    assert len(heights) == 2 and np.diff(heights).min() >= 1.2 * 11 - 1e-9
    drawn = option(chart, dark=False, height=235, width=610, size=11)["series"]
    (line,) = (one for one in drawn if "endLabel" in one)
    assert line["endLabel"]["offset"][0] == 0, "at the end of its own line"
    assert [one["label"]["position"] for one in drawn[-1]["markLine"]["data"]] == ["end", "end"]
    assert figure(chart).layout.annotations[-1].x == pytest.approx(np.log10(layout.limits(chart, "x")[1]))


def test_no_label_names_the_line_of_another_run():
    """One run that came to the end, two that were left early at nearly the same height."""
    now = picture("oh")
    full = charts.ghost_of(now, "r = 128, T = 4")
    stops = {"r = 102, T = 5": (6, 0.0), "r = 170, T = 3": (7, 0.002), "r = 256, T = 2": (7, 0.001)}
    ghosts = [full]
    for label, (rows, shift) in stops.items():
        early = {name: column[:rows] for name, column in now.checkpoints.items()}
        early["map"] = early["map"] + shift
        ghosts.append(charts.ghost_of(replace(now, checkpoints=early), label))
    chart = charts.quality(now, ghosts=ghosts)
    labels = {one.of.label: one for one in layout.labels(chart, 500, 150, 11)}
    for ghost in ghosts:
        assert labels[ghost.label].at[0] == ghost.checkpoints["pairs"][-1]
    ends = layout.limits(chart, "y")
    places = [
        (labels[label].at[1], layout.position(labels[label].at[1], *ends, "linear") * 150 + labels[label].up)
        for label in stops
    ]
    heights = [height for _, height in sorted(places)]
    assert np.diff(heights).min() >= 1.2 * 11 - 1e-9, "apart, and in the order of their lines"


def crossings(chart, width, height, size, placed=None):
    """What lies on the label of an earlier run: curves, levels, other labels; each label once per thing."""
    (x_ends, y_ends), labels = (layout.limits(chart, "x"), layout.limits(chart, "y")), []
    for one in layout.labels(chart, width, height, size) if placed is None else placed:
        end = layout.position(one.at[0], *x_ends, chart.x.scale) * width
        middle = layout.position(one.at[1], *y_ends, chart.y.scale) * height + one.up
        wide = layout.text_width(one.of.label, size)
        left = end - wide if one.over else end + 6
        labels.append((one.of, left, left + wide, middle))
    found = []
    for k, (of, left, right, middle) in enumerate(labels):
        others = [other for j, (other, a, b, y) in enumerate(labels) if j < k and a < right and left < b]
        near = [y for j, (_, a, b, y) in enumerate(labels) if j < k and a < right and left < b]
        found += [
            (of.label, other.label) for other, y in zip(others, near, strict=True) if abs(y - middle) < size - 1e-9
        ]
        if left >= width - 1:
            continue  # in the margin no curve is drawn
        for level in (mark for mark in chart.marks if mark.axis == "y"):
            y = layout.position(level.at, *y_ends, chart.y.scale) * height
            found += [(of.label, level.label)] if abs(y - middle) < 0.6 * size else []
        for curve in (thin(one, chart) for one in chart.series if len(one.x) > 1):
            x = np.array([layout.position(at, *x_ends, chart.x.scale) * width for at in curve.x])
            y = np.array([layout.position(at, *y_ends, chart.y.scale) * height for at in curve.y])
            under = np.linspace(max(left, x[0]), min(right, x[-1]), 50) if left < x[-1] and x[0] < right else []
            found += [(of.label, curve.name)] if (np.abs(np.interp(under, x, y) - middle) < 0.6 * size).any() else []
    return found


def sliders_played_with(times):
    """Charts of a run with five earlier ones, left after a few checkpoints at heights that differ little."""
    now, rng = picture("oh"), np.random.default_rng(0)
    for _ in range(times):
        ghosts = []
        for label in ("T = 2", "r = 64, T = 2", "OH, r = 64", "seed = 4903", "r = 128"):
            early = {name: column[: rng.integers(3, 12)] for name, column in now.checkpoints.items()}
            rows = min(len(column) for column in early.values())
            early = {name: column[:rows] for name, column in early.items()}
            early["map"] = early["map"] + rng.normal(0, 0.02)
            ghosts.append(charts.ghost_of(replace(now, checkpoints=early), label))
        yield charts.quality(now, ghosts=ghosts)


@pytest.mark.parametrize("width", first([380, 240, 500, 900], 2))
def test_labels_of_runs_left_within_seconds_lie_on_no_line_and_on_no_other(width):
    shown = 0
    for chart in sliders_played_with(20):
        assert crossings(chart, width, 118, 11) == []
        shown += len([one for one in layout.labels(chart, width, 118, 11) if isinstance(one.of, Series)])
    assert shown >= 20, "most have no room here, but not all are left out"


def on_screen(chart, drawn, width, height):
    """Its plot's width and height, the size of its type, and the labels of series: what the queries that hold set."""
    grid, ends = dict(drawn["grid"]), {one["name"]: dict(one.get("endLabel", {})) for one in drawn["series"]}
    for one in drawn["media"]:
        asked = one["query"]
        fits = asked.get("minWidth", 0) <= width <= asked.get("maxWidth", 10**5)
        fits &= asked.get("minHeight", 0) <= height <= asked.get("maxHeight", 10**5)
        fits &= asked.get("minAspectRatio", 0) <= width / height <= asked.get("maxAspectRatio", 10**5)
        if fits:
            grid |= one["option"].get("grid", {})
            for series in one["option"].get("series", ()):
                ends[series["name"]] |= series.get("endLabel", {})
    shown = [
        layout.SideLabel(one, (one.x[-1], one.y[-1]), -ends[one.name]["offset"][1], ends[one.name]["align"] == "right")
        for one in chart.series
        if ends[one.name].get("show")
    ]
    size = max(ends[one.of.name]["fontSize"] for one in shown) if shown else 0
    return width - grid["left"] - grid["right"], height - grid["top"] - grid["bottom"], size, shown


SCREENS = [(1280, 800), (1920, 1080), (1024, 768), (844, 500), (2560, 1300), (390, 844)]


@pytest.mark.parametrize(
    "screen", [pytest.param(one, marks=[pytest.mark.slow] * (one[0] not in (1280, 390))) for one in SCREENS]
)
def test_on_a_full_screen_labels_are_placed_anew(screen):
    shown = on_page = 0
    for chart in sliders_played_with(20):
        given = {"height": 212, "width": 610, "size": 11, "title": True, "title_lines": 2, "title_margin": 270}
        drawn = option(chart, **given)
        *plot, size, labels = on_screen(chart, drawn, *screen)
        assert crossings(chart, *plot, size, labels) == []
        shown += len(labels)
        on_page += len(on_screen(chart, drawn, 610, 212)[-1])
    assert shown >= on_page or screen[0] < screen[1], "no fewer than in a page, unless it is upright"


def test_a_label_without_room_is_switched_off_and_its_line_stays():
    """ECharts merges a picture into the one before, whose label would stay."""
    x = np.array([10.0, 100.0, 1000.0])
    wall = tuple(Series(f"{k}", x, np.full(3, 0.05 * k)) for k in range(1, 20))
    ghost = Series("before", x[:2], np.array([0.4, 0.51]), label="before", optional_label=True)
    axes = Axis("pairs", scale="log", lo=10, hi=1000), Axis("mAP", lo=0, hi=1)
    (line,) = (one for one in option(Chart("t", *axes, (ghost, *wall)))["series"] if one["name"] == "before")
    assert line["endLabel"] == {"show": False}
    (line,) = (one for one in option(Chart("t", *axes, (ghost, *wall[:2])))["series"] if one["name"] == "before")
    assert line["endLabel"]["show"] and line["endLabel"]["formatter"] == "before"


def test_a_new_run_keeps_its_ghosts_before_its_first_pair():
    chart = charts.quality(picture("start:oh"), ghosts=[charts.ghost_of(picture("oh"), "before")])
    assert names(chart) == ["before"] and "not been measured yet" in chart.title


def test_the_float_reference_is_drawn_for_who_gives_none():
    now = picture("oh")
    (line,) = [mark for mark in charts.quality(now).marks if mark.label.startswith("float")]
    assert line.at == now.numbers["map_float"]
    assert not any("float" in mark.label for mark in charts.quality(now, "recall_10").marks)
