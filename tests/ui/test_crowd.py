"""Many viewers of one run: everything as one picture, drawn once."""

import re

import pytest

from ohash.engine.params import experiment
from ohash.engine.run import Run
from ohash.plots.live import charts
from ohash.ui.live import crowd
from ohash.ui.live.numbers import numbers_html
from tests.ui.live_app import SMALL, opened, until


def test_a_picture_has_four_charts_with_captions_and_the_numbers() -> None:
    run = Run(experiment("digits", "oh", m=50, pairs=400))
    while not run.done:
        run.step(200)
    now = run.snapshot("done")
    drawn = [charts.quality(now, "map"), charts.hills(now), charts.loss(now), charts.tau(now)]
    for dark in (False, True):
        html = crowd.picture("<h2>Learning</h2>", drawn, numbers_html(now), dark=dark)
        assert html.count("<svg") == html.count("</svg>") == html.count('<figure><div class="st-key-chart_') == 4
        assert all(re.sub(r"\W", "", chart.title[:12]) in re.sub(r"\W", "", html) for chart in drawn)
        assert html.startswith("<h2>Learning</h2>")
        assert html.count("ohash-caption") == 4 and "total bits" in html and "<script" not in html


def test_a_crowd_gets_one_element_and_one_who_is_left_her_own_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd, "CROWD", 1)
    app = opened(**SMALL)
    until(app, lambda: any(one.proto.component_name == "ohash_crowd" for one in app.get("bidi_component")))
    assert not app.get("echarts_chart")
    assert not any("ohash-status" in one.proto.body for one in app.get("html")), "the headline is in the picture"
    monkeypatch.setattr(crowd, "CROWD", 2)
    until(app, lambda: len(app.get("echarts_chart")) == 4)
    assert not any(one.proto.component_name == "ohash_crowd" for one in app.get("bidi_component"))
