"""No test, and no example in the README or a docstring, touches the store or the environment of whoever runs it."""

import os
from collections.abc import Iterator
from unittest import mock

import pytest

from ohash.runtime.files import HOME


@pytest.fixture(autouse=True, scope="session")
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The store, and whatever else belongs to a user, in a folder of this session's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(HOME, str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(autouse=True)
def own_environment() -> Iterator[None]:
    """What a command sets, such as the data folder of ``--data``, ends with its test."""
    with mock.patch.dict(os.environ):
        yield
