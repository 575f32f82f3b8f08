"""Packages offer what they list, and import it only when it is used."""

import importlib
import subprocess
import sys

import pytest

LIGHT = ["core", "engine", "evaluation", "index", "plots", "runtime", "streams"]


@pytest.mark.parametrize("package", [f"ohash.{name}" for name in (*LIGHT, "comparison", "paper", "store", "sweeps")])
def test_every_listed_name_is_there(package):
    module = importlib.import_module(package)
    for name in module.__all__:
        value = getattr(module, name)
        assert name in dir(module)
        assert getattr(value, "__module__", package).startswith(package), name
    with pytest.raises(AttributeError, match=rf"module '{package}' has no attribute 'nonsense'"):
        _ = module.nonsense


@pytest.mark.parametrize("package", [f"ohash.{name}" for name in LIGHT])
def test_importing_a_package_compiles_no_kernel(package):
    code = f"import sys, {package}; print([name for name in ('numba', 'scipy') if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
