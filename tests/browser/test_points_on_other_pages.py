"""The points of the playground on Live, in Step by step and on the Data page."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlparse

import numpy as np
import pytest

import ohash
from ohash.cli.lab import Dashboard
from ohash.engine import links
from ohash.engine.params import flat
from ohash.engine.world import World
from ohash.streams.datasets.playground import MAX_POINTS, SHAPES
from ohash.streams.readers.own_data import open_files
from ohash.streams.registry import load_by_key
from ohash.ui.session.address import LIMITS
from tests.browser.wait import until

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.mark.parametrize("data", SHAPES)
def test_live_draws_the_points_of_the_playground_bit_for_bit(scratch: Any, data: str) -> None:
    script = """([data, seed]) => { const run = new PlaygroundRun({ ...DEFAULTS, data, seed, drift: 0 });
      return [new URLSearchParams(liveQuery(run)).get("dataset"), run.places(), run.labels]; }"""
    for seed in [*range(40), 998, 999]:
        key, places, labels = scratch.evaluate(script, [data, seed])
        dataset = load_by_key(key)
        assert key == f"playground-{data}-{seed}" and dataset.labels.tolist() == labels
        assert np.array_equal(dataset.X, np.array(places).astype(np.float32)), seed


def live_query(page: Any, link: str, then: str = "") -> dict[str, str]:
    script = """([link, then]) => { const { params, events, at } = readLink(link);
      const run = new PlaygroundRun(params, events); run.seek(at);
      (new Function("run", then))(run); return liveQuery(run); }"""
    return dict(parse_qsl(page.evaluate(script, [link, then])))


@pytest.mark.parametrize("data", SHAPES)
def test_live_understands_the_link_from_the_playground(scratch: Any, data: str) -> None:
    values = {"r": 5, "T": 3, "beta": 0.4, "C": 0.02, "noise": 0.15, "seed": 12}
    text = "&".join(f"{key}={value}" for key, value in values.items())
    query = live_query(scratch, f"data={data}&{text}&drift=0&at=90&changes=40:C:1,70:beta:0.6,80:noise:0.15")
    params, problems = links.from_query(query, LIMITS)
    assert not problems and params.dataset == f"playground-{data}-12" and params.method == "mmoh"
    assert {key: flat(params)[key] for key in values} == values
    assert [(one.at, one.name, one.value) for one in params.changes] == [(40, "C", 1), (70, "beta", 0.6)]
    assert params.stream.similar_share == 0.5 and params.drift.drift == "none"
    *_, now = ohash.run(params.with_values(pairs=100))
    assert now.t == 100


def test_live_turns_the_points_as_the_playground_does(scratch: Any) -> None:
    query = live_query(scratch, "data=drift&at=700")
    params, problems = links.from_query(query, LIMITS)
    assert not problems and (params.dataset, params.run.pairs) == ("playground-drift-1", 6000)
    world = World(params)
    places = (
        "(t) => { const run = new PlaygroundRun(readLink('data=drift').params); run.seek(t); return run.places(); }"
    )
    for t in (0, 100, 1000, 4321):
        there = world.raw(world.drift.stage(t))
        far = np.linalg.norm(there - np.array(scratch.evaluate(places, t)), axis=1)
        assert (far <= np.linalg.norm(there, axis=1) * np.radians(2.6) + 1e-6).all(), "at most half a step of 5 degrees"
    rests = live_query(scratch, "data=drift&at=700", "run.change('drift', 0)")
    dataset = load_by_key(rests["dataset"])
    assert "drift" not in rests and dataset.n == 200, "where they have been turned to"
    now = np.array(scratch.evaluate(places, 700))
    order = np.argsort(np.arange(200) % 2, kind="stable")
    np.testing.assert_allclose(dataset.X, now[order], atol=0.002)


def test_edited_points_go_to_live_within_the_length_of_a_link(scratch: Any) -> None:
    painted = "".join(f"{k:02d}{k:02d}" for k in range(10, 99)) * 3
    query = live_query(scratch, f"data=own&at=0&changes=0:paint:0{painted},0:paint:2{painted[::-1]}")
    params, problems = links.from_query(query, LIMITS)
    dataset = load_by_key(params.dataset)
    assert not problems and dataset.n == MAX_POINTS and len(params.dataset) < 2000
    edited = live_query(scratch, "data=xor&at=30&changes=20:erase:0,20:move:0.i0i0,30:paint:3h0h0")
    assert load_by_key(edited["dataset"]).n == 200
    back = "run.seek(10); run.happened = 0; run.setPoints(makePoints('xor', randomNumbers(1)))"
    assert live_query(scratch, "data=xor&at=30&changes=20:erase:0", back)["dataset"] == "playground-xor-1"
    few = "liveQuery(new PlaygroundRun(readLink('data=own&at=0&changes=0:paint:0h0h0h0h0,0:paint:1i0i0i0i0').params))"
    assert scratch.evaluate(few) is None


def test_points_painted_on_learn_open_on_live_and_step(page: Any, server: Dashboard) -> None:
    page.goto(f"{server.url}/learn?data=own&at=0")
    page.wait_for_selector(".playground[data-agreement]")
    page.get_by_text("Live needs two classes of 4 points: paint some").wait_for()
    plane = page.locator(".planes").bounding_box()
    for colour, row in ((1, 0.3), (2, 0.7)):
        page.get_by_role("radio", name=f"Paint class {colour}").check()
        for k in range(6):
            page.mouse.click(plane["x"] + plane["width"] * (0.2 + 0.1 * k), plane["y"] + plane["height"] * row)
    page.get_by_role("button", name="Play", exact=True).click()
    until(lambda: int(page.locator(".playground").get_attribute("data-pairs")) > 20, "it plays")
    with page.expect_download() as saved:
        page.locator(".elsewhere").get_by_role("link", name="save them").click()
    assert len(Path(saved.value.path()).read_text().splitlines()) == 1 + 12
    live = page.locator(".elsewhere").get_by_role("link", name="Live")
    place = live.bounding_box()
    with page.context.expect_page() as opened:  # a hand is slow, and the words beside it change while it plays
        page.mouse.move(place["x"] + 5, place["y"] + 5)
        page.mouse.down()
        page.wait_for_timeout(400)
        page.mouse.up()
    opened.value.get_by_text("12 points of the playground").first.wait_for()
    key = parse_qs(urlparse(opened.value.url).query)["dataset"][0]
    shown = page.locator(".playground").evaluate("(one) => one.playground.run.places()")
    assert sorted(load_by_key(key).X.tolist()) == sorted(np.float32(shown).tolist())
    opened.value.close()
    with page.context.expect_page() as opened:
        page.locator(".elsewhere").get_by_role("link", name="Step by step").click()
    opened.value.get_by_text("OH on 12 points of the playground: pair").wait_for()
    opened.value.close()


def test_the_points_can_be_taken_to_the_data_page(scratch: Any, tmp_path: Path) -> None:
    file = tmp_path / "points.csv"
    run = "new PlaygroundRun({ ...DEFAULTS, data: 'spirals' })"
    text, places, labels = scratch.evaluate(
        f"(() => {{ const run = {run}; return [pointsFile(run), run.places(), run.labels]; }})()"
    )
    file.write_text(text, encoding="utf-8")
    dataset = open_files(file)
    np.testing.assert_allclose(dataset.X, places, atol=1e-4)
    assert np.array_equal(dataset.labels, labels) and dataset.class_names == ("class 1", "class 2")
