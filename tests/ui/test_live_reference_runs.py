"""Runs drawn behind the live one: ghosts of earlier runs, and the pinned reference."""

from dataclasses import replace
from typing import Any

import pytest

from ohash.engine.params import experiment
from ohash.ui.live import reference_runs, sharing
from ohash.ui.session import live_run
from tests.ui.app import widget
from tests.ui.live_app import SMALL, moving, opened, session_of, until


@pytest.mark.slow
def test_another_r_is_another_run_and_leaves_a_ghost() -> None:
    app = opened(**SMALL)
    until(app, lambda: moving(app))
    before = live_run.runner(session_of(app))
    widget(app.select_slider, "r").set_value(32).run()
    assert live_run.runner(session_of(app)) is not before
    assert len(session_of(app).ghosts) == 1
    assert any("r 16 → 32" in caption.value for caption in app.caption)


def test_no_ghost_is_promised_where_none_is_drawn() -> None:
    app = opened(**SMALL)
    until(app, lambda: moving(app))
    widget(app.selectbox, "dataset").set_value("moons").run()
    caption = next(caption.value for caption in app.caption if caption.value.startswith("New run"))
    assert "Blobs in the plane → Two moons in the plane" in caption and "thin line" not in caption
    app.button(key="reset").click().run()
    assert not any(caption.value.startswith("New run") for caption in app.caption)


def test_a_reference_of_other_data_says_so() -> None:
    app = opened(**SMALL)
    until(app, lambda: moving(app))
    session = session_of(app)
    last = live_run.runner(session).snapshot()
    assert last is not None
    session.pin(last, "OH on test queries")
    earlier = session.earlier[-1]
    elsewhere = replace(last, params=experiment("moons", "oh"))
    assert reference_runs._pinned(earlier, last).label == "pinned: OH on test queries"
    assert reference_runs._pinned(earlier, elsewhere).label == "pinned, Blobs in the plane: OH on test queries"


def test_a_past_run_is_pinned_below_the_charts() -> None:
    app = opened(**SMALL)
    until(app, lambda: moving(app))
    widget(app.select_slider, "r").set_value(32).run()
    app.session_state["view_details"] = "Runs so far"
    app.run()
    reference = widget(app.selectbox, "pinned")
    assert reference.value == "" and len(reference.options) == 2 and reference.options[0] == "none"
    reference.set_value(session_of(app).earlier[0].key).run()
    assert session_of(app).pinned == session_of(app).earlier[0].key and not app.exception


def test_a_pinned_run_is_not_drawn_a_second_time() -> None:
    app = opened(**SMALL)
    until(app, lambda: moving(app))
    session = session_of(app)
    live_run.run_stored(session, live_run.runner(session).snapshot(), session.params)
    (pinned,) = (run for run in session.earlier if run.key == session.pinned)
    assert len(session.ghosts) == 1
    assert reference_runs._earlier(session, pinned.now, pinned) == []
    assert len(reference_runs._earlier(session, pinned.now, None)) == 1


@pytest.mark.slow
def test_exported_figures_show_what_stands_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(**SMALL)
    first = live_run.runner(session_of(app))
    first.pace("unlimited")
    until(app, lambda: (now := first.snapshot()) is not None and len(now.checkpoints["pairs"]) > 3)
    widget(app.select_slider, "r").set_value(32).run()
    until(app, lambda: moving(app))
    files: dict[str, Any] = {}
    monkeypatch.setattr(sharing, "offer_file", lambda label, data, name, mime: files.update({label: data}))
    sharing._export(session_of(app))
    assert "r = 16" in files["Figure mAP (SVG)"]() and "r = 16" in files["Figures (HTML)"]()


def test_export_offers_the_run_so_far_as_a_recording(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(**SMALL)
    runner = live_run.runner(session_of(app))
    runner.pace("unlimited")
    until(app, lambda: (now := runner.snapshot()) is not None and len(now.checkpoints["pairs"]) > 3)
    runner.pause()
    until(app, lambda: runner.state in ("paused", "done"))
    files: dict[str, Any] = {}
    monkeypatch.setattr(sharing, "offer_file", lambda label, data, name, mime: files.update({label: data}))
    sharing._export(session_of(app))
    page = files["Recording (HTML)"]()
    now = runner.snapshot()
    assert now is not None
    assert "r = 16" in page and f"<dt>seed</dt><dd>{now.params.seed}</dd>" in page
    assert '"pairs":0,' in page and f'"pairs":{now.t},' in page
    assert f"<dt>pairs</dt><dd>{now.t:,}, {runner.state}</dd>" in page
