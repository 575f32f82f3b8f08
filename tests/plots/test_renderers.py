"""The same description drawn three times: nothing lost, nothing that a browser or a parser cannot read, few bytes."""

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from plotly.offline import get_plotlyjs

from ohash.plots import layout, theme
from ohash.plots.chart import Axis, Chart, Mark, Series
from ohash.plots.live import charts as live
from ohash.plots.renderers.echarts import option
from ohash.plots.renderers.plotly import figure, to_html
from ohash.plots.renderers.svg import to_svg
from tests.plots.moments import EVERY, picture
from tests.plots.test_live import VARIANTS
from tests.selection import alternate, first


def frames_of(drawn: dict[str, Any]) -> list[pd.DataFrame]:
    return [dataset["source"].to_pandas() for dataset in drawn["dataset"]]


def without_frames(drawn: dict[str, Any]) -> str:
    bare = {**drawn, "dataset": [{"source": {"name": "0" * 64}} for _ in drawn["dataset"]]}
    return json.dumps(bare, allow_nan=False, separators=(",", ":"))


def size_of(drawn: dict[str, Any]) -> int:
    """Bytes as Streamlit sends them: the option as JSON, each table as an Arrow stream."""
    total = len(without_frames(drawn).encode())
    for dataset in drawn["dataset"]:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, dataset["source"].schema) as writer:
            writer.write_table(dataset["source"])
        total += sink.getvalue().size
    return total


@pytest.mark.parametrize("moment", alternate(EVERY))
def test_options_are_plain_and_finite(moment):
    for make in VARIANTS.values():
        chart = make(picture(moment))
        drawn = option(chart, dark=True, title=True, toolbox=True)
        without_frames(drawn)  # JSON without NaN or infinity
        assert drawn["animation"] is False
        for series in drawn["series"][:-1]:
            frame = frames_of(drawn)[series["datasetIndex"]]
            x, y = (frame.iloc[:, series["encode"][axis]].to_numpy() for axis in ("x", "y"))
            assert np.isfinite(x).all()
            if drawn["xAxis"]["type"] == "log":
                assert (x > 0).all() and drawn["xAxis"]["min"] > 0
            if drawn["yAxis"]["type"] == "log":
                assert (y > 0).all() and drawn["yAxis"]["min"] > 0
        for frame in frames_of(drawn):
            assert len(frame) <= 400 and {kind.itemsize for kind in frame.dtypes} <= {4}
            assert frame.columns.is_unique


def test_option_has_the_series_in_their_colours():
    chart = live.hills(picture("oh"))
    drawn = option(chart, dark=True)
    assert [series["name"] for series in drawn["series"][:-1]] == ["dissimilar pairs", "similar pairs"]
    assert drawn["series"][1]["itemStyle"]["color"] == theme.colour("similar", dark=True)
    assert drawn["series"][1]["step"] == "middle" and drawn["series"][1]["areaStyle"]["opacity"] > 0
    marks = drawn["series"][-1]["markLine"]["data"]
    assert [mark["xAxis"] for mark in marks] == [0, 24]
    assert all(mark["label"]["show"] for mark in marks)
    assert [entry["name"] for entry in drawn["legend"]["data"]] == ["dissimilar pairs", "similar pairs"]


def test_series_of_equal_x_share_a_table():
    drawn = option(live.loss(picture("oh")))
    assert len(drawn["dataset"]) == 1 and list(frames_of(drawn)[0].columns) == [
        "pairs",
        "W frozen",
        "learning",
    ]


def test_tooltips_formats_and_extras():
    now = picture("oh")
    assert option(live.quality(now))["tooltip"]["valueFormatter"] == "%.3f"
    assert option(live.tau(now))["tooltip"]["valueFormatter"] == "%.1f %%"
    plain = option(live.quality(now))
    assert "toolbox" not in plain and "title" not in plain and plain["backgroundColor"] == theme.LIGHT.background
    assert "saveAsImage" in option(live.quality(now), toolbox=True)["toolbox"]["feature"]
    assert option(live.quality(now), title=True)["title"][0]["text"].startswith("Labels: mAP")
    assert "legend" not in option(live.certificate(now))  # one curve: the title says what it is
    assert option(live.selections(now))["title"][0]["text"].startswith("OH has no models")


