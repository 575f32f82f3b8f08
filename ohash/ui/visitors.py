"""Visitors without browsers: many sessions on one server over Streamlit's own protocol, for `bench --load`.

Each opens a page, obeys the timers that the server sets and fetches pictures between them, as the browser does, and
notes when a new one arrives.
A separate process (`python3 -m ohash.ui.visitors URL SECONDS QUERY ...`), because its work must not slow the server's.
"""

import asyncio
import gzip
import json
import re
import signal
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import NO_CONTENT, OK, HTTPConnection

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from ohash.ui.session import broadcast, feed

PAIRS = re.compile(rb'data-pairs="(\d+)"')
SEQ = re.compile(rb'data-seq="(\d+)"')
ADDRESS = re.compile(rf"(?:{broadcast.PATH}|{feed.PATH})/[\w-]+\?[\w=&@%.-]+".encode())
IN_LINE = b"in line and starts automatically"
LARGEST_MESSAGE = 2**24


@dataclass
class Visitor:
    """One session: when its pictures came, and whether it had to wait."""

    query: str
    pictures: list[float] = field(default_factory=list)
    waited: bool = False
    received: int = 0
    _last: bytes = b""
    _seq: bytes = b""
    _address: bytes = b""
    _timers: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _fetching: asyncio.Task[None] | None = None

    async def watch(self, url: str, until: float) -> None:
        """Open the page and stay until the moment `until`."""
        address = url.replace("http", "ws", 1) + "/_stcore/stream"
        async with connect(address, subprotocols=["streamlit"], max_size=LARGEST_MESSAGE) as socket:  # type: ignore[list-item]
            opening = BackMsg()
            opening.rerun_script.query_string = self.query
            await socket.send(opening.SerializeToString())
            try:
                while (left := until - time.monotonic()) > 0:
                    async with asyncio.timeout(left):  # wait_for of Python 3.11 can miss that it is cancelled
                        payload = await socket.recv(decode=False)
                    self._read(payload, socket)
                    self._join(url, payload)
            except TimeoutError:
                pass
            finally:
                self._forget_timers()
                if self._fetching is not None:
                    self._fetching.cancel()

    def _join(self, url: str, payload: bytes) -> None:
        address = ADDRESS.search(payload)
        if address is None or address[0] == self._address:
            return
        if self._fetching is not None:
            self._fetching.cancel()
        self._address = address[0]
        server = HTTPConnection(url.removeprefix("http://"), timeout=8)
        self._fetching = asyncio.ensure_future(self._fetch(server, address[0].decode()))

    async def _fetch(self, server: HTTPConnection, address: str) -> None:
        """Fetch pictures as a browser does: those of a crowd, or what has changed since the one that it shows."""
        crowd = address.startswith(broadcast.PATH)
        name, words, wait = ("after", "html", 0.2) if crowd else ("shown", "words", 0.1)
        while True:
            start = time.monotonic()
            status, soon, body = await asyncio.to_thread(_get, server, f"{address}&{name}={self._seq.decode()}")
            if status == OK:
                picture = json.loads(gzip.decompress(body))
                wait = picture["wait"] / 1000
                self._see(picture[words].encode(), len(body))
            left = wait if crowd else max(wait / 2, wait - (time.monotonic() - start)) if status == OK else soon
            await asyncio.sleep(left if status in (OK, NO_CONTENT) else 2.0)

    def _see(self, html: bytes, size: int) -> None:
        """Note what was received, and when, if it shows something new."""
        self.received += size
        seq, shown = SEQ.search(html), PAIRS.search(html)
        self._seq = self._seq if seq is None else seq[1]
        if shown is not None and shown[1] != self._last:
            self._last = shown[1]
            self.pictures.append(time.monotonic())

    def _read(self, payload: bytes, socket: ClientConnection) -> None:
        self._see(payload, len(payload))
        self.waited |= IN_LINE in payload
        message = ForwardMsg.FromString(payload)
        kind = message.WhichOneof("type")
        if kind == "new_session" and not message.metadata.run.fragment_ids:
            self._forget_timers()
        elif kind == "auto_rerun":
            name = message.auto_rerun.fragment_id
            if name in self._timers:
                self._timers[name].cancel()
            self._timers[name] = asyncio.ensure_future(_tick(socket, name, message.auto_rerun.interval, self.query))

    def _forget_timers(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()


def _get(server: HTTPConnection, address: str) -> tuple[int, float, bytes]:
    """Status, the seconds after which to ask again if there is nothing new, and body; (0, 0, b"") without an answer."""
    try:
        server.request("GET", address)
        answer = server.getresponse()
        return answer.status, int(answer.headers.get(feed.SOON, "25")) / 1000, answer.read()
    except OSError:
        server.close()
        return 0, 0.0, b""


async def _tick(socket: ClientConnection, fragment: str, interval: float, query: str) -> None:
    """Ask for a fragment again and again."""
    message = BackMsg()
    message.rerun_script.query_string = query
    message.rerun_script.fragment_id = fragment
    message.rerun_script.is_auto_rerun = True
    while True:
        await asyncio.sleep(interval)
        await socket.send(message.SerializeToString())


async def visit(url: str, queries: Sequence[str], seconds: float) -> list[Visitor]:
    """One visitor per query, all at once; SIGTERM sends them away earlier."""
    visitors = [Visitor(query) for query in queries]
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(len(visitors)))
    until = time.monotonic() + seconds
    stay = asyncio.gather(*(one.watch(url, until) for one in visitors), return_exceptions=True)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stay.cancel)
    with suppress(asyncio.CancelledError):
        await stay
    return visitors


def main() -> None:
    """Print a JSON list of what each visitor saw: when pictures came, whether she waited in line, bytes received."""
    url, seconds, *queries = sys.argv[1:]
    start = time.monotonic()
    visitors = asyncio.run(visit(url, queries, float(seconds)))
    rows = []
    for one in visitors:
        rows.append({"at": [at - start for at in one.pictures], "waited": one.waited, "bytes": one.received})
    json.dump(rows, sys.stdout)


if __name__ == "__main__":
    main()
