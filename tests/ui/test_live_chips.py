"""Settings of the closed panel that are not at their defaults are shown, and reset with one click."""

import numpy as np

from ohash.engine.params import experiment
from ohash.streams.dataset import Dataset
from ohash.ui.session import live_run, own_data
from tests.ui.live_app import SMALL, link_of, opened, session_of


def test_what_is_not_at_its_default_is_shown_and_reset() -> None:
    app = opened(**SMALL, noise="0.3", alpha="1", sigma="0.5")
    labels = {button.label for button in app.button if str(button.key).startswith("chip_")}
    assert {"wrong labels 0.3", "similar within 1"} <= labels
    app.button(key="chip_noise").click().run()
    assert not app.exception and session_of(app).params.stream.noise == 0 and "noise" not in link_of(app)
    assert not any(button.key == "chip_noise" for button in app.button)
    assert session_of(app).params.model.alpha == 1, "the others stay"


def test_own_data_find_the_way_back_to_the_C_of_the_warm_up() -> None:
    app = opened(**SMALL)
    session = session_of(app)
    X = np.random.default_rng(0).normal(size=(200, 8)).astype(np.float32)
    dataset = Dataset.from_arrays(X, labels=np.arange(200) % 4)
    live_run.commit(session, experiment("own", content=own_data.add(session, dataset), C=0.3))
    app.run()
    app.button(key="auto_C").click().run()
    assert not app.exception and session.params.model.C == 0
    assert not any(button.key == "auto_C" for button in app.button)
