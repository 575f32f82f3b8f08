"""List every hashing method with what it consumes, its supervision and its parameters.

Methods are found by scan, in plugins (--plugin FILE, OHASH_PLUGINS) and in installed entry points.
"""

import argparse

from ohash.models.registry import hashers


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("--bibtex", action="store_true", help="print the BibTeX entries instead")


def run(options: argparse.Namespace) -> int:
    """Print the table."""
    for key, spec in sorted(hashers().items()):
        if options.bibtex:
            print(spec.bibtex, end="\n\n")
            continue
        print(f"{key:12} {spec.title:10} supervision: {spec.supervision:7} consumes: {spec.consumes:8} {spec.cite}")
        for row in spec.table.values():
            print(f"             {row.symbol or '-':>7} {row.key:9} {row.allowed:32} default {row.default!r}")
    return 0
