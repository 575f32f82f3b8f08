"""Settings that are not at their defaults are shown, and reset with one click."""

import numpy as np

from ohash.engine.links import from_query
from ohash.engine.params import FIRST_DATASET, FIRST_SEED, experiment
from ohash.streams.dataset import Dataset
from ohash.ui.session import live_run, own_data
from tests.ui.live_app import SMALL, link_of, opened, session_of, until


def test_what_is_not_at_its_default_is_shown_and_reset() -> None:
    app = opened(**SMALL, noise="0.3", alpha="1", sigma="0.5")
    labels = {button.label for button in app.button if str(button.key).startswith("chip_")}
    assert {"wrong labels 0.3", "α 1"} <= labels
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


def test_parameters_with_sliders_in_sight_have_chips_too() -> None:
    app = opened(**(SMALL | {"method": "mmoh", "T": "2", "r": "24", "beta": "0.7"}))
    labels = {str(button.key): button.label for button in app.button if str(button.key).startswith("chip_")}
    assert labels | {"chip_T": "T 2", "chip_r": "r 24", "chip_beta": "β 0.7"} == labels
    app.button(key="chip_T").click().run()
    assert not app.exception and session_of(app).params.method == "oh", "one model is OH"
    app.button(key="chip_beta").click().run()
    until(app, lambda: session_of(app).params.with_current_values().model.beta == 0.5)
    assert session_of(app).params.changes, "on the running model"
    assert not any(button.key in ("chip_T", "chip_beta") for button in app.button)


def test_the_opening_seed_is_the_default_of_its_data() -> None:
    app = opened()
    assert session_of(app).params == from_query({})[0]
    assert not any(str(button.key).startswith("chip_") for button in app.button)
    app = opened(dataset=FIRST_DATASET, seed="0")
    app.button(key="chip_seed").click().run()
    assert not app.exception and session_of(app).params.seed == FIRST_SEED
