"""Rows of a memory map: copied the quick way or the careful way, they are the same rows."""

import ctypes
import errno
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from ohash.core import map_copies
from ohash.core.rows import ROWS_AT_ONCE, _close_together, gather

N = 1000
RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("rows", "close"),
    [
        (np.arange(N), True),
        (np.delete(np.arange(N), RNG.choice(N, 100, replace=False)), True),
        (np.arange(0, N, 7), False),
        (np.arange(N)[::-1], False),
        (RNG.integers(0, N, N), False),
        (np.repeat(np.arange(N // 2), 2), False),
        (np.arange(-N, 0), False),
        (np.arange(ROWS_AT_ONCE), False),
        (np.arange(0), False),
    ],
)
def test_rows_of_a_map(rows: np.ndarray, close: bool, tmp_path: Path) -> None:
    X = RNG.normal(size=(N, 3))
    np.save(tmp_path / "x.npy", X)
    gathered = gather(np.load(tmp_path / "x.npy", mmap_mode="r"), rows)
    np.testing.assert_array_equal(gathered, X[rows])
    assert type(gathered) is np.ndarray
    assert _close_together(rows) is close


VIEWS = {
    "all": lambda X: X,
    "some columns": lambda X: X[5:, 1:],
    "backwards": lambda X: X[::-2],
    "by columns": lambda X: X.T[:, :3].T,
    "one column": lambda X: X[:, 1],
}


def forbidden(*_: object) -> int:
    ctypes.set_errno(errno.EPERM)
    return -1


def in_parts(*given: int) -> int:
    """As if a call did not take more than 1,001 bytes."""
    ctypes.c_size_t.from_address(given[1] + ctypes.sizeof(ctypes.c_size_t)).value = min(1_001, wanted(given))
    assert CALL is not None
    return CALL(*given)


def wanted(given: tuple[int, ...]) -> int:
    return ctypes.c_size_t.from_address(given[1] + ctypes.sizeof(ctypes.c_size_t)).value


CALL = map_copies._call_of_linux()
WAYS = {"call": CALL, "in parts": in_parts, "pipe": None, "pipe instead": forbidden}


@pytest.fixture(params=WAYS if CALL is not None else ["pipe"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How the system copies: as Linux does, or as others do."""
    monkeypatch.setattr(map_copies, "_call_of_linux", lambda: WAYS[request.param])
    monkeypatch.setattr(map_copies, "SMALL", 0)
    return str(request.param)


@pytest.mark.parametrize("view", VIEWS)
def test_rows_of_a_view_of_a_map(view: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_copies, "LARGEST", 1_000)  # rows side by side are copied in several pieces
    np.save(tmp_path / "x.npy", RNG.normal(size=(N, 3)))
    X = VIEWS[view](np.load(tmp_path / "x.npy", mmap_mode="r"))
    n = len(X)
    for rows in (
        slice(None), slice(3, n - 1), slice(None, None, 7), slice(-1, None, -3), slice(4, 4),
        np.array([n - 1, 0, -n]), np.array([2, 1], np.uint8), np.arange(n), np.arange(0),
    ):  # fmt: skip
        np.testing.assert_array_equal(gather(X, rows), np.asarray(X)[rows])
    for beyond in (n, -n - 1, 2**62):
        with pytest.raises(IndexError):
            gather(X, np.array([beyond]))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(5, 50_000), (60_000, 4), (40, 3, 1_000), (40, 0)])
def test_rows_of_any_size(shape: tuple[int, ...], order: str, way: str, tmp_path: Path) -> None:
    """More than a pipe holds, and more than one call takes."""
    X = np.asarray(RNG.integers(0, 2**40, shape), order=order)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r") if X.size else X
    copied, rows, parts = np.ones(shape, X.dtype), np.arange(len(X))[::-1], []
    before = len(list(Path("/proc/self/fd").glob("*")))
    map_copies.copy_rows(mapped, rows, copied, 3_000, lambda: parts.append(1))
    np.testing.assert_array_equal(copied, X[rows])
    assert len(parts) == -(-len(X) // 3_000)
    assert len(list(Path("/proc/self/fd").glob("*"))) == before


def test_single_numbers_go_through_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which is quicker than the call of Linux."""
    calls = []
    monkeypatch.setattr(map_copies, "_call_of_linux", lambda: calls.append(1))
    np.save(tmp_path / "x.npy", np.zeros((N, 128)))
    X = np.load(tmp_path / "x.npy", mmap_mode="r")
    gather(X[:, 5], RNG.permutation(N))
    assert not calls
    gather(X, RNG.permutation(N))
    assert calls


def test_no_pipe_is_no_faulty_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def pipe() -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    np.save(tmp_path / "x.npy", np.zeros((N, 3)))
    monkeypatch.setattr(map_copies, "_call_of_linux", lambda: None)
    monkeypatch.setattr(os, "pipe", pipe)
    with pytest.raises(OSError, match="Too many open files"):
        gather(np.load(tmp_path / "x.npy", mmap_mode="r"), slice(3))


def test_linux_copies_rows_of_a_map() -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux has a call for it")
    assert CALL is not None
