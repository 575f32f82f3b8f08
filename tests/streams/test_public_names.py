"""The packages of streams give what they list, and are light until something is asked for."""

import importlib
import subprocess
import sys

import pytest

PACKAGES = ["ohash.streams", "ohash.streams.readers", "ohash.streams.similarity"]


@pytest.mark.parametrize("name", PACKAGES)
def test_every_listed_name_is_there(name: str) -> None:
    package = importlib.import_module(name)
    assert list(package.__all__) == sorted(set(package.__all__), key=package.__all__.index)
    for one in package.__all__:
        assert getattr(package, one) is not None and one in dir(package)
    with pytest.raises(AttributeError, match=name):
        _ = package.no_such_name


def test_importing_streams_imports_nothing_heavy() -> None:
    heavy = "('numpy', 'numba', 'pyarrow')"
    code = f"import sys, ohash.streams, ohash.streams.readers; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
