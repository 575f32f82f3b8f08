"""Kernels use the whole of a vector register, and read W from where a cache line begins."""

import os
import subprocess
import sys

import llvmlite.binding as llvm
import numpy as np
import pytest

import ohash
from ohash.runtime.compile import ALIGNMENT, aligned_copy
from tests.selection import first

FEATURES = "import ohash.runtime.compile, numba; print(numba.config.CPU_FEATURES)"


@pytest.mark.parametrize("chosen", first([{}, {"NUMBA_CPU_FEATURES": "+sse2"}, {"NUMBA_CPU_NAME": "generic"}], 2))
def test_the_widest_vectors_unless_something_else_was_chosen(chosen):
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_CPU")}
    printed = subprocess.run(
        [sys.executable, "-c", FEATURES], env={**inherited, **chosen}, capture_output=True, text=True, check=True
    ).stdout.strip()
    wide = bool(llvm.get_host_cpu_features().get("avx512f")) and not chosen
    assert printed.endswith(",-prefer-256-bit") is wide
    if "NUMBA_CPU_FEATURES" in chosen:
        assert printed == "+sse2"


@pytest.mark.parametrize("shape", [(3, 5), (1, 2, 7)])
def test_an_aligned_copy_is_a_copy(shape):
    for offset in range(0, 64, 8):
        given = np.arange(offset // 8 + np.prod(shape))[offset // 8 :].reshape(shape)
        copy = aligned_copy(given)
        assert copy.ctypes.data % ALIGNMENT == 0 and copy.flags.c_contiguous and copy.flags.writeable
        assert copy.dtype == given.dtype and np.array_equal(copy, given) and not np.shares_memory(copy, given)


def test_W_is_aligned_also_after_a_model_was_loaded(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 16)).astype(np.float32)
    for n in range(5):  # chance would have to be right five times
        model = ohash.MMOH(T=2, r=8, seed=n)
        model.learn(X, range(20), range(20, 40), [1, -1] * 10)
        model.save(tmp_path / f"{n}.npz")
        for one in (model, ohash.load_model(tmp_path / f"{n}.npz")):
            assert one._Wt.ctypes.data % ALIGNMENT == 0
