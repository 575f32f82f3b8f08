"""How much of uploaded files a server keeps.

Streamlit (1.67) limits the size of a file, but keeps any number of them for a session, also those that no page has
asked for, and until Python happens to collect the session, minutes after it has ended: whoever sends enough of them
fills the memory.
"""

from typing import cast

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import config, runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.stats import CacheStat

PATH = "/_stcore/upload_file/"
FULL = "This server holds as many uploads as it may; remove some, or try again when others have left."


class LimitUploads:
    """ASGI middleware: a file that does not fit into what is left of `most_bytes` is refused before it is read."""

    def __init__(self, app: ASGIApp, most_bytes: int) -> None:
        """Of all visitors together."""
        self.app, self.most_bytes = app, most_bytes
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything else on."""
        if scope["type"] != "http" or scope["method"] != "PUT" or PATH not in scope["path"]:
            await self.app(scope, receive, send)
            return
        told = Headers(scope=scope).get("content-length", "")
        size = int(told) if told.isascii() and told.isdecimal() else config.get_option("server.maxUploadSize") * 2**20
        if self._is_full(size):
            _forget_who_left()
        if self._is_full(size):
            await PlainTextResponse(FULL, 413)(scope, receive, send)
            return
        self._under_way += size
        try:
            await self.app(scope, receive, send)
        finally:
            self._under_way -= size

    def _is_full(self, size: int) -> bool:
        return _held() + self._under_way + size > self.most_bytes


def _forget_who_left() -> None:
    """Drop the files of sessions that nobody is connected to; what was read from them stays."""
    server = runtime.get_instance()
    files = cast(MemoryUploadedFileManager, server.uploaded_file_mgr)
    for session in list(files.file_storage):
        if not server.is_active_session(session):
            files.remove_session_files(session)


def _held() -> int:
    """Bytes of all files that are kept now."""
    families = runtime.get_instance().uploaded_file_mgr.get_stats()
    return sum(cast(CacheStat, stat).byte_length for family in families.values() for stat in family)
