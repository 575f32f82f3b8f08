"""Run one experiment without the dashboard: progress in the terminal, results as files.

Examples:
  python3 -m ohash run --dataset digits --method oh --r 48 --pairs 20000
  python3 -m ohash run --dataset fashion --method mmoh --T 4 --beta 0.4 --out results/
  python3 -m ohash run --features x.npy --labels y.npy --method oh --r 256
  python3 -m ohash run --features x.npy --pairs clicks.parquet --judged-by test
  python3 -m ohash --data ~/cifar run --dataset cifar10 --paper    (the paper's parameters and features)
  python3 -m ohash run --dataset digits --pairs 1000000 --save long.npz   (Ctrl-C, then --resume long.npz)
  python3 -m ohash run --dataset fashion --recording run.html   (one HTML file that plays the run)
  python3 -m ohash run --link "dataset=digits&method=oh&r=64&seed=3"

Every parameter of the method, the feature map, the stream, the drift and the run is an option of the same name
(python3 -m ohash methods lists those of the methods). Curves are judged on validation queries; the final lines also
report the test queries.
"""

import argparse
import json
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

from ohash.cli import own_files
from ohash.cli.progress import ProgressBar
from ohash.cli.run_report import progress_text, report_text
from ohash.core.features import FeatureParams
from ohash.core.parameters import Parameter, Settings, parameter_table, unknown_parameter
from ohash.engine import saving
from ohash.engine.export import facts, summary, write
from ohash.engine.links import DEFAULT_ADDRESS, from_query, query_of, with_changes
from ohash.engine.moments import Moments
from ohash.engine.narrative import amount
from ohash.engine.params import (
    DEFAULTS_FOR_OTHER_DATA,
    SEED,
    ExperimentParams,
    RunParams,
    experiment,
    flat,
    paper_key,
    protocol,
    rows_of,
)
from ohash.engine.run import Run
from ohash.engine.snapshot import Snapshot
from ohash.engine.world import world_of
from ohash.models.registry import hashers
from ohash.paper.settings import EMBEDDED, LABELLED, Setting
from ohash.runtime.files import describe_error, home, write_file
from ohash.runtime.frames import JsonObject
from ohash.runtime.progress import listen_to_progress
from ohash.streams.dataset import Dataset
from ohash.streams.drift import DriftParams
from ohash.streams.pairs import StreamParams
from ohash.streams.registry import datasets, find_dataset

