"""Should you learn codes from clicks, or rotate and rescore? Measures both, and answers in one sentence.

Examples:
  python3 -m ohash advise --docs d.parquet --queries q.parquet --clicks c.parquet
  python3 -m ohash advise --features x.npy --pairs-file clicks.csv --out answer/
  python3 -m ohash advise --features x.npy --labels y.npy     (pairs of one label stand for clicks)
  python3 -m ohash advise --dataset debian

The clicks up to each of three moments in time are learnt. Later clicks judge what was learnt, but only those of queries
from which nothing was learnt (their documents may have been learnt from). Rows appear as they are measured; --out
writes the numbers as CSV (contenders.csv; queries.csv has one row per query, from which every mean and interval
follows), the picture (SVG), and a page (HTML).
"""

import argparse
import sys
from pathlib import Path

from ohash.advice.export import contender_rows, engine_notes, protocol, query_rows, table
from ohash.advice.params import FIRST_DATASET, AdviceOptions, AdviceParams, rows
from ohash.advice.results import AdviceSnapshot
from ohash.advice.runner import AdviceRunner
from ohash.advice.verdict import Verdict, verdict
from ohash.cli import own_files
from ohash.cli.progress import ProgressBar
from ohash.engine.params import OWN
from ohash.runtime.files import write_file
from ohash.streams.registry import datasets, load_by_key
from ohash.table_files import rows_to_csv

POLL_SECONDS = 0.2
OPTIONS = {"queries": "--queries-per-split", "pairs": "--pairs", "splits": "--splits", "seed": "--seed"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Data, and one option per declared parameter."""
    names = ", ".join(sorted(datasets()))
    parser.add_argument("--dataset", help=f"a data set with labels or clicks: {names} (default {FIRST_DATASET})")
    own_files.add_own_data_options(parser)
    parser.add_argument("--out", metavar="DIR", help="write the numbers, the picture and a page there")
    parser.add_argument("--quiet", action="store_true", help="no progress; only the final table and the answer")
    for key, row in rows().items():
        parser.add_argument(
            OPTIONS[key], dest=f"value_{key}", metavar="N", help=f"{row.title} (default {row.default}). {row.help}"
        )


def run(options: argparse.Namespace) -> int:
    """Measure, print what is known as it grows, and the answer at the end."""
    if options.out and Path(options.out).exists() and not Path(options.out).is_dir():
        raise ValueError(f"--out must be a folder, got the file {options.out}; choose another")
    if options.dataset and own_files.has_own_data(options):
        raise ValueError("--dataset names a data set that is here; leave it out for your own files")
    name = options.dataset or FIRST_DATASET
    dataset = own_files.open_dataset(options, name)
    values = {
        key: row.parse(text) for key, row in rows().items() if (text := getattr(options, f"value_{key}")) is not None
    }
    own = own_files.has_own_data(options)
    content = dataset.fingerprint() if own and dataset is not None else ""
    params = AdviceParams(OWN if own else name, content, AdviceOptions(**values))
    runner = AdviceRunner(params, load_by_key(name) if dataset is None else dataset)
    try:
        _follow(runner.start(), quiet=options.quiet)
    except KeyboardInterrupt:
        runner.stop()
        _show(runner.snapshot())
        raise
    if runner.error:
        raise ValueError(runner.error)
    snapshot = runner.snapshot()
    answer = _show(snapshot)
    if options.out:
        names = write(snapshot, answer, Path(options.out))
        print(f"\nwrote {', '.join(names)} to {options.out}")
    return 0


def _follow(runner: AdviceRunner, *, quiet: bool) -> None:
    """Until it is over: each contender once it is measured in a first split, and every change of the answer."""
    bar, shown, sentence, count = ProgressBar(), set[str](), "", 0
    while not runner.finished.wait(POLL_SECONDS):
        now = runner.snapshot()
        if quiet:
            continue
        if len(now.measured) != count:
            count = len(now.measured)
            for one in now.measured:
                if one.key not in shown:
                    shown.add(one.key)
                    _say(f"{now.seconds:5.0f} s  {_line(now, one.key)}")
            answer = runner.answer()
            if answer.sentence != sentence and answer.decision != "waiting":
                sentence = answer.sentence
                _say(f"{now.seconds:5.0f} s  {sentence}")
        bar.show(now.share, f"{100 * now.share:.0f} %, {now.activity}", finished=False)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _line(now: AdviceSnapshot, key: str) -> str:
    size, found, kept = now.cost(key, "bytes"), now.mean(key, "truth"), now.mean(key, "recall")
    return f"{now.contender(key).title}: {size:,.0f} bytes, {now.truth} {found:.3f}, recall@10 {kept:.3f}"


def _show(snapshot: AdviceSnapshot) -> Verdict:
    """The table and the answer."""
    cells = table(snapshot)
    widths = [max(len(row[at]) for row in cells) for at in range(len(cells[0]))]
    for row in cells:
        first, *others = row
        print("  ".join([first.ljust(widths[0]), *(text.rjust(w) for text, w in zip(others, widths[1:], strict=True))]))
    answer = verdict(snapshot)
    print(f"\n{protocol(snapshot)}. Train, encode: CPU seconds; query: one query, one thread, scaled to all documents.")
    for note in engine_notes(snapshot):
        print(f"query, faiss {note}")
    for title, error in snapshot.errors.items():
        print(f"{title}: {error}")
    print(f"\n{answer.sentence}")
    for change in answer.changes:
        print(f"- {change}")
    return answer


def write(snapshot: AdviceSnapshot, answer: Verdict, folder: Path) -> list[str]:
    """All files of an answer; returns their names."""
    from ohash.plots.advice import CHARTS, found_by_bytes  # noqa: PLC0415 (heavy)
    from ohash.plots.renderers.plotly import to_html  # noqa: PLC0415
    from ohash.plots.renderers.svg import to_svg  # noqa: PLC0415

    folder.mkdir(parents=True, exist_ok=True)
    charts = {name: found_by_bytes(snapshot, score) for name, score in CHARTS.items()}
    facts = {
        "answer": answer.sentence,
        **{f"what would change it ({at})": text for at, text in enumerate(answer.changes, 1)},
        "measured": protocol(snapshot),
    }
    files = {
        "contenders.csv": rows_to_csv(contender_rows(snapshot)),
        "queries.csv": rows_to_csv(query_rows(snapshot)),
        "pareto.svg": to_svg(charts["clicks by bytes"], width=160, height=100),
        "answer.html": to_html(list(charts.values()), title=f"Learn or rotate? {snapshot.title}", facts=facts),
        "answer.txt": "\n".join([answer.sentence, *answer.changes]) + "\n",
    }
    for name, text in files.items():
        write_file(folder / name, text)
    return list(files)
