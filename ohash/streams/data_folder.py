"""The data folder, `OHASH_DATA` or ``--data``: everything readable in it is a dataset with the key ``folder:name``.

A folder in it whose files are numbered parts, such as ``train-00000-of-00002.parquet``, is one data set. Listing reads
headers only. A file that cannot be read is listed with the reason. Links out of the folder are not
followed. The scan is repeated when a name, size or time in the folder changes.

`FileSet` is for data sets of several files with fixed names: which are present, which are missing, which are links.
"""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from ohash.runtime.files import folder_named_by
from ohash.streams.dataset import MIN_ROWS, Dataset, DatasetSpec, Metric
from ohash.streams.readers.file_formats import PICKLES, READERS, ground_truth_problem, guess_role, peek_path
from ohash.streams.readers.own_data import (
    NO_SIDECAR,
    Sidecar,
    check_fit,
    count_rows,
    dataset_from_sidecar,
    lies_inside,
    metric_of,
    read_sidecar,
)
from ohash.streams.readers.source import FOLDER, PARQUET, Source, format_bytes

DATA = "OHASH_DATA"
DEPTH = 3
MAX_FILES = 2000
# Files of the paper's data sets, which have keys of their own.
KNOWN = frozenset(
    {"gist_base.fvecs", "gist_learn.fvecs", "gist_query.fvecs", "gist_groundtruth.ivecs", "LabelMe_gist.mat"}
)
SKIPPED = frozenset({"node_modules", "__pycache__"})

# Path within the folder, size, time: together they tell whether the folder has changed.
FileState = tuple[str, int, int]


@dataclass(frozen=True)
class Entry:
    """One file of the folder; `problem` says why it is not a data set, or is empty; `stamp` are the times of its files.

    `labels` says whether it has labels, in the file itself or in one that its TOML names.

    `status` completes the sentence "the file ...": it cannot be read, or it holds pairs or labels of other vectors.
    """

    key: str
    title: str
    path: Path
    size: int
    n: int = 0
    d: int = 0
    exact: bool = True
    labels: bool = False
    metric: Metric = "l2"
    problem: str = ""
    status: str = "cannot be read"
    sidecar: Sidecar = NO_SIDECAR
    stamp: tuple[int, ...] = ()

    @property
    def shape(self) -> str:
        """Rows, columns and size, as shown in a list."""
        return f"{'' if self.exact else 'about '}{self.n:,} x {self.d:,}, {format_bytes(self.size)}"


def data_folder() -> Path | None:
    """The folder that the user named, or None."""
    return folder_named_by(DATA)


def use_data_folder(path: str | Path) -> None:
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
    """The files in the folder as data sets, by key."""
    return {entry.key: _spec(entry) for entry in entries()}


def folder_state() -> tuple[FileState, ...]:
    """Equal as long as nothing in the folder has changed; empty without a folder."""
    root = data_folder()
    return tuple((str(root / name), size, time) for name, size, time in _walk(root)) if root and root.is_dir() else ()


def find_files(name: str) -> list[Path]:
    """Files of this exact name in the folder, the shallowest first."""
    root = data_folder()
    if root is None or not root.is_dir():
        return []
    paths = [root / path for path, _, _ in _walk(root) if path.rsplit("/", 1)[-1] == name]
    return sorted((path for path in paths if lies_inside(path, root)), key=lambda path: len(path.parts))


@lru_cache(maxsize=4)
def _entries(root: Path, folder_state: tuple[FileState, ...]) -> tuple[Entry, ...]:
    files = [root / name for name, _, _ in folder_state]
    files = [file for file in files if file.suffix.lower() in (*READERS, *PICKLES) or file.is_dir()]
    files = _join_parts(files, root)
    files = [file for file in files if file.name not in KNOWN]
    stems = [_stem(file, root) for file in files]
    entries = []
    for file, stem in zip(files, stems, strict=True):
        key = stem if stems.count(stem) == 1 else file.relative_to(root).as_posix()
        entries.append(_entry(f"folder:{key}", file, root))
    used = {
        file.resolve() for entry in entries for file in (entry.sidecar.labels, entry.sidecar.pairs) if file is not None
    }
    return tuple(entry for entry in entries if entry.path.resolve() not in used)


