"""A kernel is compiled once, also by several processes at once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ohash.runtime.compile import inline, kernel

ROOT = Path(__file__).parents[2]
LEARN = """
import time, ohash
from ohash.core import kernels
ohash.OH(r=8).learn([[1.0, 0.0], [0.0, 1.0]], [0], [1], [-1])
misses = [len(one.stats.cache_misses) for one in vars(kernels).values() if hasattr(one, "stats")]
print(sum(misses))
"""


@pytest.mark.slow  # compiles a kernel anew
def test_of_two_processes_one_compiles_and_the_other_loads(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    both = [
        subprocess.Popen([sys.executable, "-c", LEARN], env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    misses = [int(one.communicate(timeout=300)[0]) for one in both]
    assert [one.returncode for one in both] == [0, 0]
    assert sorted(misses)[0] < sorted(misses)[1], "both compiled the same kernels"
    assert list(tmp_path.rglob("*.nbi"))


def test_a_counter_that_starts_from_zero_is_no_second_type():
    @inline
    def twice(n):
        return 2 * n

    @kernel
    def count(n):
        total = 0
        for _ in range(n):
            total = twice(total) + 1
        return total

    assert count(5) == 31 and len(twice.signatures) == 1


def test_python_runs_an_inlined_function_as_python_also_after_a_kernel_has_compiled_it():
    @inline
    def twice(n):
        return 2 * n

    @kernel
    def more(n):
        return twice(n) + 1

    assert twice(2) == 4
    assert more(2) == 5 and twice(2) == 4 and twice("ab") == "abab"
