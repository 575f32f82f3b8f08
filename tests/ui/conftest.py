"""Every test of a page leaves the server as it found it."""

from collections.abc import Iterator

import pytest

from ohash.ui import state
from ohash.ui.compare import comparisons as contests


@pytest.fixture(autouse=True)
def no_run_outlives_its_test() -> Iterator[None]:
    """Live runs and comparisons of every session."""
    yield
    for hub in (state.hub(), contests.hub()):
        for lease in hub._leases.values():
            lease.stop()
