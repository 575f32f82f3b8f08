"""The option that writes a run as one HTML file, or as an animated GIF."""

import argparse
from pathlib import Path
from urllib.parse import urlencode

from ohash.engine.export import facts
from ohash.engine.links import DEFAULT_ADDRESS
from ohash.engine.moments import Moments
from ohash.engine.run import Run


def add_option(parser: argparse.ArgumentParser) -> None:
    """--recording FILE."""
    parser.add_argument(
        "--recording", metavar="FILE",
        help="write the run as one HTML file that plays it offline, or, if it ends in .gif, as an animation for slides",
    )  # fmt: skip


def check(options: argparse.Namespace) -> None:
    """Fail before the run, not after it."""
    if not options.recording:
        return
    file = Path(options.recording).absolute()
    if file.is_dir() or not file.parent.is_dir():
        raise ValueError(f"--recording must be a file in a folder that exists, got {options.recording}")


def write(moments: Moments, run: Run, options: argparse.Namespace) -> None:
    """Write the file, and say how large it is."""
    from ohash.web.animation import recording_gif  # noqa: PLC0415 (the charts behind them load pandas)
    from ohash.web.continuation import continuation  # noqa: PLC0415
    from ohash.web.recording import recording_page  # noqa: PLC0415

    shown, dataset = moments.shown(run), run.world.dataset
    link = f"{DEFAULT_ADDRESS}?{urlencode(run.params.to_query())}"
    told = facts(shown[-1][0], dataset.title, link)
    if options.recording.lower().endswith(".gif"):
        data = recording_gif(shown, dataset, told["run"])
    else:
        more = continuation(run, [now for now, _ in shown])
        data = recording_page(shown, dataset, told, more=more).encode()
    Path(options.recording).write_bytes(data)
    if not options.json:
        print(f"wrote {options.recording}: {len(shown)} moments, {len(data) / 1e6:.1f} MB")
