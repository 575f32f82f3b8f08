"""How tests are collected and run, and what many of them share; `isolation` keeps them off the user's own store."""

import gc
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from unittest import mock

import pytest
from hypothesis import HealthCheck, settings

from ohash.models import registry
from tests import isolation
from tests.plugin_registry import forget_plugins

# How long an example takes tells of the machine and its load, not of the code.
any_machine = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("any machine", any_machine)
settings.register_profile("many", any_machine, max_examples=1_000)  # .ci/nightly
settings.load_profile("any machine")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """One worker per core: a second BLAS thread of each would only wait for a core.

    The programs that tests start find the modules compiled, even where the environment asks not to keep them.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Nothing that collection makes is garbage, now or later: the collector need not look at it, and less often."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """Every other worker collects from the end, and reads the assertions that its neighbour has rewritten by then."""
    report = yield
    if isinstance(collector, pytest.Dir) and os.environ.get("PYTEST_XDIST_WORKER", "gw0")[-1] in "13579":
        report.result.reverse()
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The order is that of the paths, wherever a worker has begun."""
    items.sort(key=lambda item: item.path)


def pytest_configure(config: pytest.Config) -> None:
    """The README and the examples in docstrings are tests outside this folder, whose fixtures they would not have."""
    config.pluginmanager.register(isolation)


@pytest.fixture
def no_plugins(own_environment: None) -> Iterator[None]:
    """The registry without plugins; what a test adds is forgotten after it."""
    with mock.patch.dict(os.environ, {registry.PLUGINS: ""}):
        yield
    forget_plugins()


@pytest.fixture
def small_disk() -> Callable[[], AbstractContextManager[None]]:
    """``with small_disk():`` no file of this process may grow beyond 2 kB, not even the log that pytest writes."""

    @contextmanager
    def limited() -> Iterator[None]:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2048, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    return limited
