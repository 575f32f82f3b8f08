"""Where numba keeps compiled kernels when neither the package nor the home folder can be written.

numba raises at import of a cached kernel if it finds no writable place. A read-only installation run by a user without
a home (a container, a locked-down lab machine) is ordinary, so `ensure_writable` names a private folder first.
"""

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


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
    """Remove compiled kernels that are older than the newest kernel source (the files ...kernels.py).

    numba compares a kernel with its own file only, and would keep machine code of a function inlined from another.
    """
    newest = max(file.stat().st_mtime for file in package.glob("*/*kernels.py"))
    for index in _kept(package):
        try:
            if index.stat().st_mtime < newest:
                index.unlink()
        except OSError:  # another process was quicker, or the place is read-only
            continue


def cold(package: Path = PACKAGE) -> bool:
    """Whether no compiled kernel is kept: this is the first start on a machine, or after a change."""
    return next(_kept(package), None) is None


def _kept(package: Path) -> Iterator[Path]:
    """The indices of compiled kernels."""
    sources = {file.stem for file in package.glob("*/*kernels.py")}
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    for folder in [Path(chosen)] if chosen else [package, _user_cache()]:
        for index in folder.glob("*/__pycache__/*.nbi") if folder == package else folder.glob("*/*.nbi"):
            if index.name.partition(".")[0] in sources:
                yield index


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
    """A 0700 folder of this user's. The cache holds pickles, so a folder somebody else prepared is never trusted."""
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    folder = Path(tempfile.gettempdir()) / f"ohash-kernels-{user}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        ours = not hasattr(os, "getuid") or found.st_uid == os.getuid()
        if stat.S_ISDIR(found.st_mode) and ours and not found.st_mode & 0o077:
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="ohash-kernels-"))
