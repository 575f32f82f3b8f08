"""The stored cells of the paper's figures, by figure, setting, method and the varied parameter."""

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Floats
from ohash.core.parameters import Value
from ohash.engine.params import ExperimentParams
from ohash.evaluation.significance import few_seeds_margin
from ohash.paper.figures import BEFORE_NEW, FIGURES, Figure
from ohash.paper.protocol import Profile, own_kernel, variant
from ohash.paper.recorded_results import Recording
from ohash.paper.settings import Setting, own_settings
from ohash.runtime.frames import JsonObject
from ohash.store.store import Store
from ohash.streams import registry
from ohash.streams.data_split import split
from ohash.streams.dataset import Dataset
from ohash.streams.pairs import make_stream
from ohash.sweeps.sweep import Cell

ROUNDING = 0.01  # mAP or hit@10 of a run here and of the recorded one that are as near count as equal
# Pairs that a warm-up may take before the first pair of a run; classes that arrive meanwhile are not new.
MAX_WARM_UP = 1000


class MissingCellError(Exception):
    """A cell that a claim needs is not in the store, or its trace is lost."""


class NotRunError(MissingCellError):
    """A cell that a claim needs has not been run, and no recording has it."""


@dataclass(frozen=True)
class FigurePoint:
    """A point of a figure: one method (or variant) on one setting at one value `x` of the varied parameter."""

    figure: str
    setting: str
    method: str
    x: Value


@dataclass(frozen=True)
class SeedResult:
    """One finished cell: a point of a figure with one seed."""

    key: str
    values: JsonObject
    recorded: bool = False

    def score(self, name: str = "map", part: str = "test") -> float:
        """A score on the test (or validation) queries."""
        return float(self.values[f"scores/{part}"][name])

    def number(self, name: str) -> float:
        """A final number of the run."""
        return float(self.values["numbers"][name])

    @property
    def bytes(self) -> int:
        """Per item, with what is stored beside the code.

        >>> SeedResult("", {"numbers": {"bits": 100}}).bytes
        13
        """
        return math.ceil(self.number("bits") / 8)


@dataclass(frozen=True)
class Repetition:
    """A cell that was recorded and run here, too; `point` is the first one that has it.

    `truth` is the score by which both are compared, and `origin` the commit of the recorded one in words.
    """

    point: FigurePoint
    seed: int
    truth: str
    own: float
    recorded: float
    origin: str = ""

    @property
    def gap(self) -> float:
        """What was scored here minus what is recorded."""
        return self.own - self.recorded

    @property
    def differs(self) -> bool:
        """Whether both are different runs.

        On another machine the sums of float32 round differently. A near-tie between bits that falls the other way sends
        a run down another path, where it is as good as with another seed.
        """
        return abs(self.gap) > ROUNDING

    @property
    def beyond_noise(self) -> bool:
        """Whether they differ by more than a change of seed may, so by more than rounding explains."""
        return abs(self.gap) > few_seeds_margin(1, self.truth)


