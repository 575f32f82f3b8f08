"""World: everything a run depends on and does not learn: data, split, pairs, feature map, mapped rows.

Runs that differ only in method, r, beta, C and the like share one world, so a new run starts at once.
"""

import threading
from collections import OrderedDict
from collections.abc import Generator, Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Numbers, Reals, Rows, Singles
from ohash.core.features import MIN_WARM_UP, ROWS_PER_BLOCK, FeatureMap, FeatureParams
from ohash.core.rows import empty_rows, gather
from ohash.engine.params import OWN, ExperimentParams
from ohash.runtime.progress import drain
from ohash.streams import registry
from ohash.streams.data_split import split
from ohash.streams.dataset import Dataset
from ohash.streams.drift import Drift
from ohash.streams.pairs import Pairs, PairStream
from ohash.streams.similarity import make_similarity
from ohash.streams.similarity.pair_list import PairListSimilarity
from ohash.streams.summary import Repetition, repetition

Scalar = TypeVar("Scalar", bound=np.generic)
# Mapped rows beyond this many bytes live in a temporary file instead of memory.
IN_MEMORY = 2**30
KEPT_WORLDS = 4
WARM_UP_BLOCK = 1024
USUAL_WARM_UP = FeatureParams().warm_up
MAX_PAIRS_PER_POINT = 64  # of the warm-up; a stream that brings fewer new points has no more
# So many items, evenly spaced, tell how often vectors come again.
SAMPLE = 2_000
# Drifts that change which pairs come, or what they mean; the others change what the points look like.
OF_PAIRS = ("prior", "redefine")


