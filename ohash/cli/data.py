"""List every data set, available or not, or describe one: rows, classes, norms, similar pairs, advice.

Examples:
  python3 -m ohash data
  python3 -m ohash data fashion
  python3 -m ohash --data ~/vectors data
  python3 -m ohash data --features x.npy --labels y.npy --metric cosine
  python3 -m ohash data words --choose-defaults
"""

import argparse
from pathlib import Path

from ohash.cli import own_files
from ohash.engine.choosing_defaults import choose_defaults
from ohash.streams.chosen_defaults import read_chosen_defaults, write_chosen_defaults
from ohash.streams.dataset import DatasetSpec
from ohash.streams.readers.file_formats import READERS
from ohash.streams.registry import datasets, load_by_key
from ohash.streams.summary import summarize


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("name", nargs="?", help="describe this data set")
    own_files.add_own_data_options(parser)
    parser.add_argument("--pairs", dest="pairs_file", metavar="FILE", help="the same as --pairs-file")
    parser.add_argument(
        "--choose-defaults", action="store_true",
        help="measure which kernel, length, sigma, C and beta OH learns a built-in data set best with, over five "
        "seeds, and write them into the package (minutes per data set)",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Print."""
    if options.choose_defaults:
        return _choose_defaults(options.name)
    dataset = own_files.open_dataset(options, options.name)
    if dataset is None and options.name:
        if Path(options.name).suffix.lower() in READERS and options.name not in datasets():
            raise ValueError(f"{options.name} looks like a file; describe it with: --features {options.name}")
        dataset = load_by_key(options.name)
    if dataset is not None:
        print("\n".join(summarize(dataset).lines()))
        return 0
    for _, spec in sorted(datasets().items(), key=lambda item: (item[1].group, item[0])):
        print("\n".join(_lines(spec)))
    return 0


def _choose_defaults(name: str | None) -> int:
    """Measure the defaults of one built-in data set, or of all, and write them."""
    built_in = [key for key, spec in datasets().items() if spec.group in ("embedded", "synthetic")]
    if name is not None and name not in built_in:
        raise ValueError(f"--choose-defaults is for the built-in data sets, {', '.join(built_in)}, got {name!r}")
    entries = read_chosen_defaults()
    for key in [name] if name else built_in:
        entries[key] = choose_defaults(key, report=lambda line: print(line, flush=True))
        print(f"{key}: {entries[key]['values'] or 'the usual values'}; {entries[key]['why']}", flush=True)
        write_chosen_defaults(entries)
    return 0


def _lines(spec: DatasetSpec) -> list[str]:
    """A line of facts, and one that says how to get a data set that is missing."""
    missing = spec.missing()
    absent = "not installed" if spec.group == "package" else spec.status().removeprefix("is ")
    size = f"{spec.n:,} x {spec.d:,}" if spec.n else "-"
    details = "" if spec.group == "folder" and missing else f"; {spec.task}; {spec.licence}"
    line = f"{spec.group:10} {spec.key:24} {size:>15}  {absent if missing else 'available':14} {spec.title}{details}"
    note = missing or spec.size_note
    return [line, f"{'':53}{note}"] if note else [line]
