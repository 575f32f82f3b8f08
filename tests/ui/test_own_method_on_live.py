"""A method of one's own on Live: widgets for what it declares, and an error that says where it arose."""

from pathlib import Path

import pytest

from ohash.cli.new_method import template
from ohash.models import registry
from ohash.ui.session import live_run
from tests.ui.app import widget
from tests.ui.live_app import SMALL, opened, session_of, until

OWN = template("mine").replace(
    "    eta: float",
    '    rho: float = param(0.5, symbol="ρ", title="rest", lo=0, hi=1, slider=(0, 1), help="Rest.")\n    eta: float',
)


@pytest.fixture
def own(tmp_path: Path, no_plugins: None) -> Path:
    return tmp_path / "mine.py"


def test_declared_parameters_of_a_plugin_have_widgets(own: Path) -> None:
    own.write_text(OWN)
    registry.add_plugin(own)
    app = opened(**{**SMALL, "method": "mine"})
    app.session_state["open_features"] = True
    app.run()
    assert widget(app.select_slider, "eta").value == 0.05
    assert "." not in [caption.value for caption in app.caption], "it cites nothing"
    assert not app.warning
    own.write_text(OWN + "\n")
    app.run()
    assert "mine.py: edited since this server started" in app.warning[0].value
    widget(app.slider, "rho").set_value(0.25).run()
    assert not app.exception and session_of(app).params.model.rho == 0.25


def test_declared_parameters_of_adapthash_have_widgets() -> None:
    app = opened(**{**SMALL, "method": "adapthash"})
    app.session_state["open_features"] = True
    app.run()
    assert widget(app.slider, "lambda_") and widget(app.slider, "ratio")
    widget(app.select_slider, "eta").set_value(0.5).run()
    assert not app.exception and session_of(app).params.model.eta == 0.5


def test_an_error_in_a_plugin_is_one_sentence_and_no_learning(own: Path) -> None:
    wrong = OWN.replace("            D_h[t] = differ.sum()", "            raise TypeError('my bug')")
    own.write_text(wrong)
    line = next(at for at, text in enumerate(wrong.splitlines(), 1) if "my bug" in text)
    registry.add_plugin(own)
    app = opened(**{**SMALL, "method": "mine"})
    assert live_run.runner(session_of(app)).finished.wait(60)
    until(app, lambda: bool(app.error))
    assert app.error[0].value.replace("\\", "") == (
        f"Mine failed in _learn_pair_block, mine.py line {line}: TypeError: my bug. Fix mine.py, and start again."
    )
    words = next(one.proto.body for one in app.get("html") if "ohash-headline" in one.proto.body)
    assert "learning" not in words and "healthy" not in words
    assert "Mine failed at the first pairs of " in words
