"""What stands behind the present run: ghosts of earlier ones, and the pinned reference."""

from dataclasses import replace
from typing import Any

import pytest

from ohash.engine.params import experiment
from ohash.ui import earlier_runs as shelf
from ohash.ui import state
from ohash.ui.live import reference_runs as behind
from ohash.ui.live import share
from tests.ui.live_app import SMALL, moving, opened, session_of, until, widget


def test_another_r_is_another_run_and_leaves_a_ghost() -> None:
    app = opened(**SMALL)
    until(app, lambda: moving(app))
    before = state.runner(session_of(app))
    widget(app.select_slider, "r").set_value(32).run()
    assert state.runner(session_of(app)) is not before
    assert len(session_of(app).ghosts) == 1
    assert any("r 16 → 32" in caption.value for caption in app.caption)


def test_no_ghost_is_promised_where_none_is_drawn() -> None:
    app = opened(**SMALL)
    until(app, lambda: moving(app))
    widget(app.selectbox, "dataset").set_value("moons").run()
    told = next(caption.value for caption in app.caption if caption.value.startswith("New run"))
    assert "Blobs in the plane → Two moons in the plane" in told and "thin line" not in told
    app.button(key="reset").click().run()
    assert not any(caption.value.startswith("New run") for caption in app.caption)


def test_a_reference_of_other_data_says_so() -> None:
    app = opened(**SMALL)
    until(app, lambda: moving(app))
    session = session_of(app)
    last = state.runner(session).snapshot()
    assert last is not None
    shelf.pin(session, last, "OH on test queries")
    past = session.past[-1]
    elsewhere = replace(last, params=experiment("moons", "oh"))
    assert behind._pinned(past, last).label == "pinned: OH on test queries"
    assert behind._pinned(past, elsewhere).label == "pinned, Blobs in the plane: OH on test queries"


def test_a_past_run_is_pinned_below_the_charts() -> None:
    app = opened(**SMALL)
    until(app, lambda: moving(app))
    widget(app.select_slider, "r").set_value(32).run()
    app.session_state["open_runs"] = True
    app.run()
    reference = widget(app.selectbox, "pinned")
    assert reference.value == "" and len(reference.options) == 2 and reference.options[0] == "none"
    reference.set_value(session_of(app).past[0].key).run()
    assert session_of(app).pinned == session_of(app).past[0].key and not app.exception


def test_a_pinned_run_is_not_drawn_a_second_time() -> None:
    app = opened(**SMALL)
    until(app, lambda: moving(app))
    session = session_of(app)
    state.open_kept(session, state.runner(session).snapshot(), session.params)
    (past,) = (past for past in session.past if past.key == session.pinned)
    assert len(session.ghosts) == 1
    assert behind._told_apart(session, past.now, past) == [] and len(behind._told_apart(session, past.now, None)) == 1


def test_exported_figures_show_what_stands_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(**SMALL)
    first = state.runner(session_of(app))
    first.pace("unlimited")
    until(app, lambda: (now := first.snapshot()) is not None and len(now.checkpoints["pairs"]) > 3)
    widget(app.select_slider, "r").set_value(32).run()
    until(app, lambda: moving(app))
    files: dict[str, Any] = {}
    monkeypatch.setattr(share, "offer", lambda label, data, name, mime: files.update({label: data}))
    share._export(session_of(app))
    assert "r = 16" in files["Figure mAP (SVG)"]() and "r = 16" in files["Figures (HTML)"]()
