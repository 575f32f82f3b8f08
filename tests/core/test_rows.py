"""Rows of a memory map: copied the quick way or the careful way, they are the same rows."""

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


@pytest.mark.parametrize("system_copies", [True, False])
@pytest.mark.parametrize("view", VIEWS)
def test_rows_of_a_view_of_a_map(
    view: str, system_copies: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not system_copies:
        monkeypatch.setattr(map_copies, "_system_copy", lambda: None)
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


def test_the_system_copies_rows_of_a_map(tmp_path: Path) -> None:
    """Where it does not, a file that is cut at the wrong moment kills the process."""
    np.save(tmp_path / "x.npy", np.zeros((N, 3)))
    X, copied, parts = np.load(tmp_path / "x.npy", mmap_mode="r"), np.ones((N, 3)), []
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux has a call for it")
    assert map_copies.copy_rows(X, np.arange(N)[::-1], copied, 100, lambda: parts.append(1))
    assert not copied.any() and len(parts) == 10
