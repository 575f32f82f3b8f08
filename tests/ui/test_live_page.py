"""The Live page without a browser: landing, links, controls, presets, transport, faults."""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest  # noqa: TID251

from ohash.experiment.params import experiment
from ohash.experiment.presets import PRESETS
from ohash.experiment.run import run
from ohash.ui import live, share, state
from ohash.ui.recorded import recording_of

APP = str(Path(__file__).parents[2] / "app.py")
SMALL = {"dataset": "blobs2d", "method": "oh", "r": "16", "pairs": "100000000"}


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """No run outlives its test."""
    yield
    for lease in state.hub()._leases.values():
        lease.stop()


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=60)
    for key, value in query.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    return app


def widget(kind: Any, name: str) -> Any:
    """A widget of the rail by the name of its parameter; its key changes with the experiment."""
    return next(one for one in kind if one.key and re.fullmatch(rf"w_{name}_\d+", one.key))


def more(app: AppTest) -> AppTest:
    """With the list of presets open."""
    app.session_state["open_presets"] = True
    return app.run()


def session_of(app: AppTest) -> state.Session:
    found: state.Session = app.session_state["ohash"]
    return found


def until(app: AppTest, true: Callable[[], bool]) -> None:
    """Redraw as the timer would, which AppTest has not."""
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)
        app.run()
        assert not app.exception


def link_of(app: AppTest) -> dict[str, str]:
    return {key: value if isinstance(value, str) else value[0] for key, value in app.query_params.items()}


def moving(app: AppTest) -> bool:
    now = state.runner(session_of(app)).snapshot()
    return now is not None and now.t > 0


def test_a_bare_address_opens_the_first_preset() -> None:
    app = opened()
    assert session_of(app).params == PRESETS[0].params()
    assert link_of(app) == PRESETS[0].params().to_query()
    assert [button.label for button in app.button][:3] == [preset.title for preset in PRESETS[:3]]


def test_link_to_controls_to_link() -> None:
    query = {**SMALL, "beta": "0.4", "C": "0.02", "noise": "0.1", "seed": "7"}
    app = opened(**query)
    assert widget(app.slider, "beta").value == 0.4
    assert widget(app.select_slider, "C").value == 0.02
    assert widget(app.select_slider, "r").value == 16
    app.session_state["open_features"] = True
    app.run()
    assert widget(app.slider, "noise").value == 0.1
    assert link_of(app) == query
    widget(app.select_slider, "r").set_value(24).run()
    assert link_of(app) == {**query, "r": "24"}


def test_beta_acts_on_the_running_model_and_is_in_the_link() -> None:
    app = opened(**SMALL)
    until(app, lambda: moving(app))
    live = state.runner(session_of(app))
    widget(app.slider, "beta").set_value(0.6).run()
    until(app, lambda: "changes" in link_of(app))
    at, name, value = link_of(app)["changes"].split(":")
    assert (name, value) == ("beta", "0.6") and int(at) > 0
    assert state.runner(session_of(app)) is live, "the run goes on"
    app.run()
    assert widget(app.slider, "beta").value == 0.6


def test_a_slider_is_only_set_when_the_experiment_changed_it() -> None:
    app = opened(**SMALL)
    widget(app.slider, "beta").set_value(0.6).run()
    app.run()
    assert widget(app.slider, "beta").value == 0.6
    key = widget(app.slider, "beta").key
    session_of(app).wanted["beta"] = 0.6
    app.run()
    assert widget(app.slider, "beta").key == key, "the user's own choice makes no new widget"
    more(app).button(key="preset_small-beta").click().run()
    assert widget(app.slider, "beta").value == 0.1


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


def test_a_recording_plays_from_its_beginning_whenever_the_run_begins() -> None:
    app = opened(**SMALL)
    before = session_of(app).watched
    before.seconds = 100.0
    app.button(key="preset_start").click().run()
    assert session_of(app).watched is not before and session_of(app).watched.seconds < 100


class Late:
    """A live run that is being made, and then catches up."""

    state, now = "starting", None

    def snapshot(self) -> Any:
        return self.now


