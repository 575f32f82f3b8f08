"""The options that name a user's own files, shared by the commands that take them."""

import argparse
from dataclasses import replace

from ohash.engine.params import OWN
from ohash.streams.dataset import METRICS, Dataset
from ohash.streams.readers.own_data import open_files
from ohash.streams.registry import load_by_key


def add_own_data_options(parser: argparse.ArgumentParser) -> None:
    """Vectors, labels, pairs, distance."""
    parser.add_argument("--features", metavar="FILE", help="your own vectors: .npy, .npz, .csv, .parquet, .fvecs, ...")
    parser.add_argument("--labels", metavar="FILE", help="labels of --features")
    parser.add_argument("--pairs-file", metavar="FILE", help="pairs i, j[, s][, time] among --features (clicks)")
    parser.add_argument("--metric", choices=METRICS, help="original distance, instead of the one the data declare")


def split_pairs_option(options: argparse.Namespace) -> None:
    """``--pairs 5000`` is how many, ``--pairs clicks.csv`` which; both may be said."""
    said = options.value_pairs or []
    numbers, files = ([text for text in said if is_number(text) == wanted] for wanted in (True, False))
    files += [options.pairs_file] if options.pairs_file else []
    if len(numbers) > 1 or len(files) > 1:
        raise ValueError(f"--pairs must be one number and one file at most, got {', '.join([*numbers, *files])}")
    options.value_pairs, options.pairs_file = (found[0] if found else None for found in (numbers, files))


def is_number(text: str | None) -> bool:
    """Whether the value of --pairs is a number of pairs; anything else names a file of them."""
    return text is not None and text.strip().lstrip("+-").replace("_", "").isdigit()


def open_dataset(options: argparse.Namespace, name: str | None) -> Dataset | None:
    """The dataset of --features; or the named one if --metric gives it another distance; else None."""
    if options.features:
        return open_files(options.features, options.labels, options.pairs_file, options.metric, key=OWN)
    if options.labels or options.pairs_file:
        raise ValueError(
            "--labels and --pairs FILE belong to --features FILE; in a data folder they are named in a TOML beside the "
            "vectors"
        )
    return None if options.metric is None or name is None else replace(load_by_key(name), metric=options.metric)
