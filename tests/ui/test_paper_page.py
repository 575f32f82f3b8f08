"""The Paper page: what is not run is said, verdicts come from the store, figures are drawn, files are offered."""

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest  # noqa: TID251

from ohash.cli.new_method import template
from ohash.engine.params import experiment
from ohash.models import registry
from ohash.paper import figures, theory_claims
from ohash.paper.figures import FIGURES
from ohash.paper.measurements import Measurements
from ohash.paper.protocol import PROFILES, QUICK
from ohash.paper.settings import EMBEDDED
from ohash.paper.tables import figure_table
from ohash.plots.paper import charts, figure_styles
from ohash.runtime.files import HOME
from ohash.store.store import Store
from ohash.sweeps import launch
from ohash.sweeps.execution import SweepExecution
from ohash.sweeps.executors import InlineExecutor
from ohash.sweeps.leases import CellLeases, activity
from ohash.ui import paper
from ohash.ui.session.session import Session
from tests.plugin_registry import forget_plugins
from tests.ui.app import open_page

TINY = replace(QUICK, bits=(8, 16), timed_bits=(8, 64), pairs=300)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Figure 3 on digits, run with few pairs, in place of the quick profile; theory is judged on a few streams."""
    folder = tmp_path_factory.mktemp("paper")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "settings", lambda: (EMBEDDED[3],))
        patch.setitem(PROFILES, "quick", TINY)
        patch.setattr(theory_claims, "_long_run", partial(theory_claims._long_run, pairs=400))
        for name, few in (("STREAMS", 5), ("PAIRS_TRIED", 50)):
            patch.setattr(theory_claims, name, few)
        for computed in (theory_claims._models_violations, theory_claims._share_at_zero_loss):  # kept for no other test
            patch.setattr(theory_claims, computed.__name__, computed.__wrapped__)
        SweepExecution(FIGURES["3"].sweep(TINY), Store(folder), InlineExecutor()).run()
        yield folder


@pytest.fixture(autouse=True)
def alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME, str(home))


def page(**query: str) -> AppTest:
    session = Session(id="a session of the tests of the paper", params=experiment("blobs2d"))
    return open_page("paper", query, session)


def table(app: AppTest) -> str:
    return next(one.proto.body for one in app.get("html") if 'class="claims"' in one.proto.body)


@pytest.mark.slow
def test_claims_are_judged_from_the_store() -> None:
    app = page(profile="quick")
    assert "The number of models hardly matters" in table(app) and "T = 4 minus T = 1" in table(app)
    assert any("claims" in one.value and "cannot be decided" in one.value for one in app.markdown)
    before = table(app).count("<tr id=")
    assert before >= 30
    app.button_group(key="paper_verdicts").set_value(["holds"]).run()
    assert table(app).count("<tr id=") < before


@pytest.mark.slow
def test_a_figure_has_settings_plots_numbers_and_conclusions() -> None:
    app = page(profile="quick")
    app.button_group(key="paper_part").set_value("figures").run()
    app.selectbox(key="paper_figure").set_value("3").run()
    assert not app.exception
    text = " ".join(one.value for one in app.markdown)
    assert "**The paper**" in text and "T from 1 to 4" in text and "mAP on test queries against T" in text
    assert any("4 of 4 experiments" in one.value for one in app.caption)
    app.button_group(key="paper_part").set_value("symbols").run()
    assert not app.exception


@pytest.mark.slow
def test_start_and_cancel(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    monkeypatch.setattr(launch, "start_paper", lambda profile, chosen, store: started.append(profile))
    app = page(profile="quick")
    app.button(key="paper_start").click().run()
    assert started == ["quick"]
    store, key = Store(), FIGURES["3"].sweep(TINY).key
    claims = CellLeases(store)
    claims.beat(key, "running", 0.0, {"done": 1, "failed": 0, "total": 4})
    app = page(profile="quick")
    assert any("do not change while this runs" in one.value for one in app.caption)
    app.button(key="paper_cancel").click().run()
    assert activity(store)[key].state == "cancelling"
    claims.beat(key, "cancelled", 0.0, {"done": 1, "failed": 0, "total": 4})


@pytest.mark.slow
def test_the_profile_is_in_the_address() -> None:
    app = page(profile="full")
    assert app.query_params["profile"] == "full"
    assert any("recorded on 20" in one.value for one in app.caption), "what ships stands in for runs"
    assert app.button_group(key="paper_profile").value in ("full", ["full"])
    assert page(profile="nonsense").query_params["profile"] == "full"


@pytest.mark.slow
def test_the_files_hold_what_was_measured(home: Path) -> None:
    results = paper.load_results(Store(home), TINY)
    assert "\\toprule" in paper._latex(results) and paper._figures_as_zip(results)[:2] == b"PK"


@pytest.fixture
def mine(tmp_path: Path, no_plugins: None) -> str:
    """A method of one's own, as the template has it."""
    file = tmp_path / "mine.py"
    file.write_text(template("mine"))
    registry.add_plugin(file)
    return "mine"


@pytest.mark.slow
def test_ones_own_method_is_drawn_where_methods_are_compared(mine: str, home: Path, tmp_path: Path) -> None:
    figure, store = FIGURES["6"], Store(tmp_path / "store")
    recorded = {where.method for where in Measurements(store, TINY).cells(figure)}
    assert mine in recorded and {"6", "8", "arrival", "change", "methods"} == {
        key for key, one in FIGURES.items() if one.usable_methods([mine])
    }
    SweepExecution(figure.sweep(TINY, only=[mine]), store, InlineExecutor()).run()
    assert {line.method for line in store.list()} == {"Mine"}, "nothing else is run"
    measured = Measurements(store, TINY)
    (chart,) = charts(measured, figure)
    assert "Mine (yours)" in {line.name for line in chart.series} and "Mine (yours) has the highest" in chart.title
    assert [row[1] for row in figure_table(measured, figure).rows if row[2] != "–"] == ["Mine (yours)"]
    looks = figure_styles(figure)
    forget_plugins()
    os.environ[registry.PLUGINS] = ""
    assert {key: look for key, look in looks.items() if key != mine} == figure_styles(figure), (
        "no other changes its look"
    )


@pytest.mark.slow
def test_ones_own_method_can_be_run_alone_and_is_said_to_be_missing(mine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[str, ...]] = []
    monkeypatch.setattr(launch, "start_paper", lambda profile, chosen, store, methods=(): started.append(methods))
    app = page(profile="quick")
    cells = {
        cell.key
        for one in FIGURES.values()
        if one.usable_methods([mine])
        for cell in one.sweep(TINY, only=[mine]).cells
    }
    assert app.button(key="paper_own").label == f"Run Mine ({len(cells)})"
    app.button(key="paper_own").click().run()
    assert started == [(mine,)]
    app.button_group(key="paper_part").set_value("figures").run()
    app.selectbox(key="paper_figure").set_value("3").run()
    page_text = "Mine from your plugins is in figures 6, "
    assert any(one.value.startswith(page_text) and one.value.endswith("parameter of OH or MMOH.") for one in app.info)
    app.selectbox(key="paper_figure").set_value("6").run()
    assert not app.exception and any("is drawn here as soon as" in one.value for one in app.info)


def test_without_a_method_of_ones_own_nothing_is_said_of_it() -> None:
    app = page(profile="quick")
    app.button_group(key="paper_part").set_value("figures").run()
    assert not app.info and not any(one.key == "paper_own" for one in app.button)
