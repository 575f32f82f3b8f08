"""Write the playground as one HTML file: hash codes of points in the plane, learnt in the browser, without a server.

Examples:
  python3 -m ohash playground --html play.html
  python3 -m ohash playground --handouts handouts/      (one page to print per lesson)
"""

import argparse
from pathlib import Path

from ohash.runtime.files import write_file
from ohash.web.lessons import lessons


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("--html", metavar="FILE", help="file to write; any browser opens it from disk")
    parser.add_argument("--handouts", metavar="DIR", help="folder for the lessons as pages to print")


def run(options: argparse.Namespace) -> int:
    """Write the files."""
    from ohash.web.bundle import standalone  # noqa: PLC0415 (the charts behind it load pandas)

    if not options.html and not options.handouts:
        raise ValueError("say what to write: --html FILE, --handouts DIR, or both")
    if options.html:
        write_file(options.html, standalone())
        print(f"wrote {options.html}")
    if options.handouts:
        folder = Path(options.handouts)
        folder.mkdir(parents=True, exist_ok=True)
        known = lessons()
        for number, lesson in enumerate(known, start=1):
            write_file(folder / lesson.file_name(number), lesson.handout())
        print(f"wrote {len(known)} handouts to {folder}")
    return 0
