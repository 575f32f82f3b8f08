"""The Live page without a browser: controls, presets, transport, faults."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from ohash.engine.live.presets import PRESETS, Preset
from ohash.engine.params import experiment
from ohash.engine.run import run
from ohash.ui.live import headline, page, reference_runs
from ohash.ui.session import live_run
from ohash.ui.session.session import Session
from tests.ui.app import widget
from tests.ui.live_app import SMALL, link_of, more, moving, opened, session_of, until


def test_beta_acts_on_the_running_model_and_is_in_the_link() -> None:
    app = opened(**SMALL)
    until(app, lambda: moving(app))
    live = live_run.runner(session_of(app))
    widget(app.slider, "beta").set_value(0.6).run()
    until(app, lambda: "changes" in link_of(app))
    at, name, value = link_of(app)["changes"].split(":")
    assert (name, value) == ("beta", "0.6") and int(at) > 0
    assert live_run.runner(session_of(app)) is live, "the run goes on"
    app.run()
    assert widget(app.slider, "beta").value == 0.6


def test_a_slider_is_only_set_when_the_experiment_changed_it() -> None:
    app = opened(**SMALL)
    widget(app.slider, "beta").set_value(0.6).run()
    app.run()
    assert widget(app.slider, "beta").value == 0.6
    key = widget(app.slider, "beta").key
    session_of(app).pending["beta"] = 0.6
    app.run()
    assert widget(app.slider, "beta").key == key, "the user's own choice makes no new widget"
    more(app).button(key="preset_small-beta").click().run()
    assert widget(app.slider, "beta").value == 0.1


@pytest.mark.slow
def test_a_new_seed_is_one_new_run() -> None:
    app = opened(**SMALL)
    until(app, lambda: moving(app))
    app.button(key="new_seed").click().run()
    seed = session_of(app).params.seed
    app.run()
    assert session_of(app).params.seed == seed and len(session_of(app).ghosts) == 1


def test_pause_step_play() -> None:
    app = opened(**SMALL)
    until(app, lambda: moving(app))
    app.button(key="play").click().run()
    until(app, lambda: live_run.runner(session_of(app)).state == "paused")
    live = live_run.runner(session_of(app))
    assert live.run is not None
    stood = live.run.t
    app.selectbox(key="view_step").set_value(10).run()
    app.button(key="step").click().run()
    assert live.run.t == stood + 10
    assert app.button(key="play").label == "Play"
    app.button(key="play").click().run()
    until(app, lambda: live.run is not None and live.run.t > stood + 10)


def test_play_again_is_the_same_experiment_with_its_changes() -> None:
    query = {**SMALL, "pairs": "30", "changes": "5:beta:0.3"}
    app = opened(**query)
    until(app, lambda: live_run.runner(session_of(app)).state == "done")
    app.run()
    assert app.button(key="play").label == "Play again"
    first = live_run.runner(session_of(app))
    app.button(key="play").click().run()
    assert live_run.runner(session_of(app)) is not first and link_of(app) == query


def test_a_pause_pressed_before_a_new_run_is_drawn_pauses_that_run() -> None:
    app = opened(**SMALL)
    until(app, lambda: moving(app))
    session = session_of(app)
    live_run.commit(session, session.params.with_values(seed=3))  # the button is still that of the run before
    new = live_run.runner(session)
    app.button(key="play").click().run()
    assert live_run.runner(session) is new and not session.playing
    until(app, lambda: new.state == "paused")


def test_a_pause_pressed_when_the_run_has_just_ended_restarts_nothing() -> None:
    app = opened(**{**SMALL, "pairs": "30"})
    live = live_run.runner(session_of(app))
    assert app.button(key="play").label == "Pause"
    assert live.finished.wait(60)
    app.button(key="play").click().run()
    assert live_run.runner(session_of(app)) is live and app.button(key="play").label == "Play again"


@pytest.mark.slow
def test_beta_of_a_run_that_is_over_begins_another() -> None:
    app = opened(**{**SMALL, "pairs": "30"})
    until(app, lambda: live_run.runner(session_of(app)).state == "done")
    app.run()
    widget(app.slider, "beta").set_value(0.6).run()
    assert session_of(app).params == experiment("blobs2d", "oh", r=16, pairs=30, beta=0.6)
    assert len(session_of(app).ghosts) == 1 and link_of(app)["beta"] == "0.6"


def test_present_takes_no_widget_away() -> None:
    app = opened(**SMALL)
    before = {one.key for one in (*app.slider, *app.select_slider, *app.selectbox, *app.segmented_control)}
    app.button(key="present").click().run()
    assert session_of(app).present
    assert {one.key for one in (*app.slider, *app.select_slider, *app.selectbox, *app.segmented_control)} == before


def test_what_differs_is_told_from_the_values_in_force() -> None:
    app = opened(**SMALL, changes="1:beta:0.3")
    until(app, lambda: moving(app))
    widget(app.select_slider, "r").set_value(32).run()
    assert session_of(app).difference == "r 16 → 32"


def test_reset_begins_again_without_the_live_changes() -> None:
    app = opened(**SMALL, changes="5:beta:0.3")
    until(app, lambda: moving(app))
    app.button(key="reset").click().run()
    assert session_of(app).params == experiment("blobs2d", "oh", r=16, pairs=100_000_000)
    assert "changes" not in link_of(app)


def test_a_story_is_told_when_both_runs_are_over_and_as_the_preset_says(monkeypatch: pytest.MonkeyPatch) -> None:
    story = next(one for one in PRESETS if one.key == "large-beta")
    session = Session(id="a story", params=story.params(), preset=story.key)
    *_, now = run(experiment("blobs2d", "oh", r=8, pairs=1200))
    going = replace(now, state="running")
    for mine, other, concludes in (
        (going, now, False),
        (now, replace(going, t=1190), False),
        (now, now, True),
        (replace(now, params=now.params.with_changes(600, C=1.0)), now, False),
    ):
        monkeypatch.setattr(reference_runs, "companion_snapshots", lambda _, other=other: [other])
        assert bool(headline.conclusion(session, mine)) == concludes


def test_it_ticks_until_the_run_beside_it_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    session = opened(**SMALL).session_state["ohash"]
    lease = live_run.hub().lease(session.id)
    for states, level in (
        (("running", "done"), 0),
        (("done", "running"), page.RUN_AT_REST),
        (("done", "paused"), page.ALL_AT_REST),
    ):
        mine, other = (SimpleNamespace(state=one) for one in states)
        monkeypatch.setattr(lease, "companions", [other])
        assert page._rest_level(session, mine) == level
    for playing, judging, pictured, level in (
        (False, True, "paused", 0),
        (False, False, "running", 0),
        (False, False, "paused", page.ALL_AT_REST),
        (True, False, "paused", 0),
    ):
        session.playing = playing
        last = SimpleNamespace(state=pictured)
        paused = SimpleNamespace(
            state="paused", run=SimpleNamespace(evaluating=judging), snapshot=lambda last=last: last
        )
        assert page._rest_level(session, paused) == level, "a paused run is drawn until judged, and again from Play on"
    monkeypatch.undo()


def test_no_run_is_called_paused_before_its_last_pair_is_shown() -> None:
    *_, now = run(experiment("blobs2d", "oh", r=8, pairs=300))
    for pictured, state, badge in (
        ("running", "paused", "running"),
        ("paused", "paused", "paused"),
        ("paused", "running", "running"),
        ("running", "done", "done"),
        ("recording", "starting", "recording"),
    ):
        assert page._badge(replace(now, state=pictured), state) == badge
    assert page._badge(None, "starting") == "starting"


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.key)
@pytest.mark.slow
def test_every_preset_starts_from_its_button(preset: Preset) -> None:
    app = opened(**SMALL)
    more(app).button(key=f"preset_{preset.key}").click().run()
    assert not app.session_state["open_presets"], "the list closes"
    assert session_of(app).params == preset.params()
    assert link_of(app) == preset.params().to_query()
    assert len(live_run.hub().lease(session_of(app).id).companions) == (preset.companion_params() is not None)


def test_another_method_takes_what_was_changed_and_has_its_own_defaults() -> None:
    app = opened(dataset="blobs2d", method="oh", r="16", pairs="100000000")
    until(app, lambda: moving(app))
    widget(app.slider, "beta").set_value(0.6).run()
    until(app, lambda: "changes" in link_of(app))
    app.run()
    widget(app.selectbox, "method").set_value("mmoh").run()
    new_run = next(caption.value for caption in app.caption if caption.value.startswith("New run"))
    assert session_of(app).params == experiment("blobs2d", "mmoh", r=16, pairs=10**8, beta=0.6) and "β" not in new_run
    widget(app.selectbox, "method").set_value("float").run()
    assert session_of(app).params == experiment("blobs2d", "float", r=16, pairs=10**8)


def test_the_sliders_say_what_the_model_has_now() -> None:
    app = opened(**{**SMALL, "changes": "40:C:0.5"})
    assert widget(app.select_slider, "C").value == 0.1, "that change is still to come"
    until(app, lambda: widget(app.select_slider, "C").value == 0.5)
    assert live_run.runner(session_of(app)).snapshot().t >= 40
    app.button(key="new_seed").click().run()
    new_run = next(caption.value for caption in app.caption if caption.value.startswith("New run"))
    assert "seed" in new_run and "C" not in new_run.replace("C 0", "C?") and widget(app.select_slider, "C").value == 0.1


def test_a_story_with_another_seed_has_that_seed_beside_it() -> None:
    app = opened(**SMALL)
    app.button(key="preset_drift").click().run()
    app.button(key="new_seed").click().run()
    session = session_of(app)
    (companion,) = live_run.hub().lease(session.id).companions
    assert session.params.seed == companion.params.seed != 0
    again = session_of(opened(**session.params.to_query()))
    assert again.preset == session.preset and len(live_run.hub().lease(again.id).companions) == 1
