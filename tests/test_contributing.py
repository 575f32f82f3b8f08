"""The examples of the contributors' notes are complete: each is executed as it stands there."""

import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest  # noqa: TID251

import ohash
from ohash.cli.main import main
from ohash.models import registry
from ohash.plots.renderers.echarts import option
from ohash.plots.renderers.plotly import figure
from ohash.plots.renderers.svg import to_svg

NOTES = (Path(__file__).parents[1] / ".github" / "CONTRIBUTING.md").read_text()
EXAMPLES = dict(re.findall(r"```python (\w+)\n(.*?)```", NOTES, flags=re.DOTALL))


@pytest.fixture
def plugin(tmp_path: Path, no_plugins: None) -> Path:
    return tmp_path / "example.py"


def add(file: Path, example: str) -> None:
    file.write_text(EXAMPLES[example])
    registry.add_plugin(file)


def test_there_is_one_example_of_each() -> None:
    assert set(EXAMPLES) == {"method", "dataset", "chart", "page"}


def test_the_method_learns_saves_and_beats_chance(plugin: Path, tmp_path: Path) -> None:
    add(plugin, "method")
    *_, now = ohash.run(ohash.experiment("digits", "pca_hash", r=16, pairs=300, kernel="none"))
    assert now.numbers["map"] > 0.3 and now.numbers["bits"] == 16
    X = ohash.load_dataset("digits").X
    model = ohash.methods()["pca_hash"].hasher(r=8)
    model.fit(X)
    ohash.save(model, tmp_path / "model.npz")
    assert np.array_equal(ohash.load_model(tmp_path / "model.npz").encode(X), model.encode(X))
    with pytest.raises(ValueError, match=r"r must be an integer in \[1, 512\], got 0"):
        ohash.methods()["pca_hash"].hasher(r=0)


def test_the_data_set_is_listed_and_learnt(plugin: Path) -> None:
    add(plugin, "dataset")
    assert "circles" in ohash.datasets()
    *_, now = ohash.run(ohash.experiment("circles", "oh", r=16, pairs=1500, normalize=False))
    assert now.numbers["map"] > now.numbers["map_start"]


def test_the_command_beside_the_data_set_works(plugin: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = re.findall(r"`python3 -m ohash (--plugin circles\.py run [^`]*)`", NOTES)
    plugin.write_text(EXAMPLES["dataset"])
    command = [str(plugin) if word == "circles.py" else word for word in line.split()]
    assert main([*command, "--pairs", "300", "--quiet"]) == 0
    assert "agreement with labels: mAP" in capsys.readouterr().out


def test_the_chart_is_drawn_by_every_renderer() -> None:
    space: dict[str, object] = {}
    exec(compile(EXAMPLES["chart"], "chart", "exec"), space)
    *_, now = ohash.run(ohash.experiment("digits", "oh", r=8, pairs=300, m=20))
    chart = space["hit_rate"](now)  # type: ignore[operator]
    assert chart.title.endswith("among ten") and len(chart.table()) > 2
    assert chart.caption and chart.alt.startswith(chart.title), "as every chart of the Live page must"
    assert option(chart)["series"] and figure(chart).data and to_svg(chart).startswith("<svg")


@pytest.mark.slow
def test_the_page_runs() -> None:
    app = AppTest.from_string(EXAMPLES["page"], default_timeout=60).run()
    assert not app.exception and app.markdown[0].value == "#### One short run"
    app.slider[0].set_value(8).run()
    assert not app.exception
