"""Options for a user's own files, shared by several commands."""

import argparse
from dataclasses import replace

from ohash.engine.params import OWN
from ohash.streams.dataset import METRICS, Dataset
from ohash.streams.readers.own_data import open_files
from ohash.streams.registry import load_by_key


def add_own_data_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for vectors, labels, pairs and distance."""
    parser.add_argument("--features", metavar="FILE", help="your own vectors: .npy, .npz, .csv, .parquet, .fvecs, ...")
    parser.add_argument("--labels", metavar="FILE", help="labels of --features")
    parser.add_argument(
        "--pairs-file", metavar="FILE", help="pairs i, j[, s][, time] of rows of --features, such as clicks"
    )
    parser.add_argument("--metric", choices=METRICS, help="original distance, instead of the one that the data declare")


def split_pairs_option(options: argparse.Namespace) -> None:
    """Split ``--pairs 5000`` (how many) from ``--pairs clicks.csv`` (which); both may be given."""
    texts = options.value_pairs or []
    numbers = [text for text in texts if is_number(text)]
    files = [text for text in texts if not is_number(text)]
    files += [options.pairs_file] if options.pairs_file else []
    if len(numbers) > 1 or len(files) > 1:
        raise ValueError(f"--pairs must be one number and one file at most, got {', '.join([*numbers, *files])}")
    options.value_pairs = numbers[0] if numbers else None
    options.pairs_file = files[0] if files else None


def is_number(text: str | None) -> bool:
    """Whether the value of --pairs is a number of pairs; anything else is a file."""
    return text is not None and text.strip().lstrip("+-").replace("_", "").isdigit()


def open_dataset(options: argparse.Namespace, name: str | None) -> Dataset | None:
    """The data set of --features; the named one if --metric changes its distance; else None."""
    if options.features:
        return open_files(options.features, options.labels, options.pairs_file, options.metric, key=OWN)
    if options.labels or options.pairs_file:
        raise ValueError(
            "--labels and --pairs FILE belong to --features FILE; in a data folder a TOML file next to the "
            "vectors names them"
        )
    return None if options.metric is None or name is None else replace(load_by_key(name), metric=options.metric)