def test_tiny_powers_are_drawn_over_exponents():
    chart = live.certificate(picture("oh"))
    drawn = option(chart)
    series, frame = drawn["series"][0], frames_of(drawn)[0]
    assert drawn["yAxis"]["type"] == "value" and drawn["yAxis"]["axisLabel"]["formatter"] == "10{up|{value}}"
    exponents = frame.iloc[:, series["encode"]["y"]]
    column = frame.iloc[:, series["encode"]["tooltip"][0]]
    assert column.name == "gap" and np.allclose(10.0**exponents, column, rtol=1e-4)


def test_crowded_marks_do_not_cover_one_another():
    marks = tuple(Mark(1000 + 20 * k, f"C = {k / 1000}") for k in range(12))
    series = Series("now", np.array([1.0, 2000.0]), np.array([0.5, 0.9]))
    chart = Chart("Many changes", Axis("pairs", "log", lo=1, hi=2000), Axis("mAP"), (series,), marks)
    drawn = option(chart, width=380)
    lines = drawn["series"][-1]["markLine"]["data"]
    assert len(lines) == 12 and 1 <= sum(line["label"]["show"] for line in lines) <= 4


def test_payload_of_four_live_charts():
    """64 kB an update is the bar; a full history, a code of 1024 bits, five ghosts and a pinned run."""
    now = picture("long")
    ghosts = [live.ghost_of(now, f"run {k}") for k in range(5)]
    for metric in ("map", "auc"):
        first = live.quality(now, metric, ghosts=ghosts, pinned=ghosts[0], reference=0.7)
        charts = (first, live.hills(now), live.loss(now, bound=True), live.tau(now))
        sizes = [size_of(option(chart)) for chart in charts]
        assert sum(sizes) <= 64_000, sizes
    plain = [
        size_of(option(chart)) for chart in (live.quality(now, "auc"), live.hills(now), live.loss(now), live.tau(now))
    ]
    assert sum(plain) <= 45_000, plain


def test_whole_numbers_stay_exact_in_four_bytes():
    chart = Chart("", Axis("pairs"), Axis("n"), (Series("s", np.array([1.0, 16_777_217.0]), np.array([0.5, 1.0])),))
    frame = frames_of(option(chart))[0]
    assert frame["pairs"].tolist() == [1, 16_777_217] and frame["s"].dtype == np.float32


@pytest.mark.parametrize("moment", first(["gaps", "mmoh", "changes"]))
def test_plotly_draws_the_same(moment):
    for kind, make in VARIANTS.items():
        chart = make(picture(moment))
        fig = figure(chart)
        bands = [trace for trace in fig.data if trace.name.endswith("± spread")]
        assert len(bands) == sum(series.spread is not None and len(series.x) > 1 for series in chart.series), kind
        curves = [trace for trace in fig.data if trace not in bands]
        assert [trace.name for trace in curves] == [series.name for series in chart.series], kind
        assert len(fig.layout.shapes) == len(chart.marks)
        assert fig.layout.title.text and fig.layout.xaxis.type == chart.x.scale
        assert np.isfinite(fig.layout.yaxis.range).all()
        for trace, series in zip(curves, chart.series, strict=True):
            hue = trace.line.color if trace.type == "scatter" and trace.mode == "lines" else trace.marker.color
            assert hue == theme.colour(series.role)


@pytest.mark.parametrize("several", [0, 1, 4])
def test_title_legend_and_labels_stand_above_one_another(several):
    marks = tuple(Mark(470 + 10 * k, f"β = 0.5{k}") for k in range(several))
    curves = tuple(Series(name, np.array([1.0, 900.0]), np.array([0.5, 0.9])) for name in "ab")
    drawn = figure(Chart("A title", Axis("pairs", lo=0, hi=1000), Axis("mAP"), curves, marks)).layout
    high = max((note.yshift + 16 for note in drawn.annotations), default=0)
    legend = (drawn.legend.y - 1) * (drawn.height - drawn.margin.t - drawn.margin.b)
    title = drawn.margin.t - drawn.title.pad.t - 1.3 * drawn.title.font.size
    assert drawn.title.yref == "container" and drawn.title.y == 1 and drawn.title.yanchor == "top"
    assert high <= legend and legend + 2 * 19 <= title


