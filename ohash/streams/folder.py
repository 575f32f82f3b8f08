"""The data folder, `OHASH_DATA` or ``--data``: everything readable in it is a dataset with the key ``folder:name``.

Listing reads headers only. A file that cannot be read is listed with the reason, and stops nothing. Links that lead out
of the folder are not followed. The scan is redone when a name, size or time in the folder changes.

Files of known names that make one dataset of the data folder: which are here, which are not, which lead out.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from ohash.streams.dataset import LEAST_ROWS, Dataset, DatasetSpec
from ohash.streams.readers.file_role import ground_truth, role
from ohash.streams.readers.formats import PICKLES, READERS, peek_path
from ohash.streams.readers.limits import FOLDER, in_words
from ohash.streams.readers.sidecar import NOTHING, Beside, beside, check_fit, dataset_as_said, inside, rows
from ohash.streams.readers.source import Source

DATA = "OHASH_DATA"
DEPTH = 3
MOST_FILES = 2000
# Files of the paper's four datasets, which have names and cards of their own.
KNOWN = frozenset(
    {"gist_base.fvecs", "gist_learn.fvecs", "gist_query.fvecs", "gist_groundtruth.ivecs", "LabelMe_gist.mat"}
)
SKIPPED = frozenset({"node_modules", "__pycache__"})

# What is looked at to see whether the folder has changed: path within it, size, time.
Stamp = tuple[str, int, int]


@dataclass(frozen=True)
class Entry:
    """One file of the folder; `problem` says why it is no dataset, or is empty; `stamp` are the times of its files.

    `labels` says whether it comes with labels, its own or those of a file that the TOML names.

    `absent` puts the problem in a word: it cannot be read, or it holds pairs or labels, which belong to vectors.
    """

    key: str
    title: str
    path: Path
    size: int
    n: int = 0
    d: int = 0
    exact: bool = True
    labels: bool = False
    problem: str = ""
    absent: str = "cannot be read"
    said: Beside = NOTHING
    stamp: tuple[int, ...] = ()

    @property
    def shape(self) -> str:
        """In words, as a list shows it."""
        return f"{'' if self.exact else 'about '}{self.n:,} x {self.d:,}, {in_words(self.size)}"


def data_folder() -> Path | None:
    """The folder the user named, or None."""
    name = os.environ.get(DATA, "").strip()
    return Path(name).expanduser() if name else None


def use_folder(path: str | Path) -> None:
    """Use this folder in this process and its children: ``--data``."""
    if not Path(path).is_dir():
        raise ValueError(f"--data must be a folder that exists, got {path}")
    os.environ[DATA] = str(Path(path).resolve())


def entries() -> tuple[Entry, ...]:
    """Everything in the folder that looks like data."""
    root = data_folder()
    if root is None:
        return ()
    if not os.access(root, os.R_OK | os.X_OK) or not root.is_dir():
        return (Entry("folder:", str(root), root, 0, problem=f"{DATA} must be a folder that exists, got {root}"),)
    return _entries(root, tuple(_walk(root)))


def folder_specs() -> dict[str, DatasetSpec]:
    """The cards of the files in the folder, by key."""
    return {entry.key: _spec(entry) for entry in entries()}


def stamps() -> tuple[Stamp, ...]:
    """Equal as long as nothing in the folder has changed; empty without a folder."""
    root = data_folder()
    return tuple((str(root / name), size, time) for name, size, time in _walk(root)) if root and root.is_dir() else ()


def find_files(name: str) -> list[Path]:
    """Files of this exact name in the folder, the shallowest first."""
    root = data_folder()
    if root is None or not root.is_dir():
        return []
    found = [root / path for path, _, _ in _walk(root) if path.rsplit("/", 1)[-1] == name]
    return sorted((path for path in found if inside(path, root)), key=lambda path: len(path.parts))


@lru_cache(maxsize=4)
def _entries(root: Path, stamps: tuple[Stamp, ...]) -> tuple[Entry, ...]:
    files = [root / name for name, _, _ in stamps]
    files = [file for file in files if file.suffix.lower() in (*READERS, *PICKLES) or file.is_dir()]
    files = [file for file in files if file.name not in KNOWN]
    stems = [_stem(file, root) for file in files]
    found = []
    for file, stem in zip(files, stems, strict=True):
        key = stem if stems.count(stem) == 1 else file.relative_to(root).as_posix()
        found.append(_entry(f"folder:{key}", file, root))
    used = {file.resolve() for entry in found for file in (entry.said.labels, entry.said.pairs) if file is not None}
    return tuple(entry for entry in found if entry.path.resolve() not in used)


def _entry(key: str, file: Path, root: Path) -> Entry:
    size, said = 0, NOTHING
    try:
        if not inside(file, root):
            kind = "folder" if file.is_dir() else "file"
            raise ValueError(f"{file.name} is a link out of the data folder, which is not followed; copy the {kind}")
        size = file.stat().st_size
        what = role(Source.file(file), FOLDER)
        if what != "vectors" and not file.with_suffix(".toml").is_file():
            named = file.relative_to(root).as_posix()
            use = f"they belong to vectors: name them in a TOML beside those, {what} = {file.name!r}, or with --{what}"
            return Entry(key, file.name, file, size, problem=f"{use} {named}", absent=f"holds {what}")
        if known := ground_truth(file.name):
            return Entry(key, file.name, file, size, problem=known, absent="holds a ground truth")
        said = beside(file, root)
        peek = peek_path(file, said.wishes.variable)
    except (ValueError, OSError) as error:
        return Entry(key, file.name, file, size, problem=str(error), said=said)
    title = said.wishes.title or file.name
    if peek.exact and peek.rows < LEAST_ROWS:
        few = f"{file.name} must have at least {LEAST_ROWS} rows to be searched, got {peek.rows}"
        return Entry(key, title, file, size, peek.rows, peek.columns, problem=few, absent="is too small", said=said)
    try:
        check_fit(file, peek, said)
    except (ValueError, OSError) as error:
        wrong = str(error)
        return Entry(key, title, file, size, peek.rows, peek.columns, problem=wrong, absent="cannot be used", said=said)
    files = [file, file.with_suffix(".toml"), said.labels, said.pairs]
    stamp = tuple(one.stat().st_mtime_ns for one in files if one is not None and one.is_file())
    labels = peek.labels or said.labels is not None
    n = rows(peek, said)
    return Entry(key, title, file, size, n, peek.columns, peek.exact, labels, said=said, stamp=stamp)


# the same entry gives the same card, so that a loaded dataset is known by it
@lru_cache(maxsize=4 * MOST_FILES)
def _spec(entry: Entry) -> DatasetSpec:
    said = entry.said
    similar_by = "pairs" if said.pairs else "label" if entry.labels else "auto"
    return DatasetSpec(
        key=entry.key,
        title=entry.title,
        task={"pairs": "your pairs", "label": "same label"}.get(similar_by, "your vectors"),
        n=entry.n,
        d=entry.d,
        licence=said.wishes.licence or "yours",
        cite=said.wishes.cite or f"{entry.path.name} of your data folder",
        load=partial(_load, entry),
        missing=partial(str, entry.problem),
        absent=partial(str, entry.absent),
        group="folder",
        similar_by=similar_by,
        size=entry.size,
        kernel=said.wishes.kernel,
    )


def _load(entry: Entry) -> Dataset:
    return dataset_as_said(entry.path, entry.said, key=entry.key)


def _stem(file: Path, root: Path) -> str:
    return file.relative_to(root).with_suffix("").as_posix()


def _walk(root: Path) -> Iterator[Stamp]:
    """Files down to DEPTH, in order of their names, and links to folders outside, which are not followed."""
    left = MOST_FILES
    stack = [(root, 0)]
    while stack and left > 0:
        folder, depth = stack.pop()
        try:
            children = sorted(os.scandir(folder), key=lambda child: child.name)
        except OSError:
            continue
        for child in children:
            try:
                if child.name.startswith(".") or child.name in SKIPPED:
                    continue
                if child.is_dir(follow_symlinks=False) and depth < DEPTH:
                    stack.append((Path(child.path), depth + 1))
                elif child.is_file() or (child.is_dir() and child.is_symlink() and not inside(Path(child.path), root)):
                    stat = child.stat()
                    yield Path(child.path).relative_to(root).as_posix(), stat.st_size, stat.st_mtime_ns
                    left -= 1
            except OSError:
                continue


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
