"""What a class shares: the page of the lecturer, which others may follow, and a board of results; in memory only.

The lecturer's browser says where it is, and those of the class ask, outside of Streamlit's sessions.
"""

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ohash.ui.session import access
from ohash.ui.workarounds.browser import COOKIE, token_of

PATH = "/ohash-class"
HEADER = "x-ohash"
MAX_BITS = 64
MAX_ENTRIES, MAX_ENTRIES_OF_VISITOR = 1000, 10  # of any number of data: everybody can paint points
LONGEST_NAME, LONGEST_PLACE = 24, 8000
SHOWN = 10
AWAY_SECONDS = 90.0  # after which nobody follows a page that is silent; a hidden one speaks once per minute
RELOAD_SECONDS = 6.0  # for a page that is loaded again to say so


@dataclass(frozen=True)
class Entry:
    """One result: who, how good, with how many bits, and what was judged: data and truth."""

    name: str
    score: float
    bits: int
    task: str


class Classroom:
    """All of it; the threads of a server share one."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Nobody leads, and the board is empty; `clock` is replaced in tests."""
        self.key = secrets.token_hex(8)  # by which a browser knows that it has left this class, and no other
        self._lock = threading.Lock()
        self._clock = clock
        self._now = "", 0
        self._last_sign = 0.0  # from the page that leads
        self._entries: dict[tuple[str, str], Entry] = {}

    @property
    def now(self) -> tuple[str, int]:
        """Where the lecturer is, "" for nowhere, and how many places there have been."""
        return self._now

    @property
    def place_to_follow(self) -> str:
        """Where the class is to be: with the lecturer while her page is open, and nowhere when it has been closed."""
        return self._now[0] if self._clock() - self._last_sign < AWAY_SECONDS else ""

    @property
    def away(self) -> bool:
        """Whether the page that leads has been closed; the lecturer may come back to it."""
        return bool(self._now[0]) and not self.place_to_follow

    def keep_alive(self) -> None:
        """The page that leads is still open."""
        self._last_sign = self._clock()

    def leave(self) -> None:
        """The page that leads is being closed, or loaded again: unless it is soon heard, nobody follows it."""
        self._last_sign = min(self._last_sign, self._clock() - AWAY_SECONDS + RELOAD_SECONDS)

    def lead(self, place: str, known: int) -> None:
        """The lecturer is on this page, path and query; "" ends it. Ignored if there were more places than `known`.

        A request that was overtaken, or sent twice, so never undoes a newer one.
        """
        if place and (not place.startswith("/") or place.startswith("//") or len(place) > LONGEST_PLACE):
            raise ValueError("a place must be a path of this server with its query")
        with self._lock:
            self.keep_alive()
            now, number = self._now
            if known == number and place != now:
                self._now = place, number + 1

    def enter(self, visitor: str, name: str, score: float, bits: int, task: str) -> str:
        """Put a result on the board; one per visitor and task, the best. Returns what was done, in words."""
        name = " ".join(name.split())[:LONGEST_NAME]
        if not name:
            return "Enter a name first; it need not be yours."
        if bits > MAX_BITS:
            return f"This run has {bits} bits; the board takes at most {MAX_BITS}."
        with self._lock:
            key = visitor, task
            if key not in self._entries and len(self._entries) >= MAX_ENTRIES:
                return f"The board is full: it has {MAX_ENTRIES} entries."
            if key not in self._entries and sum(who == visitor for who, _ in self._entries) >= MAX_ENTRIES_OF_VISITOR:
                return f"You have {MAX_ENTRIES_OF_VISITOR} entries, as many as one visitor may have."
            best = self._entries.get(key)
            if best is not None and best.score >= score:
                return f"Your earlier entry stays: {best.score:.3f} is at least as good."
            self._entries[key] = Entry(name, score, bits, task)
        return f"{name} is on the board with {score:.3f}."

    def board(self, task: str) -> list[Entry]:
        """The best of a task, of equal ones the one with fewer bits first."""
        with self._lock:
            entries = [entry for entry in self._entries.values() if entry.task == task]
        return sorted(entries, key=lambda entry: (-entry.score, entry.bits))[:SHOWN]


@st.cache_resource
def classroom() -> Classroom:
    """The classroom of this server."""
    return Classroom()


async def share_place(request: Request) -> Response:
    """GET: where the lecturer is, and whether this is she. POST: she is here now, or nowhere.

    The header of a POST has the number of places it knows of. One that comes late, when there is a newer place,
    changes nothing, and its answer says so: the place is another than that sent. The header of a GET says whether the
    page leads: when it asks no more, it has been closed, and nobody follows it. A POST whose header is "leaves" is
    its last. A request counts as the lecturer's if its browser has shown the key; the header keeps other sites from
    sending one.
    """
    if not access.is_class():
        return Response(status_code=404)
    owner = access.is_owners_browser(token_of(request.cookies.get(COOKIE, "")))
    if request.method == "POST":
        if not owner or HEADER not in request.headers:
            return Response(status_code=403)
        if request.headers[HEADER] == "leaves":
            classroom().leave()
            return Response(status_code=204)
        body = await request.body()
        try:
            classroom().lead(body[: LONGEST_PLACE + 1].decode(), known=int(request.headers[HEADER]))
        except ValueError:
            return Response(status_code=400)
    if owner and request.headers.get(HEADER) == "leads":
        classroom().keep_alive()
    now, number = classroom().now
    followed, away = classroom().place_to_follow, classroom().away
    answer = {"owner": owner, "place": now if owner else followed, "number": number, "away": away}
    answer["class"] = classroom().key
    return JSONResponse(answer, headers={"cache-control": "no-store"})


ROUTES = [Route(PATH, share_place, methods=["GET", "POST"])]
SCRIPT = f"<script>\n{Path(__file__).with_name('class_bar.js').read_text(encoding='utf-8')}</script>\n"