class World:
    """Data and pairs of one experiment; immutable but for caches of its stages."""

    def __init__(self, params: ExperimentParams, dataset: Dataset | None = None) -> None:
        """Split, prepare the stream, and fit the map on its first points."""
        self.dataset = registry.load_by_key(params.dataset) if dataset is None else dataset
        if params.content and params.content != self.dataset.fingerprint():
            raise ValueError(
                f"content must be the fingerprint of {self.dataset.title}, {self.dataset.fingerprint()}, got "
                f"{params.content!r}: this experiment was made with other data"
            )
        self.params = params
        self.dtype = str(getattr(params.model, "dtype", "float32"))
        self.parts = split(self.dataset, params.seed, train=params.stream.train)
        self.drift = Drift(params.drift, params.seed)
        self._streams: dict[int, PairStream] = {}
        self._mapped: OrderedDict[int, Reals] = OrderedDict()
        self._moved: OrderedDict[int, Numbers] = OrderedDict()
        self._lock = threading.RLock()
        # of the float vectors, by stage and part of the queries: measured by the first run, the same for all
        self.exact_neighbours: dict[tuple[int, str], Rows] = {}
        self.float_map: dict[tuple[int, str], float] = {}
        self.feature_map = FeatureMap.from_params(params.features.in_metric(self.dataset.metric), self.dtype)
        if isinstance(
            self.stream().similarity, PairListSimilarity
        ):  # all points are searched, and pairs name any of them
            self.parts = replace(self.parts, database_seen=True)
        self._check_drift()
        self.drift.prepare(self.dataset.d)
        self.consumed, self.warm_rows = self._fit()
        if self.length == 0:
            raise ValueError(
                f"the stream must outlast the warm-up, got {self.consumed} pairs for {len(self.warm_rows)} points, and "
                "then no more; lower m, or use an order that does not end"
            )

    def stream(self, stage: int = 0) -> PairStream:
        """The pairs of a stage."""
        if self.params.drift.drift not in OF_PAIRS:
            stage = 0
        with self._lock:
            if stage not in self._streams:
                data = self.drift.labels(self.dataset, stage)
                parts = replace(self.parts, train=self.drift.pool(self.dataset, self.parts.train, stage))
                p = self.params.stream
                source = make_similarity(
                    data, parts, p.similar_by, negatives=p.negatives, top_k=p.top_k, later_items=p.later_items
                )
                self._streams[stage] = PairStream(source, p, self.params.seed, data)
            return self._streams[stage]

    def pairs(self, start: int, stop: int) -> Pairs:
        """Pairs start to stop after the warm-up, which must lie in one stage."""
        return self.stream(self.drift.stage(start)).take(self.consumed + start, self.consumed + stop)

    @property
    def warm_up_pairs(self) -> Pairs:
        """The pairs that brought the warm-up points; they are never learnt."""
        return self.stream().take(0, self.consumed)

    @property
    def length(self) -> int | None:
        """How many pairs there are, None for an endless stream."""
        length = self.stream().length
        return None if length is None else max(0, length - self.consumed)

    def raw(self, stage: int = 0) -> Numbers:
        """The vectors as the world shows them in a stage; of moved ones the two latest stages are kept."""
        with self._lock:
            return drain(self._iter_raw(stage))

    def mapped(self, stage: int = 0) -> Reals:
        """All rows after the feature map, (n, m), read-only; the two latest stages are kept."""
        with self._lock:
            return drain(self.iter_mapped(stage))

    def iter_mapped(self, stage: int = 0) -> Generator[None, None, Reals]:
        """`mapped` in slices; two runs at once may both do it, and then share one of the results."""
        if self.params.drift.drift in OF_PAIRS:
            stage = 0
        kept = self._mapped.get(stage)
        if kept is not None:
            return kept
        X = yield from self._iter_raw(stage)
        Z: Reals = empty_rows((len(X), self.feature_map.d_out), self.dtype, IN_MEMORY)
        for start in range(0, len(X), ROWS_PER_BLOCK):
            Z[start : start + ROWS_PER_BLOCK] = self.feature_map.transform(
                gather(X, slice(start, start + ROWS_PER_BLOCK))
            )
            yield
        return self._keep(self._mapped, stage, Z)

    def _iter_raw(self, stage: int) -> Generator[None, None, Numbers]:
        X = self.dataset.X
        if stage == 0 or self.params.drift.drift in OF_PAIRS:
            return X
        kept = self._moved.get(stage)
        if kept is not None:
            return kept
        moved: Singles = empty_rows(X.shape, "float32", IN_MEMORY)
        yield from self.drift.iter_features(X, stage, moved)
        return self._keep(self._moved, stage, moved)

    @cached_property
    def repetition(self) -> Repetition:
        """How often the vector of an item comes again; on a sample of many."""
        items = self.dataset.documents
        return repetition(gather(self.dataset.X, items[:: max(1, -(-len(items) // SAMPLE))]))

    def _check_drift(self) -> None:
        """Raise at the start what would go wrong at the drift."""
        kind, name = self.params.drift.drift, self.stream().similarity.name
        if kind not in OF_PAIRS:
            return
        if self.params.stream.order == "once":
            raise ValueError(f"drift={kind!r} needs a stream that goes on, and order='once' ends; use another order")
        if (kind == "redefine" and name != "label") or name in ("pairs", "clicks"):
            raise ValueError(f"drift={kind!r} needs similar_by='label', got {name!r}, which it would not change")
        self.stream(1)

    def _keep(
        self, arrays: OrderedDict[int, npt.NDArray[Scalar]], stage: int, array: npt.NDArray[Scalar]
    ) -> npt.NDArray[Scalar]:
        """Keep an array, read-only, unless another run was faster; drop the oldest of more than two."""
        array.flags.writeable = False
        with self._lock:
            kept = arrays.setdefault(stage, array)
            while len(arrays) > 2:
                arrays.popitem(last=False)
        return kept

    @property
    def note(self) -> str:
        """What a reader must know of the warm-up; "" if it is as the parameters say."""
        features = self.params.features
        what, few, usual = "anchor", self.feature_map.params.m, features.m
        if few == usual:
            what, few, usual = "warm-up point", len(self.warm_rows), features.warm
        if few >= usual:
            return ""
        return f"{few} {what}{'s' * (few != 1)} instead of {usual}, because the stream brings so few different points"

    def _shorten_warm_up(self, points: int) -> None:
        """Let the map be fitted on fewer points than is usual."""
        usual = self.feature_map.params
        fewer = replace(usual, warm=min(usual.warm, points))
        if usual.kernel == "rbf":
            fewer = replace(fewer, m=min(usual.m, points))
        self.feature_map = FeatureMap.from_params(fewer, self.dtype)

    def _fit(self) -> tuple[int, npt.NDArray[np.int64]]:
        """Fit the map on the first distinct points; the pairs that brought them are consumed.

        If nobody asked for a longer warm-up than the usual one, data that are too few for it get a shorter one, the
        same with and without a kernel: at most all points, and the first half of a stream that ends.
        """
        stream, X = self.stream(), self.raw()
        wanted = self.feature_map.params.warm_up
        half = None if stream.length is None else stream.length // 2
        usual = wanted == USUAL_WARM_UP
        if usual and half is not None and half < MAX_PAIRS_PER_POINT * wanted:
            brought = len(self.feature_map.warm_up_rows(X, *stream.take(0, half)[:2]))
            if brought < wanted:
                self._shorten_warm_up(max(brought, MIN_WARM_UP))
                wanted = self.feature_map.params.warm_up
        taken = WARM_UP_BLOCK
        while True:
            i, j, _ = stream.take(0, taken)
            rows = self.feature_map.warm_up_rows(X, i, j)
            enough = len(rows) == wanted
            exhausted = len(i) < taken or taken > MAX_PAIRS_PER_POINT * max(wanted, len(self.parts.train))
            if enough or exhausted:
                break
            taken *= 4
        if enough:
            return self.feature_map.fit_stream(X, i, j), rows
        if usual and rows.size:
            self._shorten_warm_up(len(rows))
        if self.feature_map.params.kernel == "rbf" and len(rows) < self.feature_map.params.m:
            raise ValueError(
                f"m must be at most {len(rows)}, the distinct points this stream brings, got "
                f"{self.feature_map.params.m}; lower m, or switch the kernel off"
            )
        self.feature_map.fit(gather(X, rows))
        return int(np.flatnonzero((i == rows[-1]) | (j == rows[-1]))[0]) + 1, rows  # until the last of them had come


@dataclass
class _Slot:
    """A world, once it is built."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    world: World | None = None


_worlds: OrderedDict[tuple[Hashable, ...], _Slot] = OrderedDict()
_worlds_lock = threading.Lock()


def world_key(params: ExperimentParams) -> tuple[Hashable, ...]:
    """What experiments that share a world have in common: data, map, stream, drift, seed, precision."""
    dtype = getattr(params.model, "dtype", "float32")
    return params.dataset, params.content, params.features, params.stream, params.drift, params.seed, dtype


def world_of(params: ExperimentParams, dataset: Dataset | None = None) -> World:
    """The world of an experiment, shared by all with the same `world_key`; only the latest KEPT_WORLDS are kept."""
    if dataset is None and params.dataset == OWN:
        raise ValueError(
            "dataset must be given for data of your own, got none; pass your Dataset: run(params, dataset)"
        )
    loaded = registry.load_by_key(params.dataset) if dataset is None else dataset
    key = (loaded, *world_key(params))  # the data themselves, too: a file that has changed is another world
    with _worlds_lock:
        slot = _worlds.setdefault(key, _Slot())
        _worlds.move_to_end(key)
        while len(_worlds) > KEPT_WORLDS:
            _worlds.popitem(last=False)
    with slot.lock:  # runs that start together wait for one world instead of building several
        if slot.world is None:
            slot.world = World(params, loaded)
        return slot.world
