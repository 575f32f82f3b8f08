"""World: everything a run depends on and does not learn: data, split, pairs, feature map, mapped rows.

Runs that differ only in method, r, beta, C and the like share one world, so a new run starts at once.
"""

import tempfile
import threading
from collections import OrderedDict
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core.features import FeatureMap
from ohash.experiment.params import ExperimentParams
from ohash.streams import registry
from ohash.streams.base import Dataset, split
from ohash.streams.drift import Drift
from ohash.streams.pairs import PairStream, Pairs
from ohash.streams.similar_by import similarity

# Mapped rows beyond this many bytes live in a temporary file instead of memory.
IN_MEMORY = 2**30
KEPT_WORLDS = 4
WARM_UP_BLOCK = 1024


class World:
    """Data and pairs of one experiment; immutable but for caches of its stages."""

    def __init__(self, params: ExperimentParams, dataset: Dataset | None = None) -> None:
        """Split, prepare the stream, and fit the map on its first points."""
        self.dataset = registry.load(params.dataset) if dataset is None else dataset
        self.params = params
        self.dtype = str(getattr(params.model, "dtype", "float32"))
        self.parts = split(self.dataset, params.seed, train=params.stream.train)
        self.drift = Drift(params.drift, params.seed)
        self._streams: dict[int, PairStream] = {}
        self._mapped: OrderedDict[int, npt.NDArray[Any]] = OrderedDict()
        self._lock = threading.Lock()
        self.feature_map = FeatureMap.from_params(params.features, self.dtype)
        self.consumed, self.warm_rows = self._fit()
        if not len(self.parts.database):
            raise ValueError("the database is empty: lower the number of queries")

    def stream(self, stage: int = 0) -> PairStream:
        """The pairs of a stage."""
        if stage not in self._streams:
            data = self.drift.labels(self.dataset, stage)
            parts = replace(self.parts, train=self.drift.pool(self.dataset, self.parts.train, stage))
            p = self.params.stream
            source = similarity(data, parts, p.similar_by, negatives=p.negatives, top_k=p.top_k)
            self._streams[stage] = PairStream(source, p, self.params.seed, data)
        return self._streams[stage]

    def pairs(self, start: int, stop: int) -> Pairs:
        """Pairs start to stop after the warm-up, which must lie in one stage."""
        return self.stream(self.drift.stage(start)).take(self.consumed + start, self.consumed + stop)

    @property
    def length(self) -> int | None:
        """How many pairs there are, None for an endless stream."""
        length = self.stream().length
        return None if length is None else max(0, length - self.consumed)

    def raw(self, stage: int = 0) -> npt.NDArray[Any]:
        """The vectors as the world shows them in a stage."""
        return self.drift.features(self.dataset.X, stage)

    def mapped(self, stage: int = 0) -> npt.NDArray[Any]:
        """All rows after the feature map, (n, m), read-only; the two latest stages are kept."""
        with self._lock:
            if stage not in self._mapped:
                self._mapped[stage] = self._map(self.raw(stage))
                while len(self._mapped) > 2:
                    self._mapped.popitem(last=False)
            return self._mapped[stage]

    def _map(self, X: npt.NDArray[Any]) -> npt.NDArray[Any]:
        shape = (len(X), self.feature_map.d_out)
        if np.prod(shape) * np.dtype(self.dtype).itemsize <= IN_MEMORY:
            Z = self.feature_map.transform(X)
        else:
            with tempfile.NamedTemporaryFile(prefix="ohash-mapped-") as file:
                Z = np.memmap(file, dtype=self.dtype, mode="w+", shape=shape)
            for start in range(0, len(X), 65536):
                Z[start : start + 65536] = self.feature_map.transform(X[start : start + 65536])
        Z.flags.writeable = False
        return Z

    def _fit(self) -> tuple[int, npt.NDArray[np.int64]]:
        """Fit the map on the first distinct points; the pairs that brought them are consumed."""
        stream, X = self.stream(), self.raw()
        wanted = self.feature_map.params.warm_up
        taken = WARM_UP_BLOCK
        while True:
            i, j, _ = stream.take(0, taken)
            rows = self.feature_map.warm_up_rows(X, i, j)
            enough = len(rows) == wanted
            exhausted = len(i) < taken or taken > 64 * max(wanted, len(self.parts.train))
            if enough or exhausted:
                break
            taken *= 4
        if enough:
            return self.feature_map.fit_stream(X, i, j), rows
        if self.feature_map.params.kernel == "rbf" and len(rows) < self.feature_map.params.m:
            raise ValueError(
                f"m must be at most {len(rows)}, the distinct points this stream brings, got {self.feature_map.params.m}; "
                "lower m, or switch the kernel off"
            )
        self.feature_map.fit(X[rows])
        return self.feature_map_consumed(i, j, rows), rows

    @staticmethod
    def feature_map_consumed(i: npt.NDArray[Any], j: npt.NDArray[Any], rows: npt.NDArray[Any]) -> int:
        """Pairs until the last of `rows` has come."""
        last = rows[-1]
        return int(np.flatnonzero((i == last) | (j == last))[0]) + 1


_worlds: OrderedDict[tuple[Any, ...], World] = OrderedDict()
_worlds_lock = threading.Lock()


def world_of(params: ExperimentParams, dataset: Dataset | None = None) -> World:
    """The world of an experiment, shared by all experiments with the same data, map, stream, drift, seed, precision."""
    if dataset is not None:
        return World(params, dataset)
    dtype = getattr(params.model, "dtype", "float32")
    key = (params.dataset, params.content, params.features, params.stream, params.drift, params.seed, dtype)
    with _worlds_lock:
        if key in _worlds:
            _worlds.move_to_end(key)
            return _worlds[key]
    world = World(params)
    with _worlds_lock:
        _worlds[key] = world
        while len(_worlds) > KEPT_WORLDS:
            _worlds.popitem(last=False)
    return world
