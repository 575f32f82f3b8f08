"""Record the default preset; the landing page plays it while the live run starts.

The file belongs in sample_data/; record it again when the default preset or the history changes.
"""

import argparse

from ohash.engine.live.landing_recording import describe, record
from ohash.engine.live.presets import PRESETS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("--out", default="sample_data/recording.npz", help="file to write (sample_data/recording.npz)")
    parser.add_argument("--pairs", type=int, default=30_000, help="length of the recording (30000)")


def run(options: argparse.Namespace) -> int:
    """Record and describe."""
    record(PRESETS[0].params(), options.out, options.pairs)
    print(describe(options.out))
    return 0
