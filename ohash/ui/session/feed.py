"""Pictures of a run for the one who watches it, fetched by her browser: each tells what differs from the one it shows.

A picture by way of Streamlit is a run of the script, for which the browser renders the whole page three or four times;
that takes longer than to draw four charts. So Streamlit draws the charts every two seconds, and the browser fetches
what has changed in between. Where it cannot, nothing is fetched, and Streamlit draws all pictures.
"""

import gzip
import json
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary, WeakValueDictionary

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ohash.engine.live.runner import Runner
from ohash.plots.renderers.echarts_changes import changes
from ohash.plots.renderers.echarts_frame import Option
from ohash.ui.session.broadcast import ChartSwitches

PATH = "/ohash-changes"
FASTEST_SECONDS = 0.08  # between two pictures
SOON_SECONDS = 0.025  # until a browser asks again where there is nothing new
PATIENCE_SECONDS = 5.0  # a browser that has fetched nothing for so long does not
ARRIVAL_SECONDS = 0.1  # a picture by way of Streamlit takes about so long
MAX_FRAMES = 4
SOON = "ohash-soon"  # header: milliseconds
NUMBER = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True, eq=False)
class Frame:
    """One picture: its number, the words above the charts, the charts by key, what they tell, the words below them."""

    seq: int
    words: str
    charts: dict[str, Option]
    alts: dict[str, str]
    notes: str


class Feed:
    """The pictures of one run.

    `draw` makes the newest, or None if that is the one shown, or none is to be fetched; it waits a moment for one with
    as many live changes as are awaited.
    """

    def __init__(
        self,
        draw: Callable[[int, ChartSwitches, int], Frame | None],
        interval: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`interval` tells how many seconds lie between two pictures; `clock` is replaced in tests."""
        self.key = secrets.token_urlsafe(16)
        self._draw, self._interval, self._clock = draw, interval, clock
        self._frames: dict[tuple[int, ChartSwitches], Frame] = {}
        self._fetched_at = self._sent_at = -PATIENCE_SECONDS
        _BY_KEY[self.key] = self

    @property
    def fetched(self) -> bool:
        """Whether a browser fetches the pictures."""
        return self._clock() - self._fetched_at < PATIENCE_SECONDS

    def send(self, frame: Frame, switches: ChartSwitches) -> None:
        """Streamlit sends this picture: until it has arrived nothing is fetched, or it would replace a newer one."""
        self._sent_at = self._clock()
        self._keep(frame, switches)

    def _keep(self, frame: Frame, switches: ChartSwitches) -> None:
        """Remember what a browser is about to show; threads share the frames, so they are replaced as one."""
        kept = [(key, old) for key, old in self._frames.items() if key != (frame.seq, switches)]
        self._frames = dict([*kept, ((frame.seq, switches), frame)][-MAX_FRAMES:])

    @property
    def retry_seconds(self) -> float:
        """Seconds until a browser asks again where there is nothing new; a crowded server is asked less often."""
        return max(SOON_SECONDS, self._interval() / 3)

    def changes(self, shown: int, switches: ChartSwitches, awaited: int = 0) -> bytes | None:
        """The newest picture as JSON for a browser that shows the one of this number; None if there is none for it."""
        before = self._frames.get((shown, switches))
        under_way = self._clock() - self._sent_at < ARRIVAL_SECONDS
        frame = None if before is None or under_way else self._draw(shown, switches, awaited)
        if frame is None or before is None or before.charts.keys() != frame.charts.keys():
            return None
        merged = {key: changes(before.charts[key], option) for key, option in frame.charts.items()}
        redrawn = [
            key for key, change in merged.items() if change is None
        ]  # by Streamlit; until then it stays as it is
        charts = frame.charts | {key: before.charts[key] for key in redrawn}
        frame = replace(frame, charts=charts, alts=frame.alts | {key: before.alts[key] for key in redrawn})
        self._keep(frame, switches)
        if not redrawn:  # else Streamlit keeps its pace, or a run would begin with empty charts for two seconds
            self._fetched_at = self._clock()
        message = {
            "words": frame.words,
            "notes": "" if frame.notes == before.notes else frame.notes,
            "charts": [[key, frame.alts[key], change or {}] for key, change in merged.items()],
            "wait": round(1000 * self._interval()),
        }
        return json.dumps(message, separators=(",", ":")).encode()


_BY_KEY: WeakValueDictionary[str, Feed] = WeakValueDictionary()
FEEDS: WeakKeyDictionary[Runner, Feed] = WeakKeyDictionary()


def is_fetched(runner: Runner) -> bool:
    """Whether a browser fetches the pictures of this run."""
    return runner in FEEDS and FEEDS[runner].fetched


async def send_changes(request: Request) -> Response:
    """GET: what differs between the newest picture of a run and that of the number `shown`.

    With `changes`, how many live changes the run had made in it, a slider was just moved, and a picture with one more
    is awaited. (The experiment may have fewer: of two at one pair, while it is evaluated, the second counts.)
    """
    feed, shown = _BY_KEY.get(request.path_params["key"]), request.query_params.get("shown", "")
    if feed is None or not NUMBER.fullmatch(shown):
        return Response(status_code=404)
    seen = request.query_params.get("changes", "")
    awaited = int(seen) + 1 if NUMBER.fullmatch(seen) else 0
    body = await run_in_threadpool(feed.changes, int(shown), ChartSwitches.read(request.query_params), awaited)
    if body is None:
        return Response(status_code=204, headers={SOON: str(round(1000 * feed.retry_seconds))})
    headers = {"cache-control": "no-store", "content-encoding": "gzip"}
    return Response(gzip.compress(body, 1), media_type="application/json", headers=headers)


ROUTES = [Route(f"{PATH}/{{key}}", send_changes, methods=["GET"])]
