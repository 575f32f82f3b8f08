"""T in sight, equal bits, C from the warm-up, five seeds."""

from typing import Any

import pytest

from ohash.engine.params import rows_of
from ohash.ui.live import page
from ohash.ui.live.rail import acts_at_once
from ohash.ui.live.reference_runs import MORE_SEEDS
from ohash.ui.session import live_run
from tests.ui.app import widget
from tests.ui.live_app import SMALL, moving, opened, session_of, until


def test_the_number_of_models_turns_oh_into_mmoh_and_back_at_equal_bits() -> None:
    app = opened(**SMALL, noise="0.1")
    slider = widget(app.slider, "T")
    assert slider.value == 1
    widget(app.toggle, "equal_bits").set_value(True).run()
    widget(app.slider, "T").set_value(4).run()
    params = session_of(app).params
    assert not app.exception and (params.method, params.model.T, params.model.r) == ("mmoh", 4, 4)
    assert params.stream.noise == 0.1, "the other settings stay"
    assert any("4 × 4 = **16 bits in total**" in caption.value for caption in app.caption)
    widget(app.slider, "T").set_value(1).run()
    params = session_of(app).params
    assert (params.method, params.model.r) == ("oh", 16) and not hasattr(params.model, "T")


def test_equal_bits_do_not_drift() -> None:
    app = opened(**{**SMALL, "method": "mmoh", "r": "128", "T": "4"})
    widget(app.toggle, "equal_bits").set_value(True).run()
    lengths = []
    for T in (5, 3, 1):
        widget(app.slider, "T").set_value(T).run()
        lengths.append(session_of(app).params.model.r)
    assert not app.exception and lengths == [512 // 5, 512 // 3, 512]
    widget(app.select_slider, "r").set_value(64).run()
    widget(app.slider, "T").set_value(4).run()
    assert session_of(app).params.model.r == 16, "r was changed by hand: its total counts now"


@pytest.mark.slow
def test_tooltips_and_captions_say_what_is_in_force() -> None:
    app = opened(**{**SMALL, "dataset": "digits"})
    assert "Default: 1." in widget(app.slider, "T").help
    until(app, lambda: moving(app))
    app.session_state["open_features"] = True
    app.run()
    assert "(0)" not in widget(app.select_slider, "sigma").help
    now = live_run.latest_snapshot(session_of(app))
    assert now is not None and now.numbers["sigma"] > 0
    assert any(f"σ auto → {now.numbers['sigma']:.3g}," in one.value for one in app.caption)


@pytest.mark.parametrize(("dataset", "score"), [("blobs2d", "mAP"), ("debian", "hit@10")])
def test_what_is_to_be_flat_is_the_score_of_the_data(dataset: str, score: str) -> None:
    app = opened(**{**SMALL, "dataset": dataset})
    app.session_state["open_features"] = True
    app.run()
    assert widget(app.toggle, "stop_when_flat").label == f"stop when {score} is flat"


def test_five_seeds_are_followed_after_the_end_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    draw, timers = page.fragment, []

    def fragment(*args: Any, every: float | None = None, **keywords: Any) -> None:
        timers.append(every)
        draw(*args, every=every, **keywords)

    app = opened(**{**SMALL, "pairs": "50"})
    until(app, lambda: live_run.runner(session_of(app)).state == "done")
    monkeypatch.setattr(page, "fragment", fragment)
    app.run()
    assert timers[-1] is None
    timers.clear()
    widget(app.toggle, "five_seeds").set_value(True).run()
    assert len(session_of(app).seed_runners) == MORE_SEEDS and timers[0] is not None


@pytest.mark.slow
def test_five_seeds_run_beside_and_follow_a_change() -> None:
    app = opened(**{**SMALL, "pairs": "300"})
    widget(app.toggle, "five_seeds").set_value(True).run()
    session = session_of(app)

    def seeds() -> list[int]:
        return [runner.params.seed for runner in live_run.hub().lease(session.id).companions]

    until(app, lambda: seeds() == [1, 2, 3, 4] and all(r.snapshot() for r in session.seed_runners))
    first = list(session.seed_runners)
    widget(app.select_slider, "r").set_value(24).run()
    until(app, lambda: seeds() == [1, 2, 3, 4] and session.seed_runners != first)
    assert {runner.params.model.r for runner in session.seed_runners} == {24}
    assert all(runner.finished.wait(20) for runner in first), "runs of the old experiment are stopped"
    until(app, lambda: moving(app))
    session.pinned = live_run.remember_live_run(session)
    widget(app.select_slider, "r").set_value(32).run()

    def captions() -> str:
        return "".join(one.proto.body for one in app.get("html"))

    until(app, lambda: "Pinned, in green here" in captions() and "standard deviation over the seeds" in captions())
    widget(app.toggle, "five_seeds").set_value(False).run()
    until(app, lambda: seeds() == [])


@pytest.mark.slow
def test_the_remedy_of_a_finding_is_one_press() -> None:
    app = opened(**{**SMALL, "dataset": "digits", "C": "0.00001", "pairs": "2500", "judged_at": "ends"})
    until(app, lambda: moving(app))
    assert live_run.runner(session_of(app)).finished.wait(60)
    app.session_state["health"] = True
    app.run()
    button = app.button(key="remedy_C")
    wanted = float(button.label.removeprefix("Set C to "))
    assert button.help == app.button(key="chip_C").help.partition(". ")[2] == "Starts a new run.", "it has ended"
    button.click().run()
    assert not app.exception and session_of(app).params.model.C == wanted > 1e-5


@pytest.mark.slow
def test_a_remedy_is_named_in_words_and_acts_on_a_run_that_goes_on() -> None:
    app = opened(**{**SMALL, "dataset": "rings", "normalize": "1", "kernel": "none", "pairs": "1000000"})
    runner = live_run.runner(session_of(app))
    until(app, lambda: (now := runner.snapshot()) is not None and now.t >= 6_000)
    app.session_state["health"] = True
    app.run()
    assert app.button(key="remedy_kernel").label == "Set kernel to rbf"
    row = rows_of(session_of(app).params)["beta"]
    assert acts_at_once(session_of(app), row)


@pytest.mark.slow
def test_light_list_and_headline_agree_on_short_runs() -> None:
    words = {
        "0.5": ("worth a look", "it is below its start", "worse with labels"),
        "0": ("too short to judge", "Too short to judge: that takes 2,000 pairs, or 5,000", "better with labels"),
    }
    for noise, (light, listed, headline) in words.items():
        app = opened(**{**SMALL, "dataset": "digits", "r": "48", "pairs": "500", "noise": noise, "judged_at": "ends"})
        assert live_run.runner(session_of(app)).finished.wait(60)
        app.session_state["health"] = True
        app.run()
        above = next(one.proto.body for one in app.get("html") if "ohash-headline" in one.proto.body)
        assert light in above and headline in above and "healthy" not in above
        assert any(listed in one.value for one in app.markdown)


@pytest.mark.slow
def test_a_finished_run_is_scored_on_test_once() -> None:
    app = opened(**{**SMALL, "pairs": "300"})
    assert live_run.runner(session_of(app)).finished.wait(60), "the last picture is published before it has finished"
    now = live_run.runner(session_of(app)).snapshot()
    assert now is not None and now.state == "done" and now.numbers["test_queries"] == 200
    app.run()
    html = "".join(one.proto.body for one in app.get("html"))
    assert f"{now.numbers['test_map']:.3f} ± {now.numbers['test_map_error']:.3f} on 200 test queries" in html
    assert f"± {now.numbers['map_error']:.3f}" in html and "validation queries" in html
    means = f"±, and the band on the curve: 95 % over the {now.numbers['queries']:.0f} validation queries"
    assert f"{means}; of test scores, over the test queries" in html
