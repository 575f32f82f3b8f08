"""Encode a data set of any size with a saved model, on all cores or on a Dask cluster.

IN is a folder of Parquet files with a column of vectors, or a Lance data set; OUT gets Parquet files with id and code.
Both may be URLs that fsspec knows (s3://bucket/folder). Memory is bounded. What is done is not done again: after an
interruption, or when a worker was killed, call the same command once more. Bit k of a code is bit k % 8 of byte k // 8.

Examples:
  python3 -m ohash encode trained/model.npz embeddings/ codes/
  python3 -m ohash encode trained/model.npz s3://lake/embeddings s3://lake/codes --cluster tcp://scheduler:8786
"""

import argparse
import time

from ohash.production.encoding import encode_dataset, make_executor

REPORT_SECONDS = 2.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("model", metavar="MODEL.npz", help="a model saved by ohash")
    parser.add_argument("source", metavar="IN", help="folder of .parquet files, or a .lance data set")
    parser.add_argument("target", metavar="OUT", help="folder for the codes")
    parser.add_argument("--workers", type=int, help="processes (as many as there are cores)")
    parser.add_argument("--cluster", metavar="ADDRESS", help="the scheduler of a Dask cluster, tcp://host:8786")
    parser.add_argument("--column", help="the column of vectors, if there are several")
    parser.add_argument("--id", help="the column of ids (id or the like; else the row number)")


def run(options: argparse.Namespace) -> int:
    """Encode, and say how far it is."""
    if options.workers is not None and options.workers < 1:
        raise ValueError(f"--workers must be at least 1, got {options.workers}")
    start = printed = time.perf_counter()
    with make_executor(options.workers, options.cluster) as executor:
        for state in encode_dataset(
            options.model, options.source, options.target, executor, column=options.column, identity=options.id
        ):
            now = time.perf_counter()
            if state.done == 0:
                before = f", {state.done_before} of them done before" if state.done_before else ""
                print(f"{state.rows:,} rows in {state.partitions} partitions{before}", flush=True)
            elif now - printed > REPORT_SECONDS:
                printed = now
                print(f"{state.done_before + state.done} of {state.partitions} partitions, "
                      f"{state.rows_done / (now - start):,.0f} rows per second", flush=True)  # fmt: skip
    seconds = time.perf_counter() - start
    if state.rows_done:
        rows = state.rows_done
        print(
            f"encoded {rows:,} rows in {seconds:.3g} s: {rows / seconds:,.0f} per second, "
            f"{rows / state.seconds:,.0f} per core second"
        )
    print(f"codes are in {options.target}")
    if state.models > 1:
        print(f"a code has the bits of {state.models} models: engines rank by the sum of their distances, ohash by the "
              "smallest of them first")  # fmt: skip
    return 0
