"""Run a sweep, a grid of experiments, on all cores or on a Dask cluster; finished cells are never run again.

Examples:
  python3 -m ohash sweep beta.toml
  python3 -m ohash sweep beta.toml --estimate
  python3 -m ohash sweep beta.toml --cluster tcp://scheduler:8786
  python3 -m ohash sweep beta.toml --export beta.csv --export beta.tex --export beta.bib --export beta.svg
  python3 -m ohash sweep methods.toml --plugin my.py --export m.tex   (compare: method = ["my", "oh"] in [grid])
  python3 -m ohash sweep beta.toml --features x.npy --labels y.npy     (on your own data, which the store keeps)

A spec is a TOML or JSON file:

  name = "beta"                      # its name
  seeds = 3                          # how many, or a list
  [base]                             # what all cells share
  dataset = "fashion"
  method = "oh"
  pairs = 20000
  [grid]                             # every combination of these
  beta = [0.3, 0.4, 0.5, 0.6]
  r = [16, 64]
  [random]                           # instead of a grid, or with one: settings drawn at random
  draws = 20
  C = [1e-4, 1]                      # the two ends of a range, or choices
  [halving]                          # stop poor settings early: the best third go on with three times the pairs
  factor = 3
  min_pairs = 1000                   # of the first round, at least

Every cell is stored as soon as it is finished (python3 -m ohash runs lists them), so Ctrl-C, a crash or a power cut
loses only the cells that were running: the same command resumes. Several processes may work on one sweep. Where another
program holds the database of the store, a sweep waits up to ten minutes.
"""

import argparse
import math
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path

from ohash.cli import own_files
from ohash.cli.progress import ProgressBar
from ohash.engine.judge import TRUTH_SCORES
from ohash.engine.narrative import amount, duration
from ohash.runtime.files import write_file
from ohash.runtime.pool import WorkerPool
from ohash.store.store import Store, StoreError
from ohash.sweeps.estimate import CellTimer, estimate_cost
from ohash.sweeps.execution import Progress, SweepExecution
from ohash.sweeps.executors import DaskExecutor, InlineExecutor
from ohash.sweeps.halving import OUTCOMES, planned_cells
from ohash.sweeps.report import to_bibtex, to_latex
from ohash.sweeps.results import (
    BestPoint,
    Point,
    best_points,
    bits_differ_from_r,
    collect_points,
    count_cells,
    halving_text,
    older_version_text,
    place_text,
    to_csv,
    truths_of,
)
from ohash.sweeps.saving import load_own_data, save_own_data, with_own_data
from ohash.sweeps.specification import check_datasets, read_sweep
from ohash.sweeps.sweep import Sweep

