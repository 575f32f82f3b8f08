"""The limit of BLAS threads holds while any loop is inside it, and is lifted after the last, in any order."""

from contextlib import ExitStack

from threadpoolctl import threadpool_info

from ohash.runtime.threads import one_blas_thread


def threads():
    import numpy  # noqa: F401 (brings its BLAS)

    return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}


def test_overlapping_limits_are_lifted_by_the_last():
    before = threads()
    first, second = ExitStack(), ExitStack()
    first.enter_context(one_blas_thread())
    assert threads() == {1}
    second.enter_context(one_blas_thread())
    first.close()
    assert threads() == {1}
    second.close()
    assert threads() == before
