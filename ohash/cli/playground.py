"""Write the playground as one HTML file: hash codes of points in the plane, learnt in the browser, without a server.

Examples:
  python3 -m ohash playground --html play.html
"""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("--html", metavar="FILE", required=True, help="file to write; any browser opens it from disk")


def run(options: argparse.Namespace) -> int:
    """Write the file."""
    from ohash.web import standalone  # noqa: PLC0415

    Path(options.html).write_text(standalone(), encoding="utf-8")
    print(f"wrote {options.html}")
    return 0
