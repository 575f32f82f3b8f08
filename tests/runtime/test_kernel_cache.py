"""A read-only package and no home: numba still finds a place of the user's own, and nobody else's."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import ohash
from ohash.runtime import kernel_cache

PACKAGE = Path(ohash.__file__).parent
LEARN = """
import os, ohash
ohash.OH(r=8).learn([[1., 0.], [0., 1.]], [0], [1], [-1])
print(ohash.__file__, os.environ.get("NUMBA_CACHE_DIR"), sep="\\n")
"""


@pytest.fixture
def locked_package(tmp_path):
    """A copy of the package into which nothing can be written: __pycache__ is a file (chmod would not stop root)."""
    copy = tmp_path / "site" / "ohash"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc"))
    for folder in [copy, *(path for path in copy.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").touch()
        folder.chmod(0o555)
    yield copy
    for folder in [copy, *(path for path in copy.rglob("*") if path.is_dir())]:
        folder.chmod(0o755)


def run(code, site, tmp):
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(site), "TMPDIR": str(tmp), "HOME": "/dev/null/x"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=site, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow  # compiles the kernel: about 6 s
def test_a_locked_package_without_a_home_learns_and_keeps_its_kernels(locked_package, tmp_path):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    file, folder = run(LEARN, locked_package.parent, temporary)
    assert Path(file).parent == locked_package
    assert Path(folder) == temporary / f"ohash-kernels-{os.getuid()}"
    assert stat.S_IMODE(Path(folder).stat().st_mode) == 0o700
    assert list(Path(folder).rglob("*.nbi")), "the kernels were not kept"


@pytest.mark.slow
def test_a_locked_package_without_a_home_imports(locked_package, tmp_path):
    """Also when numba, which reads its environment once, was imported first."""
    code = "import numba, ohash\nprint(ohash.__file__, numba.config.CACHE_DIR, sep='\\n')"
    file, folder = run(code, locked_package.parent, tmp_path)
    assert Path(file).parent == locked_package
    assert Path(folder).parent == tmp_path


def test_nothing_is_set_where_something_is_writable(tmp_path, monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    assert kernel_cache.ensure_writable(tmp_path) is None
    assert "NUMBA_CACHE_DIR" not in os.environ
    locked = tmp_path / "locked"
    locked.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert kernel_cache.ensure_writable(locked) is None


def test_the_users_own_choice_stands(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/somewhere/else")
    locked = tmp_path / "locked"
    locked.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(locked))
    assert kernel_cache.ensure_writable(locked) is None
    assert os.environ["NUMBA_CACHE_DIR"] == "/somewhere/else"


@pytest.mark.parametrize("trap", ["link", "open to all", "file"])
def test_a_folder_prepared_by_somebody_else_is_not_used(tmp_path, monkeypatch, trap):
    """The cache holds pickles: whoever can write there can run code as us."""
    monkeypatch.setattr(kernel_cache.tempfile, "tempdir", str(tmp_path))
    expected = tmp_path / f"ohash-kernels-{os.getuid()}"
    target = tmp_path / "elsewhere"
    target.mkdir(mode=0o700)
    if trap == "link":
        expected.symlink_to(target)
    elif trap == "file":
        expected.touch()
    else:
        expected.mkdir()
        expected.chmod(0o777)
    folder = kernel_cache._private_folder()
    assert folder != expected and folder.parent == tmp_path
    assert stat.S_IMODE(folder.lstat().st_mode) == 0o700 and not folder.is_symlink()
