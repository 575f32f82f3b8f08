"""Reproduce the paper: its figures on the available data, and a verdict on each of its claims.

Examples:
  python3 -m ohash paper                          (every figure, quick: about a quarter of an hour on two cores)
  python3 -m ohash paper 2 5                      (two figures)
  python3 -m ohash paper --profile full --estimate            (how long everything with five seeds will take)
  python3 -m ohash paper --profile full --cluster tcp://scheduler:8786
  python3 -m ohash paper --html report.html --svg figures/ --latex tables.tex --bibtex refs.bib
  python3 -m ohash paper --only-report --html report.html     (what is in the store, without running anything)
  python3 -m ohash paper --only-report --recorded --profile full          (what ships with ohash)
  python3 -m ohash paper 6 8 --plugin my.py --methods my --profile full --recorded      (your own among the others)
  python3 -m ohash paper --features x.npy --labels y.npy --seeds 3 --without fasthash   (the claims on your own data)

Figures are 2 to 8 as in the paper; kernel, centring, selection and rounds, which test its design; arrival and change,
which test what it says about new data; and methods and texts, every method here, on such data as the paper's and on
texts. The data sets of the paper are used if --data has them; --features puts your own in place of all others. Finished
cells are stored (python3 -m ohash runs), so the same command resumes where it was stopped.
"""

import argparse
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ohash.cli import own_files
from ohash.cli.sweep import EstimateProgress, add_execution_options, core_count, executor, run_sweep, shut_down_at_end
from ohash.core import validation
from ohash.engine.narrative import amount, duration
from ohash.models.registry import find
from ohash.paper.claims import CLAIMS, record_intervals
from ohash.paper.figures import FIGURES, Figure
from ohash.paper.findings import Finding, judge_claim
from ohash.paper.measurements import Measurements
from ohash.paper.protocol import PROFILES, Omission
from ohash.paper.provenance import MAX_LISTED, figure_sources, sources, trace_commits
from ohash.paper.recorded_results import read_recording, write_recording
from ohash.paper.tables import bibtex, claims_table, figure_table, not_drawn_text
from ohash.runtime.files import write_file
from ohash.store.store import Store
from ohash.streams.dataset import Dataset
from ohash.sweeps.estimate import CellTimer, CostEstimate, estimate_cost, machine_factor
from ohash.sweeps.saving import save_own_data

# Recorded cells, by their cost, that tell how fast this machine is: expensive ones, most of whose time is learning.
SAMPLED = (0.8, 0.85, 0.9)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=f"{', '.join(FIGURES)} (default: all)")
    parser.add_argument("--profile", choices=sorted(PROFILES), default="quick", help="quick (default) or full")
    parser.add_argument("--seeds", type=int, metavar="N", help="another number of seeds than the profile's")
    parser.add_argument(
        "--without", nargs="+", default=[], metavar="METHOD", help="methods to leave out, such as fasthash ssbc"
    )
    parser.add_argument(
        "--methods", nargs="+", default=[], metavar="METHOD",
        help="run these methods only, such as one of your own; with --recorded the others are as recorded",
    )  # fmt: skip
    add_execution_options(parser)
    own_files.add_own_data_options(parser)
    parser.add_argument("--estimate", action="store_true", help="print how long it will take, and stop")
    parser.add_argument("--only-report", action="store_true", help="run nothing, report what is in the store")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.add_argument("--html", metavar="FILE", help="write a self-contained HTML report")
    parser.add_argument("--svg", metavar="DIR", help="write the figures as SVG")
    parser.add_argument("--latex", metavar="FILE", help="write the tables (booktabs)")
    parser.add_argument("--bibtex", metavar="FILE", help="write the references to cite")
    parser.add_argument(
        "--record", metavar="FILE",
        help="write the results, thinned to what the Paper page draws; with --recorded those not run here, too",
    )  # fmt: skip
    parser.add_argument(
        "--trace", metavar="FILE",
        help="note in a recording the first commit of its checkout that holds each result, and stop",
    )  # fmt: skip
    parser.add_argument("--recorded", action="store_true", help="fill in cells that were not run from the recording")


