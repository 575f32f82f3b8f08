"""Options for a user's own files, shared by several commands."""

import argparse
from dataclasses import replace

from ohash.engine.export import PLACEHOLDER_FILES, Files
from ohash.engine.params import OWN
from ohash.streams.dataset import METRICS, Dataset
from ohash.streams.readers.own_data import open_files
from ohash.streams.readers.two_sides import open_two_sides
from ohash.streams.registry import load_by_key


def add_own_data_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for vectors, labels, pairs and distance."""
    parser.add_argument("--features", metavar="FILE", help="your own vectors: .npy, .npz, .csv, .parquet, .fvecs, ...")
    parser.add_argument("--labels", metavar="FILE", help="labels of --features")
    parser.add_argument(
        "--pairs-file", metavar="FILE", help="pairs i, j[, s][, time] of rows of --features, such as clicks"
    )
    parser.add_argument(
        "--docs", metavar="FILE", help="vectors of documents, searched by --queries; files as --features"
    )
    parser.add_argument("--queries", metavar="FILE", help="vectors of queries, as long as those of --docs")
    parser.add_argument(
        "--clicks", metavar="FILE",
        help="which documents were clicked for a query (query, item[, label][, time]) or judged (query-id, corpus-id, "
        "score): .csv, .tsv, .jsonl, .parquet",
    )  # fmt: skip
    parser.add_argument("--metric", choices=METRICS, help="original distance, instead of the one that the data declare")


def split_pairs_option(options: argparse.Namespace) -> None:
    """Split ``--pairs 5000`` (how many) from ``--pairs clicks.csv`` (which); both may be given."""
    texts = options.value_pairs or []
    numbers = [text for text in texts if is_number(text)]
    files = [text for text in texts if not is_number(text)]
    files += [options.pairs_file] if options.pairs_file else []
    if len(numbers) > 1 or len(files) > 1:
        raise ValueError(f"--pairs must be at most one number and one file, got {', '.join([*numbers, *files])}")
    options.value_pairs = numbers[0] if numbers else None
    options.pairs_file = files[0] if files else None


def _open_two_sides(options: argparse.Namespace) -> Dataset:
    if not (options.docs and options.queries):
        missing = "--docs FILE" if not options.docs else "--queries FILE"
        raise ValueError(f"--docs, --queries and --clicks belong together; give {missing} too")
    if options.features or options.labels or options.pairs_file:
        raise ValueError("--docs and --queries replace --features, --labels and --pairs FILE; give one or the other")
    return open_two_sides(options.docs, options.queries, options.clicks, options.metric, key=OWN)


def has_own_data(options: argparse.Namespace) -> bool:
    """Whether files of the user are named."""
    return bool(options.features or options.docs or options.queries or options.clicks)


def named_files(options: argparse.Namespace) -> Files:
    """The files that the options name, for code that opens them again."""
    if options.docs:
        return Files(options.docs, None, options.clicks, options.metric, options.queries)
    if options.features:
        return Files(options.features, options.labels, options.pairs_file, options.metric)
    return PLACEHOLDER_FILES


def is_number(text: str | None) -> bool:
    """Whether the value of --pairs is a number of pairs; anything else is a file."""
    return text is not None and text.strip().lstrip("+-").replace("_", "").isdigit()


def open_dataset(options: argparse.Namespace, name: str | None) -> Dataset | None:
    """The data set of --features or --docs; the named one if --metric changes its distance; else None."""
    if options.docs or options.queries or options.clicks:
        return _open_two_sides(options)
    if options.features:
        return open_files(options.features, options.labels, options.pairs_file, options.metric, key=OWN)
    if options.labels or options.pairs_file:
        raise ValueError(
            "--labels and --pairs FILE belong to --features FILE; in a data folder a TOML file next to the "
            "vectors names them"
        )
    return None if options.metric is None or name is None else replace(load_by_key(name), metric=options.metric)
