"""What a browser may say to Streamlit, and what Streamlit may say of this machine.

Streamlit obeys some messages of any browser that no page of ours ever sends: "clear_cache" empties the caches of all
visitors, and with them who has the key, "load_git_info" tells repository and files of the checkout. And it tells every
browser the full path of app.py, of which the browser only makes a hash. There is no option for either.
"""

from pathlib import PurePath

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

ALLOWED = ("rerun_script", "stop_script", "app_heartbeat", "file_urls_request")
OPERATIONS = ("deferred_file", "dataframe_chunk")
APP = b"app.py"


class GuardMessages:
    """ASGI middleware: drops messages that no page sends, and shortens the path of app.py to its name."""

    def __init__(self, app: ASGIApp) -> None:
        """`app` is the server."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything else on."""
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return

        async def receive_allowed() -> Message:
            while True:
                message = await receive()
                if message["type"] != "websocket.receive" or is_allowed(message.get("bytes") or b""):
                    return message

        async def send_without_path(message: Message) -> None:
            payload = message.get("bytes") if message["type"] == "websocket.send" else None
            await send({**message, "bytes": without_path(payload)} if payload and APP in payload else message)

        await self.app(scope, receive_allowed, send_without_path)


def is_allowed(payload: bytes) -> bool:
    """Whether a page could have sent this; what is no message at all is Streamlit's to refuse."""
    try:
        message = BackMsg.FromString(payload)
    except DecodeError:
        return True
    kind = message.WhichOneof("type")
    if kind != "backend_operation_request":
        return kind is None or kind in ALLOWED
    return any(message.backend_operation_request.HasField(name) for name in OPERATIONS)


def without_path(payload: bytes) -> bytes:
    """A message of the server without the folder of app.py."""
    message = ForwardMsg.FromString(payload)
    if message.WhichOneof("type") != "new_session":
        return payload
    message.new_session.main_script_path = PurePath(message.new_session.main_script_path).name
    shortened: bytes = message.SerializeToString()
    return shortened