def run(options: argparse.Namespace) -> int:
    """Run, judge, print, write."""
    if options.trace:
        return _trace(Path(options.trace))
    unknown = [name for name in options.figures if name not in FIGURES]
    if unknown:
        raise ValueError(f"FIGURE must be one of {', '.join(FIGURES)}, got {', '.join(unknown)}")
    own = _own_data(options)
    profile, store = PROFILES[options.profile], Store(options.store)
    if options.seeds is not None:
        profile = replace(profile, seeds=validation.integer("--seeds", options.seeds, 1))
    omitted = tuple(Omission(find(method).key, "--without") for method in options.without)
    if {one.method for one in omitted} & {"oh", "mmoh"}:
        raise ValueError("--without may leave out any method but OH and MMOH, which the claims are about")
    profile = replace(profile, left_out=(*profile.left_out, *omitted))
    measurements = Measurements(store, profile, read_recording() if options.recorded else None, own)
    figures = [FIGURES[name] for name in options.figures or FIGURES if measurements.settings(FIGURES[name])]
    only = [find(method).key for method in options.methods]
    if only:
        figures = [figure for figure in figures if figure.usable_methods(only, measurements.data)]
    if not figures and only:
        raise ValueError(f"none of these figures has {' or '.join(only)}")
    if not figures:
        raise ValueError(f"none of these figures can be drawn for {own.title if own else 'the data here'}")
    missing = not_drawn_text(measurements, [FIGURES[name] for name in options.figures or FIGURES])
    if missing:
        print(missing)
    if options.estimate:
        _print_estimate(figures, measurements, core_count(options), only)
        return 0
    if own is not None:
        save_own_data(store, own)
    code = 0
    if not options.only_report:
        with shut_down_at_end(executor(options)) as where:
            for figure in figures:
                print(f"{figure.place}: {figure.title}")
                sweep = figure.sweep(profile, measurements.data, only)
                code = max(code, run_sweep(sweep, store, where, quiet=options.quiet))
                if code == 130:
                    return code
    findings = judge_claims(measurements, figures)
    _print_sources(measurements, figures)
    for figure in figures:
        _print_figure(measurements, figure)
    _print_claims(findings)
    _write(options, measurements, figures, findings)
    return code


def _trace(file: Path) -> int:
    traced, unknown = trace_commits(file)
    left = f"; {unknown:,} {'is' if unknown == 1 else 'are'} in no commit yet" if unknown else ""
    print(f"wrote {file}: the first commit that holds the results is known for {amount(traced, 'cell')}{left}")
    return 0


def _own_data(options: argparse.Namespace) -> Dataset | None:
    """The data of --features."""
    if options.metric and not own_files.has_own_data(options):
        raise ValueError("--metric belongs to --features FILE; a named data set declares its own distance")
    if own_files.has_own_data(options) and (options.recorded or options.record or options.pairs_file):
        raise ValueError("--features goes with neither --recorded nor --record nor --pairs-file here")
    return own_files.open_dataset(options, None)


def _print_estimate(
    figures: Sequence[Figure], measurements: Measurements, cores: int, only: Sequence[str] = ()
) -> None:
    """The estimated time per figure and in total; a cell that two figures share counts once."""
    counted: set[str] = set()
    costs = []
    seconds, source = _recorded_seconds(figures, measurements)
    if source:
        print(source)
    own, profile, store = measurements.own, measurements.profile, measurements.store
    timer = CellTimer({} if own is None else {own.fingerprint(): own}, on_cell=EstimateProgress())
    for figure in figures:
        cells = [cell for cell in figure.sweep(profile, measurements.data, only).cells if cell.key not in counted]
        counted |= {cell.key for cell in cells}
        costs.append(estimate_cost(cells, store, timer, seconds))
        name = figure.place.partition(",")[0] if figure.key.isdigit() else figure.title
        print(f"{name}: {_estimate_text(costs[-1], len(cells), cores)}", flush=True)
    total = CostEstimate(sum(cost.cells for cost in costs), sum(cost.seconds for cost in costs), 0)
    print(f"{profile.title}: {_estimate_text(total, len(counted), cores)}")


def _recorded_seconds(figures: Sequence[Figure], measurements: Measurements) -> tuple[dict[str, float], str]:
    """What the recorded cells would take here, by key, and a sentence about it; nothing for the user's own data."""
    recording = None if measurements.own is not None else read_recording()
    if recording is None:
        return {}, ""
    cells = {cell.key: cell.params for figure in figures for cell in figure.sweep(measurements.profile).cells}
    spent = recording.values(cells).items()
    recorded = {key: values["cpu_seconds" if "cpu_seconds" in values else "seconds"] for key, values in spent}
    left = {key: recorded[key] for key in recorded if key not in measurements.store.done()}
    if not left:
        return {}, ""
    by_cost = sorted((key for key in left if find(cells[key].method).consumes != "batch"), key=lambda key: left[key])
    samples = dict.fromkeys(by_cost[int(share * len(by_cost))] for share in SAMPLED if by_cost)
    factor = machine_factor({cells[key]: left[key] for key in samples})
    source = f"Times were {recording.text}; here cells take {factor:.2g} times as long, by {len(samples)} of them."
    return {key: factor * seconds for key, seconds in recorded.items()}, source


