"""Files of known names that make one dataset of the data folder: which are here, which are not, which lead out."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ohash.streams.folder import Stamp, data_folder, stamps
from ohash.streams.readers.beside import inside
from ohash.streams.readers.formats import peek_path

NAMED = 4
LINKS = "links out of the data folder are not followed; copy the files"

# Rows and columns.
Size = tuple[int, int]


@dataclass(frozen=True)
class Together:
    """The folder that holds most of the files (None: none of them); what it lacks; what is a link out of the data."""

    folder: Path | None
    here: tuple[str, ...]
    lacking: tuple[str, ...]
    linked: tuple[str, ...]

    @property
    def absent(self) -> str:
        """What is the matter, in a word, with files that cannot be used."""
        if not self.here:
            return "is not here"
        return "is incomplete" if self.lacking or self.linked else "is damaged"

    def problem(self, of: str, where: str) -> str:
        """Which files of the dataset `of` are missing and where to get them; empty if all or none are here."""
        if self.folder is None:
            return ""
        told = []
        if self.linked:
            told.append(f"{listed(self.linked)} of {of} in {self.folder}: {LINKS}")
        if self.lacking:
            held = f", which holds {listed(self.here)}" if self.here else ""
            told.append(f"{listed(self.lacking)} of {of}: missing in {self.folder}{held}; put it there ({where})")
        return "; ".join(told)


def together(*names: str) -> Together:
    """The one folder with most of these files."""
    root, wanted = data_folder(), set(names)
    held: dict[Path, dict[str, bool]] = {}  # by folder: whether a name lies in it, or is a link out of the data
    for path in (Path(path) for path, _, _ in stamps()):
        if path.name in wanted and root is not None:
            held.setdefault(path.parent, {})[path.name] = inside(path, root)
    if not held:
        return Together(None, (), names, ())
    folder = max(held, key=lambda one: (sum(held[one].values()), len(held[one]), -len(one.parts)))
    here, lacking, linked = (
        tuple(name for name in names if held[folder].get(name) is state) for state in (True, None, False)
    )
    return Together(folder, here, lacking, linked)


def listed(names: tuple[str, ...]) -> str:
    """A few names and how many more.

    >>> listed(("a", "b")), listed(("a", "b", "c", "d", "e", "f"))
    ('a, b', 'a, b, c, d and 2 more')
    """
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def measured(file: Path, variable: str | None = None) -> Size | str:
    """The size of a file from its header, looked at once for every version of it; or what is wrong with it."""
    return noted(_measured, file, variable)


def noted(look: Callable[[Path, str | None], Size], file: Path, variable: str | None = None) -> Size | str:
    """What `look` finds, once for every version of the file; or the message of its ValueError."""
    stat = file.stat()
    return _noted(look, (str(file), stat.st_size, stat.st_mtime_ns), variable)


@lru_cache(maxsize=2048)
def _noted(look: Callable[[Path, str | None], Size], stamp: Stamp, variable: str | None) -> Size | str:
    try:
        return look(Path(stamp[0]), variable)
    except ValueError as error:
        return str(error)


def _measured(file: Path, variable: str | None) -> Size:
    found = peek_path(file, variable)
    return found.rows, found.columns
