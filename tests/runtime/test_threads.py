"""The limit of BLAS threads holds while any loop is inside it, and is lifted after the last, in any order."""

import os
import subprocess
import sys

import pytest

# In a process of its own: a run that another test has left behind may be inside such a loop.
OVERLAPPING = """
from contextlib import ExitStack

import scipy.linalg
from threadpoolctl import threadpool_info, threadpool_limits

from ohash.runtime.threads import one_blas_thread

def threads():
    print(*{library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"})

threadpool_limits(2, user_api="blas")  # even on one core
threads()
first, second = ExitStack(), ExitStack()
first.enter_context(one_blas_thread())
threads()
second.enter_context(one_blas_thread())
first.close()
threads()
second.close()
threads()
"""


@pytest.mark.slow
def test_overlapping_limits_are_lifted_by_the_last():
    run = subprocess.run([sys.executable, "-c", OVERLAPPING], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["2", "1", "1", "2"]


SCIPY_LATER = """
from contextlib import ExitStack

import numpy
from threadpoolctl import threadpool_info

from ohash.runtime.threads import one_blas_thread, one_blas_thread_for_ever

stack = ExitStack()
{limit}
import scipy.linalg

print([library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"])
"""


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["stack.enter_context(one_blas_thread())", "one_blas_thread_for_ever()"])
def test_the_limit_holds_for_a_library_that_is_used_later(limit):
    code, two = SCIPY_LATER.format(limit=limit), os.environ | {"OPENBLAS_NUM_THREADS": "2"}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=two)
    assert set(run.stdout.strip("[]\n").split(", ")) == {"1"}
