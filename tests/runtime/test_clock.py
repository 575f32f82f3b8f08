"""Work is timed without the compiling in the middle of it."""

import time

import numba
import numpy as np

from ohash.runtime.clock import working_seconds


def test_compiling_is_no_work():
    @numba.njit(cache=False)
    def fresh(x):
        total = 0.0
        for k in range(len(x)):
            total += np.sin(x[k]) * k
        return total

    worked, spent = working_seconds(), time.thread_time()
    fresh(np.arange(3.0))
    worked, spent = working_seconds() - worked, time.thread_time() - spent
    assert 0 <= worked < 0.5 * spent
    worked, spent = working_seconds(), time.thread_time()
    fresh(np.arange(200_000.0))
    assert working_seconds() - worked >= 0.9 * (time.thread_time() - spent - 1e-3)
