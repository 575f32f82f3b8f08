"""List every dataset, here or to be had, or describe one: rows, classes, norms, similar pairs, what to do.

Examples:
  python3 -m ohash data
  python3 -m ohash data fashion
  python3 -m ohash --data ~/vectors data
  python3 -m ohash data --features x.npy --labels y.npy
"""

import argparse

from ohash.streams.base import Dataset
from ohash.streams.readers.own import dataset_of_files
from ohash.streams.registry import datasets, load
from ohash.streams.summary import summarize


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("name", nargs="?", help="describe this dataset")
    parser.add_argument("--features", metavar="FILE", help="describe your own vectors")
    parser.add_argument("--labels", metavar="FILE", help="labels of --features")
    parser.add_argument("--pairs-file", metavar="FILE", help="pairs among --features")


def run(options: argparse.Namespace) -> int:
    """Print."""
    dataset: Dataset | None = None
    if options.features:
        dataset = dataset_of_files(options.features, options.labels, options.pairs_file)
    elif options.name:
        dataset = load(options.name)
    if dataset is not None:
        print("\n".join(summarize(dataset).lines()))
        return 0
    for key, spec in sorted(datasets().items(), key=lambda item: (item[1].group, item[0])):
        missing = spec.missing()
        size = f"{spec.n:,} x {spec.d}" if spec.n else "-"
        print(f"{spec.group:10} {key:20} {size:>16}  {spec.title}; {spec.task}; {spec.licence}")
        if missing:
            print(f"{'':10} {'':20} {'':>16}  not here: {missing}")
    return 0
