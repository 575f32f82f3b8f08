"""Where numba keeps compiled kernels when neither the package nor the home folder can be written.

numba raises at import of a cached kernel if it finds no writable place. A read-only installation run by a user without
a home (a container, a locked-down lab machine) is ordinary, so `ensure_writable` names a private folder first.
"""

import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
OF_EVERY_RUN = ("core/kernels.py", "evaluation/ranking_kernels.py")  # and seconds to compile
COMPILES = "from ohash.runtime.compile import"
IMPORTED = re.compile(r"^from (ohash\.[\w.]+) import", re.MULTILINE)


def ensure_writable(package: Path) -> Path | None:
    """Set NUMBA_CACHE_DIR to a per-user folder if nothing else is writable; return it, or None if none was needed."""
    if os.environ.get("NUMBA_CACHE_DIR") or _can_write(package / "core" / "__pycache__") or _can_write(_user_cache()):
        return None
    folder = _private_folder()
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    if "numba" in sys.modules:  # it read the environment when it was imported
        sys.modules["numba"].config.reload_config()
    return folder


def drop_stale(package: Path) -> None:
    """Remove compiled kernels that are older than a file their machine code may come from.

    numba compares a kernel with its own file only, and would keep machine code of a function inlined from another.
    """
    newest: dict[Path, float] = {}
    for source, index in _compiled_kernels(package):
        try:
            if index.stat().st_mtime < _newest_of(source, package, newest):
                index.unlink()
        except OSError:  # another process was quicker, or the place is read-only
            continue


def is_cold(package: Path = PACKAGE) -> bool:
    """Whether a run would compile for long: this is the first on a machine, or after a change."""
    kept = {source for source, _ in _compiled_kernels(package)}
    return not kept or any(package / name not in kept for name in OF_EVERY_RUN if (package / name).is_file())


def _compiled_kernels(package: Path) -> Iterator[tuple[Path, Path]]:
    """The source and the index of every compiled kernel of the package."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if not chosen:
        for index in package.rglob("__pycache__/*.nbi"):
            yield index.parents[1] / f"{index.name.partition('.')[0]}.py", index
    # In a folder of its own numba names an index after its source and the folder of that.
    sources = {(file.parent.name, file.stem): file for file in package.rglob("*.py")}
    for index in (Path(chosen) if chosen else _user_cache()).glob("*/*.nbi"):
        source = sources.get((index.parent.name.rpartition("_")[0], index.name.partition(".")[0]))
        if source is not None:
            yield source, index


def _newest_of(source: Path, package: Path, known: dict[Path, float]) -> float:
    """When a source, or a file with kernels that it imports, was changed last."""
    if source not in known:
        text = source.read_text(encoding="utf-8")
        known[source] = source.stat().st_mtime if COMPILES in text else 0.0
        if known[source]:
            files = [package.joinpath(*name.split(".")[1:]).with_suffix(".py") for name in IMPORTED.findall(text)]
            ages = [_newest_of(file, package, known) for file in files if file.is_file()]
            known[source] = max([known[source], *ages])
    return known[source]


def _user_cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 (Path.home() raises where there is no home)
    return (Path(base) if base else home / ".cache") / "numba"


def _can_write(folder: Path) -> bool:
    """Try to write a file, as os.access is wrong for root and for read-only mounts."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _private_folder() -> Path:
    """A 0700 folder of this user's. The cache holds pickles, so a folder made by another user is never trusted."""
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    folder = Path(tempfile.gettempdir()) / f"ohash-kernels-{user}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        ours = not hasattr(os, "getuid") or status.st_uid == os.getuid()
        if stat.S_ISDIR(status.st_mode) and ours and not status.st_mode & 0o077:
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="ohash-kernels-"))
