"""The limit of BLAS threads holds while any loop is inside it, and is lifted after the last, in any order."""

import subprocess
import sys

# In a process of its own: a run that another test has left behind may be inside such a loop.
OVERLAPPING = """
from contextlib import ExitStack

import numpy
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


def test_overlapping_limits_are_lifted_by_the_last():
    run = subprocess.run([sys.executable, "-c", OVERLAPPING], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["2", "1", "1", "2"]
