"""Run: one experiment, advanced in small steps by its caller.

`Run.step(limit)` does one small unit of work (some pairs, or a slice of an evaluation) and returns. A notebook loops
over `run(params)`; the dashboard's Runner steps with a clock. Results depend on the parameters alone: rows of the
history are taken at fixed pair counts, pairs come from fixed blocks, and every boundary (checkpoint, change, stage) is
a pair count.
"""

from collections.abc import Generator, Iterator
from typing import Any, TypeVar, cast

import numpy as np

from ohash.core.arrays import Counts, Floats, Rows, Signs
from ohash.core.codes import hamming
from ohash.core.loss import dissimilar_threshold
from ohash.core.parameters import Parameters
from ohash.engine.checkpoints import Checkpoints, checkpoint_pairs, with_models
from ohash.engine.fitting import Fitter, Fitting, TrainingSet
from ohash.engine.frozen import Frozen, FrozenEstimates
from ohash.engine.observer import Observer
from ohash.engine.params import ExperimentParams
from ohash.engine.snapshot import Snapshot, snapshot_of
from ohash.engine.state import KeptStates, RunState
from ohash.engine.world import World, world_of
from ohash.models import registry
from ohash.models.base import DecodingHasher, MappedHasher, OnlineHasher, PairHasher, PointHasher, Trace
from ohash.models.online.passive_aggressive import PassiveAggressive
from ohash.runtime.clock import working_seconds
from ohash.runtime.frames import Arrays
from ohash.streams.dataset import Dataset

CHUNK = 4096
Result = TypeVar("Result")