def test_standalone_html_needs_no_network():
    now = picture("oh")
    page = to_html([live.quality(now), live.tau(now)], title="<b>")
    library = get_plotlyjs()
    assert page.count(library) == 1 and len(page) < 8_000_000
    ours = page.replace(library, "")  # what some versions of the library name is theirs
    assert ours.startswith("<!doctype html>") and "<title>&lt;b&gt;</title>" in ours
    assert ours.count("Plotly.newPlot(") == 2 == ours.count("<figure") and 'src="http' not in ours
    assert to_html(live.hills(now), dark=True).count("<figure") == 1


@pytest.mark.parametrize("moment", alternate(EVERY, 1))
def test_svg_is_well_formed_and_complete(moment):
    for make in VARIANTS.values():
        chart = make(picture(moment))
        root = ET.fromstring(to_svg(chart))
        assert root.attrib["width"] == "88mm"
        drawn = " ".join(element.attrib["d"] for element in root.iter("{http://www.w3.org/2000/svg}path"))
        assert "nan" not in drawn and "inf" not in drawn
        words = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
        assert words[0] and chart.title.startswith(words[0])
        if not chart.empty:
            assert chart.x.name in words and chart.y.name in words
            several = [series.name for series in chart.series if series.listed and len(series.x)]
            assert len(several) < 2 or set(several) <= set(words)


def test_dark_svg_has_dark_ground_and_light_ink():
    text = to_svg(live.hills(picture("oh")), dark=True)
    assert theme.DARK.background in text and theme.colour("similar", dark=True) in text


def test_svg_escapes_and_draws_every_kind():
    x = np.arange(1.0, 5.0)
    kinds = [Series(f"<{kind}> & co", x, x, kind=kind) for kind in ("line", "step", "hold", "bar", "area", "points")]
    marks = (Mark(2, "a < b"), Mark(3, "level & more", "y"))
    chart = Chart('A "title" & <more>', Axis("x"), Axis("y", lo=0), tuple(kinds), marks)
    root = ET.fromstring(to_svg(chart, width=180, height=90, size=9))
    ns = "{http://www.w3.org/2000/svg}"
    assert len(list(root.iter(f"{ns}circle"))) == 4 + 1, "and one in the legend"
    assert [element.text for element in root.iter(f"{ns}text") if element.text == "a < b"] == ["a < b"]
    figure(chart), option(chart)


@pytest.mark.parametrize("kind", ["line", "step", "hold", "bar", "area", "points"])
def test_one_point_is_drawn_by_all(kind):
    chart = Chart("One", Axis("x", "log"), Axis("y"), (Series("s", np.array([10.0]), np.array([0.5]), kind=kind),))
    ET.fromstring(to_svg(chart))
    assert len(figure(chart).data) == 1 and len(frames_of(option(chart))[0]) == 1
    nothing = replace(chart, series=(Series("s", np.empty(0), np.empty(0), kind=kind),))
    ET.fromstring(to_svg(nothing))
    assert figure(nothing).layout.xaxis.visible is False and option(nothing)["xAxis"]["show"] is False


@pytest.mark.parametrize("most", [1, 8_000_000])
def test_the_name_of_the_y_axis_has_room_beside_its_longest_tick(most):
    """Plotly writes it over the ticks where the margin is too narrow for both."""
    line = Series("a", np.array([0.0, 1.0]), np.array([0.0, most]))
    chart = Chart("t", Axis("x"), Axis("cumulative loss", lo=0, format="count"), (line,))
    drawn = figure(chart)
    longest = max(layout.text_width(text, theme.SIZE) for text in drawn.layout.yaxis.ticktext)
    assert drawn.layout.margin.l >= longest + 1.5 * theme.SIZE
