"""What is merged into a chart makes it the newer one, whatever has changed; ECharts' merge is written out here."""

import json
from copy import deepcopy
from functools import partial
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohash.engine.run import Run
from ohash.engine.snapshot import Snapshot
from ohash.plots.live import charts
from ohash.plots.renderers.echarts import option
from ohash.plots.renderers.echarts_changes import COMPONENTS, changes, columns
from tests.plots.moments import RUNS

OPTION = partial(option, title=True, title_lines=2, moving=True)


@pytest.fixture(scope="module")
def moments() -> list[Snapshot]:
    """Of one run, some pairs apart."""
    run, pictures = Run(RUNS["oh"]), []
    for t in (700, 740, 1200):
        while run.t < t or run.evaluating:
            run.step(min(10, t - run.t))
        pictures.append(run.snapshot("running"))
    return pictures


def merge(old: Any, new: Any) -> Any:
    """As ECharts does: into objects deeply, everything else is replaced."""
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return new
    return old | {key: merge(old.get(key), value) for key, value in new.items()}


def merged(chart: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    shown = deepcopy(chart)
    for key, value in change.items():
        if key in COMPONENTS:
            shown[key] = [merge(old, new) for old, new in zip(shown[key], value, strict=True)]
        else:
            shown[key] = merge(shown.get(key), value)
    return shown


def plain(chart: Any) -> Any:
    """With the numbers of tables in place of the tables."""
    if isinstance(chart, dict):
        tables = {"dimensions", "source"} if isinstance(chart.get("source"), pa.Table) else set()
        inner = {key: plain(value) for key, value in chart.items() if key not in tables}
        return inner | (
            {"dimensions": chart["source"].column_names, "source": columns(chart["source"])} if tables else {}
        )
    return [plain(value) for value in chart] if isinstance(chart, list | tuple) else chart


@pytest.mark.parametrize("name", ["quality", "hills", "loss", "tau"])
def test_a_live_chart_becomes_the_next_one(name: str, moments: list[Snapshot]) -> None:
    before, *others = [OPTION(getattr(charts, name)(now)) for now in moments]
    for now in others:
        change = changes(before, now)
        assert change, "a later moment looks different"
        assert plain(merged(plain(before), change)) == plain(now)
        assert json.loads(json.dumps(change, allow_nan=False)) == change
        assert len(json.dumps(change)) < len(json.dumps(plain(now))), "less is sent than the whole"
        before = now
    assert changes(before, before) == {}


leaves = st.one_of(st.integers(), st.text(max_size=3), st.booleans(), st.none(), st.lists(st.integers(), max_size=3))
parts = st.recursive(leaves, lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3), max_leaves=8)
options = st.fixed_dictionaries({
    "series": st.lists(st.dictionaries(st.sampled_from(["name", "z", "data"]), leaves, max_size=3), max_size=3),
    "grid": st.dictionaries(st.sampled_from("abc"), parts, max_size=3),
    "media": st.lists(st.integers(), max_size=2),
})  # fmt: skip


@given(before=options, now=options)
def test_a_change_is_whole_or_there_is_none(before: dict[str, Any], now: dict[str, Any]) -> None:
    change = changes(before, now)
    if change is None:
        assert before != now
    else:
        assert merged(before, change) == now


def test_what_goes_away_or_has_another_name_is_drawn_anew() -> None:
    chart = {"series": [{"name": "a", "endLabel": {"show": True}}], "legend": {"top": 1}}
    assert changes(chart, {"series": [{"name": "a"}], "legend": {"top": 1}}) is None
    assert changes(chart, {"series": [{"name": "b", "endLabel": {"show": True}}], "legend": {"top": 1}}) is None
    assert changes(chart, {"series": chart["series"]}) is None
    assert changes(chart, {**chart, "series": [*chart["series"], {"name": "c"}]}) is None