class Run(RunState):
    """One experiment: its state between two pairs, and how it goes on."""

    def __init__(
        self,
        params: ExperimentParams,
        dataset: Dataset | None = None,
        *,
        judge: bool = True,
        fitter: Fitter | None = None,
        world: World | None = None,
    ) -> None:
        """Prepare the world and the model; nothing is learnt yet. Without `judge` codes stay as they are.

        `world` is one made for the same data, map, stream, drift, seed and precision. With `fitter` long fits
        of batch methods happen elsewhere, with the same result; `wait` waits for them.
        """
        if not isinstance(params, ExperimentParams):
            raise ValueError(f"params must be those of experiment(...), as experiment('digits', r=32), got {params!r}")
        with registry.locate_plugin_errors(registry.find(params.method)):
            super().__init__(params, world_of(params, dataset) if world is None else world)
            self.judge_checkpoints = judge
            self.training_set = TrainingSet(self)
            self.fitting = Fitting(self, self.training_set, fitter)
            self.spec.check_data(params.model, self.world.feature_map.d_out, self.world.dataset.metric)
            self._start_hasher()
            self.schedule = checkpoint_pairs(self.end, params.run.judged_at)
            self.observer = Observer(int(self.hasher.r), learns=hasattr(type(self.hasher), "certificates"))
            self.kept_states = KeptStates()
            self._pending: Iterator[None] | None = None
            self.kept_states.keep(self.t, self.hasher)
            self.checkpoints = Checkpoints(self, self.frozen)
            self._at_boundary()

    # -- driving -------------------------------------------------------------------------------------------------

    @property
    def done(self) -> bool:
        """Whether the last pair is learnt and judged."""
        return self._pending is None and (self.t >= self.end or self.checkpoints.flat())

    @property
    def evaluating(self) -> bool:
        """Whether the next step is a slice of re-encoding or evaluation, and no pair."""
        return self._pending is not None

    def step(self, limit: int) -> int:
        """One small unit of work: a slice of a pending evaluation, or at most `limit` pairs. Returns pairs learnt."""
        with registry.locate_plugin_errors(self.spec):
            return self._step(limit)

    def _step(self, limit: int) -> int:
        if self._pending is not None:
            if not self.fitting.waiting and next(self._pending, "finished") == "finished":
                self._pending = None
            return 0
        if self.done or limit < 1:
            return 0
        if "beta" in self.apply_changes(self.hasher, self.t):
            self.observer.drift_monitor.reset()  # R itself has changed, not the world
        stop = min(self.t + limit, self._boundary())
        start = self.t
        self._learn(start, stop)
        self.t = stop
        self._at_boundary()
        return stop - start

    def judge_less_often(self) -> None:
        """Every second checkpoint, the first and the last; for comparisons, before the first step."""
        self.schedule = sorted({*self.schedule[::2], self.end})

    def judge_only_at_the_end(self) -> None:
        """No curve, only the last checkpoint, and no reference; for trials, before the first step."""
        self.schedule, self._pending, self.checkpoints.map_float = [self.end], None, float("nan")

    def wait(self, seconds: float) -> None:
        """Sleep until a fit in a worker is over, or some time has passed; not at all if there is none."""
        self.fitting.wait(seconds)

    def close(self) -> None:
        """Stop a fit in a worker; the run cannot go on."""
        self.fitting.cancel()

    def set(self, **values: float) -> None:
        """Change beta or C of the running model before the next pair; the change becomes part of the parameters."""
        self.params = self.params.with_changes(self.t, **values)

    def current(self) -> Parameters:
        """The model parameters in force for the next pair."""
        return self.params.model_at(self.t)

    @property
    def notes(self) -> list[str]:
        """What a reader of the numbers must know."""
        notes = [note for note in (self.checkpoints.judge.note, self.world.dataset.note, self.world.note) if note]
        if not self.world.parts.database_seen:
            notes.append("training pairs were not drawn from the database")
        truth = self.world.stream(self.stage).similarity.name
        if self.spec.supervision == "labels" and truth in ("metric", "topk") and not self.uses_similarity_matrix:
            notes.append(f"{self.spec.title} learns from labels, and is judged by distance")
        edges = self.world.drift.boundaries
        if edges and edges[0] >= self.end:
            notes.append(f"the drift at pair {edges[0]:,} is never reached: the run ends at pair {self.end:,}")
        return notes

    # -- learning ------------------------------------------------------------------------------------------------

    def _learn(self, start: int, stop: int) -> None:
        i, j, s = self.world.pairs(start, stop)
        frozen = self._score_frozen(i, j, s)
        trace = self._teach(i, j, s)
        self.seen[i] = True
        self.seen[j] = True
        if self.spec.consumes == "batch":
            self.training_set.add(np.unique([i, j]))
        self.observer.observe(start, s, trace, *frozen)

    def _teach(self, i: Rows, j: Rows, s: Signs) -> Trace | None:
        """Give the method what it consumes: the pairs, their points one after another, or nothing yet."""
        if self.spec.consumes == "pairs":
            since = working_seconds()
            learnt = cast(PairHasher, self.hasher).learn(self.Z, i, j, s)
            self.clock.add("cpu_learn", since)
            return learnt
        if self.spec.consumes == "nothing":
            return None
        rows = np.stack([i, j], axis=1).ravel()
        if isinstance(self.frozen, FrozenEstimates):
            D_h = self.frozen.pairs(cast(DecodingHasher, self.hasher), self.Z, i, j)
        else:
            places, at = np.unique(rows, return_inverse=True)
            codes = with_models(self.hasher.encode(np.ascontiguousarray(self.Z[places])))
            D_h = hamming(codes[:, at[0::2]], codes[:, at[1::2]]).min(axis=0)
        if self.spec.consumes in ("points", "chunks"):
            labels, since = self.labels_of(rows, self.stage), working_seconds()
            cast(PointHasher, self.hasher).learn_points(self.Z, rows, labels)
            self.clock.add("cpu_learn", since)
        return Trace(D_h, np.zeros(len(i), np.bool_))

    def _replace_hasher(self, hasher: OnlineHasher) -> None:
        """Go on with another object, fitted in a worker."""
        self.hasher = hasher
        self.checkpoints.table.replace_hasher(hasher)

    def _score_frozen(self, i: Rows, j: Rows, s: Signs) -> tuple[Counts, Floats, Floats]:
        p = self.current()
        beta, alpha = getattr(p, "beta", 0.5), getattr(p, "alpha", 0)
        largest = getattr(p, "select", "smallest") == "largest"
        return self.frozen.score(i, j, s, alpha, dissimilar_threshold(beta, self.hasher.r), largest=largest)

    def _boundary(self) -> int:
        """The next pair count at which something happens."""
        ahead = [t for t in self.schedule if t > self.t]
        ahead += [c.at for c in self.params.changes if c.at > self.t]
        ahead += [b for b in self.world.drift.boundaries if b > self.t]
        if self.params.run.reencode == "every":
            ahead.append((self.t // self.params.run.reencode_every + 1) * self.params.run.reencode_every)
        return min([*ahead, self.end])

    def _at_boundary(self) -> None:
        due = self.t in self.schedule
        refresh = due if self.params.run.reencode == "checkpoint" else self._refresh_due()
        moving, fit = self._stage_now() != self.stage, due and self.spec.consumes == "batch"
        if due and not moving and not fit:
            self.kept_states.keep(self.t, self.hasher)
        if moving or fit or (self.judge_checkpoints and (due or refresh)):
            self._pending = self._work(moving=moving, fit=fit, refresh=refresh, judge=due)

    def _stage_now(self) -> int:
        """The stage of the next pair; after the last pair its own: a drift that never came is not judged."""
        return self.world.drift.stage(min(self.t, self.end - 1))

    def _refresh_due(self) -> bool:
        return self.params.run.reencode == "every" and self.t > 0 and self.t % self.params.run.reencode_every == 0

    # -- the world and the checkpoints -------------------------------------------------------------------------------

    def _start_hasher(self) -> None:
        warm = np.ascontiguousarray(self.Z[self.world.warm_rows])
        if hasattr(self.hasher, "warm_up"):
            self.hasher.warm_up(warm)
        elif hasattr(self.hasher, "start"):
            self.hasher.start(self.Z.shape[1])
        if isinstance(self.hasher, PassiveAggressive) and self.hasher.C == 0:  # auto
            self.auto_C = self.hasher.choose_C(self.Z, *self.world.warm_up_pairs)
        if self.spec.consumes == "batch":
            self.fitting.fit_first()
        self.frozen = (
            Frozen(self.hasher) if self.spec.hamming else FrozenEstimates(cast(DecodingHasher, self.hasher), warm)
        )
        self.frozen.enter(self.Z)

    def _enter_stage(self, stage: int) -> Generator[float | None, None, None]:
        """The world looks different."""
        if self.spec.consumes == "batch":
            self.training_set.freeze()
        Z = yield from self.world.iter_mapped(stage)
        if Z is not self.Z:
            yield from self.frozen.iter_enter(Z)
        yield from self.checkpoints.enter_stage(stage, Z)
        self.stage, self.Z = stage, Z

    def resume(self, table: Arrays) -> None:
        """Take up a saved run: `hasher` and `t` are set already, nothing is pending."""
        self._pending = None
        self.stage = self._stage_now()
        self.Z = self.world.mapped(self.stage)
        self.frozen.enter(self.Z)
        self.checkpoints.restore(table)
        self.kept_states.keep(self.t, self.hasher)

    def _work(self, *, moving: bool, fit: bool, refresh: bool, judge: bool) -> Iterator[None]:
        """Enter a stage, fit, re-encode and judge, a few milliseconds at a time.

        Points that have just arrived query the old table first.
        """
        if moving:
            yield from self._time("cpu_encode", self._enter_stage(self._stage_now()))
        if fit:
            hasher = yield from self.fitting.refit()
            if hasher is not None:
                self._replace_hasher(hasher)
        if judge and (moving or fit):
            self.kept_states.keep(self.t, self.hasher)
        if not self.judge_checkpoints:
            return
        if judge:
            map_prequential = yield from self._time("cpu_evaluate", self.checkpoints.score_prequential())
        if refresh:
            yield from self._time("cpu_encode", self.checkpoints.refresh())
        if judge:
            yield from self._time("cpu_evaluate", self.checkpoints.evaluate(map_prequential))

    def _time(self, name: str, work: Generator[object, None, Result]) -> Generator[None, None, Result]:
        while True:
            since = working_seconds()
            try:
                next(work)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            finally:
                self.clock.add(name, since)
            yield

    # -- looking back ----------------------------------------------------------------------------------------------

    def replay(self, t: int) -> tuple[OnlineHasher, tuple[int, int, int]]:
        """The model as it was before pair t, and that pair (i, j, s): from the nearest kept state, learnt again."""
        if not 0 <= t < max(1, self.t):
            raise ValueError(f"t must be one of the {self.t} pairs learnt so far, 0 to {self.t - 1}, got {t}")
        i, j, s = self.world.pairs(t, t + 1)
        return self.kept_states.hasher_before(t, self), (int(i[0]), int(j[0]), int(s[0]))

    def snapshot(self, state: str, **more: Any) -> Snapshot:
        """The run as it is now, for a viewer."""
        return snapshot_of(
            self, self.checkpoints, self.observer, state, done=self.done, notes=self.notes, **more
        )  # fmt: skip

    def __repr__(self) -> str:
        """One line."""
        return f"Run({self.params.method} on {self.params.dataset}, {self.t:,} of {self.end:,} pairs)"

    def _repr_html_(self) -> str:
        return self.snapshot("done" if self.done else "running")._repr_html_()

    def model(self) -> MappedHasher:
        """The hasher with the feature map it learnt on, ready to be saved and used on raw vectors."""
        model = cast(MappedHasher, self.hasher)
        model.feature_map = self.world.feature_map
        return model

    def extend(self, pairs: int) -> None:
        """Let a run go on to another number of pairs."""
        self.params = self.params.with_values(pairs=pairs)
        self.end = pairs if self.world.length is None else min(pairs, self.world.length)
        self.schedule = checkpoint_pairs(self.end, self.params.run.judged_at)


def run(params: ExperimentParams, dataset: Dataset | None = None, *, every: int | None = None) -> Iterator[Snapshot]:
    """Snapshots of an experiment: one at every checkpoint, or at every multiple of `every`; the last is the result.

    >>> from ohash.engine.params import experiment
    >>> for now in run(experiment("digits", "oh", r=16, pairs=200)):
    ...     pass
    >>> now.t, now.state, 0 < now.numbers["map"] < 1
    (200, 'done', True)
    """
    if every is not None and every < 1:
        raise ValueError(f"every must be a number of pairs >= 1, got {every}")
    return _snapshots(Run(params, dataset), every)


def _snapshots(current: Run, every: int | None) -> Iterator[Snapshot]:
    shown = -1
    while not current.done:
        current.step(CHUNK if every is None else every - current.t % every)
        due = current.t in current.schedule if every is None else current.t % every == 0
        if due and current.t > shown and not (current.evaluating or current.done):
            shown = current.t
            yield current.snapshot("running")
    yield current.snapshot("done")
