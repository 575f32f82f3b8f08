"""Shadow mode: one model learns from production's stream of pairs, and its file says how far it has come.

The model, the position in the stream, the drift monitor and the history are saved in one file by one rename. A process
that is killed goes on from that file: no pair is lost, none is learnt twice. Pairs are learnt in batches that begin at
fixed places of the stream, whatever arrives when, so an interrupted model equals an undisturbed one bit for bit.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Array, Floats
from ohash.core.rows import gather
from ohash.engine.history import History
from ohash.evaluation.drift_detectors import DriftMonitor
from ohash.models.base import OnlineHasher, PairHasher
from ohash.models.storage import load, load_with_companion, save
from ohash.production.sources import NO_TRIPLES, Batch, IteratorSource, PairSource, Position
from ohash.production.stale_codes import StalenessPrice, price_staleness
from ohash.runtime.frames import Frame, JsonObject

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

COLUMNS = ("loss", "hit_now", "hit_deployed", "half_width", "encode_seconds", "skipped", "alarms")
ALARM_NAMES = {
    "page_hinkley_wrong": "Page-Hinkley on the share of wrong pairs", "page_hinkley_R": "Page-Hinkley on R",
    "adwin_wrong": "ADWIN on the share of wrong pairs", "adwin_R": "ADWIN on R",
}  # fmt: skip
MAX_CHECKS = 1000  # of the history; then every second one is dropped
# Of the ticks between two checks:
CAPACITY = 512  # rows; then neighbours are merged
SUMS = slice(1, 5)  # learnt pairs, loss, tau, moved
WIDTH = 6  # with the pair count at the end of a row, and the alarms until then


class Ticks:
    """What a follower does between two checks, for whoever watches it: loss, τ, update rate and alarms over the stream.

    Rows (pairs, learnt, sums of loss, tau and updates, alarms), each of `batches` batches. Sums are kept rather than
    means, so that two neighbouring rows are merged exactly when the table is full. Rows end where batches end, which
    depends on the stream alone: a killed follower has the same rows as an undisturbed one.
    """

    def __init__(self) -> None:
        """Nothing yet."""
        self.batches = 1
        self._rows = np.zeros((0, WIDTH))
        self._open, self._count = np.zeros(WIDTH), 0

    def add(self, t: int, sums: Floats, alarms: int) -> None:
        """One batch, until pair t: how many pairs were learnt, and the sums of their loss, tau and updates."""
        self._open[SUMS] += sums
        self._open[0], self._open[-1] = t, alarms
        self._count += 1
        if self._count < self.batches:
            return
        self._rows = np.concatenate([self._rows, self._open[None]])
        self._open, self._count = np.zeros(WIDTH), 0
        if len(self._rows) == CAPACITY:
            merged = self._rows[1::2].copy()
            merged[:, SUMS] += self._rows[::2, SUMS]
            self._rows, self.batches = merged, 2 * self.batches

    def columns(self) -> dict[str, Floats]:
        """Means per pair, up to the latest batch; `rate` is the share of pairs with an update."""
        rows = np.concatenate([self._rows, self._open[None]]) if self._count else self._rows
        learnt = np.where(rows[:, 1] > 0, rows[:, 1], np.nan)
        means = rows[:, 2:5] / learnt[:, None]
        return {
            "pairs": rows[:, 0].copy(), "loss": means[:, 0], "tau": means[:, 1], "rate": means[:, 2],
            "alarms": rows[:, -1].copy(),
        }  # fmt: skip

    def state(self) -> Frame:
        """For the file of a follower."""
        return {"batches": self.batches, "count": self._count}, {"rows": self._rows, "open": self._open}

    def restore(self, values: JsonObject, rows: Floats, open_: Floats) -> None:
        """Go on from a state."""
        self.batches, self._count = int(values["batches"]), int(values["count"])
        self._rows, self._open = rows.copy(), open_.copy()


@dataclass(frozen=True)
class FollowOptions:
    """How to follow."""

    batch: int = 1024  # pairs learnt at a time
    check_every: int = 50_000  # pairs between two looks at what stale codes cost
    save_seconds: float = 10.0
    negatives: int = 0  # dissimilar pairs (i, any row) drawn after each similar one
    seed: int = 0  # draws them, and the items of a check

    def __post_init__(self) -> None:
        """Validate."""
        if self.batch < 1 or self.check_every < 1 or self.negatives < 0:
            raise ValueError("batch and check_every must be at least 1, and negatives at least 0")


class Follower:
    """A model that follows a source; `path` is its file."""

    def __init__(
        self,
        path: str | Path,
        X: Array,
        source: PairSource,
        model: OnlineHasher | None = None,
        options: FollowOptions | None = None,
    ) -> None:
        """Go on from `path` if it is there, else begin with `model`, which is also what production runs on."""
        self.path, self.X, self.source = Path(path), X, source
        self.options = options or FollowOptions()
        self.t = self.learnt = self.skipped = 0
        self.position: Position = {}
        self.price: StalenessPrice | None = None
        self.history = History(COLUMNS)
        self.ticks = Ticks()
        self._loss_sum, self._loss_count = 0.0, 0
        companion: Frame | None = None
        if self.path.exists():
            model, companion = load_with_companion(self.path)
            if companion is None:
                raise ValueError(f"{self.path} is a model that does not follow a stream; name another file")
        if model is None:
            raise ValueError(f"model must be given, because {self.path} is not there yet")
        if not isinstance(model, PairHasher):
            raise ValueError(f"model must be one that learns from pairs, got {getattr(model, 'key', model)}")
        self.model: PairHasher = model
        self.monitor = DriftMonitor(int(model.r))
        if companion is not None:
            self._restore(companion)
        source.seek(self.position)
        self._waiting: list[Batch] = []

    # -- the stream ----------------------------------------------------------------------------------------------------

    def follow(self, deployed: Callable[[], OnlineHasher], timeout: float = 1.0) -> Iterator["Follower"]:
        """Learn until the source ends; yields after every batch or wait, and at the end. It saves by itself."""
        saved = time.monotonic()
        ended = False
        while not ended:
            ended = self._receive(timeout)
            if ended or self._waits() >= self.options.batch:
                self._learn(deployed)
            if ended or time.monotonic() - saved > self.options.save_seconds:
                self.save()
                saved = time.monotonic()
            yield self

    def _waits(self) -> int:
        return sum(len(batch.triples) for batch in self._waiting)

    def _receive(self, timeout: float) -> bool:
        """Read what a batch still lacks; whether the source has ended."""
        batch = self.source.read(self.options.batch - self._waits(), timeout)
        self._waiting.append(batch)
        return batch.ended

    def _learn(self, deployed: Callable[[], OnlineHasher]) -> None:
        triples = np.concatenate([NO_TRIPLES, *(batch.triples for batch in self._waiting)])
        inside = ((triples[:, :2] >= 0) & (triples[:, :2] < len(self.X))).all(axis=1)
        good = triples[inside]
        due = self.t // self.options.check_every != (self.t + len(triples)) // self.options.check_every
        if due and len(good):
            self.price = price_staleness(self.model, deployed(), self.X, good, self.options.seed)
        sums = self._learn_pairs(self._with_negatives(good)) if len(good) else np.zeros(4)
        self.skipped += sum(batch.skipped for batch in self._waiting) + int((~inside).sum())
        self.t += len(triples)
        self.position = self._waiting[-1].position
        self._waiting.clear()
        if len(triples):
            self.ticks.add(self.t, sums, self.alarms)
        if due and self.price is not None:
            self._note(self.price)

    def _learn_pairs(self, triples: npt.NDArray[np.int64]) -> Floats:
        """Learn; returns how many pairs, and the sums of their loss, tau and updates (NaN where a method has none)."""
        rows, places = np.unique(triples[:, :2], return_inverse=True)
        places = places.reshape(-1, 2)
        Z = gather(self.X, rows)
        feature_map = getattr(self.model, "feature_map", None)
        if feature_map is not None:
            Z = feature_map.transform(Z)
        trace = self.model.learn(Z, places[:, 0], places[:, 1], triples[:, 2])
        self.learnt += len(triples)
        R = getattr(trace, "R", None)
        if R is not None:
            losses = np.asarray(R, np.float64).reshape(len(triples), -1).mean(axis=1)
            self.monitor.update(losses)
            self._loss_sum += float(losses.sum())
            self._loss_count += len(losses)
        tau = getattr(trace, "tau", None)
        steps = np.full((1, 1), np.nan) if tau is None else np.asarray(tau, np.float64).reshape(len(triples), -1)
        loss = np.nan if R is None else float(losses.sum())
        moved = np.nan if tau is None else float((steps > 0).any(axis=1).sum())
        return np.array([len(triples), loss, float(steps.mean(axis=1).sum()), moved])

    def _with_negatives(self, triples: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Each similar pair, then its drawn dissimilar ones; the draw depends on the place in the stream alone."""
        count = self.options.negatives
        if not count:
            return triples
        drawn = np.random.default_rng([self.options.seed, self.t]).integers(0, len(self.X), (len(triples), count))
        block = np.repeat(triples[:, None], count + 1, axis=1)
        block[:, 1:, 1], block[:, 1:, 2] = drawn, -1
        keep = np.ones(block.shape[:2], np.bool_)
        keep[:, 1:] = (triples[:, 2:] == 1) & (drawn != triples[:, :1])
        return block[keep]

    def _note(self, price: StalenessPrice) -> None:
        if len(self.history) >= MAX_CHECKS:
            values, rows = self.history.state()
            self.history = History.from_state(values, rows[::2])
        mean = self._loss_sum / self._loss_count if self._loss_count else float("nan")
        self.history.append(self.t, {
            "loss": mean, "hit_now": price.hit_now, "hit_deployed": price.hit_deployed, "half_width": price.half_width,
            "encode_seconds": price.encode_seconds, "skipped": self.skipped, "alarms": self.alarms,
        })  # fmt: skip
        self._loss_sum, self._loss_count = 0.0, 0

    @property
    def alarms(self) -> int:
        """Drift alarms so far, of all detectors; each keeps its latest thousand."""
        return sum(len(positions) for positions in self.monitor.alarms.values())

    def latest_alarm(self) -> str:
        """Which detector gave the latest alarm, and where; "" before the first."""
        latest = {name: positions[-1] for name, positions in self.monitor.alarms.items() if positions}
        if not latest:
            return ""
        name = max(latest, key=lambda name: latest[name])
        return f"{ALARM_NAMES[name]} at learnt pair {latest[name]:,}"

    # -- the file ------------------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Model, position, monitor and history, by one rename."""
        columns, rows = self.history.state()
        values = {
            "what": "follow", "t": self.t, "learnt": self.learnt, "skipped": self.skipped, "position": self.position,
            "columns": columns, "loss_sum": self._loss_sum, "loss_count": self._loss_count,
        }  # fmt: skip
        values["ticks"], ticks = self.ticks.state()
        arrays = {"history": rows, **{f"monitor/{name}": array for name, array in self.monitor.state().items()}}
        arrays |= {f"ticks/{name}": array for name, array in ticks.items()}
        save(self.model, self.path, (values, arrays))

    def _restore(self, companion: Frame) -> None:
        values, arrays = companion
        self.t, self.learnt, self.skipped = values["t"], values["learnt"], values["skipped"]
        self.position = values["position"]
        self._loss_sum, self._loss_count = values["loss_sum"], values["loss_count"]
        self.history = History.from_state(values["columns"], arrays["history"])
        ours = [name for name in arrays if name.startswith("monitor/")]
        self.monitor.restore({name.removeprefix("monitor/"): arrays[name] for name in ours})
        if "ticks" in values:  # files from before there were any have none
            self.ticks.restore(values["ticks"], arrays["ticks/rows"], arrays["ticks/open"])


