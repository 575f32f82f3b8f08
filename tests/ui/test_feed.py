"""Pictures that a browser fetches between two of Streamlit's: what differs from the one it shows, and nothing else."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from starlette.requests import Request

from ohash.ui.session import feed as feeds
from ohash.ui.session.broadcast import ChartSwitches
from ohash.ui.session.feed import ARRIVAL_SECONDS, MAX_FRAMES, PATH, PATIENCE_SECONDS, Feed, Frame
from tests.ui.test_broadcast import answer

LIGHT, DARK = ChartSwitches(), ChartSwitches(dark=True)


def frame(seq: int, *, series: int = 1, notes: str = "below") -> Frame:
    chart = {"title": [{"text": f"{seq} pairs"}], "series": [{"name": str(at)} for at in range(series)], "grid": {}}
    return Frame(seq, f"<p>{seq}</p>", {"chart_a": chart}, {"chart_a": f"a line of {seq}"}, notes)


class Stage:
    """A run at picture `now`, and a clock."""

    def __init__(self) -> None:
        self.now: Frame | None = frame(1)
        self.time, self.seconds, self.drawn, self.awaited = 100.0, 0.1, 0, 0
        self.feed = Feed(self.draw, lambda: self.seconds, clock=lambda: self.time)

    def draw(self, shown: int, switches: ChartSwitches, awaited: int) -> Frame | None:
        self.awaited = awaited
        if self.now is None or self.now.seq == shown:
            return None
        self.drawn += 1
        return self.now

    def send(self, switches: ChartSwitches = LIGHT) -> None:
        """As Streamlit does, and the picture arrives."""
        assert self.now is not None
        self.feed.send(self.now, switches)
        self.time += 2 * ARRIVAL_SECONDS

    def ask(self, shown: str, query: str = "") -> tuple[int, Any]:
        return asyncio.run(answer(f"{PATH}/{self.feed.key}", f"shown={shown}&{query}", feeds.ROUTES))


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_what_has_changed_is_sent_with_the_words(stage: Stage) -> None:
    stage.send()
    stage.now = frame(2)
    status, picture = stage.ask("1")
    assert (status, picture["words"], picture["notes"], picture["wait"]) == (200, "<p>2</p>", "", 100)
    assert picture["charts"] == [["chart_a", "a line of 2", {"title": [{"text": "2 pairs"}]}]]
    stage.now = frame(3, notes="other")
    assert stage.ask("2")[1]["notes"] == "other", "the next one differs from what was fetched"


@pytest.mark.parametrize("shown", ["7", "", "-1", "1.5", "x", "9" * 5000, "²"])
def test_a_picture_that_is_not_known_has_no_changes(stage: Stage, shown: str) -> None:
    stage.send()
    stage.now = frame(2)
    assert stage.ask(shown)[0] in (204, 404)
    assert not stage.drawn, "and none is drawn for it"


def test_a_chart_of_other_parts_stays_as_it_is_until_streamlit_draws_it_and_others_go_on(stage: Stage) -> None:
    def two(seq: int, series: int) -> Frame:
        one, other = frame(seq), frame(seq, series=series)
        charts, alts = {"chart_d": other.charts["chart_a"]}, {"chart_d": "bars"}
        return replace(one, charts=one.charts | charts, alts=one.alts | alts)

    stage.now = two(1, series=1)
    stage.send()
    stage.now = replace(two(2, series=0), alts={"chart_a": "a line of 2", "chart_d": "nothing yet"})
    assert stage.ask("1")[1]["charts"] == [
        ["chart_a", "a line of 2", {"title": [{"text": "2 pairs"}]}],
        ["chart_d", "bars", {}],
    ]
    stage.now = two(3, series=1)
    assert stage.ask("2")[1]["charts"][1][2] == {"title": [{"text": "3 pairs"}]}, "it differs from what is shown"


def test_streamlit_keeps_its_pace_until_it_has_drawn_charts_of_other_parts(stage: Stage) -> None:
    stage.now = frame(1, series=0)
    stage.send()
    stage.now = frame(2)
    assert stage.ask("1")[0] == 200 and not stage.feed.fetched, "the chart is still empty"
    stage.send()
    stage.now = frame(3)
    assert stage.ask("2")[0] == 200 and stage.feed.fetched


def test_nothing_new_or_another_way_of_looking_has_no_changes(stage: Stage) -> None:
    stage.send()
    assert stage.ask("1")[0] == 204, "nothing new"
    stage.now = frame(3)
    assert stage.ask("1", "dark=1")[0] == 204, "it shows another picture"
    assert stage.ask("1")[0] == 200
    stage.now = None
    assert stage.ask("3")[0] == 204, "the run rests"
    assert asyncio.run(answer(f"{PATH}/forged", "shown=1", feeds.ROUTES))[0] == 404


def test_where_nothing_is_new_a_crowded_server_is_asked_less_often(stage: Stage) -> None:
    stage.send()
    request = Request(
        {"type": "http", "query_string": b"shown=1", "headers": [], "path_params": {"key": stage.feed.key}}
    )
    waits = []
    for stage.seconds in (0.08, 0.9):
        answered = asyncio.run(feeds.send_changes(request))
        assert answered.status_code == 204
        waits.append(int(answered.headers[feeds.SOON]))
    assert waits == [27, 300], "milliseconds: a third of the time between two pictures"


def test_until_a_picture_of_streamlit_has_arrived_nothing_is_fetched(stage: Stage) -> None:
    stage.send()
    stage.now = frame(2)
    stage.feed.send(frame(2), LIGHT)
    stage.now = frame(3)
    assert stage.ask("1")[0] == 204
    stage.time += 2 * ARRIVAL_SECONDS
    assert stage.ask("2")[0] == 200


def test_whether_a_browser_fetches_is_known_for_a_while(stage: Stage) -> None:
    assert not stage.feed.fetched
    stage.send()
    assert not stage.feed.fetched, "Streamlit's own pictures do not count"
    stage.now = frame(2)
    stage.ask("1")
    assert stage.feed.fetched
    stage.time += PATIENCE_SECONDS
    assert not stage.feed.fetched


def test_few_pictures_are_kept(stage: Stage) -> None:
    for seq in range(1, 50):
        stage.now = frame(seq)
        stage.send(DARK if seq % 2 else LIGHT)
    assert len(stage.feed._frames) == MAX_FRAMES


@pytest.mark.parametrize(("changes", "awaited"), [("0", 1), ("3", 4), ("", 0), ("-1", 0), ("x", 0), ("9" * 30, 0)])
def test_a_browser_whose_slider_was_moved_awaits_one_more_change(stage: Stage, changes: str, awaited: int) -> None:
    stage.send()
    stage.now = frame(2)
    assert stage.ask("1", f"changes={changes}")[0] == 200
    assert stage.awaited == awaited
