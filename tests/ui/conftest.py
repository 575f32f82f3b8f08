"""Every test of a page leaves the server as it found it."""

from collections.abc import Iterator

import pytest
from streamlit.components.v2 import manifest_scanner  # noqa: TID251
from streamlit.runtime.scriptrunner.script_cache import ScriptCache  # noqa: TID251
from streamlit.testing.v1 import app_test, local_script_runner  # noqa: TID251

from ohash.ui.session import advice_run, comparisons, live_run


@pytest.fixture(autouse=True, scope="session")
def one_scan() -> Iterator[None]:
    """AppTest reads the metadata of every installed package for every app; once is enough."""
    manifests = manifest_scanner.scan_component_manifests()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", lambda: list(manifests))
        yield


@pytest.fixture(autouse=True, scope="session")
def one_compilation() -> Iterator[None]:
    """Every AppTest has a cache of compiled pages of its own; all of them run the same pages."""
    scripts = ScriptCache()
    with pytest.MonkeyPatch.context() as patch:
        for module in (app_test, local_script_runner):
            patch.setattr(module, "ScriptCache", lambda: scripts)
        yield


@pytest.fixture(autouse=True)
def no_run_outlives_its_test() -> Iterator[None]:
    """Live runs and comparisons of every session."""
    yield
    for hub in (live_run.hub(), comparisons.hub(), advice_run.hub()):
        for session in list(hub._leases):
            hub.end(session)