def _join_parts(files: list[Path], root: Path) -> list[Path]:
    """A folder in place of its files, where these are the numbered parts of one Parquet data set."""
    by_folder: dict[Path, list[Path]] = {}
    for file in files:
        by_folder.setdefault(file.parent, []).append(file)
    numbered = {
        folder
        for folder, parts in by_folder.items()
        if folder != root and len(parts) > 1 and len({re.sub(r"\d+", "0", part.name) for part in parts}) == 1
        if parts[0].suffix.lower() == PARQUET
    }
    return list(dict.fromkeys(file.parent if file.parent in numbered else file for file in files))


def _entry(key: str, file: Path, root: Path) -> Entry:
    size, sidecar = 0, NO_SIDECAR
    try:
        if not lies_inside(file, root):
            kind = "folder" if file.is_dir() else "file"
            raise ValueError(f"{file.name} is a link out of the data folder and is not followed; copy the {kind}")
        source = Source.file(file)
        size = source.size
        what = guess_role(source, FOLDER)
        if what != "vectors" and not file.with_suffix(".toml").is_file():
            named = file.relative_to(root).as_posix()
            use = f"name them in a TOML file next to their vectors, {what} = {file.name!r}, or by --{what}"
            return Entry(key, file.name, file, size, problem=f"{use} {named}", status=f"holds {what}")
        if known := ground_truth_problem(file.name):
            return Entry(key, file.name, file, size, problem=known, status="holds a ground truth")
        sidecar = read_sidecar(file, root)
        peek = peek_path(file, sidecar.options.variable)
    except (ValueError, OSError) as error:
        return Entry(key, file.name, file, size, problem=str(error), sidecar=sidecar)
    title = sidecar.options.title or file.name
    if peek.exact and peek.rows < MIN_ROWS:
        few = f"{file.name} must have at least {MIN_ROWS} rows to be searched, got {peek.rows}"
        return Entry(
            key, title, file, size, peek.rows, peek.columns, problem=few, status="is too small", sidecar=sidecar
        )
    try:
        check_fit(file, peek, sidecar)
    except (ValueError, OSError) as error:
        wrong = str(error)
        return Entry(
            key, title, file, size, peek.rows, peek.columns, problem=wrong, status="cannot be used", sidecar=sidecar
        )
    parts = [part.path for part in source.parts]
    files = [*parts, file.with_suffix(".toml"), sidecar.labels, sidecar.pairs]
    stamp = tuple(one.stat().st_mtime_ns for one in files if one is not None and one.is_file())
    labels = peek.labels or sidecar.labels is not None
    n = count_rows(peek, sidecar)
    metric = metric_of(peek.metric, sidecar.options.metric)
    return Entry(key, title, file, size, n, peek.columns, peek.exact, labels, metric, sidecar=sidecar, stamp=stamp)


# cached: loaded data sets are cached by their spec
@lru_cache(maxsize=4 * MAX_FILES)
def _spec(entry: Entry) -> DatasetSpec:
    sidecar = entry.sidecar
    similar_by = "pairs" if sidecar.pairs else "label" if entry.labels else "auto"
    return DatasetSpec(
        key=entry.key,
        title=entry.title,
        task={"pairs": "your pairs", "label": "same label"}.get(similar_by, "your vectors"),
        n=entry.n,
        d=entry.d,
        licence=sidecar.options.licence or "unspecified (your data)",
        cite=sidecar.options.cite or f"{entry.path.name} of your data folder",
        load=partial(_load, entry),
        missing=partial(str, entry.problem),
        status=partial(str, entry.status),
        group="folder",
        similar_by=similar_by,
        size=entry.size,
        kernel=sidecar.options.kernel,
        metric=entry.metric,
    )


