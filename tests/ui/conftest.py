"""Every test of a page leaves the server as it found it."""

from collections.abc import Iterator

import pytest

from ohash.ui.session import comparisons, live_run


@pytest.fixture(autouse=True)
def no_run_outlives_its_test() -> Iterator[None]:
    """Live runs and comparisons of every session."""
    yield
    for hub in (live_run.hub(), comparisons.hub()):
        for lease in hub._leases.values():
            lease.stop()
