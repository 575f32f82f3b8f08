"""Rows of a memory map: copied the quick way or the careful way, they are the same rows."""

from pathlib import Path

import numpy as np
import pytest

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
