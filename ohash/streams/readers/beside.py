"""The optional TOML beside a file of vectors: ``x.toml`` says what ``x.npy`` means. Paths in it stay inside the folder.

title = "Product photos"
labels = "y.npy"          # or pairs = "clicks.parquet"
metric = "cosine"         # or "dot", "l2"
queries = [100, 500]      # validation, test
kernel = "none"           # or "rbf"
variable = "gist"         # which matrix of an .npz, .mat or .hdf5, which list column of a .parquet
licence = "CC BY 4.0"
cite = "..."
note = "..."
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ohash.streams.base import METRICS
from ohash.streams.readers.limits import BadFileError
from ohash.streams.readers.own import Wishes

LARGEST = 2**16
TEXTS = ("title", "licence", "cite", "note", "variable")
CHOICES = {"metric": METRICS, "kernel": ("none", "rbf")}
FILES = ("labels", "pairs")
KEYS = (*TEXTS, *CHOICES, *FILES, "queries")
DEFAULTS = Wishes()


@dataclass(frozen=True)
class Beside:
    """What the TOML says."""

    wishes: Wishes = DEFAULTS
    labels: Path | None = None
    pairs: Path | None = None


NOTHING = Beside()


def beside(file: Path, root: Path) -> Beside:
    """The TOML beside `file`, or nothing said; files it names must lie within `root`."""
    toml = file.with_suffix(".toml")
    if not toml.is_file():
        return NOTHING
    if not inside(toml, root) or toml.stat().st_size > LARGEST:
        raise BadFileError(f"{toml.name} must lie in the data folder and have at most {LARGEST:,} bytes")
    try:
        found = tomllib.loads(toml.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeError, RecursionError) as error:
        raise BadFileError(f"{toml.name} must be TOML ({error})") from None
    for key, value in found.items():
        _check(toml.name, key, value)
    named = {key: _file(toml, str(found[key]), root) for key in FILES if key in found}
    texts: dict[str, Any] = {key: found[key] for key in (*TEXTS, *CHOICES) if key in found}
    if "queries" in found:
        texts["queries"] = tuple(found["queries"])
    return Beside(Wishes(**texts), **named)


def inside(file: Path, root: Path) -> bool:
    """Whether a file, all links followed, lies within the folder."""
    return file.resolve().is_relative_to(root.resolve())


def _check(name: str, key: str, value: Any) -> None:
    if key not in KEYS:
        raise BadFileError(f"{name} must use the keys {', '.join(KEYS)}, got {key!r}")
    if key in CHOICES and value not in CHOICES[key]:
        raise BadFileError(f"{key} in {name} must be one of {', '.join(CHOICES[key])}, got {value!r}")
    if key == "queries":
        if not (isinstance(value, list) and len(value) == 2 and all(type(v) is int and v >= 1 for v in value)):
            raise BadFileError(f"queries in {name} must be two counts >= 1, [validation, test], got {value!r}")
    elif not isinstance(value, str):
        raise BadFileError(f"{key} in {name} must be a text, got {value!r}")


def _file(toml: Path, named: str, root: Path) -> Path:
    file = toml.parent / named
    try:
        good = inside(file, root) and file.is_file()
    except (OSError, ValueError):
        good = False
    if not good:
        raise BadFileError(f"{toml.name} must name files in the data folder, got {named!r}, which is not there")
    return file
