"""Settings of the closed panel that are not at their defaults are shown, and reset with one click."""

from tests.ui.live_app import SMALL, link_of, opened, session_of


def test_what_is_not_at_its_default_is_shown_and_reset() -> None:
    app = opened(**SMALL, noise="0.3", alpha="1", sigma="0.5")
    labels = {button.label for button in app.button if str(button.key).startswith("chip_")}
    assert {"wrong labels 0.3", "similar within 1"} <= labels
    app.button(key="chip_noise").click().run()
    assert not app.exception and session_of(app).params.stream.noise == 0 and "noise" not in link_of(app)
    assert not any(button.key == "chip_noise" for button in app.button)
    assert session_of(app).params.model.alpha == 1, "the others stay"