CHUNK = 4096
MAIN = ("oh", "mmoh")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One option per declared parameter of all methods."""
    parser.add_argument("--dataset", help="digits (default), or one of: " + ", ".join(sorted(datasets())))
    parser.add_argument("--method", help="oh (default), or one of: " + ", ".join(sorted(hashers())))
    own_files.add_own_data_options(parser)
    parser.add_argument("--paper", action="store_true", help="use the paper's parameters and features for --dataset")
    parser.add_argument(
        "--link", metavar="QUERY", help="take the experiment from a dashboard link; other options change it"
    )
    parser.add_argument(
        "--changes", metavar="PAIR:NAME:VALUE,...", help="change beta or C at that pair, e.g. 5000:C:0.01"
    )
    parser.add_argument("--out", metavar="DIR", help="write history, checkpoints, summary, code and model there")
    parser.add_argument(
        "--recording", metavar="FILE",
        help="write the run as one HTML file that plays it offline, or, if it ends in .gif, as an animation for slides",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.add_argument("--resume", metavar="FILE", help="resume a run saved by --save")
    parser.add_argument("--save", metavar="FILE", help="save the whole run at the end or at Ctrl-C, to resume it later")
    parser.usage = "python3 -m ohash run [options]"
    taken = {option for action in parser._actions for option in action.option_strings}
    for title, rows in _groups().items():
        group = parser.add_argument_group(title)
        for key, declared in rows.items():
            name = f"--{key.replace('_', '-')}"
            group.add_argument(
                f"--param-{key}" if name in taken else name,
                dest=f"value_{key}",
                metavar="VALUE",
                action="append" if key == "pairs" else "store",  # a number of pairs, and a file of pairs
                help=" ".join(_help(row, methods) for row, methods in declared).replace("%", "%%"),
            )


def run(options: argparse.Namespace) -> int:
    """Run, show progress, write the results."""
    own_files.split_pairs_option(options)
    if options.link and (options.dataset or options.method):
        raise ValueError("--link already names data set and method; leave out --dataset and --method, or the link")
    options.dataset, options.method = options.dataset or "digits", options.method or "oh"
    if options.link and (options.paper or (options.metric and not own_files.has_own_data(options))):
        raise ValueError("--paper and --metric go with --dataset; a --link is complete in itself")
    if options.paper and not own_files.has_own_data(options):
        options.dataset = paper_key(options.dataset)
    _check_writable(options)
    dataset = own_files.open_dataset(options, options.dataset)
    quiet = options.quiet or options.json
    current = _resume(options, dataset) if options.resume else _start(options, dataset, quiet=quiet)
    for note in [*current.notes, *_batch_notes(current), *_paper_notes(options)] if not options.json else ():
        print(f"note: {note}")
    moments = Moments() if options.recording else None
    try:
        now = _run_to_end(current, moments, quiet=quiet)
    except KeyboardInterrupt:
        if options.save:
            saving.save(current, options.save)
            print(f"\ninterrupted at pair {current.t:,}; resume with --resume {options.save}", file=sys.stderr)
        raise
    chance = current.checkpoints.judge.chance()
    report = summary(now) | {"test": current.checkpoints.evaluate_on("test").scores}
    report["notes"] += _paper_notes(options)
    try:
        _write_files(options, current, report, moments)
    except OSError as error:
        raise OSError(f"{describe_error(error)}{_save_elsewhere(current)}") from error
    finally:
        print(
            json.dumps(report, indent=2)
            if options.json
            else report_text(now, report["test"], current.world.dataset.metric, chance)
        )
    return 0


def _write_files(options: argparse.Namespace, run: Run, report: JsonObject, moments: Moments | None) -> None:
    """All files that were asked for; first the one that the others can be made from."""
    if options.save:
        saving.save(run, options.save)
    if options.out:
        files = write(run.snapshot("done"), run.model(), options.out, own_files.named_files(options))
        write_file(Path(options.out) / "run.json", json.dumps(report, indent=2))
        if not options.json:
            print(f"wrote {', '.join(file.name for file in files)} to {options.out}")
    if moments is not None:
        _write_recording(moments, run, options)


def _save_elsewhere(run: Run) -> str:
    """Save a run whose files could not be written where there is room, and say how to get them; "" if nowhere is."""
    for folder in (home(), Path(tempfile.gettempdir())):
        file = folder / f"unwritten-{run.params.key()}.npz"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            saving.save(run, file)
        except OSError:
            continue
        return f"; the run is kept: python3 -m ohash run --resume {file} --out DIR writes its files"
    return ""


def _check_writable(options: argparse.Namespace) -> None:
    """Fail before the run, not after it."""
    if options.save and not Path(options.save).absolute().parent.is_dir():
        raise ValueError(f"--save must be a file in a folder that exists, got {options.save}; create the folder first")
    if options.recording:
        file = Path(options.recording).absolute()
        if file.is_dir() or not file.parent.is_dir():
            raise ValueError(f"--recording must be a file in a folder that exists, got {options.recording}")
        if file.suffix.lower() not in (".html", ".htm", ".gif"):
            raise ValueError(f"--recording must end in .html or, for slides, in .gif, got {options.recording}")
    if options.out and Path(options.out).exists() and not Path(options.out).is_dir():
        raise ValueError(f"--out must be a folder, got the file {options.out}; choose another")


def _start(options: argparse.Namespace, dataset: Dataset | None, *, quiet: bool) -> Run:
    """A new run; says which method an alias means, and that a first fit may take a while."""
    params = _params(options, dataset)
    spec = hashers()[params.method]
    if not quiet and not options.link and options.method.lower() != spec.key:
        print(f"{options.method} is {spec.key} ({spec.title}: {', '.join(spec.aliases)})", file=sys.stderr)
    if not quiet and spec.consumes == "batch":
        rows = len(world_of(params, dataset).warm_rows)
        print(f"fitting {spec.title} to the first {amount(rows, 'row')}", file=sys.stderr)
    return Run(params, dataset)


def _resume(options: argparse.Namespace, dataset: Dataset | None) -> Run:
    """A saved run; only its length may be changed."""
    others = [key[6:] for key, value in vars(options).items() if key.startswith("value_") and value is not None]
    others += ["changes"] * bool(options.changes)
    fixed = sorted(set(others) - {"pairs"})
    if fixed:
        raise ValueError(f"--resume keeps the parameters of the saved run; leave out {', '.join(fixed)}")
    current = saving.load(options.resume, dataset)
    if options.value_pairs is not None:
        current.extend(rows_of(current.params)["pairs"].parse(options.value_pairs))
    return current


def _help(row: Parameter, methods: str) -> str:
    return f"{row.title} ({row.allowed}; default {row.default!r}{methods}). {row.help}"


def _groups() -> dict[str, dict[str, list[tuple[Parameter, str]]]]:
    """Every declared parameter, grouped, those of OH as OH declares them; of others each meaning with its methods."""
    own: dict[str, list[tuple[Parameter, str]]] = {}
    others: dict[str, dict[str, tuple[Parameter, list[str]]]] = {}
    for method in sorted(hashers(), key=lambda key: (key not in MAIN, key)):
        defaults = flat(experiment("digits", method))  # a run centres by default, a model does not
        for key, declared in hashers()[method].table.items():
            row = replace(declared, default=defaults[key])
            if method in MAIN:
                own.setdefault(key, [(row, "")])
            elif key not in own:
                others.setdefault(key, {}).setdefault(_help(row, ""), (row, []))[1].append(method)
    groups = {"OH and MMOH (other methods may allow other values)": own}
    for title, part in (("stream", StreamParams), ("feature map", FeatureParams), ("drift", DriftParams)):
        groups[title] = {key: [(row, "")] for key, row in parameter_table(part).items()}
    groups["run"] = {key: [(row, "")] for key, row in {"seed": SEED, **parameter_table(RunParams)}.items()}
    groups["other methods"] = {
        key: [(row, f"; {', '.join(methods)}") for row, methods in meanings.values()]
        for key, meanings in sorted(others.items())
    }
    own.pop("seed", None)
    return groups


def _params(options: argparse.Namespace, dataset: Dataset | None) -> ExperimentParams:
    values: Settings = {}
    if options.link:
        params, problems = from_query(query_of(options.link))
        for problem in problems:
            print(f"link: {problem}", file=sys.stderr)
    else:
        key = options.dataset if dataset is None else dataset.key
        start = protocol if options.paper else experiment
        params = replace(start(key, options.method), content="" if dataset is None else dataset.fingerprint())
        stand_in = _stand_in(options)
        if stand_in is not None and "beta" in rows_of(params):
            params = params.with_values(beta=stand_in.beta)
    rows = rows_of(params)
    for key, value in vars(options).items():
        name = key.removeprefix("value_")
        if key.startswith("value_") and value is not None:
            if name not in rows:
                raise unknown_parameter(params.method, name, sorted(rows))
            values[name] = rows[name].parse(value)
    return with_changes(params.with_values(**values), options.changes or "")


def _run_to_end(current: Run, moments: Moments | None, *, quiet: bool) -> Snapshot:
    start, bar = time.perf_counter(), ProgressBar()

    def show(fitted: float = 0.0) -> None:
        if not quiet:
            text = progress_text(current, time.perf_counter() - start, fitted)
            bar.show(current.t / max(1, current.end), text, finished=current.done)

    with _interrupt_between_steps() as interrupted, listen_to_progress(show):
        while not current.done:
            current.step(CHUNK)
            if moments is not None:
                moments.watch(current)
            show()
            if interrupted.is_set() and not current.done:
                raise KeyboardInterrupt
    return current.snapshot("done")


@contextmanager
def _interrupt_between_steps() -> Iterator[threading.Event]:
    """The first Ctrl-C waits for the end of the step, so that a consistent run is saved; a second one does not wait."""
    interrupted = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return

    def interrupt(*_: object) -> None:
        if interrupted.is_set():
            raise SystemExit(130)
        interrupted.set()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)


def _batch_notes(current: Run) -> list[str]:
    """A batch method is refitted at every checkpoint, which may take long."""
    refitted = current.spec.consumes == "batch" and current.params.run.judged_at == "curve"
    note = f"{current.spec.title} is refitted at every checkpoint; --judged-at ends or --fit-to all is faster"
    return [note] if refitted else []


def _paper_notes(options: argparse.Namespace) -> list[str]:
    """What --paper means for data that are not in the paper."""
    if (
        not options.paper
        or options.resume
        or (not own_files.has_own_data(options) and find_dataset(options.dataset).presets)
    ):
        return []
    name = options.features or options.docs or options.dataset
    names = ", ".join(key for key, spec in sorted(datasets().items()) if spec.group == "paper")
    stand_in = _stand_in(options)
    beta = DEFAULTS_FOR_OTHER_DATA["beta"] if stand_in is None else stand_in.beta
    as_for = "" if stand_in is None else f" as for {stand_in.paper}, in whose place `ohash paper` runs it,"
    chosen = f", with beta = {beta:g}{as_for}" if options.value_beta is None else ""
    return [
        f"{name} is not one of the paper's data sets ({names}): it gets the parameters of Section VII-B{chosen} and "
        "its own similarity"
    ]


def _stand_in(options: argparse.Namespace) -> Setting | None:
    """The setting of `ohash paper` that has this data set in place of one of the paper's, so that both agree."""
    if not options.paper or own_files.has_own_data(options):
        return None
    similar_by = options.value_similar_by or "auto"
    of_dataset = [one for one in EMBEDDED if one.dataset == options.dataset]
    matching = [one for one in of_dataset if similar_by in (one.similar_by, "auto" if one.kind in LABELLED else "")]
    return matching[0] if matching else None


def _write_recording(moments: Moments, run: Run, options: argparse.Namespace) -> None:
    """Write the run as one HTML file, or as an animated GIF, and say how large it is."""
    from ohash.web.animation import recording_gif  # noqa: PLC0415 (the charts behind them load pandas)
    from ohash.web.continuation import continuation  # noqa: PLC0415
    from ohash.web.recording import recording_page  # noqa: PLC0415

    shown, dataset = moments.with_curves(run), run.world.dataset
    link = f"{DEFAULT_ADDRESS}?{urlencode(run.params.to_query())}"
    card = facts(shown[-1][0], dataset.title, link)
    if options.recording.lower().endswith(".gif"):
        data = recording_gif(shown, dataset, card["run"])
    else:
        more = continuation(run, [now for now, _ in shown])
        data = recording_page(shown, dataset, card, more=more).encode()
    write_file(options.recording, data)
    if not options.json:
        print(f"wrote {options.recording}: {len(shown)} moments, {len(data) / 1e6:.1f} MB")
