"""How much of uploaded files a server keeps.

Streamlit (1.67) limits the size of a file, but keeps any number of them for a session, also those that no page has
asked for, and until Python happens to collect the session, minutes after it has ended: whoever sends enough of them
fills the memory.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import cast

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import config, runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

PATH = "/_stcore/upload_file/"
FULL = "This server has no more room for uploads; remove some, or try again when others have left."
SHARE_USED = "Your uploads have reached their limit on this server; remove some, or close other tabs."


class LimitUploads:
    """ASGI middleware: a file that does not fit into what is left is refused before it is read."""

    def __init__(
        self,
        app: ASGIApp,
        max_bytes: int,
        max_bytes_of_visitor: int,
        visitor_of: Callable[[Mapping[str, str], str], str],
    ) -> None:
        """Limits for all visitors together and for one; `visitor_of` (cookies, address) is "" for whoever has none."""
        self.app, self._visitor_of = app, visitor_of
        self.max_bytes, self.max_bytes_of_visitor = max_bytes, max_bytes_of_visitor
        self._under_way: Counter[str] = Counter()  # bytes by visitor
        self._visitors: dict[str, str] = {}  # by session

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything else on."""
        if scope["type"] != "http" or scope["method"] != "PUT" or PATH not in scope["path"]:
            await self.app(scope, receive, send)
            return
        session = scope["path"].partition(PATH)[2].partition("/")[0]
        if not _is_here(session):  # refused by Streamlit before it reads anything
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        declared = request.headers.get("content-length", "")
        known = declared.isascii() and declared.isdecimal()
        size = int(declared) if known else config.get_option("server.maxUploadSize") * 2**20
        visitor = self._visitor_of(request.cookies, request.client.host if request.client else "")
        if visitor:  # however many cookies a tab shows, it is hers whose it was first
            visitor = self._visitors.get(session, visitor)
        if self._refusal(visitor, size):
            _forget_who_left()
        refusal = self._refusal(visitor, size)
        if refusal:
            await PlainTextResponse(refusal, 413)(scope, receive, send)
            return
        self._visitors = {one: owner for one, owner in self._visitors.items() if _is_here(one)} | {session: visitor}
        self._under_way[visitor] += size
        try:
            await self.app(scope, receive, send)
        finally:
            self._under_way[visitor] -= size
            self._under_way += Counter()  # those whose uploads are over are forgotten

    def _refusal(self, visitor: str, size: int) -> str:
        sizes = _sizes()
        if sum(sizes.values()) + self._under_way.total() + size > self.max_bytes:
            return FULL
        used = sum(kept for session, kept in sizes.items() if self._visitors.get(session) == visitor)
        return SHARE_USED if visitor and used + self._under_way[visitor] + size > self.max_bytes_of_visitor else ""


def _forget_who_left() -> None:
    """Drop the files of sessions that nobody is connected to; what was read from them stays."""
    for session in _sizes():
        if not _is_here(session):
            _files().remove_session_files(session)


def _is_here(session: str) -> bool:
    return runtime.get_instance().is_active_session(session)


def _sizes() -> dict[str, int]:
    """Bytes of the files that are kept now, by session."""
    kept = {session: list(files.values()) for session, files in list(_files().file_storage.items())}
    return {session: sum(len(file.data) for file in files) for session, files in kept.items()}


def _files() -> MemoryUploadedFileManager:
    return cast(MemoryUploadedFileManager, runtime.get_instance().uploaded_file_mgr)