MAX_ERRORS = 10
WIDTH, HEIGHT = 88, 66  # millimetres of an exported figure: one column of a journal
EXPORTS = (".csv", ".tex", ".bib", ".svg", ".pdf")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("spec", metavar="SPEC", help="TOML or JSON file")
    add_execution_options(parser)
    own_files.add_own_data_options(parser)
    parser.add_argument("--estimate", action="store_true", help="print how long it will take, and stop")
    parser.add_argument(
        "--export",
        metavar="FILE",
        action="append",
        default=[],
        help="write the results, by the ending of FILE: .csv (one row per cell), .tex (mean and spread over seeds), "
        ".bib (sources), .svg or .pdf (a figure one column wide; .pdf needs chromium); may be repeated",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")


def add_execution_options(parser: argparse.ArgumentParser) -> None:
    """Options for where cells run, and where they are stored."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--workers", type=int, metavar="N", help="number of processes, one thread each (default: all cores)"
    )
    where.add_argument("--inline", action="store_true", help="run in this process, one cell after another")
    where.add_argument("--cluster", metavar="ADDRESS", help="run on a Dask cluster: its scheduler, tcp://host:8786")
    parser.add_argument("--store", metavar="DIR", help="another store than that in OHASH_HOME")


def run(options: argparse.Namespace) -> int:
    """Estimate, run, print the table, report the best."""
    _check_exports(options.export)
    sweep, store = read_sweep(options.spec), Store(options.store)
    if options.metric and not own_files.has_own_data(options):
        raise ValueError("--metric belongs to --features FILE; a named data set declares its own distance")
    data = own_files.open_dataset(options, None)
    if data is not None:
        sweep = with_own_data(sweep, data)
    _check_datasets(sweep, options.spec)
    if store.problem and store.writable:
        print(f"note: {store.problem}", file=sys.stderr)
    if options.estimate:
        cores = core_count(options)
        own = load_own_data(store, sweep) if data is None else {data.fingerprint(): data}
        planned = planned_cells(sweep, store.values(cell.key for cell in sweep.cells))
        cost = estimate_cost(planned, store, CellTimer(own, on_cell=EstimateProgress()))
        left = f"{cost.cells} of {amount(len(planned), 'cell')} {'is' if cost.cells == 1 else 'are'} left"
        print(f"{left}: about {duration(cost.on(cores))} on {amount(cores, 'core')}")
        return 0
    if data is not None:
        save_own_data(store, data)
    older = older_version_text(sweep, store)
    if older:
        print(f"note: {older}", file=sys.stderr)
    with shut_down_at_end(executor(options)) as where:
        code = run_sweep(sweep, store, where, quiet=options.quiet)
    print(table(sweep, collect_points(sweep, store)))
    if sweep.halving:
        print(halving_text(sweep, store))
    print(verdict(sweep, store))
    from ohash.plots import sweeps as charts  # noqa: PLC0415 (pandas only if it is needed)

    points = collect_points(sweep, store)
    for truth in truths_of(points):
        weights = charts.importance_text(sweep, points, truth)
        if weights:
            print(weights)
    for file in options.export:
        _export(sweep, store, Path(file))
        print(
            f"wrote {amount(count_cells(sweep, store), 'cell')} to {file}" if file.endswith(".csv") else f"wrote {file}"
        )
    return code


def _check_exports(files: list[str]) -> None:
    """Refuse an ending before the sweep has run for hours."""
    for file in files:
        if Path(file).suffix not in EXPORTS:
            raise ValueError(f"--export must end in {', '.join(EXPORTS)}, got {file}")


def _export(sweep: Sweep, store: Store, file: Path) -> None:
    points = collect_points(sweep, store)
    if file.suffix == ".csv":
        write_file(file, to_csv(sweep, store))
    elif file.suffix == ".tex":
        write_file(file, to_latex(sweep, points))
    elif file.suffix == ".bib":
        write_file(file, to_bibtex(sweep))
    else:
        from ohash.plots import sweeps as charts  # noqa: PLC0415
        from ohash.plots.chart import HeatMap  # noqa: PLC0415
        from ohash.plots.renderers.pdf import to_pdf  # noqa: PLC0415
        from ohash.plots.renderers.svg import heat_to_svg, to_svg  # noqa: PLC0415

        views = charts.views(sweep)
        if not views:
            raise ValueError(f"{sweep.name} has one point and no figure; vary a parameter or the method in [grid]")
        shown, *others = truths_of(points)
        if others:
            print(f"note: {file} draws {TRUTH_SCORES[shown]}, which points on clicks do not have", file=sys.stderr)
        drawn = charts.draw(sweep, points, shown, views[0])
        make: Callable[..., str] = heat_to_svg if isinstance(drawn, HeatMap) else to_svg
        svg = make(drawn, width=WIDTH, height=HEIGHT)
        if file.suffix == ".svg":
            write_file(file, svg)
        else:
            write_file(file, to_pdf(svg))


def _check_datasets(sweep: Sweep, spec: str) -> None:
    try:
        check_datasets(sweep)
    except ValueError as error:
        raise ValueError(f"{spec}: {error}") from error


def core_count(options: argparse.Namespace) -> int:
    """How many cells run in parallel on this machine."""
    return options.workers or (1 if options.inline else os.cpu_count() or 1)


def executor(options: argparse.Namespace) -> Executor:
    """The executor that the options select."""
    if options.inline:
        return InlineExecutor()
    if options.cluster:
        return DaskExecutor(options.cluster)
    return WorkerPool(options.workers)


@contextmanager
def shut_down_at_end(where: Executor) -> Iterator[Executor]:
    """Use an executor, and stop its work at the end."""
    try:
        yield where
    finally:
        where.shutdown(wait=True, cancel_futures=True)


def run_sweep(sweep: Sweep, store: Store, where: Executor, *, quiet: bool = False) -> int:
    """Run what is left, with progress; 0 if all went well, 1 if cells failed, 130 if stopped."""
    execution = SweepExecution(sweep, store, where, None if quiet else SweepProgress())
    with _stop_on_signals(execution):
        try:
            progress = execution.run()
        except StoreError as problem:
            finished = f"{execution.progress.done} of {execution.progress.total} cells are done"
            raise StoreError(f"{problem}; {finished}; once it can be written, the same command resumes") from problem
    for line in failures(execution.errors):
        print(line, file=sys.stderr)
    if execution.cancelled.is_set():
        print(
            f"stopped: {progress.done} of {progress.total} cells are stored; the same command resumes",
            file=sys.stderr,
        )
        return 130
    return 1 if progress.failed else 0


def failures(errors: Mapping[str, str]) -> list[str]:
    """Each error once, with the number of cells it occurred in, the most frequent first.

    >>> failures({"1f0c": "no room", "77ab": "no room", "90ee": "no data"})
    ['2 cells failed (1f0c, 77ab): no room', 'cell 90ee failed: no data']
    """
    by_error: dict[str, list[str]] = {}
    for key, error in errors.items():
        by_error.setdefault(error, []).append(key)
    lines = []
    for error, keys in sorted(by_error.items(), key=lambda one: -len(one[1]))[:MAX_ERRORS]:
        some = ", ".join(keys[:3]) + (", …" if len(keys) > 3 else "")
        lines.append(
            f"{len(keys)} cells failed ({some}): {error}" if len(keys) > 1 else f"cell {keys[0]} failed: {error}"
        )
    more = len(by_error) - MAX_ERRORS
    return lines + (
        [f"and {more} more kinds of errors: `python3 -m ohash runs --state error` lists them"] if more > 0 else []
    )


def table(sweep: Sweep, points: list[Point]) -> str:
    """One line per point: mean ± sd over seeds, on validation queries."""
    names = list(sweep.axes) or ["sweep"]
    bits = ["bits"] if bits_differ_from_r(points) else []
    more = ["halving"] if sweep.halving else []
    truths = truths_of(points)
    rows = [[*names, *bits, "seeds", *(TRUTH_SCORES[truth] for truth in truths), "recall@10", *more, "CPU s"]]
    for point in points:
        settings = dict(point.at)
        seeds = f"{len(point.numbers)}/{len(point.cells)}" + (f" ({point.failed} failed)" if point.failed else "")
        scores = [_mean_sd(point, name) for name in (*truths, "recall_10")]
        outcome = [OUTCOMES[point.outcome]] if sweep.halving else []
        place = [str(settings.get(name, "–")) for name in names] + [str(point.bits or "–") for _ in bits]
        rows.append([*place, seeds, *scores, *outcome, _seconds(point)])
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def _seconds(point: Point) -> str:
    return f"{point.mean('cpu_learn'):.2f}" if math.isfinite(point.mean("cpu_learn")) else "–"


def verdict(sweep: Sweep, store: Store) -> str:
    """The best points, chosen on validation queries, each reported once on test queries."""
    points = collect_points(sweep, store)
    lines = [_best_text(sweep, best, points) for best in best_points(sweep, store, points)]
    return "\n".join(lines) or "no cell is finished"


def _best_text(sweep: Sweep, best: BestPoint, points: list[Point]) -> str:
    settings = place_text(sweep, best.point, points)
    group = f" ({best.group})" if best.group else ""
    return f"best on validation queries{group}: {settings} ({best.score_title} {best.validation:.3f}); {best.test_text}"


@contextmanager
def _stop_on_signals(execution: SweepExecution) -> Iterator[None]:
    """Ctrl-C and SIGTERM stop the sweep; finished cells stay."""
    before = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        before[number] = signal.signal(number, lambda *_: execution.cancelled.set())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class EstimateProgress:
    """The progress of an estimate: which cell is being timed."""

    def __call__(self, at: int, total: int) -> None:
        """Show cell `at` of `total`."""
        if at == 1:
            self._bar = ProgressBar()
        self._bar.show(at / total, f"timing a cell, {at} of {total}", finished=at == total)


class SweepProgress:
    """The progress of a sweep."""

    def __init__(self) -> None:
        """Nothing is shown yet."""
        self._bar = ProgressBar()

    def __call__(self, progress: Progress) -> None:
        """Show cells, speed and the time left."""
        left = f", {duration(progress.left)} left" if math.isfinite(progress.left) else ""
        failed = f", {progress.failed} failed" if progress.failed else ""
        pace = f", {60 * progress.rate:.1f} per minute" if progress.rate > 0 else ""
        ended = progress.done + progress.failed
        how = "; waiting, as another program holds the database of the store" if progress.held else f"{pace}{left}"
        text = f"{progress.done} of {amount(progress.total, 'cell')}{failed}{how}"
        self._bar.show(ended / max(1, progress.total), text, finished=ended == progress.total)


def _mean_sd(point: Point, name: str) -> str:
    mean, sd = point.mean(name), point.sd(name)
    return "–" if math.isnan(mean) else f"{mean:.3f}" + (f" ± {sd:.3f}" if math.isfinite(sd) else "")
