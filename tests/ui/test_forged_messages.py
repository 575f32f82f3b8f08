"""Messages that no browser would send: every value is checked on the server as if the widget did not exist."""

import asyncio
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg  # noqa: TID251
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg  # noqa: TID251
from streamlit.proto.Slider_pb2 import Slider  # noqa: TID251
from streamlit.proto.WidgetStates_pb2 import WidgetState  # noqa: TID251
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedError

from ohash.cli.lab import Dashboard
from ohash.ui.visitors import LARGEST_MESSAGE, PAIRS

QUERY = "dataset=blobs2d&method=oh&r=16&pairs=100000000"
NAN, INF = float("nan"), float("inf")
NUMBERS = ([1e9], [-5.0], [NAN], [INF], [0.123456789])
TEXTS = ("no such option", "../../etc/passwd", "<script>alert(1)</script>", "own:0123456789abcdef", "")
TRIGGERS = (
    '{"row": 99999999999999999999}', '{"row": {"a": 1}}', '{"row": -1}', '{"client": {"narrow": "?"}}', '{"pair": -1}',
    '{"pair": [1]}', '{"pair": 99999999999999999999}',
)  # fmt: skip

MANY = 40  # more than four times the lines of a minute

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the server writes."""
    return tmp_path_factory.mktemp("log") / "server.log"


@pytest.fixture(scope="module")
def server(log: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home: Path = tmp_path_factory.mktemp("home")
    with log.open("wb") as lines:
        dashboard = Dashboard(lines, OHASH_HOME=str(home))
        yield dashboard.url
        dashboard.stop()


class Tab:
    """A tab that says whatever it is told."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket
        self.widgets: dict[str, tuple[str, Any]] = {}
        self.exceptions: list[str] = []
        self.pairs = 0
        self.session = ""

    async def rerun(self, *states: WidgetState) -> None:
        message = BackMsg()
        message.rerun_script.query_string = QUERY
        message.rerun_script.widget_states.widgets.extend(states)
        await self.socket.send(message.SerializeToString())
        await self.read()

    async def read(self) -> None:
        """Until the page is drawn."""
        async with asyncio.timeout(60):
            while True:
                payload = await self.socket.recv(decode=False)
                if shown := PAIRS.search(payload):
                    self.pairs = int(shown[1])
                message = ForwardMsg.FromString(payload)
                if message.WhichOneof("type") == "new_session":
                    self.session = message.new_session.initialize.session_id
                if message.WhichOneof("type") == "script_finished":
                    return
                if message.WhichOneof("type") == "delta" and message.delta.HasField("new_element"):
                    element = message.delta.new_element
                    kind = element.WhichOneof("type")
                    if kind == "exception":
                        self.exceptions.append(element.exception.message)
                    elif kind and getattr(getattr(element, kind), "id", ""):
                        self.widgets[getattr(element, kind).id] = kind, getattr(element, kind)


def forgeries(tab: Tab) -> Iterator[WidgetState]:
    """Every widget with every value that has the right type and is wrong otherwise."""
    for name, (kind, element) in tab.widgets.items():
        if kind == "slider" and element.type == Slider.SLIDER:
            for numbers in NUMBERS:
                state = WidgetState(id=name)
                state.double_array_value.data.extend(numbers)
                yield state
        elif kind in ("slider", "button_group"):
            for text in TEXTS:
                state = WidgetState(id=name)
                state.string_array_value.data.append(text)
                yield state
        elif kind == "selectbox":
            yield from (WidgetState(id=name, string_value=text) for text in TEXTS)
        elif kind == "bidi_component":
            yield from (WidgetState(id=name, json_trigger_value=text) for text in TRIGGERS)


def connecting(server: str) -> connect:
    address = server.replace("http", "ws", 1) + "/_stcore/stream"
    return connect(address, subprotocols=["streamlit"], max_size=LARGEST_MESSAGE)  # type: ignore[list-item]


async def open_tab(server: str, use: Callable[[Tab], Any]) -> Any:
    async with connecting(server) as socket:
        tab = Tab(socket)
        await tab.rerun()
        return await use(tab)


def test_no_forged_value_breaks_the_page_or_the_run(server: str) -> None:
    async def forge(tab: Tab) -> int:
        sent = list(forgeries(tab))
        kinds = {kind for kind, _ in tab.widgets.values()}
        assert {"slider", "selectbox", "button_group", "bidi_component"} <= kinds and len(sent) > 30
        for state in sent:
            await tab.rerun(state)
            assert tab.exceptions == [], state
        await asyncio.sleep(1)
        await tab.rerun()
        return tab.pairs

    assert asyncio.run(open_tab(server, forge)) > 0


def test_garbage_ends_only_the_connection_it_came_by(server: str) -> None:
    async def garbage(tab: Tab) -> None:
        await tab.socket.send(b"\xff\xff\xff\xff")
        with pytest.raises(ConnectionClosedError):
            for _ in range(1000):
                await asyncio.wait_for(tab.socket.recv(), 60)

    async def look(tab: Tab) -> list[str]:
        return tab.exceptions

    asyncio.run(open_tab(server, garbage))
    assert asyncio.run(open_tab(server, look)) == []


def test_neither_garbage_nor_damaged_uploads_fill_the_log(server: str, log: Path) -> None:
    with urllib.request.urlopen(f"{server}/_stcore/health") as answer:
        token = SimpleCookie(answer.headers["Set-Cookie"])["_streamlit_xsrf"].value

    def upload(session: str, at: int) -> int:
        kind = {"Content-Type": "multipart/form-data; boundary=x"}
        proof = {"X-Xsrftoken": token, "Cookie": f"_streamlit_xsrf={token}"}
        url = f"{server}/_stcore/upload_file/{session}/{at}"
        try:
            with urllib.request.urlopen(urllib.request.Request(url, b"damaged", kind | proof, method="PUT")) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as refused:
            return refused.code

    async def uploads(tab: Tab) -> list[int]:
        return [await asyncio.to_thread(upload, tab.session, at) for at in range(MANY)]

    async def garbage() -> None:
        for _ in range(MANY):
            async with connecting(server) as socket:
                await socket.send(b"\xff\xff\xff\xff")
                with suppress(ConnectionClosedError):
                    await asyncio.wait_for(socket.recv(), 60)

    assert asyncio.run(open_tab(server, uploads)) == [400] * MANY
    asyncio.run(garbage())
    written = log.read_text()
    for text in ("Expected boundary character", "Error deserializing"):
        assert 0 < written.count(text) < MANY, text
