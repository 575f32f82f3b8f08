"""The background thread of a comparison. All methods advance together: the one with the fewest pairs steps next.

Phases: tuning trials (optional), curves for one seed after another, costs after the first seed, then codes of other
lengths. An error in one method is shown next to its name and does not stop the others.
"""

import math
import time
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from ohash.comparison.costs import Cost, measure_cost, measure_float_cost
from ohash.comparison.method_run import MethodRun, step_in_turn
from ohash.comparison.params import (
    Comparison,
    Entry,
    build_comparison,
    default_methods,
    default_seeds,
    from_query,
    own_data_spec,
)
from ohash.comparison.results import (  # fmt: skip
    ComparisonSnapshot,
    EvaluationSetup,
    LengthResult,
    MethodResult,
    Reference,
    Trial,
    truth_scores,
)
from ohash.comparison.tuning import draw_entries
from ohash.core.features import FeatureParams
from ohash.engine.fitting import WorkerFitter
from ohash.engine.judge import truth_column
from ohash.engine.links import query_of
from ohash.engine.live.runner import PREPARING
from ohash.engine.params import OWN, ExperimentParams
from ohash.engine.run import Run
from ohash.engine.world import World, world_of
from ohash.runtime.background import Background
from ohash.streams.dataset import Dataset
from ohash.streams.registry import find_dataset

PUBLISH_SECONDS = 0.15
LENGTHS = (16, 32, 64, 128, 256)