def test_the_recording_stays_until_the_live_run_is_as_far() -> None:
    recorded = recording_of(PRESETS[0].params())
    assert recorded is not None
    watched = state.Watched(seconds=10)
    session = state.Session("s", PRESETS[0].params(), watched=watched, recorded=True)
    late: Any = Late()
    session.playing, late.state = False, "paused"
    assert live.picture(session, late).t == live.picture(session, late).t > 0, "who pauses it sees it stand"
    assert live.picture(replace(session, watched=state.Watched()), late) is None, "and who waits for Play sees none"
    session.playing, late.state = True, "starting"
    first = live.picture(session, late)
    assert first is not None and first.state == "recording" and 2500 < first.t < 3200
    late.state, late.now = "running", replace(first, state="running", t=first.t // 2)
    assert live.picture(session, late).state == "recording"  # never back to an earlier pair
    late.now = replace(first, state="running", t=2 * first.t)
    assert live.picture(session, late) is late.now
    late.now = replace(first, state="running", t=7)
    assert live.picture(session, late) is late.now, "and from then on it is the live run"
    assert recorded.pairs(1e9) == recorded.frame(1e9).t == recorded.stops[-1], "it stands at its end"


def test_who_waits_in_line_is_told_so_and_sees_no_recording(monkeypatch: pytest.MonkeyPatch) -> None:
    session = state.Session(
        "s", PRESETS[0].params(), watched=state.Watched(looked_at=time.monotonic() - 1), recorded=True
    )
    late: Any = Late()
    monkeypatch.setattr(state.hub(), "place_in_line", lambda _: 2)
    assert live.picture(session, late) is None and session.watched.seconds == 0
    assert "number 2 in line" in live._waiting(session)
    monkeypatch.undo()
    assert live.picture(session, late).state == "recording"


def test_a_run_at_a_pace_of_its_own_is_no_recording() -> None:
    app = opened(**SMALL)
    session = session_of(app)
    session.pace = 10.0
    state.start_preset(session, PRESETS[0])
    assert not session.recorded
    session.pace = "accelerating"
    state.start_preset(session, PRESETS[0])
    assert session.recorded


def test_a_reference_of_other_data_says_so() -> None:
    app = opened(**SMALL)
    until(app, lambda: moving(app))
    session = session_of(app)
    last = state.runner(session).snapshot()
    assert last is not None
    state.pin(session, last, "OH on test queries")
    past = session.past[-1]
    elsewhere = replace(last, params=experiment("moons", "oh"))
    assert live._pinned(past, last).label == "pinned: OH on test queries"
    assert live._pinned(past, elsewhere).label == "pinned, Blobs in the plane: OH on test queries"


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
    assert live._told_apart(session, past.now, past) == [] and len(live._told_apart(session, past.now, None)) == 1


def test_a_warning_can_be_closed() -> None:
    app = opened(**SMALL, T="x")
    assert ["T is no parameter of oh; left out" in warning.value for warning in app.warning] == [True]
    app.button(key="close_0").click().run()
    assert not app.warning


def test_a_class_is_given_the_address_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(share, "network_address", lambda: "192.0.2.7")
    assert share.for_a_class("http://localhost:8501/?r=8&C=1") == "http://192.0.2.7:8501/?r=8&C=1"
    assert share.for_a_class("https://lab.example/x?r=8") == "https://lab.example/x?r=8"
    monkeypatch.setattr(share, "network_address", lambda: "")
    assert share.for_a_class("http://localhost:8501/") == "http://localhost:8501/"


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
    until(app, lambda: state.runner(session_of(app)).state == "paused")
    live = state.runner(session_of(app))
    assert live.run is not None
    stood = live.run.t
    app.selectbox(key="view_step").set_value(10).run()
    app.button(key="step").click().run()
    assert live.run.t == stood + 10
    assert app.button(key="play").label == "Play"
    app.button(key="play").click().run()
    until(app, lambda: live.run is not None and live.run.t > stood + 10)


def test_play_again_is_the_same_experiment_with_its_changes() -> None:
    query = {**SMALL, "pairs": "150", "changes": "5:beta:0.3"}
    app = opened(**query)
    until(app, lambda: state.runner(session_of(app)).state == "done")
    app.run()
    assert app.button(key="play").label == "Play again"
    first = state.runner(session_of(app))
    app.button(key="play").click().run()
    assert state.runner(session_of(app)) is not first and link_of(app) == query


def test_beta_of_a_run_that_is_over_begins_another() -> None:
    app = opened(**{**SMALL, "pairs": "150"})
    until(app, lambda: state.runner(session_of(app)).state == "done")
    app.run()
    widget(app.slider, "beta").set_value(0.6).run()
    assert session_of(app).params == experiment("blobs2d", "oh", r=16, pairs=150, beta=0.6)
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


def test_the_link_of_a_story_brings_the_whole_story() -> None:
    story = next(one for one in PRESETS if one.beside is not None)
    app = opened(**story.params().to_query())
    assert session_of(app).preset == story.key
    assert len(state.hub().lease(session_of(app).id).beside) == 1
    assert session_of(opened(**{**story.params().to_query(), "seed": "3"})).preset == ""


def test_a_story_is_told_when_both_runs_are_over_and_as_the_preset_says(monkeypatch: pytest.MonkeyPatch) -> None:
    story = next(one for one in PRESETS if one.key == "large-beta")
    session = state.Session(id="a story", params=story.params(), preset=story.key)
    *_, now = run(experiment("blobs2d", "oh", r=8, pairs=1200))
    going = replace(now, state="running")
    for mine, other, told in (
        (going, now, False),
        (now, replace(going, t=1190), False),
        (now, now, True),
        (replace(now, params=now.params.changed(600, C=1.0)), now, False),
    ):
        monkeypatch.setattr(live, "_pictures_beside", lambda _, other=other: [other])
        assert bool(live._takeaway(session, mine)) == told


def test_it_ticks_until_the_run_beside_it_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    session = opened(**SMALL).session_state["ohash"]
    lease = state.hub().lease(session.id)
    for states, level in ((("running", "done"), 0), (("done", "running"), live.SOME), (("done", "paused"), live.ALL)):
        mine, other = (SimpleNamespace(state=one) for one in states)
        monkeypatch.setattr(lease, "beside", [other])
        assert live._at_rest(session, mine) == level
    for judging, level in ((True, 0), (False, live.ALL)):
        paused = SimpleNamespace(state="paused", run=SimpleNamespace(evaluating=judging))
        assert live._at_rest(session, paused) == level, "a paused run is drawn until it has been judged"
    monkeypatch.undo()


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.key)
@pytest.mark.slow
def test_every_preset_starts_from_its_button(preset: state.Preset) -> None:
    app = opened(**SMALL)
    more(app).button(key=f"preset_{preset.key}").click().run()
    assert not app.session_state["open_presets"], "the list closes"
    assert session_of(app).params == preset.params()
    assert link_of(app) == preset.params().to_query()
    assert len(state.hub().lease(session_of(app).id).beside) == (preset.beside_params() is not None)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"method": "<script>"}, "method must be one of"),
        ({"dataset": "../../etc/passwd"}, "dataset must be one of"),
        ({"r": "-5"}, "r must be an integer"),
        ({"beta": "nan"}, "beta must be a number"),
        ({"r": "8192", "method": "mmoh", "T": "64"}, "must be at most 2048 bits on this server"),
        ({"changes": "1:r:5"}, "ignored"),
        ({"changes": "%00%00"}, "ignored"),
    ],
)
@pytest.mark.slow
def test_forged_links_are_warnings_and_defaults(query: dict[str, str], message: str) -> None:
    app = opened(**query)
    assert any(message in warning.value for warning in app.warning), [warning.value for warning in app.warning]
    assert app.button(key="play")


