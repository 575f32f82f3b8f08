"""No test trusts the last digits of this machine: kernels of other vector widths and of other BLAS cores pass, too."""

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm
import pytest
from numpy._core._multiarray_umath import __cpu_features__

ROOT = Path(__file__).parents[1]

# What our own kernels compute, and what goes through BLAS: chosen to take less than a minute, compiling included.
OURS = (
    "core/test_equations.py", "core/test_twin.py", "core/test_ties.py", "core/test_frozen_loss.py",
    "models/test_determinism.py", "evaluation/test_code_table.py",
)  # fmt: skip
BLAS = (
    "core/test_features.py", "evaluation/test_neighbours.py", "evaluation/test_code_table.py",
    "streams/test_metric_rule.py", "models/test_itq.py", "models/test_ksh.py", "models/test_sdh.py",
    "models/test_klsh.py", "models/test_quantisers.py", "models/test_sketch_hash.py", "models/test_click_whitening.py",
)  # fmt: skip

# Cores of OpenBLAS, the plain one first, and what a CPU must have to run their kernels.
X86 = {"HASWELL": "AVX2", "SKYLAKEX": "AVX512F"}
ARM = {"ARMV8": "ASIMD", "NEOVERSEN1": "ASIMDDP"}
CORES = {"x86_64": X86, "amd64": X86, "aarch64": ARM, "arm64": ARM}.get(platform.machine().lower(), {})

NO_VECTORS = {"NUMBA_LOOP_VECTORIZE": "0", "NUMBA_SLP_VECTORIZE": "0"}
KERNELS = {"any CPU": {"NUMBA_CPU_NAME": "generic"}, "no vectors": NO_VECTORS}
if __cpu_features__.get("AVX512F"):  # what LLVM does by itself there: half of each register
    KERNELS["256 bits"] = {"NUMBA_CPU_FEATURES": llvm.get_host_cpu_features().flatten()}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """The environment of each kind of kernel, with a folder of its own to compile into."""
    home = tmp_path_factory.mktemp("kernels")
    return {name: {"NUMBA_CACHE_DIR": str(home / name), **changed} for name, changed in KERNELS.items()}


def assert_pass(tests: tuple[str, ...], **changed: str) -> None:
    """In a process of its own."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", *(f"tests/{test}" for test in tests)],
        cwd=ROOT,
        env={**inherited, **changed},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=900,
    )
    tail = "\n".join(done.stdout.splitlines()[-60:])
    assert done.returncode == 0, f"{changed}:\n{tail}"
    passed = re.search(r"(\d+) passed", tail)
    assert passed is not None and int(passed[1]) > 10 * len(tests), f"{changed}: hardly anything was run\n{tail}"


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_of_another_vector_width_pass(name: str, kernels: dict[str, dict[str, str]]) -> None:
    assert_pass(OURS, **kernels[name])


DECISIONS = """
import hashlib, numpy as np
from tests.core.test_ties import SETTINGS, decisions, recurring_stream
import ohash
for T, r, alpha, beta, C, n, d, noise, unit in SETTINGS:
    for seed in range(10):
        stream = recurring_stream(seed, n=n, d=d, noise=noise, unit=unit)
        model = ohash.MMOH(T=T, r=r, alpha=alpha, beta=beta, C=C, seed=seed, dtype="float64", center="none")
        decided = b"".join(np.ascontiguousarray(column).tobytes() for column in decisions(model, *stream))
        print(hashlib.sha256(decided).hexdigest(), hashlib.sha256(model.W.tobytes()).hexdigest())
"""


def test_streams_full_of_ties_are_decided_alike_by_kernels_of_another_vector_width(
    kernels: dict[str, dict[str, str]],
) -> None:
    decided, weights = [], []
    for changed in ({}, *kernels.values()):
        environment = {**os.environ, **changed}
        done = subprocess.run(
            [sys.executable, "-c", DECISIONS], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
        )
        lines = [line.split() for line in done.stdout.splitlines()]
        decided.append([line[0] for line in lines])
        weights.append([line[1] for line in lines])
    assert all(one == decided[0] for one in decided)
    assert len(decided[0]) == 70 and weights[0] not in weights[2:], "the kernels do not differ: the test proves nothing"


@pytest.mark.parametrize("core", CORES)
def test_another_core_of_blas_passes(core: str) -> None:
    if not __cpu_features__.get(CORES[core]):
        pytest.skip(f"this CPU lacks {CORES[core]}")
    code = "import numpy, threadpoolctl; print(*(one.get('architecture') for one in threadpoolctl.threadpool_info()))"
    environment = {**os.environ, "OPENBLAS_CORETYPE": core}
    used = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    if used.stdout.split() != [core.lower()]:
        pytest.skip(f"this NumPy has no choice of BLAS kernels: {used.stdout}")
    assert_pass(BLAS, OPENBLAS_CORETYPE=core)
