"""List every hashing method: supervision, features it was made for, what it was checked against, parameters.

Examples:
  python3 -m ohash methods
  python3 -m ohash methods sketch_hash
  python3 -m ohash methods --bibtex > methods.bib

Methods come from ohash itself, from plugins (--plugin FILE, OHASH_PLUGINS) and from installed entry points. A method
may have several names in the literature: aliases work, too.
"""

import argparse
import textwrap

from ohash.models.base import HasherSpec
from ohash.models.registry import ABSENT, find, hashers
from ohash.table_files import bibliography


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("name", nargs="?", help="show this method in full, by key, title or alias")
    parser.add_argument("--bibtex", action="store_true", help="print the BibTeX entries instead")


def run(options: argparse.Namespace) -> int:
    """Print the table, or one method in full."""
    specs = sorted(hashers().values(), key=lambda spec: spec.key) if options.name is None else [find(options.name)]
    if options.bibtex:
        print(bibliography(spec.bibtex for spec in specs), end="")
        return 0
    rows = [row for spec in specs for row in spec.table.values()]
    name, allowed = (
        max(len(text) for text in texts) for texts in zip(*((r.key, r.allowed) for r in rows), strict=True)
    )
    key, title = (max(len(text) for text in texts) for texts in zip(*((s.key, s.title) for s in specs), strict=True))
    for spec in specs:
        print(_head(spec, key, title))
        if options.name is None:
            for text in (f"Made for {spec.features_text}.", spec.checked_text):
                print(
                    textwrap.fill(
                        text, 110, initial_indent=" " * 17, subsequent_indent=" " * 19, break_on_hyphens=False
                    )
                )
        for row in spec.table.values():
            print(
                f"             {row.symbol or '-':>7} {row.key:{name}} {row.allowed:{allowed}} default {row.default!r}"
            )
            if options.name is not None:
                print(textwrap.indent(textwrap.fill(row.help, 90), " " * 32))
    if options.name is not None:
        print(_details(specs[0]))
        return 0
    print()
    for absent in ABSENT:
        print(textwrap.fill(str(absent), 110))
    return 0


def _head(spec: HasherSpec, key: int, title: int) -> str:
    needs = f"supervision: {spec.supervision:7} consumes: {spec.consumes:8}"
    line = f"{spec.key:{key}} {spec.title:{title}} {needs} {spec.cite}"
    if spec.aliases:
        line += f"\n{'':16} also: {', '.join(spec.aliases)}"
    if spec.missing:
        line += f"\n{'':16} needs: {spec.missing}"
    return line


def _details(spec: HasherSpec) -> str:
    ranking = "its own distance from a float query to a code" if spec.asymmetric else "Hamming distance"
    differs = (
        textwrap.fill(f"Differs from the original: {spec.differs}", 110, break_on_hyphens=False) if spec.differs else ""
    )
    features = textwrap.fill(f"Made for {spec.features_text}.", 110, break_on_hyphens=False)
    checked = textwrap.fill(spec.checked_text, 110, break_on_hyphens=False)
    return "\n\n".join(part for part in (f"Ranked by {ranking}.", features, differs, checked, spec.bibtex) if part)
