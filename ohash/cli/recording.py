"""The option that writes a run as one HTML file."""

import argparse
from pathlib import Path
from urllib.parse import urlencode

from ohash.engine.export import facts
from ohash.engine.links import DEFAULT_ADDRESS
from ohash.engine.moments import Moments
from ohash.engine.run import Run


def add_option(parser: argparse.ArgumentParser) -> None:
    """--recording FILE."""
    parser.add_argument("--recording", metavar="FILE", help="write the run as one HTML file that plays it offline")


def check(options: argparse.Namespace) -> None:
    """Fail before the run, not after it."""
    if not options.recording:
        return
    file = Path(options.recording).absolute()
    if file.is_dir() or not file.parent.is_dir():
        raise ValueError(f"--recording must be a file in a folder that exists, got {options.recording}")


def write(moments: Moments, run: Run, options: argparse.Namespace) -> None:
    """Write the page, and say how large it is."""
    from ohash.web.recording import recording_page  # noqa: PLC0415 (the charts behind it load pandas)

    shown, dataset = moments.shown(run), run.world.dataset
    link = f"{DEFAULT_ADDRESS}?{urlencode(run.params.to_query())}"
    page = recording_page(shown, dataset, facts(shown[-1][0], dataset.title, link))
    Path(options.recording).write_text(page, encoding="utf-8")
    if not options.json:
        print(f"wrote {options.recording}: {len(shown)} moments, {len(page.encode()) / 1e6:.1f} MB")
