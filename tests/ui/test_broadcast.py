"""The pictures of a run that many watch: drawn once per moment and way of looking, whoever asks and how often."""

import asyncio
import gzip
import json
import threading
from collections import Counter
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.routing import Route

from ohash.engine.snapshot import Snapshot
from ohash.ui.session.broadcast import MAX_PICTURES, PATH, QUALITY, ROUTES, Broadcast, ChartSwitches

looks = st.builds(
    ChartSwitches,
    st.sampled_from(list(QUALITY)),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)


class Stage:
    """A run that moves when told to, and what was drawn of it."""

    def __init__(self) -> None:
        self.seq, self.time = 1, 0.0
        self.drawn: Counter[tuple[int, ChartSwitches]] = Counter()
        self.broadcast = Broadcast(self.newest, self.draw, clock=lambda: self.time)

    def newest(self) -> Snapshot | None:
        return cast(Snapshot, SimpleNamespace(seq=self.seq)) if self.seq else None

    def draw(self, now: Snapshot, look: ChartSwitches) -> str:
        self.drawn[now.seq, look] += 1
        return f"<p>{now.seq}</p>"

    def ask(self, query: str = "", key: str = "") -> tuple[int, Any]:
        return asyncio.run(answer(f"{PATH}/{key or self.broadcast.key}", query))


async def answer(path: str, query: str, routes: Sequence[Route] = ROUTES) -> tuple[int, Any]:
    """Status and content of an answer of the routes alone."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "GET", "path": path, "query_string": query.encode(), "headers": [], "root_path": "",
    }  # fmt: skip
    await Starlette(routes=routes)(scope, receive, send)
    body = b"".join(one.get("body", b"") for one in sent[1:])
    return sent[0]["status"], json.loads(gzip.decompress(body)) if sent[0]["status"] == 200 else body


@given(look=looks)
def test_a_look_reads_back_from_its_address(look: ChartSwitches) -> None:
    assert ChartSwitches.read(look.query()) == look


def test_a_picture_is_sent_with_its_number_and_not_twice() -> None:
    stage = Stage()
    status, picture = stage.ask()
    assert status == 200 and picture["seq"] == 1 and picture["html"] == "<p>1</p>" and picture["wait"] >= 200
    assert stage.ask("after=1")[0] == 204
    stage.seq, stage.time = 2, 10.0
    assert stage.ask("after=1")[1]["html"] == "<p>2</p>"


def test_a_moment_is_drawn_once_for_all_who_look_alike_and_once_more_for_others() -> None:
    stage = Stage()
    gate = threading.Event()
    draw = stage.draw

    def slow(now: Snapshot, look: ChartSwitches) -> str:
        assert gate.wait(30)
        return draw(now, look)

    stage.broadcast = Broadcast(stage.newest, slow, clock=lambda: stage.time)

    async def crowd() -> list[tuple[int, Any]]:
        path = f"{PATH}/{stage.broadcast.key}"
        asked = [asyncio.create_task(answer(path, query)) for query in 20 * [""] + 5 * ["dark=1"]]
        await asyncio.sleep(0.05)
        gate.set()
        return await asyncio.gather(*asked)

    assert [status for status, _ in asyncio.run(crowd())] == 25 * [200]
    assert stage.drawn == {(1, ChartSwitches()): 1, (1, ChartSwitches(dark=True)): 1}
    stage.time = 10.0  # the run rests
    assert stage.ask("after=1")[0] == 204 and stage.drawn.total() == 2


def test_a_run_that_moves_is_not_drawn_more_often_than_its_interval_allows() -> None:
    stage = Stage()
    assert stage.ask()[1]["seq"] == 1
    stage.seq, stage.time = 2, 0.5 * stage.broadcast.interval
    assert stage.ask()[1]["seq"] == 1
    stage.time = stage.broadcast.interval
    assert stage.ask()[1]["seq"] == 2
    stage.broadcast.viewers = 600
    assert stage.broadcast.interval > 1.5, "answers cost time, too"


def test_without_a_run_or_its_key_there_is_no_picture() -> None:
    stage = Stage()
    assert stage.ask(key="guess")[0] == 404
    stage.seq = 0
    assert stage.ask()[0] == 404
    key = stage.broadcast.key
    del stage
    assert asyncio.run(answer(f"{PATH}/{key}", ""))[0] == 404, "a broadcast ends with its run"


@pytest.mark.parametrize(
    "query", ["quality=%3Cscript%3E&dark=2", "after=" + "9" * 10_000, "quality=", "bound=1&bound=0"]
)
def test_forged_addresses_get_an_ordinary_picture(query: str) -> None:
    stage = Stage()
    assert stage.ask(query)[0] == 200
    assert set(stage.drawn) == {(1, ChartSwitches())}


def test_many_ways_of_looking_do_not_fill_the_memory() -> None:
    stage = Stage()
    switches = [f"per_pair={a}&log_loss={b}&bound={c}&narrow={d}&dark={e}" for a in "01" for b in "01" for c in "01"
                for d in "01" for e in "01"]  # fmt: skip
    for query in switches:
        assert stage.ask(query)[0] == 200
    assert len(stage.drawn) == 32 > MAX_PICTURES == len(stage.broadcast._pictures)
