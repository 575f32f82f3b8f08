"""Uploaded files fill no server, however many are sent and whether a page has asked for them or not."""

import asyncio
from types import SimpleNamespace

import pytest
from starlette.types import Message, Receive, Scope, Send
from streamlit import runtime  # noqa: TID251
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager  # noqa: TID251
from streamlit.runtime.uploaded_file_manager import UploadedFileRec  # noqa: TID251

from ohash.ui.server_start import MIDDLEWARE
from ohash.ui.session import access
from ohash.ui.session.limits import MAX_UPLOADS_MB, MAX_UPLOADS_OF_VISITOR_MB
from ohash.ui.workarounds.upload_limit import PATH, LimitUploads


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> MemoryUploadedFileManager:
    manager = MemoryUploadedFileManager(PATH)
    server = SimpleNamespace(uploaded_file_mgr=manager, is_active_session=lambda session: session.startswith("session"))
    monkeypatch.setattr(runtime, "get_instance", lambda: server)
    return manager


class Server:
    """Keeps what is sent, a moment later."""

    def __init__(self, files: MemoryUploadedFileManager, max_bytes: int, max_bytes_of_visitor: int = 10**9) -> None:
        self.files = files
        self.guarded = LimitUploads(self, max_bytes, max_bytes_of_visitor, lambda cookies, _: cookies.get("who", ""))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(0)
        if scope["method"] == "PUT":
            session = scope["path"].split("/")[-2]
            self.files.add_file(session, UploadedFileRec(scope["path"], "x.npy", "", bytes(scope["size"])))
        await send({"type": "http.response.start", "status": 204, "headers": []})

    async def put(
        self,
        name: str,
        size: int,
        declared: bytes | None = None,
        method: str = "PUT",
        session: str = "session",
        who: str = "",
    ) -> int:
        """The status of the answer."""
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        async def receive() -> Message:
            raise AssertionError("refused before it is read")

        headers = [] if declared == b"" else [(b"content-length", str(size).encode() if declared is None else declared)]
        headers += [(b"cookie", f"who={who}".encode())] if who else []
        scope = {
            "type": "http",
            "method": method,
            "path": f"/lab{PATH}{session}/{name}",
            "headers": headers,
            "size": size,
        }
        await self.guarded(scope, receive, send)
        return int(sent[0]["status"])


def test_what_does_not_fit_is_refused_before_it_is_read(files: MemoryUploadedFileManager) -> None:
    async def flood() -> None:
        server = Server(files, max_bytes=1000)
        assert [await server.put(f"{at}", 400) for at in range(3)] == [204, 204, 413]
        assert await server.put("small", 200) == 204
        assert await server.put("2", 1, method="DELETE") == 204
        files.remove_session_files("session")
        assert await asyncio.gather(*(server.put(f"{at}", 400) for at in range(4))) == [204, 204, 413, 413], "at once"
        files.remove_session_files("session")
        assert await server.put("unknown size", 1, declared=b"") == 413, "it may be the largest"
        assert await server.put("no size", 1, declared=b"-5") == 413
        assert await server.put("next", 1000) == 204

    asyncio.run(flood())


def test_who_has_left_takes_no_room_that_others_need(files: MemoryUploadedFileManager) -> None:
    for name in ("here", "left"):
        files.add_file("session" if name == "here" else name, UploadedFileRec(name, "x.npy", "", bytes(400)))
    server = Server(files, max_bytes=1000)
    assert asyncio.run(server.put("small", 200)) == 204 and set(files.file_storage) == {"session", "left"}
    assert asyncio.run(server.put("more", 300)) == 204 and set(files.file_storage) == {"session"}
    assert asyncio.run(server.put("too much", 300)) == 413


def test_the_server_has_the_limit() -> None:
    (one,) = (one for one in MIDDLEWARE if one.cls is LimitUploads)
    assert one.kwargs["max_bytes"] == MAX_UPLOADS_MB * 10**6
    assert one.kwargs["max_bytes_of_visitor"] == MAX_UPLOADS_OF_VISITOR_MB * 10**6
    assert one.kwargs["visitor_of"] == access.visitor_of_request


def test_one_visitor_of_a_class_takes_no_more_than_her_share_in_however_many_tabs(
    files: MemoryUploadedFileManager,
) -> None:
    async def flood() -> None:
        server = Server(files, max_bytes=5000, max_bytes_of_visitor=1000)
        hers = [server.put(f"{at}", 400, session=f"session {at}", who="a") for at in range(5)]
        assert sorted(await asyncio.gather(*hers)) == [204, 204, 413, 413, 413], "at once"
        assert await server.put("one more", 400, session="session 9", who="a") == 413, "one after another"
        assert await server.put("other", 400, session="session b", who="b") == 204
        assert [await server.put(f"{at}", 900, session="session c") for at in range(2)] == [204, 204], "the owner"
        kept = [session for session in files.file_storage if session in [f"session {at}" for at in range(5)]]
        files.remove_session_files(kept[0])
        assert await server.put("one more", 400, session="session 9", who="a") == 204, "there is room again"

    asyncio.run(flood())


def test_a_tab_is_hers_whose_it_was_first_however_many_cookies_it_shows(files: MemoryUploadedFileManager) -> None:
    async def flood() -> None:
        server = Server(files, max_bytes=5000, max_bytes_of_visitor=1000)
        assert [await server.put(f"{at}", 400, session="session 1", who=who) for at, who in enumerate("abcd")] == [
            204, 204, 413, 413,
        ]  # fmt: skip
        assert await server.put("one more", 400, session="session 2", who="a") == 413

    asyncio.run(flood())


def test_nothing_is_kept_of_who_has_no_upload_under_way(files: MemoryUploadedFileManager) -> None:
    """Or cookies that are forged by the million fill the memory."""

    async def flood() -> None:
        server = Server(files, max_bytes=10**6)
        for at in range(20):
            assert await server.put(f"{at}", 400, session="session", who=f"visitor {at}") == 204
            await server.put(f"{at}", 400, session="nobody is there", who=f"forger {at}")
        assert not server.guarded._under_way and list(server.guarded._visitors) == ["session"]

    asyncio.run(flood())


def test_a_session_that_is_not_there_holds_no_room(files: MemoryUploadedFileManager) -> None:
    async def flood() -> None:
        server = Server(files, max_bytes=1000)
        stalled = asyncio.create_task(server.put("slow", 1000, session="nobody is there"))
        await asyncio.sleep(0)
        assert await server.put("hers", 1000) == 204
        await stalled

    asyncio.run(flood())
