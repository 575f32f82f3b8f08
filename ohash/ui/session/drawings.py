"""What is drawn of one run, once for everybody who watches it."""

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from ohash.engine.snapshot import Snapshot
from ohash.plots.axis_ranges import AxisRanges
from ohash.ui.session.broadcast import Broadcast

D = TypeVar("D")


class LatestDrawings:
    """What was drawn of the latest version of something, in every way somebody wanted it."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._latest: tuple[object, dict[Hashable, Any]] = (None, {})  # replaced as one, because threads share it

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
