"""No test touches the store of the person who runs it."""

import pytest

from ohash.runtime.folders import HOME


@pytest.fixture(autouse=True, scope="session")
def own_home(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(HOME, str(tmp_path_factory.mktemp("home")))
        yield
