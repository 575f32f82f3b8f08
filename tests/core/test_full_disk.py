"""A disk that fills up while rows are written to it: an error in one line, where a map would kill the process."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# One megabyte, gone with the process that sees it; nobody needs to be root for it where the system allows namespaces.
DISK = ("unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=1m tmpfs "$0" && exec "$@"')
CACHED = """
from ohash.streams.feature_cache import cached_rows
cached_rows("x", "1", (10_000, 100), np.float32, lambda: (np.ones((1_000, 100)) for _ in range(10)))
"""
TEMPORARY = """
from ohash.core.rows import empty_rows
empty_rows((10_000, 100), np.float32, in_memory=0)[:] = 1
"""
TOLD = "x-7784c6ddfbe4.npy cannot be kept in the cache (No space left on device); free some disk, or set OHASH_HOME"


def on_small_disk(folder: Path, *call: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "OHASH_HOME": str(folder), "TMPDIR": str(folder)}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    return subprocess.run(
        [*DISK, str(folder), *call], env=environment, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize(
    ("code", "message"),
    [(CACHED, TOLD), (TEMPORARY, "4,000,000 bytes of rows need a temporary file (No space left on device)")],
    ids=["cache", "temporary"],
)
def test_it_is_said_and_nothing_is_left_behind(code: str, message: str, tmp_path: Path) -> None:
    if shutil.which("unshare") is None or on_small_disk(tmp_path, "true").returncode:
        pytest.skip("this machine lets nobody mount a small disk")
    tried = f"import numpy as np, pathlib, sys\ntry:{code.replace(chr(10), chr(10) + '    ')}\n"
    tried += "except ValueError as error: print(error)\n"
    tried += "print([file.name for file in pathlib.Path(sys.argv[1]).rglob('*') if file.is_file()])"
    done = on_small_disk(tmp_path, sys.executable, "-c", tried, str(tmp_path))
    assert done.returncode == 0, (done.returncode, done.stderr)
    first, last = done.stdout.splitlines()
    assert first.startswith(message) and last == "[]"
