"""Rebuild the embedded samples of sample_data/ from their sources (extra `samples`), byte for byte."""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from ohash.runtime.frames import Arrays
from ohash.streams.datasets import debian, fashion, patches, words
from ohash.streams.samples import SourceMissingError, checksum, recorded_checksums, sample_folder, write_npz

Build = Callable[[Path | None], Arrays]
SAMPLES: dict[str, tuple[str, Build]] = {
    "debian": (debian.FILE, debian.build),
    "fashion": (fashion.FILE, fashion.build),
    "patches": (patches.FILE, patches.build),
    "words": (words.FILE, words.build),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `ohash samples`."""
    parser.add_argument("names", nargs="*", metavar="name", help=f"{', '.join(SAMPLES)} (default: all)")
    parser.add_argument("--out", type=Path, help="folder to write to (default: sample_data/ of the checkout)")
    parser.add_argument(
        "--full", type=Path, metavar="DIR",
        help="with debian: write every package that apt knows to DIR, a data folder, instead of the embedded part",
    )  # fmt: skip
    parser.add_argument("--sources", type=Path, help="folder with downloaded sources, searched first")


def run(args: argparse.Namespace) -> int:
    """Build the named samples; a missing source is reported and the others go on. 0 if all were built."""
    unknown = [name for name in args.names if name not in SAMPLES]
    if unknown:
        print(f"name must be one of {', '.join(SAMPLES)}, got {', '.join(unknown)}", file=sys.stderr)
        return 2
    if args.full is not None:
        return _build_full(args)
    out = args.out or _default_out()
    out.mkdir(parents=True, exist_ok=True)
    recorded = recorded_checksums(out) or recorded_checksums(sample_folder())
    failed = 0
    for name in dict.fromkeys(args.names or SAMPLES):
        file, build = SAMPLES[name]
        start = time.perf_counter()
        try:
            write_npz(out / file, build(args.sources))
        except (SourceMissingError, ValueError, OSError) as error:
            print(f"{name}: not built. {error}", file=sys.stderr)
            failed += 1
            continue
        digest = checksum(out / file)
        verdict = "as recorded" if recorded.get(file) == digest else "not what README.md records"
        size, seconds = (out / file).stat().st_size, time.perf_counter() - start
        print(f"{name}: {out / file}, {size:,} bytes in {seconds:.1f} s\n{digest}  {file}  ({verdict})")
    return 1 if failed else 0


def _build_full(args: argparse.Namespace) -> int:
    """Write the whole of a data set of which only a part is embedded."""
    if args.names != ["debian"] or args.out is not None:
        print("--full DIR goes with the name debian alone, and without --out", file=sys.stderr)
        return 2
    try:
        files = debian.build_full(args.full, args.sources)
    except (SourceMissingError, ValueError, OSError) as error:
        print(f"debian: not built. {error}", file=sys.stderr)
        return 1
    print(f"debian: wrote {', '.join(file.name for file in files)}; use it with: --data {args.full}")
    return 0


def _default_out() -> Path:
    """The folder of the checkout; without one, the current directory, not the installed package."""
    folder = sample_folder()
    return folder if folder.parent.name != "_app" else Path("sample_data")