def _load(entry: Entry) -> Dataset:
    return dataset_from_sidecar(entry.path, entry.sidecar, key=entry.key)


def _stem(file: Path, root: Path) -> str:
    return file.relative_to(root).with_suffix("").as_posix()


def _walk(root: Path) -> Iterator[FileState]:
    """Files down to DEPTH, in order of their names, and links to folders outside, which are not followed."""
    left = MAX_FILES
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
                elif child.is_file() or (
                    child.is_dir() and child.is_symlink() and not lies_inside(Path(child.path), root)
                ):
                    stat = child.stat()
                    yield Path(child.path).relative_to(root).as_posix(), stat.st_size, stat.st_mtime_ns
                    left -= 1
            except OSError:
                continue


MAX_NAMES = 4
LINKS = "links out of the data folder are not followed; copy the files"

# Rows and columns.
Size = tuple[int, int]


@dataclass(frozen=True)
class FileSet:
    """The folder with most of the files (None without any), the names present and missing, and links out of it."""

    folder: Path | None
    present: tuple[str, ...]
    missing: tuple[str, ...]
    linked: tuple[str, ...]

    @property
    def status(self) -> str:
        """The end of the sentence "the data set ...", for files that cannot be used."""
        if not self.present:
            return "is not here"
        return "is incomplete" if self.missing or self.linked else "is damaged"

    def problem(self, of: str, where: str) -> str:
        """Which files of the data set `of` are missing and where to get them; empty if all or none are present."""
        if self.folder is None:
            return ""
        problems = []
        if self.linked:
            problems.append(f"{few_names(self.linked)} of {of} in {self.folder}: {LINKS}")
        if self.missing:
            held = f", which holds {few_names(self.present)}" if self.present else ""
            problems.append(
                f"{few_names(self.missing)} of {of}: missing in {self.folder}{held}; put it there ({where})"
            )
        return "; ".join(problems)


def find_file_set(*names: str) -> FileSet:
    """The folder with most of these files."""
    root, wanted = data_folder(), set(names)
    held: dict[Path, dict[str, bool]] = {}  # by folder: name -> whether it lies inside (else it is a link out)
    for path in (Path(path) for path, _, _ in folder_state()):
        if path.name in wanted and root is not None:
            held.setdefault(path.parent, {})[path.name] = lies_inside(path, root)
    if not held:
        return FileSet(None, (), names, ())
    folder = max(held, key=lambda one: (sum(held[one].values()), len(held[one]), -len(one.parts)))
    present, missing, linked = (
        tuple(name for name in names if held[folder].get(name) is state) for state in (True, None, False)
    )
    return FileSet(folder, present, missing, linked)


def few_names(names: tuple[str, ...]) -> str:
    """A few names and how many more.

    >>> few_names(("a", "b")), few_names(("a", "b", "c", "d", "e", "f"))
    ('a, b', 'a, b, c, d and 2 more')
    """
    more = f" and {len(names) - MAX_NAMES:,} more" if len(names) > MAX_NAMES else ""
    return ", ".join(names[:MAX_NAMES]) + more


def peek_size(file: Path, variable: str | None = None) -> Size | str:
    """The size of a file from its header, read once per version of the file; or what is wrong with it."""
    return peek_once(_peek_size, file, variable)


def peek_once(look: Callable[[Path, str | None], Size], file: Path, variable: str | None = None) -> Size | str:
    """The result of `look`, called once per version of the file; or the message of its ValueError."""
    stat = file.stat()
    return _peek_once(look, (str(file), stat.st_size, stat.st_mtime_ns), variable)


@lru_cache(maxsize=2048)
def _peek_once(look: Callable[[Path, str | None], Size], stamp: FileState, variable: str | None) -> Size | str:
    try:
        return look(Path(stamp[0]), variable)
    except ValueError as error:
        return str(error)


def _peek_size(file: Path, variable: str | None) -> Size:
    peek = peek_path(file, variable)
    return peek.rows, peek.columns