def _estimate_text(cost: CostEstimate, cells: int, cores: int) -> str:
    return f"{cost.cells:,} of {cells:,} cells are left: about {duration(cost.on(cores))} on {cores} cores"


def judge_claims(measurements: Measurements, figures: Sequence[Figure]) -> list[Finding]:
    """Judge the claims that these figures decide; on the user's own data, those about such data."""
    shown = {figure.key for figure in figures}
    decided = [claim for claim in CLAIMS if set(claim.figures) <= shown and (claim.figures or measurements.own is None)]
    findings = [judge_claim(claim, measurements) for claim in decided]
    return [finding for finding in findings if finding.parts]


def _print_sources(measurements: Measurements, figures: Sequence[Figure]) -> None:
    """Which numbers were recorded and which are one's own, and the largest differences between the two."""
    origins = sources(measurements, figures)
    if origins is None:
        return
    print(textwrap.fill(f"Sources: {origins.text}", 100))
    for one in origins.differing[:MAX_LISTED]:
        print(f"  {one}")
    if len(origins.differing) > MAX_LISTED:
        print(f"  and {len(origins.differing) - MAX_LISTED:,} more")


def _print_figure(measurements: Measurements, figure: Figure) -> None:
    table = figure_table(measurements, figure)
    done, total = measurements.progress(figure)
    origin = figure_sources(measurements, figure)
    which = f" ({origin})" if origin else ""
    print(f"\n{table.title}; {done} of {total} cells{which}, {duration(measurements.cost(figure))} of CPU time")
    widths = [max(len(row[at]) for row in (table.header, *table.rows)) for at in range(len(table.header))]
    for row in (table.header, *table.rows):
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _print_claims(findings: Sequence[Finding]) -> None:
    print("\nClaims")
    for finding in findings:
        notes = "".join(f"; {text}" for text in (finding.held_text, finding.reason) if text)
        print(f"  {finding.verdict.upper():14} {finding.claim.text} ({finding.claim.place}{notes})")
        print(textwrap.indent(textwrap.fill(finding.claim.test, 100), " " * 17))
        for part in finding.parts:
            kind = "" if part.effect is None or finding.interval else f" ({part.effect.interval})"
            effect = "" if part.effect is None else f": {part.effect}{kind}"
            print(f"{'':17}- {part.setting}, {part.what or part.note}{effect} -> {part.verdict_text}")
        if finding.interval:
            print(f"{'':17}Interval: {finding.interval}.")
        if finding.stand_ins:
            print(f"{'':17}{finding.stand_ins}")


def _write(
    options: argparse.Namespace, measurements: Measurements, figures: Sequence[Figure], findings: Sequence[Finding]
) -> None:
    if options.html:
        from ohash.plots.paper_report import report  # noqa: PLC0415 (pandas only if it is needed)

        write_file(options.html, report(measurements, figures, findings))
        print(f"wrote {options.html}")
    if options.svg:
        from ohash.plots.paper import charts  # noqa: PLC0415
        from ohash.plots.renderers.svg import to_svg  # noqa: PLC0415

        folder = Path(options.svg)
        folder.mkdir(parents=True, exist_ok=True)
        for figure in figures:
            for at, chart in enumerate(charts(measurements, figure), 1):
                write_file(folder / f"figure-{figure.key}-{at}.svg", to_svg(chart))
        print(f"wrote figures to {folder}")
    if options.latex:
        tables = [figure_table(measurements, figure).latex() for figure in figures]
        write_file(options.latex, "\n".join([*tables, claims_table(findings).latex()]))
        print(f"wrote {options.latex}")
    if options.record:
        file, profile = Path(options.record), measurements.profile
        count = write_recording(measurements.store, profile, file, measurements.recording)
        record_intervals(file, profile)
        print(f"wrote {options.record}, {count:,} cells")
    if options.bibtex:
        write_file(options.bibtex, bibtex(measurements))
        print(f"wrote {options.bibtex}")
