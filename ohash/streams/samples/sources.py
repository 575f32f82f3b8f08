"""Where a sample's source is looked for, and what is said when it is not there."""

from collections.abc import Iterable
from pathlib import Path


class SourceMissingError(Exception):
    """What a sample is built from is not on this machine; the message says how to get it."""


def find(what: str, names: Iterable[str], sources: Path | None, installed: Iterable[Path], how: str) -> Path:
    """The first of `names` found in the folder `sources`, the current folder or where packages install it."""
    folders = [*([sources] if sources is not None else []), Path.cwd(), *installed]
    for folder in folders:
        for name in names:
            if (folder / name).is_file():
                return folder / name
    looked = ", ".join(str(folder) for folder in folders)
    raise SourceMissingError(f"{what} is not on this machine (looked in {looked}). {how}")