class ComparisonRunner(Background):
    """One running comparison; `snapshot` always returns its latest state."""

    def __init__(self, comparison: Comparison, dataset: Dataset | None = None, *, paused: bool = False) -> None:
        """Nothing happens before `start`; `dataset` is the user's own data, if the comparison is about it."""
        super().__init__(f"ohash-compare-{comparison.key()}", paused=paused)
        self.comparison, self._dataset = comparison, dataset
        self.entries: tuple[Entry, ...] = comparison.entries
        self._fitter: WorkerFitter | None = WorkerFitter(PREPARING)
        self.first_seed_runs: list[MethodRun] = []  # kept, so that a viewer can look inside
        self._method_runs: list[MethodRun] = []
        self._finished_results: list[MethodResult] = []
        self._references: list[Reference] = []
        self._costs: list[Cost | None] = [None] * (len(self.entries) + 1)
        self._ceilings = [math.nan] * len(self.entries)
        self._lengths: list[LengthResult] = []
        self._missing_lengths: list[str] = []
        self._trials: list[Trial] = []
        self._setup = EvaluationSetup()
        self._chance: dict[str, float] = {}
        self._worlds: dict[tuple[Hashable, ...], World] = {}
        self._phase, self._seq, self._published = "curves", 0, 0.0
        self._snapshot = ComparisonSnapshot(comparison, self.entries, "waiting", "curves", 0, comparison.run.pairs)

    def snapshot(self) -> ComparisonSnapshot:
        """The latest state."""
        return self._snapshot

    def _close(self) -> None:
        if self._fitter is not None:
            self._fitter.close()
        for method_run in [*self._method_runs, *self.first_seed_runs]:
            method_run.close()

    # -- phases --------------------------------------------------------------------------------------------------

    def _work(self) -> Iterator[None]:
        if self.comparison.options.trials:
            self._phase = "trials"
            yield from self._tune()
        for seed in self.comparison.seeds:
            self._phase = "curves"
            yield from self._curves(seed)
            if seed == self.comparison.seeds[0]:
                self._phase = "costs"
                yield from self._measure_ceilings()
                yield from self._measure_costs()
        if self.comparison.options.sweep:
            self._phase = "bits"
            yield from self._other_lengths()
        self._phase = ""

    def _tune(self) -> Iterator[None]:
        """Try the n-th draw of every method, then the next; the best of each is used afterwards."""
        draws = [draw_entries(self.comparison, entry) for entry in self.entries]
        best = [(-1.0, entry) for entry in self.entries]
        for number in range(max(map(len, draws))):
            trials = [(at, entries[number]) for at, entries in enumerate(draws) if number < len(entries)]
            method_runs = [
                MethodRun(at, self.comparison.experiment(entry).with_values(judged_by="validation"))
                for at, entry in trials
            ]
            yield from self._run_to_end(method_runs)
            for method_run, (at, entry) in zip(method_runs, trials, strict=True):
                run = method_run.run if not method_run.error else None
                column = truth_column("" if run is None else run.checkpoints.judge.name)
                score = method_run.result().last(column) if run is not None else math.nan
                self._trials.append(Trial(at, entry.values, score, method_run.error))
                if score > best[at][0]:
                    best[at] = score, entry
        self.entries = tuple(entry for _, entry in best)

    def _curves(self, seed: int) -> Iterator[None]:
        self._method_runs = [
            MethodRun(at, self.comparison.experiment(entry, seed)) for at, entry in enumerate(self.entries)
        ]
        if not self.first_seed_runs:
            self.first_seed_runs = self._method_runs
        floats_evaluated = False
        for _ in step_in_turn(self._method_runs, self._make_curve_run):
            if not floats_evaluated and any(method_run.run is not None for method_run in self._method_runs):
                floats_evaluated = True
                yield from self._evaluate_floats(seed)
            yield
        yield from self._evaluate_floats(seed, again=True)
        self._finished_results += [method_run.result() for method_run in self._method_runs]
        self._method_runs = []
        if seed != self.comparison.seeds[0]:
            self._worlds.clear()

    def _evaluate_floats(self, seed: int, *, again: bool = False) -> Iterator[None]:
        """Evaluate the float vectors with the same judge; `again` at the end if the world has changed."""
        run = next(
            (method_run.run for method_run in self._method_runs if method_run.run is not None and not method_run.error),
            None,
        )
        if run is None or (again and run.stage == 0):
            return
        self._setup, self._chance = _setup_of(run), run.checkpoints.judge.chance()
        judge = run.checkpoints.judge
        reference = Reference(seed, (yield from judge.float_scores()), judge.queries)
        self._references = [one for one in self._references if one.seed != seed] + [reference]

    def _measure_ceilings(self) -> Iterator[None]:
        """Exact search among the features of each method; methods with the same features share the result."""
        ceilings: dict[FeatureParams, float] = {}
        for at, method_run in enumerate(self.first_seed_runs):
            if method_run.run is None or method_run.error:
                continue
            features = method_run.params.features
            if features not in ceilings:
                ceilings[features] = yield from method_run.run.checkpoints.judge.feature_recall()
            self._ceilings[at] = ceilings[features]

    def _measure_costs(self) -> Iterator[None]:
        floats_measured = False
        for at, method_run in enumerate(self.first_seed_runs):
            if method_run.run is None or method_run.error:
                continue
            if not floats_measured:
                floats_measured = True
                self._costs[-1] = measure_float_cost(method_run.run)
                yield
            for cost in measure_cost(method_run.run):
                self._costs[at] = cost
                yield

    def _other_lengths(self) -> Iterator[None]:
        """Learn other code lengths with the first seed, judged at the end; the curves already give one length."""
        lengths: set[tuple[int, int]] = set()
        for method_run in self.first_seed_runs:
            if method_run.run is not None and not method_run.error:
                yield from self._add_length(method_run, lengths)
        for bits in LENGTHS:
            method_runs = []
            for at, entry in enumerate(self.entries):
                failed = self.first_seed_runs[at].run is None or self.first_seed_runs[at].error
                if failed or "r" not in entry.spec.table or (at, bits) in lengths:
                    continue
                try:
                    method_runs.append(MethodRun(at, self.comparison.experiment(entry, bits=bits)))
                except ValueError as error:  # a parameter such as α may not fit so few bits
                    self._missing_lengths.append(f"{self.comparison.names[at]} at {bits} bits: {error}")
            yield from self._run_to_end(method_runs)
            for method_run in method_runs:
                if method_run.error:
                    self._missing_lengths.append(
                        f"{self.comparison.names[method_run.entry]} at {bits} bits: {method_run.error}"
                    )
                else:
                    yield from self._add_length(method_run, lengths)

    def _add_length(self, method_run: MethodRun, lengths: set[tuple[int, int]]) -> Iterator[None]:
        yield
        result = method_run.result()
        if result.record is not None and (result.entry, result.bits) not in lengths:
            lengths.add((result.entry, result.bits))
            column = truth_column(self._setup.similar_by)
            scores = result.last(column), result.last("recall_10"), truth_scores(result.record, column)
            recalls = result.record.neighbour_recall
            self._lengths.append(
                LengthResult(result.entry, result.bits, result.bytes, *scores, result.reranked, recalls)
            )

    def _run_to_end(self, method_runs: list[MethodRun]) -> Iterator[None]:
        """Runs that are judged only at their end."""

        def make(params: ExperimentParams) -> Run:
            run = self._make_run(params)
            run.judge_only_at_the_end()
            return run

        self._method_runs = method_runs
        yield from step_in_turn(method_runs, make)
        self._method_runs = []

    # -- runs and snapshots --------------------------------------------------------------------------------------

    def _make_curve_run(self, params: ExperimentParams) -> Run:
        run = self._make_run(params)
        run.judge_less_often()
        return run

    def _make_run(self, params: ExperimentParams) -> Run:
        run = Run(params, self._dataset, fitter=self._fitter, world=self._world(params))
        for method_run in [*self._method_runs, *self.first_seed_runs]:
            if method_run.run is not None and method_run.params.seed == params.seed:
                run.checkpoints.judge.share(method_run.run.checkpoints.judge)
                break
        return run

    def _world(self, params: ExperimentParams) -> World:
        if self._dataset is None:
            return world_of(params)
        dtype = getattr(params.model, "dtype", "float32")
        key = (params.features, params.stream, params.drift, params.seed, dtype)
        if key not in self._worlds:
            self._worlds[key] = world_of(params, self._dataset)
        return self._worlds[key]

    def _publish(self, *, last: bool = False) -> None:
        now = time.monotonic()
        if not last and now - self._published < PUBLISH_SECONDS and self.state == self._snapshot.state:
            return
        self._published, self._seq = now, self._seq + 1
        curves = self._method_runs if self._phase == "curves" else []
        results = [*self._finished_results, *(method_run.result() for method_run in curves)]
        reached = [method_run.t for method_run in curves if not method_run.error]
        ends = [method_run.run.end for method_run in [*curves, *self.first_seed_runs] if method_run.run is not None]
        end = max(ends, default=self.comparison.run.pairs)
        self._snapshot = ComparisonSnapshot(
            self.comparison, self.entries, self.state, self._phase if self.state != "done" else "",
            min(reached, default=0 if self._phase == "trials" else end), end, tuple(results), tuple(self._references),
            tuple(self._costs), tuple(self._ceilings), tuple(self._lengths), tuple(self._trials), self._setup,
            self._seq, self.error, tuple(self._missing_lengths), self._chance,
        )  # fmt: skip


