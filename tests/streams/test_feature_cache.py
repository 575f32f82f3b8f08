"""Built once, whole or not at all, and built again when damaged."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ohash.runtime.files import cache_folder
from ohash.streams.feature_cache import cached_gist, cached_rows, report_progress_to

ROWS = np.arange(30, dtype=np.float32).reshape(10, 3)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OHASH_HOME", str(tmp_path))
    return tmp_path


class Builder:
    def __init__(self, stop_after: int = 99) -> None:
        self.times, self.stop_after = 0, stop_after

    def __call__(self) -> Iterator[np.ndarray]:
        self.times += 1
        for k in range(5):
            if k == self.stop_after:
                raise RuntimeError("interrupted")
            yield ROWS[2 * k : 2 * k + 2]


def _get(build: Builder, version: str = "1") -> np.ndarray:
    return cached_rows("a b/c", version, (10, 3), "f4", build)


def test_built_once_mapped_and_read_only(home: Path) -> None:
    build = Builder()
    for _ in range(2):
        value = _get(build)
        np.testing.assert_array_equal(value, ROWS)
    assert build.times == 1
    assert isinstance(value, np.memmap)
    assert not value.flags.writeable
    _get(build, "2")
    assert build.times == 2
    assert cache_folder() == home / "cache"
    assert sorted(file.suffix for file in cache_folder().iterdir()) == [".npy", ".npy", ".sha256", ".sha256"]


@pytest.mark.parametrize("damage", ["flip", "cut", "no checksum", "empty"])
def test_a_damaged_file_is_built_again(damage: str) -> None:
    build = Builder()
    _get(build)
    file = next(cache_folder().glob("*.npy"))
    data = bytearray(file.read_bytes())
    if damage == "flip":
        data[-1] ^= 1
        file.write_bytes(data)
    elif damage == "no checksum":
        file.with_suffix(".sha256").unlink()
    else:
        file.write_bytes(data[:-4] if damage == "cut" else b"")
    np.testing.assert_array_equal(_get(build), ROWS)
    assert build.times == 2


def test_an_interrupted_build_leaves_nothing() -> None:
    with pytest.raises(RuntimeError, match="interrupted"):
        _get(Builder(stop_after=2))
    assert list(cache_folder().iterdir()) == []
    with pytest.raises(ValueError, match="10 rows, its source gave 4"):
        cached_rows("a", "1", (10, 3), "f4", lambda: [ROWS[:4]])


def test_progress_is_reported() -> None:
    seen: list[tuple[int, int]] = []
    with report_progress_to(lambda done, total: seen.append((done, total))):
        _get(Builder())
    assert seen == [(2, 10), (4, 10), (6, 10), (8, 10), (10, 10)]


def test_a_folder_that_cannot_be_written_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "file").write_text("")
    monkeypatch.setenv("OHASH_HOME", str(home / "file"))
    with pytest.raises(ValueError, match="OHASH_HOME"):
        _get(Builder())


def test_the_usual_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OHASH_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache_folder() == Path("/x/ohash")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "ohash"


def test_gist_in_blocks_is_gist() -> None:
    from ohash.core.gist import gist512

    images = np.random.default_rng(0).integers(0, 256, (7, 16, 16), dtype=np.uint8)
    np.testing.assert_array_equal(cached_gist("g", "1", 7, lambda a, b: images[a:b]), gist512(images))
