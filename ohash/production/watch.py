"""What a follower shows to whoever watches it: one small file per follower in the folder `follow` of OHASH_HOME.

It is written anew about once a second, by one rename, whether pairs come or not. So its age is a sign of life, and a
reader never sees half of it. Nothing is learnt from it: the model's own file alone says where a follower goes on.
"""

import contextlib
import hashlib
import json
import re
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from ohash.core.arrays import Floats
from ohash.production.follower import Follower
from ohash.runtime.files import home, write_file

EVERY_SECONDS = 1.0
SILENT_SECONDS = 10.0  # without a sign of life
FORGOTTEN_SECONDS = 86_400.0
KEY = re.compile(r"[0-9a-f]{12}")

State = Literal["learning", "ended", "stopped"]
Columns = dict[str, list[float]]


@dataclass(frozen=True)
class FollowerStatus:
    """A follower as it was at the time `at`; `price` is the sentence of its latest check, "" before the first."""

    key: str
    path: str
    source: str
    state: State
    at: float
    t: int
    learnt: int
    skipped: int
    alarms: int
    alarm: str
    price: str
    check_every: int
    checks: Columns
    ticks: Columns

    @property
    def title(self) -> str:
        """Which model follows what."""
        return f"{Path(self.path).name} follows {self.source}"

    def age(self, now: float | None = None) -> float:
        """Seconds since its last sign of life."""
        return max(0.0, (time.time() if now is None else now) - self.at)

    def status(self, now: float | None = None) -> str:
        """What it does, as far as can be told from here."""
        age = self.age(now)
        if self.state == "ended":
            return "reached the end of the stream"
        if self.state == "stopped":
            return "stopped; the same command goes on"
        if age > SILENT_SECONDS:
            return f"no sign of life for {_duration(age)}: killed, or busy"
        return "learning"

    @property
    def may_go_on(self) -> bool:
        """Whether more may come by itself, also from a follower that begins again."""
        return self.age() < FORGOTTEN_SECONDS


def _duration(seconds: float) -> str:
    """In the largest unit that fits.

    >>> _duration(12.4), _duration(150), _duration(9000), _duration(200_000)
    ('12 s', '2 min', '2 h', '2 days')
    """
    for size, unit in ((86_400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size or (size < 86_400 and seconds >= size):
            return f"{seconds // size:.0f} {unit}"
    return f"{seconds:.0f} s"


def key_of(path: str | Path) -> str:
    """The name of the follower with this file, in a link."""
    return hashlib.sha256(str(Path(path).absolute()).encode()).hexdigest()[:12]


class Watch:
    """Writes the file of one follower."""

    def __init__(self, path: str | Path, source: str, hit_value: float | None = None) -> None:
        """`source` is what is followed, in words; `hit_value` as in `StalenessPrice.sentence`."""
        self.key, self._path, self._source, self._hit_value = key_of(path), Path(path).absolute(), source, hit_value
        self._written = -EVERY_SECONDS

    def show(self, follower: Follower, state: State = "learning") -> None:
        """Write what there is to see, once per second; a last state always."""
        if state == "learning" and time.monotonic() - self._written < EVERY_SECONDS:
            return
        self._written = time.monotonic()
        price = follower.price
        watched = FollowerStatus(
            self.key, str(self._path), self._source, state, time.time(), follower.t, follower.learnt, follower.skipped,
            follower.alarms, follower.latest_alarm(), "" if price is None else price.sentence(self._hit_value),
            follower.options.check_every, _lists(follower.history.snapshot()), _lists(follower.ticks.columns()),
        )  # fmt: skip
        file = _file(self.key)
        with contextlib.suppress(OSError):  # a full disk must not stop the learner; the age tells
            file.parent.mkdir(parents=True, exist_ok=True)
            write_file(file, json.dumps(asdict(watched)))


def read_watched(key: str) -> FollowerStatus | None:
    """What the follower of this key showed last; None if there is none or its file is damaged."""
    if not KEY.fullmatch(key):
        return None
    try:
        watched = FollowerStatus(**json.loads(_file(key).read_text(encoding="utf-8")))
        arrays(watched.checks), arrays(watched.ticks)
    except (OSError, ValueError, TypeError, AttributeError):
        return None
    return watched if watched.key == key else None


def list_watched() -> list[FollowerStatus]:
    """All followers whose model is there, or that showed themselves today; the latest first."""
    keys = [file.stem for file in _file("").parent.glob("*.json")]
    every = [one for key in keys if (one := read_watched(key)) is not None]
    recent = [one for one in every if Path(one.path).exists() or one.age() < FORGOTTEN_SECONDS]
    return sorted(recent, key=lambda one: one.at, reverse=True)


def arrays(columns: Columns) -> dict[str, Floats]:
    """Columns as they are drawn."""
    return {name: np.asarray(values, np.float64) for name, values in columns.items()}


def _file(key: str) -> Path:
    return home() / "follow" / f"{key}.json"


def _lists(columns: dict[str, Floats]) -> Columns:
    return {name: column.tolist() for name, column in columns.items()}
