"""What no page sends is not heard, and no browser is told where the server's files lie."""

import asyncio
from collections.abc import Callable

import pytest
from starlette.types import Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg  # noqa: TID251
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg  # noqa: TID251

from ohash.ui.server_start import MIDDLEWARE
from ohash.ui.workarounds.messages import GuardMessages


def conversation(received: list[bytes], replies: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """What the server hears of what a browser said, and the browser of what the server told."""
    heard: list[bytes] = []
    arrived: list[bytes] = []

    async def server(_: Scope, receive: Receive, send: Send) -> None:
        while (message := await receive())["type"] == "websocket.receive":
            heard.append(message["bytes"])
        for payload in replies:
            await send({"type": "websocket.send", "bytes": payload})

    messages: list[Message] = [{"type": "websocket.receive", "bytes": payload} for payload in received]
    messages.append({"type": "websocket.disconnect"})

    async def receive() -> Message:
        return messages.pop(0)

    async def send(message: Message) -> None:
        arrived.append(message["bytes"])

    asyncio.run(GuardMessages(server)({"type": "websocket"}, receive, send))
    return heard, arrived


def message(change: Callable[[BackMsg], object]) -> bytes:
    made = BackMsg()
    change(made)
    return made.SerializeToString()


@pytest.mark.parametrize(
    ("change", "passes"),
    [
        (lambda one: setattr(one, "clear_cache", True), False),
        (lambda one: setattr(one, "load_git_info", True), False),
        (lambda one: setattr(one, "set_run_on_save", True), False),
        (lambda one: setattr(one, "debug_shutdown_runtime", True), False),
        (lambda one: one.backend_operation_request.install_skills.SetInParent(), False),
        (lambda one: one.backend_operation_request.deferred_file.SetInParent(), True),
        (lambda one: setattr(one, "stop_script", True), True),
        (lambda one: setattr(one.rerun_script, "query_string", "r=16"), True),
    ],
)
def test_only_what_a_page_sends_is_heard(change: Callable[[BackMsg], object], passes: bool) -> None:
    last = message(lambda one: setattr(one.rerun_script, "query_string", "last"))
    sent = message(change)
    assert conversation([sent, last], [])[0] == ([sent] if passes else []) + [last]


def test_what_is_no_message_is_left_to_streamlit() -> None:
    assert conversation([b"\xff\xff\xff\xff"], [])[0] == [b"\xff\xff\xff\xff"]


def test_the_path_of_the_server_is_told_to_nobody() -> None:
    opening, page = ForwardMsg(), ForwardMsg()
    opening.new_session.main_script_path = "/srv/secret/app.py"
    opening.new_session.name = "kept"
    page.delta.new_element.markdown.body = "python3 -m streamlit run app.py"
    first, second = conversation([], [opening.SerializeToString(), page.SerializeToString()])[1]
    assert b"secret" not in first and ForwardMsg.FromString(first).new_session.name == "kept"
    assert second == page.SerializeToString()


def test_the_server_has_the_guard() -> None:
    assert any(one.cls is GuardMessages for one in MIDDLEWARE)