def test_a_link_to_data_of_somebodys_own_says_so_and_offers_others() -> None:
    app = opened(dataset="own", content="abc123")
    assert "abc123" in app.error[0].value and "upload" in app.error[0].value
    widget(app.selectbox, "dataset").set_value("blobs2d").run()
    assert not app.error and session_of(app).params.dataset == "blobs2d"


def test_a_run_that_cannot_start_is_a_message_with_a_way_out() -> None:
    app = opened(dataset="words", method="sdh")
    until(app, lambda: bool(app.error))
    assert "labels" in app.error[0].value and "choose a preset" in app.error[0].value
    assert app.button(key="play").label == "Play again"
    assert not [one for one in app.button if one.key == "another"], "no gallery without a run"


def test_the_words_of_a_link_are_no_markup() -> None:
    app = opened(**SMALL, beta="[sign in](//evil.example) ![x](http://host/t.png)")
    (warning,) = app.warning
    assert "\\[sign in\\](/\u2060/evil.example)" in warning.value and "http://" not in warning.value


def test_a_key_that_stands_twice_is_named_and_the_address_is_mended() -> None:
    app = AppTest.from_file(APP, default_timeout=60)
    for key, value in {**SMALL, "r": ["16", "24"]}.items():
        app.query_params[key] = value
    app.run()
    assert ["r stands there 2 times; the last counts, 24" in warning.value for warning in app.warning] == [True]
    assert session_of(app).params.model.r == 24 and app.query_params["r"] == "24"
