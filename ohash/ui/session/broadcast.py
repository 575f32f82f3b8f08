"""What is drawn of a run that many watch: once for all who look at it in the same way.

`Drawings` are its charts and gallery, `Broadcast` its pictures, which browsers fetch. Those do not go through
Streamlit's sessions, whose work for each picture of each viewer costs more than the run itself. The address of
a run's pictures holds an unguessable key that only its viewers get.
"""

import asyncio
import gzip
import json
import secrets
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TypeVar, cast
from weakref import WeakValueDictionary

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ohash.engine.judge import truth_column
from ohash.engine.snapshot import Snapshot
from ohash.plots.live.axes import AxisRanges

PATH = "/ohash-pictures"
QUALITY = {"mAP": "map", "recall@10": "recall_10", "pair AUC": "auc"}  # of clicks, hit@10 stands in the place of mAP
FASTEST_SECONDS = 0.2  # between two pictures
ANSWER_SECONDS = 0.001  # CPU time of one answer, roughly
SHARE = 0.3  # of one core for all pictures and answers of a run
MAX_PICTURES = 24  # ways of looking at one run that are kept; there are 96

D = TypeVar("D")


@dataclass(frozen=True)
class ChartSwitches:
    """How somebody looks at the charts: what the switches on them say, and the kind of screen."""

    quality: str = "mAP"
    per_pair: bool = False
    log_loss: bool = False
    bound: bool = False
    narrow: bool = False
    dark: bool = False

    @classmethod
    def read(cls, query: Mapping[str, str]) -> "ChartSwitches":
        """From an address; what is missing or unknown is as at first.

        >>> ChartSwitches.read({"quality": "lies", "dark": "1", "more": "2"}) == ChartSwitches(dark=True)
        True
        """
        quality = query.get("quality", "")
        switches = {one.name: query.get(one.name) == "1" for one in fields(cls) if one.type is bool}
        return cls(quality if quality in QUALITY else "mAP", **switches)

    def score(self, similar_by: str) -> str:
        """The column that the first chart shows of a run with this truth.

        >>> ChartSwitches().score("label"), ChartSwitches().score("clicks"), ChartSwitches("pair AUC").score("clicks")
        ('map', 'hit_10', 'auc')
        """
        return truth_column(similar_by) if self.quality == "mAP" else QUALITY[self.quality]

    def query(self) -> dict[str, str]:
        """The query of an address that `read` reads."""
        return {name: value if isinstance(value, str) else str(int(value)) for name, value in asdict(self).items()}


@dataclass(frozen=True, eq=False)
class Picture:
    """A moment of a run as it is sent, with its number, and when it was the newest."""

    seq: int
    body: bytes
    at: float


class Broadcast:
    """The pictures of one run: `newest` is its latest moment, if it still has one, and `draw` makes HTML of it."""

    def __init__(
        self,
        newest: Callable[[], Snapshot | None],
        draw: Callable[[Snapshot, ChartSwitches], str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`clock` is replaced in tests."""
        self.key = secrets.token_urlsafe(16)
        self.viewers = 1
        self._newest, self._draw, self._clock = newest, draw, clock
        self._pictures: dict[ChartSwitches, Picture] = {}
        self._drawing: dict[ChartSwitches, asyncio.Task[Picture | None]] = {}
        self._seconds = 0.0  # CPU time that a picture takes
        _BROADCASTS[self.key] = self

    @property
    def interval(self) -> float:
        """Seconds between two pictures, such that drawing and answering take a fixed share of one core."""
        busy = self._seconds * max(1, len(self._pictures)) + ANSWER_SECONDS * self.viewers
        return max(FASTEST_SECONDS, busy / SHARE)

    async def latest(self, switches: ChartSwitches) -> Picture | None:
        """A picture of this moment or of a moment ago; all who ask for it at the same time wait for one drawing."""
        picture = self._pictures.get(switches)
        if picture is not None and self._clock() - picture.at < 0.9 * self.interval:
            return picture
        if switches not in self._drawing:
            self._drawing[switches] = asyncio.create_task(run_in_threadpool(self._picture, switches))
            self._drawing[switches].add_done_callback(lambda _: self._drawing.pop(switches))
        return await asyncio.shield(self._drawing[switches])

    def _picture(self, switches: ChartSwitches) -> Picture | None:
        now, start, previous = self._newest(), time.thread_time(), self._pictures.get(switches)
        if now is None:
            return None
        if previous is not None and previous.seq == now.seq:
            picture = replace(previous, at=self._clock())
        else:
            message = {"seq": now.seq, "html": self._draw(now, switches), "wait": round(1000 * self.interval)}
            picture = Picture(now.seq, gzip.compress(json.dumps(message).encode(), 4), self._clock())
            self._seconds += (0.2 if self._seconds else 1.0) * (time.thread_time() - start - self._seconds)
        others = [(one, kept) for one, kept in self._pictures.items() if one != switches]
        self._pictures = dict([*others, (switches, picture)][-MAX_PICTURES:])
        return picture


_BROADCASTS: WeakValueDictionary[str, Broadcast] = WeakValueDictionary()


async def send_picture(request: Request) -> Response:
    """GET: the newest picture of a run. `after` is the number of the one that the browser has."""
    broadcast = _BROADCASTS.get(request.path_params["key"])
    picture = None if broadcast is None else await broadcast.latest(ChartSwitches.read(request.query_params))
    if picture is None:
        return Response(status_code=404)
    if request.query_params.get("after") == str(picture.seq):
        return Response(status_code=204)
    headers = {"cache-control": "no-store", "content-encoding": "gzip"}
    return Response(picture.body, media_type="application/json", headers=headers)


ROUTES = [Route(f"{PATH}/{{key}}", send_picture, methods=["GET"])]


class LatestDrawings:
    """What was drawn of the latest version of something, in every way somebody wanted it."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._latest: tuple[object, dict[Hashable, object]] = (None, {})  # replaced as one, because threads share it

    def get(self, version: object, how: Hashable, draw: Callable[[], D]) -> D:
        """What `draw` returns; called once per version and way of drawing."""
        known, drawn = self._latest
        if version != known:
            drawn = {}
            self._latest = version, drawn
        if how not in drawn:
            drawn[how] = draw()
        return cast(D, drawn[how])


@dataclass
class Drawings:
    """The charts and the gallery of a run, how wide its axes have become, and the pictures that a crowd sees."""

    axis_ranges: AxisRanges = field(default_factory=AxisRanges)
    charts: LatestDrawings = field(default_factory=LatestDrawings)
    gallery: LatestDrawings = field(default_factory=LatestDrawings)
    broadcast: Broadcast | None = None
    _shown: tuple[Snapshot | None, float] = (None, 0.0)

    def recent(self, now: Snapshot, seconds: float) -> Snapshot:
        """A snapshot that somebody got at most so long ago; `now`, if there is none."""
        shown, at = self._shown
        moment = time.monotonic()
        if shown is not None and moment - at < seconds:
            return shown
        self._shown = now, moment
        return now