def compare(
    what: str | Dataset | Comparison,
    methods: Sequence[str] = (),
    *,
    data: Dataset | None = None,
    **values: Any,
) -> ComparisonSnapshot:
    """Compare methods on the same data, stream and seeds, and wait for the result; for notebooks and scripts.

    `what` is the key of a data set, a `Dataset`, the link of a comparison, or a `Comparison`; `data` is your own data
    set, if the link or the comparison is about one. `values` are settings that all methods share.

    >>> results = compare("blobs2d", ["oh", "lsh"], pairs=300, bits=8, kernel="none", sweep=False)
    >>> results.state, results.names, results.score(0, "map") > 0
    ('done', ('OH', 'LSH'), True)
    """
    if isinstance(what, str) and "=" in what:
        what, problems = from_query(query_of(what))
        if problems:
            raise ValueError(f"the link must describe a comparison: {'; '.join(problems)}")
    if isinstance(what, Dataset):
        usual = {"content": what.fingerprint(), "seeds": default_seeds(what), "kernel": what.kernel}
        data, what, values = what, OWN, {**usual, **values}
    if isinstance(what, str):
        if what != OWN and data is None:
            find_dataset(what)
            values = {"seeds": default_seeds(own_data_spec(what)), **values}
        what = build_comparison(what, tuple(methods) or None, **values)
        if data is not None and not methods:
            what = what.with_values(methods=default_methods(data, what.options.bits))
    runner = ComparisonRunner(what, data)
    runner.finish()
    return runner.snapshot()


def _setup_of(run: Run) -> EvaluationSetup:
    data, judge = run.world.dataset, run.checkpoints.judge
    notes = tuple(note for note in (judge.note, data.note, run.world.note) if note)
    return EvaluationSetup(
        data.title, data.n, data.d, data.metric, judge.name, len(judge.queries), len(judge.database),
        run.world.parts.database_seen, judge.chance()["hit_10"], notes,
        len(run.world.warm_rows),
    )  # fmt: skip
