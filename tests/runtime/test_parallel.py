"""Pieces of work on all cores: the same results in the same order on any thread, and their CPU time counted."""

import threading
import time

import numpy as np
import pytest

from ohash.runtime import threads
from ohash.runtime.clock import working_seconds
from ohash.runtime.progress import drain
from ohash.runtime.threads import batches, in_parallel, run_side_by_side


@pytest.fixture(params=[1, 3])
def cores(request, monkeypatch):
    """So many cores, with a pool of their own."""
    monkeypatch.setattr(threads, "cores", lambda: request.param)
    threads._pool.cache_clear()
    yield request.param
    threads._pool.cache_clear()


def test_results_are_in_order_and_do_not_depend_on_the_threads(cores):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(20, 300, 200)).astype(np.float32)
    products = in_parallel(lambda X: X @ X.T, list(A))
    for X, product in zip(A, products, strict=True):
        with threads.one_blas_thread():
            np.testing.assert_array_equal(product, X @ X.T)
    names = set(in_parallel(lambda _: threading.current_thread().name, range(9)))
    assert all(name.startswith("ohash-parallel") for name in names) == (cores > 1)


def test_work_inside_work_does_not_wait_for_itself(cores):
    assert in_parallel(lambda x: sum(in_parallel(lambda y: x * y, range(4))), range(8)) == [6 * x for x in range(8)]


def test_an_error_comes_back_after_all_have_ended(cores):
    running = []

    def work(item):
        running.append(item)
        if item == 0:
            raise ValueError("the first")
        time.sleep(0.02)
        running.remove(item)

    with pytest.raises(ValueError, match="the first"):
        in_parallel(work, range(3))
    assert running == [0]


def test_cpu_time_of_the_threads_is_that_of_the_caller(cores):
    def work(_):
        since = time.thread_time()
        while time.thread_time() - since < 0.02:
            pass

    since = working_seconds()
    in_parallel(work, range(4))
    assert working_seconds() - since >= 0.08


def test_slices_side_by_side_give_what_they_give_alone(cores):
    def count(steps):
        for at in range(steps):
            yield at / steps
        return steps

    assert drain(run_side_by_side([count(3), count(0), count(5)])) == [3, 0, 5]
    assert drain(run_side_by_side([])) == []
    shares = list(run_side_by_side([count(3), count(5)]))
    assert shares == sorted(shares) and shares[-1] == 1


def test_batches_are_as_many_as_cores(cores):
    assert [list(some) for some in batches(range(0, 5))] == (
        [[0], [1], [2], [3], [4]] if cores == 1 else [[0, 1, 2], [3, 4]]
    )