class Measurements:
    """Reads the cells of one profile from a store and, where it has none, from a recording; never runs anything."""

    def __init__(
        self, store: Store, profile: Profile, recording: Recording | None = None, own: Dataset | None = None
    ) -> None:
        """Nothing is read yet. `own` are the user's own data, which then take the place of all others.

        `intervals` are bootstrap intervals: those that were recorded, then those that claims computed. `same_queries`
        tells whether all seeds are judged by the same test queries; those of the embedded data are drawn by the seed.
        """
        self.store, self.profile, self.recording, self.own = store, profile, recording, own
        self.data = None if own is None else own_settings(own)
        self.intervals = {} if recording is None else dict(recording.intervals)
        self.same_queries = own is not None and own.same_test_queries
        self._frames: dict[tuple[str, bool], JsonObject] = {}
        self._new_queries: dict[Hashable, npt.NDArray[np.bool_]] = {}
        self._cells: dict[str, dict[FigurePoint, list[Cell]]] = {}

    @cached_property
    def _results(self) -> dict[FigurePoint, list[SeedResult]]:
        cells = {point: cells for figure in FIGURES.values() for point, cells in self.cells(figure).items()}
        keys = [cell.key for group in cells.values() for cell in group]
        own = {key: values for key, values in self.store.values(keys).items() if values["state"] == "done"}
        recorded = {} if self.recording is None else self.recording.values(keys)
        results = {key: SeedResult(key, values, recorded=True) for key, values in recorded.items()}
        results |= {key: SeedResult(key, values) for key, values in own.items()}
        return {point: [results[cell.key] for cell in group if cell.key in results] for point, group in cells.items()}

    def counts(self, figures: Sequence[Figure] = tuple(FIGURES.values())) -> tuple[int, int]:
        """The user's own cells in these figures, and recorded ones that stand in for others; each counts once."""
        seeds = {seed.key: seed.recorded for seed in self._finished(figures)}
        return sum(not recorded for recorded in seeds.values()), sum(seeds.values())

    def origins(self, figures: Sequence[Figure]) -> list[str]:
        """The code that each recorded cell of these figures was run with, in words."""
        keys = dict.fromkeys(seed.key for seed in self._finished(figures) if seed.recorded)
        return [] if self.recording is None else [self.recording.origin(key) for key in keys]

    def repetitions(self, figures: Sequence[Figure] = tuple(FIGURES.values())) -> list[Repetition]:
        """The user's own cells that the recording has, too, each once, with both scores.

        The score is the one that figures draw: mAP, or hit@10 for clicks.
        """
        if self.recording is None:
            return []
        rows: dict[str, Repetition] = {}
        for setting, point in self._points(figures):
            numbers = {cell.key: cell.params.seed for cell in self.cells(FIGURES[point.figure])[point]}
            own = {seed.key: seed for seed in self._results[point] if not seed.recorded and seed.key not in rows}
            for key, values in self.recording.values(own).items():
                recorded = float(values["scores/test"][setting.truth])
                score, origin = own[key].score(setting.truth), self.recording.origin(key)
                rows[key] = Repetition(point, numbers[key], setting.truth, score, recorded, origin)
        return list(rows.values())

    def _points(self, figures: Sequence[Figure]) -> Iterator[tuple[Setting, FigurePoint]]:
        """The points of these figures, each with its data set."""
        for figure in figures:
            by_key = {setting.key: setting for setting in self.settings(figure)}
            yield from ((by_key[point.setting], point) for point in self.cells(figure))

    def _finished(self, figures: Sequence[Figure]) -> Iterator[SeedResult]:
        """The finished cells of these figures; one that several points share comes once for each."""
        return (seed for figure in figures for point in self.cells(figure) for seed in self._results[point])

    def settings(self, figure: Figure) -> tuple[Setting, ...]:
        """The data sets that a figure is drawn for."""
        return figure.settings(self.data)

    def dataset(self, setting: Setting) -> Dataset:
        """The data of a setting."""
        return self.own if self.own is not None else registry.load_by_key(setting.dataset)

    def cells(self, figure: Figure) -> dict[FigurePoint, list[Cell]]:
        """The cells of a figure by point, finished or not."""
        if figure.key in self._cells:
            return self._cells[figure.key]
        cells: dict[FigurePoint, list[Cell]] = {}
        by_data = {(one.dataset, one.similar_by): one for one in self.settings(figure)}
        for cell in figure.sweep(self.profile, self.data).cells if by_data else ():
            settings = dict(cell.at)
            setting = by_data[cell.params.dataset, cell.params.stream.similar_by]
            method = cell.params.method
            if figure.varies != "kernel" and settings["kernel"] != own_kernel(method):
                method = variant(method, settings["kernel"])
            point = FigurePoint(figure.key, setting.key, method, settings[figure.varies])
            cells.setdefault(point, []).append(cell)
        self._cells[figure.key] = cells
        return cells

    def seeds(self, figure: str, setting: Setting, method: str, x: Value) -> list[SeedResult]:
        """The finished cells of a point, one per seed; MissingCellError if there is none."""
        results = self._results.get(FigurePoint(figure, setting.key, method, x))
        what = f"{method} at {x} on {setting.title} (figure {figure})"
        if results is None:
            raise MissingCellError(self._absence(what, {method}))
        if not results:
            raise NotRunError(f"{what} has not been run")
        return results

    def replaced_seeds(self, figure: str, setting: Setting, method: str, x: Value) -> list[SeedResult]:
        """The recorded cells of a point that has the user's own cells, which take their place; else none."""
        point = FigurePoint(figure, setting.key, method, x)
        if self.recording is None or all(seed.recorded for seed in self._results.get(point, [])):
            return []
        recorded = self.recording.values([cell.key for cell in self.cells(FIGURES[figure])[point]])
        return [SeedResult(key, values, recorded=True) for key, values in recorded.items()]

    def has_run(self, figure: str, setting: Setting, method: str, x: Value) -> bool:
        """Whether a point has any finished cell."""
        return bool(self._results.get(FigurePoint(figure, setting.key, method, x)))

    def has(self, figure: str, setting: Setting, method: str) -> bool:
        """Whether a method has any finished cell in a figure."""
        return any(
            seeds and (point.figure, point.setting, point.method) == (figure, setting.key, method)
            for point, seeds in self._results.items()
        )

    def has_any(self, figure: str, method: str) -> bool:
        """Whether a method has any finished cell in a figure, on any data."""
        return any(seeds and (point.figure, point.method) == (figure, method) for point, seeds in self._results.items())

    def arrays(self, seed: SeedResult) -> JsonObject:
        """The arrays of a cell, read once."""
        at = seed.key, seed.recorded
        if at not in self._frames:
            recording = self.recording if seed.recorded else None
            self._frames[at] = self.store.frame(seed.key)[1] if recording is None else recording.arrays(seed.key)
        return self._frames[at]

    def ap(self, seeds: list[SeedResult]) -> list[Floats]:
        """The average precision of every test query, one array per seed."""
        aps = [self.arrays(seed).get("ap/test") for seed in seeds]
        if any(ap is None for ap in aps):
            raise MissingCellError(
                "the trace of a cell is lost: delete it with `ohash runs delete` and run the figure again"
            )
        return [np.asarray(ap) for ap in aps]

    def new_queries(self, setting: Setting, seed: SeedResult) -> npt.NDArray[np.bool_]:
        """Flags of the test queries of figure "arrival" whose class had not arrived when it was first judged.

        They are the same for all methods, as the stream is.
        """
        params = self._arrival_params[seed.key]
        stream_key = setting.key, params.seed, params.stream
        if stream_key not in self._new_queries:
            data = self.dataset(setting)
            stream = make_stream(data, params.stream, params.seed)
            test = split(data, params.seed, train=params.stream.train).test
            self._new_queries[stream_key] = np.asarray(stream.arrivals(test) > BEFORE_NEW + MAX_WARM_UP)
        return self._new_queries[stream_key]

    @cached_property
    def _arrival_params(self) -> dict[str, ExperimentParams]:
        cells = self.cells(FIGURES["arrival"])
        return {cell.key: cell.params for group in cells.values() for cell in group}

    def best(self, figure: str, setting: Setting, choices: list[tuple[str, Value]]) -> tuple[str, Value]:
        """The (method, x) with the highest mAP on validation queries, of those that were run."""
        means = {}
        for method, x in choices:
            seeds = self._results.get(FigurePoint(figure, setting.key, method, x), [])
            if seeds:
                means[method, x] = float(np.mean([seed.score(part="validation") for seed in seeds]))
        if not means:
            if not any(FigurePoint(figure, setting.key, *choice) in self._results for choice in choices):
                rivals = {method for method, _ in choices}
                what = f"what it is compared with in figure {figure} on {setting.title}"
                raise MissingCellError(self._absence(what, rivals))
            raise NotRunError(f"nothing of figure {figure} on {setting.title} has been run")
        return max(means, key=lambda choice: means[choice])

    def _absence(self, what: str, methods: set[str]) -> str:
        """Why there are no cells of these methods: they were left out, or the profile has none."""
        left_out = {one.method for one in self.profile.left_out if not one.kinds and not one.bits}
        return f"{what} {'was left out' if methods <= left_out else f'is not part of the {self.profile.key} profile'}"

    def progress(self, figure: Figure) -> tuple[int, int]:
        """Number of finished cells, and of all cells."""
        cells = self.cells(figure)
        return sum(len(self._results[point]) for point in cells), sum(map(len, cells.values()))

    def cost(self, *figures: Figure) -> float:
        """Total CPU seconds of the finished cells of these figures; a cell that several share counts once."""
        seeds = {seed.key: seed for seed in self._finished(figures)}
        spent = (seed.values for seed in seeds.values())
        return float(sum(values["cpu_seconds" if "cpu_seconds" in values else "seconds"] for values in spent))
