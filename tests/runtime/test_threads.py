"""The limit of BLAS threads holds while any loop is inside it, and is lifted after the last, in any order."""

from contextlib import ExitStack

import numpy  # noqa: F401 (brings its BLAS)
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from ohash.runtime.threads import one_blas_thread


def threads():
    return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}


@pytest.fixture
def two_threads():
    """Even on one core, and in a worker that has one thread."""
    with threadpool_limits(2, user_api="blas"):
        yield


@pytest.mark.usefixtures("two_threads")
def test_overlapping_limits_are_lifted_by_the_last():
    before = threads()
    assert before == {2}
    first, second = ExitStack(), ExitStack()
    first.enter_context(one_blas_thread())
    assert threads() == {1}
    second.enter_context(one_blas_thread())
    first.close()
    assert threads() == {1}
    second.close()
    assert threads() == before
