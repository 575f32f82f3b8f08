"""A file is written whole or not at all: a full disk costs neither the file of before nor a half of a new one."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from ohash.runtime.files import atomic_file, write_file


def test_what_does_not_fit_is_named_and_leaves_the_file_of_before(
    tmp_path: Path, small_disk: Callable[[], AbstractContextManager[None]]
) -> None:
    file = tmp_path / "run.html"
    write_file(file, "finished")
    with small_disk(), pytest.raises(OSError, match=r"too large: '.*run\.html'"):
        write_file(file, "x" * 10_000)
    assert file.read_text() == "finished" and list(tmp_path.iterdir()) == [file]


def test_a_full_disk_is_named_by_its_file() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this system")
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_file("/dev/full", "text")


def test_a_link_a_mode_and_a_pipe_stay_what_they_are(tmp_path: Path) -> None:
    file, link = tmp_path / "x.csv", tmp_path / "link.csv"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to(file)
    write_file(link, "β")
    assert link.is_symlink() and file.read_bytes() == "β".encode() and file.stat().st_mode & 0o777 == 0o640
    read, write = os.pipe()
    write_file(f"/dev/fd/{write}", b"to a pipe")
    assert os.read(read, 100) == b"to a pipe"
    os.close(read), os.close(write)


def test_an_interrupted_write_leaves_the_file_of_before(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text("finished")
    with pytest.raises(KeyboardInterrupt), atomic_file(file) as stream:
        stream.write(b"half")
        raise KeyboardInterrupt
    assert file.read_text() == "finished" and list(tmp_path.iterdir()) == [file]