class DeployedModel:
    """The model that production's codes are made with: a file that is read again when it has changed, or the first."""

    def __init__(self, path: str | Path | None, first: str | Path) -> None:
        """`first` is used as long as no file is named."""
        self._path = Path(path or first)
        self._changed = -1
        self._model: OnlineHasher | None = None

    def __call__(self) -> OnlineHasher:
        """The model now."""
        changed = self._path.stat().st_mtime_ns
        if self._model is None or changed != self._changed:
            self._model, self._changed = load(self._path), changed
        return self._model


def follow(
    pairs: PairSource | Iterable[tuple[int, int, int]] | Callable[[int], Iterator[tuple[int, int, int]]],
    X: Array,
    model: str | Path,
    path: str | Path,
    *,
    deployed: str | Path | None = None,
    options: FollowOptions | None = None,
) -> Iterator[Follower]:
    """Learn a stream of pairs (i, j, s) of rows of X, beginning with a saved model, and keep everything in `path`.

    `pairs` is any iterable, a function from a number of pairs to an iterator of those after them, or a source. Yields
    after every batch; stop when you like, and call it again to go on. `deployed` is the model of production's codes.
    """
    source: Any = pairs if hasattr(pairs, "seek") and hasattr(pairs, "read") else IteratorSource(pairs)
    with _only_one(path):
        follower = Follower(path, X, source, None if Path(path).exists() else load(model), options)
        yield from follower.follow(DeployedModel(deployed, model))


@contextmanager
def _only_one(path: str | Path) -> Iterator[None]:
    """Hold the lock of `path`, which ends with the process, however it ends; a ValueError if another process has it."""
    lock = Path(path).with_name(f".{Path(path).name}.lock")
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("ab", buffering=0) as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise ValueError(f"another process learns into {path}; one model has exactly one learner") from error
        with suppress(OSError):  # a full disk: who it is helps only people
            file.truncate(0)
            file.write(str(os.getpid()).encode())
        yield
